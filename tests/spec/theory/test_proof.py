"""Proofs in steps: what a step may rest on, and what becomes of one that does not follow or is about nothing."""

from __future__ import annotations

import pytest

from routeproof.checker.prove.solve import settle
from routeproof.spec.theory import BROKER, SUB, Clause
from routeproof.spec.theory.proof import Proof, obligations
from routeproof.spec.theory.relation.quiet_states import SETTLED, Scene, any_scene, beside, quiet_holds

LINKS = (BROKER, BROKER, SUB)


def told(q: Scene, *, known: bool = True, rests: bool = True, impossible: bool = False) -> Proof:
    """That a neighbour is told candidates only, rightly or not."""
    proof = Proof(q.logic)
    settled = quiet_holds(q)[SETTLED]
    if known:
        proof.assume(SETTLED, settled)
    proof.lemma(
        "told",
        LINKS,
        when=lambda x, y, s: q.logic.all_of(q.tree.link(x, y), q.state.sent(x, y, s), not impossible),
        then=q.candidate,
        given=[settled] if rests else [],
    )
    return proof


def test_a_step_that_follows_is_proved() -> None:
    (only,) = obligations(told, any_scene("none"), [beside("none").scene()])
    assert settle(only).verdict == "proved"
    proof = told(any_scene("none"))
    assert proof.hypotheses() == [SETTLED]
    assert proof.rests_on(proof.lemmas[0].clause) == {SETTLED}


def test_a_step_that_does_not_follow_is_not() -> None:
    (only,) = obligations(lambda q: told(q, rests=False), any_scene("none"), [beside("none").scene()])
    assert settle(only, 1_000_000).verdict in ("refuted", "unknown")


def test_nothing_is_used_that_is_not_known() -> None:
    with pytest.raises(ValueError, match="neither taken for granted nor proved before"):
        told(any_scene("none"), known=False)


def test_nothing_is_used_before_it_is_proved() -> None:
    scene = any_scene("none")
    proof = Proof(scene.logic)
    later = Clause("later", (SUB,), scene.wants)
    with pytest.raises(ValueError, match="'later' is neither"):
        proof.lemma("now", (SUB,), then=scene.wants, given=lambda s: [(later, s)])


def test_a_step_about_nothing_is_vacuous() -> None:
    (only,) = obligations(lambda q: told(q, impossible=True), any_scene("none"), [beside("none").scene()])
    assert settle(only).verdict == "vacuous"


def test_an_example_in_which_a_hypothesis_fails_shows_nothing() -> None:
    """Under `active` the example is not at rest: it was written for `none`, and s covers t here."""
    (only,) = obligations(told, any_scene("none"), [])
    assert settle(only).verdict == "vacuous"
