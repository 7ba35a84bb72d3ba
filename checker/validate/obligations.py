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
from routeproof.checker.validate.replica.bits import mask_of, numbers_of
from routeproof.checker.validate.replica.register import Register
from routeproof.checker.validate.traffic import Traffic
from routeproof.model.filters import Event
from routeproof.model.messages import Subscription
from routeproof.traces.meanings import Meanings

EVERY = -1
"""As a mask: all slots stay in use."""

NEVER = (1 << 63) - 1
"""As a seq or a time: after all others."""


@define
class _Period:
    """From a subscription or an advertisement to its withdrawal, which may never come. `clients`: who made it, and
    made it again."""

    begin: int
    clients: set[str]
    ready_by: int
    end: int | None = None


@define
class _Announced:
    """What went by one id, with its periods. `made`: where it was announced, its first seq at that broker: by the id,
    and by the client who made it, as deliveries name them."""

    subscription: Subscription | None
    periods: list[_Period] = field(factory=list)
    made: dict[tuple[str, str], int] = field(factory=dict)


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
        self._slots = Register[Subscription](lambda s: s.filter, lambda: EVERY)
        self._subs: dict[str, list[_Announced]] = {}
        self._advs: dict[str, list[_Announced]] = {}
        self._of: dict[Subscription, _Announced] = {}
        self._of_client: dict[tuple[str, str], int] = {}
        """By broker and client, as deliveries name it, the slots of what the client subscribed to there."""
        said = sorted(operations, key=lambda o: (o.moment, natural(o.at.broker), o.at.seq))
        self._timeless = {each.id for each in said if each.at.time < 0}
        """Ids of which something was said without a time: nobody knows when they were there."""
        self._withdrawn_now: tuple[int, set[tuple[str, str, str]]] = -1, set()
        """As of the moment that is looked at, what was withdrawn and where."""
        for operation in said:
            self._announce(operation)
        self._named = {id: number for number, id in enumerate(self._subs, 1)}
        names: dict[int, int] = {}
        for id, entries in self._subs.items():
            for each in entries:
                assert each.subscription is not None, "those in _subs have one"
                names[self._slots.number(each.subscription)] = self._named[id]
        self._names = np.array([names[slot] for slot in range(len(names))], np.int64)
        """By slot, the number of the id."""
        periods = [self._of[self._slots.item(slot)].periods for slot in range(len(names))]
        self._since = np.array([min(p.begin for p in those) for those in periods], np.int64)
        self._until = np.array([max(NEVER if p.end is None else p.end for p in those) for those in periods], np.int64)
        """By slot, when there was such a subscription: never before, and never after. It began at -1 where nobody knows
        when."""

    def _announce(self, operation: Operation) -> None:
        time = operation.moment
        of_subscriptions = operation.kind in ("subscribe", "unsubscribe")
        entries = (self._subs if of_subscriptions else self._advs).setdefault(operation.id, [])
        if operation.withdraws:
            for each in entries:
                for period in each.periods:
                    period.end = operation.at.time if period.end is None else period.end
            self._withdrawn_at(time).add((operation.kind, operation.id, operation.at.broker))
            return
        entry = self._entry(entries, operation)
        by_client = operation.at.broker, f"@{operation.client}"
        for key in ((operation.at.broker, operation.id), by_client):
            entry.made.setdefault(key, operation.at.seq)
        if entry.subscription is not None:
            self._of_client[by_client] = self._of_client.get(by_client, 0) | 1 << self._slots.number(entry.subscription)
        if entry.periods and entry.periods[-1].end is None:
            entry.periods[-1].clients.add(operation.client)
            return
        known = self._traffic is not None and time >= 0 and operation.id not in self._timeless
        period = _Period(
            time if known else -1, {operation.client}, self._traffic.ready_by(time) if self._traffic and known else -1
        )
        entry.periods.append(period)
        withdrawal = "unsubscribe" if of_subscriptions else "unadvertise"
        if any(
            (kind, id) == (withdrawal, operation.id) and broker != operation.at.broker
            for kind, id, broker in self._withdrawn_at(time)
        ):
            period.end = time  # elsewhere, at the same moment: nobody knows which was first

    def _withdrawn_at(self, time: int) -> set[tuple[str, str, str]]:
        if self._withdrawn_now[0] != time:
            self._withdrawn_now = time, set()
        return self._withdrawn_now[1]

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
                yield from self._of_owed(published[id], those, [self._slots.item(slot) for slot in slots])

    def wants(self, unwanted: Unwanted) -> bool:
        """Does one of these operations ask for it?"""
        return self._wants(unwanted.came, mask_of(self._matching(unwanted.publication)))

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
        self, blocks: Sequence[Block], published: Mapping[str, Published], due: Mapping[str, list[int] | None]
    ) -> Iterator[tuple[str, list[Delivered]]]:
        """The publications that did not come to each subscription for which they are due, once, and to nobody else; or
        too early. And some of how they came. These are to be looked at."""
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
        tos = np.array([self._named.get(to, 0) for to in came.tos], np.int64)
        return publications[came.columns[PUBLICATION]] * width + tos[came.columns[TO]]

    def _too_early(self, block: Block, published: Mapping[str, Published], places: Mapping[str, int]) -> Any:
        """The publications that came before their broker knew of them, or of the subscription that they are for, as
        far as these operations go."""
        came, broker = block.delivered, block.broker
        made = np.array([self._first_made(to, broker) for to in came.tos], np.int64)
        spoken = (published.get(id) for id in came.ids)
        said = np.array([p.at.seq if p is not None and p.at.broker == broker else -1 for p in spoken], np.int64)
        publications, tos, seqs = (came.columns[row] for row in (PUBLICATION, TO, SEQ))
        early = (seqs < made[tos]) | (seqs < said[publications])
        return np.array([places[id] for id in came.ids], np.int64)[publications[early]]

    def _first_made(self, to: str, broker: str) -> int:
        """From which seq on something can be delivered there for a subscription; clients are asked one by one."""
        entries = self._subs.get(to)
        return -1 if entries is None else min((each.made.get((broker, to), NEVER) for each in entries), default=NEVER)

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
            elif each.to not in met and not self._wants(each, matching):
                wanted, shown_by = f"nothing for {_whom(each)}", ((each.broker, each.seq),)
                wrong = self._rejection(each.at, "TRC-9", wanted, seen, LAST_SHOWN, shown_by)
                yield Unwanted(publication, each, wrong)
            met.add(each.to)

    def _wants(self, came: Delivered, matching: int) -> bool:
        """Did its broker's client ask for it before?"""
        mine = self._of_client.get((came.broker, came.to), 0)
        by_client = (self._of[self._slots.item(slot)] for slot in numbers_of(mine & matching))
        return any(
            each.subscription is not None
            and each.made.get((came.broker, came.to), NEVER) < came.seq
            and matching >> self._slots.number(each.subscription) & 1
            for each in chain(self._subs.get(came.to, ()), by_client)
        )

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
                if wanted.id not in met and not any(f"@{client}" in met for client in period.clients):
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
