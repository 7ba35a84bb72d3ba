"""The invariants of pruning, congestion included, and the inductions that prove them.

They are those of the core but for one: what was sent need not be a candidate, and is drawn all the same. With it goes
NoResidue; what is left of that is Anchored. Nothing is taken over from the core's proofs: every invariant is proved
anew, after every step of a broker that prunes, after the two in which a withdrawal is held and taken up again, and
after a subscription is issued again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from attrs import evolve, frozen

from routeproof.spec.pruning.theory import relation
from routeproof.spec.theory import ADV, BROKER, Broker, Clause, Sub, Term, Truth
from routeproof.spec.theory.invariants import QUIET_LEMMAS, ROUTING, SAFETY
from routeproof.spec.theory.invariants.book import Book, Conjunct, Moment
from routeproof.spec.theory.invariants.facts import Basis, StepFact
from routeproof.spec.theory.invariants.obligations import Induction, Inductive
from routeproof.spec.theory.invariants.publications import DELIVERY
from routeproof.spec.theory.invariants.quiet import has_back
from routeproof.spec.theory.invariants.step import EVENTS, StepEvent
from routeproof.spec.theory.relation.routing import HandlerStep
from routeproof.spec.theory.relation.world import WorldStep

OWN = Book()


@OWN.conjunct(needs="sent_away_from_home queues_are_on_links adv_came_from_origin adv_is_news unadv_is_news")
def sent_is_drawn(m: Moment, x: Broker, y: Broker, s: Sub) -> Truth:
    """A sent subscription intersects an advertisement from there, whether it is retained or not."""
    logic = m.logic
    return logic.implies(
        m.state.sent(x, y, s),
        lambda: logic.some((ADV,), lambda a: logic.all_of(m.state.advs(x, a, y), m.facts.overlaps(a, s))),
    )


@OWN.conjunct(needs="came_from_home said_away_from_home queues_are_on_links")
def held_came_from_home(m: Moment, b: Broker, s: Sub, x: Broker) -> Truth:
    """A held withdrawal came from the neighbour on the way to its subscription's home, and at home from its client."""
    return m.logic.implies(relation.held_in(m.logic, m.state)(b, s, x), m.equal(x, m.toward(b, m.home(s))))


def is_retained(m: Moment, x: Term, y: Term, s: Term) -> Truth:
    """x has sent s to y, and has it from nowhere else any more: theorem PruningRetained."""
    elsewhere = m.logic.some((BROKER,), lambda f: m.logic.all_of(m.state.subs(x, s, f), m.logic.apart(f, y)))
    return m.logic.all_of(m.state.sent(x, y, s), m.logic.no(elsewhere))


@OWN.lemma(needs="agreement came_from_home home_has_what_is_active", induction=has_back)
def anchored(m: Moment, b: Broker, s: Sub, x: Broker) -> Truth:
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
"""Conjuncts that rest on other premises than in the core."""

OF_WHAT_IS_HELD = ("sent away from home", "copy is news")
"""Conjuncts that also rest on where held withdrawals came from."""


def _resting(each: Conjunct) -> Conjunct:
    return evolve(each, needs=(*each.needs, "held came from home")) if each.name in OF_WHAT_IS_HELD else each


KEPT = ROUTING.without(*GIVEN_UP) | OWN
PRUNING = Book(
    {name: _resting(each) for name, each in KEPT.conjuncts.items()},
    {name: evolve(each, needs=INSTEAD.get(name, each.needs)) for name, each in KEPT.lemmas.items()},
)


OF_DELIVERY = tuple(name for name in DELIVERY.conjuncts if name in PRUNING.conjuncts)
OF_TABLES = tuple(name for name in PRUNING.conjuncts if name not in OF_DELIVERY)

KEPT_PROMISES = "PruningKeepsPromises"

BASIS = Basis(
    PRUNING,
    {
        "PruningInvariants": OF_TABLES,
        "PruningDeliveryInvariants": OF_DELIVERY,
        "PruningQuietLemmas": QUIET_LEMMAS,
        **{f"Pruning{id}": names for id, names in SAFETY.items()},
        "PruningAnchored": ("anchored", "no residue of advertisements"),
    },
    facts="PruningStepFacts",
    promises=KEPT_PROMISES,
)


# -- inductions --------------------------------------------------------------------------------------------------------


@frozen(eq=False)
class Handling(Induction):
    """Over the steps in which a message is handled; at first nothing is held."""

    def beginning(self, moment: Moment) -> list[Clause]:
        logic, held = moment.logic, relation.held_in(moment.logic, moment.state)
        nothing = Clause("held is empty", relation.HELD, lambda b, s, x: logic.no(held(b, s, x)))
        return [*super().beginning(moment), nothing]


@frozen(eq=False)
class Later(Induction):
    """Steps without a delivery: the facts about a delivery do not concern them."""

    def facts(self, event: StepEvent) -> list[StepFact]:
        return [fact for fact in super().facts(event) if not fact.deliveries]


@cache
def _under(
    step: type[WorldStep], handler: type[HandlerStep] = relation.Congested, kind: type[Induction] = Induction
) -> Induction:
    return kind(PRUNING, step=step, handler=handler, basis=BASIS)


def handling() -> Induction:
    return _under(relation.CongestedStep, kind=Handling)


_NAMED = {event.name: event for event in EVENTS}


Row = tuple[str, Induction, StepEvent]


def held_and_resumed() -> Iterator[Row]:
    """A withdrawal is held where a neighbour or a client says it, and taken up at any time."""
    yield "held", _under(relation.CongestedStep, relation.Holds), _NAMED["deliver unsub"]
    yield "held", _under(relation.CongestedStep, relation.Holds), _NAMED["unsubscribe"]
    yield "resumed", _under(relation.Resumption, relation.Resumes, Later), _NAMED["deliver unsub"]


def issued_again() -> Iterator[Row]:
    yield "again", _under(relation.IssuedAgain), _NAMED["subscribe"]


def after_each(rows: Iterable[Row]) -> Iterator[Inductive]:
    """Obligations that every invariant holds after these steps."""
    for said, proof, event in rows:
        for conjunct in PRUNING.conjuncts.values():
            yield from (evolve(asked, name=f"{said}: {asked.name}") for asked in proof.after(event, conjunct))


def step_facts() -> Iterator[Inductive]:
    """Obligations for the facts about every step, these steps included."""
    yield from handling().of_facts()
    for said, proof, event in (*held_and_resumed(), *issued_again()):
        yield from (evolve(asked, name=f"{said}: {asked.name}") for asked in proof.facts_after(event))
