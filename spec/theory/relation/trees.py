"""Finite trees (RTE-1) in the first order: which broker lies between which, and the next one on the way.

An overlay is never written as edges here, but as what protocols ask of it. The clauses of `tree_holds` are true of
every finite tree, and every finite structure of which they are true is one: `tests/spec/theory/test_trees.py` tries all
up to five brokers. Some infinite structures satisfy them too, so what needs finiteness is a schema, used of one
relation at a time and named as a hypothesis where it is: `path_induction` and `furthest`.

What most proofs need of a tree is in `ways`, and Z3 is quicker with that than with the axioms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from attrs import evolve, frozen

from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.readings import BROKER, Clause, Function, Logic, Relation, Term, over, topmost

TREE = "the overlay is a tree (RTE-1)"
FINITE = "the overlay is finite: of the brokers that have a property, if any, one is furthest from a given broker"
"""The hypothesis behind `furthest`, of which `path_induction` is a case."""


@frozen
class Tree:
    """Relations and functions of an overlay. `declare(Tree, logic)` is any tree, `of_overlay` a given one."""

    between: Relation = over(BROKER, BROKER, BROKER)
    """`between(x, y, z)`: y is on the path from x to z, ends included."""
    link: Relation = over(BROKER, BROKER)
    toward: Function = over(BROKER, BROKER, result=BROKER)
    """`toward(x, z)`: the neighbour of x on the way to z; x itself where x is z."""
    median: Function = over(BROKER, BROKER, BROKER, result=BROKER)
    """The one broker on the paths between any two of the three."""


def of_overlay(overlay: Overlay) -> Tree:
    """This tree, as the model has it."""

    def toward(x: Node, y: Node) -> Node:
        hop = overlay.toward(x, y)
        return x if hop == LOCAL else hop

    def median(x: Node, y: Node, z: Node) -> Node:
        (met,) = {*overlay.path(x, y)} & {*overlay.path(y, z)} & {*overlay.path(x, z)}
        return met

    return Tree(
        lambda x, y, z: y in overlay.path(x, z),
        lambda x, y: y in overlay.neighbours(x),
        toward,
        median,
    )


def tree_holds(logic: Logic, tree: Tree) -> list[Clause]:
    """The axioms. That three paths meet is what makes an overlay acyclic: the others are also true of a triangle."""
    between, toward, median = tree.between, tree.toward, tree.median
    implies, all_of, any_of, equal, iff = logic.implies, logic.all_of, logic.any_of, logic.equal, logic.iff
    two, three, four = ((BROKER,) * number for number in (2, 3, 4))
    axioms = [
        Clause("a path is the same both ways", three, lambda x, y, z: implies(between(x, y, z), between(z, y, x))),
        Clause(
            "a path is a line",
            three,
            lambda x, y, z: implies(all_of(between(x, y, z), between(x, z, y)), equal(y, z)),
        ),
        Clause(
            "a broker on a path separates its ends",
            four,
            lambda x, y, z, w: implies(between(x, y, z), any_of(between(x, y, w), between(w, y, z))),
        ),
        Clause(
            "three paths meet in one broker",
            three,
            lambda x, y, z: all_of(*(between(a, median(x, y, z), b) for a, b in ((x, y), (y, z), (x, z)))),
        ),
        Clause(
            "the next one is another, unless one is there",
            two,
            lambda x, y: iff(equal(toward(x, y), x), equal(x, y)),
        ),
        Clause("the next one is on the path", two, lambda x, y: between(x, toward(x, y), y)),
        Clause(
            "nothing comes before the next one",
            three,
            lambda x, y, z: implies(between(x, z, toward(x, y)), any_of(equal(z, x), equal(z, toward(x, y)))),
        ),
        Clause(
            "neighbours are next to each other",
            two,
            lambda x, y: iff(tree.link(x, y), all_of(logic.apart(x, y), equal(toward(x, y), y))),
        ),
    ]
    return [evolve(each, source=TREE) for each in axioms]


def at(clauses: Sequence[Clause], *terms: Term) -> list[Truth]:
    """Instances of clauses about brokers for these terms: enough where a proof speaks of them only, and quick."""
    return [clause.at(*row) for clause in clauses for row in product(terms, repeat=len(clause.sorts))]


# -- finiteness, of one relation at a time -----------------------------------------------------------------------------


def path_induction(logic: Logic, tree: Tree, holds: Callable[[Term], Truth], start: Term, end: Term) -> Truth:
    """If it holds at the start of this path and passes on along each link of it, it holds at the end."""

    def passes(x: Term) -> Truth:
        here = logic.all_of(tree.between(start, x, end), logic.apart(x, end), lambda: holds(x))
        return logic.implies(here, lambda: holds(tree.toward(x, end)))

    return logic.implies(logic.all_of(holds(start), lambda: logic.every((BROKER,), passes)), lambda: holds(end))


def furthest(logic: Logic, tree: Tree, holds: Callable[[Term], Truth], root: Term) -> Truth:
    """If it holds anywhere, it holds somewhere beyond which, seen from the root, it holds nowhere."""
    return topmost(logic, BROKER, holds, lambda y, x: logic.all_of(tree.between(root, x, y), lambda: logic.apart(x, y)))
