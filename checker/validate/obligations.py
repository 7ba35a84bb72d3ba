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
from attrs import define, field, frozen
from msgspec import Raw

from routeproof.checker.validate.clients import (
    PUBLICATION,
    TO,
    Block,
    Delivered,
    Deliveries,
    Operation,
    Place,
    Published,
)
from routeproof.checker.validate.quiet import Busy
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.replica.bits import mask_of
from routeproof.checker.validate.replica.register import Register
from routeproof.model.filters import Event
from routeproof.model.messages import Subscription
from routeproof.traces.meanings import Meanings

EVERY = -1
"""As a mask: all slots stay in use."""

NEVER = (1 << 63) - 1
"""As a time: after all others."""


@frozen
class Traffic:
    """When was what on the way? `settles` is the header's promise; `control` and `publications`: what links showed."""

    control: Busy | None = None
    publications: Busy | None = None
    settles: int | None = None
    latest: int = 0
    on_the_way: frozenset[int] = frozenset()
    """Publications that were never received: nobody knows where they would have come."""

    @property
    def is_known(self) -> bool:
        return self.control is not None or self.settles is not None

    def ready_by(self, time: int) -> int:
        """After this, what was announced at `time` is known everywhere."""
        return self._least(time, self.control)

    def drained_by(self, time: int) -> int:
        """After this, what was published at `time` has come wherever it goes."""
        return self._least(time, self.publications)

    def _least(self, time: int, busy: Busy | None) -> int:
        seen = None if busy is None else busy.over(time)
        said = None if self.settles is None else time + self.settles
        return min(each for each in (seen, said) if each is not None)

    def is_on_the_way(self, publication: Published) -> bool:
        """When the trace ended."""
        if self.control is not None:
            return publication.digest in self.on_the_way
        return publication.at.time + (self.settles or 0) >= self.latest


@define
class _Period:
    """From a subscription or an advertisement to its withdrawal, which may never come."""

    begin: int
    client: str
    ready_by: int
    end: int | None = None


@define
class _Announced:
    """What went by one id, with its periods."""

    subscription: Subscription | None
    periods: list[_Period] = field(factory=list)


@frozen
class Unwanted:
    """A delivery for which no operation asked of those that were known. `rejection`: what it is if none did."""

    publication: Published
    to: str
    rejection: Rejection


class Obligations:
    """Of one run. `operations`: those about one id in order. `traffic` is None where what is owed cannot be judged."""

    def __init__(self, run: str, operations: Iterable[Operation], meanings: Meanings, traffic: Traffic | None) -> None:
        self._run = run
        self._meanings = meanings
        self._traffic = traffic
        self._slots = Register[Subscription](lambda s: s.filter, lambda: EVERY)
        self._subs: dict[str, list[_Announced]] = {}
        self._advs: dict[str, list[_Announced]] = {}
        self._of: dict[Subscription, _Announced] = {}
        for operation in operations:
            self._announce(operation)
        self._of_client: dict[str, int] = {}
        self._named = {id: number for number, id in enumerate(self._subs, 1)}
        names: dict[int, int] = {}
        for id, entries in self._subs.items():
            for each in entries:
                assert each.subscription is not None, "those in _subs have one"
                slot = self._slots.number(each.subscription)
                names[slot] = self._named[id]
                for period in each.periods:
                    self._of_client[period.client] = self._of_client.get(period.client, 0) | 1 << slot
        self._names = np.array([names[slot] for slot in range(len(names))], np.int64)
        """By slot, the number of the id."""
        periods = [self._of[self._slots.item(slot)].periods for slot in range(len(names))]
        self._since = np.array([min(p.begin for p in those) for those in periods], np.int64)
        self._until = np.array([max(NEVER if p.end is None else p.end for p in those) for those in periods], np.int64)
        """By slot, when there was such a subscription: never before, and never after."""

    def _announce(self, operation: Operation) -> None:
        table = self._subs if operation.kind in ("subscribe", "unsubscribe") else self._advs
        entries = table.setdefault(operation.id, [])
        if operation.kind in ("unsubscribe", "unadvertise"):
            for each in entries:
                for period in each.periods:
                    period.end = operation.at.time if period.end is None else period.end
            return
        time = operation.at.time
        known = self._traffic is not None and time >= 0
        period = _Period(time, operation.client, self._traffic.ready_by(time) if self._traffic and known else -1)
        entry = self._entry(entries, operation)
        if not entry.periods or entry.periods[-1].end is not None:
            entry.periods.append(period)

    def _entry(self, entries: list[_Announced], operation: Operation) -> _Announced:
        """Announced again in the same words, it is the same."""
        wanted = None
        if operation.kind == "subscribe":
            wanted = Subscription(0, operation.id, self._meanings.filter(Raw(operation.filter)))
        found = next((each for each in entries if each.subscription == wanted), None)
        if found is None:
            found = _Announced(wanted)
            entries.append(found)
            if wanted is not None:
                self._of[wanted] = found
        return found

    def judge(self, bucket: Iterable[Block]) -> Iterator[Rejection | Unwanted]:
        """All that is wrong with the publications of a bucket: all that there is of it."""
        blocks = list(bucket)
        published: dict[str, Published] = {}
        for publication in by_first(blocks):
            if publication.id in published:
                yield self._rejection(publication.at, "TRC-6", "a publication once", f"{publication.id} again")
            else:
                published[publication.id] = publication
        due = {id: self._due(publication) for id, publication in published.items()}
        came: dict[str, list[Delivered]] = {}
        for id, each in self._odd(blocks, due):
            came.setdefault(id, []).extend(each)
        for id, found in came.items():
            those = sorted(found, key=lambda d: d.at)
            if id not in published:
                yield self._rejection(those[0].at, "TRC-9", "a publication that was made", f"{id} delivered")
            elif (slots := due[id]) is not None:
                yield from self._of_deliveries(published[id], those, mask_of(self._matching(published[id])))
                yield from self._of_owed(published[id], those, [self._slots.item(slot) for slot in slots])

    def wants(self, unwanted: Unwanted) -> bool:
        """Does one of these operations ask for it?"""
        return self._wants(unwanted.to, mask_of(self._matching(unwanted.publication)))

    def _matching(self, publication: Published) -> list[int]:
        """The slots of the subscriptions that match; of none, where nobody knows what was published."""
        event = self._event(publication)
        return [] if event is None else self._slots.matching_once(event)

    def _due(self, publication: Published) -> list[int] | None:
        """Of those that match, the ones that stood when it was made, as far as times say so: what is owed is among
        them. None where nobody knows what was published."""
        event, time = self._event(publication), publication.at.time
        if event is None:
            return None
        matching = self._slots.matching_once(event)
        if self._traffic is None or time < 0:
            return matching
        slots = np.array(matching, np.int64)
        standing: list[int] = slots[(self._since[slots] < time) & (time < self._until[slots])].tolist()
        return standing

    def _odd(
        self, blocks: Sequence[Block], due: Mapping[str, list[int] | None]
    ) -> Iterator[tuple[str, list[Delivered]]]:
        """The publications that did not come to each subscription for which they are due, once, and to nobody else; and
        some of how they came. These are to be looked at."""
        places = {id: place for place, id in enumerate(due)}
        width = len(self._named) + 1
        counts = [len(slots or ()) for slots in due.values()]
        slots = np.fromiter(chain.from_iterable(slots or () for slots in due.values()), np.int64, sum(counts))
        wanted = np.repeat(np.arange(len(counts)), counts) * width + self._names[slots]
        pairs = [wanted, *(self._pairs(block.delivered, places, width) for block in blocks)]
        every, which = np.unique(np.concatenate(pairs), return_inverse=True)
        balance = np.bincount(which[: len(wanted)], minlength=len(every)) - np.bincount(
            which[len(wanted) :], minlength=len(every)
        )
        odd = np.zeros(len(places), np.bool_)
        odd[every[balance != 0] // width] = True
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
        tos = np.array([self._named.get(to, 0) for to in came.tos], np.int64)
        return publications[came.columns[PUBLICATION]] * width + tos[came.columns[TO]]

    def _of_deliveries(
        self, publication: Published, those: list[Delivered], matching: int
    ) -> Iterator[Rejection | Unwanted]:
        id, met = publication.id, set[str]()
        for each in those:
            to = each.to.removeprefix("@")
            if each.to in met:
                yield self._rejection(each.at, "TRC-8", f"{id} delivered to {to} once", "again")
            elif not self._wants(each.to, matching):
                wrong = self._rejection(each.at, "TRC-9", f"nothing for {to}", f"{id} delivered to {to}")
                yield Unwanted(publication, each.to, wrong)
            met.add(each.to)

    def _wants(self, to: str, matching: int) -> bool:
        if to.startswith("@") and self._of_client.get(to[1:], 0) & matching:
            return True
        slots = [self._slots.number(e.subscription) for e in self._subs.get(to, ()) if e.subscription is not None]
        return any(matching >> slot & 1 for slot in slots)

    def _of_owed(
        self, publication: Published, those: list[Delivered], matching: list[Subscription]
    ) -> Iterator[Rejection]:
        traffic, time = self._traffic, publication.at.time
        if traffic is None or time < 0 or traffic.is_on_the_way(publication):
            return
        advertised = self._advertised_by(publication)
        if advertised is None or advertised >= time:
            return
        met = {each.to for each in those}
        drained: int | None = None
        for wanted in matching:
            for period in self._of[wanted].periods:
                if period.begin < 0 or period.ready_by >= time:
                    continue
                if period.end is not None:
                    drained = traffic.drained_by(time) if drained is None else drained
                    if period.end <= drained:
                        continue
                if wanted.id not in met and f"@{period.client}" not in met:
                    owed = f"{publication.id} delivered to {wanted.id}"
                    yield self._rejection(publication.at, "TRC-7", owed, "nothing, and nothing of it is on the way")

    def _advertised_by(self, publication: Published) -> int | None:
        """When the advertisement was known everywhere; None where it was not. Without one, always."""
        if not publication.of:
            return -1
        time = publication.at.time
        periods = [p for each in self._advs.get(publication.of, ()) for p in each.periods]
        return next((p.ready_by for p in periods if 0 <= p.begin < time and (p.end is None or p.end > time)), None)

    def _event(self, publication: Published) -> Event | None:
        if isinstance(publication.event, int):
            return publication.event
        return self._meanings.attributes(Raw(publication.event)) if publication.event else None

    def _rejection(self, at: Place, rule: str, wanted: str, seen: str) -> Rejection:
        return Rejection(self._run, at.broker, at.seq, rule, wanted, seen, at.before)


def by_first(blocks: Iterable[Block]) -> list[Published]:
    """The publications of a bucket; of those with one id that counts which comes first."""
    return sorted((p for block in blocks for p in block.published), key=lambda p: p.at)
