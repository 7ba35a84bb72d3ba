"""The parts of a step: which actions there are and in which order, and what each does to a queue."""

from __future__ import annotations

import pytest
from attrs import evolve

from routeproof.checker.instances import find
from routeproof.model.instance import Faults
from routeproof.model.protocol import Outcome
from routeproof.model.protocols import world
from routeproof.model.world import Queue, deliveries, edit_queue


def test_actions_are_in_one_order() -> None:
    asked = world(evolve(find("tiny"), faults=Faults(1, 2, 3, 4)), "active")
    channels = ("1>2", "2>1")
    faults = [f"{fault} {channel}" for fault in ("loss", "duplicate", "reorder") for channel in channels]
    assert [action.label for action in asked.actions[len(asked.ledger.operations) :]] == [
        *(f"deliver {channel}" for channel in channels),
        *faults,
        *("crash 1", "crash 2"),
    ]
    assert [action.index for action in asked.actions] == list(range(len(asked.actions)))
    for action in asked.actions:
        assert (action.link >= 0) == (action.kind in ("deliver", "loss", "duplicate", "reorder"))
        assert asked.action_named[action.label] == action


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        *(("deliver", (), None), ("deliver", "a", ""), ("deliver", "ab", "b"), ("loss", "", None), ("loss", "ab", "b")),
        *(("duplicate", "", None), ("duplicate", "a", "aa"), ("duplicate", "abc", "abca")),
        *(("reorder", "", None), ("reorder", "a", None), ("reorder", "aa", None), ("reorder", "aab", None)),
        *(("reorder", "ab", "ba"), ("reorder", "abcd", "bacd")),
    ],
)
def test_what_an_action_leaves_of_a_queue(kind: str, before: Queue, after: Queue | None) -> None:
    assert edit_queue(kind, tuple(before)) == (None if after is None else tuple(after))


def test_nothing_else_edits_a_queue() -> None:
    with pytest.raises(ValueError, match="crash does not edit a queue"):
        edit_queue("crash", ("a", "b"))


def test_deliveries_are_to_clients() -> None:
    asked = world(find("tiny"), "active")
    state, sent = asked.initial(), []
    while steps := list(asked.steps(state)):
        state = steps[-1].state
        sent += steps[-1].outcome.sends
    [delivered] = deliveries(Outcome(None, tuple(sent)))
    assert (0, delivered) in sent
    assert deliveries(Outcome(None, ((1, delivered), (0, "no message")))) == ()
