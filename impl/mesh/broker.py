"""The reference broker of the mesh (`spec/mesh.md`): subscriptions with anchors, publications, links that come and go.

A message in, messages out; `move` adds the move of a broker. Working map and working table follow from the master
structures, and are rebuilt when a link or the master map has changed, before the next publication.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from attrs import evolve

from routeproof.impl.index.profile import spans_of
from routeproof.impl.mesh.forwarding import MasterMap, WorkingMap, copies, downstream, strategy_of
from routeproof.impl.mesh.links import LinkProfile
from routeproof.impl.mesh.tables import SubscriptionTables
from routeproof.impl.observers import Counters
from routeproof.model.mesh.messages import (
    Anchor,
    CloseLink,
    Down,
    Drained,
    Load,
    LoadReport,
    Measure,
    OpenLink,
    Passed,
    Review,
    Up,
)
from routeproof.model.mesh.parameters import MeshParameters
from routeproof.model.messages import (
    Advertise,
    Deliver,
    Message,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Link, Node

Sends = list[tuple[Node, Message]]
"""(receiver, message); what the receiver `LOCAL` gets is for a client of this broker."""


class MeshBroker:
    """`links` are those of the primary network. Only the ones in the neighbourhood are kept."""

    def __init__(self, node: Node, links: Iterable[Link], parameters: MeshParameters) -> None:
        if parameters.advance == "subscriber":
            raise ValueError("an anchor that advances toward the subscriber is not implemented")
        self.node = node
        self.parameters = parameters
        self.counters = Counters()
        self.master = MasterMap(node, links, parameters.radius)
        self.soft = {far for near, far in parameters.soft if near == node}
        self.candidates = {far for near, far in parameters.candidates if near == node}
        self.incoming = {near for near, far in parameters.soft if far == node}
        self.draining: Counter[Node] = Counter()
        """Per end of closed soft links, how many `Down` have no answer yet."""
        self.is_loaded = False
        self.subscriptions = SubscriptionTables(node)
        self.profile = LinkProfile(parameters)
        self._view: WorkingMap | None = None

    def receive(self, sender: Node, message: Message) -> Sends:
        """One step: handle a message from another node, or from `LOCAL`: a client's operation or a driver's."""
        out: Sends = []
        self._handle(sender, message, out)
        self.counters.step(message, out)
        return out

    def _handle(self, sender: Node, message: Message, out: Sends) -> None:
        match message:
            case Publish(publication, header):
                self._publish(sender, publication, header.way if isinstance(header, Passed) else (), out)
            case Subscribe(subscription, header):
                self._subscribe(sender, subscription, header.anchor if isinstance(header, Anchor) else self.node, out)
            case Unsubscribe(subscription):
                self._unsubscribe(sender, subscription, out)
            case OpenLink(to):
                self._open(to, out)
            case CloseLink(to):
                self._close(to, out)
            case Up():  # LINK-1
                self.incoming.add(sender)
            case Down():
                self.incoming.discard(sender)
                out.append((sender, Drained()))
            case Drained():
                self.draining -= Counter({sender: 1})
            case Load(high):  # FWD-7
                self.is_loaded = high
            case Measure(percent):
                self._report(LOCAL, LoadReport(self.node, percent, self.parameters.radius), out)
            case LoadReport() as report:
                self._report(sender, report, out)
            case Review():
                self._review(out)
            case Advertise() | Unadvertise():
                pass  # advertisements do not travel
            case _:
                raise TypeError(f"b{self.node} cannot receive {message!r}")

    # -- subscriptions -------------------------------------------------------------------------------------------------

    def _subscribe(self, sender: Node, subscription: Subscription, anchor: Node, out: Sends) -> None:
        """SUB-1, SUB-2."""
        self.subscriptions.put(subscription, anchor)
        for neighbour in self._told(sender):
            out.append((neighbour, Subscribe(subscription, Anchor(self.adjusted(anchor)))))

    def _unsubscribe(self, sender: Node, subscription: Subscription, out: Sends) -> None:
        if subscription in self.subscriptions:
            self.subscriptions.drop(subscription)
            out += [(neighbour, Unsubscribe(subscription)) for neighbour in self._told(sender)]

    def _told(self, sender: Node) -> list[Node]:
        """The primary neighbours to which a subscription or a withdrawal goes on."""
        return [neighbour for neighbour in self.master.neighbours if neighbour != sender]

    def adjusted(self, anchor: Node) -> Node:
        """SUB-3: the anchor for the next broker, which is farther from it by one hop."""
        if anchor == self.node or self.master.distance[anchor] < self.parameters.radius:
            return anchor
        return self.master.parent[anchor]

    # -- publications --------------------------------------------------------------------------------------------------

    def _publish(self, sender: Node, publication: Publication, way: Sequence[Node], out: Sends) -> None:
        """FWD-1 and what follows from it; a publication over a link that is closed does not arrive (LINK-1)."""
        if not self._takes(sender):
            return
        spans = spans_of(publication.event)
        view = self.working()
        allowed = downstream(view, view.everything, way)  # FWD-3, before anything is matched
        anchors = self.subscriptions.matching(publication.event, spans, allowed)
        chosen = strategy_of(self.parameters.strategy(self.node), is_loaded=self.is_loaded)(view, anchors)
        self.profile.count(view.ends(chosen))
        for end in copies(view, chosen, self.parameters.copies):
            out.append((end, Publish(publication, Passed((*way, *self._passed(end))))))
        local = self.subscriptions.local(publication.event, spans)
        out += [(LOCAL, Deliver(publication, entry.subscription)) for entry in local]

    def _takes(self, sender: Node) -> bool:
        """True if publications from there arrive."""
        return sender == LOCAL or sender in self.master.neighbours or sender in self.incoming

    def _passed(self, end: Node) -> Sequence[Node]:
        """FWD-3: the brokers that a publication passes on the way to an end."""
        return self.master.path(end)[:-1] if self.parameters.passed == "primary" else (self.node,)

    def working(self) -> WorkingMap:
        """The working map; it and the working table are rebuilt after a change (MESH-2, SUB-5)."""
        if self._view is None:
            soft, candidates = ({end for end in ends if end in self.master} for ends in (self.soft, self.candidates))
            contracted = self.parameters.distance == "contracted"
            self._view = WorkingMap(self.master, soft, candidates, contracted=contracted)
            self.subscriptions.rebuild(self._view)
        return self._view

    # -- links ---------------------------------------------------------------------------------------------------------

    def _open(self, to: Node, out: Sends) -> None:
        """LINK-1: opens a soft link; a candidate becomes one."""
        if to in self.master.parent and to not in self.master.neighbours and to not in self.soft:
            self.candidates.discard(to)
            self.soft.add(to)
            self._view = None
            out.append((to, Up()))

    def _close(self, to: Node, out: Sends) -> None:
        """LINK-1: closes a soft link, or drops a candidate."""
        self._drop(to, out, is_awaited=self.parameters.drained == "awaited")

    def _drop(self, to: Node, out: Sends, *, is_awaited: bool) -> None:
        if to in self.soft:
            self.soft.discard(to)
            self.draining[to] += is_awaited
            out.append((to, Down()))
        self.candidates.discard(to)
        self._view = None

    def _report(self, sender: Node, report: LoadReport, out: Sends) -> None:
        """LINK-4."""
        self.profile.loads[report.at] = report.percent
        if report.hops:
            onward = evolve(report, hops=report.hops - 1)
            out += [(neighbour, onward) for neighbour in self.master.neighbours if neighbour != sender]

    def _review(self, out: Sends) -> None:
        """LINK-5: one round."""
        soft, candidates = self.profile.choose(self.master, self.soft, self.candidates)
        for end in sorted(self.soft - {*soft}):
            self._close(end, out)
        for end in soft:
            if end not in self.soft:
                self._open(end, out)
        self.candidates = set(candidates)
        self._view = None

    @property
    def table_size(self) -> int:
        """How many subscriptions there are."""
        return len(self.subscriptions)
