"""Lemmas about trees that proofs need: where paths lead and where they part.

They are proved of all trees, from the axioms alone. Z3 is quick with these and slow with the axioms: a median is a
broker of which the axioms speak again, without end. So each is proved here from what the axioms say of a few brokers,
named next to it, and only this is passed on. `roads` are the facts that the invariants of routing need beyond these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import evolve, frozen

from routeproof.spec.theory import BROKER, SUB, Clause, Logic, Sort, Term, Truth
from routeproof.spec.theory.proof import Proof, of_each, proved_by
from routeproof.spec.theory.relation import FINITE, TREE, Tree, furthest, path_induction, tree_holds
from routeproof.spec.theory.relation.quiet_states import Scene

TWO, THREE, FOUR = ((BROKER,) * number for number in (2, 3, 4))

WAYS, ROADS = "TreeWays", "Roads"
"""The theorems that prove the ways, with induction along a path, and the roads."""

STARTS = (
    "a path is the same both ways",
    "a broker on a path separates its ends",
    "the next one is another, unless one is there",
    "the next one is on the path",
)
"""The axioms that say where a path starts."""


@frozen
class Way:
    """One consequence, and the brokers of which the axioms say enough to prove it."""

    name: str
    sorts: tuple[Sort, ...]
    body: Callable[..., Truth]
    named: Callable[..., Sequence[Term]]


@frozen
class TreeWays:
    """By name, for proofs that use one of them of certain brokers."""

    both_ways: Clause
    neighbours: Clause
    next_one: Clause
    toward_or_back: Clause
    parting: Clause
    same_way: Clause
    within: Clause
    meeting: Clause
    first_step: Clause
    nested: Clause

    def all(self) -> list[Clause]:
        """The ways that are quick together."""
        return [self.both_ways, self.neighbours, self.next_one, self.toward_or_back, self.parting]

    def of_three(self) -> list[Clause]:
        """The ways that speak of three brokers at most, and so have few instances."""
        return [*self.all(), self.same_way, self.first_step]

    def every_one(self) -> list[Clause]:
        return [*self.all(), self.same_way, self.within, self.meeting, self.first_step, self.nested]


def _ways(logic: Logic, tree: Tree) -> list[Way]:
    all_of, any_of, implies, iff = logic.all_of, logic.any_of, logic.implies, logic.iff
    equal, apart = logic.equal, logic.apart
    between, link, to, median = tree.between, tree.link, tree.toward, tree.median
    return [
        Way(
            "a link is one in both directions",
            TWO,
            lambda x, y: implies(link(x, y), link(y, x)),
            lambda x, y: [x, y, to(y, x)],
        ),
        Way(
            "a link leads to the next one",
            TWO,
            lambda x, y: iff(link(x, y), all_of(apart(x, y), equal(to(x, y), y))),
            lambda x, y: [x, y],
        ),
        Way(
            "the next one is a neighbour, unless one is there",
            TWO,
            lambda x, y: all_of(iff(equal(to(x, y), x), equal(x, y)), implies(apart(x, y), link(x, to(x, y)))),
            lambda x, y: [x, y, to(x, y), to(x, to(x, y))],
        ),
        Way(
            "a neighbour is the next one, or has one as its next",
            THREE,
            lambda x, y, z: implies(link(x, y), iff(equal(to(x, z), y), apart(to(y, z), x))),
            lambda x, y, z: [x, y, z, median(x, y, z), to(x, z), to(y, z)],
        ),
        Way(
            "between two is where the ways to them part",
            THREE,
            lambda x, y, z: iff(between(x, y, z), any_of(equal(x, y), equal(y, z), apart(to(y, x), to(y, z)))),
            lambda x, y, z: [x, y, z, median(x, y, z), to(y, x), to(y, z)],
        ),
        Way(
            "the way to what lies behind is the same",
            THREE,
            lambda x, y, z: implies(all_of(between(x, y, z), apart(x, y)), equal(to(x, z), to(x, y))),
            lambda x, y, z: [x, y, z, to(x, z), to(x, y)],
        ),
        Way(
            "a part of a path is on the path",
            FOUR,
            lambda x, y, z, w: implies(
                all_of(between(x, y, z), between(x, w, y)), all_of(between(x, w, z), between(w, y, z))
            ),
            lambda x, y, z, w: [x, y, z, w],
        ),
        Way(
            "two paths are one up to where they meet, which is between their ends",
            FOUR,
            lambda x, y, z, w: all_of(
                iff(between(x, w, median(x, y, z)), all_of(between(x, w, y), between(x, w, z))),
                between(y, median(x, y, z), z),
            ),
            lambda x, y, z, w: [x, y, z, w, median(x, y, z)],
        ),
        Way(
            "a path is its start and the path from the next one",
            THREE,
            lambda x, y, w: implies(apart(x, y), iff(between(x, w, y), any_of(equal(w, x), between(to(x, y), w, y)))),
            lambda x, y, w: [x, y, w, to(x, y)],
        ),
        Way(
            "who is on what is left of a path is on the path",
            FOUR,
            lambda x, y, z, w: implies(all_of(between(x, y, z), between(y, w, z)), between(x, w, z)),
            lambda x, y, z, w: [x, y, z, w],
        ),
    ]


def ways_hold(logic: Logic, tree: Tree) -> TreeWays:
    """To be taken for granted where the overlay is a tree."""
    source = proved_by(WAYS)
    return TreeWays(*(Clause(way.name, way.sorts, way.body, source=source) for way in _ways(logic, tree)))


def tree_ways(q: Scene) -> Proof:
    """Each of them, from the axioms; and that induction along a path, of any property, is a case of finiteness."""
    logic, tree = q.logic, q.tree

    def holds(x: Term, s: Term) -> Truth:
        """Any property: a table without further constraints can state of any set of brokers that they have s."""
        return q.state.subs(x, s, x)

    proof = Proof(logic)
    axioms = tree_holds(logic, tree)
    proof.assume(TREE, *axioms)
    starts = proof.lemma(
        "a path starts where it starts",
        TWO,
        lambda x, y: tree.between(x, x, y),
        [axiom for axiom in axioms if axiom.name in STARTS],
    )
    ways = TreeWays(
        *(
            proof.lemma(way.name, way.sorts, way.body, lambda *x, way=way: of_each([starts, *axioms], *way.named(*x)))
            for way in _ways(logic, tree)
        )
    )
    last = Clause(
        "furthest along a path",
        (*TWO, SUB),
        lambda x, y, s: furthest(logic, tree, lambda z: logic.all_of(tree.between(x, z, y), holds(z, s)), x),
    )
    proof.assume(FINITE, last)
    proof.lemma(
        "what passes along each link of a path passes along the path",
        (*TWO, SUB),
        lambda x, y, s: path_induction(logic, tree, lambda z: holds(z, s), x, y),
        lambda x, y, s: [(last, x, y, s), *ways.all()],
    )
    return proof


def roads_hold(logic: Logic, tree: Tree) -> list[Clause]:
    """To be taken for granted where the overlay is a tree. Z3 is quick with all of them at once."""
    ways = ways_hold(logic, tree)
    return [
        ways.both_ways,
        ways.neighbours,
        ways.next_one,
        ways.toward_or_back,
        *(evolve(road, source=proved_by(ROADS)) for road, _ in roads(logic, tree)),
    ]


def roads(logic: Logic, tree: Tree) -> Iterator[tuple[Clause, list[Clause]]]:
    """Facts about paths that are not ways themselves, each with the ways from which it follows."""
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
