"""Theorems of the mesh, for all trees: which chosen end serves which broker, and that a move leaves a tree.

The static lemma is about one decision of one broker. The tree is read from that broker on: `upto(x, y)` says that x is
on the primary path to y, and `branch` names the neighbour on that path. The theorems are about the choices as
`spec/mesh.md` defines them (`first_on_path`, `farthest_common`); that the printed algorithms make these choices is
held by tests, for all trees of up to five brokers.
"""

from __future__ import annotations

from collections.abc import Callable

import z3
from attrs import frozen

from routeproof.model.overlay import Node, Overlay
from routeproof.spec.theory import (
    BROKER,
    Clause,
    Function,
    Grounded,
    Logic,
    Relation,
    Symbolic,
    Term,
    Truth,
    declare,
    over,
)
from routeproof.spec.theory.proof import Build, Proof, Theorem, Use, obligations, of_each
from routeproof.spec.theory.relation import TREE, Tree, of_overlay, tree_holds
from routeproof.spec.theory.relation.ways import WAYS, ways_hold

PATHS = "the primary network is a tree: paths from a broker are lines, and begin with one of its neighbours"
LINKED = "a broker has a link to each of its primary neighbours (MESH-3)"
NEAREST = "the network is finite: of the ends on a path with a property, if any, one is nearest and one is farthest"
ANCHORED = "an anchor is on the path to its home (SUB-3), and the farthest end on the path to it stands for it (SUB-5)"
DOWNSTREAM = "homes on the side that a publication came from are not served (FWD-3)"
MEETING = "three paths meet in one broker"
RING = "the mover leaves the neighbour on the way to the broker that it goes to (MOVE-1)"


# -- one decision ------------------------------------------------------------------------------------------------------


@frozen
class ForwardingDecision:
    """A decision of one broker that forwards a publication."""

    upto: Relation = over(BROKER, BROKER)
    """`upto(x, y)`: x is on the primary path from the centre to y, y included, the centre not."""
    branch: Function = over(BROKER, result=BROKER)
    end: Relation = over(BROKER)
    """The ends of the centre's links."""
    home: Relation = over(BROKER)
    """The brokers downstream with a matching subscription."""
    anchor: Function = over(BROKER, result=BROKER)
    stands: Function = over(BROKER, result=BROKER)
    """Per home, its anchor, and the end that stands for it."""
    upstream: Relation = over(BROKER)
    """The brokers on the side that the publication came from."""


@frozen
class DecisionScene:
    """A decision in a logic, and how a strategy chooses."""

    logic: Logic
    decision: ForwardingDecision

    def wanted(self, x: Term) -> Truth:
        """An end that stands for a home."""
        q, logic = self.decision, self.logic
        return logic.some((BROKER,), lambda h: logic.all_of(q.home(h), logic.equal(q.stands(h), x)))

    def nearest(self, x: Term) -> Truth:
        """FWD-6: a wanted end with no other one on the path to it."""
        q, logic = self.decision, self.logic

        def before(y: Term) -> Truth:
            return logic.implies(logic.all_of(self.wanted(y), q.upto(y, x)), lambda: logic.equal(y, x))

        return logic.all_of(self.wanted(x), logic.every((BROKER,), before))

    def common(self, x: Term) -> Truth:
        """FWD-4: an end on the paths to all wanted ends of its branch, of which there is one."""
        q, logic = self.decision, self.logic

        def mine(y: Term) -> Truth:
            return logic.all_of(self.wanted(y), logic.equal(q.branch(y), q.branch(x)))

        return logic.all_of(
            q.end(x),
            logic.some((BROKER,), mine),
            logic.every((BROKER,), lambda y: logic.implies(mine(y), lambda: q.upto(x, y))),
        )

    def farthest(self, x: Term) -> Truth:
        """FWD-5: a common end beyond which there is no other one."""
        q, logic = self.decision, self.logic

        def beyond(y: Term) -> Truth:
            return logic.implies(logic.all_of(self.common(y), q.upto(x, y)), lambda: logic.equal(y, x))

        return logic.all_of(self.common(x), logic.every((BROKER,), beyond))


Choice = Callable[[DecisionScene, Term], Truth]


def decided(s: DecisionScene, choice: Choice) -> Proof:
    """Every home is beyond exactly one chosen end, and no chosen end is upstream."""
    q, logic, proof = s.decision, s.logic, Proof(s.logic)
    implies, all_of, any_of, equal = logic.implies, logic.all_of, logic.any_of, logic.equal
    upto, branch = q.upto, q.branch
    one, two, three = ((BROKER,) * number for number in (1, 2, 3))
    order = [
        Clause("transitive", three, lambda x, y, z: implies(all_of(upto(x, y), upto(y, z)), upto(x, z))),
        Clause("antisymmetric", two, lambda x, y: implies(all_of(upto(x, y), upto(y, x)), equal(x, y))),
        Clause(
            "a line", three, lambda x, y, z: implies(all_of(upto(x, z), upto(y, z)), any_of(upto(x, y), upto(y, x)))
        ),
        Clause("one branch", two, lambda x, y: implies(upto(x, y), equal(branch(x), branch(y)))),
        Clause("first", one, lambda x: all_of(upto(branch(x), x), upto(x, x), equal(branch(branch(x)), branch(x)))),
    ]
    proof.assume(PATHS, *order)
    neighbours = Clause("neighbours are ends", one, lambda x: q.end(branch(x)))
    proof.assume(LINKED, neighbours)
    on_path = Clause(
        "an end stands for each home",
        one,
        lambda h: implies(q.home(h), all_of(upto(q.anchor(h), h), upto(q.stands(h), q.anchor(h)), q.end(q.stands(h)))),
    )
    proof.assume(ANCHORED, on_path)
    sides = [
        Clause(
            "a side is branches",
            two,
            lambda x, y: implies(equal(branch(x), branch(y)), logic.iff(q.upstream(x), q.upstream(y))),
        ),
        Clause("homes are downstream", one, lambda h: implies(q.home(h), logic.no(q.upstream(h)))),
    ]
    proof.assume(DOWNSTREAM, *sides)
    is_first = choice is DecisionScene.nearest
    holds = s.wanted if is_first else s.common

    def extreme(y: Term) -> Truth:
        """If it holds of ends on the path to y, one of them is the nearest, or the farthest."""

        def is_one(x: Term) -> Truth:
            def other(z: Term) -> Truth:
                return implies(all_of(holds(z), upto(z, y)), lambda: upto(x, z) if is_first else upto(z, x))

            return all_of(holds(x), upto(x, y), logic.every((BROKER,), other))

        return implies(
            logic.some((BROKER,), lambda x: all_of(holds(x), upto(x, y))), lambda: logic.some((BROKER,), is_one)
        )

    finite = Clause("one is nearest, or farthest", one, extreme)
    proof.assume(NEAREST, finite)
    transitive, antisymmetric, line, one_branch, first = order
    below = proof.lemma(
        "on the path to a wanted end there is one that may be chosen",
        one,
        lambda y: logic.some((BROKER,), lambda x: all_of(holds(x), upto(x, y))),
        [one_branch, first, neighbours],
        when=s.wanted,
    )
    chosen = proof.lemma(
        "on the path to a wanted end there is a chosen one",
        one,
        lambda y: logic.some((BROKER,), lambda x: all_of(choice(s, x), upto(x, y))),
        lambda y: [(below, y), (finite, y), transitive, antisymmetric, one_branch],
        when=s.wanted,
    )
    proof.lemma(
        "a home is beyond a chosen end",
        one,
        lambda h: logic.some((BROKER,), lambda x: all_of(choice(s, x), upto(x, h))),
        lambda h: [(chosen, q.stands(h)), (on_path, h), transitive],
        when=q.home,
    )
    proof.lemma(
        "and beyond no other one",
        three,
        lambda h, x, y: equal(x, y),
        lambda h, x, y: [(line, x, y, h)],
        when=lambda h, x, y: all_of(q.home(h), choice(s, x), choice(s, y), upto(x, h), upto(y, h)),
    )
    proof.lemma(
        "no chosen end is upstream",
        one,
        lambda x: logic.no(q.upstream(x)),
        [one_branch, on_path, *sides],
        when=lambda x: choice(s, x),
    )
    return proof


def example(came_from: Node = 0) -> DecisionScene:
    """Fig. 2 of the paper with two more branches: broker 1 has links to 2, 3, 5, 6 and 8; 3, 5, 6 and 9 match."""
    overlay = Overlay.of([(1, 2), (2, 3), (2, 4), (4, 5), (4, 6), (1, 7), (1, 8), (8, 9)])
    others, ends = [b for b in overlay.brokers if b != 1], {2, 3, 5, 6, 7, 8}
    homes = {3, 5, 6, 9}
    far = {b: max((e for e in overlay.path(1, b) if e in ends), key=lambda e: len(overlay.path(1, e))) for b in others}
    decision = ForwardingDecision(
        upto=lambda x, y: x in overlay.path(1, y),
        branch=lambda x: overlay.toward(1, x),
        end=lambda x: x in ends,
        home=lambda x: x in homes,
        anchor=lambda x: x,
        stands=lambda x: far[x],
        upstream=lambda x: overlay.toward(1, x) == 7,
    )
    return DecisionScene(Grounded({BROKER: others}), decision)


def any_decision() -> DecisionScene:
    logic = Symbolic()
    return DecisionScene(logic, declare(ForwardingDecision, logic))


def choosing(choice: Choice) -> Build[DecisionScene]:
    return lambda scene: decided(scene, choice)


# -- the move ----------------------------------------------------------------------------------------------------------


@frozen
class MoverScene:
    """A tree, the mover, the neighbour that it leaves, and the broker that it goes to."""

    logic: Logic
    tree: Tree
    mover: Term
    away: Term
    to: Term

    def own(self, x: Term) -> Truth:
        """True on the mover's side of its old link."""
        return self.tree.between(x, self.mover, self.away)

    @property
    def after(self) -> Tree:
        """The primary network without the old link of the mover, and with its new one."""
        logic, tree, own, mover, to = self.logic, self.tree, self.own, self.mover, self.to

        def between(x: Term, y: Term, z: Term) -> Truth:
            def across(x: Term, z: Term) -> Truth:
                """From the mover's side to the other one."""
                return logic.cases(own(y), lambda: tree.between(x, y, mover), lambda: tree.between(to, y, z))

            return logic.cases(
                logic.iff(own(x), own(z)),
                lambda: tree.between(x, y, z),
                lambda: logic.cases(own(x), lambda: across(x, z), lambda: across(z, x)),
            )

        def link(x: Term, y: Term) -> Truth:
            ends = logic.any_of(
                logic.all_of(logic.equal(x, mover), logic.equal(y, to)),
                logic.all_of(logic.equal(x, to), logic.equal(y, mover)),
            )
            return logic.cases(logic.iff(own(x), own(y)), lambda: tree.link(x, y), ends)

        return Tree(between, link, self.toward, self.median)

    def toward(self, x: Term, z: Term) -> Term:
        is_same = self.logic.iff(self.own(x), self.own(z))
        here, there = self._either(self.own(x), self.mover, self.to), self._either(self.own(x), self.to, self.mover)
        across = self._either(self.logic.equal(x, here), there, self.tree.toward(x, here))
        return self._either(is_same, self.tree.toward(x, z), across)

    def median(self, x: Term, y: Term, z: Term) -> Term:
        """The median in the tree, where a broker that is alone on its side is the end of the new link there."""
        own = self.own
        alone = [
            self.logic.all_of(*(self.logic.no(self.logic.iff(own(a), own(b))) for b in others))
            for a, others in ((x, (y, z)), (y, (x, z)), (z, (x, y)))
        ]
        seen = [
            self._either(is_alone, self._either(own(a), self.to, self.mover), a)
            for is_alone, a in zip(alone, (x, y, z), strict=True)
        ]
        return self.tree.median(*seen)

    def _either(self, condition: Truth, one: Term, other: Term) -> Term:
        if isinstance(condition, bool):
            return one if condition else other
        return z3.If(condition, one, other)


def moved(s: MoverScene) -> Proof:
    """The network after a move satisfies every axiom of a tree, and has the old links but one, and the new one."""
    logic, proof, tree = s.logic, Proof(s.logic), s.tree
    axioms = tree_holds(logic, tree)
    proof.assume(TREE, *axioms)
    ring = Clause("the ring", (), lambda: logic.all_of(tree.link(s.mover, s.away), tree.between(s.mover, s.away, s.to)))
    proof.assume(RING, ring)
    ways = ways_hold(logic, tree)
    proof.assume(TREE, *ways.of_three(), theorem=WAYS)

    def near(*terms: Term) -> list[Use]:
        """Everything known about these brokers and the ring's."""
        return [ring, *of_each([*ways.of_three(), *axioms], *terms, s.mover, s.away, s.to)]

    known: list[Use] = [ring, *axioms, *ways.all()]
    places = proof.lemma(
        "the mover is on its side, and the broker that it goes to is not",
        (),
        lambda: logic.all_of(s.own(s.mover), logic.no(s.own(s.to)), logic.no(s.own(s.away))),
        known,
    )
    convex = proof.lemma(
        "a path between brokers of one side stays there",
        (BROKER, BROKER, BROKER),
        lambda x, y, z: logic.iff(s.own(y), s.own(x)),
        near,
        when=lambda x, y, z: logic.all_of(logic.iff(s.own(x), s.own(z)), tree.between(x, y, z)),
    )
    across = proof.lemma(
        "the old link is the only one between the sides",
        (BROKER, BROKER),
        lambda x, y: logic.all_of(logic.equal(x, s.mover), logic.equal(y, s.away)),
        known,
        when=lambda x, y: logic.all_of(tree.link(x, y), s.own(x), logic.no(s.own(y))),
    )
    meets = [each for each in axioms if each.name in ("a path is the same both ways", MEETING)]
    given: dict[str, list[Use] | Callable[..., list[Use]]] = {
        "a path is a line": near,
        "a broker on a path separates its ends": near,
        MEETING: [places, convex, *meets],
    }
    for axiom in tree_holds(logic, s.after):
        proof.lemma(axiom.name, axiom.sorts, axiom.at, given.get(axiom.name, known))

    def is_pair(x: Term, y: Term, one: Term, other: Term) -> Truth:
        return logic.any_of(
            logic.all_of(logic.equal(x, one), logic.equal(y, other)),
            logic.all_of(logic.equal(x, other), logic.equal(y, one)),
        )

    proof.lemma(
        "the links are the old ones but one, and the new one",
        (BROKER, BROKER),
        lambda x, y: logic.iff(
            s.after.link(x, y),
            logic.any_of(
                logic.all_of(tree.link(x, y), logic.no(is_pair(x, y, s.mover, s.away))), is_pair(x, y, s.mover, s.to)
            ),
        ),
        lambda x, y: [places, ring, (across, x, y), (across, y, x), ways.both_ways, ways.neighbours],
    )
    return proof


def any_move() -> MoverScene:
    logic = Symbolic()
    mover, away, to = (logic.constant(name, BROKER) for name in ("mover", "away", "to"))
    return MoverScene(logic, declare(Tree, logic), mover, away, to)


def example_move() -> MoverScene:
    """A line of four brokers with a leaf, of which the second moves to the fourth."""
    overlay = Overlay.of([(1, 2), (2, 3), (3, 4), (3, 5)])
    return MoverScene(Grounded({BROKER: overlay.brokers}), of_overlay(overlay), 2, 3, 4)


THEOREMS = (
    Theorem(
        "OneEndEach",
        ("FWD-6", "FWD-3", "SUB-5"),
        "S2: every downstream home of a matching subscription lies beyond exactly one chosen end, none upstream.",
        lambda: obligations(choosing(DecisionScene.nearest), any_decision(), [example()]),
        (PATHS, LINKED, ANCHORED, DOWNSTREAM, NEAREST),
    ),
    Theorem(
        "OneEndEachBranch",
        ("FWD-4", "FWD-5", "FWD-3", "SUB-5"),
        "S1: every downstream home of a matching subscription lies beyond exactly one chosen end, none upstream.",
        lambda: obligations(choosing(DecisionScene.farthest), any_decision(), [example()]),
        (PATHS, LINKED, ANCHORED, DOWNSTREAM, NEAREST),
    ),
    Theorem(
        "MoveKeepsTree",
        ("MOVE-6",),
        "The primary network after a move is a tree: acyclic and connected, with the same links but one.",
        lambda: obligations(moved, any_move(), [example_move()]),
        (TREE, RING),
        rests_on=(WAYS,),
    ),
)
