"""A theorem names all that its obligations are given: what is taken for granted, and what other theorems prove."""

from __future__ import annotations

import pytest
import z3
from attrs import evolve

from routeproof.checker.prove.theorems import SYMBOLIC as THEOREMS
from routeproof.checker.prove.theorems import THEOREMS as CATALOGUE
from routeproof.checker.prove.theorems import judge, judge_by, with_premises, with_their_basis
from routeproof.spec.theory import PUB, SUB, Clause, Logic, Term, Truth
from routeproof.spec.theory.invariants import ROUTING
from routeproof.spec.theory.invariants.book import AlongPath, Book, Moment
from routeproof.spec.theory.invariants.obligations import Induction
from routeproof.spec.theory.proof import NO_SOURCE, Obligation, Premise, Theorem, proved_by
from routeproof.spec.theory.relation import Tree, tree_holds, ways
from tests.campaigns import daily
from tests.shown import RECORDED

pytestmark = RECORDED

GIVEN_NOTHING = {
    "PruningInvariants": {"PruningCongestion"},
    "PruningDeliveryInvariants": {"PruningCongestion"},
    "PruningAnchored": {"PruningRetained"},
}
"""Theorems on which others rest without being given what they say, and by whom: other steps of one induction, and what
the table `retained` is.
"""


@pytest.mark.parametrize("id", daily(THEOREMS, lambda id: not id.startswith("ShortStrings")))
def test_a_theorem_names_what_its_obligations_are_given_and_no_more(id: str) -> None:
    theorem = THEOREMS[id]
    given = {source for each in theorem.obligations() for source in each.sources} - {proved_by(id)}
    assert NO_SOURCE not in given
    assert given == {*theorem.hypotheses, *map(proved_by, theorem.rests_on)}
    assert len(theorem.rests_on) == len({*theorem.rests_on})
    assert GIVEN_NOTHING.get(id, set()) <= {*theorem.beside}


def test_a_proof_that_is_given_what_its_theorem_does_not_name_proves_nothing() -> None:
    x = z3.Int("x")
    asked = Obligation("it follows", x > 0, [Premise(x > 1, ("x is large",)), x > 2])
    bare = Theorem("Bare", (), "", lambda: [asked])
    judged = judge(bare)
    assert judged.verdict == "unknown"
    assert judged.why == f"its proof is given what the theorem does not name: {NO_SOURCE}; x is large"
    assert judge(evolve(bare, hypotheses=("x is large", NO_SOURCE))).verdict == "proved"


# -- what everything else rests on -------------------------------------------------------------------------------------


def test_every_theorem_of_routing_rests_on_the_axioms_of_trees() -> None:
    for id in ("Roads", "NoLostDelivery", "Agreement", "PruningNoLostDelivery"):
        assert ways.WAYS in with_premises([id], CATALOGUE)


def test_without_the_axiom_that_overlays_are_acyclic_nothing_on_top_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    def cyclic(logic: Logic, tree: Tree) -> list[Clause]:
        return [each for each in tree_holds(logic, tree) if each.name != "three paths meet in one broker"]

    asked = [THEOREMS[id] for id in ("Roads", "NoDuplicate", "Agreement")]
    alone = [judge(each) for each in asked]
    assert {each.verdict for each in with_their_basis(asked, alone)} == {"proved"}
    assert all(each.given for each in with_their_basis(asked, alone))
    monkeypatch.setattr(ways, "tree_holds", cyclic)
    base = THEOREMS[ways.WAYS]
    fallen = judge_by(base, base.obligations()[:6], rlimit=2_000_000)
    assert fallen.verdict not in ("proved", "bounded")
    verdicts = {each.id: each.verdict for each in with_their_basis([*THEOREMS.values()], [fallen, *alone])}
    assert {verdicts[each.id] for each in asked} == {"unknown"}


# -- induction along a path --------------------------------------------------------------------------------------------


def test_the_conclusion_in_the_place_of_an_induction_proves_nothing() -> None:
    """The schema is made from a property and two brokers, so that what is put there can only be a property."""
    known = ROUTING.lemmas["no lost delivery"]

    def itself(m: Moment, p: Term, s: Term) -> AlongPath:
        def concluded(z: Term) -> Truth:
            return known.body(m, p, s)

        return AlongPath(concluded, m.source(p), m.home(s))

    broken = Book(ROUTING.conjuncts, {**ROUTING.lemmas, known.name: evolve(known, induction=itself)})
    (asked,) = Induction(broken).of_lemmas([known.name])
    assert asked.sentence.sorts == (PUB, SUB)
    solver = z3.Solver()
    solver.set(rlimit=2_000_000)
    solver.add(*asked.formulas, z3.Not(asked.goal))
    assert solver.check() != z3.unsat
