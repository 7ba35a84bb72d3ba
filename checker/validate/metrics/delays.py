"""Delays of publications: from the client that publishes to the one that is served.

The two stand at different brokers, so `delays_of` finds them where a bucket of what clients did and got is together.
What it gives is gathered by broker, and `windows_of` tells the quantiles between two samples, and the histogram.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

import numpy as np
from attrs import frozen
from msgspec import Struct, msgpack

from routeproof.checker.validate.clients import Block

SHARES = (5_000, 9_000, 9_900, 10_000)
"""Of the delays that a quantile bounds, in ten thousandths."""

FINEST = 1_000
"""Nanoseconds: all that is shorter is in the first bucket of a histogram."""
PER_DOUBLING = 4
BOUNDS = [round(FINEST * 2 ** (power / PER_DOUBLING)) for power in range(PER_DOUBLING * 53 + 1)]
"""Of the buckets: each one's most."""


@frozen
class Moments:
    """Those of one run's samples: the multiples of `every` from `first` on, and in place of the last one, `latest`."""

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
    """Of one broker. `rows`: by the number of a sample, how many deliveries since the one before, and quantiles."""

    rows: dict[int, tuple[int, int, int, int, int]]
    histogram: dict[int, int]
    """How many are in each of the buckets in which there are any."""


def delays_of(bucket: Iterable[Block]) -> Iterator[tuple[str, bytes]]:
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
    """Of one broker's pairs."""
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


def encode(windows: Windows) -> bytes:
    return msgpack.encode(windows)


def decode(data: bytes) -> Windows:
    return msgpack.decode(data, type=Windows)
