"""Properties of the mesh. `spec/mesh.md`, Properties."""

from __future__ import annotations

from routeproof.model.history import Ledger
from routeproof.model.mesh.handler import MeshTables
from routeproof.model.mesh.messages import Way
from routeproof.model.messages import Publish
from routeproof.model.overlay import Link, Node
from routeproof.spec.mesh.definitions import anchor_of
from routeproof.spec.property import OK, Answer, Property, Seen, variants

Queue = tuple[object, ...]


def everywhere(ledger: Ledger, node: Node, tables: MeshTables, history: Seen) -> Answer:
    """Every broker has exactly the active subscriptions."""
    held = {s for s, _ in tables.subs}
    active = {s for rank in range(len(ledger.instance.subscriptions)) if (s := ledger.issue(rank, history.done))}
    for s in sorted(held ^ active, key=lambda s: s.rank):
        state = "has" if s in held else "does not have"
        return f"{ledger.name(node)} {state} {s}, which is {'active' if s in active else 'not active'}"
    return OK if held else None


def anchor_placed(ledger: Ledger, node: Node, tables: MeshTables, history: Seen) -> Answer:
    """Every anchor is on the primary path to the subscriber, at the radius or, if that is nearer, the home itself."""
    radius, exercised = ledger.parameters.radius, False
    for s, anchor in tables.subs:
        expected = anchor_of(ledger.instance.overlay, node, ledger.home(s.rank, history.done), radius)
        if anchor != expected:
            return f"at {ledger.name(node)} the anchor of {s} is b{anchor}; expected b{expected}"
        exercised = exercised or anchor != node
    return OK if exercised else None


def no_way_back(ledger: Ledger, channel: Link, queue: Queue) -> Answer:
    """No publication is sent to a broker that it has passed, or over which it was sent."""
    ways = [(m.publication, m.header.way) for m in queue if isinstance(m, Publish) and isinstance(m.header, Way)]
    for publication, way in ways:
        if channel[1] in way or len(set(way)) < len(way):
            passed = ", ".join(f"b{b}" for b in way)
            return f"{publication} is on its way to {ledger.name(channel[1])}, and has passed {passed}"
    return OK if any(len(way) > 1 for _, way in ways) else None


def some_soft_hop(ledger: Ledger, channel: Link, queue: Queue) -> Answer:
    """A publication travels on a soft link."""
    is_soft = channel not in ledger.instance.overlay.links
    return OK if is_soft and any(isinstance(m, Publish) for m in queue) else None


MESHED = variants("mesh", ("none",))

PROPERTIES_OF_MESH = (
    Property.of("Everywhere", "always", "node", MESHED, everywhere, ("local", "done")),
    Property.of("AnchorPlaced", "always", "node", MESHED, anchor_placed, ("local", "done")),
    Property.of("NoWayBack", "always", "channel", MESHED, no_way_back, ("queue",), quiet=False),
    Property.of("SomeSoftHop", "sometimes", "channel", MESHED, some_soft_hop, ("queue",), quiet=False),
)
