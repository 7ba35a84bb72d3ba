"""What is owed, judged link by link: no correct run is rejected, and few losses are overlooked, clock or not."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from routeproof.checker.validate import local, validate
from routeproof.checker.validate.readiness import ENDLESS, Passage
from routeproof.checker.validate.report import Why
from tests.campaigns import daily
from tests.checker.validate.churned import Churn
from tests.checker.validate.walks import POLICIES, Row, judged

SEEDS = daily(range(40), (0).__eq__)


def rows_in(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def without(rows: list[Row], at: int) -> list[Row]:
    return [*rows[:at], *rows[at + 1 :]]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("policy", POLICIES)
def test_correct_runs_are_accepted(policy: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the load, with and without a clock, and however few messages are kept of a link."""
    draw = random.Random(f"{policy} {seed}")
    for clock in (True, False):
        churn = Churn(policy, seed, brokers=draw.choice((3, 5, 9)), gap=draw.choice((300, 3_000, 9_000, 20_000)))
        path = churn.record(tmp_path / "trace.jsonl", clock=clock)
        owed = []
        for kept in (1 << 14, 8, 1):
            monkeypatch.setattr(local, "kept_of_link", lambda setting, kept=kept: kept if setting.sees_ways else 0)
            report = validate(path, "observable")
            assert (report.verdict, report.rejections) == ("accepted", ()), (churn, clock, kept)
            owed.append(report.extent.owed)
        assert owed == sorted(owed, reverse=True), "with fewer messages less is known"
        assert owed[0] > 0


@pytest.mark.parametrize("clock", [True, False])
@pytest.mark.parametrize("policy", ["active", "lazy"])
def test_single_losses_are_found_where_control_traffic_never_rests(policy: str, clock: bool, tmp_path: Path) -> None:
    """By the clock alone hardly any of these is found: some link has a control message at nearly every moment."""
    rows = rows_in(Churn(policy, 3, gap=12_000).record(tmp_path / "correct.jsonl", clock=clock))
    correct = judged(rows, tmp_path, "observable")
    assert correct.verdict == "accepted"
    delivered = [n for n, row in enumerate(rows) if row.get("event") == "deliver"]
    found = 0
    for at in random.Random(7).sample(delivered, 12):
        report = judged(without(rows, at), tmp_path, "observable")
        found += report.verdict == "rejected"
        assert {r.rule for r in report.rejections} <= {"TRC-7"}
    assert found >= 10


def test_a_loss_at_the_end_needs_no_clock(tmp_path: Path) -> None:
    """The last copy of a publication is never sent on; nothing is in flight, and no event comes later."""
    rows = rows_in(Churn("none", 5, newcomers=25, gap=20_000).record(tmp_path / "correct.jsonl", clock=False))
    last = max(n for n, row in enumerate(rows) if row.get("event") == "deliver")
    ends = {row["broker"]: row for row in rows[1:]}
    ended = [{"broker": b, "seq": row["seq"] + 1, "event": "snapshot", "tables": {}} for b, row in ends.items()]
    assert judged([*rows, *ended], tmp_path, "observable").verdict == "accepted"
    report = judged(without([*rows, *ended], last), tmp_path, "observable")
    assert [r.rule for r in report.rejections] == ["TRC-7"]
    assert report.extent.lost == 1


def two_brokers(*said: tuple[object, ...], clock: bool = False) -> list[Row]:
    """Events of b1 and b2: the broker, the event, its peer, the kind of message and its id."""
    rows: list[Row] = [
        {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "none", "overlay": [["b1", "b2"]]}
        | ({"clock": "shared"} if clock else {})
    ]
    for number, (broker, event, peer, kind, id) in enumerate(said):
        message = {"kind": kind, "id": id}
        if kind in ("subscribe", "advertise"):
            message["filter"] = []
        if kind == "publish":
            message |= {"of": "a", "attributes": {"x": 1}} | ({"to": "s"} if event == "deliver" else {})
        row = {"broker": broker, "seq": number, "event": event, "peer": peer, "message": message}
        rows.append(row | ({"time": number} if clock else {}))
    return rows


KNOWN = (
    ("b1", "client", "c", "advertise", "a"),
    ("b1", "send", "b2", "advertise", "a"),
    ("b2", "receive", "b1", "advertise", "a"),
    ("b2", "client", "d", "subscribe", "s"),
    ("b2", "send", "b1", "subscribe", "s"),
)
TAKEN = ("b1", "receive", "b2", "subscribe", "s")
P = ("b1", "client", "c", "publish", "p")
Q = ("b1", "client", "c", "publish", "q")
GONE = ("b2", "client", "d", "unsubscribe", "s"), ("b2", "send", "b1", "unsubscribe", "s")
NEWS = ("b1", "client", "e", "advertise", "n"), ("b1", "send", "b2", "advertise", "n")
HEARD = ("b2", "receive", "b1", "advertise", "n")


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        ((*KNOWN, TAKEN, P), 1),
        ((*KNOWN, P, TAKEN), 0),
        # unrelated announcements are in flight all the time
        ((*KNOWN, TAKEN, *NEWS, P), 1),
        # the subscription is withdrawn: a clock or later messages tell whether that was before the publication came
        ((*KNOWN, TAKEN, P, *GONE, ("b1", "receive", "b2", "unsubscribe", "s")), "with a clock"),
        ((*KNOWN, TAKEN, P, *NEWS, HEARD, *GONE), 1),
        ((*KNOWN, TAKEN, *GONE, ("b1", "receive", "b2", "unsubscribe", "s"), P), 0),
    ],
)
@pytest.mark.parametrize("clock", [True, False])
def test_what_the_links_show(
    said: tuple[tuple[object, ...], ...], lost: int | str, clock: bool, tmp_path: Path
) -> None:
    lost = int(clock) if isinstance(lost, str) else lost
    rows = two_brokers(*said, clock=clock)
    for broker in ("b1", "b2"):  # which says that the last steps are complete
        rows.append({"broker": broker, "seq": len(rows), "event": "snapshot", "tables": {}})
        rows[-1] |= {"time": len(rows)} if clock else {}
    report = judged(rows, tmp_path, "observable")
    assert (report.extent.lost, report.extent.owed) == (lost, lost)
    assert report.verdict == ("rejected" if lost else "accepted")


def test_an_id_at_two_brokers_is_left_to_the_clock(tmp_path: Path) -> None:
    """A subscription that moves may hide others while its withdrawal is on its way."""
    said = (*KNOWN, TAKEN, ("b1", "client", "e", "subscribe", "s"), P, Q)
    report = judged(two_brokers(*said), tmp_path, "observable")
    assert report.verdict == "unknown"
    assert any("one id at two brokers" in line for line in report.unjudged)


@pytest.mark.parametrize("seed", range(30))
def test_bounds_of_passages(seed: int) -> None:
    """Against all messages of a link: what is kept says the same where all are kept, and never too much."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(1, 60))
    sent = np.cumsum(draw.integers(0, 3, count))
    taken = np.cumsum(draw.integers(1, 3, count))
    if seed % 3 == 0:
        taken[-int(draw.integers(1, count + 1)) :] = ENDLESS
    for most in (64, 8, 1):
        passage = Passage(most)
        cut = int(draw.integers(0, count + 1))
        passage.add(sent[:cut], taken[:cut])
        passage.add(sent[cut:], taken[cut:])
        passage = Passage.believe(passage.told())
        for place in range(int(sent[-1]) + 3):
            before = taken[sent <= place]
            exact = int(before[-1]) if len(before) else -1
            assert passage.cleared_by(place) >= exact
            at = np.flatnonzero(sent >= place)
            low, high = passage.passed_by(place, place)
            first = int(taken[at[0]]) if len(at) else ENDLESS
            assert low <= first <= high
            if most == 64:
                assert (passage.cleared_by(place), low, high) == (exact, first, first)


@pytest.mark.parametrize("level", ["equivalent", "observable"])
@pytest.mark.parametrize("clock", [True, False])
def test_what_is_published_elsewhere_than_advertised_is_owed_to_nobody(clock: bool, level: str, tmp_path: Path) -> None:
    """The subscription went to where the advertisement was made, and to no other broker."""
    made: Row = {"kind": "advertise", "id": "a", "filter": []}
    wants: Row = {"kind": "subscribe", "id": "s", "filter": []}
    events = [(0, "client", "feed", made), (0, "send", "south", made), (1, "receive", "north", made)]
    events.append((0, "client", "desk", wants))
    for id, at in (("p", 0), ("roams", 1), ("q", 0)):
        message: Row = {"kind": "publish", "id": id, "of": "a", "attributes": {}}
        events.append((at, "client", "feed", message))
        if not at:
            events.append((0, "deliver", "desk", {**message, "to": "s"}))
    names, header = ("north", "south"), {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "none"}
    rows: list[Row] = [{**header, "overlay": [names], **({"clock": "shared"} if clock else {})}]
    for seq, (at, event, peer, message) in enumerate(events):
        time = {"time": 10 * seq} if clock else {}
        rows.append({"broker": names[at], "seq": seq, "event": event, "peer": peer, "message": message, **time})
    report = judged(rows, tmp_path, level)  # type: ignore[arg-type]  # a level
    assert report.verdict == "accepted"
    assert (report.extent.owed, {Why(why): each.count for why, each in report.extent.open.items()}) == (
        2,
        {Why.UNADVERTISED: 1},
    )
