"""The choices for each publisher: POP's, GRAPE's, and the best of all brokers by brute force, with what each costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from attrs import frozen
from msgspec import Struct

from routeproof.checker.placement.joining import HALF, DelaySums, PublisherKey, Totals, column_of, latest_of
from routeproof.checker.placement.overlay import Column, Frame
from routeproof.impl.placement.decisions import Metric, Profile, choose, target
from routeproof.model.overlay import LOCAL

ALGORITHMS = ("pop", "grape", "brute force")
NOW = "now"

CELLS = 1 << 22
"""Cells of a table of publishers and entries that is worked on at once."""


@frozen
class Wish:
    """The metric that is to be small, and the weight that it gets (GRP-10)."""

    metric: Metric = "load"
    weight: float = 100.0


@frozen
class MeanDelays:
    """Mean delay of each directed edge, and to a broker's clients: entries as in `joining.Totals`, whole numbers.

    Without measured delays each edge counts 1 and a client nothing: the delay is the number of hops.
    """

    unit: str
    local: Column
    down: Column
    up: Column

    @classmethod
    def in_hops(cls, brokers: int) -> MeanDelays:
        one = np.ones(brokers, np.int64)
        return cls("hops", 0 * one, one, one.copy())

    @classmethod
    def of(cls, brokers: int, found: Sequence[DelaySums]) -> MeanDelays:
        """The means of one run. An edge that nothing crossed takes the mean of its other direction, or else that of all
        edges; clients at a broker that delivered nothing do not count.
        """
        sums, counts = [0] * (3 * brokers), [0] * (3 * brokers)
        for each in found:
            columns = (column_of(data).tolist() for data in (each.entry, each.high, each.low, each.count))
            for entry, high, low, count in zip(*columns, strict=True):
                sums[entry] += (high << HALF) + low
                counts[entry] += count
        edges = slice(brokers, 3 * brokers)
        if not sum(counts[edges]):
            return cls.in_hops(brokers)
        of_all = sum(sums[edges]) // sum(counts[edges])
        means = [total // count if count else -1 for total, count in zip(sums, counts, strict=True)]
        local = [max(each, 0) for each in means[:brokers]]
        ways = list(zip(means[brokers : 2 * brokers], means[2 * brokers :], strict=True))
        down = [one if one >= 0 else other if other >= 0 else of_all for one, other in ways]
        up = [one if one >= 0 else other if other >= 0 else of_all for other, one in ways]
        return cls("ns", *(np.array(each, np.int64) for each in (local, down, up)))


class Choice(Struct, array_like=True):
    """The place of one publisher under one algorithm. Sums over the run; `delay` in the unit of `MeanDelays`."""

    algorithm: str
    target: int
    messages: int
    """Input messages of all brokers (GRP-8)."""
    delay: int
    hops: int


class PlacedPublisher(Struct, array_like=True):
    """One publisher: what it did, where it is, and its choices, the present place first."""

    key: PublisherKey
    publications: int
    matched: int
    """Publications that were delivered to anyone."""
    deliveries: int
    choices: list[Choice]


class Loads(Struct, array_like=True):
    """Input messages of each broker, for the present places and for each algorithm's, over some publishers of a run."""

    run: bytes
    by_algorithm: dict[str, list[int]]

    def add(self, other: Loads) -> None:
        for algorithm, loads in other.by_algorithm.items():
            mine = self.by_algorithm.setdefault(algorithm, [0] * len(loads))
            self.by_algorithm[algorithm] = [a + b for a, b in zip(mine, loads, strict=True)]


class Chosen(Struct, array_like=True):
    """The publishers of one bucket, and the loads that they make."""

    publishers: list[PlacedPublisher]
    loads: list[Loads]


def decide(frame: Frame, delays: Mapping[bytes, MeanDelays], wish: Wish, found: Sequence[Totals]) -> Chosen:
    """Decides for all publishers of some totals, which hold all that is known of them."""
    keys = sorted({key for each in found for key in each.keys})
    number = {key: at for at, key in enumerate(keys)}
    parts, late = [], []
    for each in found:
        mine = np.array([number[key] for key in each.keys], np.int64)
        parts.append((mine[column_of(each.publisher)], column_of(each.entry), column_of(each.value)))
        publisher, *rest = map(column_of, each.latest)
        late.append((mine[publisher], *rest))
    publisher, entry, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    latest = [np.concatenate(column) for column in zip(*late, strict=True)]
    kept = latest_of(latest[0], latest[1])
    in_order = np.lexsort((latest[2], latest[1], latest[0]))
    in_order = in_order[kept[in_order]]
    owner, *tail = (column[in_order] for column in latest)
    width = 3 * len(frame) + 2
    step = max(1, CELLS // width)
    loads: dict[bytes, Loads] = {}
    publishers: list[PlacedPublisher] = []
    by_publisher = np.argsort(publisher, kind="stable")
    publisher, entry, value = (column[by_publisher] for column in (publisher, entry, value))
    for begin in range(0, len(keys), step):
        some = keys[begin : begin + step]
        table = np.zeros((len(some), width), np.int64)
        left, right = np.searchsorted(publisher, (begin, begin + len(some)))
        np.add.at(table, (publisher[left:right] - begin, entry[left:right]), value[left:right])
        for at, key in enumerate(some):
            first, last = np.searchsorted(owner, (begin + at, begin + at + 1))
            recent = _recent(*(column[first:last] for column in tail))
            one = _One(frame, key, table[at], delays[key[0]], recent)
            publishers.append(one.decided(wish))
            of_run = loads.setdefault(key[0], Loads(key[0], {}))
            of_run.add(Loads(key[0], {c.algorithm: one.load(c.target) for c in publishers[-1].choices}))
    return Chosen(publishers, list(loads.values()))


def _recent(seq: Column, broker: Column, count: Column) -> list[dict[int, int]]:
    """Deliveries by broker of each of a publisher's last publications, in order."""
    found: dict[int, dict[int, int]] = {}
    for number, at, many in zip(seq.tolist(), broker.tolist(), count.tolist(), strict=True):
        row = found.setdefault(number, {})
        if at >= 0:
            row[at] = row.get(at, 0) + many
    return list(found.values())


class _One:
    def __init__(
        self, frame: Frame, key: PublisherKey, entries: Column, delays: MeanDelays, recent: list[dict[int, int]]
    ) -> None:
        brokers = len(frame)
        self._frame = frame
        self._key = key
        self._home = key[2]
        self._recent = recent
        self._here, self._down, self._up = (entries[i * brokers : (i + 1) * brokers] for i in range(3))
        self._matched, self._publications = entries[3 * brokers :].tolist()
        self._messages = frame.at_every_root(self._matched + int(self._down.sum()), self._down, self._up)
        below = frame.subtrees(self._here)
        self._deliveries = int(below[0])
        self._hops = self._paths(below, MeanDelays.in_hops(brokers))
        self._delays = self._paths(below, delays)

    def _paths(self, below: Column, delays: MeanDelays) -> Column:
        """The delays of all deliveries in sum, with the publisher at each broker."""
        down, up = below * delays.down, (below[0] - below) * delays.up
        at_zero = int((self._here * delays.local).sum()) + int(down[1:].sum())
        return self._frame.at_every_root(at_zero, down, up)

    def decided(self, wish: Wish) -> PlacedPublisher:
        places = {NOW: self._home, "pop": self._pop(), "grape": self._grape(wish), "brute force": self._best(wish)}
        choices = [
            Choice(algorithm, at, int(self._messages[at]), int(self._delays[at]), int(self._hops[at]))
            for algorithm, at in places.items()
        ]
        return PlacedPublisher(self._key, self._publications, self._matched, self._deliveries, choices)

    def _best(self, wish: Wish) -> int:
        """The least by the metric among all brokers; ties go to the other metric, then to the present place."""
        first, second = (self._messages, self._delays) if wish.metric == "load" else (self._delays, self._messages)
        return min(range(len(self._frame)), key=lambda b: (first[b], second[b], b != self._home, b))

    def _grape(self, wish: Wish) -> int:
        """GRAPE's choice among the brokers that answered (GRP-6), and the present one."""
        candidates = [b for b, many in enumerate(self.load(self._home)) if many or b == self._home]
        rates = {b: float(self._messages[b]) for b in candidates}
        delays = {b: float(self._delays[b]) for b in candidates}
        return choose(rates, delays, wish.metric, wish.weight)

    def load(self, root: int) -> list[int]:
        """Input messages of every broker, with the publisher at the root."""
        found = self._down.copy()
        way = self._frame.way_up(root)
        for child, parent in pairwise(way):
            found[parent] = self._up[child]
        found[root] = self._matched
        return list(found.tolist())

    def _pop(self) -> int:
        """POP's target, if each of the latest publications was traced (POP-5 to POP-10)."""
        tables = _Tables(self._frame, self._recent, self._home)
        return target(tables, self._home + 1)[0] - 1


class _Tables(dict[int, dict[int, float]]):
    """Profiles of brokers after some traced publications, made when they are asked for. Brokers are numbered from 1."""

    def __init__(self, frame: Frame, recent: list[dict[int, int]], home: int) -> None:
        super().__init__()
        self._home = home
        self._ways = [[(frame.path(home, broker), many) for broker, many in each.items()] for each in recent]

    def __missing__(self, node: int) -> dict[int, float]:
        here, profile = node - 1, Profile()
        for ways in self._ways:
            reached = [(path, many) for path, many in ways if here in path]
            if reached or here == self._home:  # else the publication did not come here
                reported: dict[int, float] = {}
                for path, many in reached:
                    at = path.index(here) + 1
                    onward = path[at] + 1 if at < len(path) else LOCAL
                    reported[onward] = reported.get(onward, 0) + many
                profile.trace(reported)
        self[node] = profile.average
        return profile.average


def all_chosen(parts: Iterator[Chosen]) -> tuple[list[PlacedPublisher], dict[bytes, Loads]]:
    """All publishers in the order of their names, and the loads by run."""
    publishers: list[PlacedPublisher] = []
    loads: dict[bytes, Loads] = {}
    for each in parts:
        publishers += each.publishers
        for some in each.loads:
            loads.setdefault(some.run, Loads(some.run, {})).add(some)
    return sorted(publishers, key=lambda p: p.key), dict(sorted(loads.items()))
