"""The monitor says of plain states what the explorer says of columns of them, and sees where a run cannot end."""

from __future__ import annotations

from collections import deque

import pytest

from routeproof.checker.counterexamples.record import replay
from routeproof.checker.evaluation import Monitor, exercised, violations
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.protocols import world
from routeproof.model.world import State, World
from routeproof.spec.properties import PROPERTIES, properties_for
from tests.checker.hunt import MUTANTS, Prey, hunt


def _states(explored: World) -> list[State]:
    start = explored.initial()
    seen, queue = {start: None}, deque([start])
    while queue:
        for step in explored.steps(queue.popleft()):
            if step.state not in seen:
                seen[step.state] = None
                queue.append(step.state)
    return list(seen)


@pytest.mark.parametrize(
    ("instance", "policy", "mutant"),
    [
        ("tiny", "none", None),
        ("tiny", "active", None),
        ("tiny", "active", "removals-first"),
        ("tiny", "lazy", "withdrawal-not-sent"),
        ("tiny", "packing", "covering-swapped"),
        ("tiny", "none", "delivers-unmatched"),
        ("loss2", "active", None),
    ],
)
def test_agrees_with_the_explorer(instance: str, policy: str, mutant: str | None) -> None:
    explored = world(find(instance), policy, mutant)
    properties = [p for p in properties_for("routing", policy) if p.over != "graph"]
    findings = explore(explored, properties=properties).findings
    states = _states(explored)
    assert {p.id for state in states for p, _ in violations(explored, state, properties)} == {
        id for id, f in findings.items() if f.kind == "always" and f.failed
    }
    said = {p.id for state in states for p in exercised(explored, state, properties)}
    assert said == {id for id, f in findings.items() if f.exercised}


@pytest.mark.parametrize("prey", MUTANTS, ids=str)
def test_sees_the_violation_at_the_end_of_a_shortest_run_and_not_before(prey: Prey) -> None:
    hunted, finding = hunt(prey)
    assert finding.run is not None
    monitor = Monitor(hunted, [PROPERTIES[prey.property]])
    looks = [monitor.look(hunted.initial()), *(monitor.look(step.state) for step in replay(hunted, finding.run))]
    *before, last = looks
    assert not any(before)
    assert [p.id for p, _ in last] == [prey.property]
    assert all(why and "\n" not in why for _, why in last)


def test_each_property_is_named_once_in_a_state() -> None:
    hunted, finding = hunt(Prey("line3", "active", "withdrawal-not-sent", "NoResidue"))
    assert finding.run is not None
    state = replay(hunted, finding.run)[-1].state
    names = [p.id for p, _ in violations(hunted, state, properties_for("routing", "active"))]
    assert "NoResidue" in names
    assert len(names) == len(set(names))


def test_tables_are_not_judged_while_a_control_message_is_queued() -> None:
    quiet = world(find("line3"), "active")
    state = replay(quiet, ["advertise(a)"])[-1].state
    assert any(state.queues)
    assert not [p for p in exercised(quiet, state, properties_for("routing", "active")) if p.over in ("node", "link")]


def test_a_run_that_comes_back_never_ends() -> None:
    hunted, finding = hunt(Prey("line3", "active", "publication-sent-back", "Drains"))
    assert finding.run is not None
    monitor = Monitor(hunted, [PROPERTIES["Drains"]])
    monitor.look(hunted.initial())
    wrong = [monitor.look(step.state) for step in replay(hunted, [*finding.run, *finding.run[-2:]])]
    assert [bool(each) for each in wrong] == [False] * (len(finding.run) - 1) + [True] * 3
    assert "is reached again" in wrong[-1][0][1]
