"""The parts of a step: which actions there are and in which order, and what each does to a queue."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest
from attrs import Factory, define, evolve

from routeproof.checker.instances import find
from routeproof.model.instance import Faults
from routeproof.model.messages import describe
from routeproof.model.overlay import Node
from routeproof.model.protocol import Local, Outcome, ProtocolError, Sends
from routeproof.model.protocols import world
from routeproof.model.world import Queue, World, deliveries, edit_queue


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
    state, sent = asked.initial(), list[tuple[Node, Hashable]]()
    while steps := list(asked.steps(state)):
        state = steps[-1].state
        sent += steps[-1].outcome.sends
    [delivered] = deliveries(Outcome(None, tuple(sent)))
    assert (0, delivered) in sent
    assert deliveries(Outcome(None, ((1, delivered), (0, "no message")))) == ()


@define
class Asked:
    """A protocol that notes what it is asked, and refuses some of it, fails, or sends what nobody can receive."""

    protocol: Any
    refuses: tuple[str, ...] = ()
    fails: bool = False
    strays: Sends = ()
    may_refuse: bool = True
    may_hold: bool = False
    asked: list[tuple[Node, Node, Hashable]] = Factory(list)

    def initial(self, node: Node) -> Local:
        return self.protocol.initial(node)  # type: ignore[no-any-return]  # of the protocol

    def accepts(self, node: Node, local: Local, sender: Node, message: Hashable) -> bool:
        self.asked.append((node, sender, message))
        return describe(message) not in self.refuses

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        if self.fails:
            return self._failing()
        outcome = self.protocol.handle(node, local, sender, message)
        return Outcome(outcome.local, (*outcome.sends, *self.strays), outcome.rules)

    def _failing(self) -> Outcome:
        raise KeyError("seven")


def asking(**given: Any) -> tuple[World, Asked]:
    sound = world(find("unadv3"), "active")
    protocol = Asked(sound.protocol, **given)
    return evolve(sound, protocol=protocol), protocol  # type: ignore[arg-type]  # without a name


def test_a_node_is_asked_whether_it_takes_what_comes_next() -> None:
    asked, protocol = asking()
    state, steps = asked.initial(), 0
    while enabled := [action for action in asked.actions if asked.enabled(state, action)]:
        protocol.asked.clear()
        assert all(asked.enabled(state, action) for action in enabled)
        for action, (node, sender, message) in zip(enabled, protocol.asked, strict=True):
            expected = asked.step(state, action)
            assert (node, sender, message) == (action.node, expected.sender, expected.message)
        steps, state = steps + 1, asked.step(state, enabled[-1 - steps % len(enabled)]).state
    assert steps > 8
    refusing, _ = asking(refuses=("adv(a)",))
    labels = [step.action.label for step in refusing.steps(refusing.initial())]
    assert labels == [step.action.label for step in asked.steps(asked.initial()) if describe(step.message) != "adv(a)"]


def test_a_handler_that_fails_is_named_with_the_place_in_its_code() -> None:
    asked, _ = asking(fails=True)
    with pytest.raises(
        ProtocolError, match=r"the handler fails at b\d.*KeyError: 'seven'.*test_world.py, line (\d+)\)"
    ) as failed:
        next(asked.steps(asked.initial()))
    line = int(str(failed.value).rpartition("line ")[2].rstrip(")"))
    assert "seven" in Path(__file__).read_text(encoding="utf-8").splitlines()[line - 1]


def test_the_first_that_nobody_can_receive_is_named() -> None:
    """What is sent to a node is called otherwise than what is handed to clients."""
    for strays, said in ((((2, "x"), (0, "y")), "sends x"), (((0, "y"), (2, "x")), "hands y to its clients")):
        asked, _ = asking(strays=strays)
        with pytest.raises(ProtocolError, match=said):
            next(asked.steps(asked.initial()))


def test_a_fault_is_no_answer_of_a_handler() -> None:
    asked = world(evolve(find("tiny"), faults=Faults(loss=1)), "active")
    state = next(step for step in asked.steps(asked.initial()) if step.outcome.sends).state
    [lost] = [step for step in asked.steps(state) if step.action.kind == "loss"]
    assert lost.outcome == Outcome(None)
    assert lost.state.locals == state.locals
    assert lost.state.history.faults == Faults()


def test_without_faults_there_are_no_actions_of_faults() -> None:
    kinds = {action.kind for action in world(find("tiny"), "active").actions}
    assert kinds == {"operation", "deliver"}


def test_facts_of_a_step_reach_the_ghosts() -> None:
    asked = world(find("tie2"), "active")
    state = asked.initial()
    while enabled := [action for action in asked.actions if asked.enabled(state, action)]:
        state = asked.step(state, max(enabled, key=lambda action: action.label)).state  # it tags before it publishes
    assert state.ghosts != asked.initial().ghosts
