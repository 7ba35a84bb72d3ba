"""The theorems are not about nothing: deliveries happen, transitions are the model's, overlays are trees."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.prove import code
from routeproof.checker.prove.invariants import settle_bounded
from routeproof.checker.prove.refine import steps
from routeproof.checker.prove.refine.sample import Sample
from routeproof.checker.prove.theorems import THEOREMS, asked, judge, judge_by, with_their_basis
from routeproof.spec.theory import BROKER, Clause, Logic, Term, Truth
from routeproof.spec.theory.invariants.bounded import BoundedTheorem, Reached
from routeproof.spec.theory.invariants.obligations import Induction
from routeproof.spec.theory.invariants.step import EVENTS
from routeproof.spec.theory.proof import Theorem
from routeproof.spec.theory.relation import Tree, tree_holds, world
from routeproof.spec.theory.relation.world import Happening, WorldStep
from tests.checker.command import Here
from tests.shown import RECORDED

pytestmark = RECORDED

HAPPENS = THEOREMS["DeliveryHappens"]


def reached(policy: str) -> Reached:
    assert isinstance(HAPPENS, BoundedTheorem)
    (found,) = (each for each in HAPPENS.obligations() if each.name == policy)
    assert isinstance(found, Reached)
    return found


class NothingIsOwed(WorldStep):
    """No publication ever becomes owed."""

    def owed(self, what: Happening, p: Term, s: Term) -> Truth:
        return False


class NobodySubscribes(WorldStep):
    """No client can subscribe."""

    def possible(self, what: Happening) -> Truth:
        return what.operation != "subscribe" and super().possible(what)


# -- a delivery is owed, and made --------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [NothingIsOwed, NobodySubscribes])
def test_a_relation_in_which_nothing_is_owed_is_refuted(step: type[WorldStep]) -> None:
    whole = reached("active")
    faulty = evolve(whole, proof=Induction(whole.proof.book, "active", step=step))
    settled = settle_bounded(faulty)
    assert (settled.verdict, settled.why.partition(" leads")[0]) == ("refuted", "no run of 6 steps")
    fallen = evolve(judge_by(HAPPENS, [whole]), verdict="refuted")
    alone = [judge(THEOREMS[id]) for id in ("NoLostDelivery", "NoDuplicate")]
    verdicts = {each.id: each.verdict for each in with_their_basis([*THEOREMS.values()], [fallen, *alone])}
    assert (verdicts["NoLostDelivery"], verdicts["NoDuplicate"]) == ("unknown", "unknown")


def test_the_witness_is_a_run_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = Here(tmp_path, monkeypatch, capsys)
    for policy in ("none", "active", "lazy"):
        settled = settle_bounded(reached(policy))
        assert settled.verdict == "proved"
        (here.directory / "witness.jsonl").write_text(settled.trace, encoding="utf-8")
        judged = here("validate", "witness.jsonl")
        assert judged.code == 0
        assert "accepted at level equivalent" in judged.out
        assert "1 of 1 obligation" in judged.out


SAFETY = ("NoLostDelivery", "NoDuplicate", "Agreement", "NoStray", "SimplePaths")


@pytest.mark.parametrize("id", [*SAFETY, "NoResidue", "Compact", *(f"Pruning{id}" for id in SAFETY)])
def test_each_safety_theorem_rests_on_a_delivery_that_happens(id: str) -> None:
    theorem = THEOREMS[id]
    assert isinstance(theorem, Theorem)
    assert ("PruningDeliveryHappens" if id.startswith("Pruning") else "DeliveryHappens") in theorem.beside


# -- the relation's transitions are the model's ------------------------------------------------------------------------


def test_a_transition_that_proofs_leave_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "EVENTS", [each for each in EVENTS if each.name != "unsubscribe"])
    (named, *_) = steps.steps_allowed(Sample.of(("tiny",)).explored, whole=False)
    (case,) = (each for each in named.cases() if each.expected != each.found)
    assert case.about() == {"transition": "unsubscribe"}


def test_an_event_that_the_model_does_not_have_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    more = evolve(EVENTS[0], name="renew", operation="renew")
    monkeypatch.setattr(steps, "EVENTS", [*EVENTS, more])
    (named, *_) = steps.steps_allowed(Sample.of(("tiny",)).explored, whole=True)
    assert "renew" in [each.about()["transition"] for each in named.cases() if each.expected != each.found]


def test_an_operation_that_the_relation_lacks_is_refuted_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(world.OPERATIONS, "unsubscribe")
    judged = judge(asked(["tiny"])["StepsAllowed"])
    assert judged.verdict == "refuted"
    refuted = {each.name: each for each in judged.with_verdict("refuted")}
    assert "unsubscribe(" in refuted["what can happen"].shown["step"]
    assert "the relation has no operation of clients that is unsub" in refuted["unsub"].shown["the relation"]


# -- the axioms of trees are true of overlays --------------------------------------------------------------------------


def test_an_axiom_that_not_every_overlay_satisfies_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def lines(logic: Logic, tree: Tree) -> list[Clause]:
        def between(x: Term, y: Term, z: Term) -> Truth:
            return logic.any_of(tree.between(x, y, z), tree.between(y, z, x), tree.between(z, x, y))

        return [*tree_holds(logic, tree), Clause("the overlay is a line", (BROKER,) * 3, between)]

    monkeypatch.setattr(code, "tree_holds", lines)
    judged = judge(THEOREMS["OverlaysAreTrees"])
    assert judged.with_verdict("refuted")[0].name == "the overlay is a line"
