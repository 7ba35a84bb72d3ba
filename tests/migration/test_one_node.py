"""One node told what seldom happens in a run: the reference implementation says what the model says."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from routeproof.impl.migration.implementation import IMPLEMENTATION, MovingPublisher
from routeproof.model.instance_file import parse_instance
from routeproof.model.messages import Advertise, Publish, Unadvertise
from routeproof.model.migration.vocabulary import (
    Arrive,
    Complete,
    Flushed,
    Path,
    Pause,
    Publisher,
    Relocate,
    Stay,
    Update,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocols import world
from routeproof.model.world import World
from tests.kit.lockstep import by_receiver

INSTANCE: dict[str, Any] = {
    "name": "x",
    "protocol": "migration",
    "policy": "active",
    "overlay": [[1, 2], [2, 3]],
    "advertisement": [{"id": id, "at": 1, "events": [0], "unadvertises": True} for id in "abc"],
    "subscription": [{"id": "s", "at": 3, "events": [0]}],
    "publication": [{"id": "p", "of": "a", "event": 0}],
}
MOVES = [{"publisher": id, "to": 3} for id in "abc"]
BACK: Path = (3, 2, 1)


def asked(**readings: object) -> World:
    return world(parse_instance({**INSTANCE, "migration": {"moves": MOVES, **readings}}, "x"), "active")


def told(asked: World, node: Node, *said: tuple[Node, object]) -> list[object]:
    """The messages that a node answers with, in the model and in the implementation."""
    around = [v for u, v in asked.links if u == node]
    made = IMPLEMENTATION.make(node, around, asked.policy, IMPLEMENTATION.own_of(asked.instance))
    local, answers = asked.protocol.initial(node), list[object]()
    assert made.tables() == local  # type: ignore[attr-defined]  # a node of migration
    for sender, message in said:
        outcome = asked.protocol.handle(node, local, sender, message)
        local = outcome.local
        assert by_receiver(made.receive(sender, message)) == by_receiver(outcome.sends)  # type: ignore[arg-type]
        assert made.tables() == local  # type: ignore[attr-defined]
        answers += [message for _, message in outcome.sends]
    return answers


def test_publishers_that_wait_are_let_in_one_by_one() -> None:
    a, b, c = asked().instance.advertisements
    arrivals = [(client, Arrive(x, BACK)) for client, x in ((5, b), (6, c), (4, a))]
    for first in (a, b, c):
        said = told(asked(), 3, *arrivals, (2, Advertise(first)))
        assert [message for message in said if isinstance(message, Update)] == [Update(first, BACK)]


def test_clients_that_are_connected_are_in_the_order_of_ids() -> None:
    a, b, c = asked().instance.advertisements
    for order in ((c, b, a), (b, c, a), (a, c, b)):
        told(asked(), 1, *((LOCAL, Advertise(x)) for x in order), *((LOCAL, Relocate(x, BACK)) for x in order))


def test_who_enters_before_its_advertisement_drains_nothing() -> None:
    a, *_ = asked().instance.advertisements
    assert told(asked(enters="any-time"), 3, (4, Arrive(a, BACK))) == [Update(a, BACK)]


def test_a_completion_of_what_was_withdrawn_goes_nowhere() -> None:
    a, *_ = asked().instance.advertisements
    assert told(asked(), 2, (1, Complete(a))) == []
    assert told(asked(), 1, (LOCAL, Advertise(a)), (LOCAL, Unadvertise(a)), (LOCAL, Flushed(a)))[2:] == []


def test_a_publisher_that_has_withdrawn_stays() -> None:
    a, *_ = asked().instance.advertisements
    [p] = asked().instance.publications
    assert told(asked(), 4, (1, Pause(a, BACK))) == [Stay(a)]
    assert told(asked(), 4, (LOCAL, Advertise(a)), (LOCAL, Unadvertise(a)), (1, Pause(a, BACK)))[2:] == [Stay(a)]
    told(asked(), 4, (LOCAL, Advertise(a)), (1, Pause(a, BACK)), (LOCAL, Publish(p)), (LOCAL, Unadvertise(a)))


def test_a_peer_that_is_mistaken_moves_nobody() -> None:
    """No path leads through this broker, or none is of a publisher that moves. The model knows no such peer."""
    known = asked().instance
    a, *_ = known.advertisements
    stranger = evolve(a, rank=7, id="z")
    for x, path in ((a, (2, 1)), (a, ()), (a, (3, 1)), (stranger, BACK), (stranger, (2, 1))):
        made = IMPLEMENTATION.make(3, [2], "active", IMPLEMENTATION.own_of(known))
        made.receive(2, Advertise(x))
        for message in (Relocate(x, path), Arrive(x, path), Update(x, path)):
            assert made.receive(2, message) == []


@pytest.mark.parametrize("path", [(), (7,)])
def test_a_publisher_goes_nowhere_else(path: Path) -> None:
    a, *_ = asked().instance.advertisements
    made = MovingPublisher(4, 1, (1, 2, 3), marks=True)
    assert made.tables() == Publisher(1)
    made.receive(LOCAL, Advertise(a))
    assert made.receive(1, Pause(a, path)) == [(1, Stay(a))]
