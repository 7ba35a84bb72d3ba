"""Small networks with cycles drawn at random: strategies of spanning trees, clusters, clients that come and go."""

from __future__ import annotations

from random import Random
from typing import Any

from routeproof.model.instance import Instance
from routeproof.model.instance_file import parse_instance

Links = list[list[int]]


def network(
    draw: Random, most: int = 6, strategies: int = 3, clients: int = 3, readings: dict[str, str] | None = None
) -> Instance:
    """`most`: brokers. `strategies`: at most so many, two at least. `clients`: subscriptions, and publications."""
    size = draw.randint(2, most)
    overlay = [[draw.randint(1, b - 1), b] for b in range(2, size + 1)]
    chords = [[u, v] for v in range(1, size + 1) for u in range(1, v) if [u, v] not in overlay]
    links = draw.sample(chords, draw.randint(0, min(3, len(chords))))
    drawn = [
        [spanning(draw, [*overlay, *links], size) for _ in range(draw.randint(1, 3))]
        for _ in range(draw.randint(2, strategies))
    ]
    table: dict[str, Any] = {
        "name": "drawn",
        "protocol": "trees",
        "policy": "none",
        "overlay": overlay,
        "advertisement": [{"id": id, "at": draw.randint(1, size), "events": [0, 1]} for id in "ab"],
        "subscription": [
            {
                "id": id,
                "at": draw.randint(1, size),
                "events": draw.choice(([0], [0, 1], [1])),
                "clusters": [
                    sorted(draw.sample(range(1, len(trees) + 1), min(len(trees), draw.choice((1, 1, 2)))))
                    for trees in drawn
                ],
                **({"unsubscribes": True} if draw.random() < 0.4 else {}),
            }
            for id in "stuv"[:clients]
        ],
        "publication": [{"id": id, "of": draw.choice("ab"), "event": draw.choice((0, 1))} for id in "pqrx"[:clients]],
        "trees": {"links": links, "strategies": drawn, **(readings or {})},
    }
    return parse_instance(table, "drawn")


def spanning(draw: Random, network: Links, size: int) -> Links:
    """A spanning tree: links in a drawn order, without those that would close a cycle."""
    part, edges = list(range(size + 1)), []
    for u, v in draw.sample(network, len(network)):
        if part[u] != part[v]:
            edges.append([u, v])
            part = [part[v] if each == part[u] else each for each in part]
    return edges
