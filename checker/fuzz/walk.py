"""A run of a world, judged at every step.

`Walk` is a world in some state, with what got it there. It knows what can happen next, and takes it; a violation is
reported and, where it is the one looked for, ends the run with `Violated`. `trimmed` leaves out of a run what it does
not need: Hypothesis makes examples small, not runs. Where the instance was drawn as well,
`checker.counterexamples.shrink` does far more than this.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from math import inf

from attrs import Factory, define, frozen

from routeproof.checker.scopes import Changes
from routeproof.model.world import Action, State, World
from routeproof.spec.properties import Property

PATIENCE = 20
"""Per broker and client operation: deliveries after which a network without client operations must be at rest. An
operation reaches each broker once or twice, and each broker then sends a few messages.
"""

ORDERS: dict[str, Callable[[Sequence[Action], State, int], Action]] = {
    "first": lambda waiting, state, turn: waiting[0],
    "last": lambda waiting, state, turn: waiting[-1],
    "around": lambda waiting, state, turn: waiting[turn % len(waiting)],
    "fullest": lambda waiting, state, turn: max(waiting, key=lambda action: len(state.queues[action.link])),
}
"""Which link's head is delivered next while draining."""


@frozen
class Violation:
    """A run that ends where a property is violated."""

    world: World
    property: Property
    why: str
    run: tuple[str, ...]


class Violated(Exception):
    """The violation that is looked for has happened."""


@define
class Tally:
    """Observations so far, over all runs."""

    runs: int = 0
    steps: int = 0
    longest: int = 0
    exercised: Counter[str] = Factory(Counter)
    rules: Counter[str] = Factory(Counter)


class Walk:
    """A run so far. `report` says whether a violation is the one looked for."""

    def __init__(
        self, world: World, properties: Sequence[Property], tally: Tally, report: Callable[[Violation], bool]
    ) -> None:
        self.world = world
        self.tally = tally
        self.report = report
        self.changes = Changes(world, properties)
        self.order = {p.id: i for i, p in enumerate(properties)}
        self.drains = next((p for p in properties if p.over == "graph"), None)
        self.state = world.initial()
        self.since_operation = {self.state}
        self.taken: list[str] = []
        self.over = False  # nothing is to be learned from what follows
        self.tags = [0] * len(world.links)  # of each queue: see `World.tags`
        self.operations = [a for a in world.actions if a.kind == "operation"]
        self.deliveries = [a for a in world.actions if a.kind == "deliver"]
        self.mishaps = [a for a in world.actions if a.kind not in ("operation", "deliver")]
        tally.runs += 1

    def possible_operations(self) -> list[Action]:
        return [a for a in self.operations if self.world.enabled(self.state, a)]

    def waiting(self) -> list[Action]:
        """The deliveries that can be made: one a link that is not empty, unless its head is refused."""
        queues = self.state.queues
        return [a for a in self.deliveries if queues[a.link] and self.world.enabled(self.state, a)]

    def possible_mishaps(self) -> list[Action]:
        return [a for a in self.mishaps if self.world.enabled(self.state, a)]

    def take(self, action: Action) -> None:
        step = self.world.step(self.state, action)
        in_flight = self._in_flight_after(step.state)
        self.state = step.state
        self.taken.append(action.label)
        self.tally.steps += 1
        self.tally.longest = max(self.tally.longest, len(self.taken))
        self.tally.rules.update(step.outcome.rules)
        for broken, why in self._violated(in_flight):
            self._report(broken, why)
        if self.drains:
            self._look_for_cycle(self.drains, action)

    def _violated(self, tags: int) -> list[tuple[Property, str]]:
        """Violations in the state in which the run is now, in the order of the properties."""
        wrong: list[tuple[Property, str]] = []
        for p, answer in self.changes.answers(self.state, tags):
            if answer is not None:
                self.tally.exercised[p.id] += 1
                if answer and p.kind == "always":
                    wrong.append((p, answer))
        return sorted(wrong, key=lambda each: self.order[each[0].id])

    def drain(self, order: str) -> None:
        """Deliver until nothing is on its way."""
        patience = PATIENCE * len(self.world.nodes) * len(self.operations)
        for turn in range(patience):
            waiting = self.waiting()
            if not waiting or self.over:
                break
            self.take(ORDERS[order](waiting, self.state, turn))
        if self.drains and not self.over:
            self.tally.exercised[self.drains.id] += 1
            if self.waiting():
                self._does_not_drain(self.drains, f"after {patience:,} deliveries messages are still on their way")
        self.conclude()

    def conclude(self) -> None:
        """Where nothing can happen any more, nothing may be left on its way either."""
        if self.drains is None or self.over or not any(self.state.queues):
            return
        if not any(self.world.enabled(self.state, action) for action in self.world.actions):
            self._does_not_drain(self.drains, "nothing can happen, but a queue is not empty")

    def _in_flight_after(self, state: State) -> int:
        """The tags of all queues together; a step hands on the queues that it leaves alone as they are."""
        in_flight = self.world.kept(state.locals)
        for link, (old, new) in enumerate(zip(self.state.queues, state.queues, strict=True)):
            if new is not old:
                self.tags[link] = self.world.tags(new)
            in_flight |= self.tags[link]
        return in_flight

    def _look_for_cycle(self, drains: Property, action: Action) -> None:
        """An operation is done once and a fault is spent, so only deliveries can lead back to an old state."""
        if action.kind != "deliver":
            self.since_operation = {self.state}
        elif self.state in self.since_operation:
            self._does_not_drain(drains, "the network is in a state in which it was before, and can go round for ever")
        else:
            self.since_operation.add(self.state)

    def _does_not_drain(self, drains: Property, why: str) -> None:
        """Even where that is not what is looked for, there is no waiting for this network any more."""
        self.over = True
        self._report(drains, why)

    def _report(self, broken: Property, why: str) -> None:
        if self.report(Violation(self.world, broken, why, tuple(self.taken))):
            self.over = True
            raise Violated(broken.id)


def trimmed(violation: Violation, until: float = inf) -> Violation:
    """Returns the violation with a run of which no step can be left out, or as short as it is at a monotonic time."""
    while True:
        before = len(violation.run)
        for at in reversed(range(before)):
            if time.monotonic() >= until:
                return violation
            run = violation.run
            violation = _replayed(violation, run[:at] + run[at + 1 :]) if at < len(run) else violation
        if len(violation.run) == before:
            return violation


def _replayed(violation: Violation, run: Sequence[str]) -> Violation:
    """Plays as much of this run as it can, up to the violation; returns the old one if the new run is not shorter."""
    found: list[Violation] = []

    def note(violation: Violation) -> bool:
        found.append(violation)
        return True

    walk = Walk(violation.world, [violation.property], Tally(), note)
    try:
        for label in run:
            action = walk.world.action_named[label]
            if walk.world.enabled(walk.state, action):
                walk.take(action)
        walk.conclude()
    except Violated:
        return found[0]
    return violation
