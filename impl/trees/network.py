"""Networks of brokers as arrays: links with costs, distances, and shortest-path trees.

Brokers are numbered in the order of their names, links by their ends. Every choice between equal paths goes to the
smaller number, so that nothing depends on the order in which links were given. Costs are whole numbers: sums of them
are exact, in whatever order they are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen

Array: TypeAlias = Any
"""A numpy array; of 64-bit integers where nothing else is noted."""

MOST_BROKERS = 20_000
"""Brokers of a network: the distances between all pairs of so many take 0.8 GB."""

MOST_COST = 1_000_000
"""Cost of a link."""

ROUNDS = 512
"""Rounds of relaxation in columns, after which distances are computed source by source."""

MOST_STEPS = 16
"""The greatest cost of a link, in what all costs are multiples of, for which distances are computed level by level."""

AT_ONCE = 500_000
"""Distances that one round of relaxation holds."""


class NetworkError(ValueError):
    """A network that documents cannot be routed in."""


@frozen(eq=False)
class BrokerGraph:
    """A connected graph with a positive cost for every link (NET-1)."""

    names: tuple[str, ...]
    low: Array
    """The end of each link with the smaller number; links are sorted by `low`, then by `high`."""
    high: Array
    cost: Array
    begin: Array = field(init=False)
    """The arcs out of broker v are those from `begin[v]` to `begin[v + 1]`, sorted by where they lead."""
    to: Array = field(init=False)
    arc_link: Array = field(init=False)

    @begin.default
    def _begin(self) -> Array:
        ends = np.concatenate([self.low, self.high])
        return np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=len(self)))])

    @to.default
    def _to(self) -> Array:
        return self._arcs()[0]

    @arc_link.default
    def _arc_link(self) -> Array:
        return self._arcs()[1]

    def _arcs(self) -> tuple[Array, Array]:
        links = np.tile(np.arange(len(self.low)), 2)
        ends = np.concatenate([self.low, self.high]), np.concatenate([self.high, self.low])
        order = np.lexsort((ends[1], ends[0]))
        return ends[1][order], links[order]

    @classmethod
    def of(cls, links: Iterable[tuple[str, str, int]]) -> BrokerGraph:
        """The network of these links. `NetworkError` if it has none, is not connected, or a link makes no sense."""
        found: dict[tuple[str, str], int] = {}
        for one, other, cost in links:
            if one == other:
                raise NetworkError(f"a link joins {one!r} to itself")
            if not 1 <= cost <= MOST_COST:
                raise NetworkError(f"the link {one!r} to {other!r} costs {cost}; expected 1 to {MOST_COST:,}")
            ends = (min(one, other), max(one, other))
            if found.setdefault(ends, cost) != cost:
                costs = sorted((found[ends], cost))
                raise NetworkError(
                    f"the link {ends[0]!r} to {ends[1]!r} is given with the costs {costs[0]} and {costs[1]}"
                )
        names = tuple(sorted({name for ends in found for name in ends}))
        if not names:
            raise NetworkError("the network has no links")
        if len(names) > MOST_BROKERS:
            raise NetworkError(f"the network has {len(names):,} brokers; expected {MOST_BROKERS:,} at most")
        number = {name: at for at, name in enumerate(names)}
        rows = sorted((number[one], number[other], cost) for (one, other), cost in found.items())
        low, high, costs_ = (np.array(column, np.int64) for column in zip(*rows, strict=True))
        network = cls(names, low, high, costs_)
        if (far := network._unreached()) is not None:
            raise NetworkError(f"there is no path from {names[0]!r} to {names[far]!r}: the network is not connected")
        return network

    @classmethod
    def numbered(
        cls, links: Iterable[tuple[int, int]], costs: Mapping[tuple[int, int], int] | None = None
    ) -> BrokerGraph:
        """A network whose brokers are called by their numbers, from 0; each link costs 1 where no cost is given."""
        pairs = [(min(pair), max(pair)) for pair in links]
        width = len(str(max((b for pair in pairs for b in pair), default=0)))
        return cls.of((f"{a:0{width}}", f"{b:0{width}}", (costs or {}).get((a, b), 1)) for a, b in pairs)

    def __len__(self) -> int:
        """The number of brokers."""
        return len(self.names)

    def __reduce__(self) -> Any:
        return _received, (self.names, self.low.tobytes(), self.high.tobytes(), self.cost.tobytes())

    def _unreached(self) -> int | None:
        seen, waiting = {0}, [0]
        while waiting:
            for _, other, _ in self.around[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return next((v for v in range(len(self)) if v not in seen), None)

    @cached_property
    def around(self) -> Sequence[Sequence[tuple[int, int, int]]]:
        """For each broker, its links: cost, neighbour, number of the link; sorted by neighbour."""
        costs = self.cost[self.arc_link].tolist()
        arcs = list(zip(costs, self.to.tolist(), self.arc_link.tolist(), strict=True))
        begin = self.begin.tolist()
        return [arcs[begin[v] : begin[v + 1]] for v in range(len(self))]

    # -- distances -----------------------------------------------------------------------------------------------------

    @cached_property
    def distances(self) -> Array:
        """The cost of a cheapest path between each two brokers, in the smallest type that holds them."""
        n = len(self)
        if (rows := self._by_levels()) is not None:
            return rows
        found: Array = None
        step = max(1, AT_ONCE // len(self.to))
        for first in range(0, n, step):
            rows = self._distances_from(np.arange(first, min(n, first + step)))
            if rows is None:
                return self._distances_by_heap()
            if found is None:
                bound = 2 * int(rows.max())  # twice the distance from one broker bounds all
                found = np.empty((n, n), _type_for(bound))
            found[first : first + step] = rows
        return found

    def _by_levels(self) -> Array:
        """The distances, level by level, with a bit for each source; None if costs differ widely, or brokers are far.

        A level is what all costs are multiples of. Who is reached so many levels ago is known for each cost.
        """
        n = len(self)
        unit = int(np.gcd.reduce(self.cost))
        steps = (self.cost // unit)[self.arc_link]
        past = int(steps.max())
        if past > MOST_STEPS:
            return None
        reached = np.zeros((past, n, n // 64 + 1), np.uint64)
        at = np.arange(n)
        reached[0, at, at // 64] = np.uint64(1) << (at % 64).astype(np.uint64)
        found = np.zeros((n, n), _type_for(ROUNDS * past * unit))
        for level in range(1, ROUNDS * past + 1):
            now = reached[(level - 1) % past]
            missing = np.unpackbits(np.invert(now).view(np.uint8), axis=1, count=n, bitorder="little")
            if not missing.any():
                return found
            found += missing if unit == 1 else missing * found.dtype.type(unit)
            near = np.empty_like(now)
            for first in range(0, n, 256):
                last = min(n, first + 256)
                arcs = slice(self.begin[first], self.begin[last])
                starts = self.begin[first:last] - self.begin[first]
                before = reached[(level - steps[arcs]) % past, self.to[arcs]]
                near[first:last] = np.bitwise_or.reduceat(before, starts, axis=0)
            reached[level % past] = near | now
        return None

    def _distances_from(self, sources: Array) -> Array:
        """The distances from some brokers, by rounds of relaxation; None where too many rounds would be needed."""
        n = len(self)
        far = np.iinfo(np.int32).max // 2 if n * int(self.cost.max()) < np.iinfo(np.int32).max // 4 else 1 << 61
        distance = np.full((n, len(sources)), far, np.int32 if far < 1 << 40 else np.int64)
        distance[sources, np.arange(len(sources))] = 0
        costs = self.cost[self.arc_link].astype(distance.dtype)[:, None]
        for _ in range(ROUNDS):
            nearer = np.minimum(distance, np.minimum.reduceat(distance[self.to] + costs, self.begin[:-1], axis=0))
            if np.array_equal(nearer, distance):
                return distance.T
            distance = nearer
        return None

    def _distances_by_heap(self) -> Array:
        rows = [self.nearest([v])[0] for v in range(len(self))]
        return np.array(rows, _type_for(max(map(max, rows))))

    def nearest(self, sources: Iterable[int]) -> tuple[list[int], list[int], list[int]]:
        """For each broker: the distance to the nearest source, that source, and the link towards it (-1 at sources).

        Of equally near sources the smaller counts, and of its shortest paths the one with the smaller neighbour.
        """
        n = len(self)
        distance, owner, link = [-1] * n, [-1] * n, [-1] * n
        heap = [(0, source, source, -1, -1) for source in sorted(set(sources))]
        around = self.around
        while heap:
            far, source, v, _, over = heappop(heap)
            if distance[v] >= 0:
                continue
            distance[v], owner[v], link[v] = far, source, over
            for cost, other, along in around[v]:
                if distance[other] < 0:
                    heappush(heap, (far + cost, source, other, v, along))
        return distance, owner, link

    def shortest_path_tree(self, root: int) -> Array:
        """The parent of each broker in a shortest-path tree; the root is its own parent."""
        row = self.distances[root].astype(np.int64)
        arcs = np.repeat(np.arange(len(self)), np.diff(self.begin))
        shortest = row[self.to] + self.cost[self.arc_link] == row[arcs]
        parent = np.minimum.reduceat(np.where(shortest, self.to, len(self)), self.begin[:-1])
        parent[root] = root
        return parent

    def links_to(self, parent: Array) -> Array:
        """For each broker the link to its parent; -1 where it is its own parent."""
        n = len(self)
        keys = self.low * n + self.high
        child = np.arange(n)
        wanted = np.minimum(child, parent) * n + np.maximum(child, parent)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(parent == child, -1, np.where(keys[at] == wanted, at, -2))


@lru_cache(maxsize=1)
def _received(names: tuple[str, ...], *columns: bytes) -> BrokerGraph:
    """A network from another process. The last one is kept: whatever refers to it shares its distances."""
    return BrokerGraph(names, *(np.frombuffer(each, np.int64) for each in columns))


def _type_for(bound: int) -> Any:
    return np.uint16 if bound < 1 << 16 else np.uint32 if bound < 1 << 32 else np.int64
