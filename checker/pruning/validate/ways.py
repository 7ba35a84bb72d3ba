"""Publications on their ways: for each that came to a subscription, at which brokers something else counted (SIM-6).

t counts at B for p where p's own way to t passed B: the way that its copies took, as far as the trace has them. A
subscription to which p never came, since it was made later, counts where its way to the publisher would pass.

`Standing` says who was subscribed when, and when nothing changed. *Fair* publications are those of which a database can
be exact (EQ-3 in `spec/pruning/claims_of_similarity.py`): made while it was quiet, come before clients did anything
else, and matched by nothing that was withdrawn before, since that may still be in a table. To say so takes a clock that
brokers share, and links; without, no publication is fair.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import inf
from typing import NamedTuple, TypeAlias

import msgspec
from attrs import define, field, frozen
from msgspec import Raw

from routeproof.checker.pruning.validate.replay import At, Made, Noted, OfPublications, OfSignals
from routeproof.checker.validate.clients import ClientOperation, bucket_of
from routeproof.checker.validate.clients.announced import EVERY
from routeproof.checker.validate.fast.universe import Register
from routeproof.checker.validate.findings import Rejection
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import packed
from routeproof.checker.validate.traffic import Traffic
from routeproof.model.filters import Event, Filter, dialect
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Node
from routeproof.model.pruning.handler import Pruning
from routeproof.traces.messages import meanings_of


@define(eq=False)
class SubscriptionStay:
    """A subscription from its announcement to its withdrawal, by seq at its broker and by time; -1 is no time."""

    id: str
    broker: str
    home: Node
    begin: int
    since: int
    end: float = inf
    until: float = inf

    def lives_at(self, time: float) -> bool:
        return self.since <= time and (self.until > time or self.until == inf)


@frozen
class Times:
    """When something was so: from `begin` to `end`, both included."""

    begin: float
    end: float

    def __contains__(self, time: float) -> bool:
        return self.begin <= time <= self.end


class Standing:
    """Subscribers of one run. `traffic` is None if the trace does not tell when, or something hinders judging."""

    def __init__(
        self,
        setting: Setting,
        operations: Iterable[ClientOperation],
        holds: Iterable[OfSignals],
        traffic: Traffic | None,
    ) -> None:
        self.setting = setting
        self.overlay = setting.overlay
        assert isinstance(setting.protocol, Pruning), "asked before"
        self.parameters = setting.protocol.parameters
        self.traffic = None if traffic is None or traffic.hindrance is not None else traffic
        self._meanings = meanings_of(dialect(setting.dialect))
        self._register = Register[Subscription](lambda s: s.filter, lambda: EVERY)
        self._stays: dict[str, list[SubscriptionStay]] = {}
        self._of_slot: dict[int, list[SubscriptionStay]] = {}
        self._advertised: dict[tuple[str, Node], list[tuple[Filter, Times]]] = {}
        signalled = [each.at.time for block in holds for each in block.signalled]
        self.holds = bool(signalled)
        """Did any broker ever hold withdrawals?"""
        told = sorted(operations, key=lambda o: (o.at.broker, o.at.seq))
        for operation in told:
            self._announce(operation)
        self._times = sorted([o.at.time for o in told] + signalled)
        self._is_timed = self.traffic is not None and all(time >= 0 for time in self._times)

    def _announce(self, operation: ClientOperation) -> None:
        node, at = self.setting.node[operation.at.broker], operation.at
        if operation.kind in ("advertise", "unadvertise"):
            periods = self._advertised.setdefault((operation.id, node), [])
            if operation.kind == "advertise":
                periods.append((self._meanings.filter(Raw(operation.filter)), Times(at.time, inf)))
            elif periods:
                wants, times = periods[-1]
                periods[-1] = wants, Times(times.begin, min(times.end, at.time))
            return
        mine = [stay for stay in self._stays.setdefault(operation.id, []) if stay.home == node]
        last = mine[-1] if mine and mine[-1].end == inf else None
        if operation.kind == "unsubscribe":
            if last is not None:
                last.end, last.until = at.seq, at.time
        elif last is None:
            stay = SubscriptionStay(operation.id, at.broker, node, at.seq, at.time)
            self._stays[operation.id].append(stay)
            subscription = Subscription(0, operation.id, self._meanings.filter(Raw(operation.filter)))
            self._of_slot.setdefault(self._register.number(subscription), []).append(stay)

    # -- subscriptions -------------------------------------------------------------------------------------------------

    def matching(self, event: Event) -> list[SubscriptionStay]:
        """All that match, whenever they were."""
        return [stay for slot in self._register.matching_once(event) for stay in self._of_slot[slot]]

    def stay(self, subscription: str, broker: str, seq: int) -> SubscriptionStay | None:
        """The one that this broker's client had at a step; None where the trace does not tell of it."""
        known = self._stays.get(subscription, ())
        return next((stay for stay in known if stay.broker == broker and stay.begin < seq < stay.end), None)

    def withdrawn_before(self, subscription: str, broker: str, seq: int, time: int) -> SubscriptionStay | None:
        """The one whose withdrawal a broker handles; None where it could be any of several."""
        ended = [stay for stay in self._stays.get(subscription, ()) if stay.end < inf]
        if len(ended) <= 1:
            return ended[0] if ended else None
        if self.holds or (self.traffic is None and {stay.broker for stay in ended} != {broker}):
            return None
        if self.traffic is None:
            past = [stay for stay in ended if stay.end <= seq]
        else:
            past = [stay for stay in ended if stay.until <= time]
        return max(past, key=lambda stay: (stay.until, stay.end), default=None)

    # -- publications --------------------------------------------------------------------------------------------------

    def event(self, written: bytes | int) -> Event | None:
        if isinstance(written, int):
            return written
        return self._meanings.attributes(Raw(written)) if written else None

    def fair_until(self, of: str, home: Node, event: Event, time: int, matching: Sequence[SubscriptionStay]) -> float:
        """Until when a publication is fair; -inf where it never was."""
        readings = self.parameters
        if not self._is_timed or time < 0:
            return -inf
        if readings.counts != "elsewhere" or readings.sends != "all" or not readings.remembers:
            return -inf
        if not self._is_quiet(time) or any(stay.until <= time for stay in matching):
            return -inf
        advertised = self._advertised.get((of, home), ())
        if not any(time in times and wants.matches(event) for wants, times in advertised):
            return -inf
        at = bisect_left(self._times, time)
        return self._times[at] if at < len(self._times) else inf

    def _is_quiet(self, time: int) -> bool:
        """True if all operations of clients are known everywhere. Held ones are checked separately."""
        assert self.traffic is not None, "asked before"
        control = self.traffic.control
        at = bisect_left(self._times, time)
        if at and self.traffic.ready_by(self._times[at - 1]) >= time:
            return False
        return control is None or control.over(time) == time


# -- ways --------------------------------------------------------------------------------------------------------------


Mask: TypeAlias = int
"""Mask of a way: bit mu is the broker mu hops from where it begins."""


class JudgedRow(NamedTuple):
    """A row of a database, and where something else counted; `is_exact`: the row must say so (EQ-3)."""

    at: At
    distance: int
    joins: int
    where: str
    """A `Mask`, in hexadecimal: ways may be long."""
    is_exact: bool


class StayRows(NamedTuple):
    """Rows of one subscription's stay, with one advertisement, from one publisher's broker."""

    subscription: str
    broker: str
    begin: int
    advertisement: str
    publisher: Node
    rows: tuple[JudgedRow, ...]


rows_of = msgspec.msgpack.Decoder(list[StayRows]).decode

Place: TypeAlias = tuple[Node, bool]
"""Where others are, and whether the publication came to them."""


@define
class _Publication:
    made: Made | None = None
    home: Node = 0
    came_from: dict[Node, Node] = field(factory=dict)
    noted: list[tuple[str, Noted]] = field(factory=list)


class WaysJudge:
    """The caller calls `judge` for one bucket after the other."""

    def __init__(self, run: str, standing: Standing) -> None:
        self._run = run
        self._standing = standing
        self.path = cache(standing.overlay.path)

    def judge(self, bucket: Iterable[OfPublications]) -> Iterator[Rejection | tuple[int, bytes]]:
        """Rows that are exact and wrong; and rows as blocks (`rows_of`), by bucket of subscriptions."""
        found: dict[tuple[str, str, int, str, Node], list[JudgedRow]] = {}
        for publication in self._publications(bucket).values():
            for each in self._rows(publication):
                if isinstance(each, Rejection):
                    yield each
                else:
                    stay, made, row = each
                    key = stay.id, stay.broker, stay.begin, made.of, publication.home
                    found.setdefault(key, []).append(row)
        buckets: dict[int, list[StayRows]] = {}
        for key, rows in found.items():
            buckets.setdefault(bucket_of(key[0]), []).append(StayRows(*key, tuple(rows)))
        for number, those in buckets.items():
            yield number, packed(those)

    def _publications(self, bucket: Iterable[OfPublications]) -> dict[str, _Publication]:
        found: dict[str, _Publication] = {}
        for block in bucket:
            node = self._standing.setting.node
            here = node[block.broker]
            for made in block.made:
                mine = found.setdefault(made.id, _Publication())
                mine.made, mine.home = made, here
            for copied in block.copied:
                found.setdefault(copied.id, _Publication()).came_from.setdefault(here, node[copied.peer])
            for noted in block.noted:
                found.setdefault(noted.id, _Publication()).noted.append((block.broker, noted))
        return found

    def _rows(self, publication: _Publication) -> Iterator[Rejection | tuple[SubscriptionStay, Made, JudgedRow]]:
        made, standing = publication.made, self._standing
        event = None if made is None else standing.event(made.event)
        if made is None or event is None:
            return
        came = [
            (stay, noted)
            for broker, noted in publication.noted
            if (stay := standing.stay(noted.subscription, broker, noted.at.seq)) is not None
        ]
        matching = standing.matching(event)
        fair = standing.fair_until(made.of, publication.home, event, made.at.time, matching)
        company = _Company(self, publication, [stay for stay, _ in came], matching)
        for stay, noted in came:
            is_exact = 0 <= noted.at.time < fair
            if is_exact and (wrong := self._wrong(publication, stay, noted, company)) is not None:
                yield wrong
            where = company.counts(stay, stay.until)
            yield stay, made, JudgedRow(noted.at, noted.distance, noted.joins, f"{where:x}", is_exact)

    def _wrong(
        self, publication: _Publication, stay: SubscriptionStay, noted: Noted, company: _Company
    ) -> Rejection | None:
        """EQ-3, row by row: the distance is that to where something else comes in first, up to the publisher's broker,
        where a distance is never reset (STA-1)."""
        assert publication.made is not None, "asked before"
        last = len(self.path(stay.home, publication.home)) - 1
        where = company.counts(stay, publication.made.at.time, by_tables=True)
        wanted = min(last, (where & -where).bit_length() - 1) if where else last
        if noted.distance == wanted and (noted.joins > 0) == (wanted < last):
            return None
        counted = "above 0" if wanted < last else "of 0"
        should = f"{noted.id} noted for {noted.subscription} with {wanted} hops of {last} and a count {counted}"
        seen, at = f"{noted.distance} hops and a count of {noted.joins}", noted.at
        return Rejection(self._run, stay.broker, at.seq, "CRD-1", should, seen, at.before, time=at.time)


class _Company:
    """Other subscriptions that one publication is for."""

    def __init__(
        self, ways: WaysJudge, publication: _Publication, came: list[SubscriptionStay], matching: list[SubscriptionStay]
    ) -> None:
        self._ways = ways
        self._publication = publication
        self._came = {id(stay) for stay in came}
        self._is_told = ways._standing.traffic is not None
        self._others = matching if self._is_told else came
        """Without a clock the other active subscriptions are unknown: those that it reached are taken."""
        self._places: dict[float, Counter[Place]] = {}
        self._known: dict[tuple[Node, float, bool, bool], Mask] = {}

    def counts(self, stay: SubscriptionStay, time: float, *, by_tables: bool = False) -> Mask:
        """Where on the way of this one others count that were there at a time; `inf`: at the end. `by_tables`: by the
        overlay alone, whatever way copies took."""
        places = self._places.get(time)
        if places is None:
            some = (t for t in self._others if not self._is_told or t.lives_at(time))
            places = self._places[time] = Counter((t.home, id(t) in self._came) for t in some)
        is_one = not self._is_told or stay.lives_at(time)
        key = stay.home, time, is_one, by_tables
        mask = self._known.get(key)
        if mask is None:
            mask, mine = 0, (stay.home, True)
            for place, count in places.items():
                if count > (is_one and place == mine):
                    mask |= self._mask(stay.home, place, by_tables)
            self._known[key] = mask
        return mask

    def _mask(self, home: Node, place: Place, by_tables: bool) -> Mask:
        there, came = place
        publisher = self._publication.home
        way = set(self._ways.path(there, publisher) if by_tables or not came else self._chain(there))
        path = self._ways.path(home, publisher)
        return sum(1 << mu for mu, broker in enumerate(path) if broker in way)

    def _chain(self, there: Node) -> list[Node]:
        """The way that a copy took, from its end: as far back as the trace has it."""
        chain, came_from = [there], self._publication.came_from
        while chain[-1] in came_from and len(chain) <= len(came_from) + 1:
            chain.append(came_from[chain[-1]])
        return chain
