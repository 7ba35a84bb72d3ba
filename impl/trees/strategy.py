"""Routing strategies: clusters of subscriptions with a spanning tree each, and what documents cost in them.

Costs are whole numbers: the sizes of documents times the costs of the links that they cross (COST-1, COST-2). Sums over
parts of a corpus add up to those of the whole, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from attrs import define, field, frozen

from routeproof.impl.trees.matching import Documents, Ragged, Subscriptions, distinct
from routeproof.impl.trees.network import Array, BrokerGraph
from routeproof.impl.trees.tree import Rooted, spanning


@frozen(eq=False)
class Strategy:
    """R of NET-2: the clusters partition the members of subscriptions; each tree spans the network."""

    cluster: Array
    """For each member its cluster."""
    parents: tuple[Array, ...]
    """For each cluster the parents in its tree."""
    constructions: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.parents)

    @classmethod
    def single(cls, members: int, parent: Array, construction: str) -> Strategy:
        """All members in one cluster."""
        return cls(np.zeros(members, np.int64), (parent,), (construction,))

    @classmethod
    def of_clusters(
        cls, members: int, clusters: Sequence[Array], parents: Sequence[Array], names: Sequence[str]
    ) -> Strategy:
        """A strategy from the members of each cluster."""
        cluster = np.full(members, -1, np.int64)
        for number, each in enumerate(clusters):
            cluster[each] = number
        if (cluster < 0).any() or sum(map(len, clusters)) != members:
            raise ValueError("the clusters are no partition of the members of subscriptions")
        return cls(cluster, tuple(parents), tuple(names))


@define
class RoutingCosts:
    """Costs of documents under one strategy, or under a baseline."""

    cost: int = 0
    """Sizes times the costs of links crossed."""
    messages: int = 0
    """Links crossed."""
    documents: int = 0
    """Documents that match a subscription at all."""
    sendings: int = 0
    """Pairs of a document and a tree that carries it (NET-3)."""
    deliveries: int = 0
    """Pairs of a document and a broker with a matching subscription."""
    copies: int = 0
    """Copies that arrive at these brokers, one for each tree (INV-4)."""
    load: Array = field(default=None)
    """For each link, the documents that cross it."""
    tree_cost: Array = field(default=None)

    @property
    def duplicates(self) -> int:
        """Copies that a host receives after the first."""
        return self.copies - self.deliveries

    @classmethod
    def none(cls, links: int, trees: int) -> RoutingCosts:
        return cls(load=np.zeros(links, np.int64), tree_cost=np.zeros(trees, np.int64))

    def add(self, other: RoutingCosts) -> None:
        for name in ("cost", "messages", "documents", "sendings", "deliveries", "copies"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.load += other.load
        self.tree_cost += other.tree_cost


def evaluate(
    network: BrokerGraph, strategy: Strategy, subscriptions: Subscriptions, documents: Documents, matched: Ragged
) -> RoutingCosts:
    """The costs of these documents. `matched` has the atoms that each matches."""
    totals = RoutingCosts.none(len(network.low), len(strategy))
    for first, last, doc, member in subscriptions.pairs(documents, matched):
        part = documents.slice(first, last)
        totals.documents += len(np.unique(doc))
        totals.deliveries += len(distinct(doc, subscriptions.host[member], len(network))[0])
        for cluster, doc_, host in _by_cluster(strategy, doc, member, subscriptions):
            _add_tree(network, strategy, cluster, part, doc_, host, totals)
    return totals


def _by_cluster(
    strategy: Strategy, doc: Array, member: Array, subscriptions: Subscriptions
) -> Iterator[tuple[int, Array, Array]]:
    if not len(member):
        return
    cluster = strategy.cluster[member]
    order = np.argsort(cluster, kind="stable")
    cluster, doc, host = cluster[order], doc[order], subscriptions.host[member[order]]
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    for first, last in zip(starts.tolist(), [*starts[1:].tolist(), len(cluster)], strict=True):
        yield int(cluster[first]), doc[first:last], host[first:last]


def _add_tree(
    network: BrokerGraph,
    strategy: Strategy,
    cluster: int,
    documents: Documents,
    doc: Array,
    host: Array,
    totals: RoutingCosts,
) -> None:
    tree = spanning(network, strategy.parents[cluster])
    doc, host = distinct(doc, host, len(network))
    docs, at = np.unique(doc, return_inverse=True)
    group = np.concatenate([at, np.arange(len(docs))])
    connected = tree.connected(group, np.concatenate([host, documents.publisher[docs]]), len(docs))
    cost = int((connected.costs() * documents.size[docs]).sum())
    totals.cost += cost
    totals.tree_cost[cluster] += cost
    totals.sendings += len(docs)
    totals.copies += len(doc)
    _add_load(network, tree, connected.loads(np.ones(len(docs), np.int64)), totals)


def _add_load(network: BrokerGraph, tree: Rooted, below: Array, totals: RoutingCosts) -> None:
    links = network.links_to(tree.parent)
    inner = links >= 0
    np.add.at(totals.load, links[inner], below[inner])
    totals.messages += int(below[inner].sum())


def saving(before: int, after: int) -> float:
    """The share of the cost that is saved; 0 where there was none (FLAG-20)."""
    return (before - after) / before if before else 0.0
