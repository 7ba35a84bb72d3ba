"""What clients did and got, as rows that can be set aside: operations, publications and deliveries.

Publications and their deliveries stand at different brokers. Both go into the bucket of the publication's id, so that
one bucket after the other, or many at once, can be judged (`obligations`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
import numpy as np
from attrs import frozen

from routeproof.checker.validate.meant import Meant
from routeproof.checker.validate.packing import packed

BUCKETS = 64
HELD = 1024
"""Rows that wait before they are put into blocks."""

OPERATIONS_HELD = 128
"""The same of operations: a block of each broker's is looked at side by side."""

OPERATIONS = -1
"""The bucket of what is not about a publication."""


class Place(NamedTuple):
    """An event of a client's: the broker, its seq, how many events the broker had before it, and its time or -1."""

    broker: str
    seq: int
    before: int
    time: int


@frozen
class Operation:
    """A client advertised, subscribed or withdrew. `filter`: as it was written. `moment`: when it counts as done by the
    clock that brokers share, not before what clients did at its broker before it; -1 without such a clock."""

    kind: str
    id: str
    filter: bytes
    client: str
    at: Place
    moment: int = -1

    @property
    def withdraws(self) -> bool:
        return self.kind in ("unsubscribe", "unadvertise")


def row_of(operation: Operation) -> tuple[Any, ...]:
    return operation.kind, operation.id, operation.filter, operation.client, *operation.at, operation.moment


def operation_of(row: list[Any]) -> Operation:
    kind, id, wants, client, *at, moment = row
    return Operation(kind, id, wants, client, Place(*at), moment)


@frozen
class Published:
    """`event`: attributes as they were written, or a number. `digest` is that of the message on links. `spoke`: when
    the client did, or -1."""

    id: str
    of: str
    event: bytes | int
    digest: int
    spoke: int
    at: Place


class Delivered(NamedTuple):
    """`to`: the subscription or, behind an @, the client."""

    to: str
    broker: str
    seq: int
    before: int
    time: int

    @property
    def at(self) -> Place:
        return Place(self.broker, self.seq, self.before, self.time)


COLUMNS = 5
PUBLICATION, TO, SEQ, BEFORE, TIME = range(COLUMNS)
"""The columns of deliveries. The first two are places in `ids` and `tos`."""


@frozen
class Deliveries:
    """There are many, so that they are columns: `columns` is an array of int64 with a row for each of these."""

    ids: list[str]
    tos: list[str]
    columns: Any

    def __iter__(self) -> Iterator[tuple[str, str, int, int, int]]:
        """A publication's id, to whom, seq, before, time."""
        for publication, to, seq, before, time in self.columns.T.tolist():
            yield self.ids[publication], self.tos[to], seq, before, time


class Block(NamedTuple):
    """What was set aside together."""

    broker: str
    operations: list[Operation]
    published: list[Published]
    delivered: Deliveries


class ClientRows:
    """Those of one part of a trace. Each waits as a tuple that ends with its seq, what came before it, and its time."""

    def __init__(self, broker: str) -> None:
        self._broker = broker
        self._operations: list[tuple[object, ...]] = []
        self._published: list[tuple[Any, ...]] = []
        self._ids: dict[str, int] = {}
        self._tos: dict[str, int] = {}
        self._delivered = array("q")
        """Columns of deliveries, row by row; the first two are places in the two above."""
        self._many: list[Deliveries] = []

    def delivered(self, id: str, to: str, seq: int, before: int, time: int) -> bool:
        """True when it is time to ask for `blocks`."""
        ids, tos = self._ids, self._tos
        self._delivered.extend((ids.setdefault(id, len(ids)), tos.setdefault(to, len(tos)), seq, before, time))
        return len(self._delivered) >= COLUMNS * HELD

    def came(self, many: Deliveries) -> None:
        """Many at once; it is time to ask for `blocks`."""
        self._many.append(many)

    def did(self, meant: Meant, client: str, seq: int, before: int, time: int, spoke: int) -> bool:
        """True when it is time to ask for `blocks`."""
        if meant.kind == "publish":
            return self.published(meant.id, meant.of, meant.written, meant.digest, spoke, seq, before, time)
        for item in meant.items:
            written = meant.written if isinstance(meant.written, bytes) else b""
            self._operations.append((meant.kind, item.of or item.id, written, client, seq, before, time))
        return len(self._operations) >= OPERATIONS_HELD

    def published(
        self, id: str, of: str, event: bytes | int, digest: int, spoke: int, seq: int, before: int, time: int
    ) -> bool:
        """True when it is time to ask for `blocks`."""
        self._published.append((id, of, event, digest, spoke, seq, before, time))
        return len(self._published) >= HELD

    def blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[int, bytes]]:
        """What waits, by bucket: if it is much, or all."""
        if self._operations and (all_of_them or len(self._operations) >= OPERATIONS_HELD):
            yield OPERATIONS, packed((self._broker, self._operations, [], None))
            self._operations = []
        waiting = max(len(self._published), len(self._delivered) // COLUMNS)
        if not self._many and waiting < (1 if all_of_them else HELD):
            return
        if self._delivered:
            columns = np.frombuffer(self._delivered, np.int64).reshape(-1, COLUMNS).T
            self._many.append(Deliveries(list(self._ids), list(self._tos), columns))
        published, many = self._published, self._many
        self._published, self._many = [], []
        self._ids, self._tos, self._delivered = {}, {}, array("q")
        buckets: dict[int, list[tuple[Any, ...]]] = {}
        for row in published:
            buckets.setdefault(bucket_of(row[0]), []).append(row)
        for deliveries in many:
            for bucket, some in _apart(deliveries, [bucket_of(id) for id in deliveries.ids], BUCKETS):
                yield bucket, packed((self._broker, [], buckets.pop(bucket, []), some))
        for bucket, those in buckets.items():
            yield bucket, packed((self._broker, [], those, None))


def bucket_of(id: str) -> int:
    return crc32(id.encode("utf-8", "surrogatepass")) % BUCKETS


def _apart(many: Deliveries, places: list[int], count: int) -> Iterator[tuple[int, tuple[list[str], list[str], bytes]]]:
    """Each place's, of so many places, with the names that are in it, and no others. `places`: of each publication."""
    buckets = np.array(places, np.int64)[many.columns[PUBLICATION]]
    order = np.argsort(buckets, kind="stable")
    buckets, columns = buckets[order], many.columns[:, order]
    names = []
    for row, known in ((PUBLICATION, many.ids), (TO, many.tos)):
        different, which = np.unique(buckets * len(known) + columns[row], return_inverse=True)
        firsts = np.searchsorted(different, np.arange(count + 1) * len(known))
        columns[row] = which - firsts[buckets]
        names.append(([known[n] for n in (different % len(known)).tolist()], firsts.tolist()))
    ends = np.searchsorted(buckets, np.arange(count + 1)).tolist()
    for bucket, (begin, end) in enumerate(pairwise(ends)):
        if begin < end:
            ids, tos = (known[firsts[bucket] : firsts[bucket + 1]] for known, firsts in names)
            yield bucket, (ids, tos, columns[:, begin:end].tobytes())


def divided(block: Block, place_of: Mapping[str, int], count: int) -> Iterator[tuple[int, bytes]]:
    """Publications with their deliveries, each to its place, of so many; those without one to the first."""
    published: dict[int, list[tuple[Any, ...]]] = {}
    for p in block.published:
        row = p.id, p.of, p.event, p.digest, p.spoke, *p.at[1:]
        published.setdefault(place_of.get(p.id, 0), []).append(row)
    for place, some in _apart(block.delivered, [place_of.get(id, 0) for id in block.delivered.ids], count):
        yield place, packed((block.broker, [], published.pop(place, []), some))
    for place, those in published.items():
        yield place, packed((block.broker, [], those, None))


def operations_of(blocks: Iterable[bytes]) -> Iterator[Operation]:
    for data in blocks:
        yield from block_of(data).operations


def block_of(data: bytes) -> Block:
    broker, operations, published, delivered = msgspec.msgpack.decode(data)
    ids, tos, columns = delivered or ([], [], b"")
    return Block(
        broker,
        [Operation(kind, id, wants, by, Place(broker, *at)) for kind, id, wants, by, *at in operations],
        [
            Published(id, of, event, digest, spoke, Place(broker, *at))
            for id, of, event, digest, spoke, *at in published
        ],
        Deliveries(ids, tos, np.frombuffer(columns, np.int64).reshape(COLUMNS, -1)),
    )
