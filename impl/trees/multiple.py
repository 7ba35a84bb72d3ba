"""MULT, MULT2 and their hybrid: how many clusters of subscriptions, which, and with which trees.

MULT is Algorithm 3 of 003, MULT2 is Algorithm 2 (CLUS-4). Whatever can be computed independently goes through `Each`,
which a cluster of machines may spread; nothing depends on how it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Protocol, TypeVar

import numpy as np
from attrs import field, frozen

from routeproof.impl.trees.clustering import Dendrogram, Units, dendrogram, hubs, most_similar, place_unsampled
from routeproof.impl.trees.computing import ALL, Attachment, Computed, Trees
from routeproof.impl.trees.matching import Subscriptions
from routeproof.impl.trees.network import Array, BrokerGraph
from routeproof.impl.trees.strategy import Strategy

Task = TypeVar("Task")
Result = TypeVar("Result")

AT_ONCE = 64
"""Clusters whose Steiner trees are computed together."""

TASKS = 64
"""Tasks that the nodes of a dendrogram are dealt out to."""


@frozen
class Readings:
    """Choices that the paper leaves open, with the default of each (`spec/trees/computation.md`)."""

    constructions: tuple[str, ...] = ALL
    steiner: str = "paths"
    attach: Attachment = "hub"
    levels: int | None = 16
    """Levels of MULT for which all constructions are compared, those of least cost by trees from hubs; None: all."""
    overlapping: bool = True
    """MULT2 considers pairs of clusters that share a document only (CLUS-9)."""


@frozen(eq=False)
class Planning:
    """The values that tasks share: the network, the sampled documents and the units of clustering."""

    network: BrokerGraph
    units: Units
    readings: Readings = Readings()
    tree: Dendrogram = field(default=Dendrogram(0, ()))
    hubs: tuple[int, ...] = ()

    @cached_property
    def trees(self) -> Trees:
        readings = self.readings
        return Trees(self.network, readings.constructions, readings.steiner, readings.attach)

    def compute(self, units: Array, hub: int | None = None) -> Computed:
        """ComputeTree for a cluster of units."""
        return next(self.compute_each([(units, hub)]))

    def compute_each(self, clusters: Iterable[tuple[Array, int | None]]) -> Iterator[Computed]:
        """ComputeTree for several clusters of units, each with its hub if it is known."""
        left = iter(clusters)
        while some := list(islice(left, AT_ONCE)):
            demands = [self.units.demand(units, len(self.network)) for units, _ in some]
            self.trees.prepare(demands)
            yield from (self.trees.compute(demand, hub) for demand, (_, hub) in zip(demands, some, strict=True))


class Each(Protocol):
    """Calls a function for every task, with what all tasks share; results are in the order of tasks."""

    def __call__(
        self, function: Callable[[Planning, Task], Result], shared: Planning, tasks: Sequence[Task]
    ) -> list[Result]: ...


def in_one_process(
    function: Callable[[Planning, Task], Result], shared: Planning, tasks: Sequence[Task]
) -> list[Result]:
    """`Each` in this process."""
    return [function(shared, task) for task in tasks]


@frozen(eq=False)
class Multiple:
    """Clusters of units with their trees."""

    clusters: tuple[Array, ...]
    computed: tuple[Computed, ...]
    path: tuple[tuple[int, int, bool], ...] = ()
    """The levels passed: clusters, cost, and whether all constructions were compared there."""

    @property
    def cost(self) -> int:
        return sum(each.cost for each in self.computed)


# -- MULT --------------------------------------------------------------------------------------------------------------


def merged(network: BrokerGraph, units: Units, readings: Readings, each: Each = in_one_process) -> Planning:
    """The order of merges, with the hub of every node: all that MULT needs before it computes trees."""
    planning = Planning(network, units, readings)
    parts = [(first, min(len(units), first + 256)) for first in range(0, len(units), 256)]
    nearest = [pair for some in each(_most_similar, planning, parts) for pair in some]
    tree = dendrogram(units.bits, nearest)
    return Planning(network, units, readings, tree, tuple(hubs(network, units, tree)))


def mult(planning: Planning, each: Each = in_one_process) -> Multiple:
    """Merges by shared documents until one cluster is left, and returns the level of least cost, with its trees.

    Of equal levels the earlier counts, the one with more clusters (CLUS-3). The trees are the remembered ones (CLUS-7).
    The result costs no more than all units alone, nor than one cluster (CLUS-8).
    """
    tree = planning.tree
    if not tree.units:
        return Multiple((), ())
    by_hub = of_nodes(each, _hub_costs, planning, range(len(tree)))
    costs = tree.level_costs(by_hub)
    levels = planning.readings.levels
    chosen = range(len(costs))
    if levels is not None:
        chosen_ = sorted(range(len(costs)), key=lambda at: (costs[at], at))[: max(1, levels)]
        chosen = sorted({*chosen_, len(costs) - 1})  # type: ignore[assignment]  # a sequence of numbers too
    nodes_of = _levels(tree, chosen)
    nodes = sorted({node for level in nodes_of.values() for node in level})
    computed = dict(zip(nodes, of_nodes(each, _computed, planning, nodes), strict=True))
    exact = {at: sum(computed[node].cost for node in level) for at, level in nodes_of.items()}
    best = min(exact, key=lambda at: (exact[at], at))
    path = tuple((tree.units - at, exact.get(at, cost), at in exact) for at, cost in enumerate(costs))
    ordered = sorted(nodes_of[best], key=lambda node: int(tree.of_node(node).min()))
    return Multiple(
        tuple(np.sort(tree.of_node(node)) for node in ordered), tuple(computed[node] for node in ordered), path
    )


def _levels(tree: Dendrogram, chosen: Sequence[int]) -> dict[int, list[int]]:
    """The nodes of some levels."""
    wanted = set(chosen)
    alive = dict.fromkeys(range(tree.units))
    found = {0: list(alive)} if 0 in wanted else {}
    for at, pair in enumerate(tree.merges, 1):
        for node in pair:
            del alive[node]
        alive[tree.units + at - 1] = None
        if at in wanted:
            found[at] = list(alive)
    return found


def _most_similar(planning: Planning, part: tuple[int, int]) -> list[tuple[float, int]]:
    return most_similar(planning.units.bits, *part)


def _hub_costs(planning: Planning, nodes: Sequence[int]) -> list[int]:
    n = len(planning.network)
    return [
        planning.trees.hub_cost(planning.units.demand(planning.tree.of_node(node), n), planning.hubs[node])
        for node in nodes
    ]


def _computed(planning: Planning, nodes: Sequence[int]) -> list[Computed]:
    return list(planning.compute_each((planning.tree.of_node(node), planning.hubs[node]) for node in nodes))


def of_nodes(
    each: Each, function: Callable[[Planning, Sequence[int]], list[Result]], planning: Planning, nodes: Sequence[int]
) -> list[Result]:
    """The results for nodes, in their order; long nodes are dealt out first, so that tasks take about as long."""
    ranges = planning.tree.ranges
    longest_first = sorted(nodes, key=lambda node: (int(ranges[node, 0] - ranges[node, 1]), node))
    tasks = [longest_first[first::TASKS] for first in range(min(TASKS, len(longest_first)))]
    found: dict[int, Result] = {}
    for task, results in zip(tasks, each(function, planning, tasks), strict=True):
        found.update(zip(task, results, strict=True))
    return [found[node] for node in nodes]


# -- MULT2 -------------------------------------------------------------------------------------------------------------


def mult2(planning: Planning, each: Each = in_one_process, start: int | None = None) -> Multiple:
    """Merges the pair that saves most of its cost, until no pair saves any (CLUS-2).

    `start`: begin with so many clusters of MULT (CLUS-5); all units alone if it is None.
    """
    tree = planning.tree
    level = tree.level(min(tree.units, max(1, start))) if start and tree.units else list(range(tree.units))
    clusters = {at: np.sort(tree.of_node(node)) for at, node in enumerate(level)}
    alone = _in_tasks(each, _alone, planning, [clusters[at] for at in clusters])
    computed = dict(zip(clusters, alone, strict=True))
    docs = {at: _docs(planning.units, units) for at, units in clusters.items()}
    everything = not planning.readings.overlapping
    pairs = [(i, j) for i in clusters for j in clusters if i < j and (everything or (docs[i] & docs[j]).any())]
    together = _in_tasks(each, _together, planning, [(clusters[i], clusters[j]) for i, j in pairs])
    heap = [entry for pair, cost in zip(pairs, together, strict=True) if (entry := _entry(computed, pair, cost))]
    heapify(heap)
    path = [(len(clusters), sum(each.cost for each in computed.values()), True)]
    version = dict.fromkeys(clusters, 0)
    while heap:
        _, i, j, versions = heappop(heap)
        if versions != (version.get(i), version.get(j)):
            continue
        clusters[i] = np.sort(np.concatenate([clusters[i], clusters.pop(j)]))
        computed[i] = planning.compute(clusters[i])
        del computed[j], version[j]
        version[i] += 1
        docs[i] |= docs.pop(j)
        path.append((len(clusters), sum(each.cost for each in computed.values()), True))
        others = [k for k in clusters if k != i and (everything or (docs[i] & docs[k]).any())]
        for k, cost in zip(others, _together(planning, [(clusters[i], clusters[k]) for k in others]), strict=True):
            if entry := _entry(computed, (min(i, k), max(i, k)), cost, version):
                heappush(heap, entry)
    return Multiple(tuple(clusters.values()), tuple(computed.values()), tuple(path))


Entry = tuple[Fraction, int, int, tuple[int, int]]


def _entry(
    computed: dict[int, Computed], pair: tuple[int, int], cost: int, version: dict[int, int] | None = None
) -> Entry | None:
    """A pair that saves something, in the order in which pairs are merged: gain, then the smaller numbers (CLUS-6)."""
    i, j = pair
    apart = computed[i].cost + computed[j].cost
    if cost >= apart:
        return None
    return Fraction(cost - apart, apart), i, j, (version[i], version[j]) if version else (0, 0)


def _docs(units: Units, some: Array) -> Array:
    return np.bitwise_or.reduce(units.bits[some], axis=0)


def _in_tasks(
    each: Each, function: Callable[[Planning, Sequence[Task]], list[Result]], planning: Planning, every: Sequence[Task]
) -> list[Result]:
    size = max(1, -(-len(every) // TASKS))
    tasks = [every[first : first + size] for first in range(0, len(every), size)]
    return [result for results in each(function, planning, tasks) for result in results]


def _alone(planning: Planning, clusters: Sequence[Array]) -> list[Computed]:
    return list(planning.compute_each((units, None) for units in clusters))


def _together(planning: Planning, pairs: Sequence[tuple[Array, Array]]) -> list[int]:
    return [each.cost for each in planning.compute_each((np.sort(np.concatenate(pair)), None) for pair in pairs)]


# -- strategies --------------------------------------------------------------------------------------------------------


def strategy_of(planning: Planning, subscriptions: Subscriptions, found: Multiple) -> Strategy:
    """The routing strategy: the members of each cluster's units, and those that match no sampled document."""
    network = planning.network
    clusters = members_of(planning, subscriptions, found.clusters)
    if not found.clusters:
        hub = planning.trees.hub(np.bincount(subscriptions.host, minlength=len(network)))
        return Strategy.of_clusters(len(subscriptions.host), clusters, [network.shortest_path_tree(hub)], ["hub"])
    parents = [each.parents(network, planning.readings.attach) for each in found.computed]
    return Strategy.of_clusters(
        len(subscriptions.host), clusters, parents, [each.construction for each in found.computed]
    )


def members_of(planning: Planning, subscriptions: Subscriptions, clusters: Sequence[Array]) -> list[Array]:
    """The members of each cluster of units; one cluster where no sampled document matches anything (TREE-9)."""
    units = planning.units
    if not clusters:
        return [np.arange(len(subscriptions.host))]
    found = [units.members.take(each)[0] for each in clusters]
    placed = place_unsampled(planning.network, subscriptions, units.unsampled, found)
    return [np.sort(np.concatenate([each, units.unsampled[placed == at]])) for at, each in enumerate(found)]


def single(planning: Planning) -> Computed:
    """SINGLE: ComputeTree for all subscriptions."""
    return planning.compute(np.arange(len(planning.units)))
