"""Metrics of a run, per broker over virtual time: `Metrics` observes a simulator and keeps columns of numbers.

Every `every` nanoseconds each broker gets a row: what its queue and its table hold at that moment, and what it has
counted since the run began. Delays of publications, from the client that publishes to the client that is served, are
kept one by one, and their quantiles for each broker between two rows. `metric_files` writes it, `figures` draws it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import dropwhile
from typing import Protocol, cast

from attrs import define, field, frozen

from routeproof.impl import counters
from routeproof.impl.costs import SECOND
from routeproof.impl.in_vain import InVain
from routeproof.impl.simulator import Observer, Operation, Sends, Simulator
from routeproof.model.messages import (
    Congest,
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Relieve,
    Signal,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node

SIGNALS = {Congest: "congest", Relieve: "relieve"}
KINDS = {kind: word.replace("-", "_") for kind, word in counters.KINDS.items() if kind not in (Deliver, *SIGNALS)}
"""The kinds of messages that a broker handles, as columns are called."""

MOMENTARY = ("queue", "held", "table")
"""Messages waiting, messages kept out by a full queue, subscriptions in the routing table."""
COUNTED = ("triggered", "uncovered", "false_positives", "delivered", "busy", *KINDS.values())
"""Since the run began: subscriptions sent because of an unsubscription, to each neighbour, and how many different ones
these were; publications that came from a neighbour and went nowhere; deliveries; nanoseconds of service; and messages
handled by kind."""
OF_PRUNING = ("rows",), ("in_vain", *SIGNALS.values())
"""Momentary and counted, where they are asked for: rows in the database of a subscribers' broker; publications that
came from a neighbour and of which nobody was served, there or beyond, counted when the last copy has been handled; and
how often the broker was told that it is congested, and that it is no longer."""
DELAYS = ("delays", "delay_p50", "delay_p90", "delay_p99", "delay_max")
"""Of the deliveries since the row before: how many, and nanoseconds, or nothing where there were none."""


class HasTable(Protocol):
    @property
    def table_size(self) -> int: ...


@define
class _Counts:
    """One broker's, since the run began."""

    triggered: int = 0
    uncovered: int = 0
    false_positives: int = 0
    delivered: int = 0
    busy: int = 0
    in_vain: int = 0
    kinds: Counter[type] = field(factory=Counter)
    recent: list[int] = field(factory=list)
    """Delays since the last row."""
    window: list[int] = field(factory=list)
    """Those that are in the last row."""


class Metrics(Observer):
    """`columns` has the rows, and `delays` every delay with `delivered_at` its time."""

    def __init__(self, brokers: Sequence[Node], every: int = SECOND, *, pruning: bool = False) -> None:
        """`pruning`: also what is of interest where brokers prune, or are compared with such."""
        self.every = every
        self.brokers = brokers
        self.momentary: tuple[str, ...] = MOMENTARY
        self.counted: tuple[str, ...] = COUNTED
        self._in_vain: InVain | None = None
        if pruning:
            self.momentary, self.counted = MOMENTARY + OF_PRUNING[0], COUNTED + OF_PRUNING[1]
            self._in_vain = InVain()
        self.times = array("q")
        """Of the rows; each has one entry a broker."""
        self.columns: dict[str, array[int]] = {name: array("q") for name in (*self.momentary, *self.counted)}
        self.windows: dict[str, list[int | None]] = {name: [] for name in DELAYS}
        self.delays = array("q")
        self.delivered_at = array("q")
        self.most_queued = dict.fromkeys(brokers, 0)
        """The longest that each queue has been after any message, held messages included."""
        self.operations: Counter[type] = Counter()
        """What clients did, by kind of message."""
        self._counts = {b: _Counts() for b in brokers}
        self._published: dict[str, int] = {}

    # -- observing -----------------------------------------------------------------------------------------------------

    @property
    def first_published(self) -> int | None:
        """When the first publication was published."""
        return next(iter(self._published.values()), None)

    def issued(self, operation: Operation) -> None:
        self.operations[type(operation.message)] += 1
        if isinstance(operation.message, Publish):
            self._published[operation.message.publication.id] = operation.time

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message | Signal, began: int, sends: Sends
    ) -> None:
        counts = self._counts[broker]
        counts.kinds[type(message)] += 1
        counts.busy += simulator.now - began
        waiting = simulator.queue(broker) + simulator.held(broker)
        if waiting > self.most_queued[broker]:
            self.most_queued[broker] = waiting
        if isinstance(message, Publish):
            self._delivered(counts, simulator.now, sends)
            if not sends and sender != LOCAL:
                counts.false_positives += 1
            if self._in_vain is not None:
                for node in self._in_vain.handled(broker, sender, message.publication.id, sends):
                    self._counts[node].in_vain += 1
        elif isinstance(message, Unsubscribe | PackedUnsubscribe | Relieve):
            triggered = [subscription for _, sent in sends for subscription in subscriptions(sent)]
            counts.triggered += len(triggered)
            counts.uncovered += len(set(triggered))

    def _delivered(self, counts: _Counts, now: int, sends: Sends) -> None:
        for to, sent in sends:
            if to == LOCAL and isinstance(sent, Deliver):
                delay = now - self._published[sent.publication.id]
                counts.delivered += 1
                counts.recent.append(delay)
                self.delays.append(delay)
                self.delivered_at.append(now)

    def look(self, simulator: Simulator, time: int) -> None:
        if self.times and self.times[-1] == time:
            self._take_back()
        self.times.append(time)
        for broker in self.brokers:
            counts = self._counts[broker]
            row = {
                "queue": simulator.queue(broker),
                "held": simulator.held(broker),
                "table": cast(HasTable, simulator.broker(broker)).table_size,
                "triggered": counts.triggered,
                "uncovered": counts.uncovered,
                "false_positives": counts.false_positives,
                "delivered": counts.delivered,
                "busy": counts.busy,
                **{name: counts.kinds[kind] for kind, name in KINDS.items()},
            }
            if self._in_vain is not None:
                row["rows"] = getattr(simulator.broker(broker), "rows", 0)  # none where brokers keep no statistics
                row["in_vain"] = counts.in_vain
                row |= {name: counts.kinds[kind] for kind, name in SIGNALS.items()}
            for name, value in row.items():
                self.columns[name].append(value)
            self._window(counts)

    def _take_back(self) -> None:
        """The last row: more has happened at its time."""
        self.times.pop()
        width = len(self.brokers)
        for column in self.columns.values():
            del column[-width:]
        for window in self.windows.values():
            del window[-width:]
        for counts in self._counts.values():
            counts.recent = counts.window + counts.recent

    def _window(self, counts: _Counts) -> None:
        counts.window, counts.recent = counts.recent, []
        recent = sorted(counts.window)
        self.windows["delays"].append(len(recent))
        for name, share in (("delay_p50", 0.5), ("delay_p90", 0.9), ("delay_p99", 0.99), ("delay_max", 1.0)):
            self.windows[name].append(quantile(recent, share) if recent else None)

    # -- asking --------------------------------------------------------------------------------------------------------

    def series(self, column: str, broker: Node) -> list[int]:
        """One broker's column, a value for each of `times`."""
        return list(self.columns[column][self.brokers.index(broker) :: len(self.brokers)])

    def total(self, column: str) -> list[int]:
        """A column summed over all brokers."""
        values, width = self.columns[column], len(self.brokers)
        return [sum(values[row : row + width]) for row in range(0, len(values), width)]

    def last(self, column: str) -> dict[Node, int]:
        """Each broker's latest."""
        return dict(zip(self.brokers, self.columns[column][-len(self.brokers) :], strict=True))


def subscriptions(message: Message) -> tuple[Subscription, ...]:
    """Those that a message brings."""
    match message:
        case Subscribe(subscription):
            return (subscription,)
        case PackedSubscribe(many):
            return many
    return ()


def quantile(ordered: Sequence[int], share: float) -> int:
    """The least value that at least this share of them does not exceed (nearest rank)."""
    rank = -(-len(ordered) * round(share * 10_000) // 10_000)
    return ordered[max(rank, 1) - 1]


@frozen
class Bucket:
    """How many delays were above `above` and at most `most` nanoseconds."""

    above: int
    most: int
    count: int


FINEST = 1_000
"""Nanoseconds: all that is shorter is in the first bucket."""
PER_DOUBLING = 4


def histogram(delays: Sequence[int]) -> list[Bucket]:
    """Buckets whose bounds grow by one factor, from the first to the last that holds something."""
    if not delays:
        return []
    bounds = [FINEST]
    while bounds[-1] < max(delays):
        bounds.append(round(FINEST * 2 ** (len(bounds) / PER_DOUBLING)))
    counts = [0] * len(bounds)
    for delay in delays:
        counts[bisect_left(bounds, delay)] += 1
    buckets = [Bucket(above, most, n) for above, most, n in zip([-1, *bounds], bounds, counts, strict=False)]
    return list(dropwhile(lambda bucket: not bucket.count, buckets))
