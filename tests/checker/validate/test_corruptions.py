"""Good traces are accepted; each way of spoiling one is found, at the event, with the rule."""

import copy
import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.instances import find
from routeproof.checker.record import record
from routeproof.checker.validate import Report, validate
from routeproof.model.protocols import world
from routeproof.model.routing_mutants import MUTANTS

Row = dict[str, Any]
LIKELY = {"advertise": 4, "subscribe": 2, "publish": 0.2, "unsubscribe": 0.1, "unadvertise": 0.1}
"""Of operations, beside deliveries: most publications should find subscribers."""
POLICIES = ("none", "active", "lazy", "packing")


def walk(name: str, policy: str, seed: int = 0, mutant: str | None = None) -> list[Row]:
    """A trace of one long run that ends with nothing on the way: every operation done, in an order of chance."""
    asked, rng = world(find(name), policy, mutant), random.Random(seed)
    state = asked.initial()
    labels: list[str] = []
    while True:
        steps = list(asked.steps(state))
        if not steps or len(labels) > 2000:
            return json.loads(json.dumps(record(asked, labels, None)))  # type: ignore[no-any-return]
        [step] = rng.choices(steps, [LIKELY.get(s.action.label.partition("(")[0], 8) for s in steps])
        labels.append(step.action.label)
        state = step.state


def judged(rows: list[Row], folder: Path, level: str = "exact") -> Report:
    path = folder / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return validate(path, level)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["line4", "star4", "pair3", "two4", "leave5", "quotes3"])
def test_runs_of_the_model_are_accepted(name: str, policy: str, tmp_path: Path) -> None:
    for seed in range(5):
        rows = walk(name, policy, seed)
        for level in ("exact", "equivalent"):
            report = judged(rows, tmp_path, level)
            assert report.verdict == "accepted", report
            assert report.events == len(rows) - 1


@pytest.mark.parametrize("name", ["line4", "pair3"])
def test_the_order_of_brokers_does_not_matter(name: str, tmp_path: Path) -> None:
    rows = walk(name, "active")
    by_broker = [rows[0], *sorted(rows[1:], key=lambda row: row["broker"])]
    assert judged(by_broker, tmp_path).verdict == "accepted"


@pytest.mark.parametrize("mutant", sorted(m for m in MUTANTS if not MUTANTS[m].make.may_refuse))
def test_a_broken_broker_is_rejected(mutant: str, tmp_path: Path) -> None:
    """The trace does not say that a mutant wrote it; that it breaks a rule is found from what it did."""
    policy = MUTANTS[mutant].policies[0]
    seen = set()
    for name in ("star4", "pair3", "wide3", "unadv3", "equal3", "line4"):
        for seed in range(8):
            seen.add(judged(walk(name, policy, seed, mutant), tmp_path, "equivalent").verdict)
    assert "rejected" in seen


# -- corruptions -------------------------------------------------------------------------------------------------------


def first(rows: list[Row], event: str, kind: str, where: Callable[[int], bool] = lambda _: True) -> int:
    """The first event of a kind with a message of a kind."""
    return next(
        i for i, row in enumerate(rows[1:], 1) if row["event"] == event and row["message"]["kind"] == kind and where(i)
    )


def last(rows: list[Row], event: str, kind: str) -> int:
    return max(i for i, r in enumerate(rows[1:], 1) if r["event"] == event and r["message"]["kind"] == kind)


def drop(event: str, kind: str) -> Callable[[list[Row]], None]:
    def spoil(rows: list[Row]) -> None:
        del rows[first(rows, event, kind)]

    return spoil


def double(event: str, kind: str) -> Callable[[list[Row]], None]:
    """The same event twice, the second with a seq of its own."""

    def spoil(rows: list[Row]) -> None:
        at = first(rows, event, kind)
        again = copy.deepcopy(rows[at])
        for row in rows[at + 1 :]:
            row["seq"] += 1
        again["seq"] += 1
        rows.insert(at + 1, again)

    return spoil


def alter(event: str, kind: str, change: Callable[[Row], None]) -> Callable[[list[Row]], None]:
    def spoil(rows: list[Row]) -> None:
        change(rows[first(rows, event, kind)])

    return spoil


def forged_delivery(rows: list[Row]) -> None:
    at = first(rows, "receive", "publish")
    row = {**rows[at], "event": "deliver", "peer": "client-x", "seq": rows[at]["seq"]}
    row["message"] = {**row["message"], "to": "nobody"}
    for later in rows[at + 1 :]:
        later["seq"] += 1
    rows.insert(at + 1, {**row, "seq": row["seq"] + 1})


def swap_additions_and_withdrawals(rows: list[Row]) -> None:
    for a, b in pairwise(rows[1:]):
        kinds = [r["message"]["kind"] if r["event"] == "send" else "" for r in (a, b)]
        if kinds == ["subscribe", "unsubscribe"] and a["peer"] == b["peer"]:
            a["message"], b["message"] = b["message"], a["message"]
            return
    raise StopIteration


def move_first_receive_to_the_end(rows: list[Row]) -> None:
    """A message is received, but long after its time."""
    row = rows.pop(first(rows, "receive", "subscribe"))
    rows.append({**row, "seq": rows[-1]["seq"] + 1})


def same_seq(rows: list[Row]) -> None:
    broker = rows[1]["broker"]
    mine = [row for row in rows[1:] if row["broker"] == broker]
    mine[1]["seq"] = mine[0]["seq"]


def backwards(rows: list[Row]) -> None:
    mine = [row for row in rows[1:] if row["broker"] == rows[1]["broker"]]
    mine[-1]["seq"] = 0


def another_run(rows: list[Row]) -> None:
    """Half of the events claim to be of another run."""
    for row in rows[len(rows) // 2 :]:
        row["run"] = "other"


def crash_unnoticed(rows: list[Row]) -> None:
    at = first(rows, "receive", "subscribe")
    rows.insert(at + 1, {"broker": rows[at]["broker"], "seq": rows[at]["seq"], "event": "crash"})
    for row in rows[at + 1 :]:
        row["seq"] += 1


def send_out_of_the_blue(rows: list[Row]) -> None:
    """Before the broker did anything at all."""
    at = first(rows, "send", "subscribe")
    rows.insert(1, {**rows[at], "seq": 0})


def filter_of(row: Row) -> None:
    row["message"]["filter"] = [5]


def id_of(row: Row) -> None:
    row["message"]["id"] = "someone-else"


def peer_of(row: Row) -> None:
    row["peer"] = "b99"


def broker_of(row: Row) -> None:
    row["broker"] = "b99"


def event_of(row: Row) -> None:
    row["message"]["event"] = 7


def no_event(row: Row) -> None:
    row["message"].pop("event")


def to_of(row: Row) -> None:
    row["message"]["to"] = "nobody"


CORRUPTIONS: dict[str, tuple[Callable[[list[Row]], None], set[str]]] = {
    "a forwarded advertisement lost": (drop("send", "advertise"), {"RTE-2", "TRC-3"}),
    "a forwarded subscription lost": (drop("send", "subscribe"), {"RTE-3", "RTE-4", "TRC-3"}),
    "a withdrawal never sent": (drop("send", "unsubscribe"), {"RTE-6", "COV-4", "TRC-3"}),
    "a forwarded publication lost": (drop("send", "publish"), {"RTE-5", "TRC-3"}),
    "a received subscription lost": (drop("receive", "subscribe"), {"TRC-3", "TRC-5", "RTE-3", "RTE-4", "RTE-5"}),
    "a received publication lost": (drop("receive", "publish"), {"TRC-3", "TRC-5", "RTE-5"}),
    "a delivery missing": (drop("deliver", "publish"), {"RTE-5"}),
    "a delivery twice": (double("deliver", "publish"), {"RTE-5"}),
    "a delivery forged": (forged_delivery, {"RTE-5"}),
    "a delivery to somebody else": (alter("deliver", "publish", to_of), {"RTE-5"}),
    "a subscription sent twice": (double("send", "subscribe"), {"RTE-3", "RTE-4", "RTE-6", "COV-2"}),
    "a publication sent twice": (double("send", "publish"), {"RTE-5"}),
    "a subscription received twice": (double("receive", "subscribe"), {"TRC-3", "RTE-3", "RTE-4", "RTE-5", "COV-2"}),
    "a filter altered when sent": (alter("send", "subscribe", filter_of), {"RTE-3", "RTE-4", "COV-2", "TRC-3"}),
    "a filter altered when received": (alter("receive", "subscribe", filter_of), {"RTE-3", "RTE-5", "TRC-3"}),
    "an id altered": (alter("send", "subscribe", id_of), {"RTE-3", "RTE-4", "COV-2"}),
    "an event altered": (alter("receive", "publish", event_of), {"RTE-5", "TRC-3"}),
    "a publication without its event": (alter("receive", "publish", no_event), {"TRC-6"}),
    "a message over a link that does not exist": (alter("send", "subscribe", peer_of), {"TRC-2"}),
    "a message from a link that does not exist": (alter("receive", "subscribe", peer_of), {"TRC-2"}),
    "an event of a broker that does not exist": (alter("send", "subscribe", broker_of), {"TRC-2"}),
    "a receive long after its time": (move_first_receive_to_the_end, {"TRC-3", "TRC-5", "RTE-3", "RTE-4", "RTE-5"}),
    "two events of one seq": (same_seq, {"TRC-1"}),
    "a seq that falls": (backwards, {"TRC-1"}),
    "a run that is two": (another_run, {"TRC-3", "TRC-5", "TRC-6", "RTE-2", "RTE-3", "RTE-5"}),
    "a crash in between": (crash_unnoticed, {"TRC-5", "RTE-3", "RTE-4", "RTE-5", "RTE-6", "TRC-6"}),
    "a send out of the blue": (send_out_of_the_blue, {"TRC-5"}),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corruption_is_found(name: str, tmp_path: Path) -> None:
    """In several runs: rejected at both levels, for one of the rules that the corruption breaks."""
    spoil, rules = CORRUPTIONS[name]
    found = 0
    for seed in range(12):
        rows = walk("star4", "active", seed)
        assert judged(rows, tmp_path).verdict == "accepted"
        try:
            spoil(rows)
        except StopIteration:  # nothing of the kind in this run
            continue
        found += 1
        for level in ("exact", "equivalent"):
            report = judged(rows, tmp_path, level)
            assert report.verdict == "rejected", (name, seed, level)
            assert {r.rule for r in report.rejections} & rules, report.rejections
            assert report.rejections == tuple(sorted(report.rejections))
    assert found >= 4


@pytest.mark.parametrize("policy", ["active", "lazy"])
def test_additions_after_withdrawals_are_found_at_both_levels(policy: str, tmp_path: Path) -> None:
    found = 0
    for seed in range(30):
        rows = walk("line4", policy, seed)
        try:
            swap_additions_and_withdrawals(rows)
        except StopIteration:
            continue
        found += 1
        for level in ("exact", "equivalent"):
            assert "COV-8" in {r.rule for r in judged(rows, tmp_path, level).rejections}
    assert found >= 3


def test_there_are_enough_ways_to_spoil_a_trace() -> None:
    assert len(CORRUPTIONS) >= 20


def test_a_truncated_file_is_unknown_at_best(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    text = "".join(json.dumps(row) + "\n" for row in walk("line4", "active"))
    path.write_text(text[: len(text) * 2 // 3])
    report = validate(path)
    assert report.bad_lines == 1
    assert report.verdict == "unknown"
    assert not report.rejections


def test_what_showed_before_a_bad_line_stands(tmp_path: Path) -> None:
    """A rejection before it is certain; one after it may be the bad line's doing."""
    rows = walk("star4", "active", seed=1)
    drop("deliver", "publish")(rows)
    lines = [json.dumps(row) + "\n" for row in rows]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join([*lines, "{ not json\n"]))
    at = validate(path).rejections or validate(path).doubtful
    assert at[0].rule == "RTE-5"
    path.write_text("".join([lines[0], "{ not json\n", *lines[1:]]))
    early = validate(path)
    assert (early.verdict, early.rejections) == ("unknown", ())
    assert early.doubtful[0].rule == "RTE-5"


def test_what_is_not_observed_is_said(tmp_path: Path) -> None:
    rows = walk("star4", "active")
    rows[0]["observes"] = ["client", "receive", "deliver"]
    report = judged([row for row in rows if row.get("event") != "send"], tmp_path)
    assert report.verdict == "unknown"
    assert report.unjudged == ("send events are not observed",)
    rows[0]["observes"] = ["receive", "send", "deliver"]
    blind = judged([row for row in rows if row.get("event") != "client"], tmp_path)
    assert blind.verdict == "unknown"
    assert "client events are not observed" in blind.unjudged[0]


def test_unobserved_deliveries_do_not_hide_what_is_wrong(tmp_path: Path) -> None:
    rows = walk("star4", "active")
    rows[0]["observes"] = ["client", "receive", "send"]
    drop("send", "publish")(rows)
    assert judged([row for row in rows if row.get("event") != "deliver"], tmp_path).verdict == "rejected"


def test_a_broker_that_delivers_to_clients(tmp_path: Path) -> None:
    """Without `to`: one delivery to each client with a matching subscription, however many it has."""
    rows = walk("star4", "active", seed=1)
    for row in rows[1:]:
        if row["event"] == "deliver":
            row["message"].pop("to")
    assert judged(rows, tmp_path).verdict == "accepted"
    del rows[first(rows, "deliver", "publish")]
    assert judged(rows, tmp_path).rejections[0].rule == "RTE-5"
