"""A publisher moves between brokers that are processes while it publishes a thousand messages a second."""

import json
from pathlib import Path
from typing import Any

import pytest

from routeproof.impl.simulator import SECOND, TimedOperation
from routeproof.model.filters import EventSet
from routeproof.model.instance_file import parse_instance
from routeproof.model.messages import Advertise, Publication, Publish, Subscribe
from routeproof.model.protocols import DEFINITIONS
from tests.impl.tcp.instances import Cuts, events, is_accepted, run, runs_as_it_is
from tests.impl.tcp.running import Outage, within

RATE = 1_000
"""Publications a second."""

MANY = 1_500
CUT_AGAIN = 0.03
"""Seconds between two cuts of all connections; the first is when the move is requested."""

BEFORE = SECOND
"""From the advertisement to the first publication, in nanoseconds."""


def instance(refuses: list[int], to: list[int]) -> Any:
    """Four brokers on a line, subscribers at three of them, and a publisher that moves to one broker after another."""
    moves = [{"publisher": "a", "to": broker} for broker in to]
    return parse_instance(
        {
            "name": "moving",
            "protocol": "migration",
            "policy": "active",
            "overlay": [[1, 2], [2, 3], [3, 4]],
            "migration": {"moves": moves, **({"refuses": refuses} if refuses else {})},
            "advertisement": [{"id": "a", "at": 1, "events": [0]}],
            "subscription": [{"id": f"s{at}", "at": at, "events": [0]} for at in (1, 2, 4)],
            "publication": [],
        },
        "moving",
    )


def operations(asked: Any) -> list[TimedOperation]:
    """The publisher publishes at the rate, and is asked to move after a third, and again after each sixth."""
    definition = DEFINITIONS["migration"]
    rows = {row.label: row for row in definition.operations(asked)}
    client = definition.topology(asked).numbered("client-a")
    found = [TimedOperation(0, client, rows["advertise(a)"].message)]
    found += [TimedOperation(n, row.node, row.message) for n, row in enumerate(rows.values()) if row.label[:3] == "sub"]
    moves = [row for label, row in rows.items() if label.startswith("move(")]
    requests = {MANY // 3 + number * MANY // 6: row for number, row in enumerate(moves)}
    for n in range(MANY):
        time = BEFORE + n * SECOND // RATE
        found.append(TimedOperation(time, client, Publish(Publication(n, f"p{n}", "a", 0))))
        if n in requests:
            found.append(TimedOperation(time, requests[n].node, requests[n].message))
    assert isinstance(asked.subscriptions[0].filter, EventSet)
    assert {type(each.message) for each in found} >= {Advertise, Subscribe, Publish}
    return found


def deliveries(asked: Any, directory: Path) -> dict[str, list[str]]:
    """By subscription, the publications in the order in which its client received them."""
    received: dict[str, list[str]] = {each.id: [] for each in asked.subscriptions}
    for event in events(directory):
        if event["event"] == "deliver":
            received[event["message"]["to"]].append(event["message"]["id"])
    return received


def answers(directory: Path) -> list[dict[str, Any]]:
    """What brokers sent the publisher, as its trace has it."""
    lines = (directory / "client-a.part").read_text(encoding="utf-8").splitlines()[1:]
    return [event for event in map(json.loads, lines) if event["event"] == "receive"]


def resumed(directory: Path) -> list[str]:
    """The brokers that told the publisher to publish there, or that refused it."""
    came = [(event["message"]["kind"], event["peer"]) for event in answers(directory)]
    return [f"{kind} {peer}" for kind, peer in came if kind != "pause"]


def paused(directory: Path) -> float:
    """Seconds between the pause and the resumption."""
    times = {event["message"]["kind"]: event["time"] for event in answers(directory)}
    return float(times["resume"] - times["pause"]) / SECOND


@pytest.mark.parametrize(
    ("refuses", "to", "cuts", "expected"),
    [
        ([], [4, 2, 1], 0, ["resume b4", "resume b2", "resume b1"]),
        ([4], [4], 0, ["refuse b4"]),
        ([], [4], 8, ["resume b4"]),
    ],
    ids=["moves", "refused", "broken"],
)
def test_nothing_is_lost_nothing_comes_twice_and_all_in_order(
    refuses: list[int], to: list[int], cuts: int, expected: list[str], tmp_path: Path
) -> None:
    asked = instance(refuses, to)
    when = Cuts(cuts, (BEFORE + MANY // 3 * SECOND // RATE) / SECOND, CUT_AGAIN)
    driver = within(run(asked, "active", operations(asked), tmp_path, when), 120.0)
    wanted = [f"p{n}" for n in range(MANY)]
    assert deliveries(asked, tmp_path) == dict.fromkeys(("s1", "s2", "s4"), wanted)
    assert driver.delivered == 3 * MANY
    assert resumed(tmp_path) == expected
    assert is_accepted(asked, "active", tmp_path)


DOWN = 0.2
"""Seconds for which a connection stays broken."""


def test_a_connection_breaks_while_the_message_of_a_move_passes_over_it(tmp_path: Path) -> None:
    """To the source while the mark passes, to the target while the publisher arrives and while it resumes, and between
    two brokers of the path: each breaks alone, in the middle of the frame, and stays broken for a while."""
    asked = instance([], [4])
    client = DEFINITIONS["migration"].topology(asked).numbered("client-a")
    to_source, to_target, between = frozenset({client, 1}), frozenset({client, 4}), frozenset({2, 3})
    breaks = {
        "flushed": to_source,
        "arrive": to_target,
        "update": between,
        "complete": between,
        "resume": to_target,
    }
    outages = [Outage(kind, ends, DOWN) for kind, ends in breaks.items()]
    within(run(asked, "active", operations(asked), tmp_path, Cuts(0, 0.0, 0.0), outages), 120.0)
    wanted = [f"p{n}" for n in range(MANY)]
    assert deliveries(asked, tmp_path) == dict.fromkeys(("s1", "s2", "s4"), wanted)
    assert resumed(tmp_path) == ["resume b4"]
    assert paused(tmp_path) >= 4 * DOWN  # the mark and the arrival break at the same time
    assert is_accepted(asked, "active", tmp_path)


def test_a_shipped_instance_runs_as_it_is(tmp_path: Path) -> None:
    assert runs_as_it_is("migration", "move3", tmp_path)
