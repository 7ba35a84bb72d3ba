"""What is checked up to a bound (`bounded`): routing under each policy, and sentences that have no invariant."""

from __future__ import annotations

from routeproof.spec.theory.bounded import DELIVERIES, Bounded, BoundedTheorem, Size, k_induction
from routeproof.spec.theory.invariants import Book, Moment
from routeproof.spec.theory.invariants_theorems import FAITHFUL, ONCE, routing, routing_under
from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.pruning_invariants import PRUNING, handling
from routeproof.spec.theory.readings import BROKER, ITEM, PUB, SUB, Term
from routeproof.spec.theory.routing import POLICIES
from routeproof.spec.theory.trees import TREE

ALONE = Book()
"""Sentences of which the proofs know nothing: no invariant rests on them."""


@ALONE.conjunct(PUB, SUB)
def owed_is_pledged(m: Moment, p: Term, s: Term) -> Truth:
    """What is owed was published under an advertisement that is pledged to its subscription, and that is active."""
    pledged = m.logic.all_of(m.ghosts.pledged(s, m.facts.adv_of(p)), m.is_active(s), m.state.published(p))
    return m.logic.implies(m.state.owed(p, s), pledged)


@ALONE.conjunct(ITEM, BROKER, BROKER)
def nothing_is_queued(m: Moment, i: Term, x: Term, y: Term) -> Truth:
    """No message is on its way."""
    return m.logic.no(m.state.on(i, x, y))


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
"""Those of one policy."""

OF_PRUNING = (*(name for name in SAFETY if name in PRUNING.lemmas), "anchored")
"""Those of any broker that prunes: what is left of NoResidue is Anchored."""

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
    """With holds, and whatever decides. Not from the beginning: small worlds do not know that nothing is held there."""
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
