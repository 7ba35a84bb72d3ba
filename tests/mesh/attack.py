"""The attack on the move of a broker: all combinations of tree, move, radius, soft links, subscribers and publisher.

Trees are taken once each, up to the names of brokers. What is in flight when the move begins, or while it lasts, is the
search's matter: the publication and the subscriptions come at any moment. Soft links are open from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product
from random import Random
from typing import Any

from attrs import frozen

from routeproof.checker.evaluation import Result
from routeproof.checker.explore import explore
from routeproof.model.instance_file import parse_instance
from routeproof.model.overlay import Link, Overlay
from routeproof.model.protocols import world

TREES: dict[int, tuple[tuple[Link, ...], ...]] = {
    3: (((1, 2), (2, 3)),),
    4: (((1, 2), (2, 3), (3, 4)), ((1, 2), (1, 3), (1, 4))),
    5: (
        ((1, 2), (2, 3), (3, 4), (4, 5)),
        ((1, 2), (2, 3), (3, 4), (2, 5)),
        ((1, 2), (1, 3), (1, 4), (1, 5)),
    ),
}
"""The trees of each size, up to the names of brokers."""


@frozen
class Attack:
    """One combination. `refuses`: the new neighbour takes no mover."""

    tree: tuple[Link, ...]
    move: Link
    radius: int
    soft: tuple[Link, ...]
    subscribers: tuple[int, ...]
    publisher: int
    refuses: bool = False

    @property
    def table(self) -> dict[str, Any]:
        """The table of the instance."""
        mesh: dict[str, Any] = {"radius": self.radius, "soft": [list(each) for each in self.soft]}
        mesh |= {"moves": [list(self.move)], "refuses": [self.move[1]] if self.refuses else []}
        return {
            "name": "attack",
            "protocol": "mesh",
            "policy": ["none"],
            "overlay": [list(link) for link in self.tree],
            "advertisement": [{"id": "a", "at": self.publisher, "events": [0]}],
            "subscription": [
                {"id": id, "at": at, "events": [0]} for id, at in zip("stuvw", self.subscribers, strict=False)
            ],
            "publication": [{"id": "p", "of": "a", "event": 0}],
            "mesh": mesh,
        }

    def search(self, most: int) -> Result:
        return search(self.table, most)


def search(table: dict[str, Any], most: int) -> Result:
    return explore(world(parse_instance(table, "attack"), "none"), max_states=most)


def moves(tree: tuple[Link, ...]) -> Iterator[tuple[Link, int]]:
    """Every move that is possible, with its distance."""
    overlay = Overlay.of(tree)
    for mover, to in product(overlay.brokers, repeat=2):
        if (hops := len(overlay.path(mover, to)) - 1) > 1:
            yield (mover, to), hops


def attacks(size: int, links: int, subscribers: int) -> Iterator[Attack]:
    """All combinations with at most so many soft links and subscribers."""
    for tree in TREES[size]:
        overlay = Overlay.of(tree)
        for (move, hops), radius in product(moves(tree), range(2, size)):
            if radius < hops:
                continue
            near = [(u, v) for u, v in product(overlay.brokers, repeat=2) if 2 <= len(overlay.path(u, v)) - 1 <= radius]
            for soft in chain.from_iterable(combinations(near, n) for n in range(links + 1)):
                for many in range(1, subscribers + 1):
                    for homes in combinations(overlay.brokers, many):
                        for publisher in overlay.brokers:
                            yield Attack(tree, move, radius, soft, homes, publisher)


def sampled(size: int, links: int, subscribers: int, many: int, seed: int = 1) -> list[Attack]:
    """Some of them at random, one in four refused."""
    draw, found = Random(seed), list[Attack]()
    while len(found) < many:
        tree = draw.choice(TREES.get(size) or [tuple((draw.randint(1, b - 1), b) for b in range(2, size + 1))])
        overlay = Overlay.of(tree)
        possible = list(moves(tree))
        move, hops = draw.choice(possible)
        radius = draw.randint(hops, size - 1)
        near = [each for each, away in possible if away <= radius]
        soft = draw.sample(near, min(len(near), draw.randint(0, links)))
        homes = draw.sample(overlay.brokers, draw.randint(1, subscribers))
        refuses = draw.random() < 0.25
        found.append(Attack(tree, move, radius, tuple(soft), tuple(homes), draw.choice(overlay.brokers), refuses))
    return found


def main() -> None:
    """`python -m tests.mesh.attack SIZE LINKS SUBSCRIBERS FIRST COUNT [MOST]`: a part of all combinations; or `-COUNT`
    for so many at random.
    """
    import sys

    size, links, subscribers, first, count = map(int, sys.argv[1:6])
    most = int(sys.argv[6]) if len(sys.argv) > 6 else 200_000
    every = sampled(size, links, subscribers, -count, first) if count < 0 else list(attacks(size, links, subscribers))
    part, states, cut = (every if count < 0 else every[first : first + count]), 0, 0
    for each in part:
        result = each.search(most)
        states, cut = states + result.states, cut + (not result.complete)
        failed = [f.property for f in result.findings.values() if f.kind == "always" and f.failed]
        if failed:
            print(each, failed, flush=True)
    print(f"{len(part)} of {len(every)} combinations, {states:,} states, {cut} cut off at {most:,}")


if __name__ == "__main__":
    main()
