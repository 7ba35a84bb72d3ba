"""The move of a broker (MOVE-1 to MOVE-8): the mover, the brokers around it, and the coordinator.

A move has a *ring*: the mover, the neighbour that it leaves, the rest of the path, and the broker that it goes to.
Three waves go from the mover to every broker near the ring: `Prepare`, `Renew` (to the other side as a `Handover`) and
`Finish`. Every broker confirms a wave to where it came from, when its own part is done and those behind it have
confirmed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise

from routeproof.impl.mesh.broker import MeshBroker, Sends
from routeproof.impl.mesh.forwarding import MasterMap
from routeproof.model.mesh.messages import (
    Anchor,
    Ask,
    CallOff,
    Confirm,
    DeclineMove,
    Edges,
    Entries,
    Finish,
    Grant,
    Handover,
    Last,
    Move,
    Prepare,
    Release,
    Renew,
    Ring,
    Snapshot,
    columns,
)
from routeproof.model.mesh.parameters import MeshParameters
from routeproof.model.mesh.state import Coordinator, MeshTables
from routeproof.model.mesh.state import MasterMap as KnownMap
from routeproof.model.messages import Message, Publication, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Link, Node
from routeproof.model.tables import by_id

Gone = Sequence[str]
"""Ids of subscriptions that were withdrawn."""


def _paired(subscriptions: Sequence[Subscription], anchors: Sequence[Node]) -> Entries:
    return tuple(zip(subscriptions, anchors, strict=True))


class MovingBroker(MeshBroker):
    """`coordinator`: its node, if a broker moves at all."""

    def __init__(
        self, node: Node, links: Iterable[Link], parameters: MeshParameters, coordinator: Node = LOCAL
    ) -> None:
        super().__init__(node, links, parameters)
        self.coordinator = coordinator
        self.target = LOCAL
        """The broker to which this one moves, or asks to."""
        self._forget_move()

    def _forget_move(self) -> None:
        self.ring: Ring = ()
        self.phase = ""
        self.parent = LOCAL
        """Where the wave came from that is not confirmed yet."""
        self.waiting: set[Node] = set()
        self.has_switched = False
        self.left = False
        """`Last` has come over the old link."""
        self.seen: set[Publication] = set()
        self.withheld: list[tuple[Subscription, Node]] = []
        """Subscriptions with anchors, and withdrawals (`LOCAL`), that the old neighbour does not have yet."""
        self.is_off = False

    @property
    def moves(self) -> bool:
        """True if this broker is the mover of a move under way."""
        return self.ring[:1] == (self.node,)

    def _across(self) -> Node:
        """The other end of the old link, where this broker is one end; `LOCAL` elsewhere."""
        if self.node not in self.ring[:2]:
            return LOCAL
        return self.ring[1] if self.moves else self.ring[0]

    def _handle(self, sender: Node, message: Message, out: Sends) -> None:
        match message:
            case Move(to):
                self._ask(to, out)
            case CallOff():
                self.is_off |= self.moves and self.phase == "prepare"  # MOVE-9
            case Grant():
                self._granted(out)
            case Prepare(ring, hops):
                self._prepare(sender, ring, hops, out)
            case Handover(ring, edges, subscriptions, anchors, gone):
                self._other_side(sender, edges, _paired(subscriptions, anchors), gone, out)
            case DeclineMove() | Snapshot() if not (self.moves and self.phase == "handover"):
                pass
            case DeclineMove():
                self._give_up(out)
            case Snapshot(edges, subscriptions, anchors):
                self._own_side(edges, _paired(subscriptions, anchors), out)
            case Renew(_, hops, edges, subscriptions, anchors, gone):
                self._renew(sender, hops, edges, _paired(subscriptions, anchors), gone, out)
            case Last():
                self.left = True
                if not self.moves:
                    out.append((sender, Confirm()))
            case Finish(_, hops):
                self._finish(sender, hops, out)
            case Confirm():
                self.waiting.discard(sender)
            case _:
                super()._handle(sender, message, out)
        if self.ring:
            self._proceed(out)

    # -- waves ---------------------------------------------------------------------------------------------------------

    def _pass_on(self, sender: Node, hops: int) -> tuple[list[Node], int]:
        """The neighbours to which a wave goes on, and how many more hops it may take from there."""
        self.parent = sender
        hops = self.parameters.radius if self.node in self.ring else hops
        onward = [n for n in self.master.neighbours if n != sender and hops]
        self.waiting.update(onward)
        return onward, hops - 1

    def _proceed(self, out: Sends) -> None:
        """Confirms a wave, or begins the next one, once everything awaited has come."""
        if self.waiting or any(self.draining.values()):
            return
        if self.moves:
            self._next_phase(out)
        elif self.parent != LOCAL:
            out.append((self.parent, Confirm()))
            self.parent = LOCAL
            if self.phase == "finish":
                self._forget_move()

    def _next_phase(self, out: Sends) -> None:
        if self.phase == "prepare":
            if self.is_off:
                self._give_up(out)
            else:
                self._hand_over(out)
        elif self.phase == "renew" and (self.left or self.parameters.cut == "confirmed"):
            self._finish(LOCAL, 0, out)
        elif self.phase == "finish":
            out.append((self.coordinator, Release()))
            self.target = LOCAL
            self._forget_move()

    # -- prepare -------------------------------------------------------------------------------------------------------

    def _ask(self, to: Node, out: Sends) -> None:
        """MOVE-1: a broker that moves, or waits for the answer, asks for nothing else."""
        if self.target == LOCAL:
            self.target = to
            out.append((self.coordinator, Ask()))

    def _granted(self, out: Sends) -> None:
        """MOVE-1: the move begins, unless it leads to a neighbour or out of the map."""
        if self.target in self.master.parent and self.target not in self.master.neighbours:
            self._prepare(LOCAL, tuple(self.master.path(self.target)), 0, out)
        else:
            self.target = LOCAL
            out.append((self.coordinator, Release()))

    def _prepare(self, sender: Node, ring: Ring, hops: int, out: Sends) -> None:
        """MOVE-2."""
        self.ring = ring
        self.phase = "prepare" if self.moves else ""
        for end in sorted({*self.soft, *self.candidates}):
            if self._passes_over_ring(end):
                self._drop(end, out, is_awaited=self.parameters.drained != "ignored")
        onward, hops = self._pass_on(sender, hops)
        out += [(neighbour, Prepare(ring, hops)) for neighbour in onward]

    def _passes_over_ring(self, end: Node) -> bool:
        if end not in self.master:
            return False  # the link should have been closed in an earlier move: readings `path` and `mover`
        path = self.master.path(end)
        if self.parameters.dropped == "mover":
            return self.ring[0] in path[1:-1]
        closed = self.ring if self.parameters.dropped == "path" else (*self.ring, self.ring[0])
        ring = {frozenset(link) for link in pairwise(closed)}
        return any(frozenset(link) in ring for link in pairwise(path))

    def _open(self, to: Node, out: Sends) -> None:
        if self.ring and to in self.master and self._passes_over_ring(to):
            return  # MOVE-2
        super()._open(to, out)

    def _review(self, out: Sends) -> None:
        if not self.ring:  # LINK-5
            super()._review(out)

    # -- renew ---------------------------------------------------------------------------------------------------------

    def _hand_over(self, out: Sends) -> None:
        """MOVE-3: the mover's side, for the new neighbour."""
        self.phase = "handover"
        own = [(s, a) for s, a in self.subscriptions if not self._is_across(a)]
        entries = [(s, self.adjusted(a)) for s, a in own]
        gone = tuple(s.id for s, anchor in self.withheld if anchor == LOCAL)
        out.append((self.target, Handover(self.ring, self._side(), *columns(entries), gone)))
        self.waiting.add(self.target)

    def _is_across(self, anchor: Node) -> bool:
        """True if an anchor of the mover is on the side that it leaves."""
        return anchor != self.node and self.master.branch(anchor) == self.ring[1]

    def _side(self) -> Edges:
        """The links of the map on this broker's side of the old link."""
        old = frozenset(self.ring[:2])
        side = {self.node}
        for far, near in self.master.parent.items():
            if near in side and {far, near} != old:
                side.add(far)
        return tuple(link for link in self.master.edges if side.issuperset(link))

    def _other_side(self, sender: Node, edges: Edges, entries: Entries, gone: Gone, out: Sends) -> None:
        """MOVE-3 at the new neighbour: tells of its side, takes over the mover's, and passes it on."""
        if self._refuses:
            out.append((sender, DeclineMove()))
            return
        handed = {*(s.id for s, _ in entries), *gone}
        own = [(s, self.adjusted(a)) for s, a in self.subscriptions if s.id not in handed]
        out.append((sender, Snapshot(self._side(), *columns(own))))
        self._renew(sender, 0, edges, entries, gone, out)

    def _own_side(self, edges: Edges, entries: Entries, out: Sends) -> None:
        """MOVE-3 at the mover: the other side as its new neighbour has it."""
        handed = {s for s, _ in entries}
        gone = [s.id for s, anchor in self.subscriptions if self._is_across(anchor) and s not in handed]
        self.phase = "renew"
        self.withheld = []
        self._renew(self.target, 0, edges, entries, gone, out)
        self.waiting.add(self.ring[1])  # confirms `Last`

    def _renew(self, sender: Node, hops: int, edges: Edges, entries: Entries, gone: Gone, out: Sends) -> None:
        """MOVE-6, and MOVE-3's wave."""
        known = {s for s, _ in self.subscriptions}
        new, lost = {s for s, _ in entries} - known, [s for s in sorted(known, key=by_id) if s.id in gone]
        self._switch(edges, entries, lost)
        if self.node in self.ring[:2]:
            out.append((self._across(), Last()))  # MOVE-4
        onward, hops = self._pass_on(sender, hops)
        adjusted = tuple((s, self.adjusted(anchor)) for s, anchor in entries)
        for neighbour in self.master.neighbours:
            if neighbour in onward:
                out.append((neighbour, Renew(self.ring, hops, edges, *columns(adjusted), tuple(gone))))
            elif neighbour != sender:
                out += [(neighbour, Subscribe(s, Anchor(anchor))) for s, anchor in adjusted if s in new]
                out += [(neighbour, Unsubscribe(s)) for s in lost]

    def _switch(self, edges: Edges, entries: Entries, gone: Sequence[Subscription]) -> None:
        mover, old, target = self.ring[0], self.ring[1], self.ring[-1]
        links = {frozenset(link) for link in (*self.master.edges, *edges, (mover, target))} - {frozenset((mover, old))}
        self.master = MasterMap(self.node, [(min(link), max(link)) for link in links], self.parameters.radius)
        for subscription in gone:
            self.subscriptions.drop(subscription)
        for subscription, anchor in entries:
            self.subscriptions.put(subscription, anchor)
        self._view = None
        self.has_switched = True

    def _finish(self, sender: Node, hops: int, out: Sends) -> None:
        """MOVE-5."""
        self.phase = "finish"
        if not self.moves:
            self.left = False
        onward, hops = self._pass_on(sender, hops)
        out += [(neighbour, Finish(self.ring, hops)) for neighbour in onward]

    # -- what goes on meanwhile ----------------------------------------------------------------------------------------

    def _subscribe(self, sender: Node, subscription: Subscription, anchor: Node, out: Sends) -> None:
        if not self._is_late(sender):
            super()._subscribe(sender, subscription, anchor, out)
            self._withhold(sender, subscription, self.adjusted(anchor))

    def _unsubscribe(self, sender: Node, subscription: Subscription, out: Sends) -> None:
        if self._is_late(sender):
            return
        super()._unsubscribe(sender, subscription, out)
        self._withhold(sender, subscription, LOCAL)

    def _withhold(self, sender: Node, subscription: Subscription, anchor: Node) -> None:
        """MOVE-9: what the old neighbour gets if the move does not take place."""
        if self._is_withholding and sender != self.ring[1]:
            self.withheld.append((subscription, anchor))

    @property
    def _is_withholding(self) -> bool:
        return self.moves and not self.has_switched and self.phase != "finish" and self.parameters.control != "sent"

    def _is_late(self, sender: Node) -> bool:
        """MOVE-7: a mover that has switched hears of the other side from its new neighbour only."""
        if self._refuses and sender != LOCAL and sender not in self.master.neighbours:
            return True  # MOVE-9: from a mover that it did not take
        return self.moves and self.has_switched and sender == self.ring[1]

    @property
    def _refuses(self) -> bool:
        return self.node in self.parameters.refuses

    def _give_up(self, out: Sends) -> None:
        """MOVE-9: the mover stays. Its old neighbour gets what was withheld, and the last wave ends the move."""
        for subscription, anchor in self.withheld:
            is_gone = anchor == LOCAL
            told = Unsubscribe(subscription) if is_gone else Subscribe(subscription, Anchor(anchor))
            out.append((self.ring[1], told))
        self.withheld = []
        self.waiting.clear()
        self._finish(LOCAL, 0, out)

    def _told(self, sender: Node) -> list[Node]:
        """MOVE-7: before it switches, the mover sends nothing over its old link; it is for the new neighbour."""
        told = super()._told(sender)
        if not self._is_withholding:
            return told
        if self.phase == "handover" and sender != self.ring[1]:
            told.append(self.target)
        return [neighbour for neighbour in told if neighbour != self.ring[1]]

    def _takes(self, sender: Node) -> bool:
        """MOVE-4: the old link is a connection until `Last` has come over it."""
        is_old_link = sender != LOCAL and sender == self._across() and not self._is_cut
        return is_old_link or super()._takes(sender)

    @property
    def _is_cut(self) -> bool:
        cut = self.parameters.cut
        return self.left or cut == "switched" or (cut == "confirmed" and self.phase == "finish")

    def _publish(self, sender: Node, publication: Publication, way: Sequence[Node], out: Sends) -> None:
        """MOVE-4, MOVE-8: what comes over the old link counts as having passed the new neighbour."""
        if self.moves and self._takes(sender):
            if publication in self.seen:
                return
            self.seen.add(publication)
            if sender == self.ring[1] and self.parameters.entering == "inward":
                way = (*way, self.target)
        super()._publish(sender, publication, way, out)

    def tables(self) -> MeshTables:
        """The state as the model has it."""
        return MeshTables(
            master=KnownMap(self.node, self.master.edges),
            soft=tuple(sorted(self.soft)),
            candidates=tuple(sorted(self.candidates)),
            subs=tuple(self.subscriptions),
            incoming=tuple(sorted(self.incoming)),
            is_loaded=self.is_loaded,
            sent=tuple(sorted(self.profile.sent.items())),
            loads=tuple(sorted(self.profile.loads.items())),
            target=self.target,
            ring=self.ring,
            phase=self.phase,
            parent=self.parent,
            waiting=tuple(sorted(self.waiting)),
            draining=tuple(sorted(self.draining.elements())),
            left=self.left,
            seen=tuple(sorted(self.seen, key=lambda each: each.rank)),
            withheld=tuple(self.withheld),
            is_off=self.is_off,
        )


class MoveCoordinator:
    """MOVE-1: one broker moves at a time. Those that ask meanwhile wait in the order in which they asked."""

    def __init__(self) -> None:
        self._asked: deque[Node] = deque()
        """The first one moves."""

    def receive(self, sender: Node, message: Message) -> Sends:
        match message:
            case Ask():
                self._asked.append(sender)
                return [(sender, Grant())] if len(self._asked) == 1 else []
            case Release():
                self._asked.popleft()
                return [(self._asked[0], Grant())] if self._asked else []
        raise TypeError(f"the coordinator of moves cannot receive {message!r}")

    def tables(self) -> Coordinator:
        return Coordinator(tuple(self._asked))
