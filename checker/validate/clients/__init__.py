"""Clients: what they do, in rows that can be set aside, and what they are owed.

This module has the rows: operations, publications and deliveries. Publications and their deliveries stand at different
brokers. Both go into the bucket of the publication's id, so that one bucket after the other, or many at once, can be
judged. All brokers' rows wait together to be put there. `judge` goes through a run era by era, `announced` knows what
stood when, and `obligations` compares what was owed with what came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, repeat
from struct import Struct as Row
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
import numpy as np
from attrs import Factory, define, frozen
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.checker.validate.clock import Doubts
from routeproof.checker.validate.link_rows import LATEST
from routeproof.checker.validate.store import packed

BUCKETS = 64
"""Number of buckets, where the size of the trace does not say it."""

HELD = 1 << 15
"""Rows that wait before they are put into blocks: some 70 bytes each."""

WITH_TEXT = 8
"""Rows for which a publication counts, which waits with its text."""

OPERATIONS_HELD = 128
"""Operations that wait before they are set aside: a block of each broker's is looked at side by side."""

OPERATIONS = -1
"""The bucket of what is not about a publication."""


class EventPlace(NamedTuple):
    """An event of a client's: the broker, its seq, how many events the broker had before it, and its time or -1."""

    broker: str
    seq: int
    before: int
    time: int


class ClientOperation(NamedTuple):
    """A client advertised, subscribed or withdrew. `filter`: as it was written. `moment`: when it counts as done by the
    clock that brokers share, not before what clients did at its broker before it; -1 without such a clock."""

    kind: str
    id: str
    filter: bytes
    client: str
    at: EventPlace
    moment: int = -1

    @property
    def withdraws(self) -> bool:
        return self.kind in ("unsubscribe", "unadvertise")


def row_of(operation: ClientOperation) -> tuple[Any, ...]:
    return operation.kind, operation.id, operation.filter, operation.client, *operation.at, operation.moment


def operation_of(row: list[Any]) -> ClientOperation:
    kind, id, wants, client, *at, moment = row
    return ClientOperation(kind, id, wants, client, EventPlace(*at), moment)


class Published(Struct, frozen=True):
    """`event`: attributes as they were written, or a number. `digest` is that of the message on links. `spoke`: when
    the client did, or -1. It was made at the time of its place, or later, where that is not
    believed: before `until`."""

    id: str
    of: str
    event: bytes | int
    digest: int
    spoke: int
    at: EventPlace
    until: int = -1

    def __post_init__(self) -> None:
        if self.until < 0:
            force_setattr(self, "until", self.at.time)


class Delivered(NamedTuple):
    """`to`: the subscription or, behind an @, the client. `peer`: the client."""

    to: str
    broker: str
    seq: int
    before: int
    time: int
    peer: str = ""
    content: int = 0
    """A digest of what was delivered; 0 where the delivery does not say."""

    @property
    def at(self) -> EventPlace:
        return EventPlace(self.broker, self.seq, self.before, self.time)


COLUMNS = 8
PUBLICATION, TO, BROKER, PEER, SEQ, BEFORE, TIME, CONTENT = range(COLUMNS)
"""The columns of deliveries. The first four are places in `ids`, `tos`, `brokers` and `peers`."""

PACKED = Row(f"={COLUMNS}q").pack
"""The bytes of one row of them."""


@frozen
class Deliveries:
    """There are many, so that they are columns: `columns` is an array of int64 with a row for each of these."""

    ids: list[str]
    tos: list[str]
    brokers: list[str]
    peers: list[str]
    columns: Any

    def __iter__(self) -> Iterator[tuple[str, Delivered]]:
        """Each with its publication's id."""
        for publication, to, broker, peer, seq, before, time, content in self.columns.T.tolist():
            whom = self.tos[to], self.brokers[broker]
            yield self.ids[publication], Delivered(*whom, seq, before, time, self.peers[peer], content)


def numbered(names: Sequence[str], numbers: Mapping[str, int], missing: int) -> Any:
    """Returns the number of each name, or another where it has none."""
    return np.fromiter(map(numbers.get, names, repeat(missing)), np.int64, len(names))


def joined(many: Sequence[Deliveries]) -> Deliveries:
    """All in one, each name once."""
    if len(many) < 2:
        return many[0] if many else Deliveries([], [], [], [], np.empty((COLUMNS, 0), np.int64))
    columns = np.concatenate([each.columns for each in many], axis=1)
    sizes, names = [each.columns.shape[1] for each in many], list[list[str]]()
    for row, lists in enumerate(zip(*((each.ids, each.tos, each.brokers, each.peers) for each in many), strict=True)):
        known: dict[str, int] = {}
        numbers = np.array([known.setdefault(name, len(known)) for name in chain.from_iterable(lists)], np.int64)
        firsts = np.cumsum([0, *map(len, lists[:-1])])
        columns[row] = numbers[columns[row] + np.repeat(firsts, sizes)]
        names.append(list(known))
    ids, tos, brokers, peers = names
    return Deliveries(ids, tos, brokers, peers, columns)


class ClientBlock(NamedTuple):
    """Rows that were set aside together."""

    operations: list[ClientOperation]
    published: list[Published]
    delivered: Deliveries


class OperationRows:
    """Operations of one broker's clients. Each waits as a tuple that ends with its place."""

    def __init__(self, broker: str) -> None:
        self._broker = broker
        self._rows: list[tuple[object, ...]] = []

    def did(self, meant: MessageMeaning, client: str, seq: int, before: int, time: int) -> bool:
        """True when it is time to ask for `blocks`."""
        for item in meant.items:
            written = meant.written if isinstance(meant.written, bytes) else b""
            place = self._broker, seq, before, time
            self._rows.append((meant.kind, item.of or item.id, written, client, *place))
        return len(self._rows) >= OPERATIONS_HELD

    def stood(self, kind: str, id: str, wants: bytes, place: EventPlace) -> None:
        """Takes what an unknown client had announced before the first event."""
        self._rows.append((kind, id, wants, "", *place))

    def blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[int, bytes]]:
        """Blocks of the waiting rows: if there are many, or all."""
        if self._rows and (all_of_them or len(self._rows) >= OPERATIONS_HELD):
            yield OPERATIONS, packed((self._rows, [], None))
            self._rows = []


@define
class _OneByOne:
    """Deliveries that wait. `columns`: row by row; the first four are places in the four dictionaries."""

    ids: dict[str, int] = Factory(dict)
    tos: dict[str, int] = Factory(dict)
    brokers: dict[str, int] = Factory(dict)
    peers: dict[str, int] = Factory(dict)
    columns: bytearray = Factory(bytearray)

    def deliveries(self) -> Deliveries:
        names = list(self.ids), list(self.tos), list(self.brokers), list(self.peers)
        return Deliveries(*names, np.frombuffer(self.columns, np.int64).reshape(-1, COLUMNS).T)


class ClientRows:
    """Publications and deliveries of one run, at any of its brokers, for so many buckets."""

    def __init__(self, buckets: int = BUCKETS) -> None:
        self._buckets = buckets
        self._published: list[tuple[Any, ...]] = []
        self._came: list[Deliveries] = []
        self._one_by_one = _OneByOne()
        """Deliveries after all that came together."""
        self._size = 0

    @property
    def is_much(self) -> bool:
        """Is it time to ask for `blocks`?"""
        return self._size >= HELD

    def delivered(
        self, meant: MessageMeaning, to: str, peer: str, broker: str, seq: int, before: int, time: int
    ) -> bool:
        """True when it is time to ask for `blocks`."""
        waiting = self._one_by_one
        ids, tos, brokers, peers = waiting.ids, waiting.tos, waiting.brokers, waiting.peers
        publication = ids.setdefault(meant.id, len(ids))
        whom, by = tos.setdefault(to, len(tos)), peers.setdefault(peer, len(peers))
        where = brokers.setdefault(broker, len(brokers))
        waiting.columns += PACKED(publication, whom, where, by, seq, before, time, meant.content)
        self._size += 1
        return self._size >= HELD

    def came(self, many: Deliveries) -> None:
        """Many at once."""
        self._together()
        self._came.append(_with_its_names(many, many.columns.copy()))
        self._size += many.columns.shape[1]

    def _together(self) -> None:
        if self._one_by_one.columns:
            self._came.append(self._one_by_one.deliveries())
            self._one_by_one = _OneByOne()

    def published(self, row: Published) -> bool:
        """True when it is time to ask for `blocks`."""
        self._published.append((row.id, row.of, row.event, row.digest, row.spoke, *row.at))
        self._size += WITH_TEXT
        return self._size >= HELD

    def blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[int, bytes]]:
        """Blocks of the waiting rows, by bucket: if there are many, or all."""
        if not (self._size and (all_of_them or self.is_much)):
            return
        self._together()
        published, came = self._published, joined(self._came)
        self._published, self._came, self._size = [], [], 0
        buckets: dict[int, list[tuple[Any, ...]]] = {}
        for row in published:
            buckets.setdefault(bucket_of(row[0], self._buckets), []).append(row)
        for bucket, some in _apart(came, [bucket_of(id, self._buckets) for id in came.ids], self._buckets):
            yield bucket, packed(([], buckets.pop(bucket, []), some))
        for bucket, those in buckets.items():
            yield bucket, packed(([], those, None))


def bucket_of(id: str, buckets: int = BUCKETS) -> int:
    return crc32(id.encode("utf-8", "surrogatepass")) % buckets


def _with_its_names(many: Deliveries, columns: Any) -> Deliveries:
    """Some of these, with the names that are in their columns, and no others; the columns are changed."""
    names = []
    for row, known in ((PUBLICATION, many.ids), (TO, many.tos), (BROKER, many.brokers), (PEER, many.peers)):
        is_used = np.zeros(len(known), np.bool_)
        is_used[columns[row]] = True
        columns[row] = (np.cumsum(is_used) - 1)[columns[row]]
        names.append([known[n] for n in np.flatnonzero(is_used).tolist()])
    ids, tos, brokers, peers = names
    return Deliveries(ids, tos, brokers, peers, columns)


def _apart(many: Deliveries, places: list[int], count: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Deliveries of each place, of so many places. `places`: of each publication."""
    mine = np.array(places, np.min_scalar_type(count))[many.columns[PUBLICATION]]  # small numbers are sorted faster
    order = np.argsort(mine, kind="stable")
    ends = np.searchsorted(mine[order], np.arange(count + 1)).tolist()
    for place, (begin, end) in enumerate(pairwise(ends)):
        if begin < end:
            each = _with_its_names(many, many.columns[:, order[begin:end]])
            yield place, (each.ids, each.tos, each.brokers, each.peers, each.columns.tobytes())


def divided(block: ClientBlock, place_of: Mapping[str, int], count: int) -> Iterator[tuple[int, bytes]]:
    """Publications with their deliveries, each to its place, of so many; those without one to the first."""
    published: dict[int, list[tuple[Any, ...]]] = {}
    for p in block.published:
        row = p.id, p.of, p.event, p.digest, p.spoke, *p.at
        published.setdefault(place_of.get(p.id, 0), []).append(row)
    for place, some in _apart(block.delivered, [place_of.get(id, 0) for id in block.delivered.ids], count):
        yield place, packed(([], published.pop(place, []), some))
    for place, those in published.items():
        yield place, packed(([], those, None))


def believed(operation: ClientOperation, doubts: Mapping[str, Doubts]) -> ClientOperation:
    """Returns the operation at a time that can be relied on: announced by then, or not withdrawn before."""
    mine = doubts.get(operation.at.broker)
    if mine is None:
        return operation
    low, high = mine.bounds(operation.at.before, operation.at.time)
    time = max(0, low) if operation.withdraws else high
    return operation._replace(at=operation.at._replace(time=time))


def believed_block(block: ClientBlock, doubts: Mapping[str, Doubts]) -> ClientBlock:
    """Returns the block with publications that were made between two times, where that is all that can be relied on."""
    if not any(each.at.broker in doubts for each in block.published):
        return block
    return block._replace(published=[_between(each, doubts) for each in block.published])


def _between(publication: Published, doubts: Mapping[str, Doubts]) -> Published:
    at, mine = publication.at, doubts.get(publication.at.broker)
    if mine is None:
        return publication
    low, high = mine.bounds(at.before, at.time)
    return replace(publication, at=at._replace(time=low), until=LATEST if high < 0 else high)


def operations_of(blocks: Iterable[bytes]) -> Iterator[ClientOperation]:
    for data in blocks:
        yield from block_of(data).operations


def block_of(data: bytes) -> ClientBlock:
    operations, published, delivered = msgspec.msgpack.decode(data)
    ids, tos, brokers, peers, columns = delivered or ([], [], [], [], b"")
    return ClientBlock(
        [ClientOperation(kind, id, wants, by, EventPlace(*at)) for kind, id, wants, by, *at in operations],
        [Published(id, of, event, digest, spoke, EventPlace(*at)) for id, of, event, digest, spoke, *at in published],
        Deliveries(ids, tos, brokers, peers, np.frombuffer(columns, np.int64).reshape(COLUMNS, -1)),
    )
