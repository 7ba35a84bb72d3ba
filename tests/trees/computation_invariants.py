"""The invariants INV-1 to INV-13 of the computation, each a function that fails with its id.

Hypothesis asks them about random cases, and every mutant of the computation has to violate the one that it names.
"""

from itertools import pairwise

import networkx as nx
import numpy as np
from attrs import evolve

from routeproof.impl.trees import multiple, strategy
from routeproof.impl.trees.clustering import dendrogram
from routeproof.impl.trees.computing import ALL, Computed, Trees
from routeproof.impl.trees.dynamics import ClusterCoordinator, Interested, Routes, Sampled, by_mult
from routeproof.impl.trees.multiple import Planning, Readings
from routeproof.impl.trees.steiner import METHODS
from routeproof.impl.trees.strategy import RoutingCosts, Strategy
from tests.trees.computation_cases import (
    THOROUGH,
    Case,
    best_tree,
    crossed,
    exact_steiner,
    naive_merges,
    neighbours_in,
    sets_of,
)

CONSTRUCTIONS = [(each,) for each in ALL] + [ALL]


def plans(case: Case) -> list[tuple[Planning, multiple.Multiple]]:
    planning = case.planning()
    return [(planning, multiple.mult(planning)), (planning, multiple.mult2(planning))]


def strategies(case: Case) -> list[Strategy]:
    return [multiple.strategy_of(planning, case.subscribed, found) for planning, found in plans(case)]


def totals(case: Case, chosen: Strategy) -> RoutingCosts:
    return strategy.evaluate(case.network, chosen, case.subscribed, case.encoded, case.subscribed.matched(case.encoded))


def inv_1(case: Case) -> None:
    """The clusters partition the subscriptions, whatever comes and goes."""
    for chosen in strategies(case):
        found = [id for ids in case.ids(chosen) for id in ids]
        assert sorted(found) == sorted(id for id, _, _ in case.subscriptions), "INV-1"
    routes = routed(case)
    for id, *_ in case.subscriptions[::2]:
        routes.delete(id)
    left = {id for id, _, _ in case.subscriptions[1::2]}
    assert set(routes.cluster) == set(routes.wanted) == left, "INV-1"


def inv_2(case: Case) -> None:
    """Every tree spans the network with links of it."""
    for constructions in CONSTRUCTIONS:
        for attach in ("hub", "nearest"):
            planning = case.planning(Readings(constructions=constructions, attach=attach, levels=None))
            for parents in multiple.strategy_of(planning, case.subscribed, multiple.mult(planning)).parents:
                tree = neighbours_in(parents.tolist())
                assert nx.is_tree(tree), "INV-2"
                assert all(case.graph.has_edge(*link) for link in tree.edges), "INV-2"


def inv_3(case: Case) -> None:
    """The links that a played document crosses, each once, are those that are counted."""
    for chosen in strategies(case):
        load = dict.fromkeys(zip(case.network.low.tolist(), case.network.high.tolist(), strict=True), 0)
        for parents, ids in zip(chosen.parents, case.ids(chosen), strict=True):
            tree = neighbours_in(parents.tolist())
            for publisher, _, words in case.documents:
                links = crossed(tree, publisher, case.hosts(words, ids))
                assert len(links) == len(set(links)), "INV-3"
                for link in links:
                    load[link] += 1
        found = totals(case, chosen)
        assert list(load.values()) == found.load.tolist(), "INV-3"
        assert sum(load.values()) == found.messages, "INV-3"


def inv_4(case: Case) -> None:
    """Each matching broker receives each document, once from each tree with a match there; no other broker does."""
    for chosen in strategies(case):
        copies = deliveries = 0
        for publisher, _, words in case.documents:
            received: set[int] = set()
            for parents, ids in zip(chosen.parents, case.ids(chosen), strict=True):
                hosts = case.hosts(words, ids)
                links = crossed(neighbours_in(parents.tolist()), publisher, hosts)
                assert hosts <= {publisher, *(v for link in links for v in link)}, "INV-4"
                copies += len(hosts)
                received |= hosts
            assert received == case.hosts(words), "INV-4, INV-5"
            deliveries += len(received)
        found = totals(case, chosen)
        assert (found.copies, found.deliveries) == (copies, deliveries), "INV-4"


def inv_6(case: Case) -> None:
    """The counted cost is the played one, and no less than documents over exact Steiner trees of their own."""
    exact = sum(
        size * exact_steiner(case.graph, case.hosts(words) | {publisher})
        for publisher, size, words in case.documents
        if case.hosts(words)
    )
    for (planning, found), chosen in zip(plans(case), strategies(case), strict=True):
        played = 0
        for parents, ids in zip(chosen.parents, case.ids(chosen), strict=True):
            tree = neighbours_in(parents.tolist())
            for publisher, size, words in case.documents:
                links = crossed(tree, publisher, case.hosts(words, ids))
                played += size * sum(case.graph.edges[link]["cost"] for link in links)
        total = totals(case, chosen)
        assert played == total.cost == int(total.tree_cost.sum()) == found.cost, "INV-6"
        assert planning.units.documents is case.encoded
        assert total.cost >= exact, "INV-6"


def computed(case: Case) -> list[Computed]:
    """A tree for all subscriptions by every construction."""
    planning = case.planning()
    every = np.arange(len(planning.units))
    return [
        Trees(case.network, constructions, method).compute(planning.units.demand(every, len(case.network)))
        for constructions in CONSTRUCTIONS
        for method in METHODS
    ]


def inv_7(case: Case) -> None:
    """The certificate of every tree: cost at most the stretched multiplicities, the Steiner trees at most twice it."""
    best = best_tree(case.graph, [(p, s, case.hosts(words)) for p, s, words in case.documents])
    for each in computed(case):
        certificate = each.certificate
        assert certificate.cost <= certificate.stretched, "INV-7"
        assert certificate.steiner <= 2 * best <= 2 * certificate.cost, "INV-7"
        assert certificate.cost <= 2 * certificate.stretch * best + 1e-9, "INV-7, THM-1"
        tree = neighbours_in(each.parents(case.network).tolist())
        assert certificate.cost == sum(
            s * sum(case.graph.edges[link]["cost"] for link in crossed(tree, p, case.hosts(words)))
            for p, s, words in case.documents
        ), "INV-7"


def inv_8(case: Case) -> None:
    """MULT ends at its cheapest level: no more than all units alone, nor than one cluster."""
    planning = case.planning()
    found = multiple.mult(planning)
    if not found.clusters:
        return
    assert found.cost == min(cost for _, cost, _ in found.path), "INV-8"
    first = next(clusters for clusters, cost, _ in found.path if cost == found.cost)
    assert len(found.clusters) == first, "INV-8, CLUS-3"
    assert found.path[-1][:2] == (1, multiple.single(planning).cost), "INV-8"
    again = [planning.compute(units).cost for units in found.clusters]
    assert again == [each.cost for each in found.computed], "INV-8, CLUS-7"
    screened = multiple.mult(case.planning(evolve(THOROUGH, levels=2)))
    assert screened.cost == min(cost for _, cost, _ in screened.path), "INV-8, levels"
    assert sorted(unit for each in found.clusters for unit in each.tolist()) == list(range(len(planning.units)))


def inv_9(case: Case) -> None:
    """MULT2 saves with every merge, and stops when no pair saves anything."""
    planning = case.planning(evolve(THOROUGH, overlapping=False))
    found = multiple.mult2(planning)
    costs = [cost for _, cost, _ in found.path]
    assert all(after < before for before, after in pairwise(costs)), "INV-9"
    assert found.cost == (costs[-1] if costs else 0), "INV-9"
    for i, one in enumerate(found.clusters):
        for j, other in enumerate(found.clusters[:i]):
            together = planning.compute(np.sort(np.concatenate([one, other]))).cost
            assert together >= found.computed[i].cost + found.computed[j].cost, "INV-9"


def routed(case: Case) -> Routes:
    """All subscriptions, inserted one by one into the clusters of MULT for the first half."""
    half = case.subscriptions[: len(case.subscriptions) // 2]
    routes = by_mult(case.network, THOROUGH)({id: Interested(b, i) for id, b, i in half}, sampled(case))
    before = routes.cost(sampled(case))
    for id, broker, interest in case.subscriptions[len(half) :]:
        elsewhere = []
        for at in range(len(routes.parents)):
            there = Routes(
                case.network,
                routes.parents,
                routes.cluster | {id: at},
                routes.wanted | {id: Interested(broker, interest)},
            )
            elsewhere.append(there.cost(sampled(case)))
        increment = routes.insert(id, Interested(broker, interest), sampled(case))
        after = routes.cost(sampled(case))
        assert increment == after - before >= 0, "INV-10"
        assert after == min(elsewhere), "INV-10, COORD-4"
        before = after
    return routes


def sampled(case: Case) -> tuple[Sampled, ...]:
    return tuple(Sampled(at, p, s, words) for at, (p, s, words) in enumerate(case.documents))


def inv_10(case: Case) -> None:
    """Insertions cost least, deletions nothing; what is installed saves more than the threshold."""
    routes = routed(case)
    before = routes.cost(sampled(case))
    for id, *_ in case.subscriptions:
        routes.delete(id)
        after = routes.cost(sampled(case))
        assert after <= before, "INV-10"
        before = after
    assert before == 0, "INV-10"
    coordinator = ClusterCoordinator(Routes.around(case.network), 0.1, len(case.documents))
    for document in sampled(case):
        coordinator.sample(document)
    half = len(case.subscriptions) // 2
    for id, broker, interest in case.subscriptions[:half]:
        coordinator.insert(id, Interested(broker, interest))
    proposal = coordinator.propose(by_mult(case.network, THOROUGH))
    for id, broker, interest in case.subscriptions[half:]:
        coordinator.insert(id, Interested(broker, interest))
    if half:
        coordinator.delete(case.subscriptions[0][0])
    present = set(coordinator.routes.wanted)
    decision = coordinator.decide(proposal)
    assert set(coordinator.routes.wanted) == present, "INV-10, COORD-7"
    assert decision.installed == (10 * decision.after < 9 * decision.before), "INV-10"
    assert coordinator.routes.cost(coordinator.window) == (decision.after if decision.installed else decision.before), (
        "INV-10"
    )


def inv_12(case: Case) -> None:
    """Sizes doubled, links subdivided, a leaf added, a document that matches nothing: costs change as they must."""
    mult = [found.cost for _, found in plans(case)]
    double = evolve(case, documents=tuple((p, 2 * s, w) for p, s, w in case.documents))
    assert [found.cost for _, found in plans(double)] == [2 * cost for cost in mult], "INV-12"
    shapes = [[c.tolist() for c in found.clusters] for _, found in plans(case)]
    assert [[c.tolist() for c in found.clusters] for _, found in plans(double)] == shapes, "INV-12"
    n = len(case.network)
    leaf = evolve(case, links=(*case.links, (0, n, 1)))
    assert [found.cost for _, found in plans(leaf)] == mult, "INV-12"
    more = evolve(case, documents=(*case.documents, (0, 1, frozenset(("unmatched",)))))
    assert [found.cost for _, found in plans(more)] == mult, "INV-12"
    dearer = evolve(case, links=tuple((a, b, 3 * c) for a, b, c in case.links))
    assert [found.cost for _, found in plans(dearer)] == [3 * cost for cost in mult], "INV-12"


def inv_12_exact(case: Case) -> None:
    """Links subdivided and brokers renamed, with exact trees: costs double, and stay."""
    demands = [(p, s, case.hosts(words)) for p, s, words in case.documents]
    best = best_tree(case.graph, demands)
    n = len(case.network)
    divided = nx.Graph()
    for at, (a, b, c) in enumerate(case.links):
        divided.add_edge(a, n + at, cost=c)
        divided.add_edge(n + at, b, cost=c)
    terminals = [hosts | {p} for p, _, hosts in demands if hosts]
    for some in terminals:
        assert exact_steiner(divided, some) == 2 * exact_steiner(case.graph, some), "INV-12"
    renamed = evolve(
        case,
        links=tuple((n - 1 - b, n - 1 - a, c) for a, b, c in case.links),
        documents=tuple((n - 1 - p, s, w) for p, s, w in case.documents),
        subscriptions=tuple((id, n - 1 - b, i) for id, b, i in case.subscriptions),
    )
    demands = [(p, s, renamed.hosts(words)) for p, s, words in renamed.documents]
    assert best_tree(renamed.graph, demands) == best, "INV-12"
    for one in computed(renamed):
        assert best <= one.cost, "INV-12"


def inv_13(case: Case) -> None:
    """Approximate Steiner trees: trees that connect their terminals, which are their leaves, within the factor 2."""
    for publisher, _, words in case.documents:
        terminals = case.hosts(words) | {publisher}
        exact = exact_steiner(case.graph, terminals)
        for name in METHODS:
            (links,) = Trees(case.network, ALL, name)._steiner.of_each([np.array(sorted(terminals))])
            tree = nx.Graph([(int(case.network.low[at]), int(case.network.high[at])) for at in links])
            if len(terminals) == 1:
                assert not len(links), "INV-13"
                continue
            assert nx.is_tree(tree), "INV-13"
            assert set(tree) >= terminals, "INV-13"
            assert all(v in terminals for v in tree if tree.degree[v] == 1), "INV-13"
            cost = int(case.network.cost[links].sum())
            assert exact <= cost, "INV-13"
            assert cost * len(terminals) <= 2 * (len(terminals) - 1) * exact, "INV-13"


def merges(case: Case) -> None:
    """The order of merges is that of Algorithm 3 to the letter (CLUS-3, CLUS-6, CLUS-10)."""
    bits = case.planning().units.bits
    assert list(dendrogram(bits).merges) == naive_merges(sets_of(bits)), "CLUS-3"


def distances(case: Case) -> None:
    """Distances and shortest-path trees are those of networkx, with costs that are alike and that differ widely."""
    n = len(case.network)
    wide = evolve(case, links=tuple((a, b, 100 * (a + b) + c) for a, b, c in case.links))
    for each in (case, wide):
        far = dict(nx.all_pairs_dijkstra_path_length(each.graph, weight="cost"))
        assert each.network.distances.tolist() == [[far[u][v] for v in range(n)] for u in range(n)], "NET-1"
        assert each.network._distances_by_heap().tolist() == each.network.distances.tolist(), "NET-1"
        for root in range(n):
            tree = neighbours_in(each.network.shortest_path_tree(root).tolist())
            for u, v in tree.edges:
                tree.edges[u, v]["cost"] = each.graph.edges[u, v]["cost"]
            assert nx.single_source_dijkstra_path_length(tree, root, weight="cost") == far[root], "NET-1"
