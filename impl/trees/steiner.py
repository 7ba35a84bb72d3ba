"""Approximate Steiner trees: cheap trees that connect a set of brokers, at most twice as costly as the cheapest.

Two methods, both with the factor 2(1 - 1/t) for t terminals. `paths` (Takahashi and Matsuyama) joins the nearest
terminal to the tree, again and again; it needs all distances of the network, which many trees share. `cells` (Mehlhorn)
needs none, and takes linear time where all links cost the same: it divides the network into the cells of its terminals,
and joins the cells by the cheapest links between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from routeproof.impl.trees.matching import Ragged
from routeproof.impl.trees.network import Array, BrokerGraph

Method: TypeAlias = Callable[[BrokerGraph, Sequence[Array]], list[Array]]
"""From sets of terminals, sorted and of two at least, to the links of the tree of each, sorted."""

AT_ONCE = 1 << 15
"""Numbers in the arrays of trees that grow together."""


def by_paths(network: BrokerGraph, sets: Sequence[Array]) -> list[Array]:
    """Trees that grow from their first terminal to the nearest other, path by path."""
    lengths = np.array([len(each) for each in sets])
    order = np.argsort(lengths, kind="stable")
    together = max(1, AT_ONCE // max(int(lengths.max(initial=1)), int(np.diff(network.begin).max())))
    found = [NO_LINKS] * len(sets)
    for first in range(0, len(order), together):
        some = order[first : first + together].tolist()
        for at, links in zip(some, _grown(network, [sets[each] for each in some]), strict=True):
            found[at] = links
    return found


def _grown(network: BrokerGraph, sets: Sequence[Array]) -> list[Array]:
    """All trees grow by one link in each round, on the path from a terminal to the tree. Rows are trees."""
    n, links = len(network), len(network.low)
    distances = network.distances.reshape(-1)
    inside = np.arange(max(map(len, sets)) - 1) < np.array([[len(each) - 1] for each in sets])
    left = np.zeros(inside.shape, np.int64)
    left[inside] = np.concatenate([each[1:] for each in sets])
    tree = np.arange(len(sets))
    at = np.array([each[0] for each in sets], np.int64)
    goal = at
    near = np.where(inside, distances[at[:, None] * n + left].astype(np.int64), -1)  # -1: none, or joined already
    owner = np.broadcast_to(at[:, None], left.shape).copy()
    found = []
    while True:
        there = np.flatnonzero(at == goal)
        nearest = near[there].view(np.uint64).argmin(axis=1)
        if (whole := near[there, nearest] < 0).any():
            keep = np.ones(len(tree), bool)
            keep[there[whole]] = False
            tree, at, goal, left, near, owner = (each[keep] for each in (tree, at, goal, left, near, owner))
            there, nearest = np.flatnonzero(at == goal), nearest[~whole]
        if not len(tree):
            break
        at, goal = at.copy(), goal.copy()
        at[there], goal[there] = left[there, nearest], owner[there, nearest]
        near[there, nearest] = -1
        from_here = distances.take(at[:, None] * n + left)
        closer = from_here < near
        near = np.where(closer, from_here, near)
        owner = np.where(closer, at[:, None], owner)
        going = np.flatnonzero(at != goal)
        arcs, of = Ragged(network.begin, np.arange(len(network.to))).take(at[going])
        towards = distances.take(goal[going][of] * n + network.to[arcs]) + network.cost[network.arc_link[arcs]]
        shortest = np.flatnonzero(towards == distances.take(goal[going] * n + at[going])[of])
        arc = arcs[shortest[np.searchsorted(of[shortest], np.arange(len(going)))]]
        at[going] = network.to[arc]
        found.append(tree[going] * links + network.arc_link[arc])
    of, link = np.divmod(np.sort(np.concatenate(found)), links)
    return np.split(link.astype(np.int32), np.searchsorted(of, np.arange(1, len(sets))))


def by_cells(network: BrokerGraph, sets: Sequence[Array]) -> list[Array]:
    """Trees within the cheapest paths that cross from one terminal's cell to another's (Mehlhorn)."""
    return [np.array(_within_cells(network, each.tolist()), np.int32) for each in sets]


def _within_cells(network: BrokerGraph, terminals: list[int]) -> list[int]:
    if (network.cost == network.cost[0]).all():
        distance, owner, link = _cells_by_hops(network, terminals)
    else:
        distance, owner, link = network.nearest(terminals)
    low, high, cost = network.low.tolist(), network.high.tolist(), network.cost.tolist()
    crossing: dict[tuple[int, int], tuple[int, int]] = {}
    for at, (u, v) in enumerate(zip(low, high, strict=True)):
        if owner[u] != owner[v]:
            pair = (owner[u], owner[v]) if owner[u] < owner[v] else (owner[v], owner[u])
            through = (distance[u] + cost[at] + distance[v], at)
            if pair not in crossing or through < crossing[pair]:
                crossing[pair] = through
    # Within a cell the paths to its terminal are a tree, and cells are joined as a tree: no cycle can arise.
    sets = Disjoint(len(network))
    found: set[int] = set()
    for (one, other), (_, at) in sorted(crossing.items(), key=lambda item: (item[1], item[0])):
        if sets.join(one, other):
            found.add(at)
            for end in (low[at], high[at]):
                v = end
                while (along := link[v]) >= 0 and along not in found:
                    found.add(along)
                    v = low[along] + high[along] - v
    return sorted(found)


def _cells_by_hops(network: BrokerGraph, terminals: Iterable[int]) -> tuple[list[int], list[int], list[int]]:
    """`BrokerGraph.nearest` where all links cost the same, level by level: linear time."""
    n = len(network)
    around = network.around
    unit = int(network.cost[0])
    distance, owner, link = [-1] * n, [-1] * n, [-1] * n
    level = sorted(set(terminals))
    for v in level:
        distance[v], owner[v] = 0, v
    far = 0
    while level:
        far += unit
        following: list[int] = []
        for v in level:
            for _, other, along in around[v]:
                if distance[other] < 0:
                    distance[other], owner[other], link[other] = far, owner[v], along
                    following.append(other)
        level = following
    return distance, owner, link


METHODS: Mapping[str, Method] = {"paths": by_paths, "cells": by_cells}

MOST_BY_PATHS = 500
"""Terminals of a tree, beyond which `cells` takes less time than `paths`, which is quadratic in their number."""

NO_LINKS = np.empty(0, np.int32)

MOST_KEPT = 1 << 24
"""Numbers of terminals and links of the trees that are kept."""


class Disjoint:
    """Disjoint sets of numbers, with the union of two."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def find(self, v: int) -> int:
        above = self._above
        while above[v] != v:
            above[v] = above[above[v]]
            v = above[v]
        return v

    def join(self, one: int, other: int) -> bool:
        """True if the two were in different sets; now they are in one."""
        one, other = self.find(one), self.find(other)
        self._above[max(one, other)] = min(one, other)
        return one != other


class SteinerTrees:
    """Approximate Steiner trees of one network (TREE-1), each distinct set of terminals once (TREE-10, CLUS-11).

    One terminal needs no link. `most`: numbers of terminals and links that are kept.
    """

    def __init__(self, network: BrokerGraph, method: str = "paths", most: int = MOST_KEPT) -> None:
        self._network = network
        self._method = METHODS[method]
        self._most = most
        self._kept = 0
        self._known: dict[bytes, Array] = {}

    def of_each(self, sets: Sequence[Array]) -> list[Array]:
        """The links of the tree of each set of terminals, which are sorted and distinct."""
        keys = [each.astype(np.int32).tobytes() for each in sets]
        fresh = {key: each for key, each in zip(keys, sets, strict=True) if len(each) > 1 and key not in self._known}
        found = {key: self._known.get(key, NO_LINKS) for key in keys}
        for method, some in (
            (self._method, {key: each for key, each in fresh.items() if len(each) <= MOST_BY_PATHS}),
            (by_cells, {key: each for key, each in fresh.items() if len(each) > MOST_BY_PATHS}),
        ):
            found.update(zip(some, method(self._network, list(some.values())), strict=True))
        self._kept += sum(len(each) + len(found[key]) for key, each in fresh.items())
        if self._kept > self._most:
            self._known.clear()
            self._kept = 0
        else:
            self._known.update((key, found[key]) for key in fresh)
        return [found[key] for key in keys]
