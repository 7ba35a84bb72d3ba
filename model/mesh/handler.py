"""The handler of the mesh's brokers: subscriptions on primary links, publications on all links.

`spec/mesh.md` is normative; the rule ids in comments are its headings. Small pure methods, so that a mutant (`mutants`)
is one of them replaced.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import cast

from attrs import evolve

from routeproof.model.mesh.forwarding import (
    STRATEGIES,
    Strategy,
    WorkingMap,
    carriers,
    covering_set,
    downstream,
    passed_on,
    working,
    working_map,
)
from routeproof.model.mesh.messages import Anchor, CloseLink, Down, Drained, Load, OpenLink, Passed, Up
from routeproof.model.mesh.parameters import MeshParameters
from routeproof.model.mesh.state import Ends, MasterMap, MeshTables
from routeproof.model.messages import (
    Advertise,
    Deliver,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.protocol import NOTHING_KEPT, Kept, Local, Outcome


class Mesh:
    """Brokers with neighbourhood maps, and soft links among them."""

    name = "mesh"
    may_refuse = False
    may_hold = False

    def __init__(self, overlay: Overlay, policy: str, parameters: MeshParameters) -> None:
        self.overlay, self.policy, self.parameters = overlay, policy, parameters

    def initial(self, node: Node) -> Local:
        chosen = self.parameters
        return MeshTables(
            MasterMap.of(self.overlay, node, chosen.radius),
            soft=tuple(sorted(far for near, far in chosen.soft if near == node)),
            candidates=tuple(sorted(far for near, far in chosen.candidates if near == node)),
            incoming=tuple(sorted(near for near, far in chosen.soft if far == node)),
        )

    def accepts(self, node: Node, local: Local, sender: Node, message: Hashable) -> bool:
        return True

    def kept(self, local: Local) -> Kept:
        return NOTHING_KEPT

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        assert isinstance(local, MeshTables)
        match message:
            case Subscribe(s, header):
                anchor = header.anchor if isinstance(header, Anchor) else node  # SUB-2
                return self.on_subscribe(local, s, anchor, sender)
            case Unsubscribe(s):
                return self.on_unsubscribe(local, s, sender)
            case Publish() if not self.is_connected(local, sender):
                return Outcome(local)
            case Publish(p, header):
                return self.publish(local, p, header.way if isinstance(header, Passed) else (), sender)
            case OpenLink(to):
                return self.on_open(local, to)
            case CloseLink(to):
                return self.on_close(local, to)
            case Up():
                return Outcome(evolve(local, incoming=_with(local.incoming, sender)))
            case Down():
                return Outcome(evolve(local, incoming=_without(local.incoming, sender)), ((sender, Drained()),))
            case Drained():
                return Outcome(evolve(local, draining=_without_one(local.draining, sender)))
            case Load(high):
                return Outcome(evolve(local, is_loaded=high), (), frozenset({"FWD-7"}))
            case Advertise() | Unadvertise():  # subscriptions go everywhere, so advertisements need not
                return Outcome(local)
        raise AssertionError(message)

    # -- subscriptions: on primary links only --------------------------------------------------------------------------

    def on_subscribe(self, local: MeshTables, s: Subscription, anchor: Node, sender: Node) -> Outcome:
        """SUB-1: stored with its anchor, and passed on to every other primary neighbour with an adjusted one."""
        rules = {"SUB-1", "SUB-2" if sender == LOCAL else "SUB-3"}
        told = Subscribe(s, Anchor(self.anchor_for_neighbours(local, anchor)))
        onward = tuple((n, told) for n in self.primary_neighbours(local) if n != sender)
        return Outcome(local.with_sub(s, anchor), onward, frozenset(rules))

    def on_unsubscribe(self, local: MeshTables, s: Subscription, sender: Node) -> Outcome:
        onward = tuple((n, Unsubscribe(s)) for n in self.primary_neighbours(local) if n != sender)
        return Outcome(local.without_sub(s), onward, frozenset({"SUB-1"}))

    def primary_neighbours(self, local: MeshTables) -> tuple[Node, ...]:
        return local.master.neighbours(local.master.centre)

    def anchor_for_neighbours(self, local: MeshTables, anchor: Node) -> Node:
        """SUB-3."""
        return passed_on(local.master, anchor, self.parameters.radius, self.parameters.advance)

    # -- publications --------------------------------------------------------------------------------------------------

    def publish(self, local: MeshTables, p: Publication, way: tuple[Node, ...], sender: Node) -> Outcome:
        return self.on_publish(local, p, self.ways(local, way, sender))

    def ways(self, local: MeshTables, way: tuple[Node, ...], sender: Node) -> tuple[Node, ...]:
        """The brokers that a publication counts as having passed."""
        return way

    def on_publish(self, local: MeshTables, p: Publication, way: tuple[Node, ...]) -> Outcome:
        """FWD-1: matches against the working table, computes the ends, and delivers to local clients in addition."""
        here = local.master.centre
        matching = [(s, anchor) for s, anchor in local.subs if s.filter.matches(p.event)]
        view = self.view(local)
        elsewhere = {anchor: self.working_anchor(view, anchor) for _, anchor in matching if anchor != here}
        held: dict[Node, list[Subscription]] = {}
        for s, anchor in local.subs:
            if anchor != here and (end := self.working_anchor(view, anchor)) is not None:
                held.setdefault(end, []).append(s)
        kept_by = self.covering_sets(held)
        anchors = frozenset(end for end, those in kept_by.items() if any(s.filter.matches(p.event) for s in those))
        kept = self.downstream(view, anchors, way)
        strategy = self.strategy(local)
        ends = STRATEGIES[strategy](view, kept)
        after = self.counted(local, ends)
        sends = [(to, Publish(p, Passed(self.way_to(local, way, to)))) for to in self.carriers(view, ends, local)]
        local_ones = [(LOCAL, Deliver(p, s)) for s, anchor in matching if anchor == here]
        rules = {"FWD-1"} if sends or local_ones else set()
        if ends:
            rules |= {"S0": {"FWD-2"}, "S1": {"FWD-4", "FWD-5"}, "S2": {"FWD-6"}}[strategy]
        if kept != anchors:
            rules.add("FWD-3")
        if not ends <= local.connected:
            rules.add("FWD-9")
        if any(end != anchor for anchor, end in elsewhere.items()):
            rules.add("SUB-5")
        if any(len(kept_by[end]) < len(those) for end, those in held.items()):
            rules.add("SUB-6")
        return Outcome(after, (*sends, *local_ones), frozenset(rules))

    def covering_sets(self, held: Mapping[Node, Sequence[Subscription]]) -> Mapping[Node, Sequence[Subscription]]:
        """SUB-6: by end of a link the covering set of the subscriptions that it stands for."""
        return {end: covering_set(tuple(those)) for end, those in held.items()}

    def counted(self, local: MeshTables, ends: Ends) -> MeshTables:
        """Tables with the publication counted for the ends that it is meant for."""
        return local

    def view(self, local: MeshTables) -> WorkingMap:
        """MESH-2."""
        return working_map(local.master, local.links, self.parameters.distance)

    def strategy(self, local: MeshTables) -> Strategy:
        """FWD-7: the hybrid saves its uplink where that is loaded."""
        chosen = self.parameters.strategy(local.master.centre)
        return cast(Strategy, chosen if chosen != "SH" else "S1" if local.is_loaded else "S2")

    def working_anchor(self, view: WorkingMap, anchor: Node) -> Node | None:
        return working(view, anchor)

    def downstream(self, view: WorkingMap, anchors: Ends, way: tuple[Node, ...]) -> Ends:
        return downstream(view, anchors, way)

    def carriers(self, view: WorkingMap, ends: Ends, local: MeshTables) -> tuple[Node, ...]:
        """FWD-9."""
        return carriers(view, ends, local.connected, self.parameters.copies)

    def way_to(self, local: MeshTables, way: tuple[Node, ...], to: Node) -> tuple[Node, ...]:
        """FWD-3: the brokers that the publication has passed, for the receiver."""
        if self.parameters.passed == "visited":
            return (*way, local.master.centre)
        return (*way, *local.master.path(to)[:-1])

    # -- links ---------------------------------------------------------------------------------------------------------

    def on_open(self, local: MeshTables, to: Node) -> Outcome:
        """LINK-1: a soft link from now on; a candidate is promoted."""
        local = evolve(local, soft=_with(local.soft, to), candidates=_without(local.candidates, to))
        return Outcome(local, ((to, Up()),), frozenset({"LINK-1"}))

    def on_close(self, local: MeshTables, to: Node) -> Outcome:
        """LINK-1: the link ends behind what was sent over it; a candidate ends at once."""
        if to not in local.soft:
            return Outcome(evolve(local, candidates=_without(local.candidates, to)), (), frozenset({"LINK-1"}))
        draining = tuple(sorted((*local.draining, to))) if self.parameters.drained == "awaited" else local.draining
        local = evolve(local, soft=_without(local.soft, to), draining=draining)
        return Outcome(local, ((to, Down()),), frozenset({"LINK-1"}))

    def is_connected(self, local: MeshTables, sender: Node) -> bool:
        """True if something from this sender can arrive: nothing does over a link that is closed."""
        return sender == LOCAL or sender in self.primary_neighbours(local) or sender in local.incoming


def _with(nodes: Iterable[Node], node: Node) -> tuple[Node, ...]:
    return tuple(sorted({*nodes, node}))


def _without(nodes: Iterable[Node], node: Node) -> tuple[Node, ...]:
    return tuple(each for each in nodes if each != node)


def _without_one(nodes: tuple[Node, ...], node: Node) -> tuple[Node, ...]:
    """Without one of the entries of a node that may have several."""
    at = nodes.index(node) if node in nodes else len(nodes)
    return (*nodes[:at], *nodes[at + 1 :])
