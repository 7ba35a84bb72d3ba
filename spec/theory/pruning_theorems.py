"""The theorems about pruning: what of the routing core's safety it keeps, for all sizes and any decision it makes.

The invariants are those of the core but for one: what was sent need not be a candidate, and is drawn all the same. With
it goes NoResidue; what is left of that is Anchored. What looks at what may be wanted is proved anew, of the relation in
`pruning`; everything else is the core's.
"""

from __future__ import annotations

from functools import cache

from attrs import evolve

from routeproof.spec.theory.invariants import Book, Moment
from routeproof.spec.theory.invariants_obligations import Induction, Inductive
from routeproof.spec.theory.invariants_theorems import ROADS, ROUTING, STEPS, WORLD
from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.pruning import Pruning
from routeproof.spec.theory.pruning_promises import keeps_its_promises
from routeproof.spec.theory.readings import ADV, BROKER, SUB, Term
from routeproof.spec.theory.settling import FINITELY_MANY
from routeproof.spec.theory.theorem import Theorem
from routeproof.spec.theory.trees import FINITE, TREE, path_induction

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


def is_retained(m: Moment, x: Term, y: Term, s: Term) -> Truth:
    """x has sent s to y, and has it from nowhere else any more."""
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
    """When it is quiet, what a broker has without being active, another retains on the way to its home."""
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

CORE = ROUTING | OWN
PRUNING = Book(
    {name: each for name, each in CORE.conjuncts.items() if name not in GIVEN_UP},
    {
        name: evolve(each, needs=INSTEAD.get(name, each.needs))
        for name, each in CORE.lemmas.items()
        if name not in GIVEN_UP
    },
)

OF_WHAT_IS_WANTED = (
    "said away from home",
    "sent away from home",
    "has or will be told",
    "told or will be told",
    "candidate is covered",
    "sent is drawn",
)
"""The invariants whose proofs look at what may be wanted. A step differs from one of the core in nothing else, so that
the proofs of all others are the same, the same text: `tests/spec/theory/test_pruning_theorems.py` compares steps."""

OF_WHAT_LIES_AHEAD = ("covered after each",)
"""The same of those behind no lost delivery."""

CALM = "no broker is congested (PRN-6)"
SAME = "what does not look at what may be wanted is the core's, word for word (theorems StepFacts to NoLostDelivery)"
ORDER = "quenching is a strict order (theorem PoliciesKeepPromises)"
UNDER_PRUNING = (*WORLD, ROADS, STEPS, CALM, SAME, "what is wanted keeps its promises (theorem PruningKeepsPromises)")


@cache
def pruning() -> Induction:
    return Induction(PRUNING, handler=Pruning)


def _holds(*names: str) -> list[Inductive]:
    return list(pruning().of_conjuncts(names))


def _follows(*names: str) -> list[Inductive]:
    return list(pruning().of_lemmas(names))


PRUNING_THEOREMS = (
    Theorem(
        "PruningKeepsPromises",
        ("RTE-3", "COV-2", "PRN-4", "PRN-5", "PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-12", "PRN-13"),
        "Whatever prunes, only candidates and what was sent and is drawn are wanted, and what covers each candidate.",
        keeps_its_promises,
        (FINITELY_MANY, "what is retained for a neighbour was sent there (PRN-7)", ORDER),
    ),
    Theorem(
        "PruningInvariants",
        ("RTE-3", "PRN-4", "PRN-5", "PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-13"),
        "Under pruning, always: what was sent is drawn, what covers each candidate was sent, and links will agree.",
        lambda: _holds(*OF_WHAT_IS_WANTED),
        UNDER_PRUNING,
    ),
    Theorem(
        "PruningDeliveryInvariants",
        ("RTE-5", "COV-8", "PRN-4", "PRN-5"),
        "Under pruning, always: whatever is queued, something that covers what is owed lies ahead of it.",
        lambda: _holds(*OF_WHAT_LIES_AHEAD),
        (*UNDER_PRUNING, FINITE, "PruningInvariants"),
    ),
    Theorem(
        "PruningNoLostDelivery",
        ("RTE-5", "COV-8", "PRN-4", "PRN-5"),
        "Under pruning, at every moment, what is owed is delivered by the time that no copy of it is left.",
        lambda: _follows("no lost delivery"),
        (FINITE, SAME, "PruningDeliveryInvariants"),
    ),
    Theorem(
        "PruningNoDuplicate",
        ("RTE-5",),
        "Under pruning, at every moment, nothing was delivered twice for one subscription; every delivery matches.",
        lambda: _follows("delivered once", "delivered where it matches"),
        (SAME, "PublicationInvariants"),
    ),
    Theorem(
        "PruningAgreement",
        ("RTE-3", "COV-8", "PRN-7"),
        "Under pruning, where it is quiet, s is in sent_b[U] exactly where subs_U[s] = b.",
        lambda: _follows("agreement"),
        (SAME, "PruningInvariants"),
    ),
    Theorem(
        "PruningAnchored",
        ("PRN-7", "RTE-7"),
        "Under pruning, where it is quiet, what is held without being active is retained on the way to its home.",
        lambda: _follows("anchored", "no residue of advertisements"),
        (FINITE, SAME, "PruningInvariants", "AdvertisementInvariants"),
    ),
    Theorem(
        "PruningNoStray",
        ("RTE-7", "PRN-11"),
        "Under pruning, at every moment, what was sent intersects an advertisement that came from there.",
        lambda: _follows("no stray"),
        ("PruningInvariants",),
    ),
    Theorem(
        "PruningSimplePaths",
        ("RTE-1", "RTE-2", "RTE-3"),
        "Under pruning, at every moment, last hops lead to the home of s, or of a, and never back.",
        lambda: _follows("last hops lead home", "last hops lead to origin"),
        (TREE, SAME, "PruningInvariants", "AdvertisementInvariants"),
    ),
)
