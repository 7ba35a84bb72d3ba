"""The paper's examples with their exact costs, and families on which its theorems show (golden tests G3-1 to G3-7)."""

from collections.abc import Sequence
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from routeproof.impl.trees import steiner
from routeproof.impl.trees.clustering import Start, Units
from routeproof.impl.trees.computing import ALL, HUB
from routeproof.impl.trees.matching import Subscriptions, interest
from routeproof.impl.trees.multiple import Planning, Readings, merged, mult, mult2, single
from routeproof.impl.trees.network import Array, BrokerGraph, NetworkError
from routeproof.impl.trees.tree import TreeError, spanning
from tests.trees.computation_cases import THOROUGH, best_tree, exact_steiner, routed_cost

Documents = list[tuple[int, int, list[str]]]
Wants = list[tuple[str, int, list[str]]]


def planning(
    network: BrokerGraph, documents: Documents, wants: Wants, readings: Readings = THOROUGH, start: Start = "interests"
) -> Planning:
    subscriptions = Subscriptions.of((id, home, interest(words, needs_all=True)) for id, home, words in wants)
    return merged(network, Units.of(subscriptions, subscriptions.documents(documents), start), readings)


def unit(graph: nx.Graph) -> nx.Graph:
    nx.set_edge_attributes(graph, 1, "cost")
    return graph


def example_2(n: int, x: int) -> tuple[nx.Graph, nx.Graph, list[int]]:
    """Example I.2: the graph, its row alone, and the brokers v_0 to v_n."""
    v = list(range(n + 1))
    h = [n + 1 + i for i in range(n + 1)]
    free = 2 * n + 2
    row = nx.Graph(zip(v, h, strict=True))

    def path(graph: nx.Graph, start: int, end: int, links: int) -> None:
        nonlocal free
        inner = list(range(free, free + links - 1))
        free += links - 1
        graph.add_edges_from(pairwise([start, *inner, end]))

    for one, other in pairwise(h):
        path(row, one, other, x)
    graph = row.copy()
    for each in v[1:]:
        path(graph, v[0], each, x + 2)
    return unit(graph), unit(row), v


@pytest.mark.parametrize(("n", "x", "tree", "routing", "best"), [(3, 3, 13, 24, 15), (4, 6, 29, 68, 32)])
@pytest.mark.parametrize("construction", ALL)
def test_example_i_2(n: int, x: int, tree: int, routing: int, best: int, construction: str) -> None:
    graph, row, v = example_2(n, x)
    assert exact_steiner(graph, frozenset(v)) == tree == row.number_of_edges()
    assert routed_cost(row, row, [(v[0], 1, frozenset((each,))) for each in v[1:]]) == routing
    documents: Documents = [(v[0], 1, [f"k{i}"]) for i in v[1:]]
    wants: Wants = [(f"s{i}", i, [f"k{i}"]) for i in v[1:]]
    found = single(
        planning(BrokerGraph.numbered(graph.edges), documents, wants, Readings(constructions=(construction,)))
    )
    assert found.cost == best == n * (x + 2)
    assert found.certificate.stretch == 1


@pytest.mark.parametrize(("n", "two", "one"), [(6, 6, 8), (10, 10, 14)])
@pytest.mark.parametrize("start", ["subscriptions", "interests", "documents"])
def test_example_i_3(n: int, two: int, one: int, start: Start) -> None:
    network = BrokerGraph.numbered([(v, (v + 1) % n) for v in range(n)])
    wants: Wants = [(f"a{v}", v, ["a"]) for v in range(1, n // 2 + 1)]
    wants += [(f"b{v}", v % n, ["b"]) for v in range(n // 2, n + 1)]
    made = planning(network, [(0, 1, ["a"]), (0, 1, ["b"])], wants, start=start)
    assert mult(made).cost == two
    assert len(mult(made).clusters) == 2
    assert single(made).cost == one
    demands = [(0, 1, frozenset(range(1, n // 2 + 1))), (0, 1, frozenset({0, *range(n // 2, n)}))]
    assert best_tree(unit(nx.cycle_graph(n)), demands) == one


def test_example_i_1() -> None:
    """A document with one of two keywords does not cross the last link to the subscription that needs both."""
    subscriptions = Subscriptions.of(
        [("both", 2, interest(["nokia", "motorola"], needs_all=True)), ("one", 3, interest(["nokia"], needs_all=True))]
    )
    documents = subscriptions.documents([(0, 1, ["motorola", "nokia"]), (0, 1, ["nokia"]), (0, 1, ["motorola"])])
    matched = subscriptions.matched(documents)
    hosts = [{int(subscriptions.host[subscriptions.at_hosts.row(a)[0]]) for a in matched.row(d)} for d in range(3)]
    assert hosts == [{2, 3}, {3}, set()]
    network = BrokerGraph.numbered([(0, 1), (1, 2), (1, 3)])
    made = merged(network, Units.of(subscriptions, documents, "interests"), THOROUGH)
    assert single(made).cost == 3 + 2


@pytest.mark.parametrize("construction", ALL)
@pytest.mark.parametrize("seed", range(3))
def test_one_document_costs_its_steiner_tree_and_one_host_its_distances(construction: str, seed: int) -> None:
    """G3-4 for low-stretch trees (the union of Steiner trees is a tree), G3-5 for trees from the hub."""
    graph = nx.connected_watts_strogatz_graph(60, 4, 0.2, seed=seed)
    network = BrokerGraph.numbered(graph.edges)
    homes = list(range(5, 50, 7))
    made = planning(
        network,
        [(0, 1, ["k"])],
        [(f"s{v}", v, ["k"]) for v in homes],
        Readings(constructions=(construction,)),
    )
    if construction != HUB:
        found = single(made)
        assert found.cost == found.certificate.steiner
    documents: Documents = [(p, 1 + p % 3, ["k"]) for p in range(0, 60, 4)]
    alone = planning(network, documents, [("s", 17, ["k"])], Readings(constructions=(construction,)))
    if construction == HUB:
        assert single(alone).cost == sum(size * int(network.distances[p, 17]) for p, size, _ in documents)


@pytest.mark.parametrize(("d", "a", "apart", "together"), [(5, 3, 15, 14), (7, 4, 21, 19)])
def test_mult2_stops_above_one_cluster(
    d: int, a: int, apart: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G3-6: no pair of three saves anything, all three together do. Steiner trees have to be exact for that."""
    graph = nx.Graph()
    free = 5
    for start, links in ((0, d), (4, a)):
        for end in (1, 2, 3):
            nx.add_path(graph, [start, *range(free, free + links - 1), end])
            free += links - 1
    network = BrokerGraph.numbered(graph.edges)

    def exact(network: BrokerGraph, terminals: Array) -> Array:
        """Tries the middle as one more terminal; the test holds the result to the exact cost."""
        found = min(steiner.by_paths(network, [terminals, np.insert(terminals, 1, 4)]), key=len)
        assert len(found) == exact_steiner(unit(graph), frozenset(terminals.tolist()))
        return found

    def by_joining(network: BrokerGraph, sets: Sequence[Array]) -> list[Array]:
        return [exact(network, each) if len(each) < 4 else _via(graph, network, 4, each) for each in sets]

    monkeypatch.setitem(steiner.METHODS, "exact", by_joining)
    made = planning(
        network,
        [(0, 1, ["k"])],
        [(f"s{v}", v, ["k"]) for v in (1, 2, 3)],
        Readings(steiner="exact", levels=None),
        "subscriptions",
    )
    assert mult2(made).cost == apart
    assert len(mult2(made).clusters) == 3
    assert mult(made).cost == together


def _via(graph: nx.Graph, network: BrokerGraph, middle: int, terminals: Array) -> Array:
    """The tree in which all but the first terminal meet in the middle."""
    others = terminals[1:].tolist()
    ends = [(middle, v) for v in others] + [(others[0], int(terminals[0]))]
    used = {frozenset(link) for one, other in ends for link in pairwise(nx.shortest_path(graph, one, other))}
    links = zip(network.low.tolist(), network.high.tolist(), strict=True)
    return np.array([at for at, link in enumerate(links) if frozenset(link) in used])


def test_theorem_iv_2_the_gap_grows() -> None:
    """G3-7: on random 3-regular graphs with a document for each link, the best tree built grows like log n."""
    ratios = []
    for n in (32, 128, 512):
        graph = nx.random_regular_graph(3, n, seed=1)
        links = sorted(tuple(sorted(link)) for link in graph.edges)
        made = planning(
            BrokerGraph.numbered(links),
            [(u, 1, [f"k{u}-{v}"]) for u, v in links],
            [(f"s{u}-{v}", v, [f"k{u}-{v}"]) for u, v in links],
        )
        found = single(made)
        assert found.certificate.steiner == len(links)
        ratios.append(found.cost / len(links))
    assert ratios[0] + 0.7 < ratios[1] < ratios[2] - 0.7
    assert all(ratio > 0.4 * np.log2(n) for ratio, n in zip(ratios, (32, 128, 512), strict=True))


@pytest.mark.parametrize(
    ("links", "complaint"),
    [
        ([], "has no links"),
        ([("a", "a", 1)], "joins 'a' to itself"),
        ([("a", "b", 0)], "costs 0"),
        ([("a", "b", 1_000_001)], "costs 1000001"),
        ([("a", "b", 1), ("b", "a", 2)], "with the costs 1 and 2"),
        ([("a", "b", 1), ("c", "d", 1)], "no path from 'a' to 'c'"),
        ([(f"a{v}", f"a{v + 1}", 1) for v in range(20_000)], "20,001 brokers"),
    ],
)
def test_networks_that_are_refused(links: list[tuple[str, str, int]], complaint: str) -> None:
    with pytest.raises(NetworkError, match=complaint):
        BrokerGraph.of(links)


@pytest.mark.parametrize("parents", [[0, 1, 1], [1, 2, 0], [0, 0, 0], [0, 0]])
def test_parents_that_are_no_spanning_tree_are_refused(parents: list[int]) -> None:
    with pytest.raises(TreeError):
        spanning(BrokerGraph.numbered([(0, 1), (1, 2)]), np.array(parents))


def test_a_long_chain_is_measured_by_other_means(monkeypatch: pytest.MonkeyPatch) -> None:
    """More hops than rounds of relaxation."""
    monkeypatch.setattr("routeproof.impl.trees.network.ROUNDS", 16)
    n = 40
    network = BrokerGraph.numbered([(v, v + 1) for v in range(n)])
    assert network.distances[0].tolist() == list(range(n + 1))
    dear = BrokerGraph.numbered([(v, v + 1) for v in range(n)], {(0, 1): 3})
    assert dear.distances[0].tolist() == [0, *range(3, n + 3)]
