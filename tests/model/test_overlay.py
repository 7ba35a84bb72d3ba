"""Overlays: what is no tree is refused with a reason, and the questions that protocols ask."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.model.overlay import LOCAL, Overlay, OverlayError


@st.composite
def trees(draw: st.DrawFn) -> Overlay:
    size = draw(st.integers(1, 10))
    return Overlay.of((draw(st.integers(1, b - 1)), b) for b in range(2, size + 1))


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        ([(1, 1)], "b1 is linked to itself"),
        ([(1, 2), (2, 1)], r"link \[1, 2\] is listed twice"),
        ([(1, 2), (2, 3), (3, 1)], "has a cycle through brokers"),
        ([(1, 2), (3, 4)], "is not connected"),
        ([(1, 3)], "2 is missing"),
        ([(0, 1)], "numbered 1..n"),
        ([(-1, 1)], "numbered 1..n"),
    ],
)
def test_what_is_no_tree_is_refused(edges: list[tuple[int, int]], reason: str) -> None:
    with pytest.raises(OverlayError, match=reason):
        Overlay.of(edges)


def test_one_broker_is_a_tree() -> None:
    alone = Overlay.of([])
    assert alone.brokers == (1,)
    assert alone.links == ()
    assert alone.path(1, 1) == (1,)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(trees())
def test_paths_sides_and_next_hops(overlay: Overlay) -> None:
    graph = nx.Graph(overlay.edges)
    graph.add_nodes_from(overlay.brokers)
    for start in overlay.brokers:
        assert overlay.neighbours(start) == tuple(sorted(graph[start]))
        for end in overlay.brokers:
            path = tuple(nx.shortest_path(graph, start, end))
            assert overlay.path(start, end) == path
            assert overlay.toward(start, end) == (path[1] if start != end else LOCAL)
    for near, far in overlay.links:
        cut = graph.copy()
        cut.remove_edge(near, far)
        assert overlay.side((near, far)) == nx.node_connected_component(cut, near)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(trees())
def test_automorphisms_keep_the_links(overlay: Overlay) -> None:
    found = list(overlay.automorphisms()) if len(overlay.brokers) <= 6 else []
    for renamed in found:
        assert Overlay.of((renamed[u], renamed[v]) for u, v in overlay.edges) == overlay
