"""The overlay, an undirected tree of brokers, and the topology: all nodes and channels there may ever be.

Every protocol here rests on RTE-1: the overlay is acyclic and connected, so exactly one path joins two brokers and
removing a link leaves exactly two sides. A `Topology` adds clients and coordinators that are nodes, with their roles
and names, and every directed FIFO channel. Which channels are in use at a moment is the protocol's state: a channel
that is opened carries a message that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from attrs import evolve, field, frozen

from routeproof.model.fields import Node

__all__ = ["LOCAL", "Link", "Node", "Overlay", "OverlayError"]

LOCAL: Node = 0
Link = tuple[Node, Node]
"""A directed link (from, to); each edge of the overlay is two of them."""

Role = Literal["broker", "client", "coordinator"]


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
    def _neighbours(self) -> dict[Node, tuple[Node, ...]]:
        return {broker: tuple(sorted(near)) for broker, near in _adjacent(self.edges, self.brokers).items()}

    @cached_property
    def _next_hop(self) -> dict[Node, dict[Node, Node]]:
        """For each destination, every broker's neighbour toward it."""
        return {to: _tree_from(to, self._neighbours) for to in self.brokers}

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
        from networkx import Graph
        from networkx.algorithms.isomorphism import GraphMatcher

        graph = Graph()
        graph.add_nodes_from(self.brokers)
        graph.add_edges_from(self.edges)
        return GraphMatcher(graph, graph).isomorphisms_iter()  # type: ignore[no-any-return]  # untyped


def _adjacent(edges: Iterable[Link], brokers: Iterable[Node]) -> dict[Node, list[Node]]:
    """Returns the neighbours of each broker."""
    near: dict[Node, list[Node]] = {broker: [] for broker in brokers}
    for u, v in edges:
        near[u].append(v)
        near[v].append(u)
    return near


def _tree_from(root: Node, near: Mapping[Node, Sequence[Node]]) -> dict[Node, Node]:
    """Returns the neighbour toward the root for each other broker that is connected with it, the nearest first."""
    toward: dict[Node, Node] = {}
    found = [root]
    for broker in found:
        new = [each for each in near[broker] if each != root and each not in toward]
        toward |= dict.fromkeys(new, broker)
        found += new
    return toward


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
    if len(_tree_from(brokers[0], _adjacent(edges, brokers))) < len(brokers) - 1:
        raise OverlayError("the overlay is not connected; expected a tree")
    if len(edges) != len(brokers) - 1:
        from networkx import Graph, find_cycle

        cycle = [u for u, _ in find_cycle(Graph(edges))]
        raise OverlayError(f"the overlay has a cycle through brokers {cycle}; expected a tree")


@frozen
class Topology:
    """Nodes are numbered 1..n, brokers first. `channels` are in ascending order: engines number them so."""

    roles: tuple[tuple[Node, Role], ...]
    channels: tuple[Link, ...]
    names: tuple[tuple[Node, str], ...] = ()
    """Names of the nodes; brokers without one are b1, b2, ..."""

    @classmethod
    def of(
        cls,
        overlay: Overlay,
        others: Mapping[str, Role] | None = None,
        channels: Iterable[tuple[Node | str, Node | str]] = (),
    ) -> Topology:
        """The brokers and links of the overlay, the other nodes by name, and channels both ways between the pairs."""
        others = others or {}
        number = {name: len(overlay.brokers) + i for i, name in enumerate(others, 1)}

        def node(end: Node | str) -> Node:
            return number[end] if isinstance(end, str) else end

        more = [(node(u), node(v)) for u, v in channels]
        both = {*overlay.links, *more, *((v, u) for u, v in more)}
        brokers: list[tuple[Node, Role]] = [(b, "broker") for b in overlay.brokers]
        return cls(
            (*brokers, *((number[name], role) for name, role in others.items())),
            tuple(sorted(both)),
            tuple((n, name) for name, n in number.items()),
        )

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(node for node, _ in self.roles)

    @cached_property
    def role(self) -> Mapping[Node, Role]:
        return dict(self.roles)

    @cached_property
    def _names(self) -> Mapping[Node, str]:
        return dict(self.names)

    def name(self, node: Node) -> str:
        """Name of a node in traces, `show` and errors."""
        return self._names.get(node, f"b{node}") if node != LOCAL else "a client"

    def with_brokers(self, names: Sequence[str]) -> Topology:
        """A topology with names for the brokers 1, 2, ..."""
        return evolve(self, names=(*enumerate(names, 1), *self.names)) if names else self

    def neighbours(self, node: Node) -> tuple[Node, ...]:
        """The nodes to which a node has a channel."""
        return tuple(far for near, far in self.channels if near == node)

    def numbered(self, name: str) -> Node:
        """The node of this name."""
        return next(node for node in self.nodes if self.name(node) == name)

    def having(self, role: Role) -> tuple[Node, ...]:
        """The nodes of a role."""
        return tuple(node for node, own in self.roles if own == role)
