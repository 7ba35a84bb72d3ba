"""Proofs by induction: what is wrong is refuted by name, in a small world; what is about nothing is not proved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from routeproof.checker.prove.induction import settle_inductive
from routeproof.spec.theory.invariants_facts import FACTS
from routeproof.spec.theory.invariants_obligations import Induction, Inductive
from routeproof.spec.theory.invariants_theorems import ROUTING
from tests.checker.prove.broken_protocols import BROKEN


def obligations(proof: Induction, event: str, sentence: str) -> Iterator[Inductive]:
    every = proof.of_facts() if sentence in FACTS else proof.of_conjuncts([sentence])
    return (
        each for each in every if each.event is not None and each.event.name == event and each.sentence.name == sentence
    )


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_protocol_is_refuted_by_name(name: str) -> None:
    broken = BROKEN[name]
    proof = Induction(ROUTING, handler=broken.handler, step=broken.step)
    settled = [settle_inductive(each) for each in obligations(proof, broken.event, broken.sentence)]
    (refuted,) = [each for each in settled if each.verdict == "refuted"]
    assert refuted.name == f"{broken.event} / {broken.sentence}"
    assert refuted.why == f"it need not hold after this step: {broken.event}"
    assert {"overlay", "step", "fails", "b1 knows"} <= set(refuted.shown)


def test_there_are_enough_of_them() -> None:
    assert len(BROKEN) >= 20
    assert len({broken.sentence for broken in BROKEN.values()}) >= 15
