"""Runs of which some brokers are observed and others are not, or not all of their events, as the header says."""

from pathlib import Path

import pytest

from routeproof.checker.cli.validate import render
from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate import Level
from tests.checker.validate.churned import Churn
from tests.checker.validate.corrupt import CORRUPTIONS
from tests.checker.validate.test_ends import without_clock
from tests.checker.validate.test_readiness import rows_in
from tests.checker.validate.walks import POLICIES, Row, judged, rows_of

ALL = ["client", "receive", "send", "deliver"]
LEVELS: tuple[Level, ...] = ("equivalent", "observable")
FAULTS = ("a forwarded subscription lost", "a forwarded publication lost", "a withdrawal never sent")


def observed(rows: list[Row], at: dict[str, list[str]]) -> list[Row]:
    """The events of these kinds at these brokers, and a header that says so."""
    header = {**rows[0], "observes": at}
    kept = (row for row in rows[1:] if row["event"] in at.get(row["broker"], ()))
    return [header, *kept]


def brokers_of(rows: list[Row]) -> list[str]:
    return sorted({name for link in rows[0]["overlay"] for name in link})


@pytest.mark.parametrize("policy", POLICIES)
def test_a_correct_broker_is_accepted_alone(policy: str, tmp_path: Path) -> None:
    """What the others did is not invented: no message is in flight to them, and nothing is owed beyond them."""
    for rows in (rows_of("line4", policy, 1), without_clock(rows_of("line4", policy, 1))):
        for broker in brokers_of(rows):
            for level in LEVELS:
                report = judged(observed(rows, {broker: ALL}), tmp_path, level)
                assert (report.verdict, report.rejections, report.extent.links) == ("accepted", (), 0), (broker, level)
                assert (report.extent.in_flight, report.extent.lost, report.extent.ended) == (0, 0, [])
                assert "; not observed: " in render(report).splitlines()[0]


def test_a_fault_of_the_only_broker_is_found(tmp_path: Path) -> None:
    found = 0
    for name, seed in (("line4", 0), ("star4", 2)):
        for fault in FAULTS:
            rows = rows_of(name, "active", seed)
            where = CORRUPTIONS[fault].spoil(rows)
            if where is None:
                continue
            report = judged(observed(rows, {where.broker: ALL}), tmp_path, "equivalent")
            if not report.extent.open_steps():
                assert where.at("equivalent") == (report.rejections[0].broker, *_place(report.rejections[0]))
                found += 1
            other = next(b for b in brokers_of(rows) if b != where.broker)
            assert judged(observed(rows, {other: ALL}), tmp_path, "equivalent").verdict == "accepted"
    assert found >= 3


def _place(rejection: object) -> tuple[object, ...]:
    return rejection.seq, rejection.rule  # type: ignore[attr-defined]


def test_links_between_observed_brokers_are_judged(tmp_path: Path) -> None:
    rows = rows_of("line4", "active", 1)
    report = judged(observed(rows, {"b1": ALL, "b2": ALL}), tmp_path, "equivalent")
    assert (report.verdict, report.extent.links) == ("accepted", 2)
    at = next(n for n, row in enumerate(rows) if n and (row["broker"], row["event"]) == ("b1", "send"))
    altered = {**rows[at], "message": {**rows[at]["message"], "id": "other"}}
    spoilt = observed([*rows[:at], altered, *rows[at + 1 :]], {"b1": ALL, "b2": ALL})
    assert "TRC-3" in {r.rule for r in judged(spoilt, tmp_path, "equivalent").rejections}


@pytest.mark.parametrize("clock", [True, False])
def test_a_loss_beyond_an_observed_link_is_not_claimed(clock: bool, tmp_path: Path) -> None:
    """Of deliveries, those whose whole way is observed are owed."""
    rows = rows_in(Churn("none", 5, newcomers=15, gap=20_000).record(tmp_path / "correct.jsonl", clock=clock))
    whole = judged(rows, tmp_path, "observable").extent
    links = [name for link in rows[0]["overlay"] for name in link]
    middle = max(brokers_of(rows), key=links.count)
    seen = {broker: ["client", "deliver"] if broker == middle else ALL for broker in brokers_of(rows)}
    part = judged(observed(rows, seen), tmp_path, "observable")
    assert part.verdict == "accepted"
    assert 0 < part.extent.owed < whole.owed
    none = [row for row in rows if row.get("event") != "deliver"]
    assert 0 < judged(observed(none, seen), tmp_path, "observable").extent.lost <= part.extent.owed


def test_kinds_that_one_broker_does_not_write(tmp_path: Path) -> None:
    rows = rows_of("line4", "active", 1)
    some = dict.fromkeys(brokers_of(rows), ALL)
    silent = judged(observed(rows, {**some, "b2": ["client", "receive", "deliver"]}), tmp_path, "equivalent")
    assert (silent.verdict, silent.extent.links) == ("accepted", 6)
    blind = judged(observed(rows, {**some, "b2": ["client", "send", "deliver"]}), tmp_path, "equivalent")
    assert blind.unjudged == ("steps of brokers: receive events are not observed at b2",)
    undelivered = judged(observed(rows, {**some, "b2": ["client", "receive", "send"]}), tmp_path, "equivalent")
    assert undelivered.unjudged == ("deliver events are not observed at b2",)
    undeclared = [{**rows[0], "observes": {**some, "b2": ["client", "receive", "deliver"]}}, *rows[1:]]
    report = judged(undeclared, tmp_path, "equivalent")
    assert report.verdict == "accepted"
    assert report.extent.faults()[0].startswith('"observes" in the header lacks send at b2')


def test_a_header_that_names_another_broker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='"observes" in the header names b9, in no link of the overlay'):
        judged(observed(rows_of("line4", "active", 1), {"b9": ALL}), tmp_path, "equivalent")
