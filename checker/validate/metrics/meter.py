"""What one part of a trace tells about its broker, counted by stretches of time: `Meter`.

A stretch is what lies between two samples; its number is that of the sample at its end, which belongs to it. Counts
are kept where something happened only, and those of several parts, or of the two ends of a link, are added up
(`series`). A step counts when it is done, as in the simulator: at the time of what came of it or, where nothing did, at
the time that its event tells as `done`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import UNSET, Struct, msgpack

from routeproof.checker.errors import UsageError
from routeproof.checker.validate.metrics.asked import UNTIMED, too_many
from routeproof.model.overlay import Node
from routeproof.traces import Event, TraceMessage

KINDS = ("advertise", "unadvertise", "subscribe", "unsubscribe", "subscribe-many", "unsubscribe-many", "publish")
"""Of messages that a broker handles."""

COUNTS = ("triggered", "uncovered", "false_positives", "delivered", "busy", *KINDS, "arrived", "taken")
"""`arrived` are clients' operations only: of messages on links the sender knows when they arrive."""
TRIGGERED, UNCOVERED, FALSE_POSITIVES, DELIVERED, BUSY = range(5)
ARRIVED, TAKEN = len(COUNTS) - 2, len(COUNTS) - 1

_COLUMN = {kind: COUNTS.index(kind) for kind in KINDS}

UNKNOWN = -1
"""The size of a table that nobody can tell."""

Stretch: TypeAlias = int


class Counted(Struct, frozen=True, array_like=True):
    """What a part comes to."""

    counts: dict[Stretch, list[int]]
    arrived: dict[Node, dict[Stretch, int]]
    """By neighbour, what was sent there."""
    tables: dict[Stretch, tuple[int, int]]
    """The last of each stretch: when, and how large."""
    earliest: int
    latest: int
    """When the first thing was said or done, and the last was done; -1 where nothing was."""
    endless: int
    """Steps of which nobody told when they ended."""


def encode(counted: Counted) -> bytes:
    return msgpack.encode(counted)


def decode(data: bytes) -> Counted:
    return msgpack.decode(data, type=Counted)


class Meter:
    """`most`: samples that there may be; where there are more, that is refused."""

    def __init__(self, every: int, latency: int, neighbours: Mapping[str, Node], most: int) -> None:
        self._every, self._latency, self._most = every, latency, most
        self._neighbours = neighbours
        self._counts: dict[Stretch, list[int]] = {}
        self._arrived: dict[Node, dict[Stretch, int]] = {node: {} for node in neighbours.values()}
        self._tables: dict[Stretch, tuple[int, int]] = {}
        self._earliest = self._latest = -1
        self._endless = 0
        self._after, self._until = -1, -1
        """Of the stretch whose counts these are."""
        self._row: list[int] = []
        self._message: TraceMessage | None = None
        """What is being handled. The rest is of the same step."""
        self._from_neighbour = False
        self._began = self._ended = self._table = 0
        self._end_is_told = False
        self._sent = 0
        self._triggered: list[str] | None = None
        """Where a withdrawal is handled."""

    def look(self, event: Event, table: int) -> None:
        """The next event, and how large the table is after it."""
        kind = event.event
        if kind == "send":
            at = self._of_step(event)
            self._count_arrival(event.peer, at + self._latency)
            if self._triggered is not None and event.message is not None:
                self._triggered += _subscriptions(event.message)
        elif kind == "deliver":
            self._at(self._of_step(event))[DELIVERED] += 1
        elif kind in ("receive", "client"):
            self._begin(event, table)
        elif kind == "drop":
            if event.time is not None and event.peer in self._neighbours:
                self._at(event.time)[TAKEN] += 1
        elif kind != "note":  # nothing of a step comes after a snapshot, or where the broker began again
            self._close()
            if kind != "snapshot" and event.time is not None:
                self._measure(event.time, table)

    def finish(self) -> Counted:
        self._close()
        arrived = {node: arrivals for node, arrivals in self._arrived.items() if arrivals}
        return Counted(self._counts, arrived, self._tables, self._earliest, self._latest, self._endless)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _begin(self, event: Event, table: int) -> None:
        self._close()
        message, time = event.message, event.time
        if time is None:
            raise UsageError(UNTIMED)
        done = event.done
        self._message, self._table = message, table
        self._from_neighbour = event.event == "receive"
        self._began, self._ended = time, time if done is None else max(time, done)
        self._end_is_told = done is not None
        self._sent = 0
        self._triggered = None
        if message is not None and message.kind in ("unsubscribe", "unsubscribe-many"):
            self._triggered = []
        if not self._from_neighbour:
            spoke = time if event.issued is None else min(time, event.issued)
            self._at(spoke)[ARRIVED] += 1
            self._at(time)[TAKEN] += 1
        elif event.peer in self._neighbours:
            self._at(time)[TAKEN] += 1

    def _of_step(self, event: Event) -> int:
        """When something came of the step under way."""
        self._sent += 1
        if event.time_ns is UNSET:
            if self._message is None:
                raise UsageError(UNTIMED)
            return self._ended
        time = event.time_ns
        if time > self._ended:
            self._ended = time
        self._end_is_told = True
        self._at(time)
        return time

    def _close(self) -> None:
        """The step under way is done."""
        message = self._message
        if message is None:
            return
        self._message = None
        row = self._at(self._ended)
        column = _COLUMN.get(message.kind)
        if column is not None:
            row[column] += 1
        row[BUSY] += self._ended - self._began
        self._endless += not self._end_is_told
        if self._triggered:
            row[TRIGGERED] += len(self._triggered)
            row[UNCOVERED] += len(set(self._triggered))
        if self._from_neighbour and not self._sent and message.kind == "publish":
            row[FALSE_POSITIVES] += 1
        self._triggered = None
        self._measure(self._ended, self._table)

    # -- stretches -----------------------------------------------------------------------------------------------------

    def _at(self, time: int) -> list[int]:
        """The counts of the stretch in which this is."""
        if not self._after < time <= self._until:
            stretch = -(-time // self._every)
            self._after, self._until = (stretch - 1) * self._every, stretch * self._every
            row = self._counts.get(stretch)
            if row is None:
                if len(self._counts) > self._most:  # the first two may be one sample
                    raise too_many(self._every)
                row = self._counts[stretch] = [0] * len(COUNTS)
            self._row = row
        if time > self._latest:
            self._latest = time
        if time < self._earliest or self._earliest < 0:
            self._earliest = time
        return self._row

    def _count_arrival(self, peer: str, time: int) -> None:
        neighbour = self._neighbours.get(peer)
        if neighbour is not None:
            arrivals, stretch = self._arrived[neighbour], -(-time // self._every)
            arrivals[stretch] = arrivals.get(stretch, 0) + 1

    def _measure(self, time: int, table: int) -> None:
        self._at(time)
        measure(self._tables, -(-time // self._every), time, table)


def measure(tables: dict[Stretch, tuple[int, int]], stretch: Stretch, time: int, table: int) -> None:
    """The latest counts; of several at one time that which came last."""
    known = tables.get(stretch)
    if known is None or time >= known[0]:
        tables[stretch] = time, table


def _subscriptions(message: TraceMessage) -> tuple[str, ...]:
    return message.ids if message.kind in ("subscribe", "subscribe-many") else ()
