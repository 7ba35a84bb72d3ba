"""A broker's clock as its events tell it: which times cannot be, and between which others these events lie.

Where brokers share a clock, a broker's times rise with its events. An event without a time, or with one that falls out
of this order, says nothing about when it was; its neighbours do. `Clock` listens to one part of a trace and keeps the
rising runs of its times. `doubts_of` joins the parts of a broker, finds the fewest events that have to be disbelieved,
and gives bounds for them. Parts may be cut anywhere: the answer is the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, TypeAlias

import numpy as np
from attrs import Factory, define, frozen
from msgspec import Struct

WINDOW = 32
"""Events on either side of a fall among which the wrong ones are looked for."""

MOST = 1 << 12
"""Falls, and stretches without a time, that are kept of one part; after them no time of it is believed."""

ENDLESS = (1 << 63) - 1

Entry: TypeAlias = tuple[int, int, int]
"""An event that tells its time: how many events its broker had before it, its seq, and the time."""
AT, SEQ, TIME = range(3)

Column: TypeAlias = Any
"""A numpy array, a row each."""


class RisingRun(Struct, array_like=True):
    """Events whose times do not fall: how many there are, the first few and the last few."""

    count: int
    head: list[Entry]
    tail: list[Entry]


class Gap(Struct, array_like=True):
    """Events that should tell a time and do not, one after the other: the places of the first and the last, the seq of
    the first, how many, and the events before and after them that tell theirs."""

    first: int
    last: int
    seq: int
    count: int
    before: Entry | None
    after: Entry | None


class ClockRecord(Struct, array_like=True):
    """The times of one part of a trace. `until`: the place from which on nothing was kept, or -1."""

    runs: list[RisingRun] = []
    gaps: list[Gap] = []
    until: int = -1


class Clock:
    """The times of one part. `last` is the last time that an event gave; -1 before the first."""

    def __init__(self) -> None:
        self.last = -1
        self._told = ClockRecord()
        self._count = 0
        self._head: list[Entry] = []
        self._tail: deque[Entry] = deque(maxlen=WINDOW)
        self._open: Gap | None = None

    def tell(self, at: int, seq: int, time: int) -> None:
        """Takes the time of the next event that has one."""
        if time < self.last:
            self._turn(at)
        self.last = time
        self._tail.append((at, seq, time))
        self._count += 1
        if self._count == WINDOW:
            self._head = list(self._tail)
        if self._open is not None:
            self._open.after = at, seq, time
            self._open = None

    def tell_many(self, ats: Column, seqs: Column, times: Column) -> None:
        """Takes the times of many events that do not fall, the first of them not below `last`."""
        if self._open is not None and len(times):
            self.tell(int(ats[0]), int(seqs[0]), int(times[0]))
            ats, seqs, times = ats[1:], seqs[1:], times[1:]
        count = len(times)
        if not count:
            return
        if self._count < WINDOW:
            first = zip(*(each[:WINDOW].tolist() for each in (ats, seqs, times)), strict=True)
            self._head = [*self._tail, *first][:WINDOW]
        self._tail.extend(zip(*(each[-WINDOW:].tolist() for each in (ats, seqs, times)), strict=True))
        self._count += count
        self.last = int(times[-1])

    def miss(self, at: int, seq: int) -> None:
        """Takes an event that should tell its time, and does not."""
        if self._open is not None:
            self._open.last, self._open.count = at, self._open.count + 1
            return
        self._open = Gap(at, at, seq, 1, self._tail[-1] if self._tail else None, None)
        if len(self._told.gaps) < MOST:
            self._told.gaps.append(self._open)
        elif self._told.until < 0:
            self._told.until = at

    def told(self) -> ClockRecord:
        """Returns what was kept, after the last event."""
        self._turn(-1)
        return self._told

    def _turn(self, at: int) -> None:
        if self._count and self._told.until < 0:
            tail = list(self._tail)
            self._told.runs.append(RisingRun(self._count, self._head if self._count >= WINDOW else tail, tail))
            if at >= 0 and len(self._told.runs) >= MOST:
                self._told.until = at
        self._count, self._head = 0, []
        self._tail.clear()


@frozen(eq=False)
class Doubts:
    """Stretches of a broker's events, by place, whose times are not known, each with the times between which they lie;
    -1 where there is none. `earliest` and `latest`: of the times that are believed."""

    first: Column = Factory(lambda: np.empty(0, np.int64))
    last: Column = Factory(lambda: np.empty(0, np.int64))
    low: Column = Factory(lambda: np.empty(0, np.int64))
    high: Column = Factory(lambda: np.empty(0, np.int64))
    earliest: int = -1
    latest: int = -1
    untimed: int = 0
    """Events without a time where one is needed."""
    untimed_seq: int = -1
    disordered: int = 0
    """Events with a time that cannot be."""
    disorder: tuple[Entry, int, int] | None = None
    """The first of them, with its bounds."""

    def __bool__(self) -> bool:
        return len(self.first) > 0

    def doubted(self, places: Column) -> Column:
        """Returns the number of the stretch of each place; -1 where the time is believed."""
        if not len(self.first):
            return np.full(len(places), -1)
        stretch: Column = np.searchsorted(self.first, places, "right") - 1
        return np.where((stretch >= 0) & (places <= self.last[stretch]), stretch, -1)

    def bounds(self, place: int, time: int) -> tuple[int, int]:
        """Returns between which times the event of a place lies; both are its own time where that is believed."""
        stretch = int(np.searchsorted(self.first, place, "right")) - 1
        if stretch >= 0 and place <= self.last[stretch]:
            return int(self.low[stretch]), int(self.high[stretch])
        return time, time


CERTAIN = Doubts()
"""No doubts at all."""


@define
class _Stretch:
    """Events that are disbelieved, one after the other."""

    first: int
    last: int
    count: int
    entry: Entry
    low: int
    high: int = -1


def doubts_of(parts: Iterable[ClockRecord]) -> Doubts:
    """Joins the times of the parts of one broker, in their order."""
    runs, gaps, until = _joined(parts)
    line = _Line()
    for run in runs:
        line.take(run)
    found = [(each.first, each.last, each.low, each.high) for each in line.odd]
    for gap in gaps:
        within = bisect_right(line.odd, gap.first, key=attrgetter("first")) - 1
        if within >= 0 and gap.last <= line.odd[within].last:
            continue  # it lies among events that are disbelieved
        found.append((gap.first, gap.last, line.low(gap.before), line.high(gap.after)))
    if until >= 0:
        found = [each for each in found if each[0] < until]
        found.append((until, ENDLESS, line.latest, -1))
    first, last, low, high = np.array(sorted(found), np.int64).reshape(-1, 4).T.copy()
    return Doubts(
        first,
        last,
        low,
        high,
        earliest=line.earliest,
        latest=line.latest,
        untimed=sum(gap.count for gap in gaps),
        untimed_seq=gaps[0].seq if gaps else -1,
        disordered=sum(each.count for each in line.odd),
        disorder=(line.odd[0].entry, line.odd[0].low, line.odd[0].high) if line.odd else None,
    )


def _joined(parts: Iterable[ClockRecord]) -> tuple[list[RisingRun], list[Gap], int]:
    """Makes one of several, as if the broker had been listened to at once."""
    runs: list[RisingRun] = []
    gaps: list[Gap] = []
    for part in parts:
        mine = [Gap(g.first, g.last, g.seq, g.count, g.before, g.after) for g in part.gaps]
        before = runs[-1].tail[-1] if runs else None
        first = part.runs[0].head[0] if part.runs else None
        is_open = bool(gaps) and gaps[-1].after is None
        if mine and mine[0].before is None and (first is None or mine[0].first < first[AT]):
            if is_open:
                gaps[-1].last, gaps[-1].count, gaps[-1].after = (
                    mine[0].last,
                    gaps[-1].count + mine[0].count,
                    mine[0].after,
                )
                del mine[0]
            else:
                mine[0].before = before
        elif is_open and first is not None:
            gaps[-1].after = first
        gaps += mine
        for run in part.runs:
            if runs and runs[-1].tail[-1][TIME] <= run.head[0][TIME]:
                runs[-1] = _one(runs[-1], run)
            else:
                runs.append(run)
        cut = max(gaps[MOST].first if len(gaps) > MOST else -1, runs[MOST].head[0][AT] if len(runs) > MOST else -1)
        if part.until >= 0 or cut >= 0:
            until = min(each for each in (part.until, cut) if each >= 0)
            return runs[:MOST], gaps[:MOST], until
    return runs, gaps, -1


def _one(run: RisingRun, other: RisingRun) -> RisingRun:
    head = run.head if run.count >= WINDOW else (run.head + other.head)[:WINDOW]
    return RisingRun(run.count + other.count, head, (run.tail + other.tail)[-WINDOW:])


class _Line:
    """The times that are believed: a line that does not fall. Where one falls, the fewer events are disbelieved, those
    above it or those below."""

    def __init__(self) -> None:
        self.odd: list[_Stretch] = []
        self.earliest = self.latest = -1
        self._count = 0
        self._recent: deque[Entry] = deque(maxlen=WINDOW)
        self._is_open = False
        """Are the events before the next one disbelieved?"""

    def low(self, entry: Entry | None) -> int:
        """Returns the latest time that is believed, at this event or before it."""
        odd = self._odd(entry)
        return -1 if entry is None else entry[TIME] if odd is None else odd.low

    def high(self, entry: Entry | None) -> int:
        """Returns the earliest time that is believed, at this event or after it."""
        odd = self._odd(entry)
        return -1 if entry is None else entry[TIME] if odd is None else odd.high

    def take(self, run: RisingRun) -> None:
        """Adds the next run."""
        rebels: list[Entry] = []
        for number, entry in enumerate(run.head):
            if entry[TIME] >= self.latest:
                self._believe(entry, run.count - number, run.tail)
                return
            rebels.append(entry)
            self._disbelieve(entry, 1)
            above, since = min((self._above(each) + n, n) for n, each in enumerate(rebels))
            if len(rebels) > above:
                self._switch(rebels[since:], above - since)
                self._believe(entry, run.count - number, run.tail)
                return
        left = run.count - len(run.head)
        if left:
            known = [each for each in run.tail if each[TIME] >= self.latest]
            if len(known) < left:
                beyond = [each for each in run.tail if each[TIME] < self.latest] or known[:0]
                self._disbelieve(beyond[-1] if beyond else (known[0][AT] - 1, 0, 0), left - len(known))
            if known:
                self._believe(known[0], len(known), run.tail)

    def _above(self, entry: Entry) -> int:
        """Returns how many events that are believed have a later time. Too many to distinguish count as infinitely
        many.
        """
        above = len(self._recent) - bisect_right(self._recent, entry[TIME], key=itemgetter(TIME))
        return above if above < WINDOW or above == self._count else ENDLESS

    def _believe(self, entry: Entry, count: int, tail: Sequence[Entry]) -> None:
        """With this event, all that follow in its run."""
        if self._is_open:
            self.odd[-1].high = entry[TIME]
            self._is_open = False
        if not self._count:
            self.earliest = entry[TIME]
        self._count += count
        if not self._recent or self._recent[-1][AT] < entry[AT]:
            self._recent.append(entry)
        self._recent.extend(each for each in tail if each[AT] > entry[AT])
        self.latest = tail[-1][TIME]

    def _disbelieve(self, entry: Entry, count: int) -> None:
        if self._is_open:
            self.odd[-1].last, self.odd[-1].count = entry[AT], self.odd[-1].count + count
        else:
            self.odd.append(_Stretch(entry[AT], entry[AT], count, entry, self.latest))
            self._is_open = True

    def _switch(self, rebels: Sequence[Entry], above: int) -> None:
        """Believes these, and no longer the events above them."""
        gone = [self._recent.pop() for _ in range(above)][::-1]
        self._count -= above
        low = self._recent[-1][TIME] if self._recent else -1
        since = self._recent[-1][AT] if self._recent else -1
        merged = _Stretch(gone[0][AT], rebels[0][AT] - 1, above - len(rebels), gone[0], low, rebels[0][TIME])
        while self.odd and self.odd[-1].first > since:
            each = self.odd.pop()
            merged.count += each.count
            if each.first < merged.first:
                merged.first, merged.entry = each.first, each.entry
        self.odd.append(merged)
        self._is_open = False
        if not self._count:
            self.earliest = rebels[0][TIME]
        self._count += len(rebels) - 1
        self._recent.extend(rebels)

    def _odd(self, entry: Entry | None) -> _Stretch | None:
        if entry is None or not self.odd:
            return None
        within = bisect_right(self.odd, entry[AT], key=attrgetter("first")) - 1
        return self.odd[within] if within >= 0 and entry[AT] <= self.odd[within].last else None
