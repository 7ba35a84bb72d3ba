"""Theorems about routing: the promises of each policy, the invariants, and the safety properties that follow.

Reading order: `book` (the form of an invariant), `tables`, `publications` (the invariants), `quiet` (their consequences
in quiet states), `step` and `facts` (one step of the world), `obligations` (the questions to Z3), then the theorems
here, with the promises of each policy, and `bounded` (checks of a few steps).

The invariants rest on promises that each policy keeps. One of them, that a wanted subscription covers each candidate,
needs finiteness: of infinitely many candidates each could be quenched by the next. The schema is `topmost`, used of the
candidates in question and of quenching, which is proved to be a strict order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, reduce
from operator import or_

from attrs import frozen

from routeproof.spec.theory import BROKER, SUB, Broker, Sub, Symbolic, Term, Truth, declare, relation, topmost_from
from routeproof.spec.theory.invariants import quiet
from routeproof.spec.theory.invariants.book import Book, Moment
from routeproof.spec.theory.invariants.facts import Basis
from routeproof.spec.theory.invariants.obligations import FAITHFUL, ONCE, Induction, Inductive
from routeproof.spec.theory.invariants.publications import DELIVERY, PUBLICATIONS
from routeproof.spec.theory.invariants.quiet import quiet_states
from routeproof.spec.theory.invariants.step import promises
from routeproof.spec.theory.invariants.tables import ADVERTISEMENTS, SUBSCRIPTIONS
from routeproof.spec.theory.proof import Obligation, Premise, Theorem, premise
from routeproof.spec.theory.propagation.settling import FINITELY_MANY
from routeproof.spec.theory.relation.routing import POLICIES, HandlerStep
from routeproof.spec.theory.relation.ways import ROADS, WAYS

# -- promises of each policy -------------------------------------------------------------------------------------------


def keep_their_promises(handler: type[HandlerStep] = HandlerStep) -> list[Obligation]:
    """Obligations that each policy keeps its promises, at a broker with any tables."""
    return [obligation for policy in POLICIES for obligation in _PolicyBroker.under(policy, handler).obligations()]


@frozen
class _PolicyBroker:
    policy: str
    logic: Symbolic
    handler: HandlerStep
    facts: relation.Facts
    u: Term

    @classmethod
    def under(cls, policy: str, handler: type[HandlerStep]) -> _PolicyBroker:
        logic = Symbolic()
        facts = declare(relation.Facts, logic)
        here, u = logic.constant("here", BROKER), logic.constant("u", BROKER)
        before, after = declare(relation.TableRelations, logic), declare(relation.TableRelations, logic, "_after")
        broker = handler(logic, facts, policy, here, u, before, after, declare(relation.Sends, logic))
        return cls(policy, logic, broker, facts, u)

    def obligations(self) -> list[Obligation]:
        logic, u = self.logic, self.u
        r, s, t = (logic.constant(name, SUB) for name in "rst")
        covering = [each for each in relation.facts_hold(logic, self.facts) if set(each.sorts) == {SUB}]
        given = [premise(logic, clause) for clause in covering]
        only, covered = promises(self.handler, lambda u: True)
        candidate = self.handler.candidate(u, s)
        alone = logic.every((SUB,), lambda t: logic.equal(t, s))
        made = [
            Obligation(
                f"{self.policy} / {only.name}", only.at(u, s), guards={"something is wanted": self.handler.wanted(u, s)}
            ),
            Obligation(
                f"{self.policy} / {covered.name}",
                covered.at(u, s),
                [*given, Premise(self.finitely_many(s), (FINITELY_MANY,))],
                {"a candidate, the only subscription": logic.all_of(candidate, alone)},
            ),
        ]
        if self.policy != "none":
            chain = logic.all_of(self.quenches(r, s), self.quenches(s, t))
            made += [
                Obligation(
                    f"{self.policy} / nothing quenches itself",
                    logic.no(self.quenches(s, s)),
                    given,
                    {"something quenches": self.quenches(t, s)},
                ),
                Obligation(
                    f"{self.policy} / what quenches what quenches it quenches it",
                    logic.implies(chain, self.quenches(r, t)),
                    given,
                    {"three of them": chain},
                ),
            ]
        return made

    def quenches(self, t: Term, s: Term) -> Truth:
        return self.handler.quenches(self.u, t, s)

    def finitely_many(self, s: Term) -> Truth:
        """Among s and the subscriptions that could quench it, directly or not, one is quenched by none of them."""
        logic, broker, u = self.logic, self.handler, self.u
        among = {"none": broker.candidate, "active": broker.candidate, "lazy": broker.fresh}[self.policy]
        return topmost_from(logic, SUB, s, lambda t: among(u, t), self.quenches)


# -- what is true of one policy ------------------------------------------------------------------------------------

NONE, ACTIVE = Book(), Book()


@NONE.conjunct(needs="came_from_home said_away_from_home queues_are_on_links adv_came_from_origin")
def candidates_are_sent(m: Moment, x: Broker, y: Broker, s: Sub) -> Truth:
    """Without covering, every candidate was sent."""
    return m.logic.implies(
        m.logic.all_of(m.tree.link(x, y), lambda: m.candidate(x, y, s)), lambda: m.state.sent(x, y, s)
    )


@ACTIVE.conjunct()
def nothing_sent_covers_another(m: Moment, x: Broker, y: Broker, s: Sub, t: Sub) -> Truth:
    """No subscription that was sent to a neighbour covers another one that was sent there."""
    sent = m.logic.all_of(m.tree.link(x, y), m.state.sent(x, y, s), m.state.sent(x, y, t), m.facts.covers(t, s))
    return m.logic.implies(sent, m.equal(t, s))


@ACTIVE.lemma(needs="agreement came_from_home nothing_sent_covers_another")
def compact(m: Moment, x: Broker, y: Broker, s: Sub, t: Sub) -> Truth:
    """When it is quiet, of two subscriptions from one neighbour neither covers the other."""
    logic, subs = m.logic, m.state.subs
    held = logic.all_of(m.is_quiet(), logic.apart(x, y), subs(y, s, x), subs(y, t, x), m.facts.covers(t, s))
    return logic.implies(held, m.equal(t, s))


# -- the theorems ------------------------------------------------------------------------------------------------------


CONSEQUENCES = quiet.BOOK
ROUTING = SUBSCRIPTIONS | ADVERTISEMENTS | PUBLICATIONS | DELIVERY | CONSEQUENCES

OWN = {"none": NONE, "active": ACTIVE, "lazy": Book()}
"""Invariants of one policy only."""


@cache
def routing() -> Induction:
    """Under any policy that keeps its promises."""
    return Induction(ROUTING, basis=BASIS)


@cache
def routing_under(policy: str) -> Induction:
    return Induction(ROUTING | OWN[policy] | QUIET_STATES[policy], policy, basis=BASIS)


def _holds(book: Book) -> list[Inductive]:
    return list(routing().of_conjuncts(book.conjuncts))


def _follows(*names: str) -> list[Inductive]:
    return list(routing().of_lemmas(names))


def _under(policy: str) -> list[Inductive]:
    return list(routing_under(policy).of_conjuncts(OWN[policy].conjuncts))


def _quiet_states() -> Iterator[Inductive]:
    for policy in POLICIES:
        yield from routing_under(policy).of_lemmas(QUIET_STATES[policy].lemmas)


COVERED = ("covered here", "covered as sent")
QUIET_LEMMAS = tuple(name for name in CONSEQUENCES.lemmas if name.endswith("when quiet") or name in COVERED)

SAFETY = {
    "NoLostDelivery": ("no lost delivery",),
    "NoDuplicate": ("delivered once", "delivered where it matches"),
    "Agreement": ("agreement",),
    "NoStray": ("no stray",),
    "SimplePaths": ("last hops lead home", "last hops lead to origin", "one last hop of an advertisement"),
}
"""The lemmas that are safety properties, of the core and of protocols on top of it."""

RESIDUE = ("no residue of subscriptions", "no residue of advertisements")
QUIET_STATES = {policy: quiet_states(policy) for policy in POLICIES}

STEPS = (FAITHFUL, ONCE, relation.MESSAGES)
FILTERS = (relation.COVERING, relation.MATCHING, relation.DRAWN)
ORDER = (relation.IDS, relation.TOTAL)

PROMISES = "PoliciesKeepPromises"
DELIVERS = "DeliveryHappens"
"""The theorem that a delivery can be owed and made: without it the safety properties could be about nothing."""

BASIS = Basis(
    reduce(or_, [ROUTING, *OWN.values(), *QUIET_STATES.values()]),
    {
        "SubscriptionInvariants": SUBSCRIPTIONS.conjuncts,
        "AdvertisementInvariants": ADVERTISEMENTS.conjuncts,
        "PublicationInvariants": PUBLICATIONS.conjuncts,
        "QuietLemmas": QUIET_LEMMAS,
        "DeliveryInvariants": DELIVERY.conjuncts,
        **SAFETY,
        "NoResidue": RESIDUE,
        "Compact": (*OWN["active"].conjuncts, *OWN["active"].lemmas),
        "Settled": (*OWN["none"].conjuncts, *(name for book in QUIET_STATES.values() for name in book.lemmas)),
    },
    facts="StepFacts",
    promises=PROMISES,
)

ROUTING_THEOREMS = (
    Theorem(
        ROADS,
        ("RTE-1",),
        "Paths go on, lead back, and go the same way to everything that lies ahead.",
        lambda: list(routing().of_roads()),
        rests_on=(WAYS,),
    ),
    Theorem(
        PROMISES,
        ("RTE-3", "COV-1", "COV-2", "COV-3", "COV-4", "COV-6", "COV-10"),
        "Under none, active and lazy, only candidates are wanted, and something that covers each candidate.",
        keep_their_promises,
        (relation.COVERING, *ORDER, FINITELY_MANY),
    ),
    Theorem(
        "StepFacts",
        ("COV-8", "RTE-6"),
        "In every step only neighbours are told, of all that changes, and none is without both the old and the new.",
        lambda: list(routing().of_facts()),
        (*STEPS, relation.DRAWN),
        rests_on=BASIS.of_facts(WAYS),
    ),
    Theorem(
        "SubscriptionInvariants",
        ("RTE-3", "RTE-4", "RTE-6", "RTE-7", "COV-2", "COV-8"),
        "Always: everything about s moves away from its home, and what a link does not agree on is on its way.",
        lambda: _holds(SUBSCRIPTIONS),
        (*STEPS, *FILTERS),
        rests_on=BASIS.of("SubscriptionInvariants", WAYS, PROMISES),
    ),
    Theorem(
        "AdvertisementInvariants",
        ("RTE-2", "RTE-7", "RTE-8"),
        "Always: an advertisement is flooded away from its origin once and forgotten once, in that order.",
        lambda: _holds(ADVERTISEMENTS),
        STEPS,
        rests_on=BASIS.of("AdvertisementInvariants", WAYS),
    ),
    Theorem(
        "PublicationInvariants",
        ("RTE-5",),
        "Always: a publication moves away from its source, and no broker handles it twice.",
        lambda: _holds(PUBLICATIONS),
        STEPS,
        rests_on=BASIS.of("PublicationInvariants", WAYS),
    ),
    Theorem(
        "QuietLemmas",
        ("RTE-2", "RTE-3", "COV-2"),
        "Where it is quiet, what is advertised is known everywhere, and coverers lie on every path to it.",
        lambda: _follows(*QUIET_LEMMAS),
        (relation.COVERING, relation.MESSAGES),
        rests_on=BASIS.of("QuietLemmas", ROADS),
    ),
    Theorem(
        "DeliveryInvariants",
        ("RTE-5", "RTE-7", "COV-8"),
        "Always: what is owed has a copy ahead, and ahead of it something that covers what it is owed to.",
        lambda: _holds(DELIVERY),
        (*STEPS, *FILTERS),
        rests_on=BASIS.of("DeliveryInvariants", WAYS, ROADS, PROMISES),
        beside=(DELIVERS,),
    ),
    Theorem(
        "NoLostDelivery",
        ("RTE-5", "COV-8"),
        "At every moment, what is owed is delivered by the time that no copy of it is left.",
        lambda: _follows(*SAFETY["NoLostDelivery"]),
        (relation.MESSAGES,),
        rests_on=BASIS.of("NoLostDelivery", ROADS),
        beside=(DELIVERS,),
    ),
    Theorem(
        "NoDuplicate",
        ("RTE-5",),
        "At every moment, nothing was delivered twice for one subscription; and every delivery matches (Precise).",
        lambda: _follows(*SAFETY["NoDuplicate"]),
        rests_on=BASIS.of("NoDuplicate"),
        beside=(DELIVERS,),
    ),
    Theorem(
        "Agreement",
        ("RTE-3", "RTE-6", "COV-8"),
        "Where it is quiet, s is in sent_b[U] exactly where subs_U[s] = b.",
        lambda: _follows(*SAFETY["Agreement"]),
        (relation.MESSAGES,),
        rests_on=BASIS.of("Agreement", WAYS),
        beside=(DELIVERS,),
    ),
    Theorem(
        "NoResidue",
        ("RTE-6", "RTE-7"),
        "Where it is quiet, no broker has a subscription or an advertisement that is not active.",
        lambda: _follows(*RESIDUE),
        (relation.MESSAGES,),
        rests_on=BASIS.of("NoResidue", ROADS),
        beside=(DELIVERS,),
    ),
    Theorem(
        "NoStray",
        ("RTE-7",),
        "At every moment, what was sent intersects an advertisement that came from there.",
        lambda: _follows(*SAFETY["NoStray"]),
        rests_on=BASIS.of("NoStray"),
        beside=(DELIVERS,),
    ),
    Theorem(
        "SimplePaths",
        ("RTE-1", "RTE-2", "RTE-3"),
        "At every moment, last hops lead to the home of s, or of a, and never back: along a simple path.",
        lambda: _follows(*SAFETY["SimplePaths"]),
        rests_on=BASIS.of("SimplePaths", WAYS, ROADS),
        beside=(DELIVERS,),
    ),
    Theorem(
        "Compact",
        ("COV-2", "COV-4", "COV-10"),
        "Under active, where it is quiet, of two subscriptions from one neighbour neither covers the other.",
        lambda: [*_under("active"), *routing_under("active").of_lemmas(["compact"])],
        (*STEPS, relation.COVERING, relation.MATCHING, *ORDER),
        rests_on=BASIS.of("Compact", WAYS),
        beside=(DELIVERS,),
    ),
    Theorem(
        "Settled",
        ("RTE-3", "COV-6"),
        "Under each policy, quiet states are as Properties 1 to 3 take for granted: settled, flooded, nothing stale.",
        lambda: [*_under("none"), *_quiet_states()],
        (*STEPS, relation.COVERING, relation.DRAWN, *ORDER),
        rests_on=BASIS.of("Settled", WAYS),
    ),
)


def obligations_of(theorem: Theorem) -> Sequence[Inductive]:
    return [each for each in theorem.obligations() if isinstance(each, Inductive)]
