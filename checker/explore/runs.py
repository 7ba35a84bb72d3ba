"""From state ids to something that a person can replay: the actions between them, and the state where they end."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.checker.explore.search import Search
from routeproof.model.world import State


def concrete_run(search: Search, path: Sequence[int]) -> tuple[tuple[str, ...], State]:
    """Labels of a run through these states, and its last state; under a symmetry, of one they stand for."""
    world, labels = search.world, []
    state = world.initial()
    for target in path[1:]:
        step = next(s for s in world.steps(state) if search.is_stored_as(s.state, target))
        labels.append(step.action.label)
        state = step.state
    return tuple(labels), state
