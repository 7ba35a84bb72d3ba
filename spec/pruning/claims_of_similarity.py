"""Claims of 000 and 001 about similarity, statistics, and where a withdrawal ends, with their outcomes.

A variant that mends a claim is a further claim: the same property, in instances with the other reading.
"""

from __future__ import annotations

from routeproof.spec.specification import Claim, Repair

EXACT = ("prune3", "reach4", "fork4", "same3", "hold3", "behind3", "back2")
"""Instances whose statistics are those of the papers: entries ahead only, equality included, window never full."""

SIMILARITY_CLAIMS = (
    # -- similarity ----------------------------------------------------------------------------------------------------
    Claim(
        "PROP-3",
        "000 III-C, 001 III-C",
        "The similarity of a subscription does not decrease at the brokers on its way to a publisher.",
        "Cumulatively (SIM-6): something else counts at B where its own way to the publisher passes B. Of what was "
        "delivered so far, with the subscriptions of now.",
        "holds",
        "all trees, any number of clients: theorem SimilarityGrows, which speaks of no table, so of no policy "
        "either; every "
        "shipped instance of pruning, every state; predicate filters by the fuzzer",
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
        repair=Repair(
            "The cumulative reading, SIM-6. Brokers compute nothing from tables, so that the protocol stays as it is.",
            "PROP-3",
        ),
    ),
    Claim(
        "SIM-example",
        "000 III-B, 001 III-B",
        "[0, 50] is practically [0, 100] where all values are in [0, 50], and nothing is filtered without [0, 100] "
        "where "
        "[40, 110] is there too.",
        "SIM-3 and SIM-6: similarity is a matter of what is published, and of all others, covered or not.",
        "holds",
        "the example itself: tests/spec/test_worked_example.py; that it never decreases: as PROP-3",
        "Similarity",
        instances=("prune3", "reach4", "same3"),
    ),
    Claim(
        "EQ-1",
        "000 III-B, 001 III-B",
        "What must still be forwarded once S is gone matches what S covers, or what only intersects S (equation 1).",
        "Of a root: nothing else that is active strictly covers it. An equal one counts as covered (COV-1). The same "
        "set as in 001, which writes it otherwise.",
        "holds",
        "every shipped instance of pruning, every state",
        "EquationOne",
        instances=("prune3", "reach4", "same3", "larger3", "moves3", "nested3"),
    ),
    Claim(
        "EQ-1-covered",
        "000 III-B, 001 III-B",
        "The same: the text says it of a given subscription, whether it is a root or not.",
        "Of every subscription.",
        "fails",
        "what covers S matches all that S matches, and is neither covered by it nor only intersects it. Brokers are "
        "not misled: distances count whatever else matches (STA-2, SIM-3)",
        "EquationOneOfAll",
        "eq1-of-a-covered-one.jsonl",
        repair=Repair("Equation 1 of roots only. Nothing in the protocol rests on it.", "EQ-1"),
    ),
    Claim(
        "EQ-3",
        "000 IV-B, 001 IV-B",
        "The share of the rows whose distance is at most mu is the similarity mu hops away.",
        "Row by row, hence at every mu: a distance is at most mu exactly where something else comes in at B(mu) or "
        "before. Needs: mu below the publisher's broker; nothing has changed since the row's publication; nothing that "
        "matches was withdrawn before; entries ahead only (counts elsewhere); the window not full.",
        "holds with hypotheses",
        "without retained subscriptions all trees, any number of clients: theorem DistanceTells, and DistanceNeeds "
        "for its "
        "hypotheses; under pruning all interleavings of the shipped instances, larger ones by the fuzzer. Each "
        "hypothesis "
        "is needed, see below",
        "StatisticsExact",
        instances=EXACT,
    ),
    Claim(
        "EQ-3-publisher",
        "000 IV-B",
        "The same for every broker on the way, mu from 0 to the whole way.",
        "At the publisher's own broker too.",
        "fails",
        "a distance begins there at 0 whatever matches (STA-1), so the share is 1 though nothing else may match. It "
        "needs no repair: the withdrawal then goes all the way",
        "StatisticsAtPublisher",
        "eq3-at-publisher.jsonl",
        repair=Repair(
            "Equation 3 below the publisher's broker. The protocol needs no other: a withdrawal that comes this far "
            "is to go all the way.",
            "EQ-3",
        ),
    ),
    Claim(
        "EQ-3-change",
        "000 IV-A, IV-B",
        "The database of the last publications tells the similarity.",
        "Of all rows that are there, while subscriptions come and go.",
        "fails",
        "rows of s do not change when a subscription that matches with s comes or goes, not even one of a client of "
        "the same broker, which knows of both",
        "StatisticsWhileChanging",
        "eq3-while-changing.jsonl",
        repair=Repair(
            "Rows keep the header that arrived, and are updated by the broker's own table whenever they are read "
            "(STA-9). They then follow what comes or goes at the subscriber's broker; of the rest, see EQ-3-elsewhere.",
            readings={"rows": "arrived"},
        ),
    ),
    Claim(
        "EQ-3-elsewhere",
        "000 IV-A, IV-B",
        "The database of the last publications tells the similarity.",
        "Of all rows that are there, of publications that nothing else at the subscriber's broker matches, while "
        "subscriptions come and go at other brokers.",
        "fails",
        "the subscriber's broker does not hear of a subscription that comes nearer to the publisher; a smaller "
        "`window` forgets sooner",
        "StatisticsOfOtherBrokers",
        "eq3-elsewhere.jsonl",
        repair=Repair(
            "Equation 3 since the last change elsewhere. A protocol in which rows follow these changes would have to "
            "tell every subscriber's broker of every subscription that shares a publication with it: what covering is "
            "there to avoid. `window` bounds how long a row misleads.",
            "EQ-3",
        ),
    ),
    Claim(
        "EQ-3-retained",
        "000 IV-A",
        "A broker that matches several subscriptions is one where another subscriber is.",
        "Also after something that matches has been pruned.",
        "fails",
        "a retained subscription matches like any other, but has no subscriber: a distance is less than it should be. "
        "Only the boundary broker knows that it is retained, so no broker further on can leave it out",
        "StatisticsBesideRetained",
        "eq3-beside-retained.jsonl",
        repair=Repair(
            "Equation 3 where nothing that matches was withdrawn before. That brokers beyond the boundary do not "
            "count what is kept would take a message along all that is kept: the withdrawal itself, without what it "
            "triggers. None such is specified.",
            "EQ-3",
        ),
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
        repair=Repair(
            "Entries that came from where the publication came from are left out (STA-5).",
            "EQ-3",
            {"counts": "elsewhere"},
        ),
    ),
    Claim(
        "HISTORY",
        "000 IV, IV-A; 001 IV-A",
        "Only the subscriber's broker records publications, and what it recorded goes with the subscription.",
        "Where it is quiet there are rows of a broker's own clients' subscriptions only.",
        "holds",
        "every shipped instance but moves3id, whose former issue has the same id",
        "Purged",
        instances=("prune3", "reach4", "fork4", "moves3", "hold3", "window3", "larger3"),
    ),
    Claim(
        "COUNT",
        "001 IV-B",
        "The count represents the number of subscriptions interested in a publication; it is the sum of the sizes of "
        "NRS(S) and INC(S).",
        "Of a row: how many others match and come in below the publisher's broker. Needs what EQ-3 needs.",
        "fails",
        "it counts brokers: two that come in at one broker are one, and one that goes along for two brokers is two",
        "CountOfOthers",
        "count-of-others.jsonl",
        repair=Repair(
            "A count tells whether there are others, not how many. The default `fewest = 1` asks for no more.",
            "COUNT-some",
        ),
    ),
    Claim(
        "COUNT-some",
        "001 IV-B",
        "The same, as far as it goes.",
        "A count is above 0 exactly where something else comes in below the publisher's broker. Needs what EQ-3 needs.",
        "holds with hypotheses",
        "all interleavings of the shipped instances: this is all that the default `fewest = 1` relies on",
        "StatisticsExact",
        instances=("prune3", "reach4", "back2"),
    ),
    Claim(
        "COUNT-few",
        "001 IV-B",
        "A small greatest count suggests that a withdrawal causes no congestion: it can be a full one.",
        "Where all counts of s are below `fewest`, its withdrawal triggers fewer than that many of the subscriptions "
        "that the publications of the past have matched. Needs what EQ-3 needs.",
        "fails",
        "whatever s held back at one broker makes one count; with `fewest = 2` two are triggered already, and any "
        "number can be. The repair is that of 000: each broker counts what it would have to send (SIM-8), see CRIT-M",
        "FewWhereCountsAreSmall",
        "small-counts-many-triggered.jsonl",
        repair=Repair(
            "Nothing at the subscriber's broker tells how many are held back elsewhere. Each broker counts what it "
            "would have to send (SIM-8), as in 000.",
            "CRIT-M",
            {"cuts": (0, 1)},
            "incremental",
        ),
    ),
    # -- where a withdrawal ends ---------------------------------------------------------------------------------------
    Claim(
        "CRIT-1",
        "000 IV, property 1; Algorithm 1",
        "For each publisher there is a critical broker, after which the similarity is above the threshold.",
        "Where the withdrawal of s ends, the similarity to every publisher beyond reaches the threshold that counts "
        "there, and at every hop before it does not. Needs what EQ-3 needs; what more, `spec/pruning.md` says.",
        "holds with hypotheses",
        "all interleavings of the shipped instances; a withdrawal with a list for several publishers goes on while "
        "any of those beyond wants it, so it may pass another's critical broker, but only on the way that they share",
        "CriticalBroker",
        instances=(*EXACT, "bands3", "nested3", "half3", "halves3", "beside3"),
    ),
    Claim(
        "CRIT-0",
        "000 IV, property 1; 001 IV",
        "For every publisher there is a critical broker between the subscriber's broker and the publisher's.",
        "Somewhere on the way the similarity, of what was delivered, reaches the greatest threshold.",
        "fails",
        "nothing else may match at all. Equation 3 gives 100 percent at the publisher's broker all the same (see "
        "EQ-3-publisher), and so the withdrawal goes all the way, which is what it should do",
        "CriticalBrokerExists",
        "no-critical-broker.jsonl",
        repair=Repair(
            "Where a withdrawal ends, the broker is critical; where none is, it ends nowhere. The protocol stays as "
            "it is.",
            "CRIT-1",
        ),
    ),
    Claim(
        "CRIT-M",
        "000 IV, property 2; IV-C",
        "Where few subscriptions are triggered a broker uses a larger threshold, where many are a smaller one.",
        "The similarity at the broker where a withdrawal ends reaches the threshold of the band in which M is there; "
        "with M below both it ends nowhere. Needs what EQ-3 needs.",
        "holds with hypotheses",
        "all interleavings of the instances with three bands (bands3, halves3), of nested ones (nested3), with M for "
        "each neighbour (apart4) or over all (beside3). The bands of formula and prose: `tests/pruning/test_model.py`",
        "CriticalBroker",
        instances=("bands3", "nested3", "halves3", "apart4", "beside3"),
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
        "BOUND-sum",
        "001 V-A2",
        "The same, as a rate of what passes a link.",
        "Of all that is kept together, with the subscriptions of now, where each by itself is within the threshold.",
        "fails",
        "what others match may be the same publications for all that is kept, and what comes in vain different ones: "
        "with a threshold of t percent the share that others match can come near t / (2 - t / 100) for two that are "
        "kept, and near nothing for many",
        "FalsePositivesInSum",
        "false-positives-in-sum.jsonl",
        repair=Repair(
            "Each by itself is bounded. What comes in vain on a link is at most the sum of these: 100 - t percent of "
            "what each of them matched, added up. That the share of all is bounded would take a broker that knows the "
            "publications of all that is kept, and only the subscribers' brokers have statistics.",
            "BOUND",
        ),
    ),
    Claim(
        "BOUND-later",
        "001 V-A2",
        "The same, as a rate of what is published.",
        "For as long as it is kept, with the subscriptions of now.",
        "fails",
        "what it covered may go: then all that it matches is for nothing, and nothing ends that. `collects` ends it "
        "where nothing is left below, and does not where something is that matches less",
        "FalsePositivesAlways",
        "false-positives-later.jsonl",
        repair=Repair(
            "What is retained goes when nothing is left below it (PRN-12). Where something is that matches less, "
            "nothing ends it: the boundary hears neither of what others publish nor of who else goes.",
            readings={"collects": True},
        ),
    ),
    Claim(
        "BOUND-new",
        "-",
        "(The papers say nothing of advertisements that appear after pruning.)",
        "The bound holds of advertisements too that never published to what is kept.",
        "fails",
        "nothing is known of them, and what is kept draws them like any other (PRN-11): the share can be anything",
        "FalsePositivesOfNew",
        "false-positives-of-new.jsonl",
        repair=Repair(
            "What is retained makes way for a new advertisement that it intersects (PRN-16).",
            "BOUND-newcomers",
            {"newcomers": "withdraw"},
        ),
    ),
    Claim(
        "BOUND-newcomers",
        "ours",
        "The same where what is retained makes way for a new advertisement.",
        "PRN-16 (newcomers withdraw), of BOUND-new. It is withdrawn in full, additions first: no delivery is lost.",
        "holds with hypotheses",
        "all interleavings of newcomer3, where a withdrawal ends at the subscriber's broker or nowhere. An "
        "advertisement that crosses a withdrawal is no newcomer where that ends, and is not on its list either",
        "FalsePositivesOfNew",
        instances=("newcomer3",),
    ),
    Claim(
        "TRIG",
        "000 IV, 001 IV",
        "Pruning triggers fewer subscriptions than active covering.",
        "The same clients in the same order, everything settled in between: after each operation no more subscriptions "
        "were sent in the place of withdrawn ones, counted from the beginning.",
        "fails",
        "a retained subscription is sent again whenever a wider one elsewhere goes, though it has no subscriber; after "
        "two of them that is more than was saved. It holds if no subscription is withdrawn that covers one withdrawn "
        "before: all settled histories of the shipped instances without congestion (checker/pruning/__init__.py). "
        "`collects` does not repair it: no broker further on knows that it is retained",
        "TriggeredAtMostActive",
        "triggers-what-is-dead.jsonl",
        repair=Repair(
            "None is specified. That a broker further on leaves out what is retained before it would take a message "
            "along all that is kept, as for EQ-3-retained. What holds instead is the hypothesis in the scope: "
            "withdraw nothing that covers what was withdrawn before."
        ),
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
        repair=Repair(
            "None is specified. If what is to be withdrawn held back nothing new, all that is issued meanwhile would "
            "be sent at once, from the broker that is congested: more messages, and at the wrong moment, for fewer "
            "that count as triggered. Nothing is lost either way (PRN-held)."
        ),
    ),
)
