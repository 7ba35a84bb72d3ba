"""From state ids to something that a person can replay: the actions between them, and the state where they end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from routeproof.checker.explore.search import Search
from routeproof.model.world import State, Step


def concrete_run(search: Search, path: Sequence[int]) -> tuple[tuple[str, ...], State]:
    """Labels of a run through these states, and its last state; under a symmetry, of one they stand for."""
    world, labels = search.world, []
    state = world.initial()
    for target in path[1:]:
        step = next(s for s in _steps(search, state) if search.is_stored_as(s.state, target))
        labels.append(step.action.label)
        state = step.state
    return tuple(labels), state


def _steps(search: Search, state: State) -> Iterator[Step]:
    """The steps of a state; the search may stop before each."""
    steps = search.world.steps(state)
    while True:
        search.pause()
        step = next(steps, None)
        if step is None:
            return
        yield step
