"""Publications at many brokers at once: `BulkReplay` takes them as they stand in JSON Lines, `handed_out` in Parquet.

Some thousand events are taken at a time and put in order by broker. Where a broker does nothing but pass publications
on, its whole steps are judged together with those of the others, in columns; its last step, which may go on, waits for
what comes next. All of a broker that does anything else, or anything odd, is judged event by event. In Parquet a
broker's events stand together, so that each broker's stretch is judged by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice

import numpy as np
from attrs import Factory, define
from msgspec import UNSET

from routeproof.checker.validate.broker.columns import (
    CLIENT,
    DELIVER,
    KINDS,
    NOBODY,
    RECEIVE,
    SEND,
    Column,
    Handed,
    local_slots,
    put_hops,
    stretches,
    unlike,
)
from routeproof.checker.validate.broker.judge import Judge
from routeproof.checker.validate.broker.messages import NOTHING, Entry, Written
from routeproof.checker.validate.broker.part import Part
from routeproof.checker.validate.clients import Deliveries, EventPlace, Published
from routeproof.checker.validate.link_rows import LATEST
from routeproof.checker.validate.metrics import Measured
from routeproof.checker.validate.setting import Setting
from routeproof.model.overlay import LOCAL, Node
from routeproof.traces import BadLine, Event, TraceMessage
from routeproof.traces.reader import RowBatch

EVENTS = 1 << 13
"""Batch size, in events (about 1 kB each)."""

WORTH = 256
"""Fewer are as soon looked at one by one."""

CELLS = 1 << 21
"""Largest last-hop table (brokers x subscriptions), in cells of 4 bytes. Beyond it, events are judged one by one."""

PAIRS = 1 << 20
"""Most pairs of brokers for which there is a table."""

LONGEST = 1 << 10
"""Events of a step that wait for the next one. Of a longer step, they and what follows are looked at."""

ODD = len(KINDS)
CODES = {kind: code for code, kind in enumerate(KINDS)}


def looks_at_once(setting: Setting) -> bool:
    """Are publications looked at for all that can be seen of many at once, and for nothing more?"""
    if not setting.judging.is_core or isinstance(setting, Measured):
        return False
    return not setting.replays or setting.sees("send", "deliver")


def handed_out(
    rows: RowBatch, setting: Setting, known: Callable[[str, str], Part | None]
) -> Iterator[Part | list[Event | BadLine]]:
    """Yields, in order, lines to be judged one by one, and each part whose stretch was judged as a whole, so that only
    its rows are to be taken. `known`: the current part of a broker of a run.
    """
    done = 0
    for stretch in stretches(rows) if looks_at_once(setting) else ():
        if done < stretch.begin:
            yield rows.part(done, stretch.begin).events()
            done = stretch.begin
        part = known(stretch.run or setting.run, stretch.broker)
        if part is not None and part.pass_on(stretch):
            yield part
            done = stretch.end
    if done < len(rows):
        yield rows.part(done, len(rows)).events()


@define(eq=False)
class _Broker:
    """`events` are those that are not judged yet. The first `waiting` of them are the step that may go on. `row`: its
    place in the table of hops, which `stale` says is not what the broker knows now."""

    part: Part
    row: int
    events: list[Event] = Factory(list)
    waiting: int = 0
    stale: bool = True
    local: dict[str, int] = Factory(dict)

    def codes(self) -> list[int]:
        return [
            CODES.get(e.event, ODD)
            if (m := e.message) is not None
            and m.kind == "publish"
            and e.peer
            and m.id
            and (m.to or e.event != "deliver")
            and (m.attributes_text is not UNSET or m.number is not UNSET)
            else ODD
            for e in self.events
        ]


class BulkReplay:
    """`part_of`: the part of an event, which is the first of its broker; None if its broker is unknown."""

    def __init__(self, judge: Judge, part_of: Callable[[Event], Part | None]) -> None:
        self._judge = judge
        self._part_of = part_of
        self._brokers: dict[tuple[str, str], _Broker] = {}
        self._of_header: dict[str, _Broker] = {}
        """The brokers of events that leave out their run: it is the header's."""
        self._hops: Column = np.empty((0, 0), np.int32)
        self._entries: dict[Written, Entry | None] = {}
        """Entries of the publications that were met last, at this moment."""
        self._moment = -1

    def take(self, lines: Iterable[Event | BadLine]) -> Iterator[Part | BadLine]:
        """All that there is, in any order in which each broker's events are in theirs. Bad lines come back, and each
        part when the caller has to take the rows that it set aside.
        """
        lines = iter(lines)
        while some := list(islice(lines, EVENTS)):
            yield from self._judge_some(some)
        for each in self._brokers.values():
            yield from self._look(each, len(each.events))

    def _judge_some(self, some: list[Event | BadLine]) -> Iterator[Part | BadLine]:
        touched = []
        brokers, of_header, run = self._brokers, self._of_header, self._judge.setting.run
        for line in some:
            if type(line) is not Event:
                assert type(line) is BadLine
                yield line
                continue
            broker = of_header.get(line.broker) if not line.run else brokers.get((line.run, line.broker))
            if broker is None:
                broker = brokers.get((run, line.broker)) if not line.run else None
                broker = broker or self._new(line)
                if broker is None:
                    continue
                if not line.run:
                    of_header[line.broker] = broker
            events = broker.events
            if len(events) == broker.waiting:
                touched.append(broker)
            events.append(line)
        runs: dict[str, list[tuple[_Broker, list[int]]]] = {}
        for each in touched:
            codes = each.codes()
            begin, end = _whole_steps(codes)
            if len(codes) - end > LONGEST:
                begin = end = len(codes)
            yield from self._look(each, begin)
            each.waiting = len(codes) - end
            if begin < end and each.part.begins_many(each.events[0]):
                runs.setdefault(each.part.run, []).append((each, codes[begin:end]))
            else:
                yield from self._look(each, end - begin)
        for those in runs.values():
            if sum(len(steps) for _, steps in those) < WORTH or not self._has_room():
                for broker, steps in those:
                    yield from self._look(broker, len(steps))
            else:
                yield from self._at_once([broker for broker, _ in those], [steps for _, steps in those])

    def _new(self, first: Event) -> _Broker | None:
        part = self._part_of(first)
        if part is None:
            return None
        broker = self._brokers[part.run, part.broker] = _Broker(part, len(self._brokers))
        return broker

    def _look(self, broker: _Broker, count: int) -> Iterator[Part]:
        """At so many of its events, one by one."""
        if not count:
            return
        events, broker.events = broker.events[:count], broker.events[count:]
        broker.waiting = min(broker.waiting, len(broker.events))
        for event in events:
            if broker.part.look(event):
                yield broker.part
            if event.message is None or event.message.kind != "publish":
                broker.stale = True

    # -- at once -------------------------------------------------------------------------------------------------------

    def _at_once(self, brokers: list[_Broker], codes: list[list[int]]) -> Iterator[Part]:
        many = _Many(self._judge, brokers, codes)
        entries = self._entries_of(many.publications)
        odd = many.odd([entry is None for entry in entries])
        known = self._judge.dictionary.publications.unpacked([entry or NOTHING for entry in entries])
        if self._judge.setting.replays:
            self._bring_up_to_date(brokers)
            owner, hops = many.owner[many.begins], self._hops
            row = np.array([broker.row for broker in brokers], np.int64)[owner]
            sender = many.near[many.begins]
            wrong = unlike(many.publication, known, lambda step, slot: hops[row[step], slot], sender, many.handed())
            odd[owner[wrong]] = True
        for broker, count, is_odd in zip(brokers, many.sizes, odd.tolist(), strict=True):
            if is_odd:
                yield from self._look(broker, count)
        many.set_aside(~odd, known.digests)
        for broker, count, is_odd in zip(brokers, many.sizes, odd.tolist(), strict=True):
            if not is_odd:
                del broker.events[:count]
                if broker.part.has_much:
                    yield broker.part

    def _entries_of(self, publications: list[Written]) -> list[Entry | None]:
        """None where its event cannot be read."""
        moment = self._judge.replica.universe.subscriptions.moment
        known = self._entries if self._moment == moment else {}
        new = [each for each in publications if each not in known]
        found = dict(zip(new, self._judge.dictionary.entries(new, self._judge.meanings), strict=True))
        entries = [known[each] if each in known else found[each] for each in publications]
        self._entries = dict(zip(publications, entries, strict=True))
        self._moment = moment
        return entries

    def _has_room(self) -> bool:
        return not self._judge.setting.replays or len(self._brokers) * self._width() <= CELLS

    def _width(self) -> int:
        return self._judge.replica.universe.subscriptions.highest + 1

    def _bring_up_to_date(self, brokers: Iterable[_Broker]) -> None:
        height, width = len(self._brokers), self._width()
        if self._hops.shape[0] < height or self._hops.shape[1] < width:
            old, self._hops = self._hops, np.full((height, width), NOBODY, np.int32)
            self._hops[: old.shape[0], : old.shape[1]] = old
        for each in brokers:
            if each.stale:
                self._hops[each.row] = NOBODY
                put_hops(each.part.knowledge, self._hops[each.row])
                each.local = local_slots(each.part.knowledge)
                each.stale = False


def _whole_steps(codes: list[int]) -> tuple[int, int]:
    """Where those begin that can be judged at once, and where they end. What is before is to be looked at: with the
    last odd event, all up to the step after it. What is behind is a step that may go on."""
    size = len(codes)
    odd = next(at for at in reversed(range(size)) if codes[at] == ODD) if ODD in codes else -1
    first = next((at for at in range(odd + 1, size) if codes[at] <= CLIENT), None)
    return (size, size) if first is None else (first, next(at for at in reversed(range(size)) if codes[at] <= CLIENT))


def _numbered(names: list[str]) -> tuple[Column, list[str]]:
    """The number of each name among the different ones, and these, in the order in which they come up."""
    places = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.fromiter(map(places.__getitem__, names), np.int64, len(names)), list(places)


class _Many:
    """Whole steps of several brokers of one run, one broker after the other, in columns. The first of each broker's
    events are these."""

    def __init__(self, judge: Judge, brokers: Sequence[_Broker], codes: Sequence[list[int]]) -> None:
        self._judge = judge
        self._brokers = brokers
        self.sizes = list(map(len, codes))
        self._events = [e for b, size in zip(brokers, self.sizes, strict=True) for e in b.events[:size]]
        self._messages: list[TraceMessage] = [e.message for e in self._events]  # type: ignore[misc]  # each has one
        self._code = np.fromiter(chain.from_iterable(codes), np.int64, len(self._events))
        self._starts = np.cumsum([0, *self.sizes[:-1]])
        self._seq = np.array([e.seq for e in self._events], np.int64)
        self._next = np.array([b.events[size].seq for b, size in zip(brokers, self.sizes, strict=True)], np.int64)
        times = (e.time_ns for e in self._events)
        self._time = np.array([-1 if time is UNSET else time for time in times], np.int64)
        self._is_timed = judge.setting.shared_clock
        self.owner = np.repeat(np.arange(len(brokers)), self.sizes)
        """Place of each event's broker."""
        is_first = self._code <= CLIENT
        (self.begins,) = np.nonzero(is_first)
        self._step = np.cumsum(is_first) - 1
        self._peer, self._peers = _numbered([e.peer for e in self._events])
        """Number of each event's peer, and the names of peers."""
        self._number, _ = _numbered([m.id for m in self._messages])
        """Number of each event's publication, by id."""
        first = np.empty(int(self._number.max(initial=-1)) + 1, np.int64)
        first[self._number[::-1]] = np.arange(len(self._number))[::-1]  # of several places the last one stays
        self._first = [self._messages[at] for at in first.tolist()]
        self.publications = list(map(_written, self._first))
        self.publication = self._number[self.begins]
        """Number of each step's publication."""

    @cached_property
    def near(self) -> Column:
        """The neighbour on the other side; `NOBODY` if it is no neighbour."""
        node = self._judge.setting.node
        near = np.full(len(self._events), LOCAL)
        (links,) = np.nonzero((self._code == RECEIVE) | (self._code == SEND))
        near[links] = np.array([node.get(name, NOBODY) for name in self._peers], np.int64)[self._peer[links]]
        width = 2 + int(near.max(initial=0))
        pairs = self.owner * width + near + 1
        if len(self._brokers) * width <= PAIRS:
            every, which = np.flatnonzero(np.bincount(pairs)), pairs
            there = np.zeros(len(self._brokers) * width, np.bool_)
            there[every] = [self._is_near(pair // width, pair % width - 1) for pair in every.tolist()]
        else:
            every, which = np.unique(pairs, return_inverse=True)
            there = np.array([self._is_near(pair // width, pair % width - 1) for pair in every.tolist()])
        return np.where(there[which], near, NOBODY)

    def _is_near(self, owner: int, node: Node) -> bool:
        return node == LOCAL or node in self._judge.setting.neighbours(self._brokers[owner].part.broker).values()

    def odd(self, unread: Sequence[bool]) -> Column:
        """Marks the brokers with events that cannot be judged here. `unread`: of publications, by number."""
        told = self._first
        alike = [
            m is (first := told[number])
            or (m.attributes_text == first.attributes_text and m.of == first.of and m.number == first.number)
            for m, number in zip(self._messages, self._number.tolist(), strict=True)
        ]
        wrong = ~np.array(alike) | (self._number != self.publication[self._step]) | (self.near == NOBODY)
        wrong |= np.array(unread)[self._number]
        wrong[1:] |= (np.diff(self._seq) <= 0) & (np.diff(self.owner) == 0)
        ends = self._starts + self.sizes
        # The event that begins the next step, too: one out of order would end no step.
        odd = self._next <= self._seq[ends - 1]
        odd[self.owner[wrong]] = True
        if self._is_timed:
            falls = (np.diff(self._time, prepend=0) < 0) | (self._time < 0)
            lasts = np.array([broker.part.last_time for broker in self._brokers], np.int64)
            falls[self._starts] = (self._time[self._starts] < lasts) | (self._time[self._starts] < 0)
            odd[self.owner[falls]] = True
        return odd

    def handed(self) -> Handed:
        sent, came = self._code == SEND, self._code == DELIVER
        rows = np.flatnonzero(came).tolist()
        local = [each.local for each in self._brokers]
        owners = self.owner[came].tolist()
        slots = [local[o].get(self._messages[row].to, NOBODY) for o, row in zip(owners, rows, strict=True)]
        return Handed(self._step[sent], self.near[sent], self._step[came], np.array(slots, np.int64))

    # -- what others need ----------------------------------------------------------------------------------------------

    def set_aside(self, chosen: Column, digests: Column) -> None:
        """Sets aside all rows of these brokers. `digests`: of the publications."""
        befores = np.array([each.part.before for each in self._brokers], np.int64)
        before = (befores - self._starts)[self.owner] + np.arange(len(self._events))
        mine = chosen[self.owner]
        if self._judge.setting.pairs:
            self._links(mine & ((self._code == SEND) | (self._code == RECEIVE)), before, digests)
        self._clients(mine, before, digests)
        for place in np.flatnonzero(chosen).tolist():
            begin = int(self._starts[place])
            end = begin + self.sizes[place]
            begins = np.flatnonzero(self._code[begin:end] <= CLIENT)
            self._brokers[place].part.passed_many(self._seq[begin:end], self._time[begin:end], begins)

    def _links(self, chosen: Column, before: Column, digests: Column) -> None:
        (rows,) = np.nonzero(chosen)
        code, step = self._code[rows], self._step[rows]
        from_row = np.where(code == SEND, self.begins[step], rows)
        moment = 2 * np.minimum(self._time[from_row], LATEST)
        said = [digests[self._number[rows]], self._seq[rows], before[from_row], moment, self._time[rows]]
        together = np.stack(said, axis=1)
        key = (self.owner[rows] * (1 + int(self.near.max(initial=0))) + self.near[rows]) * 2 + (code == SEND)
        order = np.argsort(key, kind="stable")
        begins = np.flatnonzero(np.diff(key[order], prepend=-1))
        for some in np.split(order, begins[1:]) if len(rows) else ():
            first = rows[some[0]]
            link = self._events[first].peer, bool(self._code[first] == SEND)
            self._brokers[self.owner[first]].part.links.add_many(link, together[some].tobytes())

    def _clients(self, chosen: Column, before: Column, digests: Column) -> None:
        clients = self._judge.clients(self._brokers[0].part.run)
        (rows,) = np.nonzero(chosen & (self._code == DELIVER))
        to, tos = _numbered([self._messages[row].to for row in rows.tolist()])
        columns = [self._number[rows], to, self.owner[rows], self._peer[rows]]
        columns += [self._seq[rows], before[rows], self._time[rows], digests[self._number[rows]]]
        names = [each.part.broker for each in self._brokers]
        clients.came(Deliveries([m.id for m in self._first], tos, names, self._peers, np.stack(columns)))
        for row in np.flatnonzero(chosen & (self._code == CLIENT)).tolist():
            event, number, time = self._events[row], int(self._number[row]), int(self._time[row])
            spoke = time if event.issued_ns is UNSET else min(event.issued_ns, time)
            place = EventPlace(event.broker, event.seq, int(before[row]), time)
            clients.published(Published(*self.publications[number], int(digests[number]), spoke, place))


def _written(message: TraceMessage) -> Written:
    text, number = message.attributes_text, message.number
    if text is not UNSET:
        return message.id, message.of, bytes(text)
    assert number is not UNSET, "one of both is there"
    return message.id, message.of, number
