"""The publications of one bucket, joined by id, and what their publishers' totals gain by them.

Bit D of a broker's vector is 1 where the D-th publication was delivered there (GRP-3). The vectors of a publisher's
publications are united along the tree in both directions (GRP-9), and the number of their ones is added up: for each
directed edge, the publications that would have to cross it. Sums of whole numbers are the same in any order, so no
answer depends on how a trace is cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np
from attrs import frozen
from msgspec import Struct

from routeproof.checker.placement.events import DELIVERED, NO_TIME, PUBLISHED, RECEIVED, UNKNOWN
from routeproof.checker.placement.overlay import Column, Frame
from routeproof.checker.placement.reading import decode, hashed

LATEST = 100
"""Publications of a publisher that POP traces before it asks where to go (POP-6), the last ones of the run."""

CELLS = 1 << 24
"""Cells of a table of brokers and publications that is made at once."""

LONGEST = 1 << 50
"""Nanoseconds of a delay that is believed: thirteen days."""

HALF = 24
"""Low bits of a delay. High and low bits are added up separately, so that no sum overflows."""

PublisherKey = tuple[bytes, bytes, int]
"""Run, publisher and broker at which it published: a publisher that published at two brokers counts as two."""


class Totals(Struct, array_like=True, tag=True):
    """Sums over publications of some publishers, as columns of bytes.

    `entry` is a broker's number for deliveries there, or that plus the number of brokers for `down`, plus twice for
    `up`; then come publications that were delivered anywhere, and all publications.
    """

    keys: list[PublisherKey]
    publisher: bytes
    entry: bytes
    value: bytes
    latest: tuple[bytes, bytes, bytes, bytes] = (b"", b"", b"", b"")
    """Deliveries of each publisher's latest publications: publisher, seq, broker (or -1) and how many."""


class DelaySums(Struct, array_like=True, tag=True):
    """Sums of delays of a run. `entry`: as for `Totals`, a broker's number for delays to clients there."""

    run: bytes
    entry: bytes
    high: bytes
    low: bytes
    count: bytes


class Remarks(Struct, array_like=True, tag=True):
    """Counts of what was left out."""

    published: int = 0
    delivered: int = 0
    repeated: int = 0
    """Publications whose id was used before."""
    unpublished: int = 0
    """Deliveries of a publication that no client made in this trace."""

    def add(self, other: Remarks) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


Found: TypeAlias = Totals | DelaySums | Remarks


def join(frame: Frame, blocks: Sequence[bytes], buckets: int) -> Iterator[tuple[int, Found]]:
    """Yields totals with the bucket of their publishers, then delays and remarks, under `UNKNOWN`."""
    import pyarrow as pa

    bucket = _Bucket(frame, pa.concat_tables([decode(each) for each in blocks]).combine_chunks())
    for totals in bucket.totals():
        yield from _by_bucket(totals, buckets)
    if frame.shared_clock:
        for delays in bucket.delays():
            yield UNKNOWN, delays
    yield UNKNOWN, bucket.remarks


def bytes_of(column: Column) -> bytes:
    return bytes(np.ascontiguousarray(column, np.int64).tobytes())


def column_of(data: bytes) -> Column:
    return np.frombuffer(data, np.int64)


def _by_bucket(totals: Totals, buckets: int) -> Iterator[tuple[int, Totals]]:
    import pyarrow as pa

    keys = [run + b"\0" + who + b"\0%d" % home for run, who, home in totals.keys]
    bucket = hashed(pa.array(keys, pa.large_binary()), buckets)
    publisher, entry, value = map(column_of, (totals.publisher, totals.entry, totals.value))
    latest = [column_of(each) for each in totals.latest]
    for number in np.unique(bucket).tolist():
        (mine,) = np.nonzero(bucket == number)
        local = np.full(len(keys), UNKNOWN, np.int64)
        local[mine] = np.arange(len(mine))
        rows, late = local[publisher] >= 0, local[latest[0]] >= 0
        of_mine = (local[publisher[rows]], entry[rows], value[rows])
        late_of_mine = (local[latest[0][late]], *(each[late] for each in latest[1:]))
        yield number, _totals_of([totals.keys[at] for at in mine.tolist()], of_mine, late_of_mine)


def _totals_of(keys: list[PublisherKey], sums: tuple[Column, ...], latest: tuple[Column, ...]) -> Totals:
    publisher, entry, value = map(bytes_of, sums)
    owner, seq, broker, count = map(bytes_of, latest)
    return Totals(keys, publisher, entry, value, (owner, seq, broker, count))


class _Bucket:
    def __init__(self, frame: Frame, table: Any) -> None:
        self._frame = frame
        self._columns = {n: table.column(n).to_numpy() for n in ("kind", "broker", "near", "seq", "time")}
        self._runs, run = _coded(table.column("run"))
        self._names, who = _coded(table.column("who"))
        _, id = _coded(table.column("id"))
        kind, broker = self._columns["kind"], self._columns["broker"]
        keys, self._key = np.unique(run * (int(id.max()) + 1) + id, return_inverse=True)
        made = np.nonzero(kind == PUBLISHED)[0]
        in_order = made[np.lexsort((self._columns["seq"][made], broker[made], self._key[made]))]
        _, firsts = np.unique(self._key[in_order], return_index=True)
        self._made = in_order[firsts]
        """The row of each publication. Where an id is used twice, the first by broker and seq."""
        self._of_key = np.full(len(keys), UNKNOWN, np.int64)
        self._of_key[self._key[self._made]] = np.arange(len(self._made))
        self._run = run
        brokers = len(frame)
        publishers = (run[self._made] * (int(who.max()) + 1) + who[self._made]) * brokers + broker[self._made]
        different, self._publisher = np.unique(publishers, return_inverse=True)
        one_of = np.zeros(len(different), np.int64)
        one_of[self._publisher] = self._made
        self._publishers: list[PublisherKey] = [
            (self._runs[run[row]], self._names[who[row]], int(broker[row])) for row in one_of.tolist()
        ]
        delivered = np.nonzero(kind == DELIVERED)[0]
        self._deliveries = delivered[self._of_key[self._key[delivered]] >= 0]
        self.remarks = Remarks(
            len(self._made), len(self._deliveries), len(made) - len(self._made), len(delivered) - len(self._deliveries)
        )

    def totals(self) -> Iterator[Totals]:
        """Totals of some publications at a time, each publisher's together."""
        brokers = len(self._frame)
        by_publisher = np.argsort(self._publisher, kind="stable")
        at_broker = self._columns["broker"][self._deliveries].astype(np.int64)
        place = np.empty(len(self._made), np.int64)
        place[by_publisher] = np.arange(len(self._made))
        cell = place[self._of_key[self._key[self._deliveries]]] * brokers + at_broker
        cells, counts = np.unique(cell, return_counts=True)
        step = max(1, CELLS // brokers)
        for begin in range(0, len(by_publisher), step):
            some = by_publisher[begin : begin + step]
            left, right = np.searchsorted(cells, (begin * brokers, (begin + len(some)) * brokers))
            publication, broker = np.divmod(cells[left:right] - begin * brokers, brokers)
            yield self._totals(some, _Cells(publication, broker, counts[left:right]))

    def _totals(self, some: Column, cells: _Cells) -> Totals:
        mine, publisher = np.unique(self._publisher[some], return_inverse=True)
        entries = _entries(self._frame, publisher, len(mine), cells)
        who, entry = np.nonzero(entries)
        latest = _latest(publisher, self._columns["seq"][self._made[some]], cells)
        return _totals_of([self._publishers[at] for at in mine.tolist()], (who, entry, entries[who, entry]), latest)

    # -- delays --------------------------------------------------------------------------------------------------------

    def delays(self) -> Iterator[DelaySums]:
        """Delays of each run: from when a broker had a publication to when its neighbour, or a client, had it."""
        kind, broker, near, time = (self._columns[n] for n in ("kind", "broker", "near", "time"))
        brokers, parents = len(self._frame), self._frame.parent_array()
        known = self._of_key[self._key] >= 0
        arrived = np.zeros(len(kind), bool)
        arrived[self._made] = True
        (there,) = np.nonzero(known & (time != NO_TIME) & (arrived | ((kind == RECEIVED) & (near >= 0))))
        place = self._key * brokers + broker
        there = there[np.lexsort((time[there], place[there]))]
        places, firsts = np.unique(place[there], return_index=True)
        there = there[firsts]
        (received,) = np.nonzero(kind[there] == RECEIVED)
        received = there[received]
        came, at = near[received].astype(np.int64), broker[received].astype(np.int64)
        is_down = parents[at] == came
        joined = is_down | (parents[came] == at)
        received, came, at, is_down = (each[joined] for each in (received, came, at, is_down))
        (given,) = np.nonzero(known & (kind == DELIVERED) & (time != NO_TIME))
        rows = np.concatenate([received, given])
        before = np.concatenate([self._key[received] * brokers + came, place[given]])
        entry = np.concatenate([np.where(is_down, brokers + at, 2 * brokers + came), broker[given].astype(np.int64)])
        if not len(rows) or not len(places):
            return
        found = np.minimum(np.searchsorted(places, before), len(places) - 1)
        delay = time[rows] - time[there[found]]
        well = (places[found] == before) & (delay >= 0) & (delay < LONGEST)
        yield from self._sums(self._run[rows[well]], entry[well], delay[well])

    def _sums(self, run: Column, entry: Column, delay: Column) -> Iterator[DelaySums]:
        for number in np.unique(run).tolist():
            mine = run == number
            entries, which = np.unique(entry[mine], return_inverse=True)
            high, low = delay[mine] >> HALF, delay[mine] & ((1 << HALF) - 1)
            sums = [np.bincount(which, weights).astype(np.int64) for weights in (high, low)]  # exact: below 2 ** 53
            yield DelaySums(self._runs[number], *map(bytes_of, (entries, *sums, np.bincount(which))))


def _coded(column: Any) -> tuple[list[bytes], Column]:
    """The different texts of a column, and the number of each row's."""
    array = column.combine_chunks().dictionary_encode()
    if hasattr(array, "combine_chunks"):
        array = array.combine_chunks()
    return array.dictionary.to_pylist(), array.indices.to_numpy(zero_copy_only=False).astype(np.int64)


@frozen
class _Cells:
    """Deliveries by publication and broker: columns of what, where and how many. Sorted by publication."""

    publication: Column
    broker: Column
    count: Column


def _entries(frame: Frame, publisher: Column, publishers: int, cells: _Cells) -> Column:
    """The entries of `Totals`, a row a publisher. `publisher`: of each publication, in order."""
    brokers = len(frame)
    found = np.zeros((publishers, 3 * brokers + 2), np.int64)
    np.add.at(found, (publisher[cells.publication], cells.broker), cells.count)
    sizes = np.bincount(publisher, minlength=publishers)
    found[:, 3 * brokers + 1] = sizes
    # Each publisher's bits begin with a byte, so that the ones of a publisher are those of some bytes.
    firsts = np.concatenate([[0], np.cumsum(-(-sizes // 8))])
    bit = np.arange(len(publisher)) - np.concatenate([[0], np.cumsum(sizes)])[publisher] + 8 * firsts[publisher]
    bits = np.zeros((brokers, 8 * int(firsts[-1])), bool)
    bits[cells.broker, bit[cells.publication]] = True
    vectors = np.packbits(bits, axis=1)
    below = frame.united(vectors)
    outside = frame.outside(vectors, below)
    for place, those in ((brokers, below), (2 * brokers, outside)):
        ones = np.bitwise_count(those).astype(np.int64)
        found[:, place : place + brokers] = np.add.reduceat(ones, firsts[:-1], axis=1).T
    found[:, 3 * brokers] = found[:, brokers]  # below broker 0 is everything
    found[:, brokers] = 0
    return found


def _latest(publisher: Column, seq: Column, cells: _Cells) -> tuple[Column, ...]:
    """The deliveries of each publisher's `LATEST` publications, with a row for each that has none."""
    kept = latest_of(publisher, seq)
    rows = kept[cells.publication]
    bare = kept.copy()
    bare[cells.publication] = False
    (none,) = np.nonzero(bare)
    which = np.concatenate([cells.publication[rows], none])
    broker = np.concatenate([cells.broker[rows], np.full(len(none), UNKNOWN)])
    count = np.concatenate([cells.count[rows], np.zeros(len(none), np.int64)])
    return publisher[which], seq[which], broker, count


def latest_of(publisher: Column, seq: Column) -> Column:
    """True for each row with one of the last `LATEST` seqs of its publisher."""
    in_order = np.lexsort((-seq, publisher))
    owner, number = publisher[in_order], seq[in_order]
    is_new = np.ones(len(owner), bool)
    is_new[1:] = (owner[1:] != owner[:-1]) | (number[1:] != number[:-1])
    rank = np.cumsum(is_new)
    first = np.ones(len(owner), bool)
    first[1:] = owner[1:] != owner[:-1]
    base = np.maximum.accumulate(np.where(first, rank, 0))
    found = np.zeros(len(owner), bool)
    found[in_order] = rank - base < LATEST
    return found


encoded = msgspec.msgpack.encode


def decoded(data: bytes) -> Found:
    found: Found = msgspec.msgpack.decode(data, type=Found)
    return found
