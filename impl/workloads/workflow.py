"""`workflow`: business processes over four domains, and clients that watch them from time to time (000 V-C).

Every activity subscribes to its own triggers. A client that monitors a process subscribes to all of that process, and
an auditor to everything, for a minute in every ten: when an auditor goes, all of it has to be sent in its place.

Business processes as 000 V-C deploys them: activities on engines, and what triggers what while an instance runs.

A process is a sequence of stages. The activities of a stage run in parallel and each triggers every activity of the
stage after it, which begins once all of them have; a loop sends an instance back to an earlier stage once in a while.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from random import Random
from typing import Self

from attrs import evolve, frozen

from routeproof.impl.simulator import MILLISECOND, SECOND, TimedOperation
from routeproof.impl.workloads.workload import (
    Drawing,
    Predicates,
    Regions,
    Workload,
    assumed,
    at_least,
    by_root,
    domains,
    drawn,
    given,
    stream,
)
from routeproof.model.messages import Advertisement, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Node


@frozen
class Activity:
    number: int
    engine: Node


@frozen
class Trigger:
    """`engine` publishes it, `activity` waits for it. `delay`: milliseconds since the instance began."""

    delay: int
    engine: Node
    activity: int


@frozen
class Flow:
    """How activities hang together, and how long each takes."""

    abreast: int
    """The most activities in a stage."""
    loops: float
    """The share of processes that have a loop."""
    again: float
    """How likely a loop is taken, each time."""
    least_ms: int
    most_ms: int


@frozen
class Process:
    name: str
    stages: tuple[tuple[Activity, ...], ...]
    loop: tuple[int, int] | None
    """From this stage back to that one."""
    starter: Node
    """Where the client is that starts instances."""

    @classmethod
    def draw(cls, name: str, many: int, engines: Sequence[Node], flow: Flow, random: Random) -> Process:
        activities = [Activity(n, random.choice(engines)) for n in range(1, many + 1)]
        stages = [tuple(activities[:1])]
        left = activities[1:]
        while left:
            width = random.randint(1, min(flow.abreast, len(left)))
            stages.append(tuple(left[:width]))
            left = left[width:]
        loop = None
        if len(stages) > 2 and random.random() < flow.loops:
            back, from_ = sorted(random.sample(range(1, len(stages)), 2))
            loop = from_, back
        return cls(name, tuple(stages), loop, random.choice(engines))

    @property
    def activities(self) -> list[Activity]:
        return [activity for stage in self.stages for activity in stage]

    @property
    def engines(self) -> list[Node]:
        """Engines that publish triggers, each once. Nothing comes after the last stage but a loop."""
        last = len(self.stages) - 1
        ends = self.loop is not None and self.loop[0] == last
        publishing = [a.engine for n, stage in enumerate(self.stages) for a in stage if n < last or ends]
        return list(dict.fromkeys([self.starter, *publishing]))

    def instance(self, flow: Flow, random: Random) -> Iterator[Trigger]:
        """The publications in order of time. Each client publishes when it would without any delay."""
        (first,) = self.stages[0]
        yield Trigger(0, self.starter, first.number)
        order = self._order(flow, random)
        time = 0
        for here, there in pairwise(order):
            ends = sorted(
                (time + random.randint(flow.least_ms, flow.most_ms), activity.engine) for activity in self.stages[here]
            )
            for end, engine in ends:
                for activity in self.stages[there]:
                    yield Trigger(end, engine, activity.number)
            time = ends[-1][0]

    def _order(self, flow: Flow, random: Random) -> list[int]:
        """The stages that an instance goes through."""
        order = list(range(len(self.stages)))
        if self.loop is not None:
            from_, back = self.loop
            at = order.index(from_) + 1
            while random.random() < flow.again:
                order[at:at] = range(back, from_ + 1)
        return order


TRIGGER = "trigger"


@frozen
class Workflow:
    domains: int = given(4, "000 V-C", "domains; their roots, the core, are linked as a chain")
    brokers: int = given(10, "000 V-C", "brokers of a domain, a tree of three levels")
    fan_out: int = assumed(3, "of that tree: 1, 3 and 6 brokers on its levels")
    engines: int = given(6, "000 V-C", "execution engines in a domain, one at each broker of the last level")
    small: int = given(80, "000 V-C", "processes on one engine")
    small_activities: int = given(3, "000 V-C", "activities of each of these")
    medium: int = given(80, "000 V-C", "processes on the engines of one domain")
    medium_activities: int = given(10, "000 V-C", "activities of each of these")
    large: int = given(40, "000 V-C", "processes on engines anywhere")
    large_activities: int = given(26, "000 V-C", "activities of each of these")
    abreast: int = assumed(3, "the most activities that run in parallel")
    loops: float = assumed(0.3, "share of processes that have a loop")
    again: float = assumed(0.3, "how likely a loop is taken, each time")
    activity_least_ms: int = assumed(100, "the shortest time that an activity takes")
    activity_most_ms: int = assumed(2_000, "the longest; every time between is as likely")
    trigger_interval_ms: int = assumed(60_000, "between two instances of a process")
    monitored: float = given(0.3, "000 V-C", "share of processes that a client monitors all the time")
    auditors: int = given(4, "000 V-C", "clients that subscribe to all triggers from time to time")
    audit_ms: int = given(60_000, "000 V-C", "how long, each time")
    audit_interval_ms: int = given(600_000, "000 V-C", "between the beginnings of two audits by one client")
    subscription_interval_ms: int = assumed(50, "between two subscriptions")
    settle_ms: int = assumed(10_000, "from the last subscription to the first instance")
    run_ms: int = assumed(3_600_000, "from the first instance on; an audit that has begun by then is not ended")
    look_ms: int = assumed(1_000, "between two samples of the metrics")

    @property
    def about(self) -> str:
        many = self.small + self.medium + self.large
        return (
            f"{many} processes on {self.domains} x {self.brokers} brokers; {self.auditors} clients audit all of them."
        )

    @property
    def flow(self) -> Flow:
        return Flow(self.abreast, self.loops, self.again, self.activity_least_ms, self.activity_most_ms)

    def scaled(self, scale: float) -> Self:
        """Fewer processes, and all that is periodic more often: as many triggers and audits' ends in a second."""
        return evolve(self, **{name: at_least(1, by_root(getattr(self, name), scale)) for name in SCALED})

    def workload(self, seed: int) -> Workload:
        there = domains(self.domains, self.brokers, self.fan_out)
        watched = {domain[0]: f"domain {n}" for n, domain in enumerate(there.regions, 1)}
        return drawn(self, there.overlay, lambda: _Drawn(self, there, seed), watched)


SCALED = ("small", "medium", "large", "trigger_interval_ms", "audit_ms", "audit_interval_ms", "run_ms")


class _Drawn(Drawing[Workflow]):
    start = 10 * SECOND
    """A thousand advertisements are flooded before the first subscription."""

    def __init__(self, recipe: Workflow, there: Regions, seed: int) -> None:
        super().__init__(recipe, seed)
        self.engines = [
            [broker for broker in domain if len(there.overlay.neighbours(broker)) == 1][: recipe.engines]
            for domain in there.regions
        ]
        self.anywhere = [engine for domain in self.engines for engine in domain]
        self.processes = list(self._processes())
        self.publisher_of: dict[tuple[str, Node], tuple[Node, Advertisement]] = {}

    def _processes(self) -> Iterator[Process]:
        recipe, random = self.recipe, stream(self.seed, "processes")
        for n in range(recipe.small):
            engine = random.choice(self.anywhere)
            yield Process.draw(f"small-{n + 1}", recipe.small_activities, [engine], recipe.flow, random)
        for n in range(recipe.medium):
            engines = random.choice(self.engines)
            yield Process.draw(f"medium-{n + 1}", recipe.medium_activities, engines, recipe.flow, random)
        for n in range(recipe.large):
            yield Process.draw(f"large-{n + 1}", recipe.large_activities, self.anywhere, recipe.flow, random)

    def advertised(self) -> Iterator[tuple[Node, Advertisement]]:
        """An engine advertises the triggers of each process that it takes part in."""
        for process in self.processes:
            for engine in process.engines:
                publisher = engine, self.ids.advertisement(_of(process.name))
                self.publisher_of[process.name, engine] = publisher
                yield publisher

    def subscribed(self) -> Iterator[tuple[Node, Subscription]]:
        """Standing subscriptions, in random order: activities, and the clients that monitor a process."""
        random = stream(self.seed, "deployment")
        wanted = [
            (activity.engine, [*_of(process.name), ["activity", "=", activity.number]])
            for process in self.processes
            for activity in process.activities
        ]
        for process in random.sample(self.processes, round(len(self.processes) * self.recipe.monitored)):
            wanted.append((random.choice(self.anywhere), _of(process.name)))
        random.shuffle(wanted)
        return ((broker, self.ids.subscription(predicates)) for broker, predicates in wanted)

    def settled(self, first: int) -> Iterable[Iterator[TimedOperation]]:
        last = first + self.recipe.run_ms * MILLISECOND
        return self._audit(first, last), self._publish(first, last)

    def _audit(self, first: int, last: int) -> Iterator[TimedOperation]:
        """Each auditor at a broker of its own choice, and beginning anywhere in the interval."""
        random = stream(self.seed, "audits")
        interval = self.recipe.audit_interval_ms * MILLISECOND
        audits = [
            (begin, random.choice(self.anywhere))
            for offset in (random.randrange(interval) for _ in range(self.recipe.auditors))
            for begin in range(first + offset, last, interval)
        ]
        due: list[tuple[int, int, TimedOperation]] = []
        for n, (begin, broker) in enumerate(sorted(audits)):
            while due and due[0][0] <= begin:
                yield heappop(due)[2]
            audit = self.ids.subscription([["class", "=", TRIGGER]])
            yield TimedOperation(begin, broker, Subscribe(audit))
            end = begin + self.recipe.audit_ms * MILLISECOND
            if end <= last:
                heappush(due, (end, n, TimedOperation(end, broker, Unsubscribe(audit))))
        while due:
            yield heappop(due)[2]

    def _publish(self, first: int, last: int) -> Iterator[TimedOperation]:
        """Instances of all processes at once; each process begins its first one anywhere in its interval."""
        random = stream(self.seed, "instances")
        interval = self.recipe.trigger_interval_ms * MILLISECOND
        due: list[tuple[int, int, int, Trigger | None]] = []
        for n in range(len(self.processes)):
            heappush(due, (first + random.randrange(interval), n, 0, None))
        number = 0
        while due and due[0][0] <= last:
            time, n, _, trigger = heappop(due)
            process = self.processes[n]
            if trigger is None:
                heappush(due, (time + interval, n, 0, None))
                for each in process.instance(self.recipe.flow, random):
                    number += 1
                    heappush(due, (time + each.delay * MILLISECOND, n, number, each))
                continue
            attributes = {"class": TRIGGER, "process": process.name, "activity": trigger.activity}
            yield self.published(time, self.publisher_of[process.name, trigger.engine], attributes)


def _of(process: str) -> Predicates:
    return [["class", "=", TRIGGER], ["process", "=", process], ["activity", "present"]]
