"""Approximate Steiner trees: cheap trees that connect a set of brokers, at most twice as costly as the cheapest.

Two methods, both with the factor 2(1 - 1/t) for t terminals. `paths` (Takahashi and Matsuyama) joins the nearest
terminal to the tree, again and again; it needs all distances of the network, which many trees share. `cells` (Mehlhorn)
needs none, and takes linear time where all links cost the same: it divides the network into the cells of its terminals,
and joins the cells by the cheapest links between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from routeproof.impl.trees.network import Array, BrokerGraph

Method: TypeAlias = Callable[[BrokerGraph, Array], list[int]]


def by_paths(network: BrokerGraph, terminals: Array) -> list[int]:
    """The links of a tree that grows from the first terminal to the nearest other, path by path."""
    distances = network.distances
    left = terminals[1:]
    near = distances[terminals[0], left]
    owner = np.full(len(left), terminals[0])
    found: set[int] = set()
    while len(left):
        at = int(near.argmin())
        path = network.path(int(left[at]), int(owner[at]))
        found.update(network.link_between(one, other) for one, other in pairwise(path))
        nodes = np.array(path[:-1])
        keep = np.ones(len(left), bool)
        keep[at] = False
        left, near, owner = left[keep], near[keep], owner[keep]
        from_path = distances[nodes[:, None], left]
        best = from_path.argmin(axis=0)
        nearer = from_path[best, np.arange(len(left))]
        closer = nearer < near
        near = np.where(closer, nearer, near)
        owner = np.where(closer, nodes[best], owner)
    return sorted(found)


def by_cells(network: BrokerGraph, terminals: Array) -> list[int]:
    """The links of a tree within the cheapest paths that cross from one terminal's cell to another's (Mehlhorn)."""
    if len(terminals) < 2:
        return []
    terminals_ = terminals.tolist()
    if (network.cost == network.cost[0]).all():
        distance, owner, link = _cells_by_hops(network, terminals_)
    else:
        distance, owner, link = network.nearest(terminals_)
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

    def of(self, terminals: Array) -> Array:
        """The links of the tree of these terminals, which are sorted and distinct."""
        if len(terminals) < 2:
            return np.empty(0, np.int64)
        key = terminals.astype(np.int32).tobytes()
        if key not in self._known:
            method = self._method if len(terminals) <= MOST_BY_PATHS else by_cells
            found = np.array(method(self._network, terminals), np.int32)
            self._kept += len(terminals) + len(found)
            if self._kept > self._most:
                self._known.clear()
                self._kept = len(terminals) + len(found)
            self._known[key] = found
        return self._known[key]
