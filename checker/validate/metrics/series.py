"""Metrics of one run at each of its moments: `Series` sums up the counts of parts, `delays_of` pairs deliveries with
publications.

A publication and its delivery stand at different brokers, so `delays_of` looks for them where a bucket of clients' rows
is together. Its pairs are gathered by broker, and `windows_of` returns quantiles and the histogram.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field, frozen
from msgspec import Struct, msgpack

from routeproof.checker.validate.clients import ClientBlock
from routeproof.checker.validate.findings import PartResult
from routeproof.checker.validate.metrics import (
    COUNTS,
    MOST_ROWS,
    UNKNOWN,
    Measured,
    Stretch,
    decode_counted,
    measure,
    plain,
    too_many,
)
from routeproof.traces.fields import INTEGER

SHARES = (5_000, 9_000, 9_900, 10_000)
"""Shares of the delays that the quantiles bound, in ten thousandths."""

FINEST = 1_000
"""Nanoseconds: all that is shorter is in the first bucket of a histogram."""
PER_DOUBLING = 4
BOUNDS = [round(FINEST * 2 ** (power / PER_DOUBLING)) for power in range(PER_DOUBLING * 53 + 1)]
"""Upper bounds of the buckets."""


@frozen
class Moments:
    """Moments of one run's samples: multiples of `every` from `first` on, and in place of the last one, `latest`."""

    every: int
    first: int
    count: int
    latest: int

    @classmethod
    def of(cls, every: int, earliest: int, latest: int) -> Moments:
        first = earliest // every + 1
        return cls(every, first, max(0, -(-latest // every) - first) + 1, latest)

    def time(self, row: int) -> int:
        return self.latest if row == self.count - 1 else (self.first + row) * self.every


class Windows(Struct, frozen=True, array_like=True):
    """Samples of one broker. `rows`: by a sample's number, the deliveries since the one before, and quantiles."""

    rows: dict[int, tuple[int, int, int, int, int]]
    histogram: dict[int, int]
    """How many are in each of the buckets in which there are any."""


def delays_of(bucket: Iterable[ClientBlock]) -> Iterator[tuple[str, bytes]]:
    """By broker, pairs of a delivery's time and its delay: of all that there is of some publications."""
    blocks = list(bucket)
    spoke: dict[str, int] = {}
    for published in chain.from_iterable(block.published for block in blocks):
        if published.spoke >= 0:
            spoke[published.id] = min(published.spoke, spoke.get(published.id, published.spoke))
    found: dict[str, array[int]] = {}
    for id, came in chain.from_iterable(block.delivered for block in blocks):
        if came.time >= 0 and id in spoke:
            found.setdefault(came.broker, array("q")).extend((came.time, max(0, came.time - spoke[id])))
    for broker, pairs in found.items():
        yield broker, pairs.tobytes()


def windows_of(blocks: Iterable[bytes], moments: Moments) -> Windows:
    """Windows from one broker's pairs."""
    pairs = np.frombuffer(b"".join(blocks), np.int64).reshape(-1, 2)
    times, delays = pairs[:, 0], pairs[:, 1]
    rows = np.clip(-(-times // moments.every) - moments.first, 0, moments.count - 1)
    order = np.lexsort((delays, rows))
    ordered = delays[order]
    numbers, begins, counts = np.unique(rows[order], return_index=True, return_counts=True)
    # Nearest rank: the least delay that at least this share of them does not exceed.
    quantiles = [ordered[begins + np.maximum(-(-counts * share // 10_000), 1) - 1].tolist() for share in SHARES]
    told = zip(numbers.tolist(), zip(counts.tolist(), *quantiles, strict=True), strict=True)
    filled, sizes = np.unique(np.minimum(np.searchsorted(BOUNDS, delays), len(BOUNDS) - 1), return_counts=True)
    return Windows(dict(told), dict(zip(filled.tolist(), sizes.tolist(), strict=True)))


def buckets(histograms: Iterable[Mapping[int, int]]) -> Iterator[tuple[int, int, int]]:
    """All of them in one, as `above`, `most` and `count`: from the first bucket that holds something to the last."""
    counts: dict[int, int] = {}
    for histogram in histograms:
        for bucket, count in histogram.items():
            counts[bucket] = counts.get(bucket, 0) + count
    for bucket in range(min(counts, default=0), max(counts, default=-1) + 1):
        yield BOUNDS[bucket - 1] if bucket else -1, BOUNDS[bucket], counts.get(bucket, 0)


def encode_windows(windows: Windows) -> bytes:
    return msgpack.encode(windows)


def decode_windows(data: bytes) -> Windows:
    return msgpack.decode(data, type=Windows)


# -- sums --------------------------------------------------------------------------------------------------------------

Numbers: TypeAlias = Any
"""An array of int64, one for each moment."""


@define(eq=False)
class _Broker:
    """Counts of all parts of a broker."""

    counts: dict[Stretch, list[int]] = field(factory=dict)
    arrived: dict[Stretch, int] = field(factory=dict)
    """From neighbours."""
    tables: dict[Stretch, tuple[int, int]] = field(factory=dict)
    endless: int = 0


class Series:
    """Metrics of one run. `add` its parts, each broker's in their order."""

    def __init__(self, setting: Measured) -> None:
        self._setting = setting
        self._brokers: dict[str, _Broker] = defaultdict(_Broker)
        self._earliest = self._latest = -1

    def add(self, parts: Iterable[PartResult]) -> None:
        """Adds the parts of one broker."""
        is_lost = False
        for part in parts:
            if part.metered:
                self._add(part, is_lost)
            is_lost = is_lost or part.rejection is not None

    def _add(self, part: PartResult, is_lost: bool) -> None:
        """`is_lost`: an earlier part was rejected, and the broker's table is unknown from there on."""
        counted, broker = decode_counted(part.metered), self._brokers[plain(part.broker)]
        for stretch, row in counted.counts.items():
            known = broker.counts.get(stretch)
            broker.counts[stretch] = row if known is None else [a + b for a, b in zip(known, row, strict=True)]
        for node, arrivals in counted.arrived.items():
            arrived = self._brokers[plain(self._setting.name_of(node))].arrived
            for stretch, count in arrivals.items():
                arrived[stretch] = arrived.get(stretch, 0) + count
        for stretch, (time, table) in counted.tables.items():
            measure(broker.tables, stretch, time, UNKNOWN if is_lost else table)
        broker.endless += counted.endless
        if counted.earliest >= 0:
            if self._earliest < 0 or counted.earliest < self._earliest:
                self._earliest = counted.earliest
            self._latest = max(self._latest, counted.latest)

    @property
    def is_told(self) -> bool:
        """Was anything done?"""
        return self._earliest >= 0

    @property
    def moments(self) -> Moments:
        return Moments.of(self._setting.every, self._earliest, self._latest)

    def columns(self, broker: str) -> dict[str, Numbers]:
        """One broker's, at each moment: those that its trace tells."""
        moments, mine = self.moments, self._brokers[broker]
        ends = moments.first + np.arange(moments.count)
        found = dict(zip(COUNTS, _sampled(_totals(mine.counts), len(COUNTS), ends), strict=True))
        if mine.endless:
            del found["busy"]
        [found["table"]] = _sampled({s: (table,) for s, (_, table) in mine.tables.items()}, 1, ends)
        [came] = _sampled(_totals({s: [count] for s, count in mine.arrived.items()}), 1, ends)
        # Where clocks are not what the header says they are, something may be taken before it was sent.
        found["queue"] = np.maximum(came + found.pop("arrived") - found.pop("taken"), 0)
        return found


def _totals(counts: Mapping[Stretch, Sequence[int]]) -> dict[Stretch, list[int]]:
    """Since the beginning."""
    stretches = sorted(counts)
    rows = accumulate((counts[s] for s in stretches), lambda a, b: [x + y for x, y in zip(a, b, strict=True)])
    return {s: [min(total, INTEGER) for total in row] for s, row in zip(stretches, rows, strict=True)}


def _sampled(known: Mapping[Stretch, Sequence[int]], width: int, ends: Numbers) -> list[Numbers]:
    """Each column as it was at the ends of these stretches: what is known last, and nothing before the first."""
    stretches = sorted(known)
    values = np.array([[0] * width, *(known[s] for s in stretches)], np.int64)
    at = values[np.searchsorted(np.array(stretches, np.int64), ends, side="right")]
    return [at[:, column] for column in range(width)]


def gathered(setting: Measured, brokers: Iterable[Sequence[PartResult]]) -> dict[str, Series]:
    """By the name of a run, in order. `brokers`: each one's parts, in their order, at least one."""
    found: dict[str, Series] = {}
    for parts in brokers:
        run = plain(parts[0].run)
        if run not in found:
            found[run] = Series(setting)
        found[run].add(parts)
    runs = {run: found[run] for run in sorted(found) if found[run].is_told}
    if sum(series.moments.count for series in runs.values()) * len(setting.names) > MOST_ROWS:
        raise too_many(setting.every)
    return runs
