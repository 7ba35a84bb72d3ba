"""The registry of rules: every id that model, implementation, traces and reports may cite.

`RULES` is the index; the text of a rule is in `spec/<protocol>.md` under its id, and a test holds the two together. Ids
are those of the papers' catalogue where it has one; rules that the routing core adds continue its numbers.
"""

from __future__ import annotations

from attrs import frozen


@frozen
class Rule:
    """`fires`: a handler applies it, and coverage counts how often. The others are definitions and assumptions."""

    id: str
    protocol: str
    title: str
    source: str
    fires: bool = True


_FILTERS = {
    "FLT-1": "an event is a finite map from names to strings, booleans and numbers",
    "FLT-2": "numbers are exact",
    "FLT-3": "a predicate on a missing attribute is false",
    "FLT-4": "a predicate is false on a value of another type",
    "FLT-5": "a filter that matches nothing is refused",
    "FLT-6": "filters are equal exactly where they match the same events",
    "FLT-7": "a filter is a conjunction of predicates",
    "FLT-8": "comparing numbers",
    "FLT-9": "comparing strings",
    "FLT-10": "prefix, suffix, contains",
    "FLT-11": "booleans, present, integer",
    "FLT-12": "limits",
    "FLT-13": "covers and overlaps are decided attribute by attribute, exactly",
    "FLT-14": "filters and events as JSON",
}
"""Definitions of the dialect `strict`: nothing fires, everything rests on them."""

_TRACES = {
    "TRC-1": "a broker's events are numbered upward",
    "TRC-2": "brokers and links are those of the overlay",
    "TRC-3": "what is received over a link was sent over it, once, in order",
    "TRC-4": "a snapshot tells the tables that the broker's history gives",
    "TRC-5": "a broker sends and delivers only while it handles a message",
    "TRC-6": "a message says what it is about",
    "TRC-7": "nothing that a client is owed is lost",
    "TRC-8": "nothing is delivered twice",
    "TRC-9": "nothing is delivered that was not asked for",
}
"""Held by validation, not by a protocol's handler."""

_PRUNING_TERMS = {
    "SIM-3": ("of what a subscription matches, what something else matches as well", "000 III-B, 001 III-B"),
    "SIM-4": ("similarity is the share of that", "000 III-B, 001 III-B"),
    "SIM-5": ("similarity is of a subscription, an advertisement and a broker", "000 III-C"),
    "SIM-6": ("similarity is of what is published, and cumulative on the way to the publisher", "000 III-B"),
    "CRD-1": ("the share of rows up to a distance", "000 IV-B, 001 IV-B"),
    "CRD-3": ("at most and at least include equality", "000 IV-B, 001 IV-B"),
    "CRD-4": ("thresholds ascend, and so do the distances", "000 IV-C"),
    "PRN-3": ("how many triggered subscriptions make a burst", "000 IV-C"),
    "PRN-15": ("a subscription that is issued again is another one", "ours"),
}
"""What the other rules of pruning speak of, and what a client keeps to: no handler applies them."""

_PRUNING = {
    "SIM-8": ("how many subscriptions a withdrawal triggers", "000 IV-C"),
    "STA-1": ("a publication begins with a distance and a count of 0", "000 IV-A, 001 IV-A"),
    "STA-2": ("the distance is that from where more than one subscription matched", "000 IV-A, 001 IV-A"),
    "STA-3": ("all copies carry the same header", "000 Fig. 4"),
    "STA-5": ("subscriptions that travel the other way are not counted", "000 IV-A"),
    "STA-6": ("who delivers a publication notes its header", "000 IV-A, 001 IV-A"),
    "STA-7": ("the database slides, and is purged of what is withdrawn", "000 IV-A, 001 IV-A"),
    "STA-8": ("selective: what covers too few is withdrawn in full", "001 IV-B"),
    "CRD-2": ("the critical distance is the least that reaches the threshold", "000 IV-B, 001 IV-B"),
    "CRD-6": ("an advertisement without history", "ours"),
    "PRN-1": ("the subscriber's broker says how far its withdrawal is to go", "000 IV-C, 001 IV-C"),
    "PRN-2": ("the threshold is chosen by what is triggered", "000 IV-C"),
    "PRN-4": ("each hop passes a withdrawal on, or retains what is withdrawn", "000 Alg. 1, 001 Alg. 1"),
    "PRN-5": ("what goes in the place of what is withdrawn", "000 IV"),
    "PRN-6": ("a congested broker holds withdrawals", "000 IV"),
    "PRN-7": ("the boundary remembers what it retains", "ours"),
    "PRN-9": ("a retained subscription quenches like any other", "ours"),
    "PRN-10": ("a retained one goes when something larger replaces it", "ours"),
    "PRN-11": ("a retained one goes when nothing draws it any more", "ours"),
    "PRN-12": ("a retained one goes when nothing is left below it", "ours"),
    "PRN-13": ("what comes back is no longer retained", "ours"),
    "PRN-14": ("no withdrawal is overtaken by what comes after it", "ours"),
    "PRN-16": ("a retained one makes way for an advertisement that is new", "ours"),
}

RULES: dict[str, Rule] = {
    r.id: r
    for r in (
        *(Rule(id, "filters", title, "ours", fires=False) for id, title in _FILTERS.items()),
        *(Rule(id, "traces", title, "ours", fires=False) for id, title in _TRACES.items()),
        Rule("RTE-1", "routing", "the overlay is a tree", "000 II, 001 II", fires=False),
        Rule("RTE-2", "routing", "an advertisement is stored and flooded", "000 II"),
        Rule("RTE-3", "routing", "a subscription is stored and follows the advertisements it intersects", "000 II"),
        Rule("RTE-4", "routing", "subscriptions that were waiting follow a late advertisement back", "routing-core"),
        Rule("RTE-5", "routing", "a publication follows matching subscriptions, once a hop, never back", "000 II"),
        Rule("RTE-6", "routing", "a withdrawal follows its subscription and removes it", "000 IV"),
        Rule("RTE-7", "routing", "a withdrawn advertisement is forgotten, and so is what only it drew", "routing-core"),
        Rule("RTE-8", "routing", "what is known already, or withdrawn from elsewhere, changes nothing", "routing-core"),
        Rule("COV-1", "routing", "what covering means", "000 II", fires=False),
        Rule("COV-2", "routing", "a covered subscription is not forwarded", "000 II"),
        Rule("COV-3", "routing", "what came from a neighbour quenches nothing toward it", "000 V-B"),
        Rule("COV-4", "routing", "active: a newly covered subscription is withdrawn where it went", "000 II, V"),
        Rule("COV-6", "routing", "lazy: what was sent stays when something wider follows", "000 V, 001 V-A2"),
        Rule("COV-7", "routing", "packing: what one step sends to one neighbour travels together", "000 V, 001 V-A2"),
        Rule("COV-8", "routing", "additions before removals", "000 I, 001 I"),
        Rule("COV-10", "routing", "among equal filters what was sent goes first, then the lower id", "000 III-A"),
        *(Rule(id, "pruning", title, source, fires=False) for id, (title, source) in _PRUNING_TERMS.items()),
        *(Rule(id, "pruning", title, source) for id, (title, source) in _PRUNING.items()),
    )
}


def rules_that_fire(protocol: str) -> tuple[str, ...]:
    """What a check of every shipped instance must have seen at least once."""
    return tuple(r.id for r in RULES.values() if r.protocol == protocol and r.fires)
