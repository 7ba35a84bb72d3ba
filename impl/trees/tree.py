"""Rooted trees as arrays, and the cost of connecting sets of brokers in them.

A *group* of terminals is the publisher's broker of a document with the brokers of matching subscriptions. Its cost is
that of the smallest sub-tree that connects them (COST-1). Sorted by the order of a depth-first walk, the paths between
one terminal and the next, and from the last to the first, cross each link of that sub-tree twice: all groups of a
corpus are counted in a few operations on arrays.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from attrs import field, frozen

from routeproof.impl.trees.network import Array, BrokerGraph


class TreeError(ValueError):
    """Parents that make no tree."""


@frozen(eq=False)
class Rooted:
    """A tree, or several below a root that is none of them: `parent[v]` is v at the root."""

    parent: Array
    cost: Array
    """The cost of the link from each vertex to its parent; 0 at the root."""
    place: Array = field(init=False)
    """The position of each vertex in a depth-first walk that visits smaller numbers first."""
    size: Array = field(init=False)
    """By position: the number of vertices at and below it."""

    @place.default
    def _place(self) -> Array:
        return self._walk[0]

    @size.default
    def _size(self) -> Array:
        return self._walk[1]

    @cached_property
    def root(self) -> int:
        roots = np.flatnonzero(self.parent == np.arange(len(self.parent)))
        if len(roots) != 1:
            raise TreeError(f"expected one root, not {len(roots)}")
        return int(roots[0])

    @cached_property
    def _walk(self) -> tuple[Array, Array]:
        """Ranks the steps of the walk, down to a vertex and up from it, by doubling: any depth takes as long."""
        n = len(self.parent)
        root, parent = self.root, self.parent
        children = np.argsort(parent, kind="stable")
        children = children[children != root]
        above = parent[children]
        first = np.ones(len(children), bool)
        first[1:] = above[1:] != above[:-1]
        # Steps 0 .. n-1 go down to a vertex, n .. 2n-1 up from it, 2n is the end.
        following = np.empty(2 * n + 1, np.int64)
        following[:n] = np.arange(n, 2 * n)  # down to a leaf, then up from it
        following[above[first]] = children[first]
        following[n : 2 * n] = n + parent
        last_of = np.flatnonzero(~first)
        following[n + children[last_of - 1]] = children[last_of]
        following[n + root] = following[2 * n] = 2 * n
        left = np.zeros(2 * n + 1, np.int64)
        left[:n] = 1
        for _ in range(int(2 * n).bit_length()):
            left += left[following]
            following = following[following]
        if (following != 2 * n).any() or int(left[root]) != n:
            raise TreeError("the parents have a cycle")
        place = n - left[:n]
        size = np.empty(n, np.int64)
        size[place] = left[:n] - left[n : 2 * n]
        return place, size

    @cached_property
    def order(self) -> Array:
        """The vertices by position."""
        order = np.empty(len(self.place), np.int64)
        order[self.place] = np.arange(len(self.place))
        return order

    @cached_property
    def depth(self) -> Array:
        """By position: the cost of the path to the root."""
        steps = np.zeros(len(self.place) + 1, np.int64)
        costs = self.cost[self.order]
        np.add.at(steps, np.arange(len(costs)) + self.size, -costs)
        steps[:-1] += costs
        return np.cumsum(steps)[:-1]

    @cached_property
    def _minima(self) -> Array:
        """Row k, position p: the least position of a parent of those at p to p + 2^k - 1."""
        above = self.place[self.parent[self.order]].astype(np.int32)
        rows = [above]
        reach = 1
        while 2 * reach <= len(above):
            last = rows[-1]
            following = last.copy()
            following[: len(above) - reach] = np.minimum(last[: len(above) - reach], last[reach:])
            rows.append(following)
            reach *= 2
        return np.stack(rows)

    def meeting(self, one: Array, other: Array) -> Array:
        """The position of the lowest common ancestor, for positions in pairs."""
        low, high = np.minimum(one, other), np.maximum(one, other)
        width = high - low
        level = _LOG[np.minimum(width, len(_LOG) - 1)] if len(self.place) <= len(_LOG) else _log(width)
        found = np.minimum(self._minima[level, low + (width > 0)], self._minima[level, high - (1 << level) + 1])
        return np.where(width == 0, low, found)

    def distances(self, one: Array, other: Array) -> Array:
        """The cost of the path between each pair of vertices."""
        p, q = self.place[one], self.place[other]
        return self.depth[p] + self.depth[q] - 2 * self.depth[self.meeting(p, q)]

    def connected(self, group: Array, vertex: Array, groups: int) -> Connected:
        """Prepares the smallest sub-trees of groups of terminals, given as pairs of group and vertex in any order."""
        n = len(self.place)
        keys = np.sort(group * n + self.place[vertex])
        owner, place = np.divmod(keys, n)
        fresh = np.ones(len(keys), bool)
        fresh[1:] = owner[1:] != owner[:-1]
        starts = np.flatnonzero(fresh)
        following = np.roll(place, -1)
        ends = np.append(starts[1:], len(keys)) - 1
        if len(keys):
            following[ends] = place[starts]
        return Connected(self, owner, place, self.meeting(place, following), groups)


@frozen(eq=False)
class Connected:
    """The smallest sub-trees that connect groups of terminals in one tree."""

    tree: Rooted
    owner: Array
    place: Array
    meeting: Array

    groups: int

    def costs(self) -> Array:
        """The cost of each group's sub-tree; 0 where it has one vertex or none (COST-4)."""
        found = np.zeros(self.groups, np.int64)
        np.add.at(found, self.owner, self.tree.depth[self.place] - self.tree.depth[self.meeting])
        return found

    def loads(self, weight: Array) -> Array:
        """For each vertex the weight of groups whose sub-tree has the link to its parent (COST-3)."""
        n = len(self.tree.place)
        steps = np.zeros(n + 1, np.int64)
        each = weight[self.owner]
        np.add.at(steps, self.place + 1, each)
        np.add.at(steps, self.meeting + 1, -each)
        sums = np.cumsum(steps)
        at = np.arange(n)
        below = sums[at + self.tree.size] - sums[at]
        found = np.empty(n, np.int64)
        found[self.tree.order] = below
        return found


def spanning(network: BrokerGraph, parent: Array) -> Rooted:
    """A spanning tree of the network (INV-2). `TreeError` where a parent is no neighbour, or there is a cycle."""
    if len(parent) != len(network):
        raise TreeError(f"{len(parent)} parents for {len(network)} brokers")
    links = network.links_to(parent)
    if (links == -2).any():
        v = int(np.flatnonzero(links == -2)[0])
        raise TreeError(f"there is no link from {network.names[v]} to its parent {network.names[int(parent[v])]}")
    tree = Rooted(parent, np.where(links < 0, 0, network.cost[links]))
    tree.order  # noqa: B018 - raises for a cycle
    return tree


def _log(values: Array) -> Array:
    return np.frexp(np.maximum(values, 1).astype(np.float64))[1].astype(np.int64) - 1


_LOG = _log(np.arange(1 << 15))
