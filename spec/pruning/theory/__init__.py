"""The theorems about pruning, for all sizes and any decision it makes: its safety, similarity and distances.

They stand on the routing core's theory. Reading order: `relation` (its steps), `promises` and `invariants` (what holds
always), `distance` and `equation_3` (shares along a path, and what publications tell of quiet states),
`similarity_needs` and `distance_needs` (what fails without a hypothesis), listed here.
"""

from __future__ import annotations

from functools import partial

from routeproof.spec.pruning.theory import distance, equation_3, invariants
from routeproof.spec.pruning.theory.distance_needs import EQUATION_3, from_afar, none_is_sent
from routeproof.spec.pruning.theory.promises import HELD_BEFORE, keeps_its_promises, retained_is_what_is_left
from routeproof.spec.pruning.theory.similarity_needs import IN_TABLES, PROPERTY_3, endless_on_the_way
from routeproof.spec.theory.invariants import FILTERS, ORDER, QUIET_LEMMAS, SAFETY, STEPS, bounded
from routeproof.spec.theory.invariants.obligations import FAITHFUL, ONCE, Inductive
from routeproof.spec.theory.proof import Theorem
from routeproof.spec.theory.propagation import proved
from routeproof.spec.theory.propagation.necessity import needed
from routeproof.spec.theory.propagation.settling import FINITELY_MANY
from routeproof.spec.theory.relation import COVERING, DRAWN, FINITE, IDS, MATCHING, MESSAGES, TREE
from routeproof.spec.theory.relation.quiet_states import AGREEMENT, FLOODED, NO_STALE_ADVERTISEMENT, QUIET, SETTLED
from routeproof.spec.theory.relation.routing import POLICIES
from routeproof.spec.theory.relation.ways import ROADS, WAYS


def _holds(names: tuple[str, ...]) -> list[Inductive]:
    return list(invariants.handling().of_conjuncts(names))


def _follows(*names: str) -> list[Inductive]:
    return list(invariants.handling().of_lemmas(names))


PRUNING_DELIVERS = "PruningDeliveryHappens"
LATER = "PruningCongestion"
"""Where a withdrawal is held and taken up is a step, too."""

LASTING = tuple(name for name in QUIET if name != NO_STALE_ADVERTISEMENT)
"""Who has what depends on no stale advertisement; only how far it goes does."""


SIMILARITY_THEOREMS = (
    Theorem(
        "SimilarityGrows",
        ("SIM-3", "SIM-4", "SIM-5", "SIM-6"),
        "Property 3: the share of what S matches that others' paths bring past a broker grows toward the publisher.",
        lambda: [*proved(distance.property_3, "none"), *distance.shares()],
        (distance.NESTED, distance.SAMPLE, distance.MATCHED),
    ),
    Theorem(
        "SimilarityInTables",
        ("SIM-3", "RTE-3"),
        "Property 3 read of tables holds without covering.",
        lambda: proved(distance.property_3_in_tables, "none"),
        (TREE, AGREEMENT, SETTLED, FLOODED, DRAWN, FINITE),
        rests_on=(WAYS,),
    ),
    Theorem(
        "SimilarityNeeds",
        ("SIM-3", "SIM-5", "SIM-6"),
        "Without any one of its hypotheses, Property 3 fails, on paths or in tables: a counterexample each.",
        lambda: [*needed(PROPERTY_3), *needed(IN_TABLES, "in tables, "), *endless_on_the_way()],
    ),
    Theorem(
        "DistanceTells",
        ("STA-1", "STA-2", "STA-5", "SIM-6"),
        "Equation 3, under any policy: short of the publisher, what distances tell is the share of Property 3.",
        lambda: [each for policy in POLICIES for each in proved(equation_3.equation_3, policy, f"{policy} / ")],
        (TREE, *LASTING, COVERING, IDS, DRAWN, MATCHING, FINITELY_MANY, FINITE, distance.STATISTIC, distance.HOPS),
        rests_on=(WAYS,),
    ),
    Theorem(
        "DistanceNeeds",
        ("STA-1", "STA-2", "STA-5", "COV-3"),
        "Without any one of its hypotheses, equation 3 fails: a counterexample each.",
        lambda: [*needed(EQUATION_3), *from_afar(), *none_is_sent()],
    ),
)
"""The theorems about quiet states that only pruning needs: Property 3 and equation 3, and what each rests on."""

PRUNING_THEOREMS = (
    Theorem(
        "PruningKeepsPromises",
        ("RTE-3", "COV-2", "PRN-4", "PRN-5", "PRN-6", "PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-12", "PRN-13"),
        "Whatever prunes, only candidates and what was sent and is drawn are wanted, and what covers each candidate.",
        keeps_its_promises,
        (COVERING, *ORDER, FINITELY_MANY, FAITHFUL, HELD_BEFORE),
        rests_on=("PruningRetained", "PruningInvariants", "PoliciesKeepPromises"),
    ),
    Theorem(
        "PruningRetained",
        ("PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-13"),
        "Always: what a broker retains for a neighbour is what it has sent there without its being a candidate.",
        retained_is_what_is_left,
        (FAITHFUL,),
        rests_on=(WAYS, "PruningSimplePaths"),
    ),
    Theorem(
        "PruningStepFacts",
        ("COV-8", "RTE-6", "PRN-6", "PRN-14"),
        "Under pruning, in every step only neighbours are told, of all that changes, and none is without old and new.",
        lambda: list(invariants.step_facts()),
        (*STEPS, DRAWN),
        rests_on=invariants.BASIS.of_facts(WAYS),
    ),
    Theorem(
        "PruningInvariants",
        ("RTE-2", "RTE-3", "RTE-5", "RTE-7", "COV-8", "PRN-4", "PRN-5", "PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-13"),
        "Under pruning, always: what was sent is drawn, what covers each candidate was sent, and links will agree.",
        lambda: _holds(invariants.OF_TABLES),
        (*STEPS, *FILTERS),
        rests_on=invariants.BASIS.of("PruningInvariants", WAYS, invariants.KEPT_PROMISES),
        beside=(LATER,),
    ),
    Theorem(
        "PruningDeliveryInvariants",
        ("RTE-5", "COV-8", "PRN-4", "PRN-5"),
        "Under pruning, always: whatever is queued, something that covers what is owed lies ahead of it.",
        lambda: _holds(invariants.OF_DELIVERY),
        (*STEPS, *FILTERS),
        rests_on=invariants.BASIS.of("PruningDeliveryInvariants", WAYS, ROADS, invariants.KEPT_PROMISES),
        beside=(PRUNING_DELIVERS, LATER),
    ),
    Theorem(
        "PruningCongestion",
        ("PRN-6", "PRN-14"),
        "All these invariants hold after a withdrawal was held, by any broker at any time, and after it was taken up.",
        lambda: list(invariants.after_each(invariants.held_and_resumed())),
        (*STEPS, *FILTERS),
        rests_on=invariants.BASIS.of_all_conjuncts("PruningCongestion", WAYS, ROADS, invariants.KEPT_PROMISES),
    ),
    Theorem(
        "PruningIssuedAgain",
        ("PRN-13", "PRN-14", "PRN-15"),
        "All these invariants hold after a client comes back to its broker with what it withdrew, under the same id.",
        lambda: list(invariants.after_each(invariants.issued_again())),
        (*STEPS, *FILTERS),
        rests_on=invariants.BASIS.of_all_conjuncts("PruningIssuedAgain", WAYS, ROADS, invariants.KEPT_PROMISES),
    ),
    Theorem(
        "PruningQuietLemmas",
        ("RTE-2", "RTE-3", "COV-2"),
        "Under pruning, where no control message is queued, coverers lie on every path to what is advertised.",
        lambda: _follows(*QUIET_LEMMAS),
        (COVERING, MESSAGES),
        rests_on=invariants.BASIS.of("PruningQuietLemmas", ROADS),
    ),
    Theorem(
        "PruningNoLostDelivery",
        ("RTE-5", "COV-8", "PRN-4", "PRN-5", "PRN-6"),
        "Under pruning, at every moment, what is owed is delivered by the time that no copy of it is left.",
        lambda: _follows(*SAFETY["NoLostDelivery"]),
        (MESSAGES,),
        rests_on=invariants.BASIS.of("PruningNoLostDelivery", ROADS),
        beside=(PRUNING_DELIVERS,),
    ),
    Theorem(
        "PruningNoDuplicate",
        ("RTE-5", "PRN-6"),
        "Under pruning, at every moment, nothing was delivered twice for one subscription; every delivery matches.",
        lambda: _follows(*SAFETY["NoDuplicate"]),
        rests_on=invariants.BASIS.of("PruningNoDuplicate"),
        beside=(PRUNING_DELIVERS,),
    ),
    Theorem(
        "PruningAgreement",
        ("RTE-3", "COV-8", "PRN-7"),
        "Under pruning, where it is quiet, s is in sent_b[U] exactly where subs_U[s] = b.",
        lambda: _follows(*SAFETY["Agreement"]),
        (MESSAGES,),
        rests_on=invariants.BASIS.of("PruningAgreement", WAYS),
        beside=(PRUNING_DELIVERS,),
    ),
    Theorem(
        "PruningAnchored",
        ("PRN-7", "RTE-7"),
        "Under pruning, where it is quiet, what a broker has without being active is retained on the way to its home.",
        lambda: _follows("anchored", "no residue of advertisements"),
        (MESSAGES,),
        rests_on=invariants.BASIS.of("PruningAnchored", ROADS),
        beside=(PRUNING_DELIVERS, "PruningRetained"),
    ),
    Theorem(
        "PruningNoStray",
        ("RTE-7", "PRN-11"),
        "Under pruning, at every moment, what was sent intersects an advertisement that came from there.",
        lambda: _follows(*SAFETY["NoStray"]),
        rests_on=invariants.BASIS.of("PruningNoStray"),
        beside=(PRUNING_DELIVERS,),
    ),
    Theorem(
        "PruningSimplePaths",
        ("RTE-1", "RTE-2", "RTE-3"),
        "Under pruning, at every moment, last hops lead to the home of s, or of a, and never back.",
        lambda: _follows(*SAFETY["SimplePaths"]),
        rests_on=invariants.BASIS.of("PruningSimplePaths", WAYS, ROADS),
        beside=(PRUNING_DELIVERS,),
    ),
)

SAFE = (*(name for name in bounded.SAFETY_LEMMAS if name in invariants.PRUNING.lemmas), "anchored")
"""Safety lemmas of any broker that prunes: Anchored is the part of NoResidue that pruning keeps."""


def _safety() -> bounded.Bounded:
    """With holds, and whatever decides."""
    proof = invariants.handling()
    ask = partial(bounded.Bounded, name="pruning", proof=proof, sentences=[proof.book[name] for name in SAFE])
    return ask(size=bounded.AFTER, steps=bounded.STEPS_AFTER, given=tuple(proof.book.conjuncts))


BOUNDED_THEOREMS = (
    bounded.BoundedTheorem(
        PRUNING_DELIVERS,
        ("RTE-2", "RTE-3", "RTE-5"),
        "Under pruning, too, a run from the beginning leads to a delivery that is owed, across a link, at rest.",
        lambda: [bounded.delivery_happens("pruning", invariants.handling())],
        hypotheses=(FAITHFUL, ONCE),
    ),
    bounded.BoundedTheorem(
        "PruningSafeFromAnywhere",
        ("RTE-2", "RTE-3", "RTE-5", "RTE-6", "RTE-7", "COV-8"),
        "Under pruning, the safety properties hold from any moment of which the invariants are true.",
        lambda: [_safety()],
        bounded.BOUND_AFTER,
        (FAITHFUL, ONCE),
    ),
)

THEOREMS = (*SIMILARITY_THEOREMS, *PRUNING_THEOREMS, *BOUNDED_THEOREMS)
