"""The theorems about pruning: what of the routing core's safety it keeps, for all sizes and any decision it makes."""

from __future__ import annotations

from routeproof.spec.theory.invariants_basis import Basis
from routeproof.spec.theory.invariants_obligations import Inductive
from routeproof.spec.theory.invariants_theorems import DELIVERY, FAITHFUL, QUIET_LEMMAS, SAFETY, WORLD
from routeproof.spec.theory.pruning_invariants import (
    PRUNING,
    after_each,
    handling,
    held_and_resumed,
    issued_again,
    step_facts,
)
from routeproof.spec.theory.pruning_promises import keeps_its_promises
from routeproof.spec.theory.pruning_retained import retained_is_what_is_left
from routeproof.spec.theory.settling import FINITELY_MANY
from routeproof.spec.theory.theorem import Theorem
from routeproof.spec.theory.trees import FINITE, TREE

OF_DELIVERY = tuple(name for name in DELIVERY.conjuncts if name in PRUNING.conjuncts)
OF_TABLES = tuple(name for name in PRUNING.conjuncts if name not in OF_DELIVERY)

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
    world="Roads",
)
KEPT = "PruningKeepsPromises"
LATER = "PruningCongestion"
"""Where a withdrawal is held and taken up is a step, too."""


def _holds(names: tuple[str, ...]) -> list[Inductive]:
    return list(handling().of_conjuncts(names))


def _follows(*names: str) -> list[Inductive]:
    return list(handling().of_lemmas(names))


PRUNING_THEOREMS = (
    Theorem(
        "PruningKeepsPromises",
        ("RTE-3", "COV-2", "PRN-4", "PRN-5", "PRN-6", "PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-12", "PRN-13"),
        "Whatever prunes, only candidates and what was sent and is drawn are wanted, and what covers each candidate.",
        keeps_its_promises,
        (FINITELY_MANY,),
        rests_on=("PruningRetained", "PoliciesKeepPromises"),
    ),
    Theorem(
        "PruningRetained",
        ("PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-13"),
        "Always: what a broker retains for a neighbour is what it has sent there without its being a candidate.",
        retained_is_what_is_left,
        ("an advertisement is in a broker's table once (RTE-2)", "no broker is its own neighbour"),
    ),
    Theorem(
        "PruningStepFacts",
        ("COV-8", "RTE-6", "PRN-6", "PRN-14"),
        "Under pruning, in every step only neighbours are told, of all that changes, and none is without old and new.",
        lambda: list(step_facts()),
        WORLD,
        rests_on=BASIS.of_facts(),
    ),
    Theorem(
        "PruningInvariants",
        ("RTE-2", "RTE-3", "RTE-5", "RTE-7", "COV-8", "PRN-4", "PRN-5", "PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-13"),
        "Under pruning, always: what was sent is drawn, what covers each candidate was sent, and links will agree.",
        lambda: _holds(OF_TABLES),
        WORLD,
        rests_on=BASIS.of("PruningInvariants", KEPT, LATER),
    ),
    Theorem(
        "PruningDeliveryInvariants",
        ("RTE-5", "COV-8", "PRN-4", "PRN-5"),
        "Under pruning, always: whatever is queued, something that covers what is owed lies ahead of it.",
        lambda: _holds(OF_DELIVERY),
        WORLD,
        rests_on=BASIS.of("PruningDeliveryInvariants", KEPT, LATER),
    ),
    Theorem(
        "PruningCongestion",
        ("PRN-6", "PRN-14"),
        "All these invariants hold after a withdrawal was held, by any broker at any time, and after it was taken up.",
        lambda: list(after_each(held_and_resumed())),
        WORLD,
        rests_on=BASIS.of_all_conjuncts("PruningCongestion", KEPT),
    ),
    Theorem(
        "PruningIssuedAgain",
        ("PRN-13", "PRN-14", "PRN-15"),
        "All these invariants hold after a client comes back to its broker with what it withdrew, under the same id.",
        lambda: list(after_each(issued_again())),
        (TREE, FAITHFUL, "its withdrawal is held no longer (PRN-14)"),
        rests_on=BASIS.of_all_conjuncts("PruningIssuedAgain", KEPT),
    ),
    Theorem(
        "PruningQuietLemmas",
        ("RTE-2", "RTE-3", "COV-2"),
        "Under pruning, where no control message is queued, coverers lie on every path to what is advertised.",
        lambda: _follows(*QUIET_LEMMAS),
        (FINITE,),
        rests_on=BASIS.of("PruningQuietLemmas"),
    ),
    Theorem(
        "PruningNoLostDelivery",
        ("RTE-5", "COV-8", "PRN-4", "PRN-5", "PRN-6"),
        "Under pruning, at every moment, what is owed is delivered by the time that no copy of it is left.",
        lambda: _follows(*SAFETY["NoLostDelivery"]),
        (FINITE,),
        rests_on=BASIS.of("PruningNoLostDelivery"),
    ),
    Theorem(
        "PruningNoDuplicate",
        ("RTE-5", "PRN-6"),
        "Under pruning, at every moment, nothing was delivered twice for one subscription; every delivery matches.",
        lambda: _follows(*SAFETY["NoDuplicate"]),
        rests_on=BASIS.of("PruningNoDuplicate"),
    ),
    Theorem(
        "PruningAgreement",
        ("RTE-3", "COV-8", "PRN-7"),
        "Under pruning, where it is quiet, s is in sent_b[U] exactly where subs_U[s] = b.",
        lambda: _follows(*SAFETY["Agreement"]),
        rests_on=BASIS.of("PruningAgreement"),
    ),
    Theorem(
        "PruningAnchored",
        ("PRN-7", "RTE-7"),
        "Under pruning, where it is quiet, what a broker has without being active is retained on the way to its home.",
        lambda: _follows("anchored", "no residue of advertisements"),
        (FINITE,),
        rests_on=BASIS.of("PruningAnchored", "PruningRetained"),
    ),
    Theorem(
        "PruningNoStray",
        ("RTE-7", "PRN-11"),
        "Under pruning, at every moment, what was sent intersects an advertisement that came from there.",
        lambda: _follows(*SAFETY["NoStray"]),
        rests_on=BASIS.of("PruningNoStray"),
    ),
    Theorem(
        "PruningSimplePaths",
        ("RTE-1", "RTE-2", "RTE-3"),
        "Under pruning, at every moment, last hops lead to the home of s, or of a, and never back.",
        lambda: _follows(*SAFETY["SimplePaths"]),
        (TREE,),
        rests_on=BASIS.of("PruningSimplePaths"),
    ),
)
