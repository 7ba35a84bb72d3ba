"""Small networks of the mesh drawn at random: trees, mixes of strategies, links that come and go, loads and moves."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from routeproof.model.instance import Instance
from routeproof.model.instance_file import parse_instance


def network(
    draw: Random, most: int = 5, moves: int = 1, operations: int = 2, clients: int = 2, rounds: int = 0
) -> Instance:
    """`most`: brokers. `moves`: moves at most. `operations`: at most this many of each kind on links and loads.
    `clients`: the number of subscriptions, and one less of publications. `rounds`: the number of loads at most, and of
    rounds at the publisher's broker and at another one.
    """
    size = draw.randint(3, most)
    overlay = [[draw.randint(1, b - 1), b] for b in range(2, size + 1)]
    radius, home = draw.randint(2, size - 1), draw.randint(1, size)
    near = [[u, v] for u in range(1, size + 1) for v in range(1, size + 1) if 2 <= _hops(overlay, u, v) <= radius]

    def some(many: int, of: list[list[int]]) -> list[list[int]]:
        return draw.sample(of, min(len(of), draw.randint(0, many)))

    soft = some(2, near)
    candidates = some(1, [each for each in near if each not in soft])
    opens = some(operations, [each for each in near if each not in soft])
    mesh: dict[str, Any] = {
        "radius": radius,
        "strategies": [draw.choice(("S0", "S1", "S2", "SH")) for _ in range(size)],
        "soft": soft,
        "candidates": candidates,
        "opens": opens,
        "closes": some(operations, [*soft, *opens, *(each for each in candidates if each not in opens)]),
        "loaded": draw.sample(range(1, size + 1), draw.randint(0, min(1, operations))),
        "fanout": (fanout := _most_links(overlay, soft) + draw.randint(0, 1)),
        "maxlinks": fanout + draw.randint(1, 2),
        "weak": draw.choice((0, 0, 1)),
        "loads": [[b, draw.randrange(101)] for b in draw.sample(range(1, size + 1), draw.randint(0, rounds))],
        "rounds": [home, draw.randint(1, size)] * rounds,
        "factor": draw.choice(("min", "max")),
        "moves": some(moves, [each for each in near if each not in opens]),
    }
    mesh["refuses"] = [to for _, to in mesh["moves"][:1] if size % 2]
    mesh["calls_off"] = [mover for mover, _ in mesh["moves"][-1:] if radius == 2]
    table = {
        "name": "drawn",
        "protocol": "mesh",
        "policy": ["none"],
        "overlay": overlay,
        "advertisement": [{"id": "a", "at": home, "events": [0, 1]}],
        "subscription": [
            {"id": id, "at": draw.randint(1, size), "events": events, **({"unsubscribes": True} if withdrawn else {})}
            for id, events, withdrawn in (
                (id, draw.choice(([0], [0, 1])), draw.random() < 0.25) for id in "stuvwxyz"[:clients]
            )
        ],
        "publication": [{"id": id, "of": "a", "event": 0} for id in "opqr"[: max(1, clients - 1)]],
        "mesh": {key: value for key, value in mesh.items() if value},
    }
    return parse_instance(table, "drawn")


def _most_links(overlay: list[list[int]], soft: list[list[int]]) -> int:
    """The most primary and soft links of one broker."""
    return max(Counter([*(b for link in overlay for b in link), *(near for near, _ in soft)]).values())


def _hops(overlay: list[list[int]], start: int, end: int) -> int:
    around: dict[int, set[int]] = {}
    for u, v in overlay:
        around.setdefault(u, set()).add(v)
        around.setdefault(v, set()).add(u)
    hops, frontier, seen = 0, {start}, {start}
    while end not in frontier:
        frontier = {far for near in frontier for far in around[near]} - seen
        seen |= frontier
        hops += 1
    return hops
