"""Where paths lead, as the invariants of routing need it: some of the `ways`, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator

from routeproof.spec.theory.readings import BROKER, Clause, Logic
from routeproof.spec.theory.trees import Tree
from routeproof.spec.theory.ways import ways_hold

TWO, THREE, FOUR = ((BROKER,) * number for number in (2, 3, 4))


def roads_hold(logic: Logic, tree: Tree) -> list[Clause]:
    """To be taken for granted where the overlay is a tree. Z3 is quick with all of them at once."""
    ways = ways_hold(logic, tree)
    return [
        ways.both_ways,
        ways.neighbours,
        ways.next_one,
        ways.toward_or_back,
        *(road for road, _ in roads(logic, tree)),
    ]


def roads(logic: Logic, tree: Tree) -> Iterator[tuple[Clause, list[Clause]]]:
    """Those that are not ways themselves, each with the ways from which it follows."""
    all_of, implies, equal, apart = logic.all_of, logic.implies, logic.equal, logic.apart
    between, to, ways = tree.between, tree.toward, ways_hold(logic, tree)
    yield Clause("a path has its ends", TWO, lambda x, y: all_of(between(x, x, y), between(x, y, y))), [ways.parting]
    yield (
        Clause("a path leads back", THREE, lambda x, y, z: implies(between(x, y, z), lambda: between(z, y, x))),
        [ways.parting],
    )
    yield (
        Clause(
            "a path goes on to the next one, from which it leads back",
            THREE,
            lambda x, y, z: implies(
                all_of(between(x, y, z), apart(y, z)),
                lambda: all_of(between(x, to(y, z), z), equal(to(to(y, z), x), y)),
            ),
        ),
        [ways.both_ways, ways.next_one, ways.toward_or_back, ways.parting],
    )
    yield (
        Clause(
            "a path to a broker on the path goes the same way",
            FOUR,
            lambda x, y, z, w: implies(
                all_of(between(x, y, z), between(x, w, y), apart(w, y)),
                lambda: all_of(between(x, w, z), equal(to(w, y), to(w, z))),
            ),
        ),
        [ways.within, ways.same_way],
    )
