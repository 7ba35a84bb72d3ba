"""What clients can see of a run: judged from the trace alone, it is what the model's ghosts say of the same run."""

from collections import Counter
from pathlib import Path

import pytest

from routeproof.model.routing_mutants import MUTANTS
from tests.checker.validate.walks import POLICIES, Row, judged, rows_of, walk

SEEN = {"NoLostDelivery": "TRC-7", "NoDuplicate": "TRC-8", "Precise": "TRC-9"}
NAMES = ("star4", "pair3", "line4", "two4", "unadv3", "quotes3")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_the_model_owes_nothing(name: str, policy: str, tmp_path: Path) -> None:
    for seed in range(4):
        assert judged(rows_of(name, policy, seed), tmp_path, "observable").verdict == "accepted"


def test_it_is_what_the_ghosts_say(tmp_path: Path) -> None:
    """Of every mutant, in runs of chance: rejected for what the properties of the model say, and for nothing else."""
    met = Counter[str]()
    for mutant, seeded in MUTANTS.items():
        if seeded.make.may_refuse:
            continue
        for name in NAMES:
            for seed in range(6):
                run = walk(name, seeded.policies[0], seed, mutant)
                rules = {r.rule for r in judged(run.rows, tmp_path, "observable").rejections}
                assert rules == {SEEN[p] for p in run.broken if p in SEEN}, (mutant, name, seed)
                met.update(rules)
    assert min(met[rule] for rule in SEEN.values()) >= 3, met


def without(rows: list[Row], *kinds: str) -> list[Row]:
    """The same trace, not having observed these kinds of events."""
    rows[0]["observes"] = [kind for kind in rows[0]["observes"] if kind not in kinds]
    return [row for row in rows if row.get("event") not in kinds]


def test_a_black_box_is_judged_by_what_its_header_promises(tmp_path: Path) -> None:
    """Nothing but clients' events: who knows after how long everything settles can still be told what was lost."""
    lost = 0
    for seed in range(20):
        run = walk("star4", "active", seed, "removals-first")
        rows = without(run.rows, "receive", "send", "drop", "crash", "restart")
        assert "what is owed" in judged(rows, tmp_path, "observable").unjudged[0]
        rows[0]["settles"] = 0
        rows[-1]["time"] = rows[-1]["time"] + 1
        lost += judged(rows, tmp_path, "observable").verdict == "rejected"
        rows[0]["settles"] = 10_000
        assert judged(rows, tmp_path, "observable").verdict == "accepted", "nothing was ever settled"
    assert lost


def test_without_a_clock_what_is_owed_is_not_judged(tmp_path: Path) -> None:
    rows = rows_of("star4", "active", seed=1)
    del rows[0]["clock"]
    report = judged(rows, tmp_path, "observable")
    assert report.verdict == "unknown"
    assert report.unjudged == ('what is owed: the header does not say "clock": "shared"',)
    assert judged(rows, tmp_path).verdict == "accepted", "step by step it is fully judged"
    again = next(i for i, row in enumerate(rows) if row.get("event") == "deliver")
    rows.insert(again + 1, {**rows[again], "seq": rows[again]["seq"]})
    for row in rows[again + 1 :]:
        row["seq"] += 1
    assert {r.rule for r in judged(rows, tmp_path, "observable").rejections} == {"TRC-8"}


def test_what_is_on_the_way_is_not_lost(tmp_path: Path) -> None:
    """A run that is cut off between two steps: what was not received yet may still come."""
    rows = rows_of("line4", "active", seed=3)
    for end in (i for i, row in enumerate(rows) if i > 1 and row["event"] in ("client", "receive")):
        report = judged(rows[:end], tmp_path, "observable")
        assert report.verdict == "accepted", (end, report)


def test_events_without_times(tmp_path: Path) -> None:
    rows = rows_of("star4", "active", seed=1)
    for row in rows[1:]:
        row.pop("time")
    assert judged(rows, tmp_path, "observable").unjudged == ("what is owed: events have no time",)


def test_links_are_not_what_clients_see(tmp_path: Path) -> None:
    """A message altered on the way, which changes nothing for clients: then only nobody knows what is owed."""
    rows = rows_of("star4", "active", seed=1)
    at = next(i for i, row in enumerate(rows) if row.get("event") == "receive")
    rows[at]["message"]["id"] = "other"
    assert "TRC-3" in {r.rule for r in judged(rows, tmp_path).rejections}
    report = judged(rows, tmp_path, "observable")
    assert (report.verdict, report.rejections) == ("unknown", ())
    assert "not what was sent" in report.unjudged[0]
