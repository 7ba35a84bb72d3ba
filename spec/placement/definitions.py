"""Costs of a publisher's place, by definition (`spec/placement.md`).

Each function walks the paths of every publication anew. They are slow on purpose: what POP and GRAPE compute by local
steps, vectors and caches is held to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from attrs import Factory, frozen

from routeproof.model.overlay import LOCAL, Node, Overlay

Deliveries = Mapping[Node, Mapping[int, int]]
"""By broker and publication, the number of local subscribers that received it."""


@frozen
class Delays:
    """Processing and queueing at brokers, for a message that goes on to a neighbour, or to a client (`LOCAL`)."""

    of: Mapping[tuple[Node, Node], float]
    pings: Mapping[Node, float] = Factory(dict)
    """Times from the publisher to a broker."""


def hops(overlay: Overlay, weights: Mapping[Node, float], root: Node) -> float:
    """The hops from the root to every subscriber, in sum."""
    return sum(weight * (len(overlay.path(root, broker)) - 1) for broker, weight in weights.items())


def best_by_hops(overlay: Overlay, weights: Mapping[Node, float]) -> frozenset[Node]:
    """The brokers from which the hops in sum are least: the weighted medians of the tree."""
    cost = {broker: hops(overlay, weights, broker) for broker in overlay.brokers}
    return frozenset(broker for broker, each in cost.items() if each == min(cost.values()))


def message_rate(overlay: Overlay, deliveries: Deliveries, root: Node) -> int:
    """The input messages of all brokers for one session, if the publisher were at the root."""
    publications = {p for counts in deliveries.values() for p, many in counts.items() if many}
    return sum(
        len({b for broker, counts in deliveries.items() if counts.get(p) for b in overlay.path(root, broker)})
        for p in publications
    )


def mean_delay(overlay: Overlay, deliveries: Deliveries, delays: Delays, root: Node) -> float:
    """The mean delay of a delivery, if the publisher were at the root. 0 where nothing was delivered."""
    total, many = 0.0, 0
    for broker, counts in deliveries.items():
        path = overlay.path(root, broker)
        steps = [*pairwise(path), (broker, LOCAL)]
        local = sum(counts.values())
        total += local * (delays.pings.get(root, 0.0) + sum(delays.of[step] for step in steps))
        many += local
    return total / many if many else 0.0
