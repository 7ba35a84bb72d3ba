"""Claims of 003 about the switch between routing strategies, with their outcomes, and what our repair needs.

The paper has one sentence about the switch, so most claims are our own: each step of the safe form against a form
without it.
"""

from __future__ import annotations

from routeproof.spec.specification import Claim, Repair

SAFE = (
    "switch3",
    "both3",
    "busy3",
    "parts3",
    "clusters3",
    "leaves3",
    "again3",
    "square4",
)
"""Instances of the safe form: one document or two, subscriptions that come and go, parts, clusters, two switches."""

SEARCHED = (
    "every shipped instance of the safe form, all interleavings, three of them (busy4, leaves4, turns3) with more than "
    "a million states; runs of the fuzzer with up to twelve brokers and three strategies of up to three trees"
)

DRAFT = "The repair as we drafted it, of SWAP-1 to SWAP-5"


def _needed(
    id: str,
    paper: str,
    says: str,
    without: str,
    scope: str,
    property: str,
    trace: str,
    mended: str | None,
    **safe: object,
) -> Claim:
    """A claim that fails: the protocol without one of its steps. `safe` are the readings that have the step."""
    about = ", ".join(f"{name} {value}" for name, value in safe.items())
    about += f": see {mended}." if mended else "."
    return Claim(id, paper, says, without, "fails", scope, property, trace, repair=Repair(about, mended, readings=safe))


TREE_CLAIMS: tuple[Claim, ...] = (
    # -- the switch as printed -----------------------------------------------------------------------------------------
    _needed(
        "SWAP-naive",
        "003 V",
        "The new routing strategy R' is installed and the old routes are torn down.",
        "Each broker replaces its tables when the new ones come (looked newest, commit early, torn installed).",
        "three brokers, one document, one subscription: the document is on an old tree and comes to a broker whose "
        "only link of the new one is the link that it came from",
        "NoLostDelivery",
        "switch-loses.jsonl",
        "SWAP-lossless",
        looked="stamped",
        commit="acknowledged",
        torn="marked",
    ),
    _needed(
        "SWAP-naive-twice",
        "003 V",
        "The same: no subscription gets a document twice.",
        "Each broker replaces its tables when the new ones come (looked newest, commit early, torn installed).",
        "three brokers, one document, two subscriptions: a copy comes on the old tree, and one by a broker that has "
        "the new one",
        "NoDuplicate",
        "switch-doubles.jsonl",
        "SWAP-once",
        looked="stamped",
        commit="acknowledged",
        torn="marked",
    ),
    _needed(
        "SWAP-naive-ends",
        "003 V",
        "The same: a document that was published comes to an end.",
        "Each broker replaces its tables when the new ones come (looked newest, commit early, torn installed).",
        "three brokers: old and new links together close a cycle, and a copy goes round as long as the last broker has "
        "the old tables",
        "Drains",
        "switch-goes-round.jsonl",
        None,
        looked="stamped",
        commit="acknowledged",
        torn="marked",
    ),
    # -- each step of the repair is needed -----------------------------------------------------------------------------
    _needed(
        "SWAP-gate",
        "ours",
        "A broker may stamp by a strategy as soon as it has the tables of it.",
        "SWAP-1 to SWAP-5 without the commit (commit early).",
        "two brokers: a copy comes to the one that does not have the tables yet",
        "NoLostDelivery",
        "commit-early.jsonl",
        "SWAP-lossless",
        commit="acknowledged",
    ),
    _needed(
        "SWAP-markers",
        "ours",
        "Old tables may go when all brokers have acknowledged the new ones.",
        "SWAP-1 to SWAP-3 without markers (torn acknowledged).",
        "two brokers: a copy is on an old tree when its receiver commits",
        "NoLostDelivery",
        "no-markers.jsonl",
        "SWAP-lossless",
        torn="marked",
    ),
    _needed(
        "SWAP-stamps",
        "ours",
        "A copy need not carry its strategy.",
        "SWAP-2 to SWAP-5, and a copy is looked up in the newest tables (looked newest).",
        "three brokers: a copy of the old strategy comes to a broker that has both",
        "NoLostDelivery",
        "unstamped.jsonl",
        "SWAP-lossless",
        looked="stamped",
    ),
    _needed(
        "SWAP-letter",
        "ours",
        "A broker drops tree i of epoch e when markers have arrived on all its links of it.",
        f"{DRAFT}, by the letter (leaves marked).",
        "two brokers: the one that has not committed gets the marker of the other, drops the tree by which it still "
        "stamps, and publishes",
        "NoLostDelivery",
        "drops-by-the-letter.jsonl",
        "SWAP-lossless",
        leaves="committed",
    ),
    _needed(
        "SWAP-trees-alone",
        "ours",
        "A broker drops each tree of a strategy behind its own markers.",
        f"{DRAFT}, with a subscription that has parts in two clusters (dropped tree).",
        "three brokers: the home has dropped the first tree of the subscription, on which the document has come, and "
        "takes the copy on the second for the first",
        "NoDuplicate",
        "tree-after-tree.jsonl",
        "SWAP-once",
        dropped="strategy",
    ),
    _needed(
        "SWAP-overlap",
        "ours",
        "A broker has tables of two strategies at most, whenever the next switch begins.",
        "SWAP-1 to SWAP-6 (next any-time). Nothing is lost or doubled: see SWAP-overlap-lossless.",
        "three brokers: one has tables of three strategies after six steps",
        "TwoStrategies",
        "three-strategies.jsonl",
        "SWAP-two",
        next="torn-down",
    ),
    # -- subscriptions -------------------------------------------------------------------------------------------------
    _needed(
        "SWAP-snapshot",
        "003 V",
        "The coordinator computes R' with the subscriptions S and the sample D; then R' is installed.",
        "By the letter: R' has the subscriptions that there were when it was computed (log forgotten).",
        "one broker: a subscription that begins between the computation and the installation receives nothing",
        "NoLostDelivery",
        "log-forgotten.jsonl",
        "SWAP-lossless",
        log="replayed",
    ),
    _needed(
        "SWAP-inserts-old",
        "003 V",
        "Subscription s is inserted into the routing tables of its cluster's tree.",
        "During a switch: into those of the strategy that is committed (changes old).",
        "one broker: documents that are published behind the commit do not find it",
        "NoLostDelivery",
        "old-tables-changed.jsonl",
        "SWAP-lossless",
        changes="both",
    ),
    _needed(
        "SWAP-inserts-new",
        "003 V",
        "Subscription s is inserted into the routing tables of its cluster's tree.",
        "During a switch: into those of the strategy that is being installed (changes new).",
        "one broker: documents that are published before the commit do not find it",
        "NoLostDelivery",
        "new-tables-changed.jsonl",
        "SWAP-lossless",
        changes="both",
    ),
    _needed(
        "CLUS-parts",
        "ours",
        "A subscription with parts in two clusters needs no care at its home.",
        "Every copy is delivered that comes on a tree in which it has a part (parts each).",
        "one broker, two trees",
        "NoDuplicate",
        "part-after-part.jsonl",
        "SWAP-once",
        parts="first",
    ),
    _needed(
        "NET-publisher",
        "003 II",
        "The publisher's broker sends a document along the tree, and brokers filter.",
        "By the letter the publisher's broker sends on all its links of the tree (publisher floods). The paper's cost "
        "model counts the filtered tree.",
        "three brokers: a copy goes where no subscription is",
        "TowardSubscriber",
        "nobody-wants-it.jsonl",
        "NET-filters",
        publisher="filters",
    ),
    # -- crashes -------------------------------------------------------------------------------------------------------
    Claim(
        "SWAP-crash",
        "-",
        "(The paper does not speak of brokers that crash.)",
        "A broker that crashes forgets its tables, at any moment. See SWAP-crash-once for what is kept.",
        "fails",
        "one broker: documents for its clients are lost until they subscribe again",
        "NoLostDelivery",
        "crash-forgets.jsonl",
        repair=Repair(
            "None is specified: a broker that keeps its tables, or the coordinator's installation to one that comes "
            "back, would be a protocol of its own."
        ),
    ),
    Claim(
        "SWAP-crash-once",
        "ours",
        "A crash doubles nothing.",
        "One broker, or the coordinator, crashes at any moment of a switch.",
        "holds",
        "crashed3, all interleavings",
        "NoDuplicate",
        instances=("crashed3",),
    ),
    # -- what holds ----------------------------------------------------------------------------------------------------
    Claim(
        "SWAP-lossless",
        "ours",
        "The safe switch loses no document, also for subscriptions that come meanwhile.",
        "SWAP-1 to SWAP-7, COORD-7; links are FIFO and reliable, and nobody crashes. Each is needed: see SWAP-gate, "
        "SWAP-markers, SWAP-stamps, SWAP-letter, SWAP-snapshot, SWAP-inserts-old, SWAP-inserts-new, SWAP-crash.",
        "holds with hypotheses",
        SEARCHED,
        "NoLostDelivery",
        instances=SAFE,
    ),
    Claim(
        "SWAP-once",
        "ours",
        "The safe switch delivers no document twice, also to subscriptions with parts in several clusters.",
        "SWAP-1 to SWAP-7, CLUS-12; links deliver no message twice.",
        "holds with hypotheses",
        SEARCHED,
        "NoDuplicate",
        instances=SAFE,
    ),
    Claim(
        "SWAP-ends",
        "ours",
        "A switch ends without new documents.",
        "SWAP-1 to SWAP-7; nobody crashes.",
        "holds with hypotheses",
        SEARCHED,
        "SwitchEnds",
        instances=SAFE,
    ),
    Claim(
        "SWAP-gone",
        "003 V",
        "The old routes are torn down.",
        "SWAP-4, SWAP-5; nobody crashes. At the end every broker has the tables of the new strategy, and no others.",
        "holds with hypotheses",
        SEARCHED,
        "OldTablesGone",
        instances=SAFE,
    ),
    Claim(
        "SWAP-two",
        "ours",
        "A broker has tables of two strategies at most.",
        "SWAP-7.",
        "holds",
        SEARCHED,
        "TwoStrategies",
        instances=SAFE,
    ),
    Claim(
        "SWAP-overlap-lossless",
        "ours",
        "A switch that begins before the end of the one before it loses nothing.",
        "SWAP-1 to SWAP-6 (next any-time).",
        "holds",
        "overlap3, all interleavings",
        "NoLostDelivery",
        instances=("overlap3",),
    ),
    Claim(
        "NET-filters",
        "003 II",
        "Within a tree a document goes toward the subscriptions of the cluster that it matches, and nowhere else.",
        "NET-4 (publisher filters).",
        "holds",
        SEARCHED,
        "TowardSubscriber",
        instances=SAFE,
    ),
    Claim(
        "NET-once",
        "003 II",
        "Each link of a tree carries a document at most once.",
        "SWAP-1, NET-4. Trees of one strategy may share a link, and then each has a copy of its own there.",
        "holds",
        SEARCHED,
        "OnTree",
        instances=SAFE,
    ),
)
