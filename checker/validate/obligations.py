"""What clients can see: nothing owed is lost, nothing comes twice, nothing unmatched (TRC-7, TRC-8, TRC-9).

`Obligations` knows what clients of one run announced and withdrew, in one era at least, and when nothing was on the way
between brokers. It is then asked about publications of that era and their deliveries, some at a time: what is said of
one does not depend on others. What is unwanted is so as far as these operations go.

What is owed is the `owed` of routing-core.md: the subscription and the advertisement had both been made, and then
nothing that changes tables was on any link, before the publication was made. That needs a clock that brokers share.
Where links are not observed, the header may say after how many nanoseconds everything has settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from msgspec import Raw

from routeproof.checker.validate.announced import NOBODY, Announced
from routeproof.checker.validate.clients import (
    BROKER,
    PUBLICATION,
    SEQ,
    TO,
    Block,
    Delivered,
    Deliveries,
    Operation,
    Place,
    Published,
)
from routeproof.checker.validate.naming import Natural, natural
from routeproof.checker.validate.rejection import ALWAYS, LAST_SHOWN, WHOLE, Rejection
from routeproof.checker.validate.replica.bits import mask_of
from routeproof.checker.validate.traffic import Traffic
from routeproof.model.filters import Event
from routeproof.model.messages import Subscription
from routeproof.traces.meanings import Meanings

Column: TypeAlias = Any
"""A numpy array, a row each."""


@frozen
class Unwanted:
    """A delivery for which no operation asked of those that were known. `rejection`: what it is if none did."""

    publication: Published
    came: Delivered
    rejection: Rejection


class Obligations:
    """Of one run. `traffic` is None where what is owed cannot be judged. `shared_clock`: do the brokers' times come
    from one clock?"""

    def __init__(
        self,
        run: str,
        operations: Iterable[Operation],
        meanings: Meanings,
        traffic: Traffic | None,
        *,
        shared_clock: bool,
    ) -> None:
        self._run = run
        self._meanings = meanings
        self._traffic = traffic
        self._shared_clock = shared_clock
        self._announced = Announced(operations, meanings, traffic)

    def judge(self, bucket: Iterable[Block]) -> Iterator[Rejection | Unwanted]:
        """All that is wrong with the publications of a bucket: all that there is of it."""
        blocks = list(bucket)
        published: dict[str, Published] = {}
        for publication in by_first(blocks, shared_clock=self._shared_clock):
            if publication.id in published:
                again = f"{publication.id} again"
                yield self._rejection(publication.at, "TRC-6", "a publication once", again, ALWAYS)
            else:
                published[publication.id] = publication
        matching = {id: self._matching(publication) for id, publication in published.items()}
        came: dict[str, list[Delivered]] = {}
        for id, each in self._odd(blocks, published, matching):
            came.setdefault(id, []).extend(each)
        for id, found in came.items():
            those = sorted(found, key=lambda d: _moment(d.at, self._shared_clock))
            yield from self._of_twice(id, those)
            if id not in published:
                yield self._rejection(those[0].at, "TRC-9", "a publication that was made", f"{id} delivered")
            elif (slots := matching[id]) is not None:
                yield from self._of_deliveries(published[id], those, mask_of(slots))
                yield from self._of_owed(published[id], those, map(self._announced.subscription, slots))

    def wants(self, unwanted: Unwanted) -> bool:
        """Does one of these operations ask for it?"""
        return self._announced.wants(unwanted.came, mask_of(self._matching(unwanted.publication) or ()))

    def _matching(self, publication: Published) -> list[int] | None:
        """The slots of the subscriptions that match; None where nobody knows what was published."""
        event = self._event(publication)
        return None if event is None else self._announced.matching(event)

    def _odd(
        self, blocks: Sequence[Block], published: Mapping[str, Published], matching: Mapping[str, list[int] | None]
    ) -> Iterator[tuple[str, list[Delivered]]]:
        """The publications that did not come to each subscription for which they are due, once, and to nobody else; or
        too early. And how they came. These are to be looked at."""
        places = {id: place for place, id in enumerate(published)}
        width = len(self._announced.numbers) + 1
        wanted = self._due(published, matching)
        pairs, early = [wanted[0] * width + wanted[1]], []
        for block in blocks:
            came, columns = block.delivered, block.delivered.columns
            about = np.array([places.setdefault(id, len(places)) for id in came.ids], np.int64)[columns[PUBLICATION]]
            tos = np.array([self._announced.numbers.get(to, NOBODY) for to in came.tos], np.int64)[columns[TO]]
            pairs.append(about * width + tos)
            early.append(about[self._is_too_early(came, tos, published)])
        every, which = np.unique(np.concatenate(pairs), return_inverse=True)
        due = len(pairs[0])
        balance = np.bincount(which[:due], minlength=len(every)) - np.bincount(which[due:], minlength=len(every))
        odd = np.zeros(len(places), np.bool_)
        odd[every[balance != 0] // width] = True
        for each in early:
            odd[each] = True
        if not odd.any():
            return
        ids = list(places)
        yield from ((ids[place], []) for place in np.flatnonzero(odd).tolist())
        for block in blocks:
            yield from ((id, [each]) for id, each in block.delivered if odd[places[id]])

    def _due(
        self, published: Mapping[str, Published], matching: Mapping[str, list[int] | None]
    ) -> tuple[Column, Column]:
        """Pairs of a publication's place and a subscription's number. Of those that match, the ones that stood when it
        was made, as far as times say so: what is owed is among them."""
        counts = [len(slots or ()) for slots in matching.values()]
        slots = np.fromiter(chain.from_iterable(slots or () for slots in matching.values()), np.int64, sum(counts))
        about = np.repeat(np.arange(len(counts)), counts)
        if self._traffic is not None:
            times = np.array([each.at.time for each in published.values()], np.int64)[about]
            stood = (times < 0) | self._announced.standing(slots, times)
            slots, about = slots[stood], about[stood]
        return about, self._announced.number_of_slot[slots]

    def _is_too_early(self, came: Deliveries, tos: Column, published: Mapping[str, Published]) -> Column:
        """Which came before their broker knew of the publication, or of the subscription that they are for, as far as
        these operations go. `tos`: of each, the subscription's number."""
        spoken = [published.get(id) for id in came.ids]
        numbers = {broker: number for number, broker in enumerate(came.brokers)}
        at = np.array([-1 if p is None else numbers.get(p.at.broker, -1) for p in spoken], np.int64)
        said = np.array([-1 if p is None else p.at.seq for p in spoken], np.int64)
        about, brokers, seqs = (came.columns[row] for row in (PUBLICATION, BROKER, SEQ))
        made = self._announced.made_by(tos, brokers, came.brokers)
        return (seqs < made) | ((at[about] == brokers) & (seqs < said[about]))

    def _of_twice(self, id: str, those: list[Delivered]) -> Iterator[Rejection]:
        met: set[str] = set()
        for each in those:
            if each.to in met:
                yield self._rejection(each.at, "TRC-8", f"{id} delivered to {_whom(each)} once", "again", ALWAYS)
            met.add(each.to)

    def _of_deliveries(
        self, publication: Published, those: list[Delivered], matching: int
    ) -> Iterator[Rejection | Unwanted]:
        """Each that is the first to somebody."""
        id, met = publication.id, set[str]()
        for each in those:
            seen = f"{id} delivered to {_whom(each)}"
            if publication.at.broker == each.broker and publication.at.seq > each.seq:
                yield self._rejection(each.at, "TRC-9", "a publication that was made before", seen, ALWAYS)
            elif each.to not in met and not self._announced.wants(each, matching):
                wanted, shown_by = f"nothing for {_whom(each)}", ((each.broker, each.seq),)
                wrong = self._rejection(each.at, "TRC-9", wanted, seen, LAST_SHOWN, shown_by)
                yield Unwanted(publication, each, wrong)
            met.add(each.to)

    def _of_owed(
        self, publication: Published, those: list[Delivered], matching: Iterable[Subscription]
    ) -> Iterator[Rejection]:
        traffic, time = self._traffic, publication.at.time
        if traffic is None or time < 0 or traffic.is_on_the_way(publication):
            return
        advertised = self._announced.advertised_by(publication)
        if advertised is None or advertised >= time:
            return
        met = {each.to for each in those}
        drained: int | None = None
        for wanted in matching:
            for period in self._announced.periods(wanted):
                if period.begin < 0 or period.ready_by >= time:
                    continue
                if period.end is not None:
                    drained = traffic.drained_by(time) if drained is None else drained
                    if period.end <= drained:
                        continue
                if wanted.id not in met and not any(f"@{client}" in met for client in period.clients):
                    owed = f"{publication.id} delivered to {wanted.id}"
                    yield self._rejection(publication.at, "TRC-7", owed, "nothing, and nothing of it is on the way")

    def _event(self, publication: Published) -> Event | None:
        if isinstance(publication.event, int):
            return publication.event
        return self._meanings.attributes(Raw(publication.event)) if publication.event else None

    def _rejection(
        self,
        at: Place,
        rule: str,
        wanted: str,
        seen: str,
        line: int = WHOLE,
        shown_by: tuple[tuple[str, int], ...] = (),
    ) -> Rejection:
        return Rejection(self._run, at.broker, at.seq, rule, wanted, seen, at.before, line, at.time, shown_by)


def _whom(came: Delivered) -> str:
    return came.to.removeprefix("@")


def by_first(blocks: Iterable[Block], *, shared_clock: bool) -> list[Published]:
    """The publications of a bucket; of those with one id that counts which comes first."""
    return sorted((p for block in blocks for p in block.published), key=lambda p: _moment(p.at, shared_clock))


def _moment(at: Place, shared_clock: bool) -> tuple[int, Natural, int]:
    """What is first, as far as anybody knows."""
    return at.time if shared_clock else -1, natural(at.broker), at.seq
