"""ComputeTree (Algorithm 1 of 003): a spanning tree for one cluster of subscriptions, and its certificate.

The approximate Steiner trees of all documents are laid over each other (TREE-2, TREE-3); a spanning forest of low
stretch is computed for what they cover (TREE-4, one tree for each component, TREE-7); every broker outside is attached
(TREE-5). Several constructions are compared by what the sampled documents would cost, and the best is kept (LST-4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

import numpy as np
from attrs import field, frozen

from routeproof.impl.trees.matching import Documents, Ragged, distinct, ranges
from routeproof.impl.trees.network import Array, BrokerGraph
from routeproof.impl.trees.steiner import NO_LINKS, Disjoint, SteinerTrees
from routeproof.impl.trees.stretch import CONSTRUCTIONS, Multigraph
from routeproof.impl.trees.tree import Rooted, spanning

HUB = "hub"
ALL = (HUB, "star", "akpw")
"""Constructions, in the order in which equal costs are decided: a shortest-path tree from the hub (LST-3) first."""

Attachment: TypeAlias = Literal["hub", "nearest"]


class CertificateError(AssertionError):
    """A tree that costs more than its certificate allows, which no tree can."""


@frozen(eq=False)
class Certificate:
    """Upper and lower bounds of one cluster's cost (LST-5, INV-7)."""

    cost: int
    """Cost of the sampled documents in the tree (COST-1)."""
    stretched: int
    """Multiplicity of each link of the Steiner trees times the cost of the path between its ends in the tree."""
    steiner: int
    """Cost of all approximate Steiner trees: M of TREE-3. No tree costs less than half of it."""

    def __attrs_post_init__(self) -> None:
        if not self.steiner <= 2 * self.cost or not self.cost <= self.stretched:
            raise CertificateError(f"the certificate of a tree is violated: {self}")

    @property
    def stretch(self) -> float:
        """Average stretch: the tree costs at most twice as many times what the best tree costs (THM-1)."""
        return self.stretched / self.steiner if self.steiner else 1.0


@frozen(eq=False)
class Computed:
    """The tree of a cluster: the links that documents use, and how the rest is attached."""

    construction: str
    hub: int
    links: Array
    """Links of the forest over the Steiner trees; empty for a tree of shortest paths from the hub."""
    certificate: Certificate

    @property
    def cost(self) -> int:
        return self.certificate.cost

    def parents(self, network: BrokerGraph, attach: Attachment = "hub") -> Array:
        """The parent of each broker in the spanning tree, whose root is the hub."""
        return network.shortest_path_tree(self.hub) if self.construction == HUB else _attached(network, self, attach)


@frozen(eq=False)
class TerminalGroups:
    """Documents with the terminals of each (N_ij of NET-5), as sorted pairs of a position and a broker."""

    size: Array
    at: Array
    vertex: Array


@frozen(eq=False)
class Demand:
    """The sampled documents of one cluster: which document goes to which brokers.

    Terminals are computed for ranges of documents, so that a keyword that all want takes time, and not memory.
    """

    documents: Documents
    docs: Array
    """Documents that match, sorted."""
    rows: Ragged
    """For each, the rows of `hosts` with the brokers of its matching subscriptions."""
    hosts: Ragged
    brokers: int

    @cached_property
    def _ranges(self) -> list[tuple[int, int]]:
        return list(ranges(self.rows, self.hosts.lengths[self.rows.values]))

    @property
    def is_short(self) -> bool:
        """True if terminals are in one part."""
        return len(self._ranges) <= 1

    @cached_property
    def whole(self) -> TerminalGroups:
        return self._groups(0, len(self.docs))

    def groups(self) -> Iterator[TerminalGroups]:
        """The documents in order, in parts."""
        if self.is_short:
            yield self.whole
        else:
            yield from (self._groups(*each) for each in self._ranges)

    def _groups(self, first: int, last: int) -> TerminalGroups:
        docs = self.docs[first:last]
        at, host = self._deliveries(first, last)
        both = np.concatenate([at, np.arange(len(docs))]), np.concatenate([host, self.documents.publisher[docs]])
        return TerminalGroups(self.documents.size[docs], *distinct(*both, self.brokers))

    def _deliveries(self, first: int, last: int) -> tuple[Array, Array]:
        """Sorted pairs of a position in the range and a broker with a matching subscription."""
        part = self.rows.slice(first, last)
        host, of = self.hosts.take(part.values)
        return distinct(np.repeat(np.arange(last - first), part.lengths)[of], host, self.brokers)

    def weights(self) -> Array:
        """The weight of each broker as a terminal: each delivery counts its publisher and its host."""
        found = np.zeros(self.brokers, np.int64)
        for first, last in self._ranges:
            at, host = self._deliveries(first, last)
            docs = self.docs[first:last][at]
            np.add.at(found, host, self.documents.size[docs])
            np.add.at(found, self.documents.publisher[docs], self.documents.size[docs])
        return found


class Trees:
    """ComputeTree for one network: what its trees share is computed once."""

    def __init__(
        self,
        network: BrokerGraph,
        constructions: tuple[str, ...] = ALL,
        method: str = "paths",
        attach: Attachment = "hub",
    ) -> None:
        self.network = network
        self.attach: Attachment = attach
        self._constructions = constructions
        self._steiner = SteinerTrees(network, method)
        self.from_hub = lru_cache(maxsize=256)(self._from_hub)

    def _from_hub(self, hub: int) -> Rooted:
        return spanning(self.network, self.network.shortest_path_tree(hub))

    def hub(self, weights: Array) -> int:
        """The broker that is nearest to all terminals together (LST-3); broker 0 where there are none."""
        return int(distance_sums(self.network, weights).argmin())

    def hub_cost(self, demand: Demand, hub: int) -> int:
        """The cost of a demand in the tree of shortest paths from the hub."""
        return sum(_cost(self.from_hub(hub), each) for each in demand.groups())

    def compute(self, demand: Demand, hub: int | None = None) -> Computed:
        """The cheapest tree of all constructions. Without documents it is the one from the hub (TREE-9)."""
        if hub is None:
            hub = self.hub(demand.weights())
        many = np.zeros(len(self.network.low), np.int64)
        for each in demand.groups():
            trees = self._steiner.of_each(_rows(each))
            np.add.at(many, np.concatenate([NO_LINKS, *trees]), np.repeat(each.size, [len(tree) for tree in trees]))
        used = np.flatnonzero(many)
        covered = _Covered(self.network, used, many[used], demand)
        found: list[Computed] = []
        tried: set[bytes] = set()
        for construction in self._constructions:
            if construction == HUB:
                found.append(Computed(HUB, hub, used[:0], covered.certificate_of(self.from_hub(hub))))
                continue
            chosen = np.array(CONSTRUCTIONS[construction](covered.graph), np.int64)
            if chosen.tobytes() not in tried:  # the same forest again costs the same
                tried.add(chosen.tobytes())
                found.append(Computed(construction, hub, used[chosen], covered.certificate(chosen)))
        return min(found, key=lambda each: each.cost)

    def prepare(self, demands: Iterable[Demand]) -> None:
        """Computes the Steiner trees of several clusters together, except for clusters with very many terminals."""
        self._steiner.of_each([row for each in demands if each.is_short for row in _rows(each.whole)])


def distance_sums(network: BrokerGraph, weights: Array) -> Array:
    """For each broker the sum of its distances to all others, by weight; exact below 2^53."""
    found = np.zeros(len(network))
    terminals = np.flatnonzero(weights)
    for first in range(0, len(terminals), 512):
        some = terminals[first : first + 512]
        found += weights[some].astype(np.float64) @ network.distances[some].astype(np.float64)
    return found.astype(np.int64)


def _rows(groups: TerminalGroups) -> list[Array]:
    many = len(groups.size)
    return np.split(groups.vertex, np.searchsorted(groups.at, np.arange(1, many))) if many else []


def _cost(tree: Rooted, groups: TerminalGroups) -> int:
    costs = tree.connected(groups.at, groups.vertex, len(groups.size)).costs()
    return int((costs * groups.size).sum())


@frozen(eq=False)
class _Covered:
    """The links that the Steiner trees of a cluster cover, with the documents' terminals in it."""

    network: BrokerGraph
    used: Array
    """Links, sorted."""
    many: Array
    """Their multiplicities."""
    demand: Demand
    brokers: Array = field(init=False)
    """The ends of the links, sorted: vertex v of the graph is `brokers[v]`."""
    graph: Multigraph = field(init=False)

    @brokers.default
    def _brokers(self) -> Array:
        return np.unique(np.concatenate([self.network.low[self.used], self.network.high[self.used]]))

    @graph.default
    def _graph(self) -> Multigraph:
        ends = (
            np.searchsorted(self.brokers, side[self.used]).tolist() for side in (self.network.low, self.network.high)
        )
        links = zip(*ends, self.network.cost[self.used].tolist(), self.many.tolist(), strict=True)
        return Multigraph(list(links), len(self.brokers))

    def certificate(self, chosen: Array) -> Certificate:
        """The certificate of a spanning forest of the graph."""
        tree = _rooted(self.graph, chosen.tolist())
        low, high = (np.searchsorted(self.brokers, s[self.used]) for s in (self.network.low, self.network.high))
        return self._judged(tree, map(self._inside, self.demand.groups()), tree.distances(low, high))

    def _inside(self, groups: TerminalGroups) -> TerminalGroups:
        """With the vertices of the graph. Groups of one terminal may lie outside of it; they cost nothing."""
        several = np.bincount(groups.at, minlength=len(groups.size))[groups.at] > 1
        vertex = np.searchsorted(self.brokers, groups.vertex[several])
        return TerminalGroups(groups.size, groups.at[several], vertex)

    def certificate_of(self, tree: Rooted) -> Certificate:
        """The certificate of a spanning tree of the network."""
        between = tree.distances(self.network.low[self.used], self.network.high[self.used])
        return self._judged(tree, self.demand.groups(), between)

    def _judged(self, tree: Rooted, every: Iterable[TerminalGroups], between: Array) -> Certificate:
        return Certificate(
            sum(_cost(tree, each) for each in every),
            int((self.many * between).sum()),
            int((self.many * self.network.cost[self.used]).sum()),
        )


def _rooted(graph: Multigraph, chosen: list[int]) -> Rooted:
    """The forest with all its trees below one more vertex."""
    root = graph.vertices
    around: list[list[tuple[int, int]]] = [[] for _ in range(root)]
    for number in chosen:
        u, v, length, _ = graph.links[number]
        around[u].append((v, length))
        around[v].append((u, length))
    parent, cost = [-1] * root + [root], [0] * (root + 1)
    for start in range(root):
        if parent[start] >= 0:
            continue
        parent[start] = root
        waiting = [start]
        while waiting:
            v = waiting.pop()
            for other, length in around[v]:
                if parent[other] < 0:
                    parent[other], cost[other] = v, length
                    waiting.append(other)
    return Rooted(np.array(parent), np.array(cost))


def _attached(network: BrokerGraph, computed: Computed, attach: Attachment) -> Array:
    """The spanning tree that keeps the forest and closes no cycle (TREE-5 to TREE-8)."""
    forest = computed.links.tolist()
    if attach == "hub":
        parent = network.shortest_path_tree(computed.hub)
        links = network.links_to(parent)
        order = np.lexsort((np.arange(len(network)), network.distances[computed.hub]))
        others = [link for link in links[order].tolist() if link >= 0]
    else:
        covered = np.unique(np.concatenate([network.low[forest], network.high[forest], [computed.hub]]))
        distance, _, link = network.nearest(covered.tolist())
        far = np.array(distance)
        way = far[network.low] + network.cost + far[network.high]
        others = [each for each in link if each >= 0] + np.lexsort((np.arange(len(way)), way)).tolist()
    sets = Disjoint(len(network))
    low, high = network.low.tolist(), network.high.tolist()
    around: list[list[int]] = [[] for _ in range(len(network))]
    for at in (*forest, *others):
        if sets.join(low[at], high[at]):
            around[low[at]].append(high[at])
            around[high[at]].append(low[at])
    return rooted_at(computed.hub, around)


def rooted_at(root: int, around: list[list[int]]) -> Array:
    """The parents in a tree that is given by neighbours."""
    parent = [-1] * len(around)
    parent[root] = root
    waiting = [root]
    while waiting:
        v = waiting.pop()
        for other in around[v]:
            if parent[other] < 0:
                parent[other] = v
                waiting.append(other)
    return np.array(parent, np.int64)
