"""What the relation allows beside a whole step that the model takes: other tables, queues or ghosts after it.

As in `others`: the state after the step is open, and so is what is said; the order of what is queued is asked apart.
"""

from __future__ import annotations

from itertools import combinations

from attrs import evolve

from routeproof.checker.prove.refine.others import Messages, differences, solution, some_order, unknown
from routeproof.checker.prove.refine.worlds import Across, Worded
from routeproof.model.world import State as ModelState
from routeproof.model.world import Step as ModelStep
from routeproof.spec.theory.readings import Clause
from routeproof.spec.theory.routing import Handler
from routeproof.spec.theory.signature import State


def other_step(worded: Worded, before: ModelState, taken: ModelStep) -> str | None:
    """Where another step that the relation allows differs from this one; None if there is none."""
    across = Across.of(worded, before, taken)
    return _other_state(worded, before, across) or _other_queues(worded, before, across)


def _other_state(worded: Worded, before: ModelState, across: Across) -> str | None:
    structure, old, here = worded.structure, len(across.old), across.taken.action.node
    messages = Messages.of(structure, across.said, here, offset=old)
    items = (*across.items[:old], *messages.words)
    logic = structure.logic(len(items))
    after, sends = unknown(State), messages.sends
    clauses = across.relation(
        logic, structure.facts(items), worded.state(before, across.old), after, sends, _unordered(worded.handler)
    )
    kept = [place for place in across.new if place[0] < old]
    ends = [(old + k, here, u) for k, u in enumerate(across.said.to)]
    changes = [
        *differences(logic, after, worded.state(across.taken.state, [*kept, *ends])),
        *differences(logic, sends, messages.as_said(across.said)),
    ]
    return solution(logic, clauses, changes, messages.twice())


def _other_queues(worded: Worded, before: ModelState, across: Across) -> str | None:
    structure, old = worded.structure, len(across.old)
    where = {i: (x, y) for i, x, y in (*across.old, *across.new)}
    pairs = [(i, j) for i, j in combinations(range(len(across.items)), 2) if where[i] == where[j]]
    changed = [(i, j) for i, j in pairs if j >= old]
    if not changed:
        return None
    logic = structure.logic(len(across.items))
    first, total = some_order(len(across.items))
    clauses = across.relation(
        logic,
        evolve(structure.facts(across.items), before=first),
        worded.state(before, across.old),
        worded.state(across.taken.state, across.new),
        across.sends,
    )
    changes = [(f"{across.items[j]} before {across.items[i]}", first(j, i)) for i, j in changed]
    return solution(logic, clauses, changes, [*total, *(first(i, j) for i, j in pairs if j < old)])


def _unordered(handler: type[Handler]) -> type[Handler]:
    """The same, whatever the order of messages."""

    class Unordered(handler):  # type: ignore[misc, valid-type]  # a class that is an argument
        def order(self) -> list[Clause]:
            return []

    return Unordered
