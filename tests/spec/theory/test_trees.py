"""The axioms of trees, held to trees: both ways, by brute force."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
import z3

from routeproof.checker.prove.theorems import judge
from routeproof.model.overlay import Overlay
from routeproof.spec.theory import BROKER, Clause, Grounded, Logic, Symbolic, declare, formula
from routeproof.spec.theory.propagation import PROPAGATION_THEOREMS
from routeproof.spec.theory.relation import Tree, furthest, of_overlay, path_induction, tree_holds, ways
from routeproof.spec.theory.relation.ways import ways_hold
from tests.shown import RECORDED
from tests.spec.theory.small_worlds import labelled_trees, shapes_of_trees

pytestmark = RECORDED

(THEOREM,) = (theorem for theorem in PROPAGATION_THEOREMS if theorem.id == "TreeWays")
AXIOMS = [clause.name for clause in tree_holds(Grounded({}), of_overlay(Overlay.line(1)))]


def grounded(overlay: Overlay) -> tuple[Grounded, Tree]:
    return Grounded({BROKER: overlay.brokers}), of_overlay(overlay)


@pytest.mark.parametrize("brokers", range(1, 7))
def test_every_tree_satisfies_the_axioms(brokers: int) -> None:
    """All labelled trees of up to four brokers; of more, one of each shape, since no axiom speaks of a label."""
    for overlay in labelled_trees(brokers) if brokers < 5 else shapes_of_trees(brokers):
        logic, tree = grounded(overlay)
        for clause in [*tree_holds(logic, tree), *ways_hold(logic, tree).every_one()]:
            assert clause.closed(logic) is True, (overlay, clause.name)


@pytest.mark.parametrize("brokers", range(1, 6))
def test_every_structure_that_satisfies_the_axioms_is_a_tree(brokers: int) -> None:
    """Its links are those of a tree; and then, of each shape of tree, everything else is as in the tree."""
    logic, tree, names = few(brokers)
    axioms = spelled_out(tree_holds(logic, tree), names)
    assert not satisfiable([*axioms, *(z3.Not(z3.And(*links(tree, names, each))) for each in labelled_trees(brokers))])
    for overlay in shapes_of_trees(brokers):
        is_shape = [*axioms, *links(tree, names, overlay)]
        assert satisfiable(is_shape)
        assert not satisfiable([*is_shape, z3.Not(z3.And(*all_else(tree, names, overlay)))])


@cache
def few(brokers: int) -> tuple[Symbolic, Tree, list[z3.ExprRef]]:
    """Any structure of so many brokers."""
    sort, names = z3.EnumSort(f"Few{brokers}", [f"few{brokers}b{number}" for number in range(1, brokers + 1)])
    logic = Symbolic({BROKER: sort})
    return logic, declare(Tree, logic), names


def spelled_out(clauses: list[Clause], names: list[z3.ExprRef]) -> list[z3.BoolRef]:
    return [formula(each.at(*row)) for each in clauses for row in product(names, repeat=len(each.sorts))]


def links(tree: Tree, names: list[z3.ExprRef], overlay: Overlay) -> list[z3.BoolRef]:
    return _as_in("link", 2, tree, names, overlay)


def all_else(tree: Tree, names: list[z3.ExprRef], overlay: Overlay) -> list[z3.BoolRef]:
    words = (("between", 3), ("toward", 2), ("median", 3))
    return [each for word, arity in words for each in _as_in(word, arity, tree, names, overlay)]


def _as_in(word: str, arity: int, tree: Tree, names: list[z3.ExprRef], overlay: Overlay) -> list[z3.BoolRef]:
    symbol, real = getattr(tree, word), getattr(of_overlay(overlay), word)
    found = {row: real(*row) for row in product(overlay.brokers, repeat=arity)}
    return [
        symbol(*(names[x - 1] for x in row)) == (value if isinstance(value, bool) else names[value - 1])
        for row, value in found.items()
    ]


def satisfiable(formulas: list[z3.BoolRef]) -> bool:
    solver = z3.Solver()
    solver.add(*formulas)
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.sat)


@pytest.mark.parametrize("left_out", AXIOMS)
def test_no_axiom_follows_from_the_others(left_out: str) -> None:
    assert any(follows_not(left_out, brokers) for brokers in range(1, 5))


def follows_not(left_out: str, brokers: int) -> bool:
    logic, tree, names = few(brokers)
    clauses = tree_holds(logic, tree)
    others = spelled_out([each for each in clauses if each.name != left_out], names)
    broken = z3.Not(z3.And(*spelled_out([each for each in clauses if each.name == left_out], names)))
    return satisfiable([*others, broken])


@pytest.mark.parametrize("brokers", range(1, 6))
def test_the_schemas_are_true_of_every_property_on_every_tree(brokers: int) -> None:
    for overlay in shapes_of_trees(brokers):
        logic, tree = grounded(overlay)
        for chosen in product((False, True), repeat=brokers):
            is_chosen = (False, *chosen).__getitem__
            for x, y in product(overlay.brokers, repeat=2):
                assert path_induction(logic, tree, is_chosen, x, y) is True
            for root in overlay.brokers:
                assert furthest(logic, tree, is_chosen, root) is True


def test_a_schema_can_fail() -> None:
    """Where ways lead on for ever: what holds of all brokers of a ring holds of none that is furthest."""
    ring = Tree(
        between=lambda x, y, z: True,
        link=lambda x, y: x != y,
        toward=lambda x, z: x if x == z else x % 3 + 1,
        median=lambda x, y, z: x,
    )
    logic = Grounded({BROKER: (1, 2, 3)})
    assert furthest(logic, ring, lambda x: True, 1) is False


@pytest.mark.parametrize("left_out", AXIOMS)
def test_without_an_axiom_the_ways_of_trees_are_not_proved(left_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def rest(logic: Logic, tree: Tree) -> list[Clause]:
        return [axiom for axiom in tree_holds(logic, tree) if axiom.name != left_out]

    monkeypatch.setattr(ways, "tree_holds", rest)
    judged = judge(THEOREM, rlimit=1_000_000)
    assert judged.verdict in ("refuted", "unknown")
