"""Specification of the mesh (`spec/mesh.md`): its notions by definition, properties and rules.

The definitions are an oracle that shares nothing with the printed algorithms: they are computed from the whole primary
network, with one question: which broker on which path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from routeproof.model.history import Ledger
from routeproof.model.mesh.messages import Down, Passed
from routeproof.model.mesh.state import Coordinator, MasterMap, MeshTables
from routeproof.model.messages import Publish, is_control
from routeproof.model.overlay import LOCAL, Link, Node, Overlay, OverlayError
from routeproof.spec.mesh.claims import MESH_CLAIMS
from routeproof.spec.mesh.claims_of_figures import MESH_FIGURE_CLAIMS
from routeproof.spec.specification import LOSSLESS_DELIVERY, OK, Answer, Property, Rule, Seen, Specification, variants

# -- definitions on the tree -------------------------------------------------------------------------------------------


def neighbourhood(overlay: Overlay, broker: Node, radius: int) -> tuple[Link, ...]:
    """MESH-1: the primary links of which both ends are within the radius."""
    return tuple(e for e in overlay.edges if all(len(overlay.path(broker, end)) - 1 <= radius for end in e))


def anchor_of(overlay: Overlay, broker: Node, home: Node, radius: int) -> Node:
    """SUB-3: the broker on the path to the subscriber's home, at the radius or, if that is nearer, the home itself."""
    path = overlay.path(broker, home)
    return path[min(radius, len(path) - 1)]


def linked(overlay: Overlay, broker: Node, links: Iterable[Node]) -> frozenset[Node]:
    """The ends of a broker's links, the primary ones among them."""
    return frozenset((*overlay.neighbours(broker), *links))


def end_for(overlay: Overlay, broker: Node, links: Iterable[Node], anchor: Node) -> Node:
    """MESH-3d: the farthest broker on the path to an anchor that the broker has a link to."""
    ends = linked(overlay, broker, links)
    return next(b for b in reversed(overlay.path(broker, anchor)) if b in ends)


def ends_of(
    overlay: Overlay, broker: Node, links: Iterable[Node], homes: Iterable[Node], radius: int, came_from: Node | None
) -> frozenset[Node]:
    """The ends that stand for these subscribers' homes, without those on the side that a publication came from."""
    upstream = overlay.toward(broker, came_from) if came_from is not None else None
    return frozenset(
        end_for(overlay, broker, links, anchor_of(overlay, broker, home, radius))
        for home in homes
        if home != broker and overlay.toward(broker, home) != upstream
    )


def farthest_common(overlay: Overlay, broker: Node, links: Iterable[Node], ends: frozenset[Node]) -> frozenset[Node]:
    """The choice that S1 is meant to make: per branch the farthest linked broker on the paths to all its ends."""
    chosen = set()
    for branch in overlay.neighbours(broker):
        paths = [overlay.path(broker, end) for end in ends if overlay.toward(broker, end) == branch]
        if paths:
            common = set(paths[0]).intersection(*paths[1:]) & linked(overlay, broker, links)
            chosen.add(max(common, key=lambda b: len(overlay.path(broker, b))))
    return frozenset(chosen)


def first_on_path(overlay: Overlay, broker: Node, ends: frozenset[Node]) -> frozenset[Node]:
    """Returns the choice that S2 is meant to make: the ends that have no other end on the path to them."""
    return frozenset(end for end in ends if not ends - {end} & set(overlay.path(broker, end)))


# -- properties --------------------------------------------------------------------------------------------------------

Queue = tuple[object, ...]
States = Mapping[Node, object]
Queues = Mapping[Link, Queue]
NO_CHANNELS: Queues = MappingProxyType({})
"""The channels of a single broker."""


def everywhere(ledger: Ledger, node: Node, tables: MeshTables, history: Seen) -> Answer:
    """Every broker has exactly the active subscriptions."""
    held = {s for s, _ in tables.subs}
    active = {s for rank in range(len(ledger.instance.subscriptions)) if (s := ledger.issue(rank, history.done))}
    for s in sorted(held ^ active, key=lambda s: s.rank):
        state = "has" if s in held else "does not have"
        return f"{ledger.name(node)} {state} {s}, which is {'active' if s in active else 'not active'}"
    return OK if held else None


def anchors_fresh(ledger: Ledger, states: States, seen: Seen) -> Answer:
    """Every anchor is on the primary path to the subscriber, at the radius or, if that is nearer, the home itself."""
    radius, exercised = ledger.parameters.radius, False
    try:
        overlay = _primary(states)
    except OverlayError as error:
        return f"the primary links are no tree: {error}"
    for node, tables in _brokers(states):
        for s, anchor in tables.subs:
            expected = anchor_of(overlay, node, ledger.home(s.rank, seen.done), radius)
            if anchor != expected:
                return f"at {ledger.name(node)} the anchor of {s} is b{anchor}; in a fresh network it is b{expected}"
            exercised = exercised or anchor != node
    return OK if exercised else None


def maps_fresh(ledger: Ledger, states: States) -> Answer:
    """Neighbours agree on who is one, the primary links are a tree, and every map is the neighbourhood in it."""
    claimed = {(node, n) for node, tables in _brokers(states) for n in tables.master.neighbours(node)}
    for near, far in sorted(claimed):
        if (far, near) not in claimed:
            return f"{ledger.name(near)} has {ledger.name(far)} for a neighbour, but not the other way round"
    try:
        overlay = _primary(states)
    except OverlayError as error:
        return f"the primary links are no tree: {error}"
    for node, tables in _brokers(states):
        expected = neighbourhood(overlay, node, ledger.parameters.radius)
        if tables.master.edges != expected:
            return f"{ledger.name(node)} knows the links {tables.master.edges}; in a fresh network {expected}"
    return OK


def own_map_is_tree(ledger: Ledger, node: Node, tables: MeshTables) -> Answer:
    """At every moment each broker's map is a tree around it."""
    edges = tables.master.edges
    if len(tables.master.brokers) != len(edges) + 1 or len({b for e in edges for b in e} | {node}) != len(edges) + 1:
        return f"the map of {ledger.name(node)} is no tree: {edges}"
    return OK if tables.ring else None


def move_ends(ledger: Ledger, states: States, queues: Queues = NO_CHANNELS) -> Answer:
    """A move of which no message is on its way has ended everywhere, and no other one waits for it."""
    if any(is_control(message) or isinstance(message, Down) for queue in queues.values() for message in queue):
        return None
    for node, tables in _brokers(states):
        if tables.ring or tables.target != LOCAL:
            return f"{ledger.name(node)} takes part in a move of which no message is on its way"
    asked = [each for each in states.values() if isinstance(each, Coordinator) and each.asked]
    if asked:
        return f"the coordinator takes {asked[0].asked} to be moving, and no message of a move is on its way"
    return OK if ledger.parameters.moves else None


def refused_stays(ledger: Ledger, states: States) -> Answer:
    """Where every move is refused, the primary network is the instance's at every moment."""
    chosen = ledger.parameters
    if not chosen.moves or not {to for _, to in chosen.moves} <= set(chosen.refuses):
        return None
    for node, tables in _brokers(states):
        if tables.master != MasterMap.of(ledger.instance.overlay, node, chosen.radius):
            return f"{ledger.name(node)} has another map, and no move was accepted"
    return OK if any(tables.ring for _, tables in _brokers(states)) else None


def _brokers(states: States) -> list[tuple[Node, MeshTables]]:
    return [(node, tables) for node, tables in states.items() if isinstance(tables, MeshTables)]


def _primary(states: States) -> Overlay:
    """The primary network, as each broker knows its own links."""
    return Overlay.of({(min(node, n), max(node, n)) for node, t in _brokers(states) for n in t.master.neighbours(node)})


def no_way_back(ledger: Ledger, channel: Link, queue: Queue) -> Answer:
    """No publication is sent to a broker that it has passed, or over which it was sent, where no broker moves."""
    if ledger.parameters.moves:
        return None
    ways = [(m.publication, m.header.way) for m in queue if isinstance(m, Publish) and isinstance(m.header, Passed)]
    for publication, way in ways:
        if channel[1] in way or len(set(way)) < len(way):
            passed = ", ".join(f"b{b}" for b in way)
            return f"{publication} is on its way to {ledger.name(channel[1])}, and has passed {passed}"
    return OK if any(len(way) > 1 for _, way in ways) else None


def within_fanout(ledger: Ledger, node: Node, tables: MeshTables) -> Answer:
    """No broker chooses more soft links than its fan-out leaves, or more candidates than it may have."""
    chosen = ledger.parameters
    if not chosen.rounds or chosen.opens or chosen.moves:
        return None
    room = max(0, chosen.fanout - len(ledger.instance.overlay.neighbours(node)))
    if len(tables.soft) > room or len(tables.candidates) > chosen.maxlinks - chosen.fanout:
        return f"{ledger.name(node)} has the soft links {tables.soft} and the candidates {tables.candidates}"
    return OK if tables.soft or tables.candidates else None


def links_in_map(ledger: Ledger, node: Node, tables: MeshTables) -> Answer:
    """Soft links and candidates lead to brokers of the map that are no neighbours, and none is both."""
    master = tables.master
    for end in (*tables.soft, *tables.candidates):
        if end not in master.brokers or master.distance(end) < 2:
            return f"{ledger.name(node)} has a link to b{end}, which is out of its map or a neighbour"
    if both := set(tables.soft) & set(tables.candidates):
        return f"{ledger.name(node)} has links to {both} that are soft links and candidates"
    return OK if tables.soft or tables.candidates else None


def some_promotion(ledger: Ledger, node: Node, tables: MeshTables) -> Answer:
    """A broker has a soft link that it chose itself."""
    listed = {far for near, far in (*ledger.parameters.soft, *ledger.parameters.opens) if near == node}
    return OK if set(tables.soft) - listed else None


def some_move(ledger: Ledger, states: States) -> Answer:
    """A broker has moved: the primary network is not the one of the instance."""
    links = {(min(node, n), max(node, n)) for node, t in _brokers(states) for n in t.master.neighbours(node)}
    return OK if links != set(ledger.instance.overlay.edges) else None


def some_second_copy(ledger: Ledger, node: Node, tables: MeshTables) -> Answer:
    """A mover has handled a publication while it moves."""
    return OK if tables.seen else None


def some_soft_hop(ledger: Ledger, channel: Link, queue: Queue) -> Answer:
    """A publication travels on a soft link."""
    is_soft = channel not in ledger.instance.overlay.links
    return OK if is_soft and any(isinstance(m, Publish) for m in queue) else None


MESHED = variants("mesh", ("none",))

PROPERTIES_OF_MESH = (
    Property.of("Everywhere", "always", "node", MESHED, everywhere, ("local", "done")),
    Property.of("AnchorsFresh", "always", "world", MESHED, anchors_fresh, ("locals", "done"), quiet=True),
    Property.of("MapsFresh", "always", "world", MESHED, maps_fresh, ("locals",), quiet=True),
    Property.of("OwnMapIsTree", "always", "node", MESHED, own_map_is_tree, ("local",), quiet=False),
    Property.of("MoveEnds", "always", "world", MESHED, move_ends, ("locals", "queues"), quiet=False),
    Property.of("RefusedStays", "always", "world", MESHED, refused_stays, ("locals",), quiet=False),
    Property.of("NoWayBack", "always", "channel", MESHED, no_way_back, ("queue",), quiet=False),
    Property.of("WithinFanout", "always", "node", MESHED, within_fanout, ("local",), quiet=False),
    Property.of("LinksInMap", "always", "node", MESHED, links_in_map, ("local",), quiet=False),
    Property.of("SomePromotion", "sometimes", "node", MESHED, some_promotion, ("local",), quiet=False),
    Property.of("SomeBrokerMoved", "sometimes", "world", MESHED, some_move, ("locals",), quiet=True),
    Property.of("SomeMoverHandles", "sometimes", "node", MESHED, some_second_copy, ("local",), quiet=False),
    Property.of("SomeSoftHop", "sometimes", "channel", MESHED, some_soft_hop, ("queue",), quiet=False),
)

RULES = Rule.table(
    "mesh",
    ("MESH-1", "the master map is the neighbourhood", "002 3", False),
    ("MESH-2", "the working map follows from master map and links", "002 3", False),
    ("MESH-3", "brokers without a link are merged into nearer ones", "002 3", False),
    ("MESH-4", "the array is sorted by distance", "002 3", False),
    ("MESH-5", "between, beyond, behind", "002 3", False),
    ("SUB-1", "subscriptions go everywhere, on primary links", "002 4"),
    ("SUB-2", "the anchor of a local subscription", "002 4"),
    ("SUB-3", "the anchor moves along", "002 4"),
    ("SUB-5", "the working table follows from the working map", "002 4"),
    ("SUB-6", "covering, one end at a time", "002 4"),
    ("FWD-1", "match, then compute paths", "002 5"),
    ("FWD-2", "S0: the primary neighbours", "002 5"),
    ("FWD-3", "only downstream", "002 5"),
    ("FWD-4", "S1: what is common to the paths", "002 5"),
    ("FWD-5", "S1: the farthest of it", "002 5"),
    ("FWD-6", "S2: the nearest anchors", "002 5"),
    ("FWD-7", "SH: S1 where the uplink is loaded", "002 5"),
    ("FWD-9", "candidates are carried", "002 6"),
    ("LINK-1", "links open and close at one end", "002 6"),
    ("LINK-2", "the gain of a link", "002 6"),
    ("LINK-3", "the load factor", "002 6"),
    ("LINK-4", "loads are exchanged", "002 6"),
    ("LINK-5", "rounds under the fan-out limit", "002 6"),
    ("LINK-6", "new candidates are near busy ends", "002 6"),
    ("MOVE-1", "the coordinator lets one broker move at a time", "002 6"),
    ("MOVE-2", "prepare: no link passes over the ring", "002 6"),
    ("MOVE-3", "renew: each side learns of the other", "002 6"),
    ("MOVE-4", "the mover gets publications over both links", "002 6"),
    ("MOVE-5", "finish", "002 6"),
    ("MOVE-6", "maps and anchors after a move", "002 6"),
    ("MOVE-7", "subscriptions during a move", "ours"),
    ("MOVE-8", "from the old link to the own side only", "ours"),
    ("MOVE-9", "moves that do not take place", "ours"),
)


SPECIFICATION = Specification(
    "mesh",
    ("none",),
    properties=PROPERTIES_OF_MESH,
    rules=RULES,
    claims=(*MESH_CLAIMS, *MESH_FIGURE_CLAIMS),
    theorems="routeproof.spec.mesh.theory",
    adopts=(*LOSSLESS_DELIVERY, "SomeObligation"),
)
