"""One run of a world, judged at every step.

`Walk` is a world in some state, with what got it there. It knows what can happen next, and takes it; a violation is
reported and, where it is the one looked for, ends the run with `Violated`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from attrs import Factory, define, frozen

from routeproof.checker.fuzz.watch import Watch
from routeproof.model.world import Action, State, World
from routeproof.spec.properties import Property

PATIENCE = 10_000
"""Deliveries after which a network that nobody speaks to must be at rest. What is drawn here needs some hundreds."""

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
    """What was seen so far, over all runs."""

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
        self.watch = Watch(world, properties, tally.exercised)
        self.drains = next((p for p in properties if p.scope == "graph"), None)
        self.state = world.initial()
        self.since_operation = {self.state}
        self.taken: list[str] = []
        self.over = False
        self.tags = [0] * len(world.links)
        self.operations = [a for a in world.actions if a.kind == "operation"]
        self.deliveries = [a for a in world.actions if a.kind == "deliver"]
        self.mishaps = [a for a in world.actions if a.kind not in ("operation", "deliver")]
        tally.runs += 1

    def possible_operations(self) -> list[Action]:
        return [a for a in self.operations if self.world.enabled(self.state, a)]

    def waiting(self) -> list[Action]:
        """The deliveries that can be made: one a link that is not empty."""
        queues = self.state.queues
        return [a for a in self.deliveries if queues[a.link]]

    def possible_mishaps(self) -> list[Action]:
        return [a for a in self.mishaps if self.world.enabled(self.state, a)]

    def take(self, action: Action) -> None:
        before = self.state
        step = self.world.step(before, action)
        self.state = step.state
        self.taken.append(action.label)
        self.tally.steps += 1
        self.tally.longest = max(self.tally.longest, len(self.taken))
        self.tally.rules.update(step.outcome.rules)
        in_flight = 0
        for link, (old, new) in enumerate(zip(before.queues, self.state.queues, strict=True)):
            if new is not old:
                self.tags[link] = self.world.tags(new)
            in_flight |= self.tags[link]
        for broken, why in self.watch.violated(self.state, in_flight):
            self._report(broken, why)
        if self.drains:
            self._look_for_cycle(self.drains, action)

    def drain(self, order: str) -> None:
        """Deliver until nothing is on its way."""
        for turn in range(PATIENCE):
            waiting = self.waiting()
            if not waiting:
                break
            self.take(ORDERS[order](waiting, self.state, turn))
        if self.drains:
            self.tally.exercised[self.drains.id] += 1
            if self.waiting():
                self._report(
                    self.drains, f"{PATIENCE:,} deliveries after the last operation the network is not at rest"
                )

    def _look_for_cycle(self, drains: Property, action: Action) -> None:
        """An operation is done once and a fault is spent, so only deliveries can lead back to an old state."""
        if action.kind != "deliver":
            self.since_operation = {self.state}
        elif self.state in self.since_operation:
            self._report(drains, "the network is in a state in which it was before, and can go round for ever")
        else:
            self.since_operation.add(self.state)

    def _report(self, broken: Property, why: str) -> None:
        if self.report(Violation(self.world, broken, why, tuple(self.taken))):
            self.over = True
            raise Violated(broken.id)
