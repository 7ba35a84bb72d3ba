"""Columns of some thousand events of many brokers: `Batch`, filled block by block as lines are read.

An event that was read is some 1,200 bytes in many places of memory; thousands of them do not fit into a processor's
cache, and to come back to each costs more than to read it. So what is needed of publications is taken from each block
as soon as it is read, and its events go. The few that are judged one by one are read again from their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Protocol, TypeAlias

import numpy as np
from attrs import define, frozen
from msgspec import UNSET

from routeproof.checker.validate.broker.columns import CLIENT, KINDS, Column
from routeproof.checker.validate.broker.publications import Written
from routeproof.traces import BadLine, Event, TraceMessage

ODD = len(KINDS)
"""The code of an event that is judged by itself."""

CODES = {kind: code for code, kind in enumerate(KINDS)}

UNKNOWN, FOREIGN = -1, -2
"""No number of a broker: one that was not met yet, and one whose events are not to be judged."""

HELD = 1 << 10
"""Size of a block of events in memory."""

BUSY = 1 << 13
"""Number of events, of all brokers, for which a broker counts as busy after an odd one of its own."""

NO_MESSAGE = TraceMessage("publish")
"""Stands for the message of an odd event."""

_message, _id, _to, _peer, _seq = map(attrgetter, ("message", "id", "to", "peer", "seq"))


class EventBlock(Protocol):
    """Some lines of a trace, in their order. `traces.lines.LineBlock` is one."""

    def events(self) -> list[Event | BadLine]:
        """Returns their events, but for what `complete` adds."""

    def complete(self, place: int) -> Event | BadLine:
        """The event of one line, with its number and its dialect."""

    def completed(self, events: list[Event | BadLine]) -> list[Event | BadLine]:
        """Completes all `events` of this block."""

    def parts(self, size: int) -> Iterable[EventBlock]:
        """Yields these lines in blocks of at most so many."""


@frozen
class HeldBlock:
    """Events that are in memory anyway."""

    lines: list[Event | BadLine]

    def events(self) -> list[Event | BadLine]:
        return self.lines

    def complete(self, place: int) -> Event | BadLine:
        return self.lines[place]

    def completed(self, events: list[Event | BadLine]) -> list[Event | BadLine]:
        return events

    def parts(self, size: int) -> Iterator[HeldBlock]:
        for begin in range(0, len(self.lines), size):
            yield HeldBlock(self.lines[begin : begin + size])


def held(lines: Iterable[Event | BadLine]) -> Iterator[HeldBlock]:
    """Blocks of events that come one by one."""
    lines = iter(lines)
    while some := list(islice(lines, HELD)):
        yield HeldBlock(some)


class Numbering(dict[str, int]):
    """The number of each name, in the order in which they come up."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number

    def of(self, names: Iterable[str]) -> list[int]:
        return list(map(self.__getitem__, names))


class BusyBrokers:
    """The brokers that did something else lately than pass publications on."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        """For how many events each still counts as busy."""

    def have_most(self, lines: list[Event | BadLine]) -> bool:
        """Takes the next lines. True if most are events of busy brokers: after they were put into columns, most would
        be read once more, since of each broker all events up to the last odd one are judged one by one.
        """
        if BadLine in set(map(type, lines)):
            return False
        events: list[Event] = lines  # type: ignore[assignment]  # no other is there
        odd = (e.broker for e in events if (m := e.message) is None or m.kind != "publish")
        busy = {broker: left - len(events) for broker, left in self._left.items() if left > len(events)}
        self._left = busy = busy | dict.fromkeys(odd, BUSY)
        return bool(busy) and 2 * sum(e.broker in busy for e in events) > len(events)


OwnerOf: TypeAlias = Callable[[list[Event], Callable[[int], Event]], list[int]]
"""The number of each event's broker; the second argument completes an event."""

COLUMNS = ("owner", "code", "seq", "time", "peer", "to", "number", "alike", "issued", "block", "place")


@define(eq=False)
class Rows:
    """Columns of events, a row each, broker by broker.

    `owner`: number of the broker. `code`: kind of event. `time` and `issued`: -1 if missing. `peer`, `to`: numbers of
    names. `number`: of the publication, by id. `alike`: False where an event says something else of it than
    the first one of that id. `block` and `place`: where its line is.
    """

    owner: Column
    code: Column
    seq: Column
    time: Column
    peer: Column
    to: Column
    number: Column
    alike: Column
    issued: Column
    block: Column
    place: Column

    def at(self, places: Column) -> Rows:
        return Rows(*(getattr(self, name)[places] for name in COLUMNS))


class Batch:
    """Events of many brokers. `peers` and `tos` number the names in the columns."""

    def __init__(self) -> None:
        self.peers, self.tos, self._ids = Numbering(), Numbering(), Numbering()
        self._first: list[TraceMessage] = []
        """The first message of each publication."""
        self._blocks: list[EventBlock] = []
        self._columns: list[tuple[Column, ...]] = []
        self._sizes: list[int] = []
        self.size = 0

    def take(self, block: EventBlock, lines: list[Event | BadLine], owner_of: OwnerOf) -> Iterator[BadLine]:
        """Takes all events of a block, of which these are the `lines`; lines that are none come back."""
        places: Sequence[int] = range(len(lines))
        if BadLine in set(map(type, lines)):
            yield from (line for line in lines if type(line) is BadLine)
            places = [at for at in places if type(lines[at]) is Event]
        events: list[Event] = [lines[at] for at in places]  # type: ignore[misc]  # no other is left
        codes = [
            CODES.get(e.event, ODD)
            if (m := e.message) is not None
            and m.kind == "publish"
            and e.peer
            and m.id
            and (m.to or e.event != "deliver")
            and (m.attributes_text is not UNSET or m.number is not UNSET)
            else ODD
            for e in events
        ]
        if ODD in codes:
            whole = {at: block.complete(places[at]) for at, code in enumerate(codes) if code == ODD}
            bad = {at: line for at, line in whole.items() if isinstance(line, BadLine)}
            if bad:
                yield from bad.values()
                left = [at for at in range(len(events)) if at not in bad]
                places, events, codes = ([those[at] for at in left] for those in (places, events, codes))  # type: ignore[assignment]
        self._put(block, places, events, codes, owner_of)

    def _put(
        self, block: EventBlock, places: Sequence[int], events: list[Event], codes: list[int], owner_of: OwnerOf
    ) -> None:
        def complete(at: int) -> Event:
            line = block.complete(places[at])
            assert isinstance(line, Event), "bad lines are gone"
            return line

        owners = owner_of(events, complete)
        if FOREIGN in owners:
            mine = [at for at, owner in enumerate(owners) if owner != FOREIGN]
            places, events, codes, owners = ([those[at] for at in mine] for those in (places, events, codes, owners))  # type: ignore[assignment]
        messages: list[TraceMessage] = list(map(_message, events))
        issued = np.full(len(events), -1)
        if ODD in codes:
            messages = [NO_MESSAGE if code == ODD else m for m, code in zip(messages, codes, strict=True)]
        if CLIENT in codes:
            for at, event in enumerate(events):
                if event.issued_ns is not UNSET and codes[at] == CLIENT:
                    issued[at] = event.issued_ns
        numbers = self._ids.of(map(_id, messages))
        written = (
            *(owners, codes, map(_seq, events)),
            [-1 if (time := e.time_ns) is UNSET else time for e in events],
            *(self.peers.of(map(_peer, events)), self.tos.of(map(_to, messages))),
            *(numbers, self._are_alike(messages, numbers)),
        )
        columns = [np.fromiter(each, np.int64, len(events)) for each in written]
        here = np.full(len(events), len(self._blocks))
        self._columns.append((*columns, issued, here, np.fromiter(places, np.int64, len(events))))
        self._blocks.append(block)
        self.size += len(events)

    def _are_alike(self, messages: list[TraceMessage], numbers: list[int]) -> list[bool]:
        first = self._first
        if len(self._ids) > len(first):
            for m, number in zip(messages, numbers, strict=True):
                if number == len(first):
                    first.append(m)
        return [
            m is (f := first[number])
            or (m.attributes_text == f.attributes_text and m.of == f.of and m.number == f.number)
            for m, number in zip(messages, numbers, strict=True)
        ]

    def take_first(self, waiting: Callable[[int], list[Event]], owner_of: OwnerOf) -> None:
        """Puts the events that wait of each broker in this batch before all others of the batch."""
        touched = np.unique(np.concatenate([columns[0] for columns in self._columns])).tolist()
        events: list[Event | BadLine] = [e for number in touched for e in waiting(number)]
        if events:
            for _ in self.take(HeldBlock(events), events, owner_of):
                raise AssertionError("events that wait are none that cannot be read")
            self._columns.insert(0, self._columns.pop())

    def rows(self) -> Rows:
        """All rows: each broker's together, in their order."""
        columns = [np.concatenate(each) for each in zip(*self._columns, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        return Rows(*(each[order] for each in columns))

    def events(self, rows: Rows, begin: int, end: int) -> list[Event]:
        """The events of some rows."""
        blocks = self._blocks
        where = zip(rows.block[begin:end].tolist(), rows.place[begin:end].tolist(), strict=True)
        return [blocks[block].complete(place) for block, place in where]  # bad lines are gone

    def written(self, numbers: Column) -> list[Written]:
        """The publications of these numbers."""
        return [_written(self._first[number]) for number in numbers.tolist()]


def _written(message: TraceMessage) -> Written:
    text, number = message.attributes_text, message.number
    if text is not UNSET:
        return message.id, message.of, bytes(text)
    assert number is not UNSET, "one of both is there"
    return message.id, message.of, number
