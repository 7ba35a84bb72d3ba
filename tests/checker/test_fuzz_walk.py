"""A run as the fuzzer takes it: judged as the monitor judges it, and never longer than it must be."""

from collections.abc import Callable, Hashable
from random import Random

import pytest
from attrs import evolve

from routeproof.checker.counterexamples.record import follow, replay
from routeproof.checker.evaluation import Monitor, violations
from routeproof.checker.fuzz.walk import Violated, Violation, Walk, WalkTally, trimmed
from routeproof.checker.instances import find
from routeproof.model.definition import CORE_DEFINITION
from routeproof.model.messages import CORE
from routeproof.model.overlay import Node
from routeproof.model.protocol import NOTHING_KEPT, Kept, Local, Outcome
from routeproof.model.protocols import world
from routeproof.model.world import World
from routeproof.spec.properties import PROPERTIES, properties_for

MUTANTS = (
    ("removals-first", "active"),
    ("sent-not-recorded", "none"),
    ("lazy-keeps-withdrawn", "lazy"),
    ("packing-first-only", "packing"),
    ("delivers-unmatched", "active"),
    ("publication-per-entry", "none"),
    ("active-keeps-covered", "active"),
    ("none-forwards-once", "none"),
)


def any_run(asked: World, number: int) -> list[str]:
    """Any run to its end, one for each number. Operations come slowly, so that they meet tables that are filled."""
    chance, state = Random(number), asked.initial()
    run: list[str] = []
    while len(run) < 200:
        possible = [a for a in asked.actions if asked.enabled(state, a)]
        operations = [a for a in possible if a.kind == "operation"]
        others = [a for a in possible if a.kind != "operation"]
        if not possible:
            break
        action = chance.choice(operations if operations and (chance.random() < 0.2 or not others) else others)
        state = asked.step(state, action).state
        run.append(action.label)
    return run


def reporting_to(found: list[Violation], sought: bool) -> Callable[[Violation], bool]:
    def note(violation: Violation) -> bool:
        found.append(violation)
        return sought

    return note


def act_and_drain(walk: Walk) -> None:
    """Each operation meets a network at rest."""
    while operations := walk.possible_operations():
        walk.take(operations[0])
        walk.drain("first")


@pytest.mark.parametrize(("mutant", "policy"), MUTANTS)
def test_judges_as_the_monitor_does(mutant: str, policy: str) -> None:
    """It looks only at what changed; the first state with anything wrong, and what is wrong there, must be the same."""
    properties, states_with_anything_wrong = [p for p in properties_for("routing", policy) if p.over != "graph"], 0
    for name in ("line3", "star4", "unadv3", "pair3"):
        asked = world(find(name), policy, mutant)
        for number in range(40):
            found: list[Violation] = []
            walk = Walk(asked, properties, WalkTally(), reporting_to(found, sought=False))
            for step in replay(asked, any_run(asked, number)):
                walk.take(step.action)
                expected = {p.id: why for p, why in violations(asked, step.state, properties)}
                # The walk names a property for each broker and link that breaks it, the monitor only for the first.
                assert {v.property.id: v.why for v in reversed(found)} == expected
                if found:
                    states_with_anything_wrong += 1
                    break
    assert states_with_anything_wrong > 0


def test_a_cycle_is_seen_when_it_closes() -> None:
    asked, drains = world(find("line3"), "active", "publication-sent-back"), PROPERTIES["Drains"]
    found: list[Violation] = []
    walk = Walk(asked, [drains], WalkTally(), reporting_to(found, sought=True))
    with pytest.raises(Violated):
        act_and_drain(walk)
    assert walk.over
    [violation] = found
    monitor = Monitor(asked, [drains])
    states = [asked.initial(), *(step.state for step in replay(asked, violation.run))]
    assert [bool(monitor.look(state)) for state in states] == [False] * len(violation.run) + [True]


def test_a_queue_that_nobody_empties_is_seen_once_nothing_else_can_happen() -> None:
    asked, drains = world(find("pair3"), "active", "waits-for-advertisement"), PROPERTIES["Drains"]
    for number in range(200):
        found: list[Violation] = []
        walk = Walk(asked, [drains], WalkTally(), reporting_to(found, sought=False))
        for label in any_run(asked, number):
            walk.take(asked.action_named[label])
        walk.conclude()
        stuck = any(walk.state.queues)
        assert [v.why for v in found] == ["nothing can happen, but a queue is not empty"] * stuck
        if stuck:
            assert Monitor(asked, [drains]).look(walk.state)
            return
    pytest.fail("no run got stuck")


NUMBERS: tuple[type, ...] = (*CORE, int)
SAYS_NUMBERS = evolve(CORE_DEFINITION, messages=NUMBERS)


class Growing:
    """Every broker answers every message with a longer one, so that no state is ever reached again."""

    name = "growing"
    may_refuse = False
    may_hold = False

    def initial(self, node: Node) -> Local:
        return ()

    def kept(self, local: Local) -> Kept:
        return NOTHING_KEPT

    def accepts(self, node: Node, local: Local, sender: Node, message: Hashable) -> bool:
        return True

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        length = message if isinstance(message, int) else 0
        return Outcome(local, ((3 - node, length + 1),))


def test_a_network_that_never_rests_is_given_up() -> None:
    found: list[Violation] = []
    walk = Walk(
        World(find("tiny"), Growing(), "none", definition=SAYS_NUMBERS),
        [PROPERTIES["Drains"]],
        WalkTally(),
        reporting_to(found, sought=False),
    )
    walk.take(walk.possible_operations()[0])
    walk.drain("first")
    patience = 20 * len(walk.world.nodes) * len(walk.operations)
    assert [v.why for v in found] == [f"after {patience} deliveries messages are still on their way"]
    walk.drain("first")  # once is enough
    assert len(walk.taken) == 1 + patience


def test_trimming_leaves_out_all_that_can_be() -> None:
    asked, lost = world(find("star4"), "active", "removals-first"), PROPERTIES["NoLostDelivery"]
    found: list[Violation] = []
    for number in range(1000):
        walk = Walk(asked, [lost], WalkTally(), reporting_to(found, sought=False))
        for label in any_run(asked, number):
            walk.take(asked.action_named[label])
        if found:
            break
    small = trimmed(found[0])
    assert len(small.run) < len(found[0].run)
    assert violations(asked, replay(asked, small.run)[-1].state, [lost])
    for i in range(len(small.run)):
        shorter = follow(asked, small.run[:i] + small.run[i + 1 :])
        assert not any(violations(asked, step.state, [lost]) for step in shorter)
