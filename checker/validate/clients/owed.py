"""Owed deliveries: which pairs of a publication and a subscription are owed, and why the others are not (TRC-7).

Owed is at least the `owed` of `spec/routing.md`: the subscription and the advertisement had both been made, and then
nothing that changes tables was on any link, before the publication was made. Times tell that, where brokers share a
clock; where links are not observed, the header may say after how many nanoseconds everything has settled.

Where links are observed, what passed them tells more, and needs no clock: a subscription that was known on the whole
way of a publication is owed it, whatever is in flight elsewhere (`readiness`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from routeproof.checker.validate.clients import Published
from routeproof.checker.validate.clients.announced import NEVER, NOT_THERE, OWED, Announced
from routeproof.checker.validate.readiness import ENDLESS, Lifetime, Ways
from routeproof.checker.validate.report import Extent, First, OpenObligations, Why
from routeproof.checker.validate.traffic import Ends, Traffic

Column: TypeAlias = Any
"""A numpy array, a row each."""

BY_TIME = (Why.UNSETTLED, Why.WITHDRAWN, Why.UNTIMED, Why.DOUBTFUL)
"""Reasons that only times give: places may still tell that a delivery is owed."""

UNANNOUNCED = 1 << 12
"""Largest number of kept ids of advertisements that no client made."""


class Owed:
    """Owed deliveries of one run, as far as some of its operations go. `traffic`: None if times do not tell what is
    owed; `ways`: None if readiness is not judged link by link. Counts are added to `extent`."""

    def __init__(
        self,
        run: str,
        announced: Announced,
        traffic: Traffic | None,
        ways: Ways | None,
        ends: Ends,
        extent: Extent,
    ) -> None:
        self._run, self._announced, self._traffic, self._extent = run, announced, traffic, extent
        self._ways = ways if announced.is_regular else None
        self._open_since = announced.open_since(ends.open_since)
        self.unannounced: dict[str, OpenObligations] = {}
        """By the id of an advertisement that no operation here makes, what was published under it and not judged."""

    def pairs(self, published: Sequence[Published], about: Column, slots: Column) -> tuple[Column, Column]:
        """Returns the pairs of a publication's place and the slot of a matching subscription that stood when it was
        made, as far as times say so: what is owed is among them."""
        if self._traffic is None:
            return about, slots
        times = np.array([each.at.time for each in published], np.int64)[about]
        stood = (times < 0) | self._announced.standing(slots, times)
        return about[stood], slots[stood]

    def judge(self, published: Sequence[Published], about: Column, slots: Column) -> Column:
        """Returns the owed pairs, and counts the reasons for the others. Pairs that are not known to have been active
        are counted too.
        """
        traffic = self._traffic
        if traffic is None:
            if self._ways is None:
                return np.zeros(len(about), np.bool_)
            return self._counted_pairs(self._without_times(published, about, slots, self._ways), published, about)
        times = np.array([each.at.time for each in published], np.int64)
        until = np.array([each.until for each in published], np.int64)
        drained = traffic.drained_by_many(until)
        surely = drained if traffic.sure is None else traffic.sure.drained_by_many(until)
        whys = np.array(
            [OWED if (why := self._why_not(each, traffic)) is None else why for each in published],
            np.int64,
        )
        found = self._announced.obligations(slots, times[about], drained[about], surely[about])
        found[(found == OWED) & (drained[about] >= self._open_since[slots])] = Why.CRASHED
        hindered = (found != NOT_THERE) & (whys[about] != OWED)
        found[hindered] = np.where(found == OWED, whys[about], np.maximum(found, whys[about]))[hindered]
        timeless = times[about] < 0
        found[timeless] = Why.UNTIMED
        if self._ways is not None:
            self._find_ready(found, published, about, slots, drained, self._ways)
        return self._counted_pairs(found, published, about)

    def _find_ready(
        self, found: Column, published: Sequence[Published], about: Column, slots: Column, drained: Column, ways: Ways
    ) -> None:
        """Marks as owed the pairs whose way was ready although something was in flight elsewhere."""
        by_time = np.flatnonzero(np.isin(found, BY_TIME))
        pairs = zip(by_time.tolist(), about[by_time].tolist(), slots[by_time].tolist(), strict=True)
        ready: list[int] = []
        for number, those in groupby(pairs, itemgetter(1)):
            publication = published[number]
            promised = () if ways.is_on_the_way(publication.digest) else self._promises(publication)
            if promised:
                ready += (at for at, _, slot in those if self._is_ready(publication, slot, promised, ways))
        there = np.array(ready, np.int64)
        is_open = drained[about[there]] >= self._open_since[slots[there]]
        found[there] = np.where(is_open, int(Why.CRASHED), OWED)

    def _without_times(self, published: Sequence[Published], about: Column, slots: Column, ways: Ways) -> Column:
        """Returns of each pair whether it is owed, without a clock that brokers share."""
        found = np.full(len(about), int(NOT_THERE))
        for at, (number, slot) in enumerate(zip(about.tolist(), slots.tolist(), strict=True)):
            publication = published[number]
            found[at] = self._owed_without_times(publication, slot, ways)
        found[(found == OWED) & (self._open_since[slots] < NEVER)] = Why.CRASHED
        return found

    def _owed_without_times(self, publication: Published, slot: int, ways: Ways) -> int:
        place, promised = publication.at.before, self._promises(publication)
        is_on_the_way = ways.is_on_the_way(publication.digest)
        if not is_on_the_way and self._is_ready(publication, slot, promised, ways):
            return OWED
        there = [s for s in self._announced.stays(slot) if self._may_stand(publication, s, ways)]
        if not there:
            return NOT_THERE
        if is_on_the_way:
            return Why.IN_FLIGHT
        if not promised:
            return self._announced.why_not_promised(publication)
        ready = any(ways.is_owed(s._replace(until=ENDLESS), a, place) for s in there for a in promised)
        return Why.WITHDRAWN if ready else Why.UNSETTLED

    def _may_stand(self, publication: Published, s: Lifetime, ways: Ways) -> bool:
        """False if a subscription was made after the publication had come to its broker, or if all brokers knew of its
        withdrawal before the publication."""
        at = publication.at
        if ways.arrived_by(at.broker, at.before, s.broker) <= s.since:
            return False
        return s.until == ENDLESS or ways.cleared_by(s.broker, s.until, at.broker) >= at.before

    def _promises(self, publication: Published) -> list[Lifetime]:
        """When the advertisement of a publication was there. Those that do not match it owe it to no client."""
        at = publication.at.before
        return [a for a in self._announced.promises(publication) if a.since < at < a.until]

    def _is_ready(self, publication: Published, slot: int, promised: Sequence[Lifetime], ways: Ways) -> bool:
        at = publication.at.before
        return any(ways.is_owed(s, a, at) for s in self._announced.stays(slot) for a in promised)

    def _counted_pairs(self, found: Column, published: Sequence[Published], about: Column) -> Column:
        """Counts the obligations, and the reasons for those that are not judged. Returns the owed pairs."""
        extent = self._extent
        counts = np.bincount(found[found != NOT_THERE], minlength=OWED + 1)
        extent.obligations += int(counts.sum())
        extent.owed += int(counts[OWED])
        for why in Why:
            if why == Why.UNANNOUNCED and counts[why]:
                for at, count in _counted(about[found == why]):
                    self._leave_unannounced(published[at], count)
            elif counts[why]:
                first = min(self._first_of(published[at]) for at in np.unique(about[found == why]).tolist())
                extent.leave(why, int(counts[why]), first)
        return found == OWED

    def _leave_unannounced(self, publication: Published, count: int) -> None:
        known = self.unannounced.get(publication.of)
        if known is not None:
            known.add(OpenObligations(count, self._first_of(publication)))
        elif len(self.unannounced) < UNANNOUNCED:
            self.unannounced[publication.of] = OpenObligations(count, self._first_of(publication))
        else:
            self._extent.leave(Why.UNANNOUNCED, count, self._first_of(publication))

    def _why_not(self, publication: Published, traffic: Traffic) -> Why | None:
        """Returns the reason for which a publication is owed to no subscription, or not judged; None if it is."""
        if traffic.hindrance is Why.ALTERED:
            return traffic.hindrance
        if traffic.is_on_the_way(publication):
            return Why.IN_FLIGHT
        if publication.at.time < 0:
            return Why.UNTIMED
        return self._announced.advertised(publication)

    def _first_of(self, publication: Published) -> First:
        return first_of(self._run, publication)


def first_of(run: str, publication: Published) -> First:
    """Returns a publication as a report names it."""
    at = publication.at
    return at.time, at.broker, at.seq, publication.id, run


def _counted(numbers: Column) -> list[tuple[int, int]]:
    """Each different number, and how often it is there."""
    different, counts = np.unique(numbers, return_counts=True)
    return list(zip(different.tolist(), counts.tolist(), strict=True))
