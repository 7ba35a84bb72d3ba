"""Theorems about invariants name the theorems that their proofs rest on, and no more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from routeproof.checker.prove.theorems import THEOREMS
from routeproof.spec.theory.invariants import Conjunct
from routeproof.spec.theory.invariants_obligations import Inductive
from routeproof.spec.theory.invariants_theorems import ROUTING_THEOREMS, obligations_of
from routeproof.spec.theory.pruning_theorems import PRUNING_THEOREMS
from routeproof.spec.theory.theorem import Theorem

AGAIN = ("PruningCongestion", "PruningIssuedAgain")
"""They prove what others prove, after other steps."""

BESIDE = {
    "SubscriptionInvariants": {"PoliciesKeepPromises"},
    "DeliveryInvariants": {"PoliciesKeepPromises"},
    "PruningKeepsPromises": {"PruningRetained", "PoliciesKeepPromises"},
    "PruningInvariants": {"PruningKeepsPromises", "PruningCongestion"},
    "PruningDeliveryInvariants": {"PruningKeepsPromises", "PruningCongestion"},
    "PruningCongestion": {"PruningKeepsPromises"},
    "PruningIssuedAgain": {"PruningKeepsPromises"},
    "PruningAnchored": {"PruningRetained"},
}
"""What no needs of a sentence show: promises, tables that stand for others, other steps."""


def used(asked: Inductive, facts: str) -> Iterator[str]:
    """The sentences that its proof is given, and the theorem of the facts about its step."""
    yield from asked.sentence.needs
    if isinstance(asked.sentence, Conjunct):
        yield from asked.sentence.then
        yield facts


@pytest.mark.parametrize(
    ("theorems", "facts"), [(ROUTING_THEOREMS, "StepFacts"), (PRUNING_THEOREMS, "PruningStepFacts")]
)
def test_theorems_name_what_their_proofs_rest_on_and_no_more(theorems: tuple[Theorem, ...], facts: str) -> None:
    asked = {theorem.id: obligations_of(theorem) for theorem in theorems}
    proved = {
        each.sentence.name: id
        for id, obligations in asked.items()
        for each in obligations
        if id not in AGAIN and id != facts
    }
    for theorem in theorems:
        found = {proved.get(name, name) for each in asked[theorem.id] for name in used(each, facts)}
        world = {"Roads"} if asked[theorem.id] else set()
        assert set(theorem.rests_on) == (found | world | BESIDE.get(theorem.id, set())) - {theorem.id}, theorem.id


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
