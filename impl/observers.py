"""Observers of a run: `Metrics` keeps columns of numbers, `Recorder` writes what it observes as a trace.

Every `every` nanoseconds each broker gets a row of metrics: what its queue and its table hold at that moment, and what
it has counted since the run began. Delays of publications, from the client that publishes to the client that is served,
are kept one by one, and their quantiles for each broker between two rows. `Counters` has the messages that one broker
handled and sent.

In a recording (`docs/reference/trace-format.md`), a message that is handled becomes a `receive` (or, from a client, a
`client`) at the time at which its broker took it, and then a `send` or a `deliver` for each that came of it, at the
time at which the broker was done. That time is with the message itself where nothing came of it; and with a client's,
when the client spoke, if it had to wait. The caller provides the writer, a `routeproof.traces.TraceWriter`: this room
imports the vocabulary only.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import dropwhile
from typing import ClassVar, Protocol

from attrs import define, field, frozen

from routeproof.impl.simulator import SECOND, Handler, Observer, Sends, Simulator, TimedOperation
from routeproof.model.messages import (
    CORE,
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
    client_of,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables


@define
class Counters:
    """Messages by kind, in the words of traces.

    `triggered`: subscriptions sent because something else was withdrawn (000, 001: NRS).
    """

    received: Counter[str] = field(factory=Counter)
    sent: Counter[str] = field(factory=Counter)
    triggered: int = 0

    def step(self, message: Message, sends: Sequence[tuple[int, Message]]) -> None:
        self.received[message.kind] += 1
        for kind, many in Counter([type(sent) for _, sent in sends]).items():
            self.sent["deliver" if kind is Deliver else kind.kind] += many
        if message.withdraws or message.by:  # what a driver says may end the wait of a withdrawal
            self.triggered += sum(len(subscriptions(sent)) for _, sent in sends)


def column_names(messages: Iterable[type[Message]]) -> dict[type[Message], str]:
    """The columns of some kinds of messages. A driver's signals are no messages of nodes or clients."""
    return {each: each.kind.replace("-", "_") for each in messages if not each.by}


KINDS = column_names(CORE)
"""The kinds of messages that a broker of the routing core handles, as columns are called."""

MOMENTARY = ("queue", "held", "table")
"""Messages waiting, messages kept out by a full queue, subscriptions in the routing table."""
OF_BROKER = ("triggered", "uncovered", "false_positives", "delivered", "busy")
COUNTED = (*OF_BROKER, *KINDS.values())
"""Since the run began: subscriptions sent because of an unsubscription, to each neighbour, and how many different ones
these were; publications that came from a neighbour and went nowhere; deliveries; nanoseconds of service; and messages
handled by kind."""
DELAYS = ("delays", "delay_p50", "delay_p90", "delay_p99", "delay_max")
"""Columns about the deliveries since the row before: their number, and nanoseconds, or nothing if there were none."""


class ExtraColumns:
    """Columns of a protocol's own, of one moment or counted since the run began. These are none."""

    momentary: ClassVar[tuple[str, ...]] = ()
    counted: ClassVar[tuple[str, ...]] = ()

    def handled(self, node: Node, sender: Node, message: Message, sends: Sends) -> None:
        """A node has handled a message."""

    def row(self, node: Node, handler: Handler) -> dict[str, int]:
        """The columns' values at a node now."""
        return {}

    def summary(self, metrics: Metrics) -> dict[str, int]:
        """The figures of the whole run, by name."""
        return {}


@define
class _Counts:
    triggered: int = 0
    uncovered: int = 0
    false_positives: int = 0
    delivered: int = 0
    busy: int = 0
    kinds: Counter[type] = field(factory=Counter)
    recent: list[int] = field(factory=list)
    """Delays since the last row."""
    window: list[int] = field(factory=list)
    """Delays that are in the last row."""


class Metrics(Observer):
    """`columns` has the rows, and `delays` every delay with `delivered_at` its time."""

    def __init__(
        self,
        brokers: Sequence[Node],
        every: int = SECOND,
        own: ExtraColumns | None = None,
        kinds: Mapping[type[Message], str] = KINDS,
    ) -> None:
        """`own` are the columns of a protocol, `kinds` its messages and the core's with the names of their columns."""
        self.every = every
        self.brokers = brokers
        self.own = own or ExtraColumns()
        self.kinds = kinds
        others = (name for name in kinds.values() if name not in COUNTED)
        self.momentary: tuple[str, ...] = MOMENTARY + self.own.momentary
        self.counted: tuple[str, ...] = (*COUNTED, *self.own.counted, *others)
        self.times = array("q")
        """Times of the rows; each has one entry a broker."""
        self.columns: dict[str, array[int]] = {name: array("q") for name in (*self.momentary, *self.counted)}
        self.windows: dict[str, list[int | None]] = {name: [] for name in DELAYS}
        self.delays = array("q")
        self.delivered_at = array("q")
        self.most_queued = dict.fromkeys(brokers, 0)
        """The longest that each queue has been after any message, held messages included."""
        self.operations: Counter[type] = Counter()
        """Number of operations by clients, by kind of message."""
        self._counts = {b: _Counts() for b in brokers}
        self._published: dict[str, int] = {}

    # -- observing -----------------------------------------------------------------------------------------------------

    @property
    def first_published(self) -> int | None:
        """When the first publication was published."""
        return next(iter(self._published.values()), None)

    def issued(self, operation: TimedOperation) -> None:
        self.operations[type(operation.message)] += 1
        if isinstance(operation.message, Publish):
            self._published[operation.message.publication.id] = operation.time

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
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
        elif isinstance(message, Unsubscribe | PackedUnsubscribe) or message.by:
            triggered = [subscription for _, sent in sends for subscription in subscriptions(sent)]
            counts.triggered += len(triggered)
            counts.uncovered += len(set(triggered))
        self.own.handled(broker, sender, message, sends)

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
                "table": getattr(simulator.broker(broker), "table_size", 0),  # nodes that are no brokers have none
                **{name: getattr(counts, name) for name in OF_BROKER},
                **{name: counts.kinds[kind] for kind, name in self.kinds.items()},
                **self.own.row(broker, simulator.broker(broker)),
            }
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
        return dict(zip(self.brokers, self.columns[column][-len(self.brokers) :], strict=True))


def subscriptions(message: Message) -> tuple[Subscription, ...]:
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
class DelayRange:
    """How many delays were above `above` and at most `most` nanoseconds."""

    above: int
    most: int
    count: int


FINEST = 1_000
"""Nanoseconds: all that is shorter is in the first bucket."""
PER_DOUBLING = 4


def histogram(delays: Sequence[int]) -> list[DelayRange]:
    """Buckets whose bounds grow by one factor, from the first to the last that holds something."""
    if not delays:
        return []
    bounds = [FINEST]
    while bounds[-1] < max(delays):
        bounds.append(round(FINEST * 2 ** (len(bounds) / PER_DOUBLING)))
    counts = [0] * len(bounds)
    for delay in delays:
        counts[bisect_left(bounds, delay)] += 1
    buckets = [DelayRange(above, most, n) for above, most, n in zip([-1, *bounds], bounds, counts, strict=False)]
    return list(dropwhile(lambda bucket: not bucket.count, buckets))


OBSERVES = ("client", "receive", "send", "deliver")

MOST_ENTRIES = 100_000
"""Subscriptions in a snapshot. It is one line, and readers take 32 MiB."""


class TraceSink(Protocol):
    """The part of a `TraceWriter` that is used here. It numbers the events of a broker by itself."""

    def event(
        self,
        broker: str,
        event: str,
        peer: str = "",
        message: Message | None = None,
        *,
        time: int | None = None,
        issued: int | None = None,
        done: int | None = None,
        text: str = "",
        tables: Tables | None = None,
    ) -> None: ...


class Recorder(Observer):
    """`snapshots`: after how many of its events a broker's tables are written, between two steps; 0 is never. Tables
    that are too long for a line are not; a `note` says so, and the trace is as good without."""

    def __init__(self, trace: TraceSink, name: Callable[[Node], str], snapshots: int = 0) -> None:
        self._trace = trace
        self._name = name
        self._snapshots = snapshots
        self._since_snapshot: dict[Node, int] = {}
        self._issued: dict[Node, deque[int]] = {}
        """When clients spoke whom their broker has not taken yet: it takes them in that order."""

    def issued(self, operation: TimedOperation) -> None:
        self._issued.setdefault(operation.broker, deque()).append(operation.time)

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
    ) -> None:
        record, here = self._trace.event, self._name(broker)
        done = None if sends else simulator.now
        if message.by:  # its driver says it: no client
            record(here, "client", "", message, time=began)
        elif sender == LOCAL:
            record(
                here, "client", client_of(message), message, time=began, issued=self._spoke(broker, began), done=done
            )
        else:
            record(here, "receive", self._name(sender), message, time=began, done=done)
        for to, sent in sends:
            if to == LOCAL:
                record(here, "deliver", client_of(sent), sent, time=simulator.now)
            else:
                record(here, "send", self._name(to), sent, time=simulator.now)
        if self._snapshots:
            self._count(simulator, broker, 1 + len(sends))

    def _spoke(self, broker: Node, began: int) -> int | None:
        """When the client spoke whose message the broker took at `began`; None if it was then, or is unknown."""
        waiting = self._issued.get(broker)
        spoke = waiting.popleft() if waiting else began
        return spoke if spoke < began else None

    def _count(self, simulator: Simulator, broker: Node, events: int) -> None:
        since = self._since_snapshot.get(broker, 0) + events
        if since >= self._snapshots:
            since = 0
            tables = getattr(simulator.broker(broker), "tables", None)
            if tables is not None:  # only brokers have tables
                self._snapshot(broker, tables(), simulator.now)
        self._since_snapshot[broker] = since

    def _snapshot(self, broker: Node, tables: Tables, now: int) -> None:
        if len(tables.subs) <= MOST_ENTRIES:
            self._trace.event(self._name(broker), "snapshot", time=now, tables=tables)
        else:
            self._trace.event(
                self._name(broker), "note", time=now, text=f"no snapshot: {len(tables.subs)} subscriptions"
            )
