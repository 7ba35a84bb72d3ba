"""Claims of 004 about the traces and the choices of POP and GRAPE, with their outcomes."""

from __future__ import annotations

from routeproof.spec.specification import Claim, Repair

DRAWN = "; runs of the fuzzer with up to twelve brokers, three publishers and six subscribers"

PLACEMENT_CLAIMS = (
    Claim(
        "POP-results",
        "004 III-A",
        "Trace result messages carry the advertisement id and the number of subscribers; brokers average them.",
        "As printed, a result does not say of which publication it is (results unnamed).",
        "fails",
        "three brokers, four subscriptions, two publications: the later one goes less far, its result comes first and "
        "is taken for that of the earlier one",
        "ProfilesTrue",
        "result-overtaken.jsonl",
        repair=Repair(
            "A result names its publication: a number in a message that is sent anyway.",
            "POP-results-named",
            {"results": "named"},
        ),
    ),
    Claim(
        "POP-results-named",
        "ours",
        "The same where a result names its publication.",
        "Results named; a neighbour that a publication did not go to counts as 0 or not at all (absent).",
        "holds",
        "every shipped instance of POP with it, all interleavings" + DRAWN,
        "ProfilesTrue",
        instances=("order4", "pop3", "ways4", "tie2", "skipped2"),
    ),
    Claim(
        "POP-closest",
        "004 III-B",
        "The target is the broker that is closest to the subscribers.",
        "Closest: the least sum of hops to all that the publication was delivered to, one traced publication. Two "
        "brokers may be closest: the ends of a link with half of the subscribers on each side; POP keeps the nearer.",
        "holds",
        "every shipped instance of POP, all interleavings; exact counts on drawn trees (tests/placement/test_pop.py)",
        "TargetIsMedian",
        instances=("pop3", "ways4", "tie2", "carried3"),
    ),
    Claim(
        "GRP-ids",
        "004 IV-A",
        "A message id is the first broker's id and a counter; a bit vector of the threshold's length has a place for "
        "each publication of a session.",
        "By the letter a broker has one counter, for all its publishers (counter broker).",
        "fails",
        "a publication of another publisher comes between the two of a session: its second one has the third place",
        "TracesTrue",
        "counter-shared.jsonl",
        repair=Repair("A counter for each publisher; no message is added.", "GRP-ids-own", {"counter": "publisher"}),
    ),
    Claim(
        "GRP-ids-own",
        "ours",
        "The same where each publisher has a counter: answers list the deliveries of the session.",
        "Counter publisher.",
        "holds",
        "every shipped instance of GRAPE with it, all interleavings" + DRAWN,
        "TracesTrue",
        instances=("grape3", "sessions2", "own3", "delay3"),
    ),
    Claim(
        "GRP-least",
        "004 IV-B",
        "Load with weight 100 minimises the message rate, delay with weight 100 the delay.",
        "Among the brokers that answered; a broker counts 1 toward the delay. Subscriptions rest in the session.",
        "holds",
        "every shipped instance of GRAPE, all interleavings; drawn trees and sessions at every candidate "
        "(tests/placement/test_grape.py)",
        "ChoiceIsBest",
        instances=("grape3", "own3", "delay3"),
    ),
)
