"""What rests on what is not proved is not proved; what rests on what was not asked is proved, given that."""

from __future__ import annotations

import pytest

from routeproof.checker.prove.report import exit_code, render
from routeproof.checker.prove.solve import Judged, Verdict
from routeproof.checker.prove.theorems import judge, with_their_basis
from routeproof.spec.theory.invariants import ROUTING
from routeproof.spec.theory.invariants.obligations import Induction
from routeproof.spec.theory.proof import Theorem
from tests.checker.prove.broken_protocols import BROKEN
from tests.shown import recorded

RESTS = {"Top": ("Middle",), "Middle": ("Bottom", "Other"), "Bottom": (), "Other": ("Middle",)}
"""Two of them rest on each other."""


def judged(**verdicts: Verdict) -> dict[str, Judged]:
    theorems = [Theorem(id, (), "", tuple, rests_on=RESTS[id]) for id in verdicts]
    alone = [Judged(id, verdict, "", ()) for id, verdict in verdicts.items()]
    return {each.id: each for each in with_their_basis(theorems, alone)}


def test_what_rests_on_what_is_proved_is_proved() -> None:
    found = judged(Top="proved", Middle="proved", Bottom="proved", Other="proved")
    assert all((each.verdict, each.given, each.why) == ("proved", (), "") for each in found.values())


@pytest.mark.parametrize("verdict", ["refuted", "vacuous", "unknown"])
def test_what_rests_on_what_is_not_proved_is_unknown(verdict: Verdict) -> None:
    """However many are between the two."""
    found = judged(Top="proved", Middle="proved", Bottom=verdict, Other="refuted")
    assert {id: each.verdict for id, each in found.items()} == {
        "Top": "unknown",
        "Middle": "unknown",
        "Bottom": verdict,
        "Other": "refuted",
    }
    assert found["Top"].why == "it rests on what is not proved: Bottom, Other"
    assert "it rests on what is not proved" in render([*found.values()], 0.0, {})


def test_what_rests_on_what_was_not_asked_is_proved_given_that() -> None:
    found = judged(Top="proved", Middle="proved", Bottom="proved")
    assert {id: (each.verdict, each.given) for id, each in found.items()} == {
        "Top": ("proved", ("Other",)),
        "Middle": ("proved", ("Other",)),
        "Bottom": ("proved", ()),
    }
    assert judged(Top="proved")["Top"].given == ("Middle",)
    assert exit_code([*found.values()]) == 0
    told = render([*found.values()], 0.0, {})
    assert "given, and not judged here\n  Other: Top, Middle" in told
    assert (
        "every theorem is proved, given those that were not judged:\n  1 proved for all sizes, 2 proved, given others"
        in told
    )


@recorded
def test_no_delivery_is_lost_of_a_broker_that_forwards_nothing_only_given_what_is_false() -> None:
    broken = BROKEN["ForwardsNothing"]
    proof = Induction(ROUTING, handler=broken.handler)
    ahead = Theorem("Ahead", (), "", lambda: [each for each in proof.of_conjuncts(["copy ahead"]) if each.event])
    lemma = list(proof.of_lemmas(["no lost delivery"]))
    given_to_it = {source for each in lemma for source in each.sources}
    safe = Theorem("Safe", (), "", lambda: lemma, tuple(given_to_it), rests_on=("Ahead",))
    alone = judge(safe)
    assert alone.verdict == "proved"
    (given,) = with_their_basis([safe], [alone])
    assert given.given == ("Ahead",)
    told = {each.id: each.verdict for each in with_their_basis([ahead, safe], [judge(ahead), alone])}
    assert told == {"Ahead": "refuted", "Safe": "unknown"}
