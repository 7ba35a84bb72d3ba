"""Overlay maps: what a broker knows of the primary network around it, and what its own links make of that.

`MasterMap` is the part of the primary network within a radius (MESH-1). `WorkingMap` is derived from it and from the
broker's links alone (MESH-2): only the ends of its links remain, in an array, each with the sets that the forwarding
strategies need (MESH-3 to MESH-6). Both are frozen values; nothing here sends a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Literal

from attrs import field, frozen

from routeproof.model.overlay import LOCAL, Link, Node, Overlay

Distance = Literal["primary", "contracted"]
"""MESH-4: by which distance a working map sorts its brokers."""


@frozen(cache_hash=True)
class MasterMap:
    """The primary links within a radius of a broker, each once, the lower number first."""

    centre: Node
    edges: tuple[Link, ...] = field()

    @classmethod
    def of(cls, overlay: Overlay, centre: Node, radius: int) -> MasterMap:
        """MESH-1: the sub-graph of the primary network that the brokers within the radius induce."""
        near = {b for b in overlay.brokers if len(overlay.path(centre, b)) <= radius + 1}
        return cls(centre, tuple(e for e in overlay.edges if near.issuperset(e)))

    @classmethod
    def within(cls, centre: Node, links: Iterable[Link], radius: int) -> MasterMap:
        """The part of these links that is within the radius of a broker."""
        whole = cls(centre, tuple(sorted(links)))
        near = {b for b in whole.brokers if whole.distance(b) <= radius}
        return cls(centre, tuple(e for e in whole.edges if near.issuperset(e)))

    @cached_property
    def _toward_centre(self) -> Mapping[Node, Node]:
        """Per broker its neighbour on the way to the centre, in ascending order of distance."""
        parent, frontier = {self.centre: LOCAL}, [self.centre]
        while frontier:
            steps = [(near, far) for near in frontier for far in self.neighbours(near) if far not in parent]
            parent.update({far: near for near, far in steps})
            frontier = [far for _, far in steps]
        return parent

    @property
    def brokers(self) -> tuple[Node, ...]:
        """The brokers of the map in ascending order of distance, the centre first."""
        return tuple(self._toward_centre)

    def neighbours(self, broker: Node) -> tuple[Node, ...]:
        """The brokers at the other end of the broker's primary links, in ascending order."""
        return tuple(sorted(v if u == broker else u for u, v in self.edges if broker in (u, v)))

    def path(self, broker: Node) -> tuple[Node, ...]:
        """The primary path from the centre to a broker, both included."""
        return tuple(self._back(broker))[::-1]

    def _back(self, broker: Node) -> Iterator[Node]:
        while broker != LOCAL:
            yield broker
            broker = self._toward_centre[broker]

    def distance(self, broker: Node) -> int:
        """Hops of the primary path from the centre to a broker."""
        return len(self.path(broker)) - 1

    def branch(self, broker: Node) -> Node:
        """The centre's primary neighbour on the way to a broker; `LOCAL` for the centre itself."""
        return LOCAL if broker == self.centre else self.path(broker)[1]


@frozen
class WorkingMap:
    """A broker's view of the mesh: the ends of its links, and where the others are that they stand for."""

    master: MasterMap
    array: tuple[Node, ...]
    """The ends of the broker's links, nearest first (MESH-4)."""
    representative: Mapping[Node, Node]
    """Per broker of the master map, the end of a link that it was merged into; an end of a link stands for itself."""

    @classmethod
    def of(cls, master: MasterMap, links: Iterable[Node], distance: Distance = "primary") -> WorkingMap:
        """MESH-2: the working map of these links: the broker's primary ones are always among them."""
        linked = {*master.neighbours(master.centre), *links}
        representative, hops = _contracted(master, linked)
        away = hops if distance == "contracted" else {v: master.distance(v) for v in linked}
        array = tuple(sorted(linked, key=lambda v: (away[v], v)))
        return cls(master, array, representative)

    @cached_property
    def between(self) -> Mapping[Node, frozenset[Node]]:
        """MESH-5: per end of a link, itself and the ends on the primary path to it."""
        return {n: frozenset(self.array).intersection(self.master.path(n)) for n in self.array}

    @cached_property
    def beyond(self) -> Mapping[Node, frozenset[Node]]:
        """MESH-5: per end of a link, itself and the ends whose primary path passes it."""
        return {n: frozenset(m for m in self.array if n in self.between[m]) for n in self.array}

    @cached_property
    def behind(self) -> Mapping[Node, frozenset[Node]]:
        """MESH-5: per end of a link, the ends in the other branches of the centre."""
        branch = self.master.branch
        return {n: frozenset(m for m in self.array if branch(m) != branch(n)) for n in self.array}


def _contracted(master: MasterMap, linked: set[Node]) -> tuple[dict[Node, Node], dict[Node, int]]:
    """MESH-3, as printed: merges each broker without a link, the farthest first, into its neighbour nearer the centre.

    Returns what each broker is represented by, and the hops from the centre to the ends of links in what remains.
    """
    nearer = {v: u for u, v in _steps(master)}
    members = {v: [v] for v in master.brokers}
    for broker in reversed(master.brokers):
        if broker not in linked and broker != master.centre:
            into = nearer.pop(broker)
            nearer.update({v: into for v, u in nearer.items() if u == broker})
            members[into] += members.pop(broker)
    representative = {v: into for into, merged in members.items() for v in merged}
    hops = {master.centre: 0}
    for broker in master.brokers:
        if broker in nearer:
            hops[broker] = hops[nearer[broker]] + 1
    return representative, hops


def _steps(master: MasterMap) -> Iterator[Link]:
    """The primary links of a map, each from the broker nearer the centre."""
    return (master.path(v)[-2:] for v in master.brokers[1:])  # type: ignore[misc]  # pairs


@cache
def working_map(master: MasterMap, links: frozenset[Node], distance: Distance = "primary") -> WorkingMap:
    """The working map of a master map and links; remembered, since few of them occur in one network."""
    return WorkingMap.of(master, links, distance)
