"""Strategies that MULT is compared with: OPT, SPT, flooding and stand-ins for SemCast (B6 of the catalogue of 003).

OPT sends every document over an approximate Steiner tree of its own; it is no routing strategy, and no lower bound
either: a strategy costs at least half of it (COST-5). SemCast is not defined by 003; `channels` has what is assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice

import numpy as np
from attrs import frozen

from routeproof.impl.trees.clustering import Units
from routeproof.impl.trees.matching import Documents, Ragged, Subscriptions, distinct
from routeproof.impl.trees.multiple import Each, Planning, in_one_process, of_nodes
from routeproof.impl.trees.network import Array, BrokerGraph
from routeproof.impl.trees.steiner import SteinerTrees
from routeproof.impl.trees.strategy import RoutingCosts, Strategy
from routeproof.impl.trees.tree import Rooted, spanning

# -- OPT ---------------------------------------------------------------------------------------------------------------

SETS_AT_ONCE = 1024
"""Sets of terminals whose trees are computed together."""


@frozen
class TerminalSet:
    """Documents that go to the same brokers from the same broker."""

    terminals: bytes
    """Brokers in order, as 32-bit numbers."""
    size: int
    """The sizes of the documents, in sum."""
    documents: int
    hosts: int
    """Brokers with a matching subscription, for each document."""


def terminal_sets(
    subscriptions: Subscriptions, documents: Documents, matched: Ragged, brokers: int
) -> Iterator[TerminalSet]:
    """Each document's publisher and hosts; equal ones of some documents are taken together."""
    for first, last, every, member in subscriptions.pairs(documents, matched):
        found: dict[bytes, list[int]] = {}
        doc, host = distinct(every, subscriptions.host[member], brokers)
        part = documents.slice(first, last)
        docs, hosts = np.unique(doc, return_counts=True)
        both = np.concatenate([doc, docs]), np.concatenate([host, part.publisher[docs]])
        row, vertex = distinct(*both, brokers)
        starts = np.searchsorted(row, docs).tolist()
        data = vertex.astype(np.int32).tobytes()
        ends = [*starts[1:], len(row)]
        for start, end, size, many in zip(starts, ends, part.size[docs].tolist(), hosts.tolist(), strict=True):
            sums = found.setdefault(data[4 * start : 4 * end], [0, 0, 0])
            sums[0] += size
            sums[1] += 1
            sums[2] += many
        for terminals, (size_, many, hosts_) in found.items():
            yield TerminalSet(terminals, size_, many, hosts_)


def opt(network: BrokerGraph, trees: SteinerTrees, sets: Iterable[TerminalSet]) -> RoutingCosts:
    """The cost of documents over their own approximate Steiner trees."""
    totals = RoutingCosts.none(len(network.low), 1)
    left = iter(sets)
    while some := list(islice(left, SETS_AT_ONCE)):
        size, documents, hosts = np.array([(each.size, each.documents, each.hosts) for each in some]).T
        found = trees.of_each([np.frombuffer(each.terminals, np.int32) for each in some])
        lengths = [len(links) for links in found]
        links = np.concatenate(found)
        cost = int((network.cost[links] * np.repeat(size, lengths)).sum())
        load = np.zeros(len(network.low), np.int64)
        np.add.at(load, links, np.repeat(documents, lengths))
        many, copies = int(documents.sum()), int(hosts.sum())
        totals.add(RoutingCosts(cost, int(load.sum()), many, many, copies, copies, load, np.array([cost])))
    return totals


# -- trees that know no subscriptions ----------------------------------------------------------------------------------


def random_root(network: BrokerGraph, seed: int) -> int:
    """The root of SPT: a broker drawn by the seed."""
    digest = blake2b(b"root", digest_size=8, key=seed.to_bytes(8, "big")).digest()
    return int.from_bytes(digest, "big") % len(network)


def shortest_paths(network: BrokerGraph, members: int, seed: int) -> Strategy:
    """SPT: all subscriptions on a tree of shortest paths from a random root. Filters decide its cost."""
    return Strategy.single(members, network.shortest_path_tree(random_root(network, seed)), "shortest paths")


def flooding(network: BrokerGraph, filtered: RoutingCosts, sizes: int, root: int) -> RoutingCosts:
    """Documents that match something cross every link of the tree; `filtered` are the totals of the same tree."""
    tree = spanning(network, network.shortest_path_tree(root))
    links = network.links_to(tree.parent)
    load = np.zeros(len(network.low), np.int64)
    load[links[links >= 0]] = filtered.documents
    cost = int(tree.cost.sum()) * sizes
    return RoutingCosts(
        cost,
        (len(network) - 1) * filtered.documents,
        filtered.documents,
        filtered.documents,
        filtered.deliveries,
        filtered.deliveries,
        load,
        np.array([cost]),
    )


# -- channels ----------------------------------------------------------------------------------------------------------


@frozen(eq=False)
class Channel:
    """A group of subscriptions as in SemCast: a document that matches one of them goes to all brokers of the group."""

    tree: Rooted
    inside: Array
    """For each vertex, whether the sub-tree that connects the brokers of the group has it."""
    entry: Array
    """For each vertex, the first one on its path to the root that is inside."""

    @classmethod
    def of(cls, network: BrokerGraph, parent: Array, hosts: Array) -> Channel:
        """The channel of these brokers in a tree whose root is one of them."""
        tree = spanning(network, parent)
        inside = np.zeros(len(network), bool)
        connected = tree.connected(np.zeros(len(hosts), np.int64), hosts, 1)
        inside[connected.loads(np.ones(1, np.int64)) > 0] = True
        inside[tree.root] = True
        entry = np.where(inside, np.arange(len(network)), parent)
        for _ in range(len(network).bit_length()):
            entry = np.where(inside[entry], entry, entry[entry])
        return cls(tree, inside, entry)

    def costs(self, publisher: Array) -> Array:
        """For each publisher the cost of one document of size 1."""
        place, depth = self.tree.place, self.tree.depth
        group = int(self.tree.cost[self.inside].sum())
        return group + depth[place[publisher]] - depth[place[self.entry[publisher]]]

    def links(self, publisher: Array) -> Array:
        """For each publisher the links that one document crosses."""
        unit = Rooted(self.tree.parent, (self.tree.parent != np.arange(len(self.tree.parent))).astype(np.int64))
        return Channel(unit, self.inside, self.entry).costs(publisher)


def channel_root(network: BrokerGraph, hub: int, hosts: Array) -> int:
    """The broker of the group that is nearest to its hub."""
    return int(hosts[network.distances[hub][hosts].argmin()])


def own_channels(planning: Planning, each: Each = in_one_process) -> list[Array]:
    """The level of MULT's dendrogram whose channels cost least without filters: the units of each cluster."""
    tree = planning.tree
    if not tree.units:
        return []
    costs = tree.level_costs(of_nodes(each, _channel_costs, planning, range(len(tree))))
    best = min(range(len(costs)), key=lambda at: (costs[at], at))
    return sorted(map(tree.of_node, tree.level(tree.units - best)), key=lambda units: int(units.min()))


def _channel_costs(planning: Planning, nodes: Sequence[int]) -> list[int]:
    return [_channel_cost(planning.network, planning.units, planning.tree.of_node(n), planning.hubs[n]) for n in nodes]


def _channel_cost(network: BrokerGraph, units: Units, some: Array, hub: int) -> int:
    hosts = np.unique(units.hosts.take(some)[0])
    docs = np.unique(units.docs.take(some)[0])
    root = channel_root(network, hub, hosts)
    channel = Channel.of(network, network.shortest_path_tree(root), hosts)
    return int((channel.costs(units.documents.publisher[docs]) * units.documents.size[docs]).sum())


def channel_strategy(network: BrokerGraph, members: int, host: Array, clusters: Sequence[Array]) -> Strategy:
    """The trees of channels: shortest paths from the broker of each group that is nearest to all of it."""
    parents = []
    for each in clusters:
        hosts = np.unique(host[each])
        sums = network.distances[hosts][:, hosts].sum(axis=0, dtype=np.int64)
        parents.append(network.shortest_path_tree(int(hosts[sums.argmin()])))
    return Strategy.of_clusters(members, clusters, parents, ["channel"] * len(clusters))


def unfiltered(
    network: BrokerGraph, strategy: Strategy, subscriptions: Subscriptions, documents: Documents, matched: Ragged
) -> RoutingCosts:
    """The costs of documents that go to all brokers of each channel that they match."""
    totals = RoutingCosts.none(len(network.low), len(strategy))
    hosts = [np.unique(subscriptions.host[strategy.cluster == each]) for each in range(len(strategy))]
    sums = np.zeros((len(strategy), len(network)), np.int64)
    many = np.zeros((len(strategy), len(network)), np.int64)
    for first, last, every, member in subscriptions.pairs(documents, matched):
        part = documents.slice(first, last)
        totals.documents += len(np.unique(every))
        totals.deliveries += len(distinct(every, subscriptions.host[member], len(network))[0])
        doc, cluster = distinct(every, strategy.cluster[member], len(strategy))
        np.add.at(sums, (cluster, part.publisher[doc]), part.size[doc])
        np.add.at(many, (cluster, part.publisher[doc]), 1)
        totals.sendings += len(doc)
    for number in range(len(strategy)):
        channel = Channel.of(network, strategy.parents[number], hosts[number])
        publishers = np.flatnonzero(many[number])
        cost = int((channel.costs(publishers) * sums[number, publishers]).sum())
        totals.cost += cost
        totals.tree_cost[number] += cost
        totals.messages += int((channel.links(publishers) * many[number, publishers]).sum())
        totals.copies += len(hosts[number]) * int(many[number].sum())
    return totals
