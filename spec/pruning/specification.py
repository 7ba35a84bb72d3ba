"""Specification of pruning: its rules, properties, claims and theorems, and the properties of routing that it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from routeproof.model.pruning.parameters import PRUNING
from routeproof.spec.property import Property, Rule, Specification, variants
from routeproof.spec.pruning.claims import PRUNING_CLAIMS
from routeproof.spec.pruning.claims_of_figures import FIGURE_CLAIMS
from routeproof.spec.pruning.claims_of_similarity import SIMILARITY_CLAIMS
from routeproof.spec.pruning.properties import (
    anchored,
    client_exact,
    critical_broker,
    false_positive_bound,
    monotone_distances,
    purged,
    similarity,
    some_below_cuts,
    some_between_cuts,
    some_beyond_cuts,
    some_pruning,
    some_retained_quenching,
    some_share,
    statistics_exact,
)
from routeproof.spec.pruning.properties_of_claims import CLAIMED, equation_one

if TYPE_CHECKING:
    from routeproof.spec.theory.invariants.bounded import BoundedTheorem
    from routeproof.spec.theory.proof import Theorem

_TERMS = {
    "SIM-3": ("shared publications: those that another subscription matches as well", "000 III-B, 001 III-B"),
    "SIM-4": ("similarity: the share of shared publications", "000 III-B, 001 III-B"),
    "SIM-5": ("similarity belongs to a subscription, an advertisement and a broker", "000 III-C"),
    "SIM-6": ("similarity is measured on publications, and cumulatively", "000 III-B"),
    "CRD-1": ("the share of rows up to a distance", "000 IV-B, 001 IV-B"),
    "CRD-3": ("at most and at least include equality", "000 IV-B, 001 IV-B"),
    "CRD-4": ("thresholds ascend, and so do the distances", "000 IV-C"),
    "PRN-3": ("burst sizes", "000 IV-C"),
    "PRN-15": ("a subscription that is issued again is another subscription", "ours"),
}
"""Rules about the terms of other rules, and about clients: no handler applies them."""

_APPLIED = {
    "SIM-8": ("M: the number of subscriptions that a withdrawal triggers", "000 IV-C"),
    "STA-1": ("a publication's header starts at 0", "000 IV-A, 001 IV-A"),
    "STA-2": ("every other broker updates the header", "000 IV-A, 001 IV-A"),
    "STA-3": ("all copies carry the same header", "000 Fig. 4"),
    "STA-5": ("entries of the table that count", "000 IV-A"),
    "STA-6": ("the database: a broker that delivers a publication records its header", "000 IV-A, 001 IV-A"),
    "STA-7": (
        "the window: a broker keeps the latest rows, and removes those of a withdrawn subscription",
        "000 IV-A, 001 IV-A",
    ),
    "STA-8": ("selective: withdrawals that are not worth a list", "001 IV-B"),
    "STA-9": ("rows that follow the broker's own table", "ours"),
    "CRD-2": ("the critical distance is the least that reaches the threshold", "000 IV-B, 001 IV-B"),
    "CRD-6": ("the critical distance of an advertisement without rows", "ours"),
    "PRN-1": ("the subscriber's broker computes how far its withdrawal is to go", "000 IV-C, 001 IV-C"),
    "PRN-2": ("the number of triggered subscriptions chooses the threshold", "000 IV-C"),
    "PRN-4": ("each hop passes a withdrawal on, or retains the subscription", "000 Alg. 1, 001 Alg. 1"),
    "PRN-5": ("replacements: what settling adds is sent", "000 IV"),
    "PRN-6": ("a congested broker holds withdrawals", "000 IV"),
    "PRN-7": ("the boundary broker remembers the subscriptions that it retains", "ours"),
    "PRN-9": ("a retained subscription quenches like any other", "ours"),
    "PRN-10": ("a retained subscription goes when a wider one replaces it", "ours"),
    "PRN-11": ("a retained subscription goes when no advertisement draws it", "ours"),
    "PRN-12": ("a retained subscription goes when it covers nothing", "ours"),
    "PRN-13": ("a subscription that comes back is no longer retained", "ours"),
    "PRN-14": ("nothing overtakes a withdrawal", "ours"),
    "PRN-16": ("a retained subscription makes way for a new advertisement", "ours"),
}

RULES = (
    *(Rule(id, "pruning", title, source, fires=False) for id, (title, source) in _TERMS.items()),
    *(Rule(id, "pruning", title, source) for id, (title, source) in _APPLIED.items()),
)

ALL = variants("pruning", PRUNING)
INCREMENTAL = variants("pruning", ("incremental",))
HISTORY = ("done", "delivered")
CUT = (*HISTORY, "cut")

PROPERTIES = (
    Property.of("ClientExact", "always", "world", ALL, client_exact, ("astray", "delivered")),
    Property.of("Anchored", "always", "node", ALL, anchored, ("local", "done")),
    Property.of("Purged", "always", "node", ALL, purged, ("local", "delivered")),
    Property.of("MonotoneDistances", "always", "channel", ALL, monotone_distances, ("queue",)),
    Property.of("EquationOne", "always", "world", ALL, equation_one, HISTORY),
    Property.of("Similarity", "always", "world", ALL, similarity, HISTORY),
    Property.of("StatisticsExact", "always", "node", ALL, statistics_exact, ("local", *HISTORY, "fair")),
    Property.of("FalsePositiveBound", "always", "node", ALL, false_positive_bound, ("local", *CUT)),
    Property.of("CriticalBroker", "always", "node", ALL, critical_broker, ("local", *CUT)),
    *CLAIMED,
    Property.of("SomePruning", "sometimes", "node", ALL, some_pruning, ("local",)),
    Property.of("SomeRetainedQuenching", "sometimes", "node", ALL, some_retained_quenching, ("local", "done")),
    Property.of("SomeShare", "sometimes", "node", ALL, some_share, CUT),
    Property.of("SomeBelowCuts", "sometimes", "node", INCREMENTAL, some_below_cuts, CUT),
    Property.of("SomeBetweenCuts", "sometimes", "node", INCREMENTAL, some_between_cuts, CUT),
    Property.of("SomeBeyondCuts", "sometimes", "node", INCREMENTAL, some_beyond_cuts, CUT),
)


def theorems() -> Sequence[Theorem | BoundedTheorem]:
    from routeproof.spec.pruning.theory.theorems import THEOREMS

    return THEOREMS


SPECIFICATION = Specification(
    "pruning",
    PRUNING,
    properties=PROPERTIES,
    rules=RULES,
    adopts=(
        "NoLostDelivery",
        "NoDuplicate",
        "Precise",
        "Agreement",
        "NoStray",
        "Drains",
        "Compact",
        "PropagationPath",
        "SomeDelivery",
        "SomeObligation",
        "SomeQuenching",
    ),
    claims=(*SIMILARITY_CLAIMS, *PRUNING_CLAIMS, *FIGURE_CLAIMS),
    theorems=theorems,
)
