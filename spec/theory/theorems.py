"""All theorems of the theory, in the order in which they are reported; and bounded theorems.

Bounded theorems (`bounded`) are about routing under each policy, and about sentences that have no invariant.
"""

from __future__ import annotations

from routeproof.spec.pruning.theory.invariants import PRUNING, handling
from routeproof.spec.pruning.theory.theorems import PRUNING_DELIVERS, PRUNING_THEOREMS, SIMILARITY_THEOREMS
from routeproof.spec.theory.filters.theorems import FILTER_THEOREMS
from routeproof.spec.theory.formulas import BROKER, ITEM, PUB, SUB, Term, Truth
from routeproof.spec.theory.invariants.book import Book, Moment
from routeproof.spec.theory.invariants.bounded import (
    DELIVERIES,
    Bounded,
    BoundedTheorem,
    Reached,
    Size,
    k_induction,
)
from routeproof.spec.theory.invariants.obligations import FAITHFUL, ONCE, Induction
from routeproof.spec.theory.invariants.theorems import DELIVERS, ROUTING_THEOREMS, routing, routing_under
from routeproof.spec.theory.proof import Theorem
from routeproof.spec.theory.propagation.theorems import PROPAGATION_THEOREMS
from routeproof.spec.theory.relation.routing import POLICIES
from routeproof.spec.theory.relation.signature import TREE

ALONE = Book()
"""Sentences of which the proofs know nothing: no invariant rests on them."""


@ALONE.conjunct(PUB, SUB)
def owed_is_pledged(m: Moment, p: Term, s: Term) -> Truth:
    """An owed publication was published under an active advertisement that is pledged to its subscription."""
    pledged = m.logic.all_of(m.ghosts.pledged(s, m.facts.adv_of(p)), m.is_active(s), m.state.published(p))
    return m.logic.implies(m.state.owed(p, s), pledged)


@ALONE.conjunct(ITEM, BROKER, BROKER)
def nothing_is_queued(m: Moment, i: Term, x: Term, y: Term) -> Truth:
    """No message is on its way."""
    return m.logic.no(m.state.on(i, x, y))


REACHED = Book()
"""A sentence that must not hold always: were it true, the safety properties would be about nothing."""


@REACHED.conjunct(PUB, SUB)
def nothing_owed_is_delivered_across_a_link(m: Moment, p: Term, s: Term) -> Truth:
    """No publication that is owed to a subscription at another broker is ever delivered there, at rest and agreed."""
    logic, home, source = m.logic, m.home(s), m.source(p)
    sent = logic.all_of(m.state.sent(home, source, s), m.state.subs(source, s, home), m.tree.link(home, source))
    return logic.no(
        logic.all_of(m.is_quiet(), m.state.owed(p, s), m.state.delivered(p, s), m.knows(home, m.facts.adv_of(p)), sent)
    )


NEVER = REACHED.conjuncts["nothing owed is delivered across a link"]
TWO, ALL_OF_IT = Size(2, 1, 1, 1, 3), 6
"""One broker advertises and publishes, the other subscribes and is delivered to: three operations, three messages."""


def _delivers(name: str, proof: Induction) -> Reached:
    return Reached(name=name, proof=proof, never=NEVER, size=TWO, steps=ALL_OF_IT)


SAFETY = (
    "no lost delivery",
    "delivered once",
    "delivered where it matches",
    "agreement",
    "no residue of subscriptions",
    "no residue of advertisements",
    "no stray",
)
"""The lemmas that are safety properties, under every policy."""

ONLY = {"none": (), "active": ("compact",), "lazy": ()}
"""Invariants of one policy."""

OF_PRUNING = (*(name for name in SAFETY if name in PRUNING.lemmas), "anchored")
"""Invariants of any broker that prunes: Anchored is the part of NoResidue that pruning keeps."""

AT_FIRST, STEPS_AT_FIRST = Size(2, 2, 1, 1, 3), 6
AFTER, STEPS_AFTER = Size(3, 2, 1, 1, 2), 2
SILENT, DELIVERED = Size(2, 2, 1, 1, 3), 4
OWED, MOMENTS = Size(3, 2, 1, 2, 3), 2

ANYWHERE = "from any moment of which the invariants are true"


def _safety(policy: str, size: Size, steps: int, first: bool) -> Bounded:
    proof = routing_under(policy)
    return Bounded(
        name=policy,
        proof=proof,
        sentences=[proof.book[name] for name in (*SAFETY, *ONLY[policy])],
        size=size,
        steps=steps,
        first=first,
        given=() if first else tuple(proof.book.conjuncts),
    )


def _pruning(size: Size, steps: int) -> Bounded:
    """With holds, and whatever decides."""
    proof = handling()
    return Bounded(
        name="pruning",
        proof=proof,
        sentences=[proof.book[name] for name in OF_PRUNING],
        size=size,
        steps=steps,
        given=tuple(proof.book.conjuncts),
    )


def _silence(policy: str) -> Bounded:
    proof = routing_under(policy)
    return Bounded(
        name=policy,
        proof=proof,
        sentences=[ALONE["nothing is queued"]],
        size=SILENT,
        steps=DELIVERED,
        given=tuple(proof.book.conjuncts),
        last=True,
        events=DELIVERIES,
    )


BOUNDED_THEOREMS = (
    BoundedTheorem(
        DELIVERS,
        ("RTE-2", "RTE-3", "RTE-5"),
        "Under each policy, a run from the beginning leads to a delivery that is owed, across a link, at rest.",
        lambda: [_delivers(policy, routing_under(policy)) for policy in POLICIES],
        hypotheses=(FAITHFUL, ONCE),
    ),
    BoundedTheorem(
        PRUNING_DELIVERS,
        ("RTE-2", "RTE-3", "RTE-5"),
        "Under pruning, too, a run from the beginning leads to a delivery that is owed, across a link, at rest.",
        lambda: [_delivers("pruning", handling())],
        hypotheses=(FAITHFUL, ONCE),
    ),
    BoundedTheorem(
        "SafeFromTheBeginning",
        ("RTE-2", "RTE-3", "RTE-5", "RTE-6", "RTE-7", "COV-8"),
        "Under each policy, all safety properties hold in every run.",
        lambda: [_safety(policy, AT_FIRST, STEPS_AT_FIRST, first=True) for policy in POLICIES],
        f"bounded checking: {STEPS_AT_FIRST} steps from the beginning, in all worlds of {AT_FIRST}",
        (FAITHFUL, ONCE),
    ),
    BoundedTheorem(
        "SafeFromAnywhere",
        ("RTE-2", "RTE-3", "RTE-5", "RTE-6", "RTE-7", "COV-8"),
        "Under each policy, and pruning, the safety properties hold from any moment of which the invariants are true.",
        lambda: [
            *(_safety(policy, AFTER, STEPS_AFTER, first=False) for policy in POLICIES),
            _pruning(AFTER, STEPS_AFTER),
        ],
        f"bounded checking: {STEPS_AFTER} steps {ANYWHERE}, in all worlds of {AFTER}",
        (FAITHFUL, ONCE),
    ),
    BoundedTheorem(
        "SilenceDrains",
        ("RTE-2", "RTE-5", "RTE-8"),
        "Under each policy, where clients are silent, the brokers soon are.",
        lambda: [_silence(policy) for policy in POLICIES],
        f"bounded checking: nothing is queued after {DELIVERED} deliveries {ANYWHERE}, in all worlds of {SILENT}",
        (FAITHFUL, ONCE),
    ),
    BoundedTheorem(
        "OwedIsPledged",
        ("RTE-5",),
        "Always: what is owed was published under an advertisement that is pledged to an active subscription.",
        lambda: k_induction(routing(), ALONE["owed is pledged"], OWED, MOMENTS),
        f"k-induction: {MOMENTS} moments in a row, without any invariant; always, in all worlds of {OWED}",
        (TREE, FAITHFUL, ONCE),
    ),
)

THEOREMS: dict[str, Theorem] = {
    theorem.id: theorem
    for theorem in (*FILTER_THEOREMS, *ROUTING_THEOREMS, *PROPAGATION_THEOREMS, *SIMILARITY_THEOREMS, *PRUNING_THEOREMS)
}
