"""Working maps: a broker's view of the mesh, by which it forwards.

`WorkingMap` is derived from the master map and from the broker's links alone (MESH-2): only the ends of its
links remain, in an array, each with the sets that the forwarding strategies need (MESH-3 to MESH-5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Literal

from attrs import frozen

from routeproof.model.mesh.state import MasterMap
from routeproof.model.overlay import Link, Node

Distance = Literal["primary", "contracted"]
"""MESH-4: by which distance a working map sorts its brokers."""


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
