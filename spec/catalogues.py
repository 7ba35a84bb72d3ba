"""Catalogues of rules and of claims: the routing core's, then those of protocols on top of it.

`RULES` has every id that model, implementation, traces and reports may cite. The text of a rule is in
`spec/<protocol>.md` under its id, and a test holds the two together. Ids are those of the papers' catalogue where it
has one; rules that the routing core adds continue its numbers. `CLAIMS` has the papers' claims, each with its outcome.

`specifications` is the registry of the protocols' specifications. `properties` and `checker/prove/theorems.py` ask it
for properties and theorems.
"""

from __future__ import annotations

from collections.abc import Mapping

from routeproof.model.plugins import Composed, PluginError, plugins
from routeproof.spec.mesh.specification import SPECIFICATION as MESH
from routeproof.spec.migration import SPECIFICATION as MIGRATION
from routeproof.spec.placement import SPECIFICATION as PLACEMENT
from routeproof.spec.pruning import SPECIFICATION as PRUNING
from routeproof.spec.specification import Claim, Repair, Rule, Specification
from routeproof.spec.trees import SPECIFICATION as TREES

SHIPPED = (PRUNING, MIGRATION, PLACEMENT, TREES, MESH)


def specifications() -> tuple[Specification, ...]:
    """Returns the specifications of all protocols but the core: those that ship, then those from outside."""
    named = (getattr(plugin, "specification", None) for plugin in plugins())
    return (*SHIPPED, *(each for each in named if each is not None))


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
"""Definitions of the dialect `strict`. No handler applies them; all other rules rest on them."""

_TRACES = {
    "TRC-1": "a broker's events are numbered upward",
    "TRC-2": "brokers and links belong to the overlay",
    "TRC-3": "a message that is received over a link was sent over it, once and in order",
    "TRC-4": "a snapshot shows the tables that follow from the broker's history",
    "TRC-5": "a broker sends and delivers only while it handles a message",
    "TRC-6": "a message is complete, and an id keeps its meaning",
    "TRC-7": "no owed delivery is lost",
    "TRC-8": "no publication is delivered twice",
    "TRC-9": "a delivery is of a published event, for a matching subscription",
    "TRC-10": "times of a shared clock agree",
    "TRC-11": "what the header promises of times holds",
}
"""Rules that validation checks; no handler of a protocol applies them."""

ROUTING: dict[str, Rule] = {
    r.id: r
    for r in (
        *(Rule(id, "filters", title, "ours", fires=False) for id, title in _FILTERS.items()),
        *(Rule(id, "traces", title, "ours", fires=False) for id, title in _TRACES.items()),
        *Rule.table(
            "routing",
            ("RTE-1", "the overlay is a tree", "000 II, 001 II", False),
            ("RTE-2", "an advertisement is stored and flooded", "000 II"),
            ("RTE-3", "a subscription is stored and follows the advertisements that it overlaps", "000 II"),
            ("RTE-4", "a late advertisement fetches the subscriptions that waited for it", "ours"),
            ("RTE-5", "a publication follows matching subscriptions, once per hop, and never back", "000 II"),
            ("RTE-6", "a withdrawal follows its subscription and removes it", "000 IV"),
            ("RTE-7", "a withdrawn advertisement is removed, and so are the subscriptions that only it drew", "ours"),
            ("RTE-8", "a repeated advertisement, and a withdrawal from the wrong side, change nothing", "ours"),
            ("COV-1", "definition of covering", "000 II", False),
            ("COV-2", "a covered subscription is not forwarded", "000 II"),
            ("COV-3", "a subscription that came from a neighbour quenches nothing toward it", "000 V-B"),
            ("COV-4", "active: a newly covered subscription is withdrawn where it was forwarded", "000 II, V"),
            ("COV-6", "lazy: a forwarded subscription stays when a wider one follows", "000 V, 001 V-A2"),
            (
                "COV-7",
                "packing: the subscriptions that one step sends to one neighbour travel in one message",
                "000 V, 001 V-A2",
            ),
            ("COV-8", "additions before removals", "000 I, 001 I"),
            ("COV-10", "among equal filters, the forwarded subscription goes first, then the lower id", "000 III-A"),
        ),
    )
}


def _rules() -> dict[str, Rule]:
    """The rules by id: the routing core's, then those of the protocols on top of it."""
    found = dict(ROUTING)
    for specification in specifications():
        for rule in specification.rules:
            if found.setdefault(rule.id, rule) != rule:
                raise PluginError(f"two protocols have a rule {rule.id}; rename the one of {rule.protocol}")
    return found


RULES: Mapping[str, Rule] = Composed(_rules)


def rules_that_fire(protocol: str) -> tuple[str, ...]:
    """Rules that must fire at least once in a check of every shipped instance."""
    return tuple(r.id for r in RULES.values() if r.protocol == protocol and r.fires)


CLAIMS: dict[str, Claim] = {
    c.id: c
    for c in (
        Claim(
            "PROP-1",
            "000 III-C, 001 III-C",
            "Without covering the propagation of a subscription is a tree rooted at its subscriber's broker.",
            "Policy none, where no control message is queued: a broker has s exactly when it lies on a path from the "
            "home of s to the home of an active advertisement that s intersects, and has it from that side.",
            "holds",
            "all trees, any number of clients: theorem PropagationTree; and every shipped instance, all interleavings, "
            "with unsubscription and unadvertisement. Each hypothesis is needed: theorem PropagationTreeNeeds",
            "PropagationTree",
        ),
        Claim(
            "PROP-2",
            "000 III-C, 001 III-C",
            "With covering a covered subscription spans a path.",
            "Where no control message is queued and another active subscription strictly covers s, each broker passes "
            "s on to one neighbour at most. Equal filters do not count: of two of them one is a root (COV-10).",
            "holds with hypotheses",
            "active: all trees, any number of clients: theorem PropagationPath; active and packing: every shipped "
            "instance, all interleavings. It needs COV-4, withdrawing what is newly covered (see PROP-2-lazy); that "
            "it is covered strictly; and, to be as long as it must, that what came from a neighbour quenches nothing "
            "toward it (COV-3): theorem PropagationPathNeeds",
            "PropagationPath",
        ),
        Claim(
            "PROP-2-lazy",
            "000 III-C with V, 001 III-C with V-A2",
            "Property 2 is stated for covering, of which lazy covering is one form.",
            "The same property under the policy lazy.",
            "fails",
            "lazy: a subscription that arrived before its coverer keeps its whole tree (COV-6), so a covered "
            "subscription may fork",
            "PropagationPath",
            "prop2-under-lazy.jsonl",
            repair=Repair("Active covering, which withdraws what is newly covered (COV-4).", "PROP-2", policy="active"),
        ),
        Claim(
            "COVER-order",
            "000 I, 001 I",
            "To maintain correctness, all that a subscription quenched is forwarded before it is removed.",
            "COV-8: additions first, on each link. No delivery is lost, whatever else is on its way.",
            "holds",
            "all trees, any number of clients: theorem NoLostDelivery; every shipped instance without faults, all "
            "interleavings. It is needed: the mutants removals-first and withdrawal-before-additions lose deliveries",
            "NoLostDelivery",
            instances=("tiny", "line3", "cross3", "unadv3", "equal3"),
        ),
        Claim(
            "COVER-same-hop",
            "000 V-B",
            "Covering benefits only where a root covers subscriptions of the same last hop: one that goes from A to B "
            "cannot quench one that goes from B to A.",
            "COV-3, of the second half: what came from a neighbour quenches nothing toward it. The first half "
            "contradicts "
            "Property 2, whose walks quench across last hops; of it remains that of what came from one neighbour, none "
            "covers another.",
            "holds with hypotheses",
            "active: all trees, any number of clients, at rest: theorem Compact; without COV-3 a covered path is too "
            "short: theorem PropagationPathNeeds. Across last hops covering benefits all the same, see PROP-2",
            "Compact",
        ),
        Claim(
            "UNSUB-path",
            "000 IV",
            "An unsubscription has the same propagation path as its subscription.",
            "RTE-6: where no control message is queued nothing that was withdrawn is in any table. A protocol may "
            "give that up on purpose, see PRN-withdrawn.",
            "holds",
            "all trees, any number of clients: theorem NoResidue; every shipped instance without faults",
            "NoResidue",
            instances=("tiny", "line3", "cross3", "unadv3", "equal3"),
        ),
        *(claim for specification in SHIPPED for claim in specification.claims),
    )
}
