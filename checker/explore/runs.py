"""From state ids to something that a person can replay: the labels of the actions between them."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.checker.explore.search import Search


def action_labels(search: Search, path: Sequence[int]) -> tuple[str, ...]:
    """Labels of a run through these states. `Search.same` decides what counts as arriving there."""
    world, labels = search.world, []
    state = world.initial()
    for target in path[1:]:
        step = next(s for s in world.steps(state) if search.is_stored_as(s.state, target))
        labels.append(step.action.label)
        state = step.state
    return tuple(labels)
