"""The order in which MULT merges clusters of subscriptions (Algorithm 3 of 003): by the documents that they share.

The order does not depend on costs (CLUS-10): it is a dendrogram, computed from sets of documents alone. The trees of
its nodes are then independent of each other. Similarities are quotients of counts below 2^26; two such quotients are
equal as floating-point numbers only if they are equal, so comparisons are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from attrs import field, frozen

from routeproof.impl.trees.computing import Demand, distance_sums
from routeproof.impl.trees.matching import Documents, Ragged, Subscriptions
from routeproof.impl.trees.network import Array, BrokerGraph

Start: TypeAlias = Literal["documents", "interests", "subscriptions"]
"""Which subscriptions form a cluster at the beginning: those with the same sampled documents, those with the same
predicate, or each alone, as printed in the paper.
"""


@frozen(eq=False)
class Units:
    """The clusters that clustering begins with (CLUS-1), and the sampled documents of each."""

    documents: Documents
    members: Ragged
    """For each unit its members; units are sorted by their first member."""
    docs: Ragged
    hosts: Ragged
    """For each unit the brokers of its members, sorted and distinct."""
    unsampled: Array
    """Members that match no sampled document; they are in no unit."""

    @classmethod
    def of(cls, subscriptions: Subscriptions, sample: Documents, start: Start = "documents") -> Units:
        matched = subscriptions.matched(sample)
        doc = np.repeat(np.arange(len(sample)), matched.lengths)
        order = np.argsort(matched.values, kind="stable")
        of_atom = Ragged.of_pairs(matched.values[order], doc[order], len(subscriptions.atoms))
        groups: dict[object, list[int]] = {}
        unsampled: list[int] = []
        for atom in range(len(subscriptions.atoms)):
            members = subscriptions.at_hosts.row(atom).tolist()
            docs = of_atom.row(atom)
            if not len(docs):
                unsampled += members
            elif start == "subscriptions":
                groups.update({member: [member] for member in members})
            else:
                key: object = docs.tobytes() if start == "documents" else ("atom", atom)
                groups.setdefault(key, []).extend(members)
        units = sorted(groups.values())
        return cls(
            sample,
            Ragged.of(units),
            Ragged.of([of_atom.row(int(subscriptions.atom[unit[0]])).tolist() for unit in units]),
            Ragged.of([np.unique(subscriptions.host[unit]).tolist() for unit in units]),
            np.array(unsampled, np.int64),
        )

    def __len__(self) -> int:
        return len(self.members)

    def demand(self, units: Array, brokers: int) -> Demand:
        """The documents of a cluster of units, and where each goes."""
        doc, at = self.docs.take(units)
        order = np.argsort(doc, kind="stable")
        docs, row = np.unique(doc, return_inverse=True)
        rows = Ragged.of_pairs(row[order], units[at[order]], len(docs))
        return Demand(self.documents, docs, rows, self.hosts, brokers)

    def distance_sums(self, network: BrokerGraph, unit: int) -> Array:
        """For each broker the distances to the publisher and to the host of each delivery of one unit, in sum."""
        docs, hosts = self.docs.row(unit), self.hosts.row(unit)
        size = self.documents.size[docs]
        weights = np.zeros(len(network), np.int64)
        np.add.at(weights, self.documents.publisher[docs], size * len(hosts))
        np.add.at(weights, hosts, int(size.sum()))
        return distance_sums(network, weights)

    @cached_property
    def bits(self) -> Array:
        """For each unit the set of its documents, a bit for each."""
        found = np.zeros((len(self), len(self.documents) // 64 + 1), np.uint64)
        unit = np.repeat(np.arange(len(self)), self.docs.lengths)
        flat = found.reshape(-1)
        place = unit * found.shape[1] + self.docs.values // 64
        np.bitwise_or.at(flat, place, np.uint64(1) << (self.docs.values % 64).astype(np.uint64))
        return found


# -- the most similar pairs --------------------------------------------------------------------------------------------


def similarities(bits: Array, counts: Array, one: Array, many: int) -> Array:
    """The Jaccard similarity of a set of documents with each of others; 0 where both are empty (CLUS-6)."""
    both = np.bitwise_count(bits & one).sum(axis=1, dtype=np.int64)
    return both / np.maximum(counts + many - both, 1)


def most_similar(bits: Array, first: int, last: int) -> list[tuple[float, int]]:
    """For each unit of a range the most similar unit after it, and how similar; (-1, -1) for the last."""
    counts = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    found = []
    for unit in range(first, last):
        if unit + 1 == len(bits):
            found.append((-1.0, -1))
        else:
            row = similarities(bits[unit + 1 :], counts[unit + 1 :], bits[unit], int(counts[unit]))
            at = int(row.argmax())
            found.append((float(row[at]), unit + 1 + at))
    return found


@frozen(eq=False)
class Dendrogram:
    """All clusters on the way from single units to one cluster. Nodes are the units, then the merges in their order."""

    units: int
    merges: tuple[tuple[int, int], ...]
    """Pairs of nodes; a merged cluster counts as its first unit where pairs are equally similar."""
    order: Array = field(init=False)
    """The units in an order in which those of each node stand together."""
    ranges: Array = field(init=False)
    """For each node, where its units begin and end in the order."""

    @order.default
    def _order(self) -> Array:
        order: list[int] = []
        waiting = [self.units + len(self.merges) - 1] if self.units else []
        while waiting:
            node = waiting.pop()
            if node < self.units:
                order.append(node)
            else:
                waiting += reversed(self.merges[node - self.units])
        return np.array(order, np.int64)

    @ranges.default
    def _ranges(self) -> Array:
        found = np.zeros((self.units + len(self.merges), 2), np.int64)
        found[self.order, 0] = np.arange(self.units)
        found[: self.units, 1] = found[: self.units, 0] + 1
        for node, (one, other) in enumerate(self.merges, self.units):
            found[node] = min(found[one, 0], found[other, 0]), max(found[one, 1], found[other, 1])
        return found

    def __len__(self) -> int:
        return len(self.ranges)

    def of_node(self, node: int) -> Array:
        """The units of a node."""
        first, last = self.ranges[node]
        return self.order[first:last]

    def level(self, clusters: int) -> list[int]:
        """The nodes that are there when so many clusters are left."""
        steps = self.merges[: self.units - clusters]
        gone = {node for pair in steps for node in pair}
        return [node for node in range(self.units + len(steps)) if node not in gone]

    def level_costs(self, costs: Sequence[int]) -> list[int]:
        """The cost of each level, from all units alone to one cluster, from the costs of nodes."""
        found = [sum(costs[: self.units])]
        for node, (one, other) in enumerate(self.merges, self.units):
            found.append(found[-1] + costs[node] - costs[one] - costs[other])
        return found


def dendrogram(bits: Array, nearest: Iterable[tuple[float, int]] | None = None) -> Dendrogram:
    """Merges the most similar pair, again and again; ties go to the smaller first unit, then to the smaller second.

    `nearest` is what `most_similar` finds for all units, if it is known. Each cluster keeps its most similar successor,
    so that hot keywords cost time, and no memory: no list of pairs is ever made.
    """
    k = len(bits)
    sets, counts = bits.copy(), np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    known = list(most_similar(bits, 0, k) if nearest is None else nearest)
    best = np.array([each[0] for each in known])
    partner = np.array([each[1] for each in known], np.int64)
    alive = np.ones(k, bool)
    node = list(range(k))
    merges = []
    for number in range(k, 2 * k - 1):
        one = int(np.where(alive, best, -2.0).argmax())
        other = int(partner[one])
        merges.append((node[one], node[other]))
        node[one] = number
        alive[other] = False
        best[other] = -2.0
        sets[one] |= sets[other]
        counts[one] = int(np.bitwise_count(sets[one]).sum())
        if number == 2 * k - 2:
            break
        _renew(sets, counts, alive, best, partner, one, other)
    return Dendrogram(k, tuple(merges))


def _renew(sets: Array, counts: Array, alive: Array, best: Array, partner: Array, one: int, other: int) -> None:
    """Finds the most similar successors anew that a merge may have changed."""
    living = np.flatnonzero(alive)
    row = similarities(sets[living], counts[living], sets[one], int(counts[one]))
    before = living[: int(np.searchsorted(living, one))]
    to_one = row[: len(before)]
    stale = (partner[before] == one) | (partner[before] == other)
    nearer = ~stale & ((to_one > best[before]) | ((to_one == best[before]) & (one < partner[before])))
    best[before[nearer]], partner[before[nearer]] = to_one[nearer], one
    # A cluster whose partner was merged keeps it if it is at least as similar as before; otherwise it looks again.
    kept = stale & (partner[before] == one) & (to_one >= best[before])
    best[before[kept]] = to_one[kept]
    again = before[stale & ~kept].tolist()
    between = living[(living > one) & (living < other)]
    again += between[partner[between] == other].tolist()
    after = living[len(before) + 1 :]
    if len(after):
        at = int(row[len(before) + 1 :].argmax())
        best[one], partner[one] = row[len(before) + 1 + at], after[at]
    else:
        best[one], partner[one] = -1.0, -1
    for unit in again:
        later = living[living > unit]
        if not len(later):
            best[unit], partner[unit] = -1.0, -1
            continue
        values = similarities(sets[later], counts[later], sets[unit], int(counts[unit]))
        at = int(values.argmax())
        best[unit], partner[unit] = values[at], later[at]


# -- hubs --------------------------------------------------------------------------------------------------------------


def hubs(network: BrokerGraph, units: Units, tree: Dendrogram) -> list[int]:
    """The hub of each node (LST-3). Sums of distances add up along the dendrogram."""
    if not len(units):
        return []
    found = [int(units.distance_sums(network, unit).argmin()) for unit in range(len(units))]
    sums: dict[int, Array] = {}
    for node, pair in enumerate(tree.merges, tree.units):
        parts = [sums.pop(each) if each >= tree.units else units.distance_sums(network, each) for each in pair]
        sums[node] = parts[0] + parts[1]
        found.append(int(sums[node].argmin()))
    return found


# -- subscriptions that match no sampled document ----------------------------------------------------------------------


def place_unsampled(
    network: BrokerGraph, subscriptions: Subscriptions, unsampled: Array, clusters: Sequence[Array]
) -> Array:
    """The cluster of each member without a sampled document, by how alike it is to the members of each (COORD-4).

    All increments of cost are 0. The cluster that shares most keywords with it comes first, then the one with the
    nearest host, then the first (FLAG-19).
    """
    near = np.array([network.distances[np.unique(subscriptions.host[each])].min(axis=0) for each in clusters])
    vocabulary = [_words(subscriptions, subscriptions.atom[each]) for each in clusters]
    atoms, of_atom = np.unique(subscriptions.atom[unsampled], return_inverse=True)
    found = np.zeros(len(unsampled), np.int64)
    for at, atom in enumerate(atoms.tolist()):
        mine = _words(subscriptions, [atom])
        shared = np.array([len(mine & words) for words in vocabulary])
        likely = np.flatnonzero(shared == shared.max())
        members = np.flatnonzero(of_atom == at)
        found[members] = likely[near[np.ix_(likely, subscriptions.host[unsampled[members]])].argmin(axis=0)]
    return found


def _words(subscriptions: Subscriptions, atoms: Iterable[int]) -> frozenset[str]:
    """The keywords of some atoms."""
    return frozenset(word for atom in set(atoms) for each in subscriptions.atoms[atom] for word in each)
