"""Theorems about pruning: what they cover, and that each can fail. That they are proved is in `test_theorems`."""

from __future__ import annotations

import pytest
from attrs import evolve

from routeproof.checker.prove.invariants import find as find_counterexample
from routeproof.checker.prove.invariants import settle_inductive
from routeproof.checker.prove.solve import settle
from routeproof.checker.prove.theorems import SYMBOLIC as THEOREMS
from routeproof.spec.catalogues import RULES
from routeproof.spec.pruning.theory import PRUNING_THEOREMS
from routeproof.spec.pruning.theory.invariants import (
    GIVEN_UP,
    INSTEAD,
    OF_DELIVERY,
    OF_TABLES,
    OF_WHAT_IS_HELD,
    PRUNING,
    Handling,
    Later,
    handling,
)
from routeproof.spec.pruning.theory.promises import RecordingStep, retained_is_what_is_left
from routeproof.spec.pruning.theory.relation import Congested, CongestedStep, IssuedAgain, Resumes, Resumption, is_drawn
from routeproof.spec.theory import BROKER, SUB, Clause, Term, Truth
from routeproof.spec.theory.invariants import ROUTING
from routeproof.spec.theory.invariants.obligations import Induction, _names
from routeproof.spec.theory.invariants.step import EVENTS
from routeproof.spec.theory.relation.routing import Change, HandlerStep
from routeproof.spec.theory.relation.world import Happening, WorldStep
from tests.shown import RECORDED

pytestmark = RECORDED

EVENT = {event.name: event for event in EVENTS}


def test_they_cite_rules_and_say_what_they_are() -> None:
    for theorem in PRUNING_THEOREMS:
        assert theorem.rules
        assert set(theorem.rules) <= set(RULES), theorem.id
        assert theorem.about.endswith(".")


# -- nothing is taken over from the core -------------------------------------------------------------------------------


def test_the_invariants_are_those_of_the_core_but_for_what_is_given_up() -> None:
    assert PRUNING.conjuncts.keys() ^ ROUTING.conjuncts.keys() == {
        "sent is drawn",
        "held came from home",
        "sent is candidate",
    }
    assert PRUNING.lemmas.keys() ^ ROUTING.lemmas.keys() == {"anchored", "no residue of subscriptions"}
    for name in PRUNING.conjuncts.keys() & ROUTING.conjuncts.keys():
        more = ("held came from home",) if name in OF_WHAT_IS_HELD else ()
        core = ROUTING.conjuncts[name]
        assert PRUNING.conjuncts[name] == evolve(core, needs=(*core.needs, *more))
    for name in PRUNING.lemmas.keys() & ROUTING.lemmas.keys():
        assert PRUNING.lemmas[name] == evolve(ROUTING.lemmas[name], needs=INSTEAD.get(name, ROUTING.lemmas[name].needs))
    needed = [PRUNING[name].needs for name in (*PRUNING.conjuncts, *PRUNING.lemmas)]
    assert not any(name in GIVEN_UP for needs in needed for name in needs)
    assert PRUNING.in_order()


def test_every_invariant_is_proved_after_every_step_and_every_lemma() -> None:
    assert {*OF_TABLES, *OF_DELIVERY} == set(PRUNING.conjuncts)
    assert not {*OF_TABLES} & {*OF_DELIVERY}
    proved = {
        each.name
        for theorem in PRUNING_THEOREMS
        if theorem.id not in ("PruningStepFacts", "PruningCongestion", "PruningIssuedAgain")
        and not theorem.id.endswith("Invariants")
        for each in theorem.obligations()
    }
    assert set(PRUNING.lemmas) <= proved


def test_property_3_speaks_of_no_table() -> None:
    """So what is retained cannot change it: SimilarityGrows is of any protocol."""
    for each in THEOREMS["SimilarityGrows"].obligations():
        spoken: set[str] = set().union(*(_names(formula) for formula in (each.goal, *each.formulas)))
        assert not spoken & {"subs", "sent", "advs", "on"}, each.name
    tables: set[str] = set().union(*(_names(each.goal) for each in THEOREMS["SimilarityInTables"].obligations()))
    assert "subs" in tables


# -- what can fail -----------------------------------------------------------------------------------------------------


class KeepsWhatNothingDraws(Congested):
    """PRN-11 left out."""

    def eligible(self, u: Term, s: Term) -> Truth:
        return self.logic.any_of(self.candidate(u, s), lambda: self.before.sent(u, s))


class RetainsWhatItNeverSent(Congested):
    """PRN-7: what is wanted need not have been sent."""

    def eligible(self, u: Term, s: Term) -> Truth:
        return is_drawn(self, u, s)


class DropsWhatItHeld(Resumes):
    """PRN-6: the withdrawal is forgotten, and what it was of is in the table as before."""

    def on_unsub(self, s: Term) -> Change:
        logic, change = self.logic, super().on_unsub(s)

        def back(t: Term, x: Term) -> Truth:
            return logic.any_of(self.before.subs(t, x), logic.all_of(self.held(t, x), logic.equal(t, s)))

        return evolve(change, subs=back, settles=lambda u: False)


class TakesAwayWhatCameAfter(Resumes):
    """PRN-14 left out: what was subscribed since the withdrawal came goes with it (claim PRN-overtaken)."""

    def on_unsub(self, s: Term) -> Change:
        logic, change = self.logic, super().on_unsub(s)
        return evolve(change, subs=lambda t, x: logic.all_of(self.before.subs(t, x), logic.no(logic.equal(t, s))))


class StaysWithdrawn(IssuedAgain):
    """PRN-15: what comes back counts as withdrawn."""

    def done(self, what: Happening) -> list[Clause]:
        return CongestedStep.done(self, what)


@pytest.mark.parametrize(
    ("induction", "step", "handler", "event", "name"),
    [
        (Handling, CongestedStep, KeepsWhatNothingDraws, "deliver unadv", "sent is drawn"),
        (Handling, CongestedStep, RetainsWhatItNeverSent, "deliver adv", "sent away from home"),
        (Induction, StaysWithdrawn, Congested, "subscribe", "home has what is active"),
        (Later, Resumption, DropsWhatItHeld, "deliver unsub", "home has what is active"),
        (Later, Resumption, TakesAwayWhatCameAfter, "deliver unsub", "home has what is active"),
    ],
)
def test_a_seeded_fault_of_the_relation_is_refuted(
    induction: type[Induction], step: type[WorldStep], handler: type[HandlerStep], event: str, name: str
) -> None:
    proof = induction(PRUNING, step=step, handler=handler)
    (asked,) = proof.after(EVENT[event], PRUNING.conjuncts[name])
    assert find_counterexample(asked) is not None  # of the smallest worlds: settling it would look at all first


def test_at_first_nothing_is_held() -> None:
    first = handling().at_first(PRUNING.conjuncts["held came from home"])
    assert settle_inductive(first).verdict == "proved"
    nothing = first.given[-1]
    assert "held" in _names(nothing.formula)


class RetainsWhatCameBack(RecordingStep):
    """PRN-13 left out."""

    def remembers(self, change: Change) -> Clause:
        logic = self.logic
        return Clause(
            "retained is what is wanted",
            (BROKER, SUB),
            lambda u, s: logic.iff(
                self.noted_after(u, s),
                logic.cases(
                    self.is_settled(change, u),
                    lambda: logic.all_of(self.wanted(u, s), self.noted(u, s)),
                    lambda: self.noted(u, s),
                ),
            ),
        )


def test_a_broker_that_retains_what_came_back_is_refuted() -> None:
    settled = {each.name.partition(" /")[0]: settle(each) for each in retained_is_what_is_left(RetainsWhatCameBack)}
    assert settled["pub"].verdict == "proved"
    assert settled["sub"].verdict == "refuted"
    assert {"there are", "of", "noted", "noted then", "sent"} <= set(settled["sub"].shown)
