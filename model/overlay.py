"""The overlay: an undirected tree of brokers.

`Overlay` is the one public name. Every protocol here rests on RTE-1: the overlay is acyclic and connected, so exactly
one path joins two brokers and removing a link leaves exactly two sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import networkx as nx
from attrs import field, frozen
from networkx.algorithms.isomorphism import GraphMatcher

from routeproof.model.fields import Node

__all__ = ["LOCAL", "Link", "Node", "Overlay", "OverlayError"]

LOCAL: Node = 0
Link = tuple[Node, Node]
"""A directed link (from, to); each edge of the overlay is two of them."""


class OverlayError(ValueError):
    """The edges given are not a tree over brokers 1..n; the message says why in one line."""


@frozen
class Overlay:
    """A tree over brokers `1..n`, with what protocols ask of it."""

    edges: tuple[Link, ...] = field()
    brokers: tuple[Node, ...] = field()

    @classmethod
    def of(cls, edges: Iterable[tuple[Node, Node]]) -> Overlay:
        """The overlay with these edges; a single broker is written as no edges at all."""
        normal = tuple(sorted((min(u, v), max(u, v)) for u, v in edges))
        brokers = tuple(sorted({b for edge in normal for b in edge})) or (1,)
        _refuse_what_is_no_tree(normal, brokers)
        return cls(normal, brokers)

    @classmethod
    def line(cls, n: int) -> Overlay:
        return cls.of((b, b + 1) for b in range(1, n))

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Every directed link, in ascending order: the order in which engines number them."""
        return tuple(sorted([(u, v) for u, v in self.edges] + [(v, u) for u, v in self.edges]))

    @cached_property
    def _graph(self) -> nx.Graph:
        graph = nx.Graph()
        graph.add_nodes_from(self.brokers)
        graph.add_edges_from(self.edges)
        return graph

    @cached_property
    def _neighbours(self) -> dict[Node, tuple[Node, ...]]:
        return {b: tuple(sorted(self._graph[b])) for b in self.brokers}

    @cached_property
    def _next_hop(self) -> dict[Node, dict[Node, Node]]:
        """For each destination, every broker's neighbour toward it."""
        return {to: {child: parent for parent, child in nx.bfs_edges(self._graph, to)} for to in self.brokers}

    def neighbours(self, broker: Node) -> tuple[Node, ...]:
        """In ascending order, which is the order in which a broker settles them."""
        return self._neighbours[broker]

    def toward(self, start: Node, end: Node) -> Node:
        """The neighbour of `start` on the way to `end`; `LOCAL` when already there."""
        return LOCAL if start == end else self._next_hop[end][start]

    def path(self, start: Node, end: Node) -> tuple[Node, ...]:
        """The brokers from `start` to `end`, both included."""
        return tuple(self._walk(start, end))

    def _walk(self, start: Node, end: Node) -> Iterator[Node]:
        yield start
        while start != end:
            start = self._next_hop[end][start]
            yield start

    def side(self, link: Link) -> frozenset[Node]:
        """The brokers on the near side of a link: those that stay with `link[0]` when it is cut."""
        near, far = link
        return frozenset(b for b in self.brokers if far not in self.path(b, near))

    def automorphisms(self) -> Iterator[dict[Node, Node]]:
        """The ways to rename brokers that leave the links the same."""
        return GraphMatcher(self._graph, self._graph).isomorphisms_iter()  # type: ignore[no-any-return]  # untyped


def _refuse_what_is_no_tree(edges: tuple[Link, ...], brokers: tuple[Node, ...]) -> None:
    for u, v in edges:
        if u == v:
            raise OverlayError(f"b{u} is linked to itself; the overlay must be a tree")
    if len(set(edges)) < len(edges):
        twice = next(e for e in edges if edges.count(e) > 1)
        raise OverlayError(f"link {list(twice)} is listed twice; the overlay must be a tree")
    if brokers != tuple(range(1, len(brokers) + 1)):
        missing = next(b for b in range(1, len(brokers) + 1) if b not in brokers)
        raise OverlayError(f"brokers must be numbered 1..n without gaps; {missing} is missing")
    graph = nx.Graph(edges)
    if edges and not nx.is_connected(graph):
        raise OverlayError("the overlay is not connected; expected a tree")
    if len(edges) != len(brokers) - 1:
        cycle = [u for u, _ in nx.find_cycle(graph)]
        raise OverlayError(f"the overlay has a cycle through brokers {cycle}; expected a tree")
