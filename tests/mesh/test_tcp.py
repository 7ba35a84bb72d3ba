"""Brokers that are processes open and close soft links, and one of them moves, while two publishers publish."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from routeproof.impl.simulator import SECOND, TimedOperation
from routeproof.model.instance_file import parse_instance
from routeproof.model.messages import Publication, Publish
from routeproof.model.protocols import DEFINITIONS
from tests.campaigns import daily
from tests.impl.tcp.instances import Cuts, events, is_accepted, run, runs_as_it_is
from tests.impl.tcp.running import Outage, within

RATE, MANY = 500, 600
"""Publications a second, and in all."""
BEFORE = SECOND
"""From the first subscription to the first publication, in nanoseconds."""


def moving() -> Any:
    """A line of five brokers with subscribers everywhere. Links open over the path of a move before it, and close after
    it; the second broker moves to the far end, and the first one, which moves with it, back.
    """
    return parse_instance(
        {
            "name": "moving",
            "protocol": "mesh",
            "policy": "none",
            "overlay": [[1, 2], [2, 3], [3, 4], [4, 5]],
            "mesh": {
                "radius": 4,
                "strategies": ["S2", "S1", "SH", "S2", "S2"],
                "opens": [[1, 4], [5, 3], [3, 5], [4, 1]],
                "closes": [[5, 3]],
                "moves": [[2, 5], [3, 5]],
            },
            "advertisement": [{"id": "a", "at": 1, "events": [0]}, {"id": "b", "at": 4, "events": [0]}],
            "subscription": [{"id": f"s{at}", "at": at, "events": [0]} for at in range(1, 6)],
            "publication": [],
        },
        "moving",
    )


def operations(asked: Any) -> list[TimedOperation]:
    """Publishers take turns; a link opens or closes, or a broker moves, each eighth of the run."""
    rows = DEFINITIONS["mesh"].operations(asked)
    events = {"open(b1, b4)": 1, "open(b5, b3)": 1, "move(b2, b5)": 2, "open(b4, b1)": 4, "close(b5, b3)": 4}
    events |= {"open(b3, b5)": 3, "move(b3, b5)": 5}
    found = [
        TimedOperation(n, row.node, row.message) for n, row in enumerate(row for row in rows if row.label not in events)
    ]
    for n in range(MANY):
        time = BEFORE + n * SECOND // RATE
        home, of = ((1, "a"), (4, "b"))[n % 2]
        found.append(TimedOperation(time, home, Publish(Publication(n, f"p{n}", of, 0))))
        for row in rows:
            if events.get(row.label) == n / (MANY / 8):
                found.append(TimedOperation(time, row.node, row.message))
    return found


MESSAGES = {
    "prepare": {3, 4},
    "handover": {2, 5},
    "snapshot": {2, 5},
    "renew": {4, 5},
    "last": {2, 3},
    "finish": {4, 5},
    "release": {2, 6},
}
"""By kind of message of a move, where the connection breaks in the middle of the first one: 6 is the coordinator."""


@pytest.mark.parametrize("cuts", [0, 4], ids=["moves", "broken"])
def test_each_subscriber_gets_each_publication_once(cuts: int, tmp_path: Path) -> None:
    asked = moving()
    when = Cuts(cuts, (BEFORE + MANY // 4 * SECOND // RATE) / SECOND, 0.1)
    outages = [Outage(kind, frozenset(ends), 0.05) for kind, ends in MESSAGES.items() if cuts]
    driver = within(run(asked, "none", operations(asked), tmp_path, when, outages), 120.0)
    seen = events(tmp_path)
    delivered = Counter((e["message"]["to"], e["message"]["id"]) for e in seen if e["event"] == "deliver")
    assert delivered == {(f"s{at}", f"p{n}"): 1 for at in range(1, 6) for n in range(MANY)}
    assert driver.delivered == 5 * MANY
    received = Counter((e["broker"], e["peer"]) for e in seen if e["event"] == "receive")
    kinds = Counter(e["message"]["kind"] for e in seen if e["event"] == "receive")
    assert kinds["release"] == 2, "both moves ended"
    assert kinds["handover"] == kinds["snapshot"] >= 1
    assert kinds["up"] >= 2, "those over the ring of a move are not opened while it lasts"
    assert received["b2", "b5"], "the moved broker has its new link"
    assert is_accepted(asked, "none", tmp_path)


@pytest.mark.parametrize("name", daily(["mover3", "declined3", "calledoff3"], lambda name: name == "declined3"))
def test_a_shipped_instance_runs_as_it_is(name: str, tmp_path: Path) -> None:
    """A move that is refused, too: nothing is renewed, and the trace is that of a network that stays as it was."""
    assert runs_as_it_is("mesh", name, tmp_path)
    read = map(json.loads, (tmp_path / "out" / "trace.jsonl").read_text(encoding="utf-8").splitlines()[1:])
    kinds = {event["message"]["kind"] for event in read if event["event"] == "receive"}
    assert ("decline" in kinds) == (name == "declined3")
    assert not {"decline", "renew"} <= kinds
