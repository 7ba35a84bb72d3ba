"""Cycle detection on arbitrary graphs, against networkx."""

from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.checker.explore.columns import Graph


def graph_of(edges: list[list[int]]) -> Graph:
    """States 0..n-1, the successors of each; every state counts as found from state 0."""
    graph = Graph()
    graph.parent.extend(np.zeros(len(edges), np.int32))
    sources = [source for source, targets in enumerate(edges) for _ in targets]
    flat = [target for targets in edges for target in targets]
    graph.add_edges(np.array(sources, np.int64), np.array(flat, np.int64), len(edges))
    return graph


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    st.integers(1, 12).flatmap(lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n))
)
def test_finds_a_cycle_where_there_is_one(edges: list[list[int]]) -> None:
    reference = nx.MultiDiGraph([(u, v) for u, targets in enumerate(edges) for v in targets])
    cycle = graph_of(edges).find_cycle()
    if nx.is_directed_acyclic_graph(reference):
        assert cycle is None
        return
    assert cycle is not None
    assert cycle[0] == cycle[-1]
    assert all(v in edges[u] for u, v in pairwise(cycle))
    on_cycle = [s for scc in nx.strongly_connected_components(reference) for s in scc if len(scc) > 1 or s in edges[s]]
    assert cycle[0] == min(on_cycle), "the cycle that a shortest run reaches first"
