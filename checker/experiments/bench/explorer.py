"""The speed and memory of the explorer, compared with a plain search over frozen objects of the same model.

The plain search is the explorer without everything that makes the explorer fast: breadth first over frozen `State`
objects in a set, one `World.step` a transition. So it is also the explorer's cross-check, with the same numbers.
"""

from __future__ import annotations

import resource
import time
from collections import deque
from collections.abc import Iterator

from attrs import frozen

from routeproof.checker.experiments.bench import Row, afresh
from routeproof.checker.explore.search import Search
from routeproof.checker.instances import find, shipped
from routeproof.model.protocols import world
from routeproof.model.world import State, World
from routeproof.spec.properties import properties_for

PLAIN_STATES = 40_000
"""How far the plain search goes: enough for a rate, and its rate only falls as it goes on."""

LARGE = ("pair3", "star5", "two4", "leave5")
"""The shipped instances with the most states; a test holds that each has over 500,000."""


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


def explorer() -> Iterator[Row]:
    """Measures the explorer with all properties on, and a plain search over frozen objects of the same model."""
    for instance in shipped():
        if instance.name in LARGE:
            for policy in instance.policies:
                yield afresh(_measure, instance.name, policy)


def _measure(name: str, policy: str) -> Row:
    instance = find(name)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    search = Search(world(instance, policy), properties_for(instance.protocol, policy))
    search.run()
    cycle = search.graph.find_cycle()
    seconds = time.process_time() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident
    assert cycle is None, f"{name} has a cycle under {policy}"
    began = time.process_time()
    plain = plain_search(world(instance, policy), PLAIN_STATES)
    plain_rate = plain.states / (time.process_time() - began)
    rate = search.states / seconds
    return {
        "instance": name,
        "policy": policy,
        "states": search.states,
        "transitions": search.transitions,
        "cpu seconds": round(seconds, 2),
        "states/s": round(rate),
        "stored bytes/state": round(search.nbytes / search.states, 1),
        "resident bytes/state": round(1024 * grown / search.states, 1),
        "plain states/s": round(plain_rate),
        "ratio": round(rate / plain_rate, 1),
    }
