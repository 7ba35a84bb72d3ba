"""The mesh's notions by their definitions on the tree: an oracle that shares nothing with the printed algorithms.

Everything here is computed from the whole primary network, with one question: which broker on which path.
"""

from __future__ import annotations

from collections.abc import Iterable

from routeproof.model.overlay import Link, Node, Overlay


def neighbourhood(overlay: Overlay, broker: Node, radius: int) -> tuple[Link, ...]:
    """MESH-1: the primary links of which both ends are within the radius."""
    return tuple(e for e in overlay.edges if all(len(overlay.path(broker, end)) - 1 <= radius for end in e))


def anchor_of(overlay: Overlay, broker: Node, home: Node, radius: int) -> Node:
    """SUB-4: the broker on the path to the subscriber's home, at the radius or, if that is nearer, the home itself."""
    path = overlay.path(broker, home)
    return path[min(radius, len(path) - 1)]


def linked(overlay: Overlay, broker: Node, links: Iterable[Node]) -> frozenset[Node]:
    """The ends of a broker's links, the primary ones among them."""
    return frozenset((*overlay.neighbours(broker), *links))


def end_for(overlay: Overlay, broker: Node, links: Iterable[Node], anchor: Node) -> Node:
    """MESH-3d: the farthest broker on the path to an anchor that the broker has a link to."""
    ends = linked(overlay, broker, links)
    return next(b for b in reversed(overlay.path(broker, anchor)) if b in ends)


def ends_of(
    overlay: Overlay, broker: Node, links: Iterable[Node], homes: Iterable[Node], radius: int, came_from: Node | None
) -> frozenset[Node]:
    """The ends that stand for these subscribers' homes, without those on the side that a publication came from."""
    upstream = overlay.toward(broker, came_from) if came_from is not None else None
    return frozenset(
        end_for(overlay, broker, links, anchor_of(overlay, broker, home, radius))
        for home in homes
        if home != broker and overlay.toward(broker, home) != upstream
    )


def farthest_common(overlay: Overlay, broker: Node, links: Iterable[Node], ends: frozenset[Node]) -> frozenset[Node]:
    """The choice that S1 is meant to make: per branch the farthest linked broker on the paths to all its ends."""
    chosen = set()
    for branch in overlay.neighbours(broker):
        paths = [overlay.path(broker, end) for end in ends if overlay.toward(broker, end) == branch]
        if paths:
            common = set(paths[0]).intersection(*paths[1:]) & linked(overlay, broker, links)
            chosen.add(max(common, key=lambda b: len(overlay.path(broker, b))))
    return frozenset(chosen)


def first_on_path(overlay: Overlay, broker: Node, ends: frozenset[Node]) -> frozenset[Node]:
    """Returns the choice that S2 is meant to make: the ends that have no other end on the path to them."""
    return frozenset(end for end in ends if not ends - {end} & set(overlay.path(broker, end)))
