"""What 000 and 001 claim of pruning, and what became of it. `claims` has the rest, and puts all together.

A repair is a claim beside the one that it repairs: the same property, in instances with the other reading.
"""

from __future__ import annotations

from routeproof.spec.claim import Claim

EXACT = ("prune3", "reach4", "fork4", "same3", "hold3", "behind3", "back2")
"""Instances whose statistics are those of the papers: entries ahead only, equality included, window never full."""

LOSSLESS = (
    "all interleavings of every shipped instance but those that declare that it fails (moves3id, overtake3, listed3); "
    "runs of the fuzzer up to twelve brokers, event sets and predicates, under all readings but those three"
)

PRUNING_CLAIMS = (
    # -- similarity ----------------------------------------------------------------------------------------------------
    Claim(
        "PROP-3",
        "000 III-C, 001 III-C",
        "The similarity of a subscription does not decrease at the brokers on its way to a publisher.",
        "Cumulatively (SIM-6): something else counts at B where its own way to the publisher passes B. Of what was "
        "delivered so far, with the subscriptions of now.",
        "holds",
        "every shipped instance of pruning, every state; predicate filters by the fuzzer",
        "Similarity",
        instances=("prune3", "reach4", "fork4", "moves3", "adverts3", "same3", "lazy3", "counts3"),
    ),
    Claim(
        "PROP-3-table",
        "000 III-B with III-C",
        "Similarity is defined at each broker, by the subscriptions that it knows.",
        "Something else counts at B where it is in B's table.",
        "fails",
        "what is quenched at a broker is in no table beyond it: after one hop nothing else is left that matches",
        "SimilarityInTables",
        "prop3-in-tables.jsonl",
    ),
    Claim(
        "EQ-3",
        "000 IV-B, 001 IV-B",
        "The share of the rows whose distance is at most mu is the similarity mu hops away.",
        "Row by row, hence at every mu: a distance is at most mu exactly where something else comes in at B(mu) or "
        "before. Needs: mu below the publisher's broker; nothing has changed since the row's publication; nothing that "
        "matches was withdrawn before; entries ahead only (counts elsewhere); the window not full.",
        "holds with hypotheses",
        "all interleavings of the shipped instances; larger ones by the fuzzer. Each hypothesis is needed, see below",
        "StatisticsExact",
        instances=EXACT,
    ),
    Claim(
        "EQ-3-publisher",
        "000 IV-B",
        "The same for every broker on the way, mu from 0 to the whole way.",
        "At the publisher's own broker too.",
        "fails",
        "a distance begins there at 0 whatever matches (STA-1), so the share is 1 though nothing else may match",
        "StatisticsAtPublisher",
        "eq3-at-publisher.jsonl",
    ),
    Claim(
        "EQ-3-change",
        "000 IV-A, IV-B",
        "The database of the last publications tells the similarity.",
        "Of all rows that are there, while subscriptions come and go.",
        "fails",
        "rows of s stay as they are when something comes that matches with s, or goes",
        "StatisticsWhileChanging",
        "eq3-while-changing.jsonl",
    ),
    Claim(
        "EQ-3-retained",
        "000 IV-A",
        "A broker that matches several subscriptions is one where another subscriber is.",
        "Also after something that matches has been pruned.",
        "fails",
        "what is retained matches like any other, and nobody is there: a distance says less than it should",
        "StatisticsBesideRetained",
        "eq3-beside-retained.jsonl",
    ),
    Claim(
        "EQ-3-entries",
        "000 IV-A, Definition 1",
        "At every other broker, if the publication matches multiple subscriptions, the distance is reset.",
        "Every entry of the table counts, wherever it came from (counts all).",
        "fails",
        "a subscription that travels toward another publisher, from this one's side, is behind p, not ahead",
        "StatisticsOfAllEntries",
        "eq3-of-all-entries.jsonl",
    ),
    # -- where a withdrawal ends ---------------------------------------------------------------------------------------
    Claim(
        "CRIT-1",
        "000 IV, property 1; Algorithm 1",
        "For each publisher there is a critical broker, after which the similarity is above the threshold.",
        "Where the withdrawal of s ends, the similarity to every publisher beyond reaches the threshold that counts "
        "there, and one hop before it does not. Needs what EQ-3 needs, and for the last part that a distance counts "
        "whatever is triggered (cuts[0] = 0, or selective).",
        "holds with hypotheses",
        "all interleavings of the shipped instances; a withdrawal with a list for several publishers goes on while "
        "any of those beyond wants it, so it may pass another's critical broker, but only on the way that they share",
        "CriticalBroker",
        instances=(*EXACT, "bands3", "nested3"),
    ),
    Claim(
        "CRIT-2",
        "000 IV-C",
        "From two thresholds two distances, the second not below the first.",
        "In every list, at every hop; and none leads beyond the publisher's broker (with inclusive false, by one).",
        "holds",
        "every shipped instance, every state",
        "MonotoneDistances",
        instances=("prune3", "bands3", "reach4", "fork4", "strict3", "hold3"),
    ),
    Claim(
        "BOUND",
        "001 V-A2",
        "A threshold of 90 percent implies a false positive rate of 10 percent.",
        "Of what a kept subscription matched until it was withdrawn, for each publisher beyond, others match at least "
        "the least threshold. Needs what EQ-3 needs, and that nothing changes afterwards.",
        "holds with hypotheses",
        "all interleavings of the shipped instances",
        "FalsePositiveBound",
        instances=EXACT,
    ),
    Claim(
        "BOUND-later",
        "001 V-A2",
        "The same, as a rate of what is published.",
        "For as long as it is kept, with the subscriptions of now.",
        "fails",
        "what it covered may go: then all that it matches is for nothing, and nothing ends that (collects does)",
        "FalsePositivesAlways",
        "false-positives-later.jsonl",
    ),
    Claim(
        "TRIG",
        "000 IV, 001 IV",
        "Pruning triggers fewer subscriptions than active covering.",
        "The same clients in the same order, everything settled in between: after each operation no more subscriptions "
        "were sent in the place of withdrawn ones, counted from the beginning.",
        "fails",
        "what is retained is sent again whenever a wider one elsewhere goes, though nobody wants it; after two of them "
        "that is more than was saved. It holds where nothing is withdrawn that covers what was withdrawn before: all "
        "settled histories of the shipped instances without congestion, and of 2,400 drawn ones (checker/settled.py)",
        "TriggeredAtMostActive",
        "triggers-what-is-dead.jsonl",
    ),
    Claim(
        "TRIG-held",
        "000 IV, property 3",
        "Withdrawals that wait while a broker is congested trigger no more than they would have at once.",
        "The same comparison; the withdrawals that are held count when they are handled.",
        "fails",
        "what is issued while they wait is held back by what is to be withdrawn, and then has to be sent in its place",
        "TriggeredAtMostActive",
        "triggers-after-hold.jsonl",
    ),
    # -- what is retained ----------------------------------------------------------------------------------------------
    Claim(
        "PRN-covers",
        "000 IV",
        "A subscription that is not withdrawn aggregates the interests of those that it covers.",
        "Those too that come later and are quenched by it (PRN-9): no delivery is lost. Equal filters among them.",
        "holds",
        LOSSLESS,
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
        "PRN-lazy",
        "000 V",
        "Pruning is compared with active and lazy covering alike.",
        "With lazy covering below (base lazy): no delivery is lost. Tables are not compact, as under lazy itself.",
        "holds",
        LOSSLESS,
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
        LOSSLESS,
        "NoLostDelivery",
        instances=("adverts3",),
    ),
    Claim(
        "PRN-forgets",
        "000 Algorithm 1, 001 Algorithm 1",
        "A withdrawal that ends is not passed on; nothing more is said of the subscription.",
        "The boundary does not remember what its neighbour still has (remembers false): tables agree all the same.",
        "fails",
        "the neighbour keeps it for ever, and it and what it covers stand side by side in its table",
        "Agreement",
        "boundary-forgets.jsonl",
    ),
    Claim(
        "PRN-remembers",
        "ours",
        "The boundary remembers, and withdraws it when something larger comes or no advertisement draws it.",
        "PRN-7, PRN-10, PRN-11, PRN-13: neighbours agree on what was sent.",
        "holds",
        "every shipped instance but forgets3 and moves3id",
        "Agreement",
        instances=("prune3", "larger3", "adverts3", "back2", "collects3", "reach4", "same3"),
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
        "PRN-overtaken",
        "000 IV, property 3",
        "A congested broker blocks withdrawals until congestion subsides.",
        "Withdrawals only; what comes after them does not wait (overtakes), and a client may come back with its id.",
        "fails",
        "the withdrawal that waited takes away what was issued again after it",
        "NoLostDelivery",
        "withdrawal-overtaken.jsonl",
    ),
    Claim(
        "PRN-held",
        "ours",
        "The same where a subscription ends the hold of its own withdrawal first.",
        "PRN-14.",
        "holds",
        LOSSLESS,
        "NoLostDelivery",
        instances=("hold3", "return3"),
    ),
)
