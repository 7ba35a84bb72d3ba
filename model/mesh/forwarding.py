"""Anchors, and the forwarding strategies of the mesh: to which ends of its links a broker sends a publication.

The anchor of a subscription is the broker within the radius toward which a publication is sent: `passed_on` adjusts it
where a subscription goes from one broker to the next (SUB-2, SUB-3), `working` turns it into the end of a link (SUB-5).

Each strategy is a function from a working map and the anchors of the matching subscriptions to a set of ends of links
(FWD-2 to FWD-6), as the paper prints it. Anchors here are those of the working table: ends of links. `carriers` then
maps what is meant for a candidate, which has no connection, to the link that carries it (FWD-9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from routeproof.model.mesh.maps import WorkingMap
from routeproof.model.mesh.state import Ends, MasterMap
from routeproof.model.overlay import Node

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


def working(view: WorkingMap, anchor: Node) -> Node | None:
    """SUB-5: the end of a link that stands for an anchor; None for an anchor that is not in the map."""
    return view.representative.get(anchor)
