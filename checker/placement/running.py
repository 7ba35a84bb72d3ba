"""A run of one workload under one algorithm: every publication on its tree of brokers, and publishers that move.

The run is computed publication by publication, without queues: each broker and each link that a publication crosses
takes the same time. A test holds messages, hops and delays to the simulator's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from attrs import define, field, frozen

from routeproof.impl.placement.decisions import BrokerTrace, Estimate, Metric, Profile, target
from routeproof.impl.simulator import MILLISECOND, SECOND, Costs
from routeproof.impl.workloads.stock import Stock
from routeproof.impl.workloads.workload import stream
from routeproof.model.filters import Filter
from routeproof.model.messages import Advertise, Publication, Publish, Subscribe
from routeproof.model.overlay import LOCAL, Node

Algorithm = str
STATIC, POP, GRAPE = "static", "pop", "grape"

SERVICE = Costs.measured("active").publish
LATENCY = MILLISECOND
WINDOW = 60 * SECOND
"""POP-2: the window of time in which so many publications are traced at most."""

LAST = 1 / 3
"""Share of the run, at its end, over which costs are measured."""

Counts = tuple[tuple[Node, int], ...]


@frozen
class AlgorithmSetting:
    """An algorithm with its parameters; the defaults are the paper's."""

    algorithm: Algorithm
    metric: Metric = "load"
    weight: float = 100
    threshold: int = 100
    traced: int = 50
    """POP-2: the most publications that are traced in a window."""

    @property
    def name(self) -> str:
        return f"{self.algorithm} {self.metric} {self.weight:g}" if self.algorithm == GRAPE else self.algorithm


@frozen
class RunCosts:
    """The costs of a run. Rates are by broker and second."""

    publications: float
    """Publications that brokers took in the last part of the run."""
    control: float
    """Messages of the algorithm and of moves that brokers took, in the same part."""
    busiest: float
    """Publications that the busiest broker took."""
    load: float
    """Share of time that brokers were busy with publications, on average."""
    delay: float | None
    """Mean of all deliveries, in ms."""
    hops: float | None
    moves: int
    control_share: float
    """Share of the algorithm's messages in all that brokers took over the whole run."""
    whole: float
    """All messages over the whole run."""
    selections: tuple[tuple[int, float], ...]
    """By links of the move, the milliseconds from the first request to the last answer, each once."""
    waits: tuple[tuple[int, float], ...]
    """By links of the move, the milliseconds for which the publisher waits."""


@frozen
class PlacementRun:
    name: str
    recipe: Stock
    setting: AlgorithmSetting
    seed: int

    def run(self) -> RunCosts:
        return _Running(self.recipe, self.setting, self.seed).run()


@define
class _Publisher:
    """One publisher: where it is, and what the algorithm knows of it."""

    at: Node
    subscribers: dict[Filter, Counter[Node]] = field(factory=dict)
    profiles: dict[Node, Profile] = field(factory=dict)
    gathered: int = 0
    window: int = -1
    traced: int = 0
    session: list[Counts] = field(factory=list)

    def deliveries(self, p: Publication) -> Counts:
        found = Counter[Node]()
        for wanted, homes in self.subscribers.items():
            if wanted.matches(p.event):
                found.update(homes)
        return tuple(sorted(found.items()))


class _Running:
    def __init__(self, recipe: Stock, setting: AlgorithmSetting, seed: int) -> None:
        self._setting = setting
        workload = recipe.workload(seed)
        self._operations = workload.operations
        self._reached, self._hops = cache(self._reach), cache(self._count_hops)
        self._overlay = workload.overlay
        self._random = stream(seed, "tags")
        self._length = recipe.run_ms * MILLISECOND
        self._control: list[tuple[int, int]] = []
        self._selections: dict[int, float] = {}
        self._waits: dict[int, float] = {}
        self._moves = 0

    def _reach(self, root: Node, brokers: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(sorted({root, *(each for broker in brokers for each in self._overlay.path(root, broker))}))

    def _count_hops(self, root: Node, counts: Counts) -> int:
        return sum(many * (len(self._overlay.path(root, broker)) - 1) for broker, many in counts)

    def run(self) -> RunCosts:
        publishers = self._publishers()
        loads = dict.fromkeys(self._overlay.brokers, 0)
        total = deliveries = hops = 0
        first = since = None
        publications = ((o.time, o.message.publication) for o in self._operations() if isinstance(o.message, Publish))
        for time, p in publications:
            first = time if first is None else first
            since = first + (1 - LAST) * self._length
            publisher = publishers[p.of]
            counts = publisher.deliveries(p)
            reached = self._reached(publisher.at, tuple(broker for broker, _ in counts))
            total += len(reached)
            if time >= since:
                for broker in reached:
                    loads[broker] += 1
                deliveries += sum(many for _, many in counts)
                hops += self._hops(publisher.at, counts)
            self._learn(publisher, time, counts, reached)
        return self._outcome(loads, total, deliveries, hops, since or 0)

    def _outcome(self, loads: Mapping[Node, int], total: int, deliveries: int, hops: int, since: float) -> RunCosts:
        seconds = LAST * self._length / SECOND
        brokers = len(loads)
        control = sum(many for _, many in self._control)
        late = sum(many for time, many in self._control if time >= since)
        mean = hops / deliveries if deliveries else None
        return RunCosts(
            publications=sum(loads.values()) / brokers / seconds,
            control=late / brokers / seconds,
            busiest=max(loads.values()) / seconds,
            load=sum(loads.values()) / brokers / seconds * SERVICE / SECOND,
            delay=None if mean is None else (SERVICE + mean * (SERVICE + LATENCY)) / MILLISECOND,
            hops=mean,
            moves=self._moves,
            control_share=control / (total + control) if total else 0.0,
            whole=(total + control) / brokers / (self._length / SECOND),
            selections=tuple(sorted(self._selections.items())),
            waits=tuple(sorted(self._waits.items())),
        )

    def _publishers(self) -> dict[str, _Publisher]:
        found: dict[str, _Publisher] = {}
        filters = {}
        for operation in self._operations():
            match operation.message:
                case Advertise(a):
                    filters[a.id] = a.filter
                    found[a.id] = _Publisher(operation.broker)
                case Subscribe(s):
                    for id, promised in filters.items():
                        if promised.overlaps(s.filter):
                            found[id].subscribers.setdefault(s.filter, Counter())[operation.broker] += 1
                case Publish():
                    break
        return found

    # -- the algorithms ------------------------------------------------------------------------------------------------

    def _learn(self, publisher: _Publisher, time: int, counts: Counts, reached: tuple[Node, ...]) -> None:
        if self._setting.algorithm == POP and self._is_traced(publisher, time):
            self._profile(publisher, counts, reached)
            self._control.append((time, len(reached) - 1))  # POP-3: a result over each link
            publisher.gathered += 1
            if publisher.gathered >= self._setting.threshold:
                self._pop(publisher, time)
        elif self._setting.algorithm == GRAPE:
            publisher.session.append(counts)
            if len(publisher.session) >= self._setting.threshold:
                self._grape(publisher, time)

    def _is_traced(self, publisher: _Publisher, time: int) -> bool:
        """POP-2: with probability 1 - T/N."""
        if time // WINDOW != publisher.window:
            publisher.window, publisher.traced = time // WINDOW, 0
        if self._random.random() >= 1 - publisher.traced / self._setting.traced:
            return False
        publisher.traced += 1
        return True

    def _profile(self, publisher: _Publisher, counts: Counts, reached: tuple[Node, ...]) -> None:
        """POP-5: every broker that took the publication averages what was reported to it."""
        reported: dict[Node, dict[Node, float]] = {broker: {} for broker in reached}
        for broker, many in counts:
            for near, far in (*pairwise(self._overlay.path(publisher.at, broker)), (broker, LOCAL)):
                reported[near][far] = reported[near].get(far, 0) + many
        for broker, values in reported.items():
            publisher.profiles.setdefault(broker, Profile()).trace(values)

    def _pop(self, publisher: _Publisher, time: int) -> None:
        publisher.gathered = 0
        averages = {b: publisher.profiles[b].average if b in publisher.profiles else {} for b in self._overlay.brokers}
        path = target(averages, publisher.at)
        links = len(path) - 1
        self._control.append((time, 2 * links))  # POP-7, POP-10: a request and an answer over each link
        if links:
            self._selections[links] = 2 * links * LATENCY / MILLISECOND
            for broker in path:  # a move clears their entries
                publisher.profiles.pop(broker, None)
            self._move(publisher, time, path[0], links)

    def _grape(self, publisher: _Publisher, time: int) -> None:
        session, publisher.session = publisher.session, []
        bits, deliveries = Counter[Node](), Counter[Node]()
        for number, counts in enumerate(session):
            for broker, many in counts:
                bits[broker] |= 1 << number
                deliveries[broker] += many
        reached = self._reached(publisher.at, tuple(sorted(bits)))
        self._control.append((time, 2 * (len(reached) - 1)))  # GRP-4, GRP-5: a request and an answer over each link
        delays = {b: dict.fromkeys((LOCAL, *self._overlay.neighbours(b)), float(SERVICE)) for b in reached}
        traces = {b: BrokerTrace(b, self._overlay.neighbours(b), bits[b], deliveries[b], delays[b]) for b in reached}
        chosen = Estimate(traces).choose(reached, self._setting.metric, self._setting.weight)
        links = len(self._overlay.path(publisher.at, chosen)) - 1
        if links:
            depth = max(len(self._overlay.path(publisher.at, b)) for b in reached) - 1
            self._selections[links] = max(self._selections.get(links, 0), 2 * depth * LATENCY / MILLISECOND)
            self._move(publisher, time, chosen, links)

    def _move(self, publisher: _Publisher, time: int, to: Node, links: int) -> None:
        """A move: the advertisement at the target, and an update and a completion over each link."""
        publisher.at = to
        self._moves += 1
        self._control.append((time, 1 + 2 * links))
        self._waits[links] = (2 * links + 3) * LATENCY / MILLISECOND
