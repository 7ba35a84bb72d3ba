"""A discrete-event simulator: the nodes of a protocol, in virtual time.

    simulator = Simulator(overlay, lambda b: Broker(b, overlay.neighbours(b), "active"), Costs.measured("active"))
    simulator.play(operations)

Time is a whole number of nanoseconds. Every node is one server with one input queue: it takes the message at its
head, is busy for what the message costs, and at the end of that time handles it and sends what comes of it. A link
delivers in the order of sending. Nothing is left to chance but the jitter of links, which is seeded; events of one
moment happen in the order in which they came to be known. The same run is therefore the same to the last byte.

`Costs` is one price a kind of message; `Costs.measured` has those of Table II of paper 000, an average per message at
brokers that hold some ten thousand subscriptions. They do not grow with the tables; a caller may give others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple, Protocol

from attrs import Factory, define, field, frozen
from attrs.validators import ge, optional

from routeproof.model.messages import (
    Advertise,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Link, Node, Overlay, Topology
from routeproof.model.protocol import ProtocolError

MILLISECOND = 1_000_000
SECOND = 1_000 * MILLISECOND


@frozen
class Costs:
    """Nanoseconds of service. A packed message costs as much as its subscriptions would one by one."""

    advertise: int
    subscribe: int
    unsubscribe: int
    publish: int

    @classmethod
    def measured(cls, policy: str) -> Costs:
        """The costs of Table II of 000, in microseconds; docs/reference/workloads.md has what it leaves open."""
        matching, covering, unsubscribe, publish = TABLE_II[policy]
        prices = (matching, matching + covering, unsubscribe, publish)
        return cls(*(microseconds * MILLISECOND // 1_000 for microseconds in prices))

    @classmethod
    def free(cls) -> Costs:
        """Brokers that take no time: what is left is the latency of the links."""
        return cls(0, 0, 0, 0)

    def of(self, message: Message) -> int:
        """Nanoseconds of service. A message that only one protocol has takes no time here."""
        match message:
            case Publish():
                return self.publish
            case Subscribe():
                return self.subscribe
            case Unsubscribe():
                return self.unsubscribe
            case PackedSubscribe(many):
                return self.subscribe * len(many)
            case PackedUnsubscribe(many):
                return self.unsubscribe * len(many)
            case Advertise() | Unadvertise():
                return self.advertise
        return 0


TABLE_II: Mapping[str, tuple[int, int, int, int]] = {
    "none": (1_600, 0, 1_400, 7_900),
    "active": (810, 12_000, 1_400, 3_000),
    "lazy": (1_600, 27_000, 1_400, 6_200),
    "packing": (810, 12_000, 1_400, 3_000),
}
"""Matching and covering of a subscription, an unsubscription, a publication: microseconds each."""


# -- Runs --------------------------------------------------------------------------------------------------------------

Sends = Sequence[tuple[Node, Message]]

Signals = Callable[[Node, int], Message | None]
"""(node, messages that wait there) -> what its driver tells it now, between two messages. That takes no time."""


class TimedOperation(NamedTuple):
    """An operation of a client: at this time, at this broker or other node."""

    time: int
    broker: Node
    message: Message


class Handler(Protocol):
    """A broker without input or output of its own. A delivery is a send to `LOCAL`."""

    def receive(self, sender: Node, message: Message, /) -> Sends: ...


class Observer:
    """Observer of a run; does nothing itself. `every`: nanoseconds between two calls of `look`; 0 for none."""

    every: int = 0

    def issued(self, operation: TimedOperation) -> None:
        """A client spoke. Its broker may be busy still."""

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
    ) -> None:
        """A broker has just handled a message that it took from its queue at `began`, or a signal, between two."""

    def look(self, simulator: Simulator, time: int) -> None:
        """Everything up to this time has happened, and nothing after it. Comes once more when a run has ended."""


@frozen
class Network:
    """Links and queues between brokers.

    `capacity` bounds each broker's input queue, the message in service not counted; None is no bound. A message that
    finds the queue full stays at the head of its link and holds up what comes behind it there (back-pressure); links
    that wait are let in by turns. A link itself holds any number, as a sender's output buffer would: were it to block
    its sender too, two brokers that are both full would wait for each other for ever.

    With `overflows`, a message that finds the queue full is lost instead.
    """

    latency: int = MILLISECOND
    latencies: Mapping[Link, int] = Factory(dict)
    """Latencies of the links that differ from `latency`."""
    jitter: int = 0
    """Up to this much is added to a latency, never overtaking what was sent before."""
    capacity: int | None = field(default=None, validator=optional(ge(1)))
    overflows: bool = False
    seed: int = 0


@define(eq=False)
class _Line:
    """A directed link, or (from `LOCAL`) the clients of a broker."""

    sender: Node
    to: _Station
    latency: int
    arrival: int = 0
    """Arrival of the message that was sent last; no later message arrives earlier."""
    held: deque[Message] = field(factory=deque)
    """Arrived, and not let in."""


@define(eq=False)
class _Station:
    """A broker with its queue. It is busy with the message at `began`, or waits for one."""

    node: Node
    handler: Handler
    lines: dict[Node, _Line] = field(factory=dict)
    """To each neighbour."""
    queue: deque[tuple[Node, Message]] = field(factory=deque)
    shut_out: deque[_Line] = field(factory=deque)
    """Lines whose head waits for room."""
    serving: tuple[Node, Message] | None = None
    began: int = 0


@define(eq=False)
class Simulator:
    """`play` runs until nothing is left to happen, and may be called again: time goes on from there."""

    overlay: Overlay
    make: Callable[[Node], Handler]
    costs: Costs
    network: Network = field(factory=Network)
    observers: Sequence[Observer] = ()
    signals: Signals | None = None
    topology: Topology = field(kw_only=True, default=Factory(lambda self: Topology.of(self.overlay), takes_self=True))
    """The nodes and channels, where there are more than the brokers and links of the overlay."""
    now: int = field(default=0, init=False)
    handled: int = field(default=0, init=False)
    """Messages, clients' operations included."""
    lost: int = field(default=0, init=False)
    """Messages that found a full queue that `overflows`."""
    _events: list[tuple[int, int, _Station | _Line, Message | TimedOperation | None]] = field(factory=list, init=False)
    _number: int = field(default=0, init=False)
    _stations: dict[Node, _Station] = field(factory=dict, init=False)
    _clients: dict[Node, _Line] = field(factory=dict, init=False)
    _looks: list[tuple[int, int]] = field(factory=list, init=False)
    """For each observer that looks: when next, and which it is."""
    _random: Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._random = Random(f"links {self.network.seed}")
        self._stations = {b: _Station(b, self.make(b)) for b in self.topology.nodes}
        self._clients = {b: _Line(LOCAL, self._stations[b], 0) for b in self.topology.nodes}
        for u, v in self.topology.channels:
            latency = self.network.latencies.get((u, v), self.network.latency)
            self._stations[u].lines[v] = _Line(u, self._stations[v], latency)
        self._looks = [(o.every, i) for i, o in enumerate(self.observers) if o.every]

    # -- what an observer may ask --------------------------------------------------------------------------------------

    def broker(self, node: Node) -> Handler:
        return self._stations[node].handler

    def queue(self, node: Node) -> int:
        """Messages that wait to be taken, the one in service not counted."""
        return len(self._stations[node].queue)

    def held(self, node: Node) -> int:
        """Messages that arrived and found no room."""
        station = self._stations[node]
        return sum(len(line.held) for line in station.shut_out)

    # -- the run -------------------------------------------------------------------------------------------------------

    def play(self, operations: Iterable[TimedOperation]) -> None:
        """Operations in order of time, taken one by one; one whose time has passed happens now."""
        coming = iter(operations)
        self._expect(coming)
        events = self._events
        while events:
            time, _, what, message = heappop(events)
            while self._looks and self._looks[0][0] < time:
                self._look()
            self.now = time
            if isinstance(what, _Station):
                self._finish(what)
            elif isinstance(message, TimedOperation):
                for observer in self.observers:
                    observer.issued(message)
                self._arrive(what, message.message)
                self._expect(coming)
            elif message is not None:
                self._arrive(what, message)
        for observer in self.observers:
            if observer.every:
                observer.look(self, self.now)

    def _at(self, time: int, what: _Station | _Line, message: Message | TimedOperation | None = None) -> None:
        self._number += 1
        heappush(self._events, (time, self._number, what, message))

    def _expect(self, coming: Iterator[TimedOperation]) -> None:
        """Only the next operation is in the heap: a workload may be longer than memory."""
        operation = next(coming, None)
        if operation is not None:
            self._at(max(operation.time, self.now), self._clients[operation.broker], operation)

    def _look(self) -> None:
        time, which = heappop(self._looks)
        observer = self.observers[which]
        observer.look(self, time)
        heappush(self._looks, (time + observer.every, which))

    def _arrive(self, line: _Line, message: Message) -> None:
        station = line.to
        capacity = self.network.capacity
        if capacity is not None and len(station.queue) >= capacity:
            if self.network.overflows:
                self.lost += 1
                return
            if not line.held:
                station.shut_out.append(line)
            line.held.append(message)
            return
        station.queue.append((line.sender, message))
        if station.serving is None:
            self._begin(station)

    def _begin(self, station: _Station) -> None:
        station.serving = station.queue.popleft()
        station.began = self.now
        if station.shut_out:
            self._let_in(station)
        self._at(self.now + self.costs.of(station.serving[1]), station)

    def _let_in(self, station: _Station) -> None:
        """There is room for one, by turns. So while any line waits, the queue is full."""
        line = station.shut_out.popleft()
        station.queue.append((line.sender, line.held.popleft()))
        if line.held:
            station.shut_out.append(line)

    def _finish(self, station: _Station) -> None:
        assert station.serving is not None
        sender, message = station.serving
        self.handled += 1
        self._handle(station, sender, message, station.began)
        station.serving = None
        if self.signals is not None:
            signal = self.signals(station.node, len(station.queue))
            if signal is not None:
                self._handle(station, LOCAL, signal, self.now)
        if station.queue:
            self._begin(station)

    def _handle(self, station: _Station, sender: Node, message: Message, began: int) -> None:
        sends = station.handler.receive(sender, message)
        for to, sent in sends:
            if to != LOCAL:
                line = station.lines.get(to)
                if line is None:
                    me, other = map(self.topology.name, (station.node, to))
                    raise ProtocolError(
                        f"{me} sends {sent.kind} to {other}, to which it has no channel; "
                        "add the channel to the topology, or send to a neighbour"
                    )
                self._send(line, sent)
        for observer in self.observers:
            observer.handled(self, station.node, sender, message, began, sends)

    def _send(self, line: _Line, message: Message) -> None:
        jitter = self._random.randint(0, self.network.jitter) if self.network.jitter else 0
        line.arrival = max(line.arrival, self.now + line.latency + jitter)
        self._at(line.arrival, line, message)
