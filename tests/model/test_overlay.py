"""Overlays: what is no tree is refused with a reason, and the questions that protocols ask."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.model.overlay import LOCAL, Overlay, OverlayError, Topology


@st.composite
def trees(draw: st.DrawFn) -> Overlay:
    size = draw(st.integers(1, 10))
    return Overlay.of((draw(st.integers(1, b - 1)), b) for b in range(2, size + 1))


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        ([(1, 1)], "b1 is linked to itself"),
        ([(2, 2), (1, 1)], "b1 is linked to itself"),
        ([(1, 2), (2, 1)], r"link \[1, 2\] is listed twice"),
        ([(1, 2), (2, 3), (3, 2)], r"link \[2, 3\] is listed twice"),
        ([(1, 2), (2, 3), (3, 1)], "has a cycle through brokers"),
        ([(1, 2), (3, 4)], "is not connected"),
        ([(1, 3)], "2 is missing"),
        ([(2, 3)], "1 is missing"),
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
    assert list(alone.automorphisms()) == [{1: 1}]


def test_a_line_and_the_order_of_its_links() -> None:
    assert Overlay.line(3) == Overlay.of([(3, 2), (1, 2)])
    assert Overlay.line(3).links == ((1, 2), (2, 1), (2, 3), (3, 2))


def test_a_topology_has_other_nodes_and_channels() -> None:
    topology = Topology.of(Overlay.line(3), {"c": "client", "d": "coordinator"}, [("d", 1), (3, "c")])
    assert topology.channels == ((1, 2), (1, 5), (2, 1), (2, 3), (3, 2), (3, 4), (4, 3), (5, 1))
    assert [topology.neighbours(node) for node in topology.nodes] == [(2, 5), (1, 3), (2, 4), (3,), (1,)]
    assert [topology.having(role) for role in ("broker", "client", "coordinator")] == [(1, 2, 3), (4,), (5,)]
    assert [topology.name(node) for node in (LOCAL, *topology.nodes)] == ["a client", "b1", "b2", "b3", "c", "d"]
    assert topology.with_brokers(()) == topology
    named = topology.with_brokers(("Ann", "Bob"))
    assert [named.name(node) for node in named.nodes] == ["Ann", "Bob", "b3", "c", "d"]
    assert [named.numbered(name) for name in ("Bob", "c")] == [2, 4]


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
