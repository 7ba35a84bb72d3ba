"""Theorems about pruning: they are proved, each can fail, and what is not proved anew is the core's, word for word."""

from __future__ import annotations

import re
from itertools import count

import pytest
from attrs import evolve

from routeproof.checker.prove.induction import settle_inductive
from routeproof.checker.prove.judge import judge
from routeproof.checker.prove.outcome import Verdict
from routeproof.spec.rules import RULES
from routeproof.spec.theory.invariants_obligations import Induction
from routeproof.spec.theory.invariants_steps import CANDIDATES, EVENTS, declared
from routeproof.spec.theory.invariants_theorems import ROUTING
from routeproof.spec.theory.logic import Truth, formula
from routeproof.spec.theory.pruning import Pruning, is_drawn
from routeproof.spec.theory.pruning_theorems import (
    GIVEN_UP,
    INSTEAD,
    PRUNING,
    PRUNING_THEOREMS,
)
from routeproof.spec.theory.readings import Symbolic, Term
from routeproof.spec.theory.routing import Handler

EXPECTED: dict[str, tuple[Verdict, int]] = {
    "PruningKeepsPromises": ("proved", 6),
    "PruningInvariants": ("proved", 66),
    "PruningDeliveryInvariants": ("proved", 11),
    "PruningNoLostDelivery": ("proved", 1),
    "PruningNoDuplicate": ("proved", 2),
    "PruningAgreement": ("proved", 1),
    "PruningAnchored": ("proved", 2),
    "PruningNoStray": ("proved", 1),
    "PruningSimplePaths": ("proved", 2),
}


def test_they_are_proved() -> None:
    judged = {theorem.id: judge(theorem) for theorem in PRUNING_THEOREMS}
    assert {id: (each.verdict, len(each.obligations)) for id, each in judged.items()} == EXPECTED


def test_they_cite_rules_and_say_what_they_are() -> None:
    for theorem in PRUNING_THEOREMS:
        assert theorem.rules
        assert set(theorem.rules) <= set(RULES), theorem.id
        assert theorem.about.endswith(".")


# -- what is not proved anew -------------------------------------------------------------------------------------------


def written(text: str) -> str:
    """Without the names of what is bound, which are numbered through."""
    names: dict[str, str] = {}
    fresh = count()
    return re.sub(r"\b(?:broker|sub|adv|pub|item)\.\d+", lambda m: names.setdefault(m[0], f"x{next(fresh)}"), text)


def step_of(handler: type[Handler]) -> dict[tuple[str, str, int], str]:
    """Each clause of each event, by its name, as Z3 reads it."""
    logic = Symbolic()
    stage = declared(logic)
    return {
        (event.name, clause.name, place): written(formula(clause.closed(logic)).sexpr())
        for event in EVENTS
        for place, clause in enumerate(stage.step(event, stage.named(event), handler=handler))
    }


def test_a_step_differs_from_one_of_the_core_in_what_may_be_wanted_only() -> None:
    core, here = step_of(Handler), step_of(Pruning)
    assert core.keys() == here.keys()
    differ = {
        (event, clause) for event, clause, place in core if core[event, clause, place] != here[event, clause, place]
    }
    silent = ("publish", "deliver pub")
    assert differ == {(event.name, CANDIDATES) for event in EVENTS if event.name not in silent}


def test_the_invariants_are_those_of_the_core_but_for_what_is_given_up() -> None:
    assert PRUNING.conjuncts.keys() ^ ROUTING.conjuncts.keys() == {"sent is drawn", "sent is candidate"}
    assert PRUNING.lemmas.keys() ^ ROUTING.lemmas.keys() == {"anchored", "no residue of subscriptions"}
    for name in PRUNING.conjuncts.keys() & ROUTING.conjuncts.keys():
        assert PRUNING.conjuncts[name] == ROUTING.conjuncts[name]
    for name in PRUNING.lemmas.keys() & ROUTING.lemmas.keys():
        assert PRUNING.lemmas[name] == evolve(ROUTING.lemmas[name], needs=INSTEAD.get(name, ROUTING.lemmas[name].needs))
    needed = [PRUNING[name].needs for name in (*PRUNING.conjuncts, *PRUNING.lemmas)]
    assert not any(name in GIVEN_UP for needs in needed for name in needs)
    assert PRUNING.in_order()


# -- what can fail -----------------------------------------------------------------------------------------------------


class KeepsWhatNothingDraws(Pruning):
    """PRN-11 left out."""

    def eligible(self, u: Term, s: Term) -> Truth:
        return self.logic.any_of(self.candidate(u, s), lambda: self.before.sent(u, s))


class RetainsWhatItNeverSent(Pruning):
    """PRN-7: what is wanted need not have been sent."""

    def eligible(self, u: Term, s: Term) -> Truth:
        return is_drawn(self, u, s)


@pytest.mark.parametrize(
    ("handler", "event", "name"),
    [
        (KeepsWhatNothingDraws, "deliver unadv", "sent is drawn"),
        (RetainsWhatItNeverSent, "deliver adv", "sent away from home"),
    ],
)
def test_a_seeded_fault_of_the_relation_is_refuted(handler: type[Pruning], event: str, name: str) -> None:
    proof = Induction(PRUNING, handler=handler)
    (asked,) = proof.after(next(each for each in EVENTS if each.name == event), PRUNING.conjuncts[name])
    assert settle_inductive(asked).verdict == "refuted"
