"""Announcements of one run's clients: from when until when each subscription and advertisement was there, and where it
was made, as far as some of the clients' operations go.

Each subscription has a slot, a number. One that was announced again in other words is another one of the same id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from attrs import define, field
from msgspec import Raw

from routeproof.checker.validate.broker.reasons import does_not_match, nearly_match
from routeproof.checker.validate.clients import ClientOperation, Delivered, EventPlace, Published, numbered
from routeproof.checker.validate.fast.universe import Register
from routeproof.checker.validate.readiness import ENDLESS, Lifetime
from routeproof.checker.validate.report import Why
from routeproof.checker.validate.store import natural
from routeproof.checker.validate.traffic import Traffic
from routeproof.model.filters import Event, Filter
from routeproof.model.messages import Subscription
from routeproof.traces.messages import Meanings

EVERY = -1
"""Mask that keeps all slots in use."""

NOBODY = 0
"""Number of an unknown subscription."""

NOWHERE, SEVERAL = -1, -2
"""Numbers of a broker for a subscription that was made at none, or at more than one."""

OWED, NOT_THERE = 1 << 8, -1
"""Marks of a publication and a subscription: it is owed, or there was no such subscription. All else is a `Why`."""

NEVER = (1 << 63) - 1
"""A seq or a time after all others."""


@define
class Period:
    """From a subscription or an advertisement to its withdrawal, which may never come. `clients`: the clients that made
    it, and made it again. Its beginning is -1 if unknown.
    """

    begin: int
    clients: set[str]
    end: int | None = None
    ready_by: int = -1
    surely_by: int = -1
    """When an advertisement was known everywhere; and likewise, as far as times are believed."""
    stay: Lifetime | None = None
    """The places of its announcement and its withdrawal; None if these are at several brokers."""

    def withdraw(self, at: EventPlace) -> None:
        if self.end is None:
            self.end = at.time
            same = self.stay is not None and self.stay.broker == at.broker
            self.stay = self.stay._replace(until=at.before) if same and self.stay is not None else None

    def announce_again(self, operation: ClientOperation) -> None:
        self.clients.add(operation.client)
        if self.stay is not None and self.stay.broker != operation.at.broker:
            self.stay = None


@define
class _Entry:
    """Subscriptions and periods of one id.

    `made` has the place of the announcement, its first seq at that broker: by the id, and by the client who made it, as
    deliveries name them.
    """

    subscription: Subscription | None
    slot: int = -1
    periods: list[Period] = field(factory=list)
    made: dict[tuple[str, str], int] = field(factory=dict)
    promised: list[Filter] = field(factory=list)
    """The filters of an advertisement."""


class Announced:
    """`traffic` is None if it is unknown when announcements had reached every broker. `at_home`: does an advertisement
    only count at the broker where it was made?

    `numbers` has a number for each id of a subscription, from 1 on; `number_of_slot` that of a slot's id."""

    def __init__(
        self,
        operations: Iterable[ClientOperation],
        meanings: Meanings,
        traffic: Traffic | None,
        *,
        at_home: bool = False,
    ) -> None:
        self._meanings, self._at_home = meanings, at_home
        self._traffic = traffic
        self.slots = Register[Subscription](lambda s: s.filter, lambda: EVERY)
        self._subs: dict[str, list[_Entry]] = {}
        self._advs: dict[str, list[_Entry]] = {}
        self._of_slot: list[_Entry] = []
        self._of_client: dict[tuple[str, str], list[int]] = {}
        """By broker and client, as deliveries name it, the slots of what the client subscribed to there."""
        self.askers: set[tuple[str, str, str]] = set()
        """Subscriptions, each with its broker and its client, that `asked_by` has found to belong together."""
        said = sorted(operations, key=lambda o: (o.moment, natural(o.at.broker), o.at.seq))
        self._timeless = {each.id for each in said if each.at.time < 0}
        """Ids with an operation without a time: it is unknown when they were active."""
        self.is_regular = True
        """False if an id was announced in two wordings at one time: what brokers make of that is unknown."""
        self._withdrawn_now: tuple[int, set[tuple[str, str, str]]] = -1, set()
        """Withdrawals before the moment that is looked at, with their places."""
        for operation in said:
            self._announce(operation)
        self.numbers: Mapping[str, int] = {id: number for number, id in enumerate(self._subs, 1)}
        ids = [self.subscription(slot).id for slot in range(len(self._of_slot))]
        self.number_of_slot = numbered(ids, self.numbers, NOBODY)
        lasting = [each.periods for each in self._of_slot]
        self._periods_of = np.array([len(those) for those in lasting], np.int64)
        self._first_period = np.cumsum(self._periods_of) - self._periods_of
        begins = np.array([p.begin for those in lasting for p in those], np.int64)
        ends = np.array([NEVER if p.end is None else p.end for those in lasting for p in those], np.int64)
        self._periods = begins, ends, *self._known_by(begins)
        """By slot, its periods: when each began, ended, was ready and, as far as times are believed, was ready."""
        self._since = np.array([min(p.begin for p in those) for those in lasting], np.int64)
        self._until = np.array([max(NEVER if p.end is None else p.end for p in those) for those in lasting], np.int64)
        """By slot, when there was such a subscription: never before, and never after."""
        promised = [p for entries in self._advs.values() for each in entries for p in each.periods]
        known_by = self._known_by(np.array([p.begin for p in promised], np.int64))
        for period, ready_by, surely_by in zip(promised, *(column.tolist() for column in known_by), strict=True):
            period.ready_by, period.surely_by = ready_by, surely_by
        self._brokers: dict[str, int] = {}
        made = [self._made(id, entries) for id, entries in self._subs.items()]
        self._made_at = np.array([NOWHERE, *(at for at, _ in made)], np.int64)
        self._made_since = np.array([NEVER, *(since for _, since in made)], np.int64)
        """By number, at which broker it was made, and from which seq on it was there."""
        self._clients: dict[str, int] = {}
        self._made_by = np.array([NOWHERE, *map(self._maker, self._subs.values())], np.int64)
        """By number, the client that made it."""

    def _known_by(self, begins: Any) -> tuple[Any, Any]:
        """Returns when announcements were known everywhere, and when they were as far as times are believed; -1 where
        it is unknown when they were made."""
        if self._traffic is None:
            return begins, begins
        ready = np.where(begins < 0, -1, self._traffic.ready_by_many(begins))
        sure = self._traffic.sure
        return ready, ready if sure is None else np.where(begins < 0, -1, sure.ready_by_many(begins))

    def _maker(self, entries: list[_Entry]) -> int:
        takers = {place for each in entries for place in each.made if place[1].startswith("@")}
        name = next(iter(takers))[1][1:] if len(takers) == 1 else ""
        return self._clients.setdefault(name, len(self._clients)) if name else SEVERAL

    def _made(self, id: str, entries: list[_Entry]) -> tuple[int, int]:
        places = [(broker, seq) for each in entries for (broker, by), seq in each.made.items() if by == id]
        if len({broker for broker, _ in places}) != 1:
            return (SEVERAL if places else NOWHERE), NEVER
        broker, since = min(places)
        return self._brokers.setdefault(broker, len(self._brokers)), since

    def _announce(self, operation: ClientOperation) -> None:
        time = operation.moment
        of_subscriptions = operation.kind in ("subscribe", "unsubscribe")
        entries = (self._subs if of_subscriptions else self._advs).setdefault(operation.id, [])
        if operation.withdraws:
            for each in entries:
                for period in each.periods:
                    period.withdraw(operation.at)
            self._withdrawn_at(time).add((operation.kind, operation.id, operation.at.broker))
            return
        entry = self._entry(entries, operation)
        if operation.kind == "advertise":
            wants = self._meanings.advertised(Raw(operation.filter))
            if wants not in entry.promised:
                entry.promised.append(wants)
        by_client = operation.at.broker, f"@{operation.client}"
        for key in ((operation.at.broker, operation.id), by_client):
            entry.made.setdefault(key, operation.at.seq)
        if entry.subscription is not None:
            self._of_client.setdefault(by_client, []).append(entry.slot)
        if entry.periods and entry.periods[-1].end is None:
            entry.periods[-1].announce_again(operation)
            return
        self.is_regular = self.is_regular and all(p.end is not None for each in entries for p in each.periods)
        known = self._traffic is not None and time >= 0 and operation.id not in self._timeless
        stay = Lifetime(operation.at.broker, operation.at.before, ENDLESS)
        period = Period(time if known else -1, {operation.client}, stay=stay)
        entry.periods.append(period)
        withdrawal = "unsubscribe" if of_subscriptions else "unadvertise"
        if any(
            (kind, id) == (withdrawal, operation.id) and broker != operation.at.broker
            for kind, id, broker in self._withdrawn_at(time)
        ):
            period.end, period.stay = time, None  # elsewhere, at the same moment: their order is unknown

    def _withdrawn_at(self, time: int) -> set[tuple[str, str, str]]:
        if self._withdrawn_now[0] != time:
            self._withdrawn_now = time, set()
        return self._withdrawn_now[1]

    def _entry(self, entries: list[_Entry], operation: ClientOperation) -> _Entry:
        """Announced again in the same words, it is the same."""
        wanted = None
        if operation.kind == "subscribe":
            wanted = Subscription(0, operation.id, self._meanings.filter(Raw(operation.filter)))
        found = next((each for each in entries if each.subscription == wanted), None)
        if found is None:
            found = _Entry(wanted)
            entries.append(found)
            if wanted is not None:
                found.slot = self.slots.number(wanted)
                self._of_slot.append(found)
        return found

    def subscription(self, slot: int) -> Subscription:
        return self.slots.item(slot)

    def advertised(self, publication: Published) -> Why | None:
        """Returns the reason for which its advertisement owes it to no subscription; None if there is none."""
        if not publication.of:
            return None
        entries, begin, end = self._advs.get(publication.of), publication.at.time, publication.until
        if entries is None:
            return Why.UNANNOUNCED
        hindrance = Why.UNADVERTISED
        for each in entries:
            for period in each.periods:
                if self._at_home and period.stay is not None and period.stay.broker != publication.at.broker:
                    continue
                if period.begin < 0:
                    hindrance = Why.UNTIMED
                elif period.begin < begin and (period.end is None or period.end > end):
                    if period.ready_by < begin:
                        return None
                    return Why.DOUBTFUL if period.surely_by < begin else Why.UNSETTLED
        return hindrance

    def is_outside(self, publication: Published, event: Event) -> bool:
        """True if no advertisement of its name matches it."""
        entries = self._advs.get(publication.of, ())
        return bool(publication.of) and not any(wants.matches(event) for each in entries for wants in each.promised)

    def obligations(self, slots: Any, times: Any, drained: Any, surely: Any) -> Any:
        """Returns of each subscription, by slot, whether it is owed what was published at its time: `OWED`, a `Why`, or
        `NOT_THERE`. `drained`: when that had come everywhere; `surely`: as far as times are believed."""
        counts = self._periods_of[slots]
        firsts = np.cumsum(counts) - counts
        pair = np.repeat(np.arange(len(slots)), counts)
        which = self._first_period[slots][pair] + np.arange(len(pair)) - firsts[pair]
        begin, end, ready, sure = (column[which] for column in self._periods)
        time = times[pair]
        found = np.full(len(pair), OWED)
        found[end <= drained[pair]] = Why.WITHDRAWN
        found[(end <= drained[pair]) & (end > surely[pair])] = Why.DOUBTFUL
        found[ready >= time] = Why.UNSETTLED
        found[(ready >= time) & (sure < time)] = Why.DOUBTFUL
        found[begin < 0] = Why.UNTIMED
        found[(begin >= time) | (end <= time)] = NOT_THERE
        if not len(slots):
            return found
        return np.maximum.reduceat(found, firsts) if (counts > 1).any() else found

    def stays(self, slot: int) -> Iterator[Lifetime]:
        """Yields when a subscription was there, as far as its places tell."""
        return (p.stay for p in self._of_slot[slot].periods if p.stay is not None)

    def promises(self, publication: Published) -> Iterator[Lifetime]:
        """Yields when the advertisement of a publication was there, at the broker where both were made."""
        for each in self._advs.get(publication.of, ()):
            for period in each.periods if len(each.promised) == 1 else ():
                if period.stay is not None and period.stay.broker == publication.at.broker:
                    yield period.stay

    def why_not_promised(self, publication: Published) -> Why:
        """Returns the reason for which no advertisement was there for a publication, as far as places tell."""
        if not publication.of:
            return Why.UNNAMED
        if publication.of not in self._advs:
            return Why.UNANNOUNCED
        stays = [p.stay for each in self._advs[publication.of] for p in each.periods if len(each.promised) == 1]
        return Why.UNADVERTISED if stays and None not in stays else Why.UNTIMED

    def takers(self, slot: int) -> set[tuple[str, str]]:
        """Returns broker and client, as deliveries name it, of those that made a subscription."""
        return {place for place in self._of_slot[slot].made if place[1].startswith("@")}

    def homes(self, slot: int) -> list[str]:
        """Returns the brokers at which clients made a subscription."""
        return sorted({broker for broker, by in self._of_slot[slot].made if by == self.subscription(slot).id})

    def open_since(self, since: Mapping[str, int]) -> Any:
        """Returns by slot from when on it is open what the subscription is owed. `since`: by broker."""
        found = np.full(len(self.number_of_slot), NEVER)
        for slot in range(len(found)) if since else ():
            made = self._of_slot[slot].made
            found[slot] = min(since.get(broker, NEVER) for broker, _ in made)
        return found

    def made_by(self, tos: Any, brokers: Any, names: Sequence[str]) -> Any:
        """For each (recipient, broker) with a delivery: the first seq at which the subscription existed there.

        All are numbers; brokers are places among `names`. Names of clients pass: clients are compared one by one.
        """
        here = numbered(names, self._brokers, NOWHERE)[brokers]
        at = self._made_at[tos]
        since = np.where(at == here, self._made_since[tos], NEVER)
        since[tos == NOBODY] = -1
        several = np.flatnonzero(at == SEVERAL)
        if len(several):
            entries = list(self._subs.items())
            for row in several.tolist():
                id, mine = entries[tos[row] - 1]
                since[row] = min(each.made.get((names[brokers[row]], id), NEVER) for each in mine)
        return since

    def are_asked_by(self, tos: Any, brokers: Any, peers: Any, names: Sequence[str], clients: Sequence[str]) -> Any:
        """Marks deliveries to the only client that ever made the subscription; others may have been asked for too."""
        here = numbered(names, self._brokers, NOWHERE)[brokers]
        by = numbered(clients, self._clients, NOWHERE)[peers]
        return (here >= 0) & (by >= 0) & (self._made_at[tos] == here) & (self._made_by[tos] == by)

    def asked_by(self, to: str, broker: str, peer: str) -> bool:
        """True if this client subscribed to this there, or one that the trace does not name. True as well if nothing of
        that id was made there, which is judged elsewhere."""
        places = [each.made for each in self._subs.get(to, ()) if (broker, to) in each.made]
        if any((broker, f"@{peer}") in made for made in places):
            self.askers.add((to, broker, peer))
            return True
        return not places or any((broker, "@") in made for made in places)

    def why_unwanted(self, came: Delivered, id: str, event: Event | None) -> str:
        """Returns why a delivery was not asked for; empty if unknown. `id` and `event`: the publication's."""
        to, whom = came.to, came.to.removeprefix("@")
        if to != whom:
            mine = self._of_client.get((came.broker, to), ())
            if not mine:
                return f"client {whom} made no subscription at {came.broker}"
            near = [] if event is None else nearly_match(map(self.subscription, mine), event)
            return "" if event is None or not near else does_not_match(near[0], id, event)
        here = [each for each in self._subs.get(to, ()) if (came.broker, to) in each.made]
        if not here:
            homes = sorted({broker for each in self._subs.get(to, ()) for broker, by in each.made if by == to})
            return f"{to} was made at {', '.join(homes)}" if homes else f"no client made a subscription {to}"
        if not any(each.made[came.broker, to] < came.seq for each in here):
            return f"{to} was made later, at seq {min(each.made[came.broker, to] for each in here)}"
        s = here[0].subscription
        if s is not None and event is not None and not s.filter.matches(event):
            return does_not_match(s, id, event)
        clients = sorted({by[1:] for each in here for broker, by in each.made if by.startswith("@")})
        if came.peer and came.peer not in clients:
            return f"{to} is a subscription of client {', '.join(clients)}, and the delivery went to client {came.peer}"
        return ""

    def standing(self, slots: Any, times: Any) -> Any:
        """Which of these subscriptions may have been there, each at its time."""
        return (self._since[slots] < times) & (times < self._until[slots])

    def wants(self, came: Delivered, matching: int) -> bool:
        """Did its broker's client ask for it before? `matching`: the slots of what matches, as a mask."""
        named = (came.to, "@") if came.to.startswith("@") else (came.to,)
        mine = (slot for to in named for slot in self._of_client.get((came.broker, to), ()))
        by_client = (self._of_slot[slot] for slot in mine if matching >> slot & 1)
        by = {(came.broker, f"@{came.peer}"), (came.broker, "@")}
        return any(
            each.subscription is not None
            and (came.to.startswith("@") or not by.isdisjoint(each.made))
            and min(each.made.get((came.broker, to), NEVER) for to in named) < came.seq
            and matching >> each.slot & 1
            for each in chain(self._subs.get(came.to, ()), by_client)
        )
