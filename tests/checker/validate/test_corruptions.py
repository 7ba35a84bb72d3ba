"""Good traces are accepted; each way of spoiling one is found, at the event, with the rule."""

import json
from itertools import product
from pathlib import Path

import pytest

from routeproof.checker.validate import Level, validate
from routeproof.checker.validate.broker.canonical import MessageWords, distinguished
from routeproof.model.routing_mutants import MUTANTS
from routeproof.traces import to_parquet
from tests.campaigns import drawn
from tests.checker.validate.corrupt import CORRUPTIONS, lose
from tests.checker.validate.walks import POLICIES, judged, rows_of, write

LEVELS: tuple[Level, ...] = ("exact", "equivalent")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["line4", "star4", "pair3", "two4", "leave5", "quotes3"])
def test_runs_of_the_model_are_accepted(name: str, policy: str, tmp_path: Path) -> None:
    for seed in range(5):
        rows = rows_of(name, policy, seed)
        for level in LEVELS:
            report = judged(rows, tmp_path, level)
            assert report.verdict == "accepted", report
            assert report.events == len(rows) - 1


@pytest.mark.parametrize("name", ["line4", "pair3"])
def test_the_order_of_brokers_does_not_matter(name: str, tmp_path: Path) -> None:
    rows = rows_of(name, "active")
    by_broker = [rows[0], *sorted(rows[1:], key=lambda row: row["broker"])]
    assert judged(by_broker, tmp_path).verdict == "accepted"


@pytest.mark.parametrize("mutant", sorted(m for m in MUTANTS if not MUTANTS[m].make.may_refuse))
def test_a_broken_broker_is_rejected(mutant: str, tmp_path: Path) -> None:
    """The trace does not say that a mutant wrote it; that it breaks a rule is found from what it did."""
    policy = MUTANTS[mutant].policies[0]
    runs = product(("star4", "pair3", "wide3", "unadv3", "equal3", "line4"), range(8))
    verdicts = (judged(rows_of(name, policy, seed, mutant), tmp_path, "equivalent").verdict for name, seed in runs)
    assert "rejected" in verdicts, "no run shows it"


@drawn(0.5)
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corruption_is_found(name: str, share: float, tmp_path: Path) -> None:
    """In runs of chance, under every policy, at both levels: it is the first rejection, at the event where it must
    show, for the rule that it breaks."""
    corruption, found, told = CORRUPTIONS[name], 0, 0
    for instance, policy in product(("star4", "line4", "quotes3"), POLICIES):
        for seed in range(round(2 * share)):
            rows = rows_of(instance, policy, seed)
            run = rows[0]["run"]
            where = corruption.spoil(rows)
            if where is None:  # nothing of the kind in this run
                continue
            found += 1
            for level in LEVELS:
                report = judged(rows, tmp_path, level)
                if any(f"last step of broker {where.broker}," in line for line in report.extent.open_steps()):
                    told += 1  # the recording may end there
                else:
                    corruption.assert_shown(report.rejections, run, where, level)
    assert found >= 6 * share
    assert told < found


def test_there_are_enough_ways_to_spoil_a_trace() -> None:
    assert len(CORRUPTIONS) >= 20


def test_events_that_claim_to_be_of_another_run(tmp_path: Path) -> None:
    """What the second run receives was never sent in it; what the first sent is on the way for ever."""
    rows = rows_of("star4", "active", seed=1)
    for row in rows[len(rows) // 2 :]:
        row["run"] = "other"
    for level in LEVELS:
        report = judged(rows, tmp_path, level)
        assert report.verdict == "rejected"
        assert {r.run for r in report.rejections} == {"other"}
        assert "TRC-3" in {r.rule for r in report.rejections}


def test_a_truncated_file_is_unknown_at_best(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    text = "".join(json.dumps(row) + "\n" for row in rows_of("line4", "active"))
    path.write_text(text[: len(text) * 2 // 3])
    report = validate(path, "exact")
    assert report.bad_lines == 1
    assert report.verdict == "unknown"
    assert not report.rejections


def test_a_trace_without_events_is_unknown_and_says_why(tmp_path: Path) -> None:
    report = judged(rows_of("line4", "active")[:1], tmp_path)
    assert report.verdict == "unknown"
    assert report.unjudged == ("anything, since there is no event that can be read",)


def test_what_is_not_observed_is_said(tmp_path: Path) -> None:
    rows = rows_of("star4", "active")
    rows[0]["observes"] = ["client", "receive", "deliver"]
    report = judged([row for row in rows if row.get("event") != "send"], tmp_path)
    assert (report.verdict, report.unjudged) == ("accepted", ()), "what neighbours received is held against the model"
    rows[0]["observes"] = ["receive", "send", "deliver"]
    blind = judged([row for row in rows if row.get("event") != "client"], tmp_path)
    assert blind.verdict == "unknown"
    assert "client events are not observed" in blind.unjudged[0]


def test_unobserved_deliveries_do_not_hide_what_is_wrong(tmp_path: Path) -> None:
    rows = rows_of("star4", "active")
    rows[0]["observes"] = ["client", "receive", "send"]
    lose("send", "publish")(rows)
    assert judged([row for row in rows if row.get("event") != "deliver"], tmp_path).verdict == "rejected"


def test_a_broker_that_delivers_to_clients(tmp_path: Path) -> None:
    """Without `to`: one delivery to each client with a matching subscription, however many it has."""
    rows = rows_of("star4", "active", seed=1)
    for row in rows[1:]:
        if row["event"] == "deliver":
            row["message"].pop("to")
    assert judged(rows, tmp_path).verdict == "accepted"
    lose("deliver", "publish")(rows)
    assert judged(rows, tmp_path).rejections[0].rule == "RTE-5"


def test_a_link_says_what_was_sent_and_what_was_received(tmp_path: Path) -> None:
    """In words that differ, though kind and id are the same."""
    said = {
        "a filter altered when received": (
            "subscribe(s2) with {1}, sent by b4 at its seq 11",
            "subscribe(s2) with {5}",
        ),
        "an event altered when received": ("publish(q) with event 1, sent by", "publish(q) with event 7"),
        "a publication without its event": ("publish(q) with event 1, sent by", "publish(q) with no event"),
        "a subscription received twice": ("no message: the trace has no further send from b4 to", "subscribe(s2)"),
    }
    for name, (wanted, seen) in said.items():
        for form in ("jsonl", "parquet"):
            rows = rows_of("star4", "active")
            CORRUPTIONS[name].spoil(rows)
            path = write(rows, tmp_path / "trace.jsonl")
            if form == "parquet":
                to_parquet(path, tmp_path / "trace.parquet")
                path = tmp_path / "trace.parquet"
            [found] = [r for r in validate(path, "exact").rejections if r.rule == "TRC-3"]
            assert found.wanted.startswith(wanted), found
            assert found.seen.startswith(seen), found
            assert len(found.wanted) + len(found.seen) < 500


def test_words_are_bounded_and_show_where_they_begin_to_differ() -> None:
    many = [f"x{n}" for n in range(1000)]
    one, other = distinguished(
        MessageWords("subscribe(s)", " ".join(many)), MessageWords("subscribe(s)", " ".join([*many[:700], "y"]))
    )
    assert one != other
    assert "x700" in one
    assert "y" in other
    assert max(len(one), len(other)) < 200
