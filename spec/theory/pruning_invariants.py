"""The invariants of pruning, congestion included, and the inductions that prove them.

They are those of the core but for one: what was sent need not be a candidate, and is drawn all the same. With it goes
NoResidue; what is left of that is Anchored. Nothing is taken over from the core's proofs: every invariant is proved
anew, after every step of a broker that prunes, after the two in which a withdrawal is held and taken up again, and
after a subscription is issued again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, cached_property

from attrs import evolve, frozen

from routeproof.spec.theory.invariants import Book, Conjunct, Moment
from routeproof.spec.theory.invariants_facts import StepFact, facts_of
from routeproof.spec.theory.invariants_obligations import Induction, Inductive, _PerEvent
from routeproof.spec.theory.invariants_relevant import relevant
from routeproof.spec.theory.invariants_steps import CANDIDATES, COVERED, EVENTS, Event
from routeproof.spec.theory.invariants_theorems import ROUTING
from routeproof.spec.theory.logic import Truth, formula
from routeproof.spec.theory.pruning_again import IssuedAgain
from routeproof.spec.theory.pruning_congestion import (
    HELD,
    Congested,
    CongestedStep,
    Holds,
    Resumes,
    Resumption,
    held_in,
)
from routeproof.spec.theory.readings import ADV, BROKER, SUB, Term
from routeproof.spec.theory.trees import path_induction

OWN = Book()


@OWN.conjunct(
    BROKER,
    BROKER,
    SUB,
    needs="sent_away_from_home queues_are_on_links adv_came_from_origin adv_is_news unadv_is_news",
)
def sent_is_drawn(m: Moment, x: Term, y: Term, s: Term) -> Truth:
    """What was sent intersects an advertisement from there, whether it is retained or not."""
    logic = m.logic
    return logic.implies(
        m.state.sent(x, y, s),
        lambda: logic.some((ADV,), lambda a: logic.all_of(m.state.advs(x, a, y), m.facts.overlaps(a, s))),
    )


@OWN.conjunct(BROKER, SUB, BROKER, needs="came_from_home said_away_from_home queues_are_on_links")
def held_came_from_home(m: Moment, b: Term, s: Term, x: Term) -> Truth:
    """What is held came from the neighbour on the way to its home, and at home from its client."""
    return m.logic.implies(held_in(m.logic, m.state)(b, s, x), m.equal(x, m.toward(b, m.home(s))))


def is_retained(m: Moment, x: Term, y: Term, s: Term) -> Truth:
    """x has sent s to y, and has it from nowhere else any more: theorem PruningRetained."""
    elsewhere = m.logic.some((BROKER,), lambda f: m.logic.all_of(m.state.subs(x, s, f), m.logic.apart(f, y)))
    return m.logic.all_of(m.state.sent(x, y, s), m.logic.no(elsewhere))


def _has_back(m: Moment, b: Term, s: Term, x: Term) -> Truth:
    return path_induction(m.logic, m.tree, lambda z: m.state.subs(z, s, m.toward(z, m.home(s))), b, m.home(s))


@OWN.lemma(
    BROKER,
    SUB,
    BROKER,
    needs="agreement came_from_home home_has_what_is_active",
    induction=_has_back,
)
def anchored(m: Moment, b: Term, s: Term, x: Term) -> Truth:
    """When no control message is queued, what a broker has without being active, another retains, or holds, on the
    way to its home."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.is_quiet(), m.state.subs(b, s, x)),
        lambda: logic.any_of(
            m.is_active(s),
            lambda: logic.some(
                (BROKER, BROKER),
                lambda z, y: logic.all_of(m.tree.between(b, z, m.home(s)), lambda: is_retained(m, z, y, s)),
            ),
        ),
    )


GIVEN_UP = ("sent is candidate", "no residue of subscriptions")

INSTEAD = {"no stray": ("sent is drawn",)}
"""What rests on something else than in the core."""

OF_WHAT_IS_HELD = ("sent away from home", "copy is news")
"""What rests on where that came from which is held, too."""


def _resting(each: Conjunct) -> Conjunct:
    return evolve(each, needs=(*each.needs, "held came from home")) if each.name in OF_WHAT_IS_HELD else each


CORE = ROUTING | OWN
PRUNING = Book(
    {name: _resting(each) for name, each in CORE.conjuncts.items() if name not in GIVEN_UP},
    {
        name: evolve(each, needs=INSTEAD.get(name, each.needs))
        for name, each in CORE.lemmas.items()
        if name not in GIVEN_UP
    },
)


# -- inductions --------------------------------------------------------------------------------------------------------


@frozen(eq=False)
class Handling(Induction):
    """Over the steps in which a message is handled; at first nothing is held."""

    def at_first(self, conjunct: Conjunct) -> Inductive:
        asked, m = super().at_first(conjunct), self.stage.now
        nothing = m.logic.every(HELD, lambda b, s, x: m.logic.no(held_in(m.logic, m.state)(b, s, x)))
        return evolve(asked, given=[*asked.given, formula(nothing)])


@frozen(eq=False)
class Beside(Induction):
    """Over steps that are there beside those: each is about the messages of one event, and of no other."""

    def facts_after(self, event: Event) -> Iterator[Inductive]:
        """What is true of this step: as `of_facts` has it of every event."""
        for fact in facts_of(event):
            goal = formula(fact.clause(self.stage, self.stage.named(event)).at(*self._terms(fact.sorts)))
            before = self._closed(self.book[name].clause(self.stage.now) for name in fact.needs)
            said = [row for row in self._step[event] if row[0] not in (CANDIDATES, COVERED)]
            step = relevant([*said, *self._told[event]], [goal])
            yield self._made(f"{event.name} / {fact.name}", goal, [*before, *step], fact, event)


@frozen(eq=False)
class Later(Beside):
    """In these nobody delivers anything: the facts about a delivery are none of theirs."""

    def facts_after(self, event: Event) -> Iterator[Inductive]:
        every = super().facts_after(event)
        return (each for each in every if isinstance(each.sentence, StepFact) and not each.sentence.deliveries)

    @cached_property
    def _facts(self) -> _PerEvent:
        g = self.stage
        return _PerEvent(
            self.logic,
            lambda event: [fact.clause(g, g.named(event)) for fact in facts_of(event) if not fact.deliveries],
        )


@cache
def handling() -> Induction:
    return Handling(PRUNING, step=CongestedStep, handler=Congested)


@cache
def holding() -> Beside:
    return Beside(PRUNING, step=CongestedStep, handler=Holds)


@cache
def resuming() -> Beside:
    return Later(PRUNING, step=Resumption, handler=Resumes)


@cache
def issuing_again() -> Beside:
    return Beside(PRUNING, step=IssuedAgain, handler=Congested)


_NAMED = {event.name: event for event in EVENTS}


Row = tuple[str, Beside, Event]


def held_and_resumed() -> Iterator[Row]:
    """A withdrawal is held where a neighbour or a client says it, and taken up at any time."""
    yield "held", holding(), _NAMED["deliver unsub"]
    yield "held", holding(), _NAMED["unsubscribe"]
    yield "resumed", resuming(), _NAMED["deliver unsub"]


def issued_again() -> Iterator[Row]:
    yield "again", issuing_again(), _NAMED["subscribe"]


def after_each(rows: Iterable[Row]) -> Iterator[Inductive]:
    """That every invariant holds after these steps."""
    for said, proof, event in rows:
        for conjunct in PRUNING.conjuncts.values():
            yield from (evolve(asked, name=f"{said}: {asked.name}") for asked in proof.after(event, conjunct))


def step_facts() -> Iterator[Inductive]:
    """What is true of every step, of those too."""
    yield from handling().of_facts()
    for said, proof, event in (*held_and_resumed(), *issued_again()):
        yield from (evolve(asked, name=f"{said}: {asked.name}") for asked in proof.facts_after(event))
