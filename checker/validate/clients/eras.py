"""Eras: the clients' announcements and withdrawals, cut into stretches of time.

At any one time only a small part stands of all that was ever announced. So operations are gone through once, in
the order of the clock that brokers share, and those about one id, from its announcement to its withdrawal, are put
aside with every era into which they reach. What was owed of a publication is found among those of its era.

An era ends when as much was withdrawn in it as stood at its beginning, or a thousand: so what is put aside is twice as
much as there was, at most, and one era has about twice as much as stood at one time. Where nothing is withdrawn there
is one. Without such a clock the standing operations are unknown, and there is one too, with the first subscriptions, as
many as there is room for.

A delivery may be for a subscription that its era has not: one that was withdrawn long ago, or was made later. So what
an era finds unwanted is looked up among all operations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import islice

import msgspec
from attrs import define, evolve, field

from routeproof.checker.validate.clients.rows import Operation, operation_of, row_of
from routeproof.checker.validate.names import packed
from routeproof.checker.validate.store import Store

LEAST = 1 << 10
"""Withdrawals in an era, unless it is the last."""

MOST_UNTIMED = 1 << 16
"""Subscriptions in the only era, where brokers share no clock."""

HELD = 1 << 10
"""Operations that wait before they are put into blocks."""

OperationSource = Callable[[], Iterable[Iterator[Operation]]]
"""Iterates over the operations of a run, each broker's in its order; may be iterated several times."""

_Key = tuple[bool, str]
"""Key of an announcement: whether it is a subscription, and the id."""


@define
class _Standing:
    """An announcement that is not withdrawn: the operations about it, and the era in which it began."""

    era: int
    operations: list[Operation] = field(factory=list)

    @property
    def is_timed(self) -> bool:
        return all(each.at.time >= 0 for each in self.operations)

    def says(self, operation: Operation) -> bool:
        """Was it announced in the same words, by the same client, since anything of it was withdrawn?"""
        withdrawn = max((each.moment for each in self.operations if each.withdraws), default=-2)
        return any(each.moment > withdrawn and _is_same(each, operation) for each in self.operations)


class Eras:
    """Eras of one run. `timed`: do the brokers share a clock?"""

    def __init__(self, run: str, told: OperationSource, store: Store, *, timed: bool) -> None:
        self._run = run
        self._told = told
        self._store = store
        self._begins = [-1]
        """Beginning of each era."""
        self._standing: dict[_Key, _Standing] = {}
        self._stood = self._gone = 0
        """How many stood when the era began, and were withdrawn since."""
        self._moment = -1
        self._withdrawn: dict[_Key, list[Operation]] = {}
        """At this moment: if an announcement elsewhere has the same time, their order is unknown."""
        self._waiting: dict[int, list[Operation]] = {}
        self._held = 0
        self.is_complete = True
        """Does the only era have all there is?"""
        if timed:
            self._cut()
        else:
            self._take_some()
        self._flush()

    def __len__(self) -> int:
        return len(self._begins)

    def at(self, time: int) -> int:
        """Returns the era of a moment; the first era if the moment is unknown."""
        return max(0, bisect_right(self._begins, time) - 1)

    def operations(self, era: int) -> Iterator[Operation]:
        """All that reach into it, and others perhaps; those about one id in order."""
        for block in self._store.blocks(self._key(era)):
            yield from map(operation_of, msgspec.msgpack.decode(block))

    def everything(self) -> Iterator[Operation]:
        """In any order."""
        for mine in self._told():
            yield from mine

    def _take_some(self) -> None:
        subscriptions = (each for each in self.everything() if each.kind == "subscribe")
        for operation in islice(subscriptions, MOST_UNTIMED):
            self._put([operation], 0)
        self.is_complete = next(subscriptions, None) is None

    def _cut(self) -> None:
        for operation in merge(*map(_timed, self._told()), key=lambda each: (each.moment, each.at.broker)):
            if operation.moment > self._moment:
                self._moment, self._withdrawn = operation.moment, {}
                if self._gone >= max(LEAST, self._stood):
                    self._begins.append(operation.moment)
                    self._gone, self._stood = 0, len(self._standing)
                    self.is_complete = False
            self._next(operation)
        for each in self._standing.values():
            self._put(each.operations, each.era)

    def _next(self, operation: Operation) -> None:
        key = operation.kind in ("subscribe", "unsubscribe"), operation.id
        is_timed = operation.at.time >= 0
        known = self._standing.get(key)
        if known is None:
            if operation.withdraws and is_timed:
                self._withdrawn.setdefault(key, []).append(operation)
                return
            known = self._standing[key] = _Standing(len(self._begins) - 1, [*self._withdrawn.get(key, ())])
        if not is_timed:
            known.era = 0  # the time is unknown
        if operation.withdraws:
            self._withdrawn.setdefault(key, []).append(operation)
            known.operations.append(operation)
            if known.is_timed:
                self._gone += 1
                del self._standing[key]
                self._put(known.operations, known.era)
        elif not known.says(operation):
            known.operations.append(operation)

    def _put(self, operations: list[Operation], since: int) -> None:
        """With all eras from that on to the present one."""
        for era in range(since, len(self._begins)):
            self._waiting.setdefault(era, []).extend(operations)
            self._held += len(operations)
            if self._held >= HELD:
                self._flush()

    def _flush(self) -> None:
        for era, some in self._waiting.items():
            self._store.put(self._key(era), packed(list(map(row_of, some))))
        self._waiting, self._held = {}, 0

    def _key(self, era: int) -> tuple[str, str, str]:
        return self._run, "era", str(era)


def _timed(operations: Iterator[Operation]) -> Iterator[Operation]:
    """Whatever a broker's clock says, its own order stands."""
    latest = -1
    for operation in operations:
        latest = max(latest, operation.at.time)
        yield evolve(operation, moment=latest)


def _is_same(one: Operation, other: Operation) -> bool:
    """Do they announce the same in the same words, by the same client?"""
    return (one.kind, one.filter, one.client, one.at.broker) == (
        other.kind,
        other.filter,
        other.client,
        other.at.broker,
    )
