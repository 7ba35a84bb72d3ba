"""Runs of a world, judged at every step, and the state machine by which Hypothesis draws them.

`Walk` is a world in some state, with what got it there. It knows what can happen next, and takes it; a violation is
reported and, where it is the one looked for, ends the run with `Violated`. `trimmed` leaves out of a run what it does
not need: Hypothesis makes examples small, not runs. Where the instance was drawn as well,
`checker.counterexamples.shrink` does far more than this.

`Machine` is one example. Hypothesis draws its world and what happens next and, once something is wrong, finds out what
can be left out. The rules are total: where one has nothing to do, it does the next best thing. Hypothesis switches
rules off at random for a whole example, and so every subset of them is a way to schedule: without `drain` everything
overtakes everything, with `drain` alone each operation meets a network at rest.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from math import inf
from random import Random

from attrs import Factory, define, frozen
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from routeproof.checker.evaluation import Changes
from routeproof.model.messages import Advertise, Publish, Subscribe, Unadvertise, Unsubscribe
from routeproof.model.world import Action, State, World
from routeproof.spec.properties import Property

PATIENCE = 20
"""Deliveries, per broker and operation, after which a network without operations must be at rest. An operation reaches
each broker once or twice, which then sends a few messages."""

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
class WalkTally:
    runs: int = 0
    steps: int = 0
    longest: int = 0
    exercised: Counter[str] = Factory(Counter)
    rules: Counter[str] = Factory(Counter)


class Walk:
    """A run so far. `report` says whether a violation is the one looked for."""

    def __init__(
        self, world: World, properties: Sequence[Property], tally: WalkTally, report: Callable[[Violation], bool]
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
        may = self.world.ledger.may(self.state.history)
        enabled = self.world.enabled
        return [a for a in self.operations if a.operation and a.operation.bit & may and enabled(self.state, a)]

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

    walk = Walk(violation.world, [violation.property], WalkTally(), note)
    try:
        for label in run:
            action = walk.world.action_named[label]
            if walk.world.enabled(walk.state, action):
                walk.take(action)
        walk.conclude()
    except Violated:
        return found[0]
    return violation


# A number stands for a choice, modulo what there is to choose from; 0, the first of it, is the simplest. It stays below
# 100: beyond, Hypothesis also draws constants that it finds in loaded modules, and a seed would mean something else in
# another process.
NUMBER = st.integers(0, 99)
_TIMES = st.integers(1, 60)
_ORDER = st.sampled_from(list(ORDERS))

LEANINGS = (0.1, 0.3, 0.6)
"""How likely it is in a scramble that a client acts where a message could be delivered."""

MISHAPS = 0.1
"""How likely it is in a scramble that a link or broker fails, where the instance lets them."""


class Machine(RuleBasedStateMachine):
    """One example: a world, drawn from `worlds`, and runs in it that `set_out` begins."""

    walk: Walk

    def __init__(self, worlds: st.SearchStrategy[World], set_out: Callable[[World], Walk]) -> None:
        super().__init__()
        self.worlds = worlds
        self.set_out = set_out

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.walk = self.set_out(data.draw(self.worlds))

    @rule(number=NUMBER)
    def join(self, number: int) -> None:
        """A client advertises or subscribes."""
        self._operate(number, Advertise, Subscribe)

    @rule(number=NUMBER)
    def leave(self, number: int) -> None:
        """A client withdraws what it advertised or subscribed."""
        self._operate(number, Unadvertise, Unsubscribe)

    @rule(number=NUMBER)
    def publish(self, number: int) -> None:
        self._operate(number, Publish)

    @rule(number=NUMBER)
    def deliver(self, number: int) -> None:
        self._take(number, self.walk.waiting() or self.walk.possible_operations())

    @rule(number=NUMBER)
    def burst(self, number: int) -> None:
        """A broker handles everything that is waiting on one link."""
        if waiting := self.walk.waiting():
            link = waiting[number % len(waiting)]
            for _ in self.walk.state.queues[link.link]:
                if self.walk.world.enabled(self.walk.state, link):
                    self.walk.take(link)
        else:
            self._take(number, self.walk.possible_operations())

    @rule(number=NUMBER, times=_TIMES)
    def scramble(self, number: int, times: int) -> None:
        """Many things happen, in an order that one number stands for: long disorder for two draws."""
        chance = Random(number)
        lean = chance.choice(LEANINGS)
        for _ in range(times):
            mishaps = self.walk.possible_mishaps() if self.walk.mishaps and chance.random() < MISHAPS else []
            if chance.random() < lean:
                actions = mishaps or self.walk.possible_operations() or self.walk.waiting()
            else:
                actions = mishaps or self.walk.waiting() or self.walk.possible_operations()
            self._take(chance.randrange(100), actions)

    @rule(order=_ORDER, number=NUMBER)
    def drain(self, order: str, number: int) -> None:
        """Everybody is silent until the network is at rest, which is where most properties speak."""
        if not self.walk.waiting():
            self._take(number, self.walk.possible_operations())
        self.walk.drain(order)

    def teardown(self) -> None:
        """Every run ends at rest: what was lost shows when nothing is on its way any more."""
        if hasattr(self, "walk") and not self.walk.over:
            self.walk.drain("first")

    def _operate(self, number: int, *kinds: type) -> None:
        """An operation of these kinds, or else any, or else a delivery."""
        possible = self.walk.possible_operations()
        wanted = [a for a in possible if a.operation and isinstance(a.operation.message, kinds)]
        self._take(number, wanted or possible or self.walk.waiting())

    def _take(self, number: int, actions: Sequence[Action]) -> None:
        if actions:
            self.walk.take(actions[number % len(actions)])
        else:  # all is done: the same world once more, in another order
            self.walk.conclude()
            self.walk = self.set_out(self.walk.world)


class FaultyMachine(Machine):
    """Machine for instances that let links and brokers fail."""

    @rule(number=NUMBER)
    def fail(self, number: int) -> None:
        """A link loses, doubles or swaps messages, or a broker forgets everything."""
        self._take(number, self.walk.possible_mishaps() or self.walk.waiting() or self.walk.possible_operations())
