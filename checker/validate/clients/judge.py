"""Observations of one run's clients, judged: publications with their deliveries, each against what stood in its era.

They stand in a `Store`, in buckets by the id of the publication. Where there are several eras they are first divided
among these, bucket by bucket, so that neither ever has to be in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby, islice
from operator import itemgetter

import msgspec

from routeproof.checker.validate.clients.eras import Eras, OperationSource
from routeproof.checker.validate.clients.obligations import Obligations, Unwanted, by_first
from routeproof.checker.validate.clients.rows import (
    Block,
    Operation,
    believed,
    believed_block,
    block_of,
    divided,
    operations_of,
)
from routeproof.checker.validate.clock import Doubts
from routeproof.checker.validate.names import packed
from routeproof.checker.validate.rejection import Rejection, foremost
from routeproof.checker.validate.report import Extent, Open, Why
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import Key, Store
from routeproof.checker.validate.traffic import Traffic
from routeproof.model.filters import dialect
from routeproof.traces.messages import meanings_of

CLIENTS, SAID = "clients", "said"
"""In a store's key, after the run: before the bucket, and before the broker with whose clients' operations it goes."""

LOOKED_UP = 1 << 12
"""Batch sizes: unwanted deliveries, and operations among which they are looked up."""


def operations_said(store: Store, run: str, doubts: Mapping[str, Doubts]) -> list[Iterator[Operation]]:
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
) -> Iterator[Rejection]:
    """`told`: all operations of the run's clients. `traffic`: None if owed deliveries cannot be judged. `doubts`: about
    the times of brokers, those that have some. What was judged is added to `extent`.
    """
    yield from _ClientJudge(setting, run, told, traffic, store, doubts, extent).judge()


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
    ) -> None:
        self._doubts = doubts
        self._extent = extent
        self._unannounced: dict[str, Open] = {}
        self._run = run
        self._meanings = meanings_of(dialect(setting.dialect))
        self._shared_clock = setting.shared_clock
        self._traffic = traffic
        self._store = store
        self._buckets = store.under(run, CLIENTS)
        self._eras = Eras(run, told, store, timed=traffic is not None)
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

    def _block(self, data: bytes) -> Block:
        return believed_block(block_of(data), self._doubts)

    def _of_era(self, era: int, buckets: Iterable[Iterable[Block]]) -> Iterator[Rejection]:
        obligations = None
        for bucket in buckets:
            if obligations is None:
                obligations = self._obligations(self._eras.operations(era))
            found = list(obligations.judge(bucket))
            self._unwanted += (each for each in found if isinstance(each, Unwanted))
            yield from foremost(each for each in found if isinstance(each, Rejection))
            if self._eras.is_complete or len(self._unwanted) >= LOOKED_UP:
                yield from self._looked_up()
        for of, left in {} if obligations is None else obligations.unannounced.items():
            if of in self._unannounced:
                self._unannounced[of].add(left)
            else:
                self._unannounced[of] = left

    def _obligations(self, operations: Iterable[Operation]) -> Obligations:
        return Obligations(
            self._run, operations, self._meanings, self._traffic, self._extent, shared_clock=self._shared_clock
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

    def _divided(self, era: int) -> Iterator[Iterator[Block]]:
        """By bucket, what there is of each."""
        found: Iterator[tuple[int, bytes]] = map(msgspec.msgpack.decode, self._store.blocks(self._key(era)))
        for _, mine in groupby(found, itemgetter(0)):
            yield (self._block(data) for _, data in mine)

    def _key(self, era: int) -> Key:
        return self._run, "seen in era", str(era)

    def _looked_up(self) -> Iterator[Rejection]:
        """Deliveries that were unwanted in their era and are wanted by no other operation either."""
        left, self._unwanted = self._unwanted, []
        if not self._eras.is_complete:
            whom = {each.came.to for each in left}
            about = (o for o in self._eras.everything() if o.id in whom or f"@{o.client}" in whom)
            while left and (some := list(islice(about, LOOKED_UP))):
                known = self._obligations(some)
                left = [each for each in left if not known.wants(each)]
        yield from foremost(each.rejection for each in left)

    def _leave_unannounced(self) -> None:
        """An advertisement that an era does not have may have been made before it, or after."""
        made = set[str]()
        if self._unannounced and not self._eras.is_complete:
            made = {o.id for o in self._eras.everything() if o.kind == "advertise" and o.id in self._unannounced}
        for of, left in self._unannounced.items():
            why = Why.UNADVERTISED if of in made else Why.UNANNOUNCED
            self._extent.leave(why, left.count, left.first)
