"""Traffic on the links of a run: when none was in flight, and by when an announcement was known everywhere.

`Busy` is the union of the spans of messages, for clocks that brokers share. Time is cut into slots, about four million
from the first event to the last, so that what is kept is bounded and does not depend on the order in which spans come.
A quiet moment shorter than a slot is overlooked: then less is owed than could be, never more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import Factory, evolve, frozen

from routeproof.checker.validate.broker.canonical import OF
from routeproof.checker.validate.clients import Published
from routeproof.checker.validate.clock import Doubts
from routeproof.checker.validate.findings import Beginning, KeptRecord, PartResult, Rejection
from routeproof.checker.validate.link_rows import LATEST
from routeproof.checker.validate.links import Comparison, Spans
from routeproof.checker.validate.report import Extent, Why
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import natural

SLOTS = 1 << 22
BATCH = 1 << 14
"""Spans that wait to be merged; or a quarter of what there is, which takes as much again while it is merged."""


def slot_width(earliest: int, latest: int, messages: int = SLOTS + 1) -> int:
    """Returns the width of a slot in nanoseconds, a power of two. So few messages as there are slots need no slots: one
    time that is far from all others widens nothing."""
    if messages <= SLOTS:
        return 1
    return 1 << max(0, (max(0, latest - earliest) // SLOTS).bit_length())


class Busy:
    """The union of spans, in slots; both ends of a span belong to it."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._begins: Any = np.empty(0, np.int64)
        self._ends: Any = np.empty(0, np.int64)
        self._waiting: list[tuple[Any, Any]] = []
        self._count = 0

    def add(self, begins: Any, ends: Any) -> None:
        """Spans in nanoseconds."""
        self.add_slots(begins // self.width, ends // self.width)

    def add_slots(self, begins: Any, ends: Any) -> None:
        if len(begins):
            self._waiting.append((begins, ends))
            self._count += len(begins)
            if self._count >= max(BATCH, len(self._begins) >> 2):
                self._merge()

    def spans(self) -> tuple[Any, Any]:
        """Pairwise disjoint, and sorted."""
        self._merge()
        return self._begins, self._ends

    def over(self, time: int) -> int:
        """The last nanosecond of the slot in which what goes on now is over; the time itself where nothing goes on."""
        slot = time // self.width
        self._merge()
        at = int(np.searchsorted(self._begins, slot, "right")) - 1
        if at < 0 or self._ends[at] < slot:
            return time
        return (int(self._ends[at]) + 1) * self.width - 1

    def over_many(self, times: Any) -> Any:
        """Vectorised `over` for many times."""
        self._merge()
        if not len(self._begins):
            return times
        slots = times // self.width
        at = np.searchsorted(self._begins, slots, "right") - 1
        ends = self._ends[at]
        return np.where((at < 0) | (ends < slots), times, (ends + 1) * self.width - 1)

    def _merge(self) -> None:
        if not self._waiting:
            return
        begins = np.concatenate([self._begins, *(b for b, _ in self._waiting)])
        ends = np.concatenate([self._ends, *(e for _, e in self._waiting)])
        self._waiting, self._count = [], 0
        order = np.argsort(begins, kind="stable")
        begins, ends = begins[order], np.maximum.accumulate(ends[order])
        first = np.ones(len(begins), bool)
        first[1:] = begins[1:] > ends[:-1]
        (starts,) = np.nonzero(first)
        self._begins = begins[starts]
        self._ends = ends[np.append(starts[1:] - 1, len(ends) - 1)]


def union(width: int, parts: Iterable[tuple[Any, Any]]) -> Busy:
    """Union of spans that are in slots already."""
    busy = Busy(width)
    for begins, ends in parts:
        busy.add_slots(begins, ends)
    return busy


# -- traffic -----------------------------------------------------------------------------------------------------------


class OnTheWay:
    """When links of a run were busy, in slots of this width. `left`: publications that were never received, by digest;
    `kept`: those that a broker held back at the end, by id."""

    def __init__(self, width: int) -> None:
        self.control, self.publications = Busy(width), Busy(width)
        self.left, self.kept = set[int](), set[str]()

    def add(self, spans: Spans) -> None:
        """Takes all spans."""
        self._add(spans, spans.is_control, self.control)
        self._add(spans, ~spans.is_control, self.publications)

    def add_sure(self, spans: Spans) -> None:
        """Takes the spans whose times are believed."""
        self._add(spans, spans.is_control & spans.is_sure, self.control)
        self._add(spans, ~spans.is_control & spans.is_sure, self.publications)

    def add_kept(self, kept: Iterable[KeptRecord]) -> None:
        """Takes what brokers held back: it was on its way, and at the end perhaps still is."""
        for each in kept:
            self.kept.update(each.ids)
            for begin, end, is_control in each.spans:
                busy = self.control if is_control else self.publications
                busy.add(np.array([max(0, begin)]), np.array([LATEST if end < 0 else end]))

    def _add(self, spans: Spans, chosen: Any, busy: Busy) -> None:
        busy.add(spans.begins[chosen], spans.ends[chosen])


def last_time(setting: Setting, doubts: Doubts) -> int:
    """Returns the last time of a broker that is believed; -1 without a shared clock."""
    return doubts.latest if setting.shared_clock else -1


@frozen
class Ends:
    """Where the knowledge of a run ends. `open_since`: by broker, from when on it is open what its clients are owed: it
    crashed then, or its recording ended. `ended`: brokers whose recordings ended before those of their neighbours.
    `unfinished`: publications of last steps, of which something may be missing."""

    open_since: Mapping[str, int] = Factory(dict)
    ended: frozenset[str] = frozenset()
    unfinished: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()
    """Brokers whose clients' operations are not observed."""
    knows_publications: bool = True
    """True if the trace has every publication that clients may be given."""


NO_ENDS = Ends()


OVERDUE = 10
"""Times as long as the slowest message that was received: then one that was not may be lost."""


def ends_of(
    setting: Setting, parts: Sequence[PartResult], extent: Extent, latest: Mapping[str, int], *, are_sure: bool
) -> tuple[Ends, list[Rejection]]:
    """Returns where the recording of a run ends, and the rejections of last steps that are over. `extent`: what was
    judged of the links of this run. `latest`: by broker, its last time. `are_sure`: are all times believed?

    A last step of which something is missing is over if the brokers share a clock, another broker's events go on after
    it, and nothing was left on any link.
    """
    ended = frozenset(extent.ended)
    if -min((least for _, _, least in extent.least), default=0) > setting.skew:
        extent.clocks += [(part.run, words) for part in parts[:1] for words in _mended(extent.least)]
    end = max(latest.values(), default=-1)
    overdue = min((each for each in extent.waiting if 0 <= each[0] < end - OVERDUE * extent.most), default=None)
    if overdue is not None and extent.most > 0 and parts:
        sent_at, near, far, seq = overdue
        said = f"{far} had not received the message that {near} sent it at seq {seq} after {end - sent_at:,} ns"
        took = f"no message that was received took longer than {extent.most:,} ns"
        extent.damages.append((parts[0].run, f"{said}, and {took}: it may be lost"))
    extent.least, extent.most, extent.waiting = [], -1, []
    is_at_rest = setting.shared_clock and setting.pairs and not extent.in_flight and not ended
    since = {b: -1 if t < 0 else t for b, t in latest.items() if b in ended}
    since |= {b: -1 for b, kinds in setting.observed.items() if not {"client", "deliver"} <= kinds}
    unseen = frozenset(b for b, kinds in setting.observed.items() if "client" not in kinds)
    wrong: list[Rejection] = []
    unfinished: set[str] = set()
    before = Counter[str]()
    rejected = {part.broker for part in parts if part.rejection is not None}
    for part in parts:
        events = before[part.broker]
        before[part.broker] += part.events
        if part.faults:
            since[part.broker] = min(since.get(part.broker, LATEST), part.unharmed_until if are_sure else -1)
        goes_on = is_at_rest and any(
            t - setting.skew > latest[part.broker] >= 0 for b, t in latest.items() if b != part.broker
        )
        if part.last_publication and not goes_on:
            unfinished.add(part.last_publication)
        if (odd := part.unfinished) is None or part.broker in rejected:
            continue
        if goes_on:
            wrong.append(evolve(odd, accepted=events + odd.accepted))
            continue
        said = f"the last step of broker {part.broker}, which may be unfinished: {odd.wanted} is missing"
        extent.unfinished.append((part.run, f"{said} after seq {odd.seq} ({odd.rule})"))
    unseen |= {part.broker for part in parts if part.begins_with == Beginning.UNKNOWN}
    is_whole = not ended and not unseen and not begun_amid(parts)
    return Ends(since, ended, frozenset(unfinished), unseen, is_whole), wrong


def begun_amid(parts: Iterable[PartResult]) -> frozenset[str]:
    """Returns the brokers whose recordings begin amid the run."""
    return frozenset(part.broker for part in parts if part.begins_with)


def _mended(least: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    """Yields, in words, the shifts of the brokers' times after which no message is received before it was sent.

    `least`: of each link, the least time from a sending to its reception.
    """
    links = sorted(least)
    for broker in sorted({broker for near, far, _ in links for broker in (near, far)}, key=natural):
        if (by := _alone(broker, links)) is not None:
            yield f"the clock of broker {broker} is wrong: {by:+} nanoseconds on all its times would mend it"
            return
    shift = {broker: 0 for near, far, _ in links for broker in (near, far)}
    for _ in shift:
        changed = False
        for near, far, time in links:
            if shift[near] > shift[far] + time:
                shift[near], changed = shift[far] + time, True
        if not changed:
            break
    else:
        yield "no shift of the brokers' clocks would mend their times: some clocks run at different speeds or jump"
        return
    most = max(Counter(shift.values()).items(), key=lambda each: each[1])[0]
    for broker in sorted(shift, key=natural):
        if by := shift[broker] - most:
            yield f"the clock of broker {broker} is wrong: {by:+} nanoseconds on all its times would mend it"


def _alone(broker: str, links: Sequence[tuple[str, str, int]]) -> int | None:
    """Returns the least shift of this broker's times that mends all links; None if there is none."""
    if any(time < 0 and broker not in (near, far) for near, far, time in links):
        return None
    low = max((-time for _, far, time in links if far == broker), default=-LATEST)
    high = min((time for near, _, time in links if near == broker), default=LATEST)
    return None if low > high else min(max(low, 0), high)


def width_and_latest(found: Sequence[PartResult], doubts: Iterable[Doubts]) -> tuple[int, int]:
    """Returns the width of a slot and the last time of a run, as far as times are believed."""
    times = [t for each in doubts for t in (each.earliest, each.latest) if t >= 0]
    events = sum(each.events for each in found)
    return slot_width(min(times, default=0), max(times, default=0), events // 2), max(times, default=0)


def count_link(extent: Extent, run: str, link: tuple[str, str], comparison: Comparison) -> None:
    """Adds what came of a link of a run to what was judged."""
    left = (run, *link, comparison.first_left) if comparison.left else None
    ended = [link[0]] if comparison.beyond else []
    least = [] if comparison.least == LATEST else [(*link, comparison.least)]
    extent.add(
        Extent(
            links=1,
            messages=comparison.compared,
            in_flight=comparison.left,
            first_in_flight=left,
            ended=ended,
            least=least,
            most=comparison.most,
            waiting=[(comparison.left_since, *link, comparison.first_left)] if comparison.left else [],
        )
    )
    if said := comparison.remark(*link):
        extent.damages.append((run, said))


def traffic_of(setting: Setting, latest: int, ways: OnTheWay, sure: OnTheWay | None, hindrance: Why | None) -> Traffic:
    """`sure`: as far as times are believed; None where all are. `hindrance`: why what is owed is not judged."""
    left = frozenset(ways.left)
    surely = None if sure is None else _traffic(setting, latest, sure, left, None)
    return evolve(_traffic(setting, latest, ways, left, surely), hindrance=hindrance)


def _traffic(setting: Setting, latest: int, ways: OnTheWay, left: frozenset[int], sure: Traffic | None) -> Traffic:
    pairs = setting.pairs
    return Traffic(
        ways.control if pairs else None,
        ways.publications if pairs else None,
        setting.settles,
        latest,
        left,
        sure,
        frozenset(ways.kept),
        setting.skew,
        have_headers=setting.judging.meaning is not None,
    )


@frozen
class Traffic:
    """When was what on the way? `settles` is the header's promise; `control` and `publications`: what links showed.
    `sure`: the same as far as times are believed; None where all are."""

    control: Busy | None = None
    publications: Busy | None = None
    settles: int | None = None
    latest: int = 0
    on_the_way: frozenset[int] = frozenset()
    """Publications that were never received: their destinations are unknown."""
    sure: Traffic | None = None
    kept: frozenset[str] = frozenset()
    """Publications that a broker held back when the trace ended, by id."""
    skew: int = 0
    """Nanoseconds by which clocks may differ."""
    hindrance: Why | None = None
    """Why what is owed in this run is counted only, and not judged."""
    have_headers: bool = False
    """True if brokers add headers to publications, so that `on_the_way` does not tell which ones they are."""

    @property
    def longest(self) -> int | None:
        """Nanoseconds after which a publication has come everywhere, as the header promises."""
        return None if self.settles is None else self.settles + self.skew

    @property
    def is_known(self) -> bool:
        return self.control is not None or self.settles is not None

    def ready_by(self, time: int) -> int:
        """After this, what was announced at `time` is known everywhere."""
        return self._least(time + self.skew, self.control)

    def drained_by(self, time: int) -> int:
        """After this, what was published at `time` has come wherever it goes."""
        return self._least(time + self.skew, self.publications)

    def ready_by_many(self, times: Any) -> Any:
        """Vectorised `ready_by` for many announcements."""
        return self._least_of_many(times + self.skew, self.control)

    def drained_by_many(self, times: Any) -> Any:
        """Vectorised `drained_by` for many publications."""
        return self._least_of_many(times + self.skew, self.publications)

    def _least_of_many(self, times: Any, busy: Busy | None) -> Any:
        seen = None if busy is None else busy.over_many(times)
        if self.settles is None:
            return seen
        said = times + self.settles
        return said if seen is None else np.minimum(seen, said)

    def _least(self, time: int, busy: Busy | None) -> int:
        seen = None if busy is None else busy.over(time)
        said = None if self.settles is None else time + self.settles
        return min(each for each in (seen, said) if each is not None)

    def is_on_the_way(self, publication: Published) -> bool:
        """True if it was still on a link, or held back by a broker, when the trace ended."""
        if publication.id in self.kept:
            return True
        if self.control is not None:
            is_any = self.have_headers and bool(self.on_the_way) and self.drained_by(publication.until) > self.latest
            return is_any or publication.digest & ~OF in self.on_the_way
        return publication.until + (self.settles or 0) >= self.latest
