"""Recordings that end anywhere: in the middle of a step, at one broker before the others, or with a crash.

What a recording does not have is told, and is no fault of a broker.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from routeproof.checker.instances import shipped
from routeproof.checker.validate import Level
from routeproof.model.protocols import DEFINITIONS
from tests.campaigns import drawn
from tests.checker.validate.walks import Row, judged, rows_of
from tests.kit.runs import run_of

RUNS = (("line3", "active", 1), ("star4", "lazy", 2), ("unadv3", "none", 4))
LEVELS: tuple[Level, ...] = ("equivalent", "observable")


def without_clock(rows: list[Row]) -> list[Row]:
    header = {key: value for key, value in rows[0].items() if key != "clock"}
    return [header, *({key: value for key, value in row.items() if key != "time"} for row in rows[1:])]


def begins_of(rows: list[Row], broker: str) -> list[int]:
    """Where the steps of a broker begin."""
    return [n for n, row in enumerate(rows) if n and row["broker"] == broker and row["event"] in ("receive", "client")]


def cut_at(rows: list[Row], at: int) -> list[Row]:
    """The rows without one of them and without what its broker did after it."""
    return [row for n, row in enumerate(rows) if n < at or row["broker"] != rows[at]["broker"]]


@pytest.mark.parametrize(("name", "policy", "seed"), RUNS)
def test_no_prefix_of_an_accepted_run_is_rejected(name: str, policy: str, seed: int, tmp_path: Path) -> None:
    rows, rng = rows_of(name, policy, seed), random.Random(seed)
    for length in rng.sample(range(2, len(rows)), 6):
        for level in LEVELS:
            report = judged(rows[:length], tmp_path, level)
            assert report.verdict != "rejected", (length, level, report.rejections)
        assert judged(without_clock(rows[:length]), tmp_path, "exact").verdict != "rejected"


@pytest.mark.parametrize(("name", "policy", "seed"), RUNS)
def test_a_recording_that_ends_earlier_at_one_broker_is_told(name: str, policy: str, seed: int, tmp_path: Path) -> None:
    rows, rng = rows_of(name, policy, seed), random.Random(seed)
    for broker in sorted({row["broker"] for row in rows[1:]}):
        begins = begins_of(rows, broker)
        found = cut_at(rows, rng.choice(begins[1:]))
        for level in LEVELS:
            report = judged(found, tmp_path, level)
            assert report.verdict != "rejected", (broker, level, report.rejections)
        assert judged(without_clock(found), tmp_path, "exact").verdict != "rejected"


def test_a_recording_that_ends_at_any_step(tmp_path: Path) -> None:
    """Also where the neighbour goes on to receive what it was sent once before: a subscription that is sent anew."""
    rows = rows_of("line4", "active", 0)
    for broker in sorted({row["broker"] for row in rows[1:]}):
        for at in begins_of(rows, broker):
            report = judged(cut_at(rows, at), tmp_path, "equivalent")
            assert report.verdict != "rejected", (broker, at, report.rejections)


def of_other_protocols() -> Iterator[list[Row]]:
    """Runs of three instances of each."""
    for protocol in DEFINITIONS:
        mine = [each for each in shipped() if each.protocol == protocol and not each.must_fail]
        for instance in sorted(mine, key=lambda each: (len(each.overlay.edges), each.name))[-9::3]:
            yield run_of(instance.name, instance.policies[-1], 1)


@drawn(0.04)
def test_ends_of_runs_of_every_protocol(share: float, tmp_path: Path) -> None:
    for rows in of_other_protocols():
        rng, lengths = random.Random(len(rows)), range(2, len(rows))
        for length in rng.sample(lengths, max(2, round(share * len(lengths)))):
            for level in LEVELS:
                report = judged(rows[:length], tmp_path, level)
                assert report.verdict != "rejected", (rows[0]["run"], length, level, report.rejections)
            begins = begins_of(rows, rows[length]["broker"])
            report = judged(cut_at(rows, rng.choice(begins)), tmp_path, "equivalent")
            assert report.verdict != "rejected", (rows[0]["run"], length, report.rejections)


def test_a_copy_with_a_header_that_is_on_a_link_at_the_end_is_not_lost(tmp_path: Path) -> None:
    rows = run_of("return3", "selective", 1)
    report = judged(rows[:15], tmp_path)
    assert rows[14]["message"]["distance"] == 1
    assert (report.verdict, report.extent.in_flight) == ("accepted", 1)


def test_messages_beyond_the_end_of_a_recording(tmp_path: Path) -> None:
    """Told with the first one; a message that the sender's events outlast was never sent."""
    rows = rows_of("line3", "active", 1)
    sends = [n for n, row in enumerate(rows) if n and row["event"] == "send"]
    at = next(n for n in sends if any(row["broker"] == rows[n]["broker"] for row in rows[n + 1 :]))
    begin = max(n for n in begins_of(rows, rows[at]["broker"]) if n < at)
    report = judged(cut_at(rows, begin), tmp_path)
    near = rows[at]["broker"]
    assert near in report.extent.ended
    assert any(f"the recording of {near} ends earlier" in line for line in report.remarks)
    last = max(n for n in sends if any(row["broker"] == rows[n]["broker"] for row in rows[n + 1 :]))
    lost = judged([row for n, row in enumerate(rows) if n != last], tmp_path)
    assert lost.verdict == "rejected"
    assert not lost.extent.ended


def toy(*events: Row) -> list[Row]:
    """A line of two brokers: p is published at one, and a client of the other wants it."""
    header = {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "none", "overlay": [["x", "y"]]}
    a, s = ({"kind": kind, "id": id, "filter": [1]} for kind, id in (("advertise", "a"), ("subscribe", "s")))
    p = {"kind": "publish", "id": "p", "of": "a", "event": 1}
    rows: list[Row] = [
        {"broker": "x", "event": "client", "peer": "c", "message": a},
        {"broker": "x", "event": "send", "peer": "y", "message": a},
        {"broker": "y", "event": "receive", "peer": "x", "message": a},
        {"broker": "y", "event": "client", "peer": "d", "message": s},
        {"broker": "y", "event": "send", "peer": "x", "message": s},
        {"broker": "x", "event": "receive", "peer": "y", "message": s},
        {"broker": "x", "event": "client", "peer": "c", "message": p},
        {"broker": "x", "event": "send", "peer": "y", "message": p},
        {"broker": "y", "event": "receive", "peer": "x", "message": p},
        *events,
    ]
    timed = [{**row, "time": time, "seq": time} for time, row in enumerate(rows)]
    return [{**header, "dialect": "events", "clock": "shared"}, *timed]


LATER: Row = {"broker": "x", "event": "client", "peer": "e", "message": {"kind": "subscribe", "id": "t", "filter": [2]}}


@pytest.mark.parametrize("level", LEVELS)
def test_a_delivery_that_the_recording_may_have_missed(level: Level, tmp_path: Path) -> None:
    """The last step may be unfinished. It is over if another broker goes on after it and nothing is on any link."""
    report = judged(toy(), tmp_path, level)
    assert report.verdict == "unknown"
    words = ("while that broker handles", "may be unfinished: p delivered to s is missing")[level != "observable"]
    assert any(words in line for line in report.unjudged), report.unjudged
    over = judged(toy(LATER), tmp_path, level)
    assert [r.rule for r in over.rejections[:1]] == ["TRC-7" if level == "observable" else "RTE-5"]
    assert over.extent.lost == 1


def test_a_crash_in_the_middle_of_a_step_is_no_fault_of_the_step(tmp_path: Path) -> None:
    """The delivery is missing because the broker crashed; what its client is owed is open."""
    crash: list[Row] = [{"broker": "y", "event": "crash"}, {"broker": "y", "event": "restart"}]
    report = judged(toy(*crash, LATER), tmp_path)
    assert not report.rejections
    [said] = report.extent.faults()
    assert said.startswith("broker y crashed once and restarted once")
    [open_one] = report.extent.open.values()
    assert (open_one.count, report.extent.lost) == (1, 0)


def test_what_others_lose_by_a_crash_is_found(tmp_path: Path) -> None:
    """The broker on the way has forgotten everything: the client behind it loses p."""
    rows = toy()
    way = [{**row, "seq": row["seq"] * 2, "time": row["time"] * 2} for row in rows[1:-2]]
    p = way[-1]["message"]
    crash = {"broker": "x", "seq": 13, "time": 13, "event": "crash"}
    again = {**way[-1], "seq": 14, "time": 14}
    end = {"broker": "y", "event": "client", "peer": "e", "seq": 20, "time": 20, "message": LATER["message"]}
    report = judged([rows[0], *way[:-1], crash, again, end], tmp_path)
    assert p["kind"] == "publish"
    assert [r.rule for r in report.rejections] == ["TRC-7"]
    assert report.extent.faults()[0].startswith("broker x crashed once")
