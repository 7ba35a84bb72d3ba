"""Shrinking: a smaller instance and a shorter run that show the same thing under the same policy and mutant.

`shrink` takes away whatever `smaller` knows to take away, one thing at a time, as long as the property still fails
(or, of a `sometimes`, is still reached). The result is minimal in that none of these single cuts can be made any more.
Nor can any action be left out of its run: where the search of the final instance gets that far, the run is a shortest.

`shrink` first plays the old run on a candidate, as far as it can be played: this is cheap and mostly succeeds. Only if
that fails does it search the candidate, up to `SEARCHED` states; "minimal" means up to that bound.

What is minimal need not be least: which cuts are made first decides where it ends. So it is done in two orders, and the
shorter run is the answer. Everything is deterministic: equal counterexamples shrink to equal ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from pathlib import Path

from attrs import evolve, frozen

from routeproof.checker.counterexamples import replay_file
from routeproof.checker.counterexamples.record import follow, record
from routeproof.checker.counterexamples.smaller import Simplification, smaller
from routeproof.checker.evaluation import Finding, Monitor, exercised
from routeproof.checker.explore import explore
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.files import write_result
from routeproof.checker.system.terminal import count, printable
from routeproof.model.instance import Instance
from routeproof.model.protocols import world as world_of
from routeproof.model.world import State, Step, World
from routeproof.spec.properties import PROPERTIES, Property
from routeproof.traces import to_text
from routeproof.traces.files import named

SEARCHED = 20_000
"""States of a candidate that are searched before it is given up."""

SEARCHED_LAST = 200_000
"""States of the final instance that are searched for a shortest run."""

INTERRUPTED = "interrupted"
"""The limit of a search that a signal ended."""

DRAINED = 500
"""Deliveries that are tried once the old run has been played as far as it goes."""


def shrink(
    world: World, finding: Finding, until: float = inf, stopped: Callable[[BaseException], object] | None = None
) -> tuple[World, Finding]:
    """A minimal world in which the same property fails, and a run that shows it.

    `until`: the monotonic time at which the smallest that was found by then is the answer. `stopped`: where it is
    given, the same holds when a signal comes, with which it is called.
    """
    assert finding.run is not None, f"{finding.property} comes with no run"
    instance = evolve(world.instance, policies=(world.policy,), must_reach=(), must_fail=())
    start = _Case(instance, finding.run, finding.why)
    shrinkers = [
        _Shrinker(world, PROPERTIES[finding.property], order, until) for order in (list, lambda cuts: list(cuts)[::-1])
    ]
    cases: list[_Case] = []
    for each in shrinkers:
        try:
            cases.append(each.smallest(start))
        except KeyboardInterrupt as interrupt:
            if stopped is None:
                raise
            stopped(interrupt)
            cases.append(each.smallest_yet or start)
            break
    case = min(cases, key=_Case.size)
    if case.instance != start.instance:
        name = start.instance.name  # it is another instance now, and must not go by the old one's name
        name = name if name.endswith("-shrunk") else f"{name[:57]}-shrunk"
        case = evolve(case, instance=evolve(case.instance, name=name, about=""))
    return shrinkers[0].world(case.instance), evolve(finding, run=case.run, why=case.why)


class NotReproduced(Exception):
    """A counterexample that does not reproduce; the message names the first place that differs, in one line."""


def shrink_file(
    source: Path, target: Path, seconds: float = inf, stopped: Callable[[BaseException], object] | None = None
) -> str:
    """Shrinks the counterexample in a file into another file; returns the outcome in one line."""
    until = time.monotonic() + seconds
    replayed = replay_file(source)
    before = replayed.counterexample
    if replayed.difference is not None:
        raise NotReproduced(printable(f"{replayed.where}: does not reproduce: {replayed.difference}"))
    if before.property is None:
        raise UsageError(f"{replayed.where}: its header names no violation; there is nothing to keep while shrinking")
    p = before.property
    verdict = Finding(p.id, p.kind, "fails" if p.kind == "always" else "holds", 1, before.run, before.why)
    world, finding = shrink(before.world, verdict, until, stopped)
    assert finding.run is not None
    write_result(target, to_text(record(world, finding.run, finding)))
    then = _Case(before.world.instance, before.run, before.why).described()
    now = _Case(world.instance, finding.run, finding.why).described()
    what = f"{then} -> {now}" if then != now else f"already minimal, {now}"
    return f"{p.id}: {what}: {named(target)}"


@frozen
class _Case:
    """An instance and a run of it that shows what must be kept."""

    instance: Instance
    run: tuple[str, ...]
    why: str

    def size(self) -> tuple[int, int, int]:
        ids = len(self.instance.advertisers) + len(self.instance.subscribers) + len(self.instance.publications)
        return len(self.run), len(self.instance.overlay.brokers), ids

    def described(self) -> str:
        steps, brokers, ids = self.size()
        what = count(ids, "client or publication", "clients and publications")
        return f"{count(steps, 'step')}, {count(brokers, 'broker')}, {what}"


class _Late(Exception):
    """There is no time for more."""


Order = Callable[[Iterable[Simplification]], list[Simplification]]


class _Shrinker:
    """Shrinks under one policy and one mutant, for one property, trying cuts in one order."""

    def __init__(self, world: World, p: Property, order: Order, until: float) -> None:
        self.policy, self.mutant, self.property, self.order = world.policy, world.mutant, p, order
        self.until = until
        self.smallest_yet: _Case | None = None

    def world(self, instance: Instance) -> World:
        return world_of(instance, self.policy, self.mutant)

    def smallest(self, case: _Case) -> _Case:
        """A minimal case with a shortest run, or the smallest that was found in time."""
        self.smallest_yet = case
        try:
            return self.shortest(self.minimal(case))
        except _Late:
            return self.smallest_yet

    def minimal(self, case: _Case) -> _Case:
        """Cut until no single cut is left, the cheap way as long as that works."""
        while True:
            after = self._trimmed(self._cut_by_following(case))
            if after.instance == case.instance:
                found = self._cut_by_searching(after)
                if found is None:
                    return after
                after = found
            case = after

    def shortest(self, case: _Case) -> _Case:
        """The instance with a shortest run, if the search gets that far."""
        found = self._searched(case.instance, SEARCHED_LAST)
        return self._trimmed(found) if found is not None and len(found.run) <= len(case.run) else case

    # -- cuts ----------------------------------------------------------------------------------------------------------

    def _cut_by_following(self, case: _Case) -> _Case:
        """One pass over all cuts, making each that the old run survives."""
        cuts, i = self.order(smaller(case.instance)), 0
        while i < len(cuts):
            instance = cuts[i].instance()
            is_smaller = instance is not None and instance != case.instance  # a section may write what was left out
            found = None if instance is None or not is_smaller else self._followed(instance, cuts[i].project(case.run))
            if found is None:
                i += 1
            else:  # what is now at i was behind it before
                self.smallest_yet = case = found
                cuts = self.order(smaller(found.instance))
        return case

    def _cut_by_searching(self, case: _Case) -> _Case | None:
        """The first cut after which a search still finds what must be kept."""
        instances = (cut.instance() for cut in self.order(smaller(case.instance)))
        found = (self._searched(each, SEARCHED) for each in instances if each not in (None, case.instance))
        return next((each for each in found if each is not None), None)

    def _trimmed(self, case: _Case) -> _Case:
        """Leave actions out, many at once to begin with, until each one that is left is needed."""
        size = max(1, len(case.run) // 2)
        while True:
            before, i = len(case.run), 0
            while i < len(case.run):
                found = self._followed(case.instance, case.run[:i] + case.run[i + size :])
                if found is not None and len(found.run) < len(case.run):
                    self.smallest_yet = case = found
                else:
                    i += size
            if size == 1 and len(case.run) == before:
                return case
            size = max(1, size // 2)

    # -- does it still show? -------------------------------------------------------------------------------------------

    def _followed(self, instance: Instance, run: Sequence[str]) -> _Case | None:
        """By playing a run as far as it goes, and then delivering what is left in the queues."""
        self._look_at_the_clock()
        world = self.world(instance)
        monitor = Monitor(world, [self.property])
        played: list[str] = []
        if (why := self._shown(monitor, world.initial())) is not None:
            return _Case(instance, (), why)
        for step in _followed_and_drained(world, run):
            played.append(step.action.label)
            if (why := self._shown(monitor, step.state)) is not None:
                return _Case(instance, tuple(played), why)
        return None

    def _shown(self, monitor: Monitor, state: State) -> str | None:
        """Why this state shows it; None where it does not."""
        if self.property.kind == "sometimes":
            return "" if exercised(monitor.world, state, [self.property]) else None
        return next((why for _, why in monitor.look(state)), None)

    def _look_at_the_clock(self) -> None:
        if time.monotonic() >= self.until:
            raise _Late

    def _searched(self, instance: Instance, limit: int) -> _Case | None:
        """By exploring, breadth first."""
        if self.property.over == "link" and not instance.overlay.links:
            return None  # one broker alone has no neighbour to disagree with
        self._look_at_the_clock()
        left = None if self.until == inf else max(0.0, self.until - time.monotonic())
        result = explore(
            self.world(instance), properties=[self.property], max_states=limit, seconds=left, stop_at_first=True
        )
        if result.limit == INTERRUPTED or interrupts.came():  # the search noted it, and did not raise it
            raise interrupts.Interrupted
        finding = result.findings[self.property.id]
        return None if finding.run is None else _Case(instance, finding.run, finding.why)


def _followed_and_drained(world: World, run: Sequence[str]) -> Iterator[Step]:
    state = world.initial()
    for step in follow(world, run):
        yield step
        state = step.state
    deliver = [action for action in world.actions if action.kind == "deliver"]
    for _ in range(DRAINED):
        action = next((a for a in deliver if world.enabled(state, a)), None)
        if action is None:
            return
        step = world.step(state, action)
        yield step
        state = step.state
