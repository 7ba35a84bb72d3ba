"""The papers' claims, each with what became of it.

A claim is a hypothesis until it is checked: `verdict` says how it came out and in which scope, and where it breaks
`trace` names the smallest counterexample in `traces/corpus/`, which a test re-establishes, and `repair` what holds in
its place: a variant of the protocol, or less than was claimed.
"""

from __future__ import annotations

from routeproof.spec.claim import Claim, Repair
from routeproof.spec.specifications import SHIPPED

__all__ = ["CLAIMS", "Claim"]

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
