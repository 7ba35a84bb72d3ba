"""Each sentence about invariants is proved by the theorem under whose name it is given to others."""

from __future__ import annotations

import pytest

from routeproof.checker.prove.theorems import THEOREMS
from routeproof.spec.pruning.theory import PRUNING_THEOREMS
from routeproof.spec.pruning.theory.invariants import BASIS as PRUNING_BASIS
from routeproof.spec.theory.invariants import BASIS as ROUTING_BASIS
from routeproof.spec.theory.invariants import ROUTING_THEOREMS, obligations_of
from routeproof.spec.theory.invariants.facts import FACTS, Basis, StepFact
from routeproof.spec.theory.proof import Theorem
from tests.shown import RECORDED

pytestmark = RECORDED

AGAIN = ("PruningCongestion", "PruningIssuedAgain")
"""They prove what others prove, after other steps."""


@pytest.mark.parametrize(("theorems", "basis"), [(ROUTING_THEOREMS, ROUTING_BASIS), (PRUNING_THEOREMS, PRUNING_BASIS)])
def test_each_sentence_is_proved_by_the_theorem_that_is_named_where_it_is_given(
    theorems: tuple[Theorem, ...], basis: Basis
) -> None:
    rows = [(each.sentence, theorem.id) for theorem in theorems for each in obligations_of(theorem)]
    proved = {said.name: id for said, id in rows if id not in AGAIN and not isinstance(said, StepFact)}
    assert {name: proved[name] for name in basis.theorem_of} == basis.theorem_of
    assert {(said.name, id) for said, id in rows if isinstance(said, StepFact)} == {(it, basis.facts) for it in FACTS}


def test_what_a_theorem_rests_on_is_a_theorem_that_is_proved_for_all_sizes() -> None:
    named = {id for theorem in THEOREMS.values() if isinstance(theorem, Theorem) for id in theorem.rests_on}
    assert named
    assert not any(THEOREMS[id].bound for id in named)


def test_subscriptions_and_advertisements_are_one_induction() -> None:
    one, other = THEOREMS["SubscriptionInvariants"], THEOREMS["AdvertisementInvariants"]
    assert isinstance(one, Theorem)
    assert isinstance(other, Theorem)
    assert other.id in one.rests_on
    assert one.id in other.rests_on
