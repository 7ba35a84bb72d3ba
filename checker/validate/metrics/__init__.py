"""The simulator's metrics, recomputed from a trace, as far as the trace shows what `routeproof run` measures.

This module has the settings of metrics, counts of one part (`Meter`), and parts that are measured; `series` brings
publications and deliveries together and adds up parts; `files` writes the result, the same for every engine and however
a trace was divided.

Samples are taken at the multiples of `every` by the trace's clock, from the first after the earliest event on, and once
more when everything is done: so does the simulator, whose clock begins at 0. A *stretch* lies between two samples and
is numbered by the sample at its end, which belongs to it. Counts are kept only where something happened. `series` adds
up several parts, or the two ends of a link. A step counts when it is done, as in the simulator: at the time of its last
send or delivery or, where it has none, at the time that its event gives as `done`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from attrs import evolve, fields, frozen
from msgspec import UNSET, Struct, msgpack

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate.broker.judge import Judge
from routeproof.checker.validate.broker.part import Part
from routeproof.checker.validate.broker.replay import BrokerReplay
from routeproof.checker.validate.findings import PartResult
from routeproof.checker.validate.setting import LONGEST, Setting
from routeproof.model.filters.interface import shown
from routeproof.model.overlay import Node
from routeproof.traces import Event, Header, TraceError, TraceMessage, open_trace

SECOND = 1_000_000_000
SHORTEST = 1_000
"""Nanoseconds between two samples, at least."""

MOST_ROWS = 1 << 22
"""A row is a broker at a moment: 60 brokers have so many in 19 hours."""

BEGINNING = 1_000
"""Lines that are looked at before all are read, to tell at once that a trace has no times."""

UNTIMED = 'metrics: an event of the trace has no "time", nor what it came of; write it, or leave out --metrics'


@frozen(kw_only=True)
class Measured(Setting):
    """`latency`: nanoseconds that a message is on a link. `target`: the directory that gets the files."""

    every: int
    latency: int
    target: Path

    @property
    def brokers(self) -> list[str]:
        """Names of the brokers in the files, in the order of rows: b2 before b10."""
        return sorted(map(plain, self.names), key=lambda name: (len(name), name))

    @property
    def most_moments(self) -> int:
        return MOST_ROWS // max(1, len(self.names))


def measured(path: Path, setting: Setting, target: Path) -> Measured:
    """Setting with metrics for the same trace; `UsageError` if its header or its beginning says that there cannot be
    any.
    """
    try:
        with open_trace(path) as (header, lines):
            every, latency = _nanoseconds(header, "looks", SECOND, SHORTEST), _nanoseconds(header, "latency", 0, 0)
            for line in islice(lines, BEGINNING):
                if isinstance(line, Event) and line.event in ("receive", "client") and line.time is None:
                    raise UsageError(UNTIMED)
    except TraceError as error:
        raise UsageError(str(error)) from None
    same = {each.name: getattr(setting, each.name) for each in fields(Setting) if each.init}
    return Measured(**same, every=every, latency=latency, target=target)


def plain(name: str) -> str:
    """Text that a file can hold: JSON has a way to write half a character, Parquet has none."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def too_many(every: int) -> UsageError:
    """Rows. The text is the same whichever part of a trace found it out."""
    return UsageError(
        f"metrics: a sample every {every} ns would be more than {MOST_ROWS:,} rows; "
        '"looks" in the header says how far apart samples are'
    )


def _nanoseconds(header: Header, key: str, default: int, least: int) -> int:
    value = header.more.get(key, default)
    if type(value) is not int or not least <= value <= LONGEST:
        raise UsageError(
            f'the header has "{key}": {shown(value)}; expected nanoseconds, at least {least} and at most {LONGEST}'
        )
    return value


# -- counts ------------------------------------------------------------------------------------------------------------

KINDS = ("advertise", "unadvertise", "subscribe", "unsubscribe", "subscribe-many", "unsubscribe-many", "publish")
"""Kinds of messages that a broker handles."""

COUNTS = ("triggered", "uncovered", "false_positives", "delivered", "busy", *KINDS, "arrived", "taken")
"""`arrived` are clients' operations only: of messages on links the sender knows when they arrive."""
TRIGGERED, UNCOVERED, FALSE_POSITIVES, DELIVERED, BUSY = range(5)
ARRIVED, TAKEN = len(COUNTS) - 2, len(COUNTS) - 1

_COLUMN = {kind: COUNTS.index(kind) for kind in KINDS}

UNKNOWN = -1
"""The size of an unknown table."""

Stretch: TypeAlias = int


class Counted(Struct, frozen=True, array_like=True):
    """Counts of a part."""

    counts: dict[Stretch, list[int]]
    arrived: dict[Node, dict[Stretch, int]]
    """By neighbour, what was sent there."""
    tables: dict[Stretch, tuple[int, int]]
    """The last of each stretch: when, and how large."""
    earliest: int
    latest: int
    """Times of the first event and of the end of the last step; -1 if there is none."""
    endless: int
    """Steps whose end is unknown."""


def encode_counted(counted: Counted) -> bytes:
    return msgpack.encode(counted)


def decode_counted(data: bytes) -> Counted:
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
        """Bounds of the stretch whose counts these are."""
        self._row: list[int] = []
        self._message: TraceMessage | None = None
        """The message being handled. The rest belongs to the same step."""
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


# -- measured parts ----------------------------------------------------------------------------------------------------


def part_of(judge: Judge, run: str, broker: str, start: Event | None = None, before: int = 0) -> Part:
    """A `Part`, measured if metrics are requested. A broker that the overlay does not have has no metrics."""
    setting = judge.setting
    if isinstance(setting, Measured) and broker in setting.node:
        return MeteredPart(judge, setting, run, broker, start, before)
    return Part(judge, run, broker, start, before)


class MeteredPart(Part):
    """Separate from `Part`, so that judging without metrics does not pay for them."""

    def __init__(
        self, judge: Judge, setting: Measured, run: str, broker: str, start: Event | None, before: int
    ) -> None:
        super().__init__(judge, run, broker, start, before)
        self._meter = Meter(setting.every, setting.latency, setting.neighbours(broker), setting.most_moments)

    def look(self, event: Event) -> bool:
        counted = self.events
        full = super().look(event)
        if self.events > counted:  # and not a line that means nothing
            self._meter.look(event, _table_size(self._replay))
        return full

    def finish(self) -> PartResult:
        return evolve(super().finish(), metered=encode_counted(self._meter.finish()))


def _table_size(replay: BrokerReplay) -> int:
    """Returns the number of subscriptions that the broker knows; unknown after a rejection."""
    size = replay.table_size
    return UNKNOWN if size is None else size
