"""Observations of one run's clients, judged: publications with their deliveries, each against what stood in its era.

At any one time only a small part stands of all that was ever announced. So `Eras` goes through the operations once, in
the order of the shared clock, and stores those about one id, from its announcement to its withdrawal, with every era
into which they reach. An era ends when as much was withdrawn in it as stood at its beginning, or a thousand: at most
twice of what there was is stored, and one era has about twice as much as stood at one time. Where nothing is withdrawn
there is one era. Without a shared clock there is one too, with as many first subscriptions as there is room for.

Publications stand in a `Store`, in buckets by id. Where there are several eras they are first divided among these,
bucket by bucket, so that neither ever has to be in memory as a whole. A delivery may be for a subscription that its era
does not have: one that was withdrawn long ago, or was made later. An unwanted delivery of an era is therefore looked up
among all operations.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from heapq import merge
from itertools import groupby, islice
from operator import itemgetter

import msgspec
import numpy as np
from attrs import define, evolve, field

from routeproof.checker.validate.clients import (
    ClientBlock,
    ClientOperation,
    believed,
    believed_block,
    block_of,
    divided,
    operation_of,
    operations_of,
    row_of,
)
from routeproof.checker.validate.clients.obligations import Obligations, Unwanted, by_first
from routeproof.checker.validate.clock import Doubts
from routeproof.checker.validate.findings import Rejection, foremost
from routeproof.checker.validate.readiness import Ways
from routeproof.checker.validate.report import Extent, OpenObligations, Why
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import Key, Store, packed
from routeproof.checker.validate.traffic import NO_ENDS, Ends, Traffic
from routeproof.model.filters import dialect
from routeproof.traces.messages import meanings_of

CLIENTS, SAID = "clients", "said"
"""In a store's key, after the run: before the bucket, and before the broker with whose clients' operations it goes."""

LOOKED_UP = 1 << 12
"""Batch sizes: unwanted deliveries, and operations among which they are looked up."""


def operations_said(store: Store, run: str, doubts: Mapping[str, Doubts]) -> list[Iterator[ClientOperation]]:
    """Returns each broker's, at times that can be relied on."""
    keys = store.under(run, SAID)
    return [map(partial(believed, doubts=doubts), operations_of(store.blocks(key))) for key in keys]


def judge_clients(
    setting: Setting,
    run: str,
    told: OperationSource,
    traffic: Traffic | None,
    store: Store,
    doubts: Mapping[str, Doubts],
    extent: Extent,
    ends: Ends = NO_ENDS,
    ways: Ways | None = None,
) -> Iterator[Rejection]:
    """`told`: all operations of the run's clients. `traffic`: None if times do not tell what is owed. `ways`: None if
    readiness is not judged link by link. `doubts`: about the times of brokers, those that have some. What was judged is
    added to `extent`.
    """
    yield from _ClientJudge(setting, run, told, traffic, store, doubts, extent, ends, ways).judge()


class _ClientJudge:
    def __init__(
        self,
        setting: Setting,
        run: str,
        told: OperationSource,
        traffic: Traffic | None,
        store: Store,
        doubts: Mapping[str, Doubts],
        extent: Extent,
        ends: Ends,
        ways: Ways | None,
    ) -> None:
        self._doubts, self._ends = doubts, ends
        self._extent = extent
        self._unannounced: dict[str, OpenObligations] = {}
        self._run = run
        self._meanings = meanings_of(dialect(setting.dialect))
        self._shared_clock, self._at_home = setting.shared_clock, setting.judging.at_home
        self._traffic = traffic
        self._store = store
        self._buckets = store.under(run, CLIENTS)
        self._eras = Eras(run, told, store, timed=traffic is not None, placed=ways is not None)
        self._ways = ways if self._eras.is_regular and (traffic is not None or self._eras.is_complete) else None
        if ways is not None and traffic is None and self._ways is None:
            many = f"clients did more than {MOST_UNTIMED:,} operations"
            why = "clients announce one id at two brokers" if self._eras.is_complete else many
            extent.note_unowed((run, f"{why}, and the brokers share no clock"))
        self._unwanted: list[Unwanted] = []

    def judge(self) -> Iterator[Rejection]:
        if len(self._eras) == 1:
            yield from self._of_era(0, (map(self._block, self._store.blocks(key)) for key in self._buckets))
        else:
            self._divide()
            for era in range(len(self._eras)):
                yield from self._of_era(era, self._divided(era))
        yield from self._looked_up()
        self._leave_unannounced()

    def _block(self, data: bytes) -> ClientBlock:
        return believed_block(block_of(data), self._doubts)

    def _of_era(self, era: int, buckets: Iterable[Iterable[ClientBlock]]) -> Iterator[Rejection]:
        obligations = None
        for bucket in buckets:
            if obligations is None:
                obligations = self._obligations(self._eras.operations(era))
            found = list(obligations.judge(bucket))
            self._unwanted += (each for each in found if isinstance(each, Unwanted))
            yield from foremost(each for each in found if isinstance(each, Rejection))
            if self._eras.is_complete or len(self._unwanted) >= LOOKED_UP:
                yield from self._looked_up(obligations)
        for of, left in {} if obligations is None else obligations.unannounced.items():
            if of in self._unannounced:
                self._unannounced[of].add(left)
            else:
                self._unannounced[of] = left

    def _obligations(self, operations: Iterable[ClientOperation]) -> Obligations:
        return Obligations(
            self._run,
            operations,
            self._meanings,
            self._traffic,
            self._extent,
            shared_clock=self._shared_clock,
            at_home=self._at_home,
            ends=self._ends,
            ways=self._ways,
        )

    def _divide(self) -> None:
        """All that there is of a publication goes to the era in which it was made first."""
        for number, key in enumerate(self._buckets):
            blocks = list(map(self._block, self._store.blocks(key)))
            places: dict[str, int] = {}
            for publication in by_first(blocks, shared_clock=self._shared_clock):
                places.setdefault(publication.id, self._eras.at(publication.at.time))
            for block in blocks:
                for era, data in divided(block, places, len(self._eras)):
                    self._store.put(self._key(era), packed((number, data)))

    def _divided(self, era: int) -> Iterator[Iterator[ClientBlock]]:
        """By bucket, what there is of each."""
        found: Iterator[tuple[int, bytes]] = map(msgspec.msgpack.decode, self._store.blocks(self._key(era)))
        for _, mine in groupby(found, itemgetter(0)):
            yield (self._block(data) for _, data in mine)

    def _key(self, era: int) -> Key:
        return self._run, "seen in era", str(era)

    def _looked_up(self, known: Obligations | None = None) -> Iterator[Rejection]:
        """Deliveries that were unwanted in their era and are wanted by no other operation either. `known`: has all
        operations if the only era has."""
        left, self._unwanted = self._unwanted, []
        if not self._eras.is_complete:
            about = self._operations_about(left)
            while left and (some := list(islice(about, LOOKED_UP))):
                known = self._obligations(some)
                left = [each for each in left if not known.wants(each)]
        of = {id(each.rejection): each for each in left}
        firsts = [of[id(each)] for each in foremost(each.rejection for each in left)]
        if firsts and not self._eras.is_complete:
            known = self._obligations(islice(self._operations_about(firsts), EXPLAINING))
        for each in firsts:
            assert known is not None, "where something was judged, there are operations"
            yield evolve(each.rejection, reason=known.reason(each))

    def _operations_about(self, unwanted: Iterable[Unwanted]) -> Iterator[ClientOperation]:
        whom = {each.came.to for each in unwanted}
        return (o for o in self._eras.everything() if o.id in whom or f"@{o.client}" in whom)

    def _leave_unannounced(self) -> None:
        """An advertisement that an era does not have may have been made before it, or after."""
        made = set[str]()
        if self._unannounced and not self._eras.is_complete:
            made = {o.id for o in self._eras.everything() if o.kind == "advertise" and o.id in self._unannounced}
        for of, left in self._unannounced.items():
            why = Why.UNADVERTISED if of in made else Why.UNANNOUNCED
            self._extent.leave(why, left.count, left.first)


# -- eras --------------------------------------------------------------------------------------------------------------

LEAST = 1 << 10
"""Withdrawals in an era, unless it is the last."""

MOST_UNTIMED = 1 << 16
"""Operations in the only era, where brokers share no clock."""

HELD = 1 << 10
"""Operations that wait before they are put into blocks."""

EXPLAINING = 1 << 16
"""Operations that may explain why deliveries were not asked for."""

OperationSource = Callable[[], Iterable[Iterator[ClientOperation]]]
"""Iterates over the operations of a run, each broker's in its order; may be iterated several times."""

_Key = tuple[bool, str]
"""Key of an announcement: whether it is a subscription, and the id."""


@define
class _Standing:
    """An announcement that is not withdrawn: the operations about it, and the era in which it began."""

    era: int
    operations: list[ClientOperation] = field(factory=list)

    @property
    def is_timed(self) -> bool:
        return all(each.at.time >= 0 for each in self.operations)

    def says(self, operation: ClientOperation) -> bool:
        """Was it announced in the same words, by the same client, since anything of it was withdrawn?"""
        withdrawn = max((each.moment for each in self.operations if each.withdraws), default=-2)
        return any(each.moment > withdrawn and _is_same(each, operation) for each in self.operations)


class Eras:
    """Eras of one run. `timed`: do the brokers share a clock? `placed`: are withdrawals and advertisements wanted also
    where they do not?"""

    def __init__(self, run: str, told: OperationSource, store: Store, *, timed: bool, placed: bool = False) -> None:
        self._run = run
        self._told = told
        self._store = store
        self._begins = [-1]
        """Beginning of each era."""
        self._standing: dict[_Key, _Standing] = {}
        self._stood = self._gone = 0
        """How many stood when the era began, and were withdrawn since."""
        self._moment = -1
        self._withdrawn: dict[_Key, list[ClientOperation]] = {}
        """At this moment: if an announcement elsewhere has the same time, their order is unknown."""
        self._waiting: dict[int, list[ClientOperation]] = {}
        self._held = 0
        self.is_complete = True
        """Does the only era have all there is?"""
        self._homes = array("q"), array("q")
        """Hashes of announced ids, and of these with their brokers."""
        if timed:
            self._cut()
        else:
            self._take_some(("subscribe",) if not placed else KINDS)
        self._flush()
        ids, places = (len(np.unique(np.frombuffer(each, np.int64))) for each in self._homes)
        self.is_regular = placed and ids == places
        """True if every subscription and every advertisement that was looked at was made at one broker only."""
        del self._homes

    def __len__(self) -> int:
        return len(self._begins)

    def at(self, time: int) -> int:
        """Returns the era of a moment; the first era if the moment is unknown."""
        return max(0, bisect_right(self._begins, time) - 1)

    def operations(self, era: int) -> Iterator[ClientOperation]:
        """All that reach into it, and others perhaps; those about one id in order."""
        for block in self._store.blocks(self._key(era)):
            yield from map(operation_of, msgspec.msgpack.decode(block))

    def everything(self) -> Iterator[ClientOperation]:
        """In any order."""
        for mine in self._told():
            yield from mine

    def _note_home(self, operation: ClientOperation) -> None:
        if not operation.withdraws:
            ids, places = self._homes
            ids.append(hash((operation.kind, operation.id)))
            places.append(hash((operation.kind, operation.id, operation.at.broker)))

    def _take_some(self, kinds: Collection[str]) -> None:
        operations = (each for each in self.everything() if each.kind in kinds)
        for operation in islice(operations, MOST_UNTIMED):
            self._note_home(operation)
            self._put([operation], 0)
        self.is_complete = next(operations, None) is None

    def _cut(self) -> None:
        for operation in merge(*map(_timed, self._told()), key=lambda each: (each.moment, each.at.broker)):
            if operation.moment > self._moment:
                self._moment, self._withdrawn = operation.moment, {}
                if self._gone >= max(LEAST, self._stood):
                    self._begins.append(operation.moment)
                    self._gone, self._stood = 0, len(self._standing)
                    self.is_complete = False
            self._note_home(operation)
            self._next(operation)
        for each in self._standing.values():
            self._put(each.operations, each.era)

    def _next(self, operation: ClientOperation) -> None:
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

    def _put(self, operations: list[ClientOperation], since: int) -> None:
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


KINDS = ("subscribe", "unsubscribe", "advertise", "unadvertise")


def _timed(operations: Iterator[ClientOperation]) -> Iterator[ClientOperation]:
    """Whatever a broker's clock says, its own order stands."""
    latest = -1
    for operation in operations:
        latest = max(latest, operation.at.time)
        yield operation._replace(moment=latest)


def _is_same(one: ClientOperation, other: ClientOperation) -> bool:
    """Do they announce the same in the same words, by the same client?"""
    return (one.kind, one.filter, one.client, one.at.broker) == (
        other.kind,
        other.filter,
        other.client,
        other.at.broker,
    )
