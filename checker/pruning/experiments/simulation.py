"""One run of an experiment: a workload under a policy, simulated, and what experiments ask of it.

`Simulation` says what to run, and can be handed to another process; its `run` gives a small `SimulationResult`.

`Aftermath` measures from the first withdrawal on: the papers' figures show that part, not the hours before it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import define, evolve, field, frozen

from routeproof.checker.experiments.plots import Point
from routeproof.checker.system.processes import collecting_rarely
from routeproof.impl import implementation_of, make_node
from routeproof.impl.observers import Metrics, quantile, subscriptions
from routeproof.impl.pruning import IMPLEMENTATION, Congestion
from routeproof.impl.simulator import SECOND, Network, Observer, Sends, Simulator, TimedOperation
from routeproof.impl.workloads import Recipe
from routeproof.impl.workloads.controlled import PROBE
from routeproof.model.filters import Attributes
from routeproof.model.messages import (
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.vocabulary import Relieve

ONE_IN = 16
"""One publication in this many is measured, of those published before the first withdrawal."""


@define(eq=False)
class Aftermath(Observer):
    """Delays are of what was published from then on, in nanoseconds; the rest is by broker."""

    since: int | None = None
    """When the first withdrawal was issued."""
    until: int = 0
    """When the last publication was made."""
    delays: array[int] = field(factory=lambda: array("q"))
    delivered_at: array[int] = field(factory=lambda: array("q"))
    at_rest: array[int] = field(factory=lambda: array("q"))
    """Delays of some of what was published and delivered before."""
    probes: array[int] = field(factory=lambda: array("q"))
    """Delays, of publications that are probes."""
    queues: Counter[Node] = field(factory=Counter)
    """The longest that each has been, messages that were kept out of it included."""
    uncovered: Counter[Node] = field(factory=Counter)
    """Subscriptions that were sent because of a withdrawal, each once a withdrawal however many neighbours got it."""
    messages: Counter[Node] = field(factory=Counter)
    """The messages in which they were sent."""
    publications: Counter[Node] = field(factory=Counter)
    """Received from neighbours."""
    _published: dict[str, int] = field(factory=dict)

    def issued(self, operation: TimedOperation) -> None:
        if self.since is None and isinstance(operation.message, Unsubscribe):
            self.since = operation.time
            self._published.clear()
        if isinstance(operation.message, Publish):
            publication = operation.message.publication
            if self.since is not None:
                self.until = operation.time
            if self.since is not None or publication.rank % ONE_IN == 0:
                self._published[publication.id] = operation.time

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
    ) -> None:
        if self.since is None:
            if isinstance(message, Publish) and (published := self._published.get(message.publication.id)) is not None:
                self.at_rest.extend(simulator.now - published for to, _ in sends if to == LOCAL)
            return
        self.queues[broker] = max(self.queues[broker], simulator.queue(broker) + simulator.held(broker))
        if isinstance(message, Publish):
            self.publications[broker] += sender != LOCAL
            published = self._published.get(message.publication.id)
            if published is not None:
                self._delivered(simulator.now, published, message.publication, sends)
        elif isinstance(message, Unsubscribe | PackedUnsubscribe | Relieve):
            self.uncovered[broker] += len({s for _, sent in sends for s in subscriptions(sent)})
            self.messages[broker] += sum(isinstance(sent, Subscribe | PackedSubscribe) for _, sent in sends)

    def _delivered(self, now: int, published: int, publication: Publication, sends: Sends) -> None:
        for to, _ in sends:
            if to == LOCAL:
                self.delays.append(now - published)
                self.delivered_at.append(now)
                if isinstance(publication.event, Attributes) and ("class", PROBE) in publication.event.pairs:
                    self.probes.append(now - published)


WINDOWS = 200
"""Stretches of a run in which delays over time are gathered."""

HOLD = Congestion(high=100, low=10)
"""000 IV: a congested broker holds withdrawals. It does not say when a broker is congested: assumed."""


@frozen
class Simulation:
    """`recipe` has been scaled. `name` is for tables and plots. `holds`: congested brokers hold withdrawals.

    `subscription` is the price of one in nanoseconds, where it is not that of Table II. A queue of `capacity` messages
    loses what comes when it is full.
    """

    name: str
    recipe: Recipe
    policy: str
    seed: int
    holds: bool = False
    subscription: int | None = None
    capacity: int | None = None

    def run(self) -> SimulationResult:
        drawn = self.recipe.workload(self.seed)
        overlay = drawn.overlay
        # All policies have the columns of pruning, so that they can be compared.
        metrics, aftermath = IMPLEMENTATION.metrics(overlay.brokers, drawn.look_every), Aftermath()
        costs = implementation_of(self.policy).costs(self.policy)
        simulator = Simulator(
            overlay,
            lambda broker: make_node(broker, overlay.neighbours(broker), self.policy),
            costs if self.subscription is None else evolve(costs, subscribe=self.subscription),
            Network(capacity=self.capacity, overflows=self.capacity is not None),
            observers=[metrics, aftermath],
            signals=HOLD.signals() if self.holds else None,
        )
        with collecting_rarely():
            simulator.play(drawn.operations())
        return _outcome(metrics, aftermath, drawn.watched, simulator.lost)


@frozen
class DelaySummary:
    """Seconds from publishing to delivery."""

    count: int
    mean: float
    p10: float
    p50: float
    p90: float
    most: float

    @classmethod
    def of(cls, delays: Iterable[int]) -> DelaySummary | None:
        """Nothing where nothing was delivered."""
        ordered = sorted(delays)
        if not ordered:
            return None
        p10, p50, p90 = (quantile(ordered, share) / SECOND for share in (0.1, 0.5, 0.9))
        return cls(len(ordered), sum(ordered) / len(ordered) / SECOND, p10, p50, p90, ordered[-1] / SECOND)


@frozen
class BrokerNumbers:
    """Numbers of one broker, from the first withdrawal on."""

    queue: int
    """The longest."""
    table: int
    """In the end."""
    uncovered: int
    """Subscriptions that it sent because of withdrawals, each once a withdrawal."""
    messages: int
    """In so many messages."""
    publications: int
    """Received from neighbours."""
    in_vain: int
    """Publications received for which no client was served, there or beyond."""


@frozen
class SimulationResult:
    """Times are seconds since the first withdrawal."""

    delays: DelaySummary | None
    """Delays of publications from the first withdrawal on."""
    probes: DelaySummary | None
    steady: float | None
    """The mean delay of what was delivered in the last tenth of the run."""
    rest: float | None
    """The mean delay before."""
    until: float
    """When the last publication was made."""
    watched: tuple[Node, ...]
    """The brokers that the workload names."""
    brokers: Mapping[Node, BrokerNumbers]
    rows: tuple[int, ...]
    """The largest database of each broker that ever had one, at the samples."""
    lost: int
    """Messages that found a full queue."""
    delay_over_time: Sequence[Point] = field(repr=False)
    """The mean of each stretch, at the time of delivery."""
    queue_over_time: Sequence[Point] = field(repr=False)
    """The longest queue of a watched broker, at each sample."""
    mean_queue_over_time: Sequence[Point] = field(repr=False)
    """Over all brokers; so is the next."""
    mean_table_over_time: Sequence[Point] = field(repr=False)
    watched_table_over_time: Sequence[Point] = field(repr=False)
    """The mean over the watched brokers."""

    @property
    def queue(self) -> int:
        """The longest at a watched broker."""
        return max(self.brokers[broker].queue for broker in self.watched)

    @property
    def table(self) -> float:
        """The mean over the watched brokers, in the end."""
        return self.mean(lambda numbers: numbers.table, self.watched)

    @property
    def tables(self) -> list[float]:
        """The mean over all brokers, at each sample."""
        return [size for _, size in self.mean_table_over_time]

    @property
    def settled(self) -> float | None:
        """When no watched broker's queue is long any more; nothing where one is at the end."""
        long = [n for n, (_, queue) in enumerate(self.queue_over_time, 1) if queue > HOLD.high]
        if not long:
            return 0.0
        return self.queue_over_time[long[-1]][0] if long[-1] < len(self.queue_over_time) else None

    @property
    def added(self) -> float | None:
        """By how much deliveries came later than before the withdrawals, all together. Once all is as before it does
        not grow with the time that is watched; nothing where it never was.
        """
        if self.delays is None or self.rest is None or self.settled is None:
            return None
        return max(0.0, self.delays.mean - self.rest) * self.delays.count

    def mean_over(self, time: float) -> float | None:
        """The mean delay, had publications gone on for so long: what had come later would have come as before."""
        if self.delays is None or self.rest is None or self.settled is None or not 0 < self.until <= time:
            return None
        later = self.delays.count * (time - self.until) / self.until
        return (self.delays.mean * self.delays.count + self.rest * later) / (self.delays.count + later)

    def mean(self, of: Callable[[BrokerNumbers], float], brokers: Sequence[Node]) -> float:
        return sum(of(self.brokers[broker]) for broker in brokers) / len(brokers)

    def in_vain(self, brokers: Iterable[Node]) -> float | None:
        """The share of publications that came in vain; nothing where none came."""
        some = [self.brokers[broker] for broker in brokers]
        publications = sum(numbers.publications for numbers in some)
        return sum(numbers.in_vain for numbers in some) / publications if publications else None


def _outcome(metrics: Metrics, aftermath: Aftermath, watched: Mapping[Node, str], lost: int) -> SimulationResult:
    since = aftermath.since or 0
    brokers = metrics.brokers
    before = sum(time < since for time in metrics.times)

    def over_time(column: str, some: Sequence[Node], take: Callable[[Sequence[int]], float]) -> list[Point]:
        series = [metrics.series(column, broker)[before:] for broker in some]
        times = [(time - since) / SECOND for time in metrics.times[before:]]
        return [(time, take(row)) for time, row in zip(times, zip(*series, strict=True), strict=True)]

    def grown(column: str, broker: Node) -> int:
        series = metrics.series(column, broker)
        return series[-1] - (series[before - 1] if before else 0)

    gathered = _gathered(aftermath, since)
    return SimulationResult(
        delays=DelaySummary.of(aftermath.delays),
        probes=DelaySummary.of(aftermath.probes),
        steady=_steady(aftermath),
        rest=sum(aftermath.at_rest) / len(aftermath.at_rest) / SECOND if aftermath.at_rest else None,
        until=(aftermath.until - since) / SECOND,
        watched=tuple(watched),
        brokers={
            broker: BrokerNumbers(
                queue=aftermath.queues[broker],
                table=metrics.last("table")[broker],
                uncovered=aftermath.uncovered[broker],
                messages=aftermath.messages[broker],
                publications=aftermath.publications[broker],
                in_vain=grown("in_vain", broker),
            )
            for broker in brokers
        },
        rows=tuple(most for broker in brokers if (most := max(metrics.series("rows", broker)))),
        lost=lost,
        delay_over_time=gathered,
        queue_over_time=over_time("queue", list(watched), max),
        mean_queue_over_time=over_time("queue", brokers, _mean),
        mean_table_over_time=over_time("table", brokers, _mean),
        watched_table_over_time=over_time("table", list(watched), _mean),
    )


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)


def _steady(aftermath: Aftermath) -> float | None:
    if not aftermath.delays:
        return None
    last = aftermath.delivered_at[-1]
    begin = last - (last - (aftermath.since or 0)) // 10
    late = [delay for time, delay in zip(aftermath.delivered_at, aftermath.delays, strict=True) if time >= begin]
    return _mean(late) / SECOND


def _gathered(aftermath: Aftermath, since: int) -> list[Point]:
    """Means, in the middle of each stretch in which something was delivered."""
    if not aftermath.delays:
        return []
    length = aftermath.delivered_at[-1] + 1 - since
    windows: dict[int, list[int]] = {}
    for time, delay in zip(aftermath.delivered_at, aftermath.delays, strict=True):
        windows.setdefault((time - since) * WINDOWS // length, []).append(delay)
    return [
        ((window + 0.5) * length / WINDOWS / SECOND, _mean(delays) / SECOND)
        for window, delays in sorted(windows.items())
    ]
