"""Bounded checking: what holds, what is refuted with its run, and what would be about nothing."""

from __future__ import annotations

import pytest
from attrs import evolve

from routeproof.checker.prove.invariants import settle_bounded
from routeproof.checker.prove.solve import Settled
from routeproof.checker.prove.theorems import BOUNDED_THEOREMS
from routeproof.spec.pruning.theory.invariants import PRUNING, Handling
from routeproof.spec.pruning.theory.relation import Congested, CongestedStep
from routeproof.spec.theory import Term, Truth
from routeproof.spec.theory.invariants import routing, routing_under
from routeproof.spec.theory.invariants.bounded import ALONE, SAFETY_LEMMAS, Bounded, Reached, Size, k_induction
from routeproof.spec.theory.invariants.obligations import Induction
from routeproof.spec.theory.invariants.step import EVENTS
from routeproof.spec.theory.relation.routing import POLICIES
from tests.checker.prove.broken_protocols import BROKEN
from tests.shown import RECORDED

pytestmark = RECORDED

TINY = Size(2, 1, 1, 1, 2)


def broken(name: str, policy: str = "active") -> Induction:
    found = BROKEN[name]
    return Induction(routing_under(policy).book, policy, handler=found.handler, step=found.step)


def safety(
    proof: Induction, size: Size, steps: int, *, first: bool, sentences: tuple[str, ...] = SAFETY_LEMMAS
) -> Bounded:
    given = () if first else tuple(proof.book.conjuncts)
    told = [proof.book[name] for name in sentences]
    return Bounded(name="test", proof=proof, sentences=told, size=size, steps=steps, first=first, given=given)


class KeepsWhatNothingDraws(Congested):
    def eligible(self, u: Term, s: Term) -> Truth:
        return self.logic.any_of(self.candidate(u, s), lambda: self.before.sent(u, s))


def steps_of(settled: Settled) -> list[str]:
    return [value for name, value in settled.shown.items() if name.startswith("step")]


# -- refuted, with its run ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "messages", "steps", "fails"),
    [
        ("DeliversUnmatched", 1, 3, "Every delivery matches."),
        ("ForwardsNothing", 2, 5, "An owed publication is delivered by the time that no copy of it is left."),
        ("OwesEverybody", 1, 2, "An owed publication is delivered by the time that no copy of it is left."),
        ("AdvertisesNowhere", 1, 3, "An owed publication is delivered by the time that no copy of it is left."),
        ("WithdrawsNowhere", 2, 3, "When it is quiet, no broker has an inactive advertisement."),
    ],
)
def test_a_broken_protocol_is_refuted_by_a_shortest_run_from_the_beginning(
    name: str, messages: int, steps: int, fails: str
) -> None:
    settled = settle_bounded(safety(broken(name), Size(2, 1, 1, 1, messages), 5, first=True))
    assert (settled.verdict, settled.why) == ("refuted", f"it is false after {steps} steps")
    assert settled.shown["at first"] == "nothing has happened yet"
    assert settled.shown["fails"] == fails
    assert len(steps_of(settled)) == steps


@pytest.mark.parametrize(
    ("name", "fails"),
    [
        (
            "NoSettleAfterUnadvertise",
            "A sent subscription intersects an advertisement from there: at every moment, quiet or not.",
        ),
        ("WithdrawalNotSent", "When it is quiet, s is in sent_x[y] exactly where subs_y[s] = x."),
        ("DeliversNothing", "An owed publication is delivered by the time that no copy of it is left."),
    ],
)
def test_a_broken_protocol_is_refuted_from_where_the_invariants_are_true(name: str, fails: str) -> None:
    settled = settle_bounded(safety(broken(name), TINY, 1, first=False))
    assert (settled.verdict, settled.why) == ("refuted", "it is false after 1 step")
    assert settled.shown["at first"] == "any moment of which the invariants are true; it need not be reachable"
    assert settled.shown["fails"] == fails


def test_a_broker_that_retains_what_nothing_draws_is_refuted_under_pruning() -> None:
    """PRN-11 left out: what is retained is still there when it is drawn by nothing."""
    (anywhere,) = (each for each in BOUNDED_THEOREMS if each.id == "PruningSafeFromAnywhere")
    (asked,) = anywhere.obligations()
    faulty = Handling(PRUNING, step=CongestedStep, handler=KeepsWhatNothingDraws)
    settled = settle_bounded(evolve(asked, proof=faulty, size=TINY, steps=1))
    assert (settled.verdict, settled.why) == ("refuted", "it is false after 1 step")
    assert settled.shown["fails"] == PRUNING["no stray"].about


def test_each_policy_is_checked() -> None:
    kinds = {each.id: [asked.name for asked in each.obligations()] for each in BOUNDED_THEOREMS}
    assert kinds["SafeFromTheBeginning"] == list(POLICIES)
    assert kinds["SafeFromAnywhere"] == list(POLICIES)


def test_publications_that_are_sent_back_never_come_to_rest() -> None:
    (silence,) = (each for each in BOUNDED_THEOREMS if each.id == "SilenceDrains")
    (asked,) = (each for each in silence.obligations() if each.name == "active")
    settled = settle_bounded(evolve(asked, proof=broken("SentBack"), size=TINY))
    assert (settled.verdict, len(steps_of(settled))) == ("refuted", asked.steps)


# -- k-induction -------------------------------------------------------------------------------------------------------


def test_what_takes_two_moments_is_no_invariant_by_itself() -> None:
    sentence, size = ALONE["owed is pledged"], Size(2, 1, 1, 1, 2)
    _, one = k_induction(routing(), sentence, size, 1)
    _, two = k_induction(routing(), sentence, size, 2)
    refuted = settle_bounded(one)
    assert refuted.verdict == "refuted"
    assert (
        refuted.shown["at first"] == "any moment of which the facts of every world are true; it need not be reachable"
    )
    assert settle_bounded(two).verdict == "bounded"


@pytest.mark.parametrize("name", ["AlwaysReady", "OwesEverybody"])
def test_k_induction_refutes_a_broken_protocol(name: str) -> None:
    base, step = k_induction(broken(name), ALONE["owed is pledged"], TINY, 2)
    assert settle_bounded(base).verdict == "bounded"
    assert settle_bounded(step).verdict == "refuted"


def test_a_base_is_refuted_too() -> None:
    base, _ = k_induction(broken("OwesEverybody"), ALONE["owed is pledged"], TINY, 3)
    settled = settle_bounded(base)
    assert (settled.verdict, settled.why, len(steps_of(settled))) == ("refuted", "it is false after 2 steps", 2)


# -- what is about nothing, and what is not decided --------------------------------------------------------------------


def test_an_event_that_cannot_happen_makes_it_vacuous() -> None:
    settled = settle_bounded(safety(routing_under("active"), TINY, 3, first=True))
    assert (settled.verdict, settled.why) == ("vacuous", "impossible: this step: deliver unadv")


def test_a_run_that_cannot_be_so_long_makes_it_vacuous() -> None:
    events = [event for event in EVENTS if event.name == "subscribe"]
    asked = evolve(safety(routing_under("active"), TINY, 2, first=True), events=events)
    assert settle_bounded(asked).why == "impossible: a run of 2 steps"


def test_a_sentence_that_says_nothing_makes_it_vacuous() -> None:
    events = [event for event in EVENTS if event.operation and event.name != "publish"]
    asked = evolve(safety(routing_under("active"), TINY, 2, first=True, sentences=("no lost delivery",)), events=events)
    assert settle_bounded(asked).why == (
        "impossible: what it speaks of: An owed publication is delivered by the time that no copy of it is left."
    )


def test_a_limit_makes_it_unknown() -> None:
    settled = settle_bounded(safety(routing_under("active"), TINY, 3, first=True), rlimit=1000)
    assert settled.verdict == "unknown"
    assert settled.why.startswith("Z3 gives up: ")


# -- the theorems ------------------------------------------------------------------------------------------------------


def test_a_bound_names_its_kind_and_its_size() -> None:
    """A witness needs no bound."""
    for theorem in BOUNDED_THEOREMS:
        witnessed = all(isinstance(each, Reached) for each in theorem.obligations())
        assert witnessed != theorem.bound.startswith(("bounded checking: ", "k-induction: "))
        assert witnessed or all(str(asked.size) in theorem.bound for asked in theorem.obligations()), theorem.id


def test_the_outcome_is_the_same_twice() -> None:
    asked = safety(broken("DeliversUnmatched"), TINY, 3, first=True)
    one, other = settle_bounded(asked), settle_bounded(asked)
    assert (one, one.trace) == (other, other.trace)
    assert one.trace
