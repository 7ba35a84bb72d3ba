"""What clients of one run announced and withdrew, as far as some of their operations go: from when until when each
subscription and advertisement was there, and where it was made.

Each subscription has a slot, a number. One that was announced again in other words is another one of the same id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from attrs import define, field
from msgspec import Raw

from routeproof.checker.validate.clients import Delivered, Operation, Published
from routeproof.checker.validate.naming import natural
from routeproof.checker.validate.replica.bits import numbers_of
from routeproof.checker.validate.replica.register import Register
from routeproof.checker.validate.traffic import Traffic
from routeproof.model.filters import Event
from routeproof.model.messages import Subscription
from routeproof.traces.meanings import Meanings

EVERY = -1
"""As a mask: all slots stay in use."""

NOBODY = 0
"""As a number: no subscription that is known."""

NOWHERE, SEVERAL = -1, -2
"""As a broker's number: it was made at none, or at more than one."""

NEVER = (1 << 63) - 1
"""As a seq or a time: after all others."""


@define
class Period:
    """From a subscription or an advertisement to its withdrawal, which may never come. `clients`: who made it, and
    made it again. It began at -1 where nobody knows when."""

    begin: int
    clients: set[str]
    ready_by: int
    end: int | None = None


@define
class _Entry:
    """What went by one id, with its periods. `made`: where it was announced, its first seq at that broker: by the id,
    and by the client who made it, as deliveries name them."""

    subscription: Subscription | None
    periods: list[Period] = field(factory=list)
    made: dict[tuple[str, str], int] = field(factory=dict)


class Announced:
    """`traffic` is None where nobody knows when what was announced had come everywhere.

    `numbers` has a number for each id of a subscription, from 1 on; `number_of_slot` that of a slot's id."""

    def __init__(self, operations: Iterable[Operation], meanings: Meanings, traffic: Traffic | None) -> None:
        self._meanings = meanings
        self._traffic = traffic
        self._slots = Register[Subscription](lambda s: s.filter, lambda: EVERY)
        self._subs: dict[str, list[_Entry]] = {}
        self._advs: dict[str, list[_Entry]] = {}
        self._of: dict[Subscription, _Entry] = {}
        self._of_client: dict[tuple[str, str], int] = {}
        """By broker and client, as deliveries name it, the slots of what the client subscribed to there."""
        said = sorted(operations, key=lambda o: (o.moment, natural(o.at.broker), o.at.seq))
        self._timeless = {each.id for each in said if each.at.time < 0}
        """Ids of which something was said without a time: nobody knows when they were there."""
        self._withdrawn_now: tuple[int, set[tuple[str, str, str]]] = -1, set()
        """As of the moment that is looked at, what was withdrawn and where."""
        for operation in said:
            self._announce(operation)
        self.numbers: Mapping[str, int] = {id: number for number, id in enumerate(self._subs, 1)}
        slots = sum(map(len, self._subs.values()))
        self.number_of_slot = np.array([self.numbers[self.subscription(slot).id] for slot in range(slots)], np.int64)
        lasting = [self._of[self.subscription(slot)].periods for slot in range(slots)]
        self._since = np.array([min(p.begin for p in those) for those in lasting], np.int64)
        self._until = np.array([max(NEVER if p.end is None else p.end for p in those) for those in lasting], np.int64)
        """By slot, when there was such a subscription: never before, and never after."""
        self._brokers: dict[str, int] = {}
        made = [self._made(id, entries) for id, entries in self._subs.items()]
        self._made_at = np.array([NOWHERE, *(at for at, _ in made)], np.int64)
        self._made_since = np.array([NEVER, *(since for _, since in made)], np.int64)
        """By number, at which broker it was made, and from which seq on it was there."""

    def _made(self, id: str, entries: list[_Entry]) -> tuple[int, int]:
        places = [(broker, seq) for each in entries for (broker, by), seq in each.made.items() if by == id]
        if len({broker for broker, _ in places}) != 1:
            return (SEVERAL if places else NOWHERE), NEVER
        broker, since = min(places)
        return self._brokers.setdefault(broker, len(self._brokers)), since

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
        period = Period(
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

    def _entry(self, entries: list[_Entry], operation: Operation) -> _Entry:
        """Announced again in the same words, it is the same."""
        wanted = None
        if operation.kind == "subscribe":
            wanted = Subscription(0, operation.id, self._meanings.filter(Raw(operation.filter)))
        found = next((each for each in entries if each.subscription == wanted), None)
        if found is None:
            found = _Entry(wanted)
            entries.append(found)
            if wanted is not None:
                self._of[wanted] = found
        return found

    def subscription(self, slot: int) -> Subscription:
        return self._slots.item(slot)

    def matching(self, event: Event) -> list[int]:
        """The slots of the subscriptions that match."""
        return self._slots.matching_once(event)

    def periods(self, subscription: Subscription) -> list[Period]:
        return self._of[subscription].periods

    def advertised_by(self, publication: Published) -> int | None:
        """When its advertisement was known everywhere; None where it was not. Without one, always."""
        if not publication.of:
            return -1
        time = publication.at.time
        periods = [p for each in self._advs.get(publication.of, ()) for p in each.periods]
        return next((p.ready_by for p in periods if 0 <= p.begin < time and (p.end is None or p.end > time)), None)

    def made_by(self, tos: Any, brokers: Any, names: Sequence[str]) -> Any:
        """Of each that something came to, and the broker where: from which seq on that can be. All by number, brokers
        by their places among `names`. What names a client is let pass: clients are asked one by one."""
        here = np.array([self._brokers.get(name, NOWHERE) for name in names], np.int64)[brokers]
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

    def standing(self, slots: Any, times: Any) -> Any:
        """Which of these subscriptions may have been there, each at its time."""
        return (self._since[slots] < times) & (times < self._until[slots])

    def wants(self, came: Delivered, matching: int) -> bool:
        """Did its broker's client ask for it before? `matching`: the slots of what matches, as a mask."""
        mine = self._of_client.get((came.broker, came.to), 0)
        by_client = (self._of[self._slots.item(slot)] for slot in numbers_of(mine & matching))
        return any(
            each.subscription is not None
            and each.made.get((came.broker, came.to), NEVER) < came.seq
            and matching >> self._slots.number(each.subscription) & 1
            for each in chain(self._subs.get(came.to, ()), by_client)
        )
