"""Obligations to clients: nothing owed is lost, nothing comes twice, nothing unmatched (TRC-7, TRC-8, TRC-9).

`Obligations` knows what clients of one run announced and withdrew, in one era at least. It judges publications of that
era and their deliveries in batches: the judgement of one does not depend on others. A delivery is unwanted as far as
these operations go. What is owed is decided in `owed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, frozen
from msgspec import Raw

from routeproof.checker.validate.broker.canonical import are_same, differ_many
from routeproof.checker.validate.clients import (
    BEFORE,
    BROKER,
    CONTENT,
    PEER,
    PUBLICATION,
    SEQ,
    TIME,
    TO,
    ClientBlock,
    ClientOperation,
    Delivered,
    Deliveries,
    EventPlace,
    Published,
    joined,
    numbered,
)
from routeproof.checker.validate.clients.announced import NOBODY, Announced
from routeproof.checker.validate.clients.owed import Owed, first_of
from routeproof.checker.validate.fast.bits import mask_of
from routeproof.checker.validate.fast.matches import Plain
from routeproof.checker.validate.findings import ALWAYS, LAST_SHOWN, ON_PROMISES, PROMISE, WHOLE, Rejection
from routeproof.checker.validate.readiness import Ways
from routeproof.checker.validate.report import Extent, Lost, OpenObligations, Why
from routeproof.checker.validate.store import Natural, natural
from routeproof.checker.validate.traffic import NO_ENDS, Ends, Traffic
from routeproof.model.filters import Event
from routeproof.traces.messages import Meanings

Column: TypeAlias = Any
"""A numpy array, a row each."""


@frozen
class Unwanted:
    """A delivery without a subscription among the known operations. `rejection`: the rejection if no other operation
    explains it.
    """

    publication: Published
    came: Delivered
    rejection: Rejection


class Obligations:
    """Obligations of one run.

    `traffic` is None where obligations cannot be judged. `shared_clock`: do the brokers' times come from one clock?
    `at_home`: does an advertisement only count at the broker where it was made?
    """

    def __init__(
        self,
        run: str,
        operations: Iterable[ClientOperation],
        meanings: Meanings,
        traffic: Traffic | None,
        extent: Extent,
        *,
        shared_clock: bool,
        at_home: bool = False,
        ends: Ends = NO_ENDS,
        ways: Ways | None = None,
    ) -> None:
        self._run = run
        self._ends = ends
        self._meanings = meanings
        self._shared_clock = shared_clock
        self._longest = None if traffic is None else traffic.longest
        self._announced = Announced(operations, meanings, traffic, at_home=at_home)
        self._extent = extent
        self._owed = Owed(run, self._announced, traffic, ways, ends, extent)

    def judge(self, bucket: Iterable[ClientBlock]) -> Iterator[Rejection | Unwanted]:
        """All that is wrong with the publications of a bucket: all that there is of it."""
        blocks = list(bucket)
        published: dict[str, Published] = {}
        for publication in by_first(blocks, shared_clock=self._shared_clock):
            if publication.id in published:
                again = f"{publication.id} again"
                self._extent.repeated += 1
                yield self._rejection(publication.at, "TRC-6", "a publication once", again, ALWAYS)
            else:
                published[publication.id] = publication
        mentioned, matching = self._matching_many(list(published.values()))
        about, slots = self._owed.pairs(list(published.values()), mentioned, matching)
        owed = self._owed.judge(list(published.values()), about, slots)
        firsts = {id: place for place, id in enumerate(published)}
        came: dict[str, list[Delivered]] = {}
        delivered = joined([block.delivered for block in blocks])
        yield from self._late(delivered, published)
        for id, each in self._odd(delivered, published, about, slots):
            came.setdefault(id, []).extend(each)
        for id, found in came.items():
            those = sorted(found, key=lambda d: _moment(d.at, self._shared_clock))
            yield from self._of_twice(id, those)
            if id not in published and not self._ends.knows_publications:
                continue
            if id not in published:
                yield self._rejection(those[0].at, "TRC-9", "a publication that was made", f"{id} delivered")
            elif published[id].event != b"":
                mine = _rows_of(mentioned, firsts[id])
                yield from self._of_deliveries(published[id], those, mask_of(matching[mine].tolist()))
                mine = _rows_of(about, firsts[id])
                due = slots[mine][owed[mine]].tolist()
                yield from self._of_owed(published[id], those, due)

    @property
    def unannounced(self) -> dict[str, OpenObligations]:
        """By the id of an advertisement that no operation here makes, what was published under it and not judged."""
        return self._owed.unannounced

    def wants(self, unwanted: Unwanted) -> bool:
        """Does one of these operations ask for it?"""
        _, matching = self._matching_many([unwanted.publication])
        return self._announced.wants(unwanted.came, mask_of(matching.tolist()))

    def reason(self, unwanted: Unwanted) -> str:
        """Returns why none of these operations asks for it."""
        publication = unwanted.publication
        return self._announced.why_unwanted(unwanted.came, publication.id, self._event(publication))

    def _matching_many(self, published: Sequence[Published]) -> tuple[Column, Column]:
        """Pairs of a publication's place and the slot of a subscription that matches, by publication; none for a
        publication whose content is unknown."""
        plain: dict[int, Plain] = {}
        others: dict[int, list[int]] = {}
        for place, publication in enumerate(published):
            written = publication.event
            values = None if isinstance(written, int) else self._meanings.plain(written)
            if values is not None:
                plain[place] = values
            elif (event := self._event(publication)) is not None:
                others[place] = self._announced.slots.matching_once(event)
        which, slots = self._announced.slots.matching_many(list(plain.values()))
        about = np.concatenate((np.array(list(plain), np.int64)[which], _repeated(others)))
        slots = np.concatenate((slots, np.array(list(chain.from_iterable(others.values())), np.int64)))
        order = np.argsort(about, kind="stable")
        return about[order], slots[order]

    def _odd(
        self, came: Deliveries, published: Mapping[str, Published], due_to: Column, slots: Column
    ) -> Iterator[tuple[str, list[Delivered]]]:
        """The publications that did not come to each subscription for which they are due, once, and to no other; or
        came too early. Also returns how they came. The caller has to judge them one by one.
        """
        places = {id: place for place, id in enumerate(published)}
        width = len(self._announced.numbers) + 1
        about = np.array([places.setdefault(id, len(places)) for id in came.ids], np.int64)[came.columns[PUBLICATION]]
        tos = numbered(came.tos, self._announced.numbers, NOBODY)[came.columns[TO]]
        self._extent.deliveries += len(tos)
        pairs = due_to * width + self._announced.number_of_slot[slots], about * width + tos
        every, which = np.unique(np.concatenate(pairs), return_inverse=True)
        due = len(due_to)
        balance = np.bincount(which[:due], minlength=len(every)) - np.bincount(which[due:], minlength=len(every))
        odd = np.zeros(len(places), np.bool_)
        odd[every[balance != 0] // width] = True
        odd[about[self._is_too_early(came, tos, published) | self._is_odd(came, tos, published)]] = True
        if not odd.any():
            return
        ids = list(places)
        yield from ((ids[place], []) for place in np.flatnonzero(odd).tolist())
        chosen = evolve(came, columns=came.columns[:, odd[about]])
        yield from ((id, [each]) for id, each in chosen)

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

    def _late(self, came: Deliveries, published: Mapping[str, Published]) -> Iterator[Rejection]:
        """The first delivery at each broker that is later than the header promises."""
        if self._longest is None:
            return
        made = [published.get(id) for id in came.ids]
        until = np.array([-1 if p is None or p.at.time < 0 else p.until for p in made], np.int64)
        since, times = until[came.columns[PUBLICATION]], came.columns[TIME]
        by = np.where((since >= 0) & (times >= 0), times - since - self._longest, 0)
        late = np.flatnonzero(by > 0)
        late = late[np.lexsort((came.columns[SEQ][late], came.columns[BROKER][late]))]
        _, firsts = np.unique(came.columns[BROKER][late], return_index=True)
        for at in late[firsts].tolist():
            row = came.columns[:, at].tolist()
            place = EventPlace(came.brokers[row[BROKER]], row[SEQ], row[BEFORE], row[TIME])
            said = f"{came.ids[row[PUBLICATION]]} delivered to {came.tos[row[TO]].removeprefix('@')}"
            wanted = f"{said} not after time {row[TIME] - int(by[at])}: {PROMISE}"
            seen = f"time {row[TIME]}, which is {int(by[at])} ns too late"
            yield self._rejection(place, ON_PROMISES, wanted, seen, ALWAYS)

    def _is_odd(self, came: Deliveries, numbers: Column, published: Mapping[str, Published]) -> Column:
        """Which say something else than was published, or came to a client that did not ask for it. `numbers`: of each,
        the subscription's."""
        made = [published.get(id) for id in came.ids]
        about, content = came.columns[PUBLICATION], came.columns[CONTENT]
        digests = np.array([0 if p is None or p.event == b"" else p.digest for p in made], np.int64)[about]
        odd = (content != 0) & (digests != 0) & differ_many(digests, content, True)
        tos, brokers, peers = (came.columns[row] for row in (TO, BROKER, PEER))
        askers, asked_by = self._announced.askers, self._announced.asked_by
        strange = ~self._announced.are_asked_by(numbers, brokers, peers, came.brokers, came.peers)
        (left,) = np.nonzero(strange)
        strange[left] = [
            (whom := (came.tos[to], came.brokers[broker], came.peers[peer])) not in askers and not asked_by(*whom)
            for to, broker, peer in zip(tos[left].tolist(), brokers[left].tolist(), peers[left].tolist(), strict=True)
        ]
        return odd | strange

    def _of_twice(self, id: str, those: list[Delivered]) -> Iterator[Rejection]:
        met: dict[tuple[str, str], Delivered] = {}
        for each in those:
            first = met.setdefault(_taker(each), each)
            if first is not each:
                self._extent.doubled += 1
                again = self._rejection(each.at, "TRC-8", f"{id} delivered to {_whom(each)} once", "again", ALWAYS)
                yield evolve(again, reason=f"it was delivered at {first.broker}, seq {first.seq}, before")

    def _of_deliveries(
        self, publication: Published, those: list[Delivered], matching: int
    ) -> Iterator[Rejection | Unwanted]:
        """Judges each delivery that is the first to its recipient."""
        id, met = publication.id, set[tuple[str, str]]()
        for each in those:
            if each.broker in self._ends.unseen:
                continue
            seen = f"{id} delivered to {_whom(each)}"
            if each.content and publication.event != b"" and not are_same(each.content, publication.digest):
                wanted = f"{id} delivered to {_whom(each)} as it was published"
                yield self._rejection(each.at, "TRC-9", wanted, f"{id} with another content", ALWAYS)
            if publication.at.broker == each.broker and publication.at.seq > each.seq:
                yield self._rejection(each.at, "TRC-9", "a publication that was made before", seen, ALWAYS)
            elif _taker(each) not in met and not self._announced.wants(each, matching):
                wanted, shown_by = f"nothing for {_whom(each)}", ((each.broker, each.seq),)
                wrong = self._rejection(each.at, "TRC-9", wanted, seen, LAST_SHOWN, shown_by)
                yield Unwanted(publication, each, wrong)
            met.add(_taker(each))

    def _of_owed(self, publication: Published, those: list[Delivered], slots: Iterable[int]) -> Iterator[Rejection]:
        """Lost deliveries of a publication. `slots`: those of the subscriptions to which it is owed. A publication
        outside its advertisement is owed to none.
        """
        met, extent = {_taker(each) for each in those}, self._extent
        for slot in slots:
            wanted, takers = self._announced.subscription(slot), self._announced.takers(slot)
            unnamed = {broker for broker, by in takers if by == "@"}
            if ("", wanted.id) in met or not met.isdisjoint(takers) or any(broker in unnamed for broker, _ in met):
                continue
            if publication.id in self._ends.unfinished:
                extent.owed -= 1
                extent.leave(Why.UNFINISHED, 1, first_of(self._run, publication))
                continue
            event = self._event(publication)
            if event is not None and self._announced.is_outside(publication, event):
                extent.owed -= 1
                extent.leave(Why.OUTSIDE, 1, first_of(self._run, publication))
                continue
            extent.lost += 1
            owed = f"{publication.id} delivered to {wanted.id}"
            seen = "no delivery, and no copy in flight when the trace ended"
            homes = self._announced.homes(slot)
            lost, home = (publication.id, wanted.id, *homes), homes[0] if len(homes) == 1 else ""
            at = publication.at
            extent.note_lost(Lost(at.time, at.broker, at.seq, publication.id, wanted.id, self._run, home))
            matching_event = f"{publication.id} matches {wanted.id} ({wanted.filter})"
            yield evolve(self._rejection(at, "TRC-7", owed, seen), lost=lost, reason=matching_event)

    def _event(self, publication: Published) -> Event | None:
        if isinstance(publication.event, int):
            return publication.event
        return self._meanings.attributes(Raw(publication.event)) if publication.event else None

    def _rejection(
        self,
        at: EventPlace,
        rule: str,
        wanted: str,
        seen: str,
        line: int = WHOLE,
        shown_by: tuple[tuple[str, int], ...] = (),
    ) -> Rejection:
        return Rejection(self._run, at.broker, at.seq, rule, wanted, seen, at.before, line, at.time, shown_by)


def _repeated(many: Mapping[int, list[int]]) -> Column:
    """Each number as often as there are others with it."""
    return np.repeat(np.array(list(many), np.int64), np.array(list(map(len, many.values())), np.int64))


def _rows_of(about: Column, place: int) -> slice:
    """Returns which rows are about a publication, of pairs by publication."""
    return slice(*np.searchsorted(about, (place, place + 1)).tolist())


def _taker(came: Delivered) -> tuple[str, str]:
    """Whom a delivery is for: a subscription, or a client at its broker."""
    return (came.broker if came.to.startswith("@") else ""), came.to


def _whom(came: Delivered) -> str:
    return came.to.removeprefix("@")


def by_first(blocks: Iterable[ClientBlock], *, shared_clock: bool) -> list[Published]:
    """The publications of a bucket; of those with one id that counts which comes first."""
    return sorted((p for block in blocks for p in block.published), key=lambda p: _moment(p.at, shared_clock))


def _moment(at: EventPlace, shared_clock: bool) -> tuple[int, Natural, int]:
    """Sort key that puts the earliest place first, as far as it is known."""
    return at.time if shared_clock else -1, natural(at.broker), at.seq
