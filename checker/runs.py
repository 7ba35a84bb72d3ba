"""Runs: the labels of actions, played in a world.

A run is a replay token: labels are equal on every machine, and a world is deterministic once each of its actions is
named. `replay` plays a run as it stands; `follow` plays what is left of one that was made for a larger world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from routeproof.checker.errors import UsageError
from routeproof.model.filters.wording import quoted
from routeproof.model.world import Action, State, Step, World


class NotEnabled(UsageError):
    """A run that cannot be played; the message names the first of its actions that cannot happen."""


def replay(world: World, run: Sequence[str]) -> list[Step]:
    """The run's steps from the initial state."""
    return list(play(world, run))


def play(world: World, run: Sequence[str]) -> Iterator[Step]:
    """The same, one by one."""
    state = world.initial()
    for number, label in enumerate(run, start=1):
        action = world.action_named.get(label)
        if action is None:
            raise NotEnabled(f"step {number}: {quoted(label)} is no action of this instance")
        if not world.enabled(state, action):
            raise NotEnabled(f"step {number}: {quoted(label)} cannot happen here: {_obstacle(world, state, action)}")
        step = world.step(state, action)
        yield step
        state = step.state


def follow(world: World, run: Sequence[str]) -> Iterator[Step]:
    """Play what can be played of a run, and skip the rest."""
    state = world.initial()
    for label in run:
        action = world.action_named.get(label)
        if action is not None and world.enabled(state, action):
            step = world.step(state, action)
            yield step
            state = step.state


def _obstacle(world: World, state: State, action: Action) -> str:
    if action.operation is not None:
        if state.history.done & action.operation.bit:
            return "it has been done before"
        return "what must come before it has not been done, or what rules it out has"
    if action.kind == "crash":
        return "the broker knows nothing yet, or no crash is left"
    if action.kind != "deliver" and not getattr(state.history.faults, action.kind):
        return f"no fault of the kind {action.kind} is left"
    if action.kind == "reorder":
        return "the link holds no two different messages at its head"
    return "the link is empty"
