"""Claims of 002 with their outcomes.

A variant that mends a claim is a further claim: the same property, in instances with the other reading.
"""

from __future__ import annotations

from routeproof.spec.specification import Claim, Repair

STATIC = ("bypass4", "candidate4", "forks4", "hybrid4", "line5", "rounds4")
"""Instances without moves in which links come and go, under all strategies."""

MOVING = (
    *("mover3", "late3", "two3", "move4", "shut4", "subtree4"),
    *("spokes4", "far6", "declined3", "calledoff3", "after4"),
)
"""Instances of the mended move: subscriptions, links and publications come meanwhile, and several brokers move."""

AT_REST = (
    "every shipped instance without moves, all interleavings; one decision of one broker in all trees of up to five "
    "brokers with all link sets, up to sixteen at random (tests/mesh/test_forwarding.py)"
)
SEARCHED = (
    "every shipped instance of the mended move, all interleavings; the attack (tests/mesh/attack.py): all 168 "
    "combinations of tree, move, radius, links, up to three subscribers and publisher with three brokers; from settled "
    "networks (tests/mesh/settled.py) all trees, moves, radii and sets of links of four brokers with one publication, "
    "or one control message, in flight; samples with five and six brokers; networks drawn by the fuzzer"
)

MESH_CLAIMS = (
    # -- networks in which no broker moves -----------------------------------------------------------------------------
    Claim(
        "MESH-lossless",
        "002 5",
        "Whatever strategy each broker uses and whatever links it has, every publication reaches every subscriber.",
        "SUB-3 (advance receiver), FWD-3 (passed primary), FWD-9 (copies nearest).",
        "holds",
        AT_REST,
        "NoLostDelivery",
        instances=STATIC,
    ),
    Claim(
        "MESH-once",
        "002 5",
        "No subscriber gets a publication twice.",
        "The same readings.",
        "holds",
        AT_REST,
        "NoDuplicate",
        instances=STATIC,
    ),
    Claim(
        "MESH-no-loop",
        "002 5",
        "Publications travel downstream only.",
        "FWD-3 (passed primary): no publication is sent to a broker that it has passed, or has been sent over.",
        "holds",
        AT_REST,
        "NoWayBack",
        instances=STATIC,
    ),
    Claim(
        "MESH-downstream",
        "002 5",
        "Anchors whose path meets the path that the publication took are dropped.",
        "The path is the brokers that handled the publication, as the word is used elsewhere (passed visited).",
        "fails",
        "four brokers: over a soft link a publication passes a broker unseen, and comes back to it",
        "NoDuplicate",
        "soft-hop-uncounted.jsonl",
        repair=Repair("A soft hop counts as passing the primary path under it.", "MESH-once", {"passed": "primary"}),
    ),
    Claim(
        "MESH-anchor",
        "002 4",
        "An anchor that is too far away advances one hop closer to the subscriber.",
        "By the letter (advance subscriber): the anchor is within the radius of every broker.",
        "fails",
        "a line of three brokers with radius 1: the anchor leaves the next broker's map",
        "AnchorsFresh",
        "anchor-leaves-map.jsonl",
        repair=Repair(
            "It advances one hop toward the receiver, as in the paper's own example.",
            "MESH-anchor-receiver",
            {"advance": "receiver"},
        ),
    ),
    Claim(
        "MESH-anchor-receiver",
        "ours",
        "Every anchor is on the primary path to the subscriber, at the radius, or at home if that is nearer.",
        "SUB-3 (advance receiver).",
        "holds",
        SEARCHED,
        "AnchorsFresh",
        instances=(*STATIC, *MOVING),
    ),
    Claim(
        "MESH-candidate",
        "002 6",
        "What is meant for a candidate is sent transparently through a nearer neighbour.",
        "One copy a neighbour (copies together).",
        "fails",
        "four brokers, one soft link and one candidate under S2: the neighbour forwards to the soft link's end too",
        "NoDuplicate",
        "carried-twice.jsonl",
        repair=Repair(
            "A neighbour that carries a copy for a candidate serves all that is beyond it.",
            "MESH-once",
            {"copies": "nearest"},
        ),
    ),
    Claim(
        "MESH-fanout",
        "002 6",
        "A broker has at most its fan-out of real links, and at most so many links in all.",
        "LINK-5: of those that it chooses itself.",
        "holds",
        "boost4, rounds4 and seedless4, all interleavings; runs of the fuzzer",
        "WithinFanout",
        instances=("rounds4",),
    ),
    # -- the move of a broker ------------------------------------------------------------------------------------------
    Claim(
        "MOVE-skip",
        "002 6",
        "In the first phase brokers drop the links that skip over the moving broker; then nothing is lost.",
        "Links whose path has the mover inside (dropped mover).",
        "fails",
        "four brokers: a soft link over the path of the move overtakes the update",
        "NoLostDelivery",
        "skips-the-path.jsonl",
        repair=Repair("All links over the ring are dropped (MOVE-2).", "MOVE-lossless", {"dropped": "ring"}),
    ),
    Claim(
        "MOVE-drop",
        "002 6",
        "The first phase ends when it is confirmed that its message has reached all brokers of the neighbourhood.",
        "Nothing waits for what is on its way over the links that were dropped (drained ignored).",
        "fails",
        "four brokers: a publication on a dropped link comes after the update, and finds tables that point back",
        "NoLostDelivery",
        "dropped-not-drained.jsonl",
        repair=Repair(
            "A broker confirms when its dropped links are empty (MOVE-2).", "MOVE-lossless", {"drained": "awaited"}
        ),
    ),
    Claim(
        "MOVE-drop-now",
        "ours",
        "The same where a broker waits until the links are empty that it drops for the move.",
        "Links that it closed shortly before are not waited for (drained closed-now).",
        "fails",
        "four brokers: the same, over a link that was closed before the move",
        "NoLostDelivery",
        "closed-before.jsonl",
        repair=Repair("All links that a broker has closed are waited for.", "MOVE-lossless", {"drained": "awaited"}),
    ),
    Claim(
        "MOVE-subscriptions",
        "002 6",
        "Subscriptions go on as before while a broker moves.",
        "The paper does not say otherwise: the mover sends them over its old link (control sent).",
        "fails",
        "three brokers: a subscription of the mover arrives behind the update",
        "NoLostDelivery",
        "subscribed-behind-update.jsonl",
        repair=Repair("The mover hands them over with its side (MOVE-7).", "MOVE-lossless", {"control": "withheld"}),
    ),
    Claim(
        "MOVE-first-copies",
        "002 6",
        "The mover forwards first copies by its new tables, and removes second ones: nobody gets anything twice.",
        "MOVE-4 by the letter (entering by-tables).",
        "fails",
        "three brokers: what comes over the old link goes back to the other side over the new one",
        "NoDuplicate",
        "first-copy-goes-back.jsonl",
        repair=Repair(
            "What comes over the old link goes to the own side only (MOVE-8).", "MOVE-once", {"entering": "inward"}
        ),
    ),
    Claim(
        "MOVE-cut",
        "002 6",
        "When the update is confirmed, the mover ends its move.",
        "The paper names no moment at which the old link is cut: the mover cuts it then (cut confirmed).",
        "fails",
        "three brokers: a publication of the old neighbour is on the old link when the new neighbour confirms",
        "NoLostDelivery",
        "cut-when-confirmed.jsonl",
        repair=Repair(
            "Each end of the old link sends a last message over it when it has switched, and keeps it until the other "
            "end's has come (MOVE-4).",
            "MOVE-lossless",
            {"cut": "drained"},
        ),
    ),
    Claim(
        "MOVE-cut-at-switch",
        "002 6",
        "From the update on brokers forward by their new tables.",
        "In these the old link is gone, so that it is cut then (cut switched).",
        "fails",
        "three brokers: what the old neighbour sent before it switched comes over a link that is cut",
        "NoLostDelivery",
        "cut-when-switched.jsonl",
        repair=Repair("As for MOVE-cut.", "MOVE-lossless", {"cut": "drained"}),
    ),
    Claim(
        "MOVE-lossless",
        "ours",
        "No publication is lost while brokers move.",
        "MOVE-1 to MOVE-9: ring, draining, handover, and the old link given up when both its ends have sent their last "
        "message over it. Nobody crashes.",
        "holds with hypotheses",
        SEARCHED,
        "NoLostDelivery",
        instances=MOVING,
    ),
    Claim(
        "MOVE-once",
        "ours",
        "No publication is delivered twice while brokers move.",
        "The same.",
        "holds with hypotheses",
        SEARCHED,
        "NoDuplicate",
        instances=MOVING,
    ),
    Claim(
        "MOVE-maps",
        "002 6",
        "After a move all maps are those of a fresh network.",
        "MOVE-6; also of brokers that are near the mover only before or after the move. Nobody crashes.",
        "holds with hypotheses",
        SEARCHED,
        "MapsFresh",
        instances=MOVING,
    ),
    Claim(
        "MOVE-tree",
        "002 6",
        "The primary network stays acyclic: each broker's map is a tree at every moment.",
        "MOVE-6. That the whole network is a tree after each move is a theorem (MoveKeepsTree).",
        "holds",
        SEARCHED,
        "OwnMapIsTree",
        instances=MOVING,
    ),
    Claim(
        "MOVE-ends",
        "ours",
        "A move ends, also one that is refused or called off, and then the next one takes place.",
        "MOVE-1, MOVE-5, MOVE-9. Nobody crashes.",
        "holds with hypotheses",
        SEARCHED,
        "MoveEnds",
        instances=MOVING,
    ),
    Claim(
        "MOVE-refused",
        "ours",
        "A move that is refused leaves every map as it was.",
        "MOVE-9.",
        "holds",
        "declined3, all interleavings; samples of the attack with a broker that refuses",
        "RefusedStays",
        instances=("declined3",),
    ),
)
