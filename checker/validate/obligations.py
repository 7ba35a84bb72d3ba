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
from typing import Any

import numpy as np
from attrs import frozen
from msgspec import Raw

from routeproof.checker.validate.announced import Announced
from routeproof.checker.validate.clients import (
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
        due = {id: self._due(publication) for id, publication in published.items()}
        came: dict[str, list[Delivered]] = {}
        for id, each in self._odd(blocks, published, due):
            came.setdefault(id, []).extend(each)
        for id, found in came.items():
            those = sorted(found, key=lambda d: _moment(d.at, self._shared_clock))
            yield from self._of_twice(id, those)
            if id not in published:
                yield self._rejection(those[0].at, "TRC-9", "a publication that was made", f"{id} delivered")
            elif (slots := due[id]) is not None:
                yield from self._of_deliveries(published[id], those, mask_of(self._matching(published[id])))
                yield from self._of_owed(published[id], those, map(self._announced.subscription, slots))

    def wants(self, unwanted: Unwanted) -> bool:
        """Does one of these operations ask for it?"""
        return self._announced.wants(unwanted.came, mask_of(self._matching(unwanted.publication)))

    def _matching(self, publication: Published) -> list[int]:
        """The slots of the subscriptions that match; of none, where nobody knows what was published."""
        event = self._event(publication)
        return [] if event is None else self._announced.matching(event)

    def _due(self, publication: Published) -> list[int] | None:
        """Of those that match, the ones that stood when it was made, as far as times say so: what is owed is among
        them. None where nobody knows what was published."""
        event, time = self._event(publication), publication.at.time
        if event is None:
            return None
        matching = self._announced.matching(event)
        return matching if self._traffic is None or time < 0 else self._announced.standing(matching, time)

    def _odd(
        self, blocks: Sequence[Block], published: Mapping[str, Published], due: Mapping[str, list[int] | None]
    ) -> Iterator[tuple[str, list[Delivered]]]:
        """The publications that did not come to each subscription for which they are due, once, and to nobody else; or
        too early. And some of how they came. These are to be looked at."""
        places = {id: place for place, id in enumerate(due)}
        width = len(self._announced.numbers) + 1
        counts = [len(slots or ()) for slots in due.values()]
        slots = np.fromiter(chain.from_iterable(slots or () for slots in due.values()), np.int64, sum(counts))
        wanted = np.repeat(np.arange(len(counts)), counts) * width + self._announced.number_of_slot[slots]
        pairs = [wanted, *(self._pairs(block.delivered, places, width) for block in blocks)]
        every, which = np.unique(np.concatenate(pairs), return_inverse=True)
        balance = np.bincount(which[: len(wanted)], minlength=len(every)) - np.bincount(
            which[len(wanted) :], minlength=len(every)
        )
        odd = np.zeros(len(places), np.bool_)
        odd[every[balance != 0] // width] = True
        for block in blocks:
            odd[self._too_early(block, published, places)] = True
        if not odd.any():
            return
        ids = list(places)
        yield from ((ids[place], []) for place in np.flatnonzero(odd).tolist())
        for block in blocks:
            for id, to, *at in block.delivered:
                if odd[places[id]]:
                    yield id, [Delivered(to, block.broker, *at)]

    def _pairs(self, came: Deliveries, places: dict[str, int], width: int) -> Any:
        """Each a number: of the publication, and of whom it came to. Nobody that we know of is 0."""
        publications = np.array([places.setdefault(id, len(places)) for id in came.ids], np.int64)
        tos = np.array([self._announced.numbers.get(to, 0) for to in came.tos], np.int64)
        return publications[came.columns[PUBLICATION]] * width + tos[came.columns[TO]]

    def _too_early(self, block: Block, published: Mapping[str, Published], places: Mapping[str, int]) -> Any:
        """The publications that came before their broker knew of them, or of the subscription that they are for, as
        far as these operations go."""
        came, broker = block.delivered, block.broker
        made = self._announced.made_by(came.tos, broker)
        spoken = (published.get(id) for id in came.ids)
        said = np.array([p.at.seq if p is not None and p.at.broker == broker else -1 for p in spoken], np.int64)
        publications, tos, seqs = (came.columns[row] for row in (PUBLICATION, TO, SEQ))
        early = (seqs < made[tos]) | (seqs < said[publications])
        return np.array([places[id] for id in came.ids], np.int64)[publications[early]]

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
