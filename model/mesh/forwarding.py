"""Working maps, and the forwarding strategies of the mesh: to which ends of its links a broker sends a publication.

`WorkingMap` is a broker's view of the mesh. It is derived from the master map and from the broker's links alone
(MESH-2): only the ends of its links remain, in an array, each with the sets that the strategies need (MESH-3 to
MESH-5).

The anchor of a subscription is the broker within the radius toward which a publication is sent: `passed_on` adjusts it
where a subscription goes from one broker to the next (SUB-2, SUB-3), `working` turns it into the end of a link (SUB-5).

Each strategy is a function from a working map and the anchors of the matching subscriptions to a set of ends of links
(FWD-2 to FWD-6), as the paper prints it. Anchors here are those of the working table: ends of links. `carriers` then
maps what is meant for a candidate, which has no connection, to the link that carries it (FWD-9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Literal

from attrs import frozen

from routeproof.model.mesh.state import Ends, MasterMap
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Link, Node

# -- working maps ------------------------------------------------------------------------------------------------------

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


# -- strategies --------------------------------------------------------------------------------------------------------

Strategy = Literal["S0", "S1", "S2"]
Copies = Literal["nearest", "together", "each"]
"""FWD-9: how many copies one connection, and the ends beyond it, get."""


def s0(view: WorkingMap, anchors: Ends) -> Ends:
    """FWD-2, the baseline: the primary neighbours on the ways to the anchors, whatever other links there are."""
    return frozenset(view.master.branch(anchor) for anchor in anchors)


def s1(view: WorkingMap, anchors: Ends) -> Ends:
    """FWD-4 and FWD-5: one copy a branch, to the farthest end that lies on the ways to all anchors of the branch."""
    common: Ends = frozenset()
    for anchor in view.array:
        if anchor in anchors:
            way = view.between[anchor]
            common = common & (way | view.behind[anchor]) if common & way else common | way
    chosen: set[Node] = set()
    left = anchors
    for end in reversed(view.array):
        if end in common and left & view.beyond[end]:
            chosen.add(end)
            left -= view.beyond[end]
    return frozenset(chosen)


def s2(view: WorkingMap, anchors: Ends) -> Ends:
    """FWD-6: a copy to each anchor that has no other anchor on the way to it."""
    chosen: set[Node] = set()
    left = anchors
    for end in view.array:
        if end in left:
            chosen.add(end)
            left -= view.beyond[end]
    return frozenset(chosen)


STRATEGIES: Mapping[Strategy, Callable[[WorkingMap, Ends], Ends]] = {"S0": s0, "S1": s1, "S2": s2}


def downstream(view: WorkingMap, anchors: Ends, way: tuple[Node, ...]) -> Ends:
    """FWD-3: the anchors whose primary path meets none of the brokers that the publication has passed."""
    passed = set(way) - {view.master.centre}
    return frozenset(a for a in anchors if not passed.intersection(view.master.path(a)))


def carriers(view: WorkingMap, ends: Ends, connected: Ends, copies: Copies = "nearest") -> tuple[Node, ...]:
    """FWD-9: the connections that carry what is meant for these ends, in ascending order.

    An end without a connection is served through the farthest connected broker on the way to it. That broker forwards
    to all that lies beyond it: under `nearest` nothing else is sent there. Under `together` an end beyond it that has a
    connection gets a copy of its own as well, and under `each` every end has a copy.
    """
    each = [next(b for b in reversed(view.master.path(end)) if b in connected) for end in sorted(ends)]
    if copies == "each":
        return tuple(sorted(each))
    if copies == "together":
        return tuple(sorted(set(each)))
    return tuple(sorted(n for n in set(each) if not (set(each) - {n}) & view.between[n]))


# -- anchors -----------------------------------------------------------------------------------------------------------

Advance = Literal["receiver", "subscriber"]
"""SUB-3: in which direction an anchor that is too far away is moved by one hop."""


def passed_on(master: MasterMap, anchor: Node, radius: int, advance: Advance = "receiver") -> Node:
    """The anchor that a broker sends to its neighbours for a subscription whose anchor here is `anchor`.

    One that is less than the radius away stays. One at the radius would be too far for the neighbours: it goes one hop
    towards them, which is towards this broker. By the letter of the paper it goes toward the subscriber, and leaves
    the neighbours' maps; a broker passes on an anchor that it does not know as it is.
    """
    if anchor not in master.brokers or master.distance(anchor) < radius:
        return anchor
    if advance == "receiver":
        return master.path(anchor)[-2]
    farther = [n for n in master.neighbours(anchor) if n != master.path(anchor)[-2]]
    return farther[0] if farther else anchor  # nothing beyond the radius is known


@cache
def covering_set(subscriptions: tuple[Subscription, ...]) -> tuple[Subscription, ...]:
    """SUB-6: those that no other one covers; of equal filters the first one."""

    def covers(t: int, s: int) -> bool:
        wide, narrow = subscriptions[t].filter, subscriptions[s].filter
        return t != s and wide.covers(narrow) and (t < s or not narrow.covers(wide))

    every = range(len(subscriptions))
    return tuple(subscriptions[s] for s in every if not any(covers(t, s) for t in every))


def working(view: WorkingMap, anchor: Node) -> Node | None:
    """SUB-5: the end of a link that stands for an anchor; None for an anchor that is not in the map."""
    return view.representative.get(anchor)
