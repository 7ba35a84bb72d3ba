"""The move of a broker: it leaves one neighbour and becomes the neighbour of another one (MOVE-1 to MOVE-9).

The *ring* is the mover, the neighbour that it leaves, and the brokers from there to the one that it goes to. A move is
three waves over the brokers within the radius of the ring: prepare, renew and finish. `spec/mesh.md` is normative.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise

from attrs import evolve

from routeproof.model.mesh.links import ManagedMesh
from routeproof.model.mesh.messages import (
    Anchor,
    Ask,
    CallOff,
    Confirm,
    DeclineMove,
    Down,
    Drained,
    Edges,
    Entries,
    Finish,
    Grant,
    Handover,
    Last,
    Move,
    OpenLink,
    Prepare,
    Release,
    Renew,
    Ring,
    Snapshot,
    columns,
    paired,
)
from routeproof.model.mesh.state import Coordinator, MasterMap, MeshTables
from routeproof.model.messages import Message, Publication, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import NOTHING_KEPT, Kept, Local, Outcome
from routeproof.model.tables import by_id


class MovingMesh(ManagedMesh):
    """The mesh, whose brokers may move."""

    name = "mesh"
    may_hold = True

    def initial(self, node: Node) -> Local:
        return super().initial(node) if node in self.overlay.brokers else Coordinator()

    def kept(self, local: Local) -> Kept:
        """A broker that takes part in a move has yet to change its tables, or may hold back what changes others'."""
        return Kept(control=True) if isinstance(local, MeshTables) and local.ring else NOTHING_KEPT

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        if isinstance(local, Coordinator):
            return self.at_coordinator(local, sender, message)
        assert isinstance(local, MeshTables)
        match message:
            case Move(to):
                return self.on_move(local, to)
            case CallOff():
                return self.on_call_off(local)
            case Grant():
                return self.on_grant(local, sender)
            case Prepare(ring, hops):
                return self.on_prepare(local, sender, ring, hops)
            case Drained():
                drained = super().handle(node, local, sender, message).local
                assert isinstance(drained, MeshTables)
                return self.settled(drained)
            case Confirm():
                return self.settled(evolve(local, waiting=_without(local.waiting, sender)))
            case Handover(ring, edges, subscriptions, anchors, gone):
                return self.on_handover(local, sender, Renew(ring, 0, edges, subscriptions, anchors, gone))
            case DeclineMove() | Snapshot() if not (self.moves(local) and local.phase == "handover"):
                return Outcome(local)  # for a mover that has forgotten its move in a crash
            case DeclineMove():
                return self.give_up(local)
            case Snapshot() as answer:
                return self.on_snapshot(local, answer)
            case Renew() as update:
                return self.on_renew(local, sender, update)
            case Last():
                return self.on_last(local, sender)
            case Finish(ring, hops):
                return self.on_finish(local, sender, ring, hops)
            case Subscribe() | Unsubscribe() if self.is_late(local, sender):
                return Outcome(local)
            case OpenLink(to) if not self.may_open(local, to):
                return Outcome(local, (), frozenset({"MOVE-2"}))
        return super().handle(node, local, sender, message)

    def may_review(self, local: MeshTables) -> bool:
        """LINK-5: no link comes or goes while a move is under way."""
        return not local.ring

    def at_coordinator(self, local: Coordinator, sender: Node, message: Hashable) -> Outcome:
        """MOVE-1: one broker moves at a time. Those that ask meanwhile wait, in the order in which they asked."""
        asked = (*local.asked, sender) if isinstance(message, Ask) else local.asked[1:]
        is_next = bool(asked) and (len(asked) == 1 or not isinstance(message, Ask))
        return Outcome(Coordinator(asked), ((asked[0], Grant()),) if is_next else (), frozenset({"MOVE-1"}))

    # -- prepare -------------------------------------------------------------------------------------------------------

    def on_move(self, local: MeshTables, to: Node) -> Outcome:
        """MOVE-1: asks the coordinator; a broker that waits for an answer asks for nothing else."""
        if local.target != LOCAL:
            return Outcome(local)
        return Outcome(evolve(local, target=to), ((self.coordinator, Ask()),), frozenset({"MOVE-1"}))

    @property
    def coordinator(self) -> Node:
        return len(self.overlay.brokers) + 1

    def on_grant(self, local: MeshTables, sender: Node) -> Outcome:
        """MOVE-2: begins the first wave; a move to a neighbour, or out of the map, does not take place."""
        master, to = local.master, local.target
        if to not in master.brokers or master.distance(to) < 2:
            return Outcome(evolve(local, target=LOCAL), ((sender, Release()),), frozenset({"MOVE-1"}))
        return self.on_prepare(evolve(local, phase="prepare"), LOCAL, master.path(to), 0)

    def on_prepare(self, local: MeshTables, sender: Node, ring: Ring, hops: int) -> Outcome:
        """MOVE-2: closes the links that pass over the ring, and waits until they are drained."""
        closed = tuple(end for end in local.soft if self.passes_over(local.master, end, ring))
        local = evolve(
            local,
            ring=ring,
            soft=tuple(end for end in local.soft if end not in closed),
            candidates=tuple(end for end in local.candidates if not self.passes_over(local.master, end, ring)),
            draining=self.awaited(local.draining, closed),
        )
        wave = [(n, Prepare(ring, left)) for n, left in self.targets(local, sender, hops)]
        return self.begun(local, sender, [n for n, _ in wave], (*((end, Down()) for end in closed), *wave), "MOVE-2")

    def passes_over(self, master: MasterMap, end: Node, ring: Ring) -> bool:
        """MOVE-2: true if the primary path under a link has a link of the ring; by the letter, the mover inside."""
        path = master.path(end) if end in master.brokers else ()
        if self.parameters.dropped == "mover":
            return ring[0] in path[1:-1]
        closed = ring if self.parameters.dropped == "path" else (*ring, ring[0])
        links = {frozenset(link) for link in pairwise(closed)}
        return any(frozenset(link) in links for link in pairwise(path))

    def awaited(self, draining: tuple[Node, ...], closed: tuple[Node, ...]) -> tuple[Node, ...]:
        """MOVE-2: the ends of links whose emptiness is waited for; by the letter none."""
        return () if self.parameters.drained == "ignored" else tuple(sorted((*draining, *closed)))

    def may_open(self, local: MeshTables, to: Node) -> bool:
        """MOVE-2: a link that would pass over the ring is not opened, nor one to a neighbour or out of the map."""
        master = local.master
        if to not in master.brokers or master.distance(to) < 2:
            return False
        return not (local.ring and self.passes_over(master, to, local.ring))

    # -- waves ---------------------------------------------------------------------------------------------------------

    def targets(self, local: MeshTables, sender: Node, hops: int) -> list[tuple[Node, int]]:
        """The neighbours to which a wave goes on, and how many more hops it may take from there."""
        left = self.parameters.radius if local.master.centre in local.ring else hops
        return [(n, left - 1) for n in self.primary_neighbours(local) if n != sender and left > 0]

    def begun(
        self, local: MeshTables, parent: Node, targets: Sequence[Node], sends: Iterable[tuple[Node, Message]], rule: str
    ) -> Outcome:
        """A wave that has come from `parent` and goes on to these neighbours."""
        local = evolve(local, parent=parent, waiting=tuple(sorted(targets)))
        after = self.settled(local)
        return Outcome(after.local, (*sends, *after.sends), after.rules | {rule})

    def settled(self, local: MeshTables) -> Outcome:
        """Once all have confirmed: confirms to where the wave came from, or begins the next one."""
        is_open = self.moves(local) or local.parent != LOCAL
        if not is_open or local.waiting or local.draining:
            return Outcome(local)
        if not self.moves(local):
            done = evolve(local, ring=()) if local.phase == "finish" else local
            return Outcome(evolve(done, parent=LOCAL, phase=""), ((local.parent, Confirm()),))
        match local.phase:
            case "prepare" if local.is_off:
                return self.give_up(local)
            case "prepare":
                return self.hand_over(local)
            case "renew" if local.left or self.parameters.cut == "confirmed":
                return self.finish(local)
            case "finish":
                over = evolve(local, ring=(), phase="", target=LOCAL, left=False, seen=(), is_off=False)
                return Outcome(over, ((self.coordinator, Release()),), frozenset({"MOVE-5"}))
        return Outcome(local)

    def moves(self, local: MeshTables) -> bool:
        """True at the mover."""
        return bool(local.ring) and local.ring[0] == local.master.centre

    # -- renew ---------------------------------------------------------------------------------------------------------

    def hand_over(self, local: MeshTables) -> Outcome:
        """MOVE-3: the mover hands its side to its new neighbour."""
        away, to = local.ring[1], local.ring[-1]
        own = tuple(e for e in local.subs if local.master.branch(e[1]) != away)
        edges = tuple(e for e in local.master.edges if not self.is_across(local.master, e, away))
        sends = ((to, Handover(local.ring, edges, *columns(self.adjusted(local, own)), local.gone)),)
        local = evolve(local, phase="handover", waiting=(to,))
        return Outcome(local, sends, frozenset({"MOVE-3"}))

    def is_across(self, master: MasterMap, edge: tuple[Node, Node], branch: Node) -> bool:
        return any(end != master.centre and master.branch(end) == branch for end in edge)

    def adjusted(self, local: MeshTables, entries: Entries) -> Entries:
        """SUB-3 for several subscriptions."""
        return tuple((s, self.anchor_for_neighbours(local, anchor)) for s, anchor in entries)

    def on_handover(self, local: MeshTables, sender: Node, update: Renew) -> Outcome:
        """MOVE-3: the new neighbour answers with its side, and begins the wave over it."""
        if self.refuses(local):
            return Outcome(local, ((sender, DeclineMove()),), frozenset({"MOVE-9"}))
        there, mover = {*(s.id for s in update.subscriptions), *update.gone}, update.ring[0]
        own = tuple(e for e in local.subs if e[0].id not in there)
        side = tuple(e for e in local.master.edges if not any(mover in local.master.path(end) for end in e))
        answer = Snapshot(side, *columns(self.adjusted(local, own)))
        after = self.on_renew(local, sender, update)
        return Outcome(after.local, ((sender, answer), *after.sends), after.rules)

    def on_renew(self, local: MeshTables, sender: Node, update: Renew) -> Outcome:
        """MOVE-3, MOVE-6: takes over maps and anchors of the other side, and passes them on."""
        known = {s for s, _ in local.subs}
        local = evolve(local, ring=update.ring, master=self.moved(local.master, update.edges, update.ring))
        for s, anchor in paired(update):
            local = local.with_sub(s, anchor)
        gone = [s for s in sorted(known, key=by_id) if s.id in update.gone]
        for s in gone:
            local = local.without_sub(s)
        passed = self.adjusted(local, paired(update))
        wave: list[tuple[Node, Message]] = []
        wave_targets = self.targets(local, sender, update.hops)
        for n, left in wave_targets:
            wave.append((n, Renew(update.ring, left, update.edges, *columns(passed), update.gone)))
        reached = {n for n, _ in wave_targets}
        for n in self.primary_neighbours(local):
            if n != sender and n not in reached:
                wave += [(n, Subscribe(s, Anchor(anchor))) for s, anchor in passed if s not in known]
                wave += [(n, Unsubscribe(s)) for s in gone]
        if local.master.centre == update.ring[1]:
            wave.append((update.ring[0], Last()))
        after = self.begun(local, sender, sorted(reached), wave, "MOVE-3")
        return evolve(after, rules=after.rules | {"MOVE-6"})

    def moved(self, master: MasterMap, edges: Edges, ring: Ring) -> MasterMap:
        """MOVE-6: the neighbourhood in the network in which the mover's link is another one."""
        old, new = ((min(ring[0], end), max(ring[0], end)) for end in (ring[1], ring[-1]))
        return MasterMap.within(master.centre, ({*master.edges, *edges} - {old}) | {new}, self.parameters.radius)

    def on_snapshot(self, local: MeshTables, answer: Snapshot) -> Outcome:
        """MOVE-3: the mover switches, hands the other side to its own side, and gives up the old link."""
        ring, away = local.ring, local.ring[1]
        there = tuple(s for s, anchor in local.subs if local.master.branch(anchor) == away)
        gone = tuple(s.id for s in there if s not in answer.subscriptions)
        to, waiting = ring[-1], local.waiting
        after = self.on_renew(local, to, Renew(ring, 0, answer.edges, answer.subscriptions, answer.anchors, gone))
        assert isinstance(after.local, MeshTables)
        switched = evolve(
            after.local, phase="renew", withheld=(), waiting=tuple(sorted({*after.local.waiting, *waiting, away}))
        )
        return Outcome(switched, (*after.sends, (away, Last())), after.rules)

    def on_last(self, local: MeshTables, sender: Node) -> Outcome:
        """MOVE-4: nothing more comes over the old link. The neighbour that was left confirms it."""
        if self.moves(local):
            return self.settled(evolve(local, left=True))
        return Outcome(evolve(local, left=True), ((sender, Confirm()),))

    # -- moves that do not take place ----------------------------------------------------------------------------------

    def refuses(self, local: MeshTables) -> bool:
        return local.master.centre in self.parameters.refuses

    def on_call_off(self, local: MeshTables) -> Outcome:
        """MOVE-9: once its side is handed over, or where it does not move, a broker cannot be called back."""
        if not (self.moves(local) and local.phase == "prepare"):
            return Outcome(local)
        return Outcome(evolve(local, is_off=True), (), frozenset({"MOVE-9"}))

    def give_up(self, local: MeshTables) -> Outcome:
        """MOVE-9: the mover stays, sends what it withheld over its old link, and ends the move there."""
        away = local.ring[1]
        told = [Unsubscribe(s) if anchor == LOCAL else Subscribe(s, Anchor(anchor)) for s, anchor in local.withheld]
        after = self.finish(evolve(local, withheld=(), waiting=()))
        return Outcome(after.local, (*((away, each) for each in told), *after.sends), after.rules | {"MOVE-9"})

    # -- while it lasts ------------------------------------------------------------------------------------------------

    def on_subscribe(self, local: MeshTables, s: Subscription, anchor: Node, sender: Node) -> Outcome:
        outcome = super().on_subscribe(local, s, anchor, sender)
        return self.withheld(outcome, sender)

    def on_unsubscribe(self, local: MeshTables, s: Subscription, sender: Node) -> Outcome:
        return self.withheld(super().on_unsubscribe(local, s, sender), sender)

    def withheld(self, outcome: Outcome, sender: Node) -> Outcome:
        """MOVE-7: once its move has begun, a mover's subscriptions go with the handover, and not over the old link."""
        local = outcome.local
        assert isinstance(local, MeshTables)
        if not self.moves(local) or local.phase not in ("prepare", "handover") or self.parameters.control == "sent":
            return outcome
        away, to = local.ring[1], local.ring[-1]
        sends = [(n, m) for n, m in outcome.sends if n != away]
        kept = [m for n, m in outcome.sends if n == away]
        if local.phase == "handover":
            sends += [(to, m) for m in kept]
        local = evolve(local, withheld=(*local.withheld, *map(self.entry, kept)))
        return Outcome(local, tuple(sends), outcome.rules | {"MOVE-7"})

    def entry(self, message: Hashable) -> tuple[Subscription, Node]:
        """A subscription with its anchor, or a withdrawal, as the mover remembers it."""
        assert isinstance(message, Subscribe | Unsubscribe)
        anchor = message.header.anchor if isinstance(message.header, Anchor) else LOCAL
        return message.subscription, anchor

    def is_late(self, local: MeshTables, sender: Node) -> bool:
        """True where a mover hears from the neighbour it left (MOVE-7), or a broker from a refused mover (MOVE-9)."""
        if self.refuses(local) and sender != LOCAL and sender not in self.primary_neighbours(local):
            return True
        is_over = sender not in self.primary_neighbours(local)
        return self.moves(local) and local.phase in ("renew", "finish") and sender == local.ring[1] and is_over

    def is_connected(self, local: MeshTables, sender: Node) -> bool:
        ends = local.ring[:2]
        is_old = local.master.centre in ends and sender in ends and not self.is_cut(local)
        return is_old or super().is_connected(local, sender)

    def is_cut(self, local: MeshTables) -> bool:
        """MOVE-4: the old link is a connection until the last message on it has come."""
        cut = self.parameters.cut
        return local.left or cut == "switched" or (cut == "confirmed" and local.phase == "finish")

    def publish(self, local: MeshTables, p: Publication, way: tuple[Node, ...], sender: Node) -> Outcome:
        """MOVE-4: a mover drops copies that it has seen."""
        if not self.moves(local):
            return super().publish(local, p, way, sender)
        if self.is_second(local, p):
            return Outcome(local, (), frozenset({"MOVE-4"}))
        local = evolve(local, seen=tuple(sorted({*local.seen, p}, key=lambda each: each.rank)))
        outcome = super().publish(local, p, way, sender)
        return evolve(outcome, rules=outcome.rules | {"MOVE-8"}) if self.is_inward(local, sender) else outcome

    def is_second(self, local: MeshTables, p: Publication) -> bool:
        return p in local.seen

    def ways(self, local: MeshTables, way: tuple[Node, ...], sender: Node) -> tuple[Node, ...]:
        """MOVE-8: what the mover gets over its old link it forwards to its own side only, as if it came over both."""
        return (*way, local.ring[-1]) if self.is_inward(local, sender) else way

    def is_inward(self, local: MeshTables, sender: Node) -> bool:
        return self.moves(local) and sender == local.ring[1] and self.parameters.entering == "inward"

    # -- wrap up -------------------------------------------------------------------------------------------------------

    def finish(self, local: MeshTables) -> Outcome:
        """MOVE-5: the last wave."""
        local = evolve(local, phase="finish")
        wave = [(n, Finish(local.ring, left)) for n, left in self.targets(local, LOCAL, 0)]
        return self.begun(local, LOCAL, [n for n, _ in wave], wave, "MOVE-5")

    def on_finish(self, local: MeshTables, sender: Node, ring: Ring, hops: int) -> Outcome:
        local = evolve(local, phase="finish", left=False)
        wave = [(n, Finish(ring, left)) for n, left in self.targets(local, sender, hops)]
        return self.begun(local, sender, [n for n, _ in wave], wave, "MOVE-5")


def _without(nodes: Iterable[Node], node: Node) -> tuple[Node, ...]:
    return tuple(each for each in nodes if each != node)
