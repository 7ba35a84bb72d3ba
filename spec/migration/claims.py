"""Claims of 004 about the migration of publishers, with their outcomes.

A variant that mends a claim is a further claim: the same property, in instances with the other reading.
"""

from __future__ import annotations

from itertools import pairwise

from routeproof.spec.figures import FigureComparison, fewer, larger, measured_rows, more, most, near
from routeproof.spec.specification import Claim, Repair

DRAINED = (
    *("move3", "branch4", "coverer3", "covered3", "joins3", "arrives3", "stays3"),
    *("return2", "swap3", "quit2", "silent2", "present2", "refused2", "refused3"),
)
"""Instances of the drained form: subscribers, coverers, advertisements and publishers come, go and move meanwhile."""

SEARCHED = (
    "every shipped instance of the drained form under every policy, all interleavings, three of them with more than a "
    "million states; runs of the fuzzer with up to twelve brokers and moves of every advertisement"
)

MIGRATION_CLAIMS = (
    # -- what a move keeps ---------------------------------------------------------------------------------------------
    Claim(
        "MIG-lossless",
        "004 III-C",
        "The migration protocol is completely lossless.",
        "As printed: the update removes entries at once (MIG-5), and publications may be in flight when a move begins.",
        "fails",
        "two brokers, one subscription, one publication: the update removes the entry that the publication needs",
        "NoLostDelivery",
        "flight-loses.jsonl",
        repair=Repair(
            "The source drains (MIG-12 to MIG-14): one message in addition, and one withdrawal a hop in place of op 2.",
            "MIG-lossless-drained",
            {"removal": "drained"},
        ),
    ),
    Claim(
        "MIG-lossless-drained",
        "ours",
        "The same where the completion follows the last publication, and entries go behind it.",
        "MIG-12 to MIG-14 (removal drained), MIG-15 (enters known).",
        "holds",
        SEARCHED,
        "NoLostDelivery",
        instances=DRAINED,
    ),
    Claim(
        "MIG-lossless-calm",
        "004 III-C",
        "The same as printed, where nothing of the publisher is in flight.",
        "The publisher publishes nothing before it has arrived (publishes arrived), and the target knows the "
        "advertisement when the publisher comes (enters known). Each is needed: see MIG-lossless and MIG-outside. The "
        "publisher moves once: before a second move, publications may be in flight again.",
        "holds with hypotheses",
        "calm3: subscribers on both sides join and leave meanwhile, all interleavings, every policy",
        "NoLostDelivery",
        instances=("calm3",),
    ),
    Claim(
        "MIG-order",
        "004 III-C",
        "The migration session is transparent; subscribers notice a short delivery interruption at most.",
        "A subscriber receives the publications of one publisher in the order of publication. As printed.",
        "fails",
        "two brokers: what the publisher published before the move waits on its channel to the source, while what it "
        "held back comes from the target and is delivered first",
        "InOrder",
        "order-reversed.jsonl",
        repair=Repair("The source drains, as for MIG-lossless.", "MIG-order-drained", {"removal": "drained"}),
    ),
    Claim(
        "MIG-order-drained",
        "ours",
        "The same where the source drains.",
        "MIG-12 to MIG-15; any number of moves.",
        "holds",
        SEARCHED,
        "InOrder",
        instances=DRAINED,
    ),
    Claim(
        "MIG-once",
        "004 III-C",
        "The publisher pauses or buffers, and resumes at the target.",
        "No publication is delivered twice, and what is held back is released once.",
        "holds",
        SEARCHED + "; as printed in flight2, order2 and calm3 too",
        "NoDuplicate",
        instances=(*DRAINED, "flight2", "order2", "calm3"),
    ),
    # -- tables --------------------------------------------------------------------------------------------------------
    Claim(
        "MIG-outside",
        "004 III-C",
        "Brokers outside of the path do not participate: their state is the same before and after the migration.",
        "As printed the target takes the publisher in whenever it comes (enters any-time).",
        "fails",
        "the update overtakes the flood of the advertisement, which then ends (RTE-8): a broker beside the path never "
        "hears of it, and its subscriber receives nothing",
        "FreshTables",
        "flood-overtaken.jsonl",
        repair=Repair("The target waits for the advertisement (MIG-15).", "MIG-outside-known", {"enters": "known"}),
    ),
    Claim(
        "MIG-outside-known",
        "ours",
        "The same where the target waits until it knows the advertisement.",
        "MIG-15 (enters known). Where it is quiet, tables are those of a fresh network with the publisher there.",
        "holds",
        SEARCHED,
        "FreshTables",
        instances=tuple(name for name in DRAINED if not name.startswith("refused")),
    ),
    Claim(
        "MIG-path",
        "004 III-C",
        "The overhead is limited to the brokers on the path.",
        "Messages of a move travel on the links of its path and between the publisher and the ends of it, and no link "
        "carries two of the same at a time.",
        "holds",
        SEARCHED,
        "OnPath",
        instances=(*DRAINED, "flight2", "order2", "calm3"),
    ),
    Claim(
        "MIG-concurrent",
        "004 III-C",
        "Subscriptions that no longer match any advertisement are removed (op 2), and nothing is said of other "
        "operations meanwhile.",
        "As printed, with another advertisement that is withdrawn meanwhile.",
        "fails",
        "what op 2 removes at one broker its neighbour still counts as sent, or the other way round",
        "Agreement",
        "withdrawn-meanwhile.jsonl",
        repair=Repair(
            "Who sent a subscription withdraws it (MIG-14).", "MIG-concurrent-drained", {"removal": "drained"}
        ),
    ),
    Claim(
        "MIG-concurrent-drained",
        "ours",
        "The same where the broker that sent a subscription withdraws it, behind the completion.",
        "MIG-13, MIG-14.",
        "holds",
        SEARCHED,
        "Agreement",
        instances=DRAINED,
    ),
    Claim(
        "MIG-record",
        "-",
        "(The paper does not say what becomes of a broker's record of what its neighbour removes in op 2.)",
        "The record stays (record kept).",
        "fails",
        "the broker believes that its neighbour has what the neighbour has removed",
        "Agreement",
        "record-kept.jsonl",
        repair=Repair("The record is forgotten (MIG-11).", "MIG-record-forgotten", {"record": "forgotten"}),
    ),
    Claim(
        "MIG-record-forgotten",
        "ours",
        "The same where the record is forgotten.",
        "MIG-11, where no other advertisement is withdrawn meanwhile: see MIG-concurrent.",
        "holds with hypotheses",
        "flight2, order2 and calm3, as printed otherwise, all interleavings, every policy",
        "Agreement",
        instances=("flight2", "order2", "calm3"),
    ),
    Claim(
        "MIG-letter",
        "004 III-C, op 2",
        "Subscriptions that no longer match any advertisement are removed.",
        "By the letter: the moved advertisement itself counts (checked any).",
        "fails",
        "it always matches what it drew, so nothing is ever removed",
        "Agreement",
        "letter-removes-nothing.jsonl",
        repair=Repair(
            "Advertisements count whose last hop is another one than the subscription's (MIG-5).",
            "MIG-record-forgotten",
            {"checked": "elsewhere"},
        ),
    ),
)


# -- figures -----------------------------------------------------------------------------------------------------------

MEASURED = measured_rows("routeproof.spec.migration")
SCALE = "40 publishers, 100 subscriptions each, 18 minutes, one drawing; no queues, delays of hops and links"


def _figure(id: str, paper: str, says: str, reading: str, experiment: str, *criterion: FigureComparison) -> Claim:
    """A claim about figures; its criterion gives the verdict."""
    return Claim.of_figures(MEASURED, id, paper, says, reading, SCALE, experiment, *criterion)


def _falling(quantity: str, metric: str) -> tuple[FigureComparison, ...]:
    """A quantity is nowhere more than at the weight before."""
    names = [f"grape {metric} {weight}" for weight in (1, 25, 50, 75, 100)]
    return tuple(fewer(quantity, there, 1, here) for here, there in pairwise(names))


FIGURE_CLAIMS = (
    _figure(
        "FIG-placement",
        "004 abstract, V",
        "Input load, message rate and delay fall by up to 68 %, 85 % and 68 %.",
        "The best of all runs of the enterprise workload, in percent of what publishers that stay cost, each within "
        "half of the paper's. POP's trace results are counted as messages.",
        "004-fig5",
        *near("message rate, best", "pop", 15),
        *near("input load, best", "pop", 36),
        *near("delay, best", "pop", 37),
        *near("message rate, best", "grape load 100", 15),
        *near("input load, best", "grape load 100", 32),
        *near("delay, best", "grape delay 100", 32),
        *near("overhead, largest", "pop", 32),
        *near("overhead, largest", "grape load 100", 16),
    ),
    _figure(
        "FIG-placement-random",
        "004 V",
        "Under the random workload GRAPE's overhead is at most 5 %, and POP's message rate some 50 % above GRAPE's.",
        "The overhead in percent of all messages; the message rates at X = 16.",
        "004-fig6",
        most("overhead, largest", "grape load 100", 5),
        most("overhead, largest", "grape delay 100", 5),
        more("message rate, X 16", "pop", 1.25, "grape load 100"),
        fewer("message rate, X 16", "pop", 1.75, "grape load 100"),
    ),
    _figure(
        "FIG-placement-fanout",
        "004 V",
        "With a larger fan-out of the tree there is less to gain.",
        "Message rate and input load on 63 brokers, with a fan-out of 4 against one of 2.",
        "004-fanout",
        *(
            larger(algorithm, f"{quantity}, on fan-out 4", 1, f"{quantity}, on fan-out 2")
            for quantity in ("message rate", "input load")
            for algorithm in ("pop", "grape load 100", "grape delay 100")
        ),
    ),
    _figure(
        "FIG-placement-weights",
        "004 V",
        "The weight trades load for delay.",
        "The input load falls as load's weight grows, and the delay as delay's does; never the other way.",
        "004-weights",
        *_falling("input load", "load"),
        *_falling("delay", "delay"),
    ),
    _figure(
        "FIG-placement-thresholds",
        "004 V",
        "At a threshold of 12,800 GRAPE never moves a publisher; POP's overhead grows with it, from 6 to 57 %.",
        "The moves are counted; the ends of POP's overhead within half of the paper's.",
        "004-thresholds",
        most("moves, threshold 12,800", "grape load 100", 0),
        most("moves, threshold 12,800", "grape delay 100", 0),
        *near("overhead, threshold 10", "pop", 6),
        *near("overhead, threshold 12,800", "pop", 57),
    ),
)
