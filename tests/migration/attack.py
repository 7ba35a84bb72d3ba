"""The attack on moves under covering: all combinations of tree, move, and homes of two subscriptions.

In each combination both subscriptions and the publisher come, and the subscriptions go, at any moment of the move; so a
combination contains the settings in which one of them stays, or is not there at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

from attrs import frozen

from routeproof.checker.evaluation import Result
from routeproof.checker.explore import explore
from routeproof.model.instance_file import parse_instance
from routeproof.model.overlay import Link, Node, Overlay
from routeproof.model.protocols import world

COVERING = ("active", "lazy", "packing")

TREES: dict[int, tuple[tuple[Link, ...], ...]] = {
    2: (((1, 2),),),
    3: (((1, 2), (2, 3)),),
    4: (((1, 2), (2, 3), (3, 4)), ((1, 2), (1, 3), (1, 4))),
}
"""The trees of each size, up to the names of brokers."""

FILTERS = {"covers": ([0, 1], [0]), "equal": ([0], [0]), "overlap": ([0, 1], [0, 2])}
"""The filters of the two subscriptions. Each publication is event 0, which both want."""


@frozen
class Attack:
    """One combination: where the publisher moves, one move after the other; homes of subscriptions; and a second
    publisher, which stays, comes and goes."""

    tree: tuple[Link, ...]
    places: tuple[Node, ...]
    filters: str
    homes: tuple[Node, ...]
    beside: Node | None = None
    publications: int = 1

    @property
    def table(self) -> dict[str, Any]:
        """The table of the instance."""
        source, *targets = self.places
        advertisements = [{"id": "a", "at": source, "events": [0, 1, 2]}]
        if self.beside is not None:
            advertisements.append({"id": "b", "at": self.beside, "events": [0], "unadvertises": True})
        return {
            "name": "attack",
            "protocol": "migration",
            "policy": list(COVERING),
            "overlay": [list(link) for link in self.tree],
            "migration": {"moves": [{"publisher": "a", "to": to} for to in targets]},
            "advertisement": advertisements,
            "subscription": [
                {"id": id, "at": at, "events": events, "unsubscribes": True}
                for id, at, events in zip("Ss", self.homes, FILTERS[self.filters], strict=True)
            ],
            "publication": [{"id": id, "of": "a", "event": 0} for id in "pq"[: self.publications]],
        }

    def search(self, policy: str, mutant: str | None = None) -> Result:
        return explore(world(parse_instance(self.table, "attack"), policy, mutant))

    def renamed(self, name: dict[Node, Node]) -> Attack:
        """The same with other names of brokers."""
        return Attack(
            tuple(sorted((min(name[u], name[v]), max(name[u], name[v])) for u, v in self.tree)),
            tuple(name[place] for place in self.places),
            self.filters,
            tuple(name[home] for home in self.homes),
            None if self.beside is None else name[self.beside],
            self.publications,
        )

    def _order(self) -> tuple[Any, ...]:
        return self.places, self.homes, self.beside or 0


def attacks(size: int, moves: int = 1, publications: int = 1, *, beside: bool = False) -> Iterator[Attack]:
    """All combinations with so many moves and publications, each once up to the names of brokers."""
    for tree in TREES[size]:
        brokers = Overlay.of(tree).brokers
        names = [dict(zip(brokers, each, strict=True)) for each in permutations(brokers)]
        places = [each for each in product(brokers, repeat=moves + 1) if all(map(int.__ne__, each, each[1:]))]
        others = brokers if beside else (None,)
        for way, filters, homes, other in product(places, FILTERS, product(brokers, repeat=2), others):
            attack = Attack(tree, way, filters, homes, other, publications)
            same = [again for again in map(attack.renamed, names) if again.tree == tree]
            if min(each._order() for each in same) == attack._order():
                yield attack


def broken(attack: Attack, policy: str, mutant: str | None = None) -> list[str]:
    """The properties that fail. Every search goes to the end."""
    result = attack.search(policy, mutant)
    assert result.complete
    return [each.property for each in result.findings.values() if each.kind == "always" and each.failed]


def main() -> None:
    """`python -m tests.migration.attack SIZE MOVES PUBLICATIONS [beside]`: all combinations, each covering policy."""
    import sys

    size, moves, publications = map(int, sys.argv[1:4])
    every = list(attacks(size, moves, publications, beside="beside" in sys.argv))
    states, most = 0, 0
    for attack, policy in product(every, COVERING):
        result = attack.search(policy)
        states, most = states + result.states, max(most, result.states)
        failed = [each.property for each in result.findings.values() if each.kind == "always" and each.failed]
        if failed or not result.complete:
            print(attack, policy, failed or "cut off", flush=True)
    print(f"{len(every):,} combinations, {len(COVERING) * len(every):,} searches, {states:,} states, {most:,} at most")


if __name__ == "__main__":
    main()
