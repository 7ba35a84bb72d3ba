"""Publications at many brokers at once: `BulkReplay` takes them as they stand in JSON Lines, `handed_out` in Parquet.

Some thousand events are taken at a time and put in order by broker. Where a broker does nothing but pass publications
on, its whole steps are judged together with those of the others, in columns; its last step, which may go on, waits for
what comes next. All of a broker that does anything else, or anything odd, is judged event by event. In Parquet a
broker's events stand together, so that each broker's stretch is judged by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from attrs import Factory, define

from routeproof.checker.validate.broker.batch import FOREIGN, ODD, UNKNOWN, Batch, BusyBrokers, EventBlock, Rows
from routeproof.checker.validate.broker.columns import (
    CLIENT,
    DELIVER,
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
from routeproof.checker.validate.broker.part import Part
from routeproof.checker.validate.broker.publications import NOTHING, Entry, Written
from routeproof.checker.validate.clients import Deliveries, EventPlace, Published
from routeproof.checker.validate.link_rows import LATEST
from routeproof.checker.validate.metrics import Measured
from routeproof.checker.validate.setting import Setting
from routeproof.model.overlay import LOCAL, Node
from routeproof.traces import BadLine, Event
from routeproof.traces.reader import RowBatch

EVENTS = 1 << 14
"""Batch size, in events (about 450 bytes each)."""

WORTH = 256
"""Fewer are as soon looked at one by one."""

CELLS = 1 << 21
"""Largest last-hop table (brokers x subscriptions), in cells of 4 bytes. Beyond it, events are judged one by one."""

PAIRS = 1 << 20
"""Most pairs of brokers for which there is a table."""

LONGEST = 1 << 10
"""Events of a step that wait for the next one. Of a longer step, they and what follows are looked at."""


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
    """`waiting`: the events of its last step, which may go on. `row`: its place in the table of hops, which `stale`
    says is not what the broker knows now."""

    part: Part
    row: int
    waiting: list[Event] = Factory(list)
    stale: bool = True
    local: dict[str, int] = Factory(dict)

    def look(self, event: Event) -> bool:
        """Judges one event. True if the part's rows are to be taken."""
        if event.message is None or event.message.kind != "publish":
            self.stale = True
        return self.part.look(event)

    def let_go(self) -> list[Event]:
        events, self.waiting = self.waiting, []
        return events


class BulkReplay:
    """`part_of`: the part of an event, which is the first of its broker; None if its broker is unknown. `has`: True if
    this process judges the broker."""

    def __init__(
        self, judge: Judge, part_of: Callable[[Event], Part | None], has: Callable[[str], bool] = lambda _: True
    ) -> None:
        self._judge = judge
        self._part_of, self._has = part_of, has
        self._brokers: list[_Broker] = []
        self._known: dict[tuple[str, str], int] = {}
        self._of_header: dict[str, int] = {}
        """The brokers of events that leave out their run: it is the header's."""
        self._hops: Column = np.empty((0, 0), np.int32)
        self._entries: dict[Written, Entry | None] = {}
        """Entries of the publications that were met last, at this moment."""
        self._moment = -1
        self._busy = BusyBrokers()

    def take(self, blocks: Iterable[EventBlock | BadLine]) -> Iterator[Part | BadLine]:
        """All that there is, in any order in which each broker's events are in theirs. Bad lines come back, and each
        part when the caller has to take the rows that it set aside.
        """
        batch = Batch()
        for block in blocks:
            if isinstance(block, BadLine):
                yield block
                continue
            for part in block.parts(EVENTS):
                lines = part.events()
                is_busy = self._busy.have_most(lines)
                if not is_busy:
                    yield from batch.take(part, lines, self._owners)
                if batch.size >= (1 if is_busy else EVENTS):
                    yield from self._judge_some(batch)
                    batch = Batch()
                if is_busy:
                    yield from self._look_through(part.completed(lines))
        if batch.size:
            yield from self._judge_some(batch)
        for each in self._brokers:
            yield from self._look(each, each.let_go())

    def _look_through(self, lines: list[Event | BadLine]) -> Iterator[Part | BadLine]:
        """Judges lines one by one as they come, while they are in a processor's cache."""
        yield from (line for line in lines if type(line) is BadLine)
        events = [line for line in lines if type(line) is Event]
        for event, owner in zip(events, self._owners(events, events.__getitem__), strict=True):
            if owner == FOREIGN:
                continue
            broker = self._brokers[owner]
            if broker.waiting:
                yield from self._look(broker, broker.let_go())
            if broker.look(event):
                yield broker.part

    def _owners(self, events: list[Event], complete: Callable[[int], Event]) -> list[int]:
        """The number of each event's broker."""
        known = self._of_header
        owners = [UNKNOWN if e.run else known.get(e.broker, UNKNOWN) for e in events]
        if UNKNOWN in owners:
            for at, event in enumerate(events):
                if owners[at] == UNKNOWN:
                    owners[at] = self._owner(event, lambda at=at: complete(at))  # type: ignore[misc]
        return owners

    def _owner(self, event: Event, complete: Callable[[], Event]) -> int:
        key = event.run or self._judge.setting.run, event.broker
        number = self._known.get(key)
        if number is None:
            number = self._new(key, complete) if self._has(event.broker) else FOREIGN
        if number != UNKNOWN:
            self._known[key] = number
            if not event.run:
                self._of_header[event.broker] = number
            return number
        return FOREIGN

    def _new(self, key: tuple[str, str], complete: Callable[[], Event]) -> int:
        part = self._part_of(complete())
        if part is None:
            return UNKNOWN
        self._brokers.append(_Broker(part, len(self._brokers)))
        return len(self._brokers) - 1

    def _judge_some(self, batch: Batch) -> Iterator[Part | BadLine]:
        batch.take_first(lambda number: self._brokers[number].let_go(), self._owners)
        rows = batch.rows()
        runs: dict[str, list[tuple[_Broker, Column]]] = {}
        bounds = np.flatnonzero(np.diff(rows.owner, prepend=-1, append=-1)).tolist() if len(rows.owner) else [0]
        for first, end in pairwise(bounds):
            each = self._brokers[rows.owner[first]]
            begin, last = _whole_steps(rows.code[first:end])
            if end - first - last > LONGEST:
                begin = last = end - first
            yield from self._look(each, batch.events(rows, first, first + begin))
            each.waiting = batch.events(rows, first + last, end)
            places = np.arange(first + begin, first + last)
            if begin < last and each.part.begins_many(batch.events(rows, first + begin, first + begin + 1)[0]):
                runs.setdefault(each.part.run, []).append((each, places))
            else:
                yield from self._look(each, batch.events(rows, first + begin, first + last))
        for those in runs.values():
            if sum(len(places) for _, places in those) < WORTH or not self._has_room():
                for broker, places in those:
                    yield from self._look(broker, batch.events(rows, places[0], places[-1] + 1))
            else:
                yield from self._at_once(_Many(self._judge, batch, rows, those))

    def _look(self, broker: _Broker, events: Iterable[Event]) -> Iterator[Part]:
        """At these of its events, one by one."""
        for event in events:
            if broker.look(event):
                yield broker.part

    # -- at once -------------------------------------------------------------------------------------------------------

    def _at_once(self, many: _Many) -> Iterator[Part]:
        entries = self._entries_of(many.publications)
        odd = many.odd([entry is None for entry in entries])
        known = self._judge.dictionary.publications.unpacked([entry or NOTHING for entry in entries])
        if self._judge.setting.replays:
            self._bring_up_to_date(many.brokers)
            owner, hops = many.owner[many.begins], self._hops
            row = np.array([broker.row for broker in many.brokers], np.int64)[owner]
            sender = many.near[many.begins]
            wrong = unlike(many.publication, known, lambda step, slot: hops[row[step], slot], sender, many.handed())
            odd[owner[wrong]] = True
        for number, broker in enumerate(many.brokers):
            if odd[number]:
                yield from self._look(broker, many.events(number))
        many.set_aside(~odd, known.digests)
        for number, broker in enumerate(many.brokers):
            if not odd[number] and broker.part.has_much:
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


def _whole_steps(codes: Column) -> tuple[int, int]:
    """Where those begin that can be judged at once, and where they end. What is before is to be looked at: with the
    last odd event, all up to the step after it. What is behind is a step that may go on."""
    size = len(codes)
    odd, begins = np.flatnonzero(codes == ODD), np.flatnonzero(codes <= CLIENT)
    if len(odd):
        begins = begins[begins > odd[-1]]
    return (int(begins[0]), int(begins[-1])) if len(begins) else (size, size)


class _Many:
    """Whole steps of several brokers of one run, one broker after the other, in columns."""

    def __init__(self, judge: Judge, batch: Batch, rows: Rows, those: Sequence[tuple[_Broker, Column]]) -> None:
        self._judge = judge
        self._batch, self._rows, self._places = batch, rows, [places for _, places in those]
        self.brokers = [broker for broker, _ in those]
        self.sizes = list(map(len, self._places))
        self._of = of = rows.at(np.concatenate(self._places))
        self._code, self._seq, self._time = of.code, of.seq, of.time
        self._starts = np.cumsum([0, *self.sizes[:-1]])
        self._next = np.array([rows.seq[places[-1] + 1] for places in self._places], np.int64)
        self._is_timed = judge.setting.shared_clock
        self.owner = np.repeat(np.arange(len(self.brokers)), self.sizes)
        """Place of each event's broker."""
        is_first = of.code <= CLIENT
        (self.begins,) = np.nonzero(is_first)
        self._step = np.cumsum(is_first) - 1
        used, self._number = np.unique(of.number, return_inverse=True)
        """Number of each event's publication, by id."""
        self.publications = batch.written(used)
        self.publication = self._number[self.begins]
        """Number of each step's publication."""

    def events(self, number: int) -> list[Event]:
        """The events of one broker."""
        places = self._places[number]
        return self._batch.events(self._rows, places[0], places[-1] + 1)

    @cached_property
    def near(self) -> Column:
        """The neighbour on the other side; `NOBODY` if it is no neighbour."""
        node = self._judge.setting.node
        near = np.full(len(self._code), LOCAL)
        (links,) = np.nonzero((self._code == RECEIVE) | (self._code == SEND))
        near[links] = np.array([node.get(name, NOBODY) for name in self._batch.peers], np.int64)[self._of.peer[links]]
        width = 2 + int(near.max(initial=0))
        pairs = self.owner * width + near + 1
        if len(self.brokers) * width <= PAIRS:
            every, which = np.flatnonzero(np.bincount(pairs)), pairs
            there = np.zeros(len(self.brokers) * width, np.bool_)
            there[every] = [self._is_near(pair // width, pair % width - 1) for pair in every.tolist()]
        else:
            every, which = np.unique(pairs, return_inverse=True)
            there = np.array([self._is_near(pair // width, pair % width - 1) for pair in every.tolist()])
        return np.where(there[which], near, NOBODY)

    def _is_near(self, owner: int, node: Node) -> bool:
        return node == LOCAL or node in self._judge.setting.neighbours(self.brokers[owner].part.broker).values()

    def odd(self, unread: Sequence[bool]) -> Column:
        """Marks the brokers with events that cannot be judged here. `unread`: of publications, by number."""
        wrong = (self._of.alike == 0) | (self._number != self.publication[self._step]) | (self.near == NOBODY)
        wrong |= np.array(unread)[self._number]
        wrong[1:] |= (np.diff(self._seq) <= 0) & (np.diff(self.owner) == 0)
        ends = self._starts + self.sizes
        # The event that begins the next step, too: one out of order would end no step.
        odd = self._next <= self._seq[ends - 1]
        odd[self.owner[wrong]] = True
        if self._is_timed:
            falls = (np.diff(self._time, prepend=0) < 0) | (self._time < 0)
            lasts = np.array([broker.part.last_time for broker in self.brokers], np.int64)
            falls[self._starts] = (self._time[self._starts] < lasts) | (self._time[self._starts] < 0)
            odd[self.owner[falls]] = True
        return odd

    def handed(self) -> Handed:
        sent, came = self._code == SEND, self._code == DELIVER
        local, names = [each.local for each in self.brokers], list(self._batch.tos)
        owners, tos = self.owner[came].tolist(), self._of.to[came].tolist()
        slots = [local[owner].get(names[to], NOBODY) for owner, to in zip(owners, tos, strict=True)]
        return Handed(self._step[sent], self.near[sent], self._step[came], np.array(slots, np.int64))

    # -- what others need ----------------------------------------------------------------------------------------------

    def set_aside(self, chosen: Column, digests: Column) -> None:
        """Sets aside all rows of these brokers. `digests`: of the publications."""
        befores = np.array([each.part.before for each in self.brokers], np.int64)
        before = (befores - self._starts)[self.owner] + np.arange(len(self._code))
        mine = chosen[self.owner]
        if self._judge.setting.pairs:
            self._links(mine & ((self._code == SEND) | (self._code == RECEIVE)), before, digests)
        self._clients(mine, before, digests)
        for place in np.flatnonzero(chosen).tolist():
            begin = int(self._starts[place])
            end = begin + self.sizes[place]
            begins = np.flatnonzero(self._code[begin:end] <= CLIENT)
            self.brokers[place].part.passed_many(self._seq[begin:end], self._time[begin:end], begins)

    def _links(self, chosen: Column, before: Column, digests: Column) -> None:
        (rows,), peers = np.nonzero(chosen), list(self._batch.peers)
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
            link = peers[self._of.peer[first]], bool(self._code[first] == SEND)
            self.brokers[self.owner[first]].part.links.add_many(link, together[some].tobytes())

    def _clients(self, chosen: Column, before: Column, digests: Column) -> None:
        clients = self._judge.clients(self.brokers[0].part.run)
        (rows,) = np.nonzero(chosen & (self._code == DELIVER))
        columns = [self._number[rows], self._of.to[rows], self.owner[rows], self._of.peer[rows]]
        columns += [self._seq[rows], before[rows], self._time[rows], digests[self._number[rows]]]
        ids, names = [id for id, _, _ in self.publications], [each.part.broker for each in self.brokers]
        clients.came(Deliveries(ids, list(self._batch.tos), names, list(self._batch.peers), np.stack(columns)))
        issued = np.where(self._of.issued < 0, self._time, np.minimum(self._of.issued, self._time))
        for row in np.flatnonzero(chosen & (self._code == CLIENT)).tolist():
            number, time, broker = int(self._number[row]), int(self._time[row]), names[self.owner[row]]
            place = EventPlace(broker, int(self._seq[row]), int(before[row]), time)
            clients.published(Published(*self.publications[number], int(digests[number]), int(issued[row]), place))
