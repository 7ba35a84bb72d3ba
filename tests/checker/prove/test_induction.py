"""Proofs by induction: what is wrong is refuted by name, in a small world; what is about nothing is not proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import z3
from attrs import evolve

from routeproof.checker.prove import solve
from routeproof.checker.prove.invariants import settle_inductive
from routeproof.checker.prove.small import SIZES
from routeproof.checker.prove.vacuity import Possibilities
from routeproof.spec.theory import PUB, SUB, Broker, Item, Pub, Sub, Truth, formula
from routeproof.spec.theory.invariants import ROUTING
from routeproof.spec.theory.invariants.book import Book, Moment
from routeproof.spec.theory.invariants.facts import FACTS, StepFact, fact
from routeproof.spec.theory.invariants.obligations import Induction, Inductive
from routeproof.spec.theory.invariants.step import StepView
from routeproof.spec.theory.relation.world import Happening, WorldStep
from tests.checker.prove.broken_protocols import BROKEN
from tests.shown import RECORDED

pytestmark = RECORDED


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


# -- what is about nothing ---------------------------------------------------------------------------------------------


def named(name: str, *made: Iterator[Inductive]) -> Inductive:
    return next(each for every in made for each in every if each.name == name)


def some_obligations() -> Iterator[Inductive]:
    """One of each kind: of a step, at first, of a step fact, of a lemma, of a lemma along a path, of a road."""
    proof = Induction(ROUTING)
    yield named("deliver sub / came from home", proof.of_conjuncts(["came from home"]))
    yield named("deliver pub / one copy (old and new)", proof.of_conjuncts(["one copy"]))
    yield named("at first / came from home", proof.of_conjuncts(["came from home"]))
    yield named("deliver unsub / changes are said", proof.of_facts())
    yield from proof.of_lemmas(["no stray", "no lost delivery"])
    yield next(proof.of_roads())


@cache
def asked_by_name() -> dict[str, Inductive]:
    """Made when a test asks for it, and not wherever tests are collected."""
    return {each.name: each for each in some_obligations()}


SOME = (
    "deliver sub / came from home",
    "deliver pub / one copy (old and new)",
    "at first / came from home",
    "deliver unsub / changes are said",
    "no stray",
    "no lost delivery",
    "a path has its ends",
)


@pytest.mark.parametrize("name", SOME)
def test_what_is_given_must_be_possible(name: str) -> None:
    assert tuple(asked_by_name()) == SOME
    asked = asked_by_name()[name]
    assert settle_inductive(asked).verdict == "proved"
    duplicate = asked.proof.stage.now.state.duplicate()
    assert isinstance(duplicate, z3.BoolRef)
    for more in ([z3.BoolVal(False)], [duplicate, z3.Not(duplicate)]):
        settled = settle_inductive(evolve(asked, given=[*asked.given, *more], goal=z3.BoolVal(False)))
        assert (settled.verdict, settled.why) == ("vacuous", "impossible: what is given")


def test_what_is_given_must_be_possible_where_the_sentence_says_something() -> None:
    """Not only somewhere: given that nobody subscribes, there is a step, and nothing is sent."""
    asked = asked_by_name()["no stray"]
    s = asked.proof.logic.constant("s", SUB)
    nobody = z3.ForAll([s], z3.Not(asked.proof.stage.now.state.subscribed(s)))
    assert settle_inductive(evolve(asked, given=[*asked.given, nobody])).why == "impossible: what is given"


def test_what_is_false_in_one_world_is_looked_for_in_others() -> None:
    asked = asked_by_name()["no stray"]
    state, logic = asked.proof.stage.now.state, asked.proof.logic
    withdrawn = logic.some((SUB,), state.unsubscribed)
    for more in (withdrawn, logic.no(withdrawn)):
        assert not Possibilities().impossible(evolve(asked, given=[*asked.given, formula(more)]))


def test_an_event_must_be_possible() -> None:
    class Silent(WorldStep):
        """Clients say nothing."""

        def possible(self, what: Happening) -> Truth:
            return False if what.operation == "subscribe" else super().possible(what)

    (asked,) = obligations(Induction(ROUTING, step=Silent), "subscribe", "came from home")
    settled = settle_inductive(asked)
    assert (settled.verdict, settled.why) == ("vacuous", "impossible: this step: subscribe")


def entered(body: Callable[..., Truth]) -> Induction:
    book = Book()
    book.conjunct()(body)
    return Induction(ROUTING | book)


def test_a_conjunct_must_say_something_after_the_event() -> None:
    """It says something elsewhere: what is new is queued after a step, and nobody subscribes again."""

    def gone_without_a_trace(m: Moment, s: Sub) -> Truth:
        """What is not subscribed is not withdrawn."""
        return m.logic.implies(m.state.unsubscribed(s), m.state.subscribed(s))

    def never(m: Moment, s: Sub) -> Truth:
        """What is subscribed and is not has been withdrawn."""
        both = m.logic.all_of(m.state.subscribed(s), m.logic.no(m.state.subscribed(s)))
        return m.logic.implies(both, m.state.unsubscribed(s))

    for body, verdict in ((gone_without_a_trace, "proved"), (never, "vacuous")):
        (asked,) = obligations(entered(body), "unsubscribe", body.__name__.replace("_", " "))
        assert settle_inductive(asked).verdict == verdict
    settled = settle_inductive(asked)
    assert settled.why == "impossible: what it speaks of: What is subscribed and is not has been withdrawn."


def test_a_conjunct_that_says_something_before_the_step_must_say_something_after_it() -> None:
    class Forgets(WorldStep):
        """After a step nothing counts as published."""

        def done(self, what: Happening) -> list[Any]:
            return [
                evolve(each, body=lambda p: self.logic.no(self.after.published(p))) if each.sorts == (PUB,) else each
                for each in super().done(what)
            ]

    def published_is_published(m: Moment, p: Pub) -> Truth:
        """What is published is published."""
        return m.logic.implies(m.state.published(p), m.state.published(p))

    book = Book()
    book.conjunct()(published_is_published)
    for step, verdict in ((WorldStep, "proved"), (Forgets, "vacuous")):
        (asked,) = obligations(Induction(ROUTING | book, step=step), "subscribe", "published is published")
        assert settle_inductive(asked).verdict == verdict


@pytest.fixture
def step_fact(monkeypatch: pytest.MonkeyPatch) -> StepFact:
    def about_nothing(g: StepView, by: Happening, i: Item, u: Broker) -> Truth:
        """What is said and is not is delivered twice."""
        logic = g.now.logic
        both = logic.all_of(g.sends.to(i, u), logic.no(g.sends.to(i, u)))
        return logic.implies(both, g.then.state.duplicate())

    known = dict(FACTS)
    fact()(about_nothing)
    made = FACTS.pop("about nothing")
    assert known == FACTS
    monkeypatch.setitem(FACTS, made.name, made)
    return made


def test_a_step_fact_must_say_something_in_some_step(step_fact: StepFact) -> None:
    (asked,) = obligations(Induction(ROUTING), "subscribe", step_fact.name)
    settled = settle_inductive(asked)
    assert (settled.verdict, settled.why) == ("vacuous", f"impossible: what it speaks of: {step_fact.about}")


# -- limits ------------------------------------------------------------------------------------------------------------


def test_where_small_worlds_are_not_seen_to_the_end_nothing_is_said_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    (true,) = obligations(Induction(ROUTING), "deliver sub", "came from home")
    broken = BROKEN["NoSettleAfterUnadvertise"]
    (false,) = obligations(Induction(ROUTING, handler=broken.handler), broken.event, broken.sentence)
    monkeypatch.setattr(solve, "RLIMIT", 1)
    settled = settle_inductive(true, 40_000_000)
    assert (settled.verdict, settled.why.partition(":")[0]) == ("unknown", "whether it is vacuous; Z3 gives up")
    settled = settle_inductive(false, 400_000)
    assert settled.verdict == "unknown"
    assert "no counterexample with" not in settled.why
    assert f"of worlds of {SIZES[0]}" in settled.why
