"""The plain search: breadth first over frozen `State` objects in a set, one `World.step` a transition.

It is the explorer without everything that makes the explorer fast, and so its cross-check and its yardstick: the same
model, the same numbers, and `routeproof bench` reports how many times slower.
"""

from __future__ import annotations

from collections import deque

from attrs import frozen

from routeproof.model.world import State, World


@frozen
class Reached:
    """Result of a plain search; `complete` says whether it reached everything."""

    states: int
    transitions: int
    depth: int
    complete: bool


def plain_search(world: World, max_states: int | None = None) -> Reached:
    """Every reachable state, or as many as allowed."""
    start = world.initial()
    depth: dict[State, int] = {start: 0}
    queue = deque([start])
    transitions = 0
    while queue:
        if max_states is not None and len(depth) >= max_states:
            return Reached(len(depth), transitions, max(depth.values()), False)
        state = queue.popleft()
        for step in world.steps(state):
            transitions += 1
            if step.state not in depth:
                depth[step.state] = depth[state] + 1
                queue.append(step.state)
    return Reached(len(depth), transitions, max(depth.values()), True)
