"""Specification of pruning: its rules, properties and theorems, the properties of routing that it keeps, and claims.

The claims are those of 000 and 001 about what pruning retains and about congestion, with their outcomes; claims about
similarity and about figures are in modules of their own. A variant that mends a claim is a further claim: the same
property, in instances with the other reading.
"""

from __future__ import annotations

from routeproof.model.pruning.vocabulary import PRUNING
from routeproof.spec.pruning import properties
from routeproof.spec.pruning.claims_of_figures import FIGURE_CLAIMS
from routeproof.spec.pruning.claims_of_similarity import SIMILARITY_CLAIMS
from routeproof.spec.pruning.properties_of_claims import CLAIMED, equation_one
from routeproof.spec.specification import LOSSLESS_DELIVERY, Claim, Property, Repair, Rule, Specification, variants

RULES = Rule.table(
    "pruning",
    ("SIM-3", "shared publications: those that another subscription matches as well", "000 III-B, 001 III-B", False),
    ("SIM-4", "similarity: the share of shared publications", "000 III-B, 001 III-B", False),
    ("SIM-5", "similarity belongs to a subscription, an advertisement and a broker", "000 III-C", False),
    ("SIM-6", "similarity is measured on publications, and cumulatively", "000 III-B", False),
    ("CRD-1", "the share of rows up to a distance", "000 IV-B, 001 IV-B", False),
    ("CRD-3", "at most and at least include equality", "000 IV-B, 001 IV-B", False),
    ("CRD-4", "thresholds ascend, and so do the distances", "000 IV-C", False),
    ("PRN-3", "burst sizes", "000 IV-C", False),
    ("PRN-15", "a subscription that is issued again is another subscription", "ours", False),
    ("SIM-8", "M: the number of subscriptions that a withdrawal triggers", "000 IV-C"),
    ("STA-1", "a publication's header starts at 0", "000 IV-A, 001 IV-A"),
    ("STA-2", "every other broker updates the header", "000 IV-A, 001 IV-A"),
    ("STA-3", "all copies carry the same header", "000 Fig. 4"),
    ("STA-5", "entries of the table that count", "000 IV-A"),
    ("STA-6", "the database: a broker that delivers a publication records its header", "000 IV-A, 001 IV-A"),
    (
        "STA-7",
        "the window: a broker keeps the latest rows, and removes those of a withdrawn subscription",
        "000 IV-A, 001 IV-A",
    ),
    ("STA-8", "selective: withdrawals that are not worth a list", "001 IV-B"),
    ("STA-9", "rows that follow the broker's own table", "ours"),
    ("CRD-2", "the critical distance is the least that reaches the threshold", "000 IV-B, 001 IV-B"),
    ("CRD-6", "the critical distance of an advertisement without rows", "ours"),
    ("PRN-1", "the subscriber's broker computes how far its withdrawal is to go", "000 IV-C, 001 IV-C"),
    ("PRN-2", "the number of triggered subscriptions chooses the threshold", "000 IV-C"),
    ("PRN-4", "each hop passes a withdrawal on, or retains the subscription", "000 Alg. 1, 001 Alg. 1"),
    ("PRN-5", "replacements: what settling adds is sent", "000 IV"),
    ("PRN-6", "a congested broker holds withdrawals", "000 IV"),
    ("PRN-7", "the boundary broker remembers the subscriptions that it retains", "ours"),
    ("PRN-9", "a retained subscription quenches like any other", "ours"),
    ("PRN-10", "a retained subscription goes when a wider one replaces it", "ours"),
    ("PRN-11", "a retained subscription goes when no advertisement draws it", "ours"),
    ("PRN-12", "a retained subscription goes when it covers nothing", "ours"),
    ("PRN-13", "a subscription that comes back is no longer retained", "ours"),
    ("PRN-14", "nothing overtakes a withdrawal", "ours"),
    ("PRN-16", "a retained subscription makes way for a new advertisement", "ours"),
)
"""The first ones are about the terms of other rules, and about clients: no handler applies them."""

ALL = variants("pruning", PRUNING)
INCREMENTAL = variants("pruning", ("incremental",))
HISTORY = ("done", "delivered")
CUT = (*HISTORY, "cut")

PROPERTIES = (
    Property.of("ClientExact", "always", "world", ALL, properties.client_exact, ("astray", "delivered")),
    Property.of("Anchored", "always", "node", ALL, properties.anchored, ("local", "done")),
    Property.of("Purged", "always", "node", ALL, properties.purged, ("local", "delivered")),
    Property.of("MonotoneDistances", "always", "channel", ALL, properties.monotone_distances, ("queue",)),
    Property.of("EquationOne", "always", "world", ALL, equation_one, HISTORY),
    Property.of("Similarity", "always", "world", ALL, properties.similarity, HISTORY),
    Property.of("StatisticsExact", "always", "node", ALL, properties.statistics_exact, ("local", *HISTORY, "fair")),
    Property.of("FalsePositiveBound", "always", "node", ALL, properties.false_positive_bound, ("local", *CUT)),
    Property.of("CriticalBroker", "always", "node", ALL, properties.critical_broker, ("local", *CUT)),
    *CLAIMED,
    Property.of("SomePruning", "sometimes", "node", ALL, properties.some_pruning, ("local",)),
    Property.of(
        "SomeRetainedQuenching", "sometimes", "node", ALL, properties.some_retained_quenching, ("local", "done")
    ),
    Property.of("SomeShare", "sometimes", "node", ALL, properties.some_share, CUT),
    Property.of("SomeBelowCuts", "sometimes", "node", INCREMENTAL, properties.some_below_cuts, CUT),
    Property.of("SomeBetweenCuts", "sometimes", "node", INCREMENTAL, properties.some_between_cuts, CUT),
    Property.of("SomeBeyondCuts", "sometimes", "node", INCREMENTAL, properties.some_beyond_cuts, CUT),
)


LOSSLESS = (
    "all interleavings of every shipped instance but those that declare that it fails (moves3id, overtake2, overtake3, "
    "listed3); runs of the fuzzer up to twelve brokers, event sets and predicates, under all readings but those three"
)

PROVED = (
    "all trees, any number of clients, whatever decides how far a withdrawal goes: theorem PruningNoLostDelivery; "
    + LOSSLESS
)

PRUNING_CLAIMS = (
    Claim(
        "VAIN-only",
        "000 V, 001 V-A3",
        "Only pruning has false positives.",
        "Where no control message is queued every entry of a table is of an active subscription, so that nothing "
        "is forwarded to a neighbour without a client there that wants it. While a withdrawal is on its way "
        "publications do come in vain, under any policy: 2 in 100,000 under active in 000-fig6.",
        "holds with hypotheses",
        "at rest: the theorems NoResidue and Agreement, for all trees; every shipped instance without faults",
        "NoResidue",
        instances=("tiny", "line3", "cross3", "unadv3", "equal3"),
    ),
    # -- what is retained ----------------------------------------------------------------------------------------------
    Claim(
        "PRN-covers",
        "000 IV",
        "A subscription that is not withdrawn aggregates the interests of those that it covers.",
        "Those too that come later and are quenched by it (PRN-9): no delivery is lost. Equal filters among them.",
        "holds",
        PROVED,
        "NoLostDelivery",
        instances=(
            "prune3",
            "bands3",
            "reach4",
            "fork4",
            "same3",
            "larger3",
            "nested3",
            "collects3",
            "zero3",
            "absent3",
        ),
    ),
    Claim(
        "PRN-equal",
        "-",
        "(The papers do not say which of two equal filters is a root.)",
        "Of equal ones what was sent goes first (COV-10): what is retained holds back its equals, old and new ones, "
        "and they can be withdrawn in any order. Nothing is lost.",
        "holds",
        PROVED,
        "NoLostDelivery",
        instances=("same3", "back2"),
    ),
    Claim(
        "PRN-lazy",
        "000 V",
        "Pruning is compared with active and lazy covering alike.",
        "With lazy covering below (base lazy): no delivery is lost. Tables are not compact, as under lazy itself.",
        "holds",
        PROVED,
        "NoLostDelivery",
        instances=("lazy3",),
    ),
    Claim(
        "PRN-adverts",
        "-",
        "(The papers say nothing of advertisements that come, go or move after pruning.)",
        "What is retained for a neighbour goes with the last advertisement there that draws it (PRN-11), and draws new "
        "ones like any other: nothing is lost, nothing stays.",
        "holds",
        PROVED + ". Also where the new one lies beyond what is retained (onward3): the tree of what was withdrawn "
        "then grows",
        "NoLostDelivery",
        instances=("adverts3", "onward3"),
    ),
    Claim(
        "PRN-forgets",
        "000 Algorithm 1, 001 Algorithm 1",
        "A withdrawal that ends is not passed on; no further message is about the subscription.",
        "The boundary does not remember what its neighbour still has (remembers false): tables agree all the same.",
        "fails",
        "the neighbour keeps it for ever, and it and what it covers stand side by side in its table",
        "Agreement",
        "boundary-forgets.jsonl",
        repair=Repair("The boundary remembers (PRN-7).", "PRN-remembers", {"remembers": True}),
    ),
    Claim(
        "PRN-remembers",
        "ours",
        "The boundary remembers, and withdraws it when something larger comes or no advertisement draws it.",
        "PRN-7, PRN-10, PRN-11, PRN-13: neighbours agree on what was sent.",
        "holds",
        "all trees, any number of clients, whatever decides how far a withdrawal goes: theorem PruningAgreement; every "
        "shipped instance but forgets3, moves3id and overtake2",
        "Agreement",
        instances=("prune3", "larger3", "adverts3", "back2", "collects3", "reach4", "same3"),
    ),
    Claim(
        "PRN-withdrawn",
        "-",
        "(The papers do not say who withdraws in the end what is retained, nor what becomes of one that comes back.)",
        "Something larger does, or the last advertisement that draws it, or, where `collects`, the last that it "
        "covers; what comes back is retained no longer. Whatever is in a table without being anybody's wish hangs "
        "on a broker that retains it.",
        "holds",
        "all trees, any number of clients: theorem PruningAnchored; every shipped instance, every quiet state",
        "Anchored",
        instances=("larger3", "adverts3", "onward3", "collects3", "back2", "same3"),
    ),
    Claim(
        "PRN-listed",
        "000 Algorithm 1",
        "Where a withdrawal goes on, the subscriptions that it triggers are sent on.",
        "Those that intersect an advertisement of its list (sends listed).",
        "fails",
        "s goes for the sake of one advertisement; what it covered of another one behind the same neighbour is lost",
        "NoLostDelivery",
        "only-what-is-listed.jsonl",
        repair=Repair("All that was held back is sent (PRN-5).", "PRN-whole", {"sends": "all"}),
    ),
    Claim(
        "PRN-whole",
        "ours",
        "The same where all that was held back is sent on, whichever advertisement draws it.",
        "PRN-5 (sends all), with the clients of PRN-listed.",
        "holds",
        PROVED,
        "NoLostDelivery",
        instances=("whole3",),
    ),
    # -- issued again --------------------------------------------------------------------------------------------------
    Claim(
        "PRN-moves",
        "000 V-C, 001 V-D",
        "Mobile clients unsubscribe at one broker and subscribe at another.",
        "With the same id for both (identity id).",
        "fails",
        "what is retained of the former issue is taken for the new one: brokers no longer agree, and what it seems to "
        "cover is lost",
        "NoLostDelivery",
        "retained-moves-with-its-id.jsonl",
        repair=Repair("Each issue has an id of its own (PRN-15).", "PRN-moves-issue", {"identity": "issue"}),
    ),
    Claim(
        "PRN-moves-issue",
        "ours",
        "The same with a new id for each issue.",
        "PRN-15 (identity issue).",
        "holds",
        LOSSLESS,
        "NoLostDelivery",
        instances=("moves3",),
    ),
    Claim(
        "PRN-blocked",
        "000 IV, property 3",
        "A congested broker blocks withdrawals until congestion subsides.",
        "Withdrawals only; what comes after them does not wait (overtakes). No client comes back.",
        "fails",
        "brokers come back: what one withdrew for something wider (COV-4) it sends again when that goes, and the "
        "withdrawal that waited takes it away. Neighbours no longer agree either",
        "NoLostDelivery",
        "overtaken-by-what-is-sent-again.jsonl",
        repair=Repair(
            "A subscription ends the hold of its own withdrawal first (PRN-14).", "PRN-held", {"overtakes": False}
        ),
    ),
    Claim(
        "PRN-overtaken",
        "000 IV, property 3",
        "The same where a client comes back.",
        "Withdrawals only (overtakes), and a client comes back with its id (identity id): one broker is enough.",
        "fails",
        "the withdrawal that waited takes away what was issued again after it",
        "NoLostDelivery",
        "withdrawal-overtaken.jsonl",
        repair=Repair(
            "The same: at the broker that the client left, its id may then be the same.",
            "PRN-held",
            {"overtakes": False},
        ),
    ),
    Claim(
        "PRN-held",
        "ours",
        "The same where a subscription ends the hold of its own withdrawal first.",
        "PRN-14.",
        "holds",
        PROVED,
        "NoLostDelivery",
        instances=("hold3", "return3"),
    ),
)

SPECIFICATION = Specification(
    "pruning",
    PRUNING,
    properties=PROPERTIES,
    rules=RULES,
    adopts=(
        *LOSSLESS_DELIVERY,
        "SomeObligation",
        "Agreement",
        "NoStray",
        "Compact",
        "PropagationPath",
        "SomeQuenching",
    ),
    claims=(*SIMILARITY_CLAIMS, *PRUNING_CLAIMS, *FIGURE_CLAIMS),
    theorems="routeproof.spec.pruning.theory",
)
