"""Random cases for the computation of trees, and oracles that are slow on purpose: exact Steiner trees, brute force.

Nothing here uses the arrays of the reference: networks are networkx graphs, documents are sets of words.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, product

import networkx as nx
import numpy as np
from attrs import frozen
from hypothesis import strategies as st

from routeproof.impl.trees.clustering import Start, Units
from routeproof.impl.trees.corpus import Corpus
from routeproof.impl.trees.matching import Documents, Interest, Subscriptions
from routeproof.impl.trees.multiple import Planning, Readings, merged
from routeproof.impl.trees.network import Array, BrokerGraph
from routeproof.impl.trees.strategy import Strategy

WORDS = "abcd"
THOROUGH = Readings(levels=None)

Links = tuple[tuple[int, int, int], ...]


@frozen
class Case:
    """A network, documents and subscriptions. Brokers are numbers from 0."""

    links: Links
    documents: tuple[tuple[int, int, frozenset[str]], ...]
    """Publisher, size, words."""
    subscriptions: tuple[tuple[str, int, Interest], ...]

    @cached_property
    def network(self) -> BrokerGraph:
        return BrokerGraph.numbered(((a, b) for a, b, _ in self.links), {(a, b): c for a, b, c in self.links})

    @cached_property
    def graph(self) -> nx.Graph:
        graph = nx.Graph()
        graph.add_weighted_edges_from(self.links, "cost")
        return graph

    @cached_property
    def subscribed(self) -> Subscriptions:
        return Subscriptions.of(self.subscriptions)

    @cached_property
    def encoded(self) -> Documents:
        return self.subscribed.documents(self.documents)

    def planning(self, readings: Readings = THOROUGH, start: Start = "subscriptions") -> Planning:
        return merged(self.network, Units.of(self.subscribed, self.encoded, start), readings)

    def hosts(self, words: frozenset[str], ids: frozenset[str] | None = None) -> frozenset[int]:
        """The brokers with a matching subscription, of some subscriptions or of all."""
        return frozenset(
            broker
            for id, broker, interest in self.subscriptions
            if (ids is None or id in ids) and any(set(each) <= words for each in interest)
        )

    def ids(self, strategy: Strategy) -> list[frozenset[str]]:
        """The subscriptions of each cluster."""
        found: list[set[str]] = [set() for _ in strategy.parents]
        for at, id in enumerate(self.subscribed.ids):
            for member in self.subscribed.members.row(at).tolist():
                found[int(strategy.cluster[member])].add(id)
        return [frozenset(each) for each in found]


@st.composite
def cases(draw: st.DrawFn, most: int = 8, unit: bool = False, documents: int = 6) -> Case:
    n = draw(st.integers(2, most))
    links = {(draw(st.integers(0, v - 1)), v) for v in range(1, n)}
    links |= draw(st.sets(st.sampled_from(list(combinations(range(n), 2))), max_size=n))
    costs = st.just(1) if unit else st.sampled_from((1, 1, 2, 5))
    words = st.frozensets(st.sampled_from(WORDS), min_size=1, max_size=2)
    broker = st.integers(0, n - 1)
    sizes = st.just(1) if unit else st.sampled_from((1, 1, 3))
    interests = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2), min_size=1, max_size=2)
    wanted = draw(st.lists(st.tuples(broker, interests), min_size=1, max_size=6))
    return Case(
        tuple((a, b, draw(costs)) for a, b in sorted(links)),
        tuple(draw(st.lists(st.tuples(broker, sizes, words), min_size=1, max_size=documents))),
        tuple((f"s{at}", home, dnf(each)) for at, (home, each) in enumerate(wanted)),
    )


def dnf(alternatives: Sequence[Sequence[str]]) -> Interest:
    return tuple(sorted({tuple(sorted(set(each))) for each in alternatives}))


# -- oracles -----------------------------------------------------------------------------------------------------------


def exact_steiner(graph: nx.Graph, terminals: frozenset[int]) -> int:
    """The cost of a cheapest tree that connects the terminals (Dreyfus and Wagner)."""
    if len(terminals) < 2:
        return 0
    far = dict(nx.all_pairs_dijkstra_path_length(graph, weight="cost"))
    first, *others = sorted(terminals)
    best: dict[tuple[frozenset[int], int], int] = {}
    for t in others:
        for v in graph:
            best[frozenset((t,)), v] = far[t][v]
    for size in range(2, len(others) + 1):
        for some in map(frozenset, combinations(others, size)):
            smallest = min(some)
            halves = [
                frozenset((smallest, *part))
                for many in range(size - 1)
                for part in combinations(sorted(some - {smallest}), many)
            ]
            joined = {v: min(best[half, v] + best[some - half, v] for half in halves) for v in graph}
            for v in graph:
                best[some, v] = min(joined[u] + far[u][v] for u in graph)
    return best[frozenset(others), first]


def neighbours_in(parent: Sequence[int]) -> nx.Graph:
    """A tree from parents."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(parent)))
    graph.add_edges_from((v, p) for v, p in enumerate(parent) if p != v)
    return graph


def crossed(tree: nx.Graph, publisher: int, hosts: frozenset[int]) -> list[tuple[int, int]]:
    """Plays one document: from broker to broker, over each link behind which a matching subscription lies (NET-4)."""
    found = []
    waiting = [(publisher, publisher)]
    while waiting:
        v, came = waiting.pop()
        for other in tree.adj[v]:
            if other != came and _behind(tree, other, v) & hosts:
                found.append((min(v, other), max(v, other)))
                waiting.append((other, v))
    return found


def _behind(tree: nx.Graph, start: int, without: int) -> set[int]:
    seen, waiting = {start, without}, [start]
    while waiting:
        for other in tree.adj[waiting.pop()]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen - {without}


def spanning_trees(graph: nx.Graph) -> Iterator[nx.Graph]:
    """All spanning trees of a small graph."""
    for some in combinations(sorted(graph.edges), len(graph) - 1):
        tree = nx.Graph(some)
        tree.add_nodes_from(graph)
        if nx.is_connected(tree):
            yield tree


def routed_cost(graph: nx.Graph, tree: nx.Graph, demands: Sequence[tuple[int, int, frozenset[int]]]) -> int:
    """The cost of documents, given as publisher, size and hosts, in one tree."""
    return sum(
        size * sum(graph.edges[link]["cost"] for link in crossed(tree, publisher, hosts))
        for publisher, size, hosts in demands
        if hosts
    )


def best_tree(graph: nx.Graph, demands: Sequence[tuple[int, int, frozenset[int]]]) -> int:
    """The cost of the best single tree."""
    return min(routed_cost(graph, tree, demands) for tree in spanning_trees(graph))


def sets_of(bits: Array) -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()) for row in bits]


def naive_merges(sets: Sequence[frozenset[int]]) -> list[tuple[int, int]]:
    """Algorithm 3 to the letter, with the ties of CLUS-6."""
    clusters = {at: (at, docs) for at, docs in enumerate(sets)}
    found = []
    while len(clusters) > 1:
        pairs = [(i, j) for i, j in product(clusters, clusters) if i < j]
        i, j = min(pairs, key=lambda pair: (-_jaccard(clusters[pair[0]][1], clusters[pair[1]][1]), pair))
        found.append((clusters[i][0], clusters[j][0]))
        clusters[i] = len(sets) + len(found) - 1, clusters[i][1] | clusters[j][1]
        del clusters[j]
    return found


def _jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def with_a_hot_keyword(corpus: Corpus) -> Corpus:
    """The corpus with one more keyword, in nine of ten documents, and wanted at nine of ten brokers."""
    documents = [
        (id, publisher, size, sorted({*words, "hot"}) if at % 10 else words)
        for at, (id, publisher, size, words) in enumerate(corpus.documents)
    ]
    wanted: list[tuple[str, int, Interest]] = [
        (f"hot-{v}", v, (("hot",),)) for v in range(len(corpus.network)) if v % 10
    ]
    return Corpus(corpus.network, documents, corpus.subscriptions + wanted)
