"""The reference broker of dissemination on trees (`spec/trees.md`): an index of subscriptions for each tree it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from routeproof.impl.index import Matching
from routeproof.impl.index.profile import ProfiledSubscription, profile_of, spans_of
from routeproof.impl.observers import Counters
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
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import by_id
from routeproof.model.trees.vocabulary import (
    READINGS,
    Acknowledge,
    Commit,
    Delete,
    EndMark,
    Insert,
    Install,
    Stamp,
    TornDown,
    TreeBroker,
    TreeParameters,
    TreeTable,
)

Sends = list[tuple[Node, Message]]
"""(receiver, message); what the receiver `LOCAL` gets is for a client of this broker."""

Place = tuple[int, int]
"""An epoch and the number of a tree."""


class TreeIndex:
    """One tree of one strategy at one broker: its links there, its subscriptions, and the markers that have come."""

    def __init__(self, links: Iterable[Node]) -> None:
        self.links = tuple(sorted(links))
        self.marked: set[Node] = set()
        self.entries: dict[Subscription, ProfiledSubscription] = {}
        self._matching = Matching((LOCAL, *self.links))

    def put(self, subscription: Subscription, hop: Node) -> None:
        self.drop(subscription)
        entry = self.entries[subscription] = ProfiledSubscription(subscription, profile_of(subscription.filter), hop)
        self._matching.add(entry)

    def drop(self, subscription: Subscription) -> None:
        entry = self.entries.pop(subscription, None)
        if entry is not None:
            self._matching.remove(entry)

    def matching(self, publication: Publication) -> tuple[list[Node], list[ProfiledSubscription]]:
        """NET-4: the neighbours that want it, and the entries of local clients that match."""
        event, spans = publication.event, spans_of(publication.event)
        onward = [hop for hop in self.links if self._matching.any_from(hop, event, spans)]
        return onward, self._matching.all_from(LOCAL, event, spans)

    def waits_for(self, neighbour: Node) -> bool:
        """SWAP-4: True if a marker to that neighbour must wait for one from another neighbour."""
        return bool(set(self.links) - self.marked - {neighbour})

    @property
    def is_drained(self) -> bool:
        return self.marked >= set(self.links)


class TreeRoutingBroker:
    """`trees`: the broker's links in each tree of the first strategy."""

    def __init__(
        self, node: Node, trees: Sequence[Iterable[Node]], coordinator: Node, readings: TreeParameters
    ) -> None:
        if any(getattr(readings, name) != READINGS[name][0] for name in ("looked", "torn", "leaves", "dropped")):
            raise ValueError("brokers that look copies up otherwise, or drop tables earlier, are not implemented")
        self.node, self.coordinator, self.readings = node, coordinator, readings
        self.counters = Counters()
        self.epoch = 0
        self.indexes: dict[Place, TreeIndex] = {(0, n): TreeIndex(links) for n, links in enumerate(trees, 1)}
        self.clients: set[Subscription] = set()

    def receive(self, sender: Node, message: Message) -> Sends:
        """One step: handle a message from another node, or from `LOCAL`: a client's operation."""
        out: Sends = []
        self._handle(sender, message, out)
        self.counters.step(message, out)
        return out

    def _handle(self, sender: Node, message: Message, out: Sends) -> None:
        match message:
            case Publish(publication, Stamp() as stamp):
                self._pass_on(publication, stamp, sender, out)
            case Publish(publication):
                self._publish(publication, out)
            case Subscribe(subscription):
                self.clients.add(subscription)
                out.append((self.coordinator, message))  # COORD-2
            case Unsubscribe(subscription):
                self.clients.discard(subscription)
                out.append((self.coordinator, message))
            case Insert(subscription, hops):
                self._insert(subscription, hops)
            case Delete(subscription, epochs):
                self._delete(subscription, epochs)
            case Install():
                self._install(message, out)
            case Commit(epoch):
                self._commit(epoch, out)
            case EndMark(epoch, tree):
                self._mark((epoch, tree), sender, out)
            case Advertise() | Unadvertise():
                pass  # any broker may publish on any tree
            case _:
                raise TypeError(f"b{self.node} cannot receive {message!r}")

    # -- documents -----------------------------------------------------------------------------------------------------

    def _publish(self, publication: Publication, out: Sends) -> None:
        """NET-3: onto each tree of the strategy by which it stamps."""
        for (epoch, tree), index in self.indexes.items():
            if epoch == self.epoch:
                onward, local = index.matching(publication)
                if self.readings.publisher == "floods" and (onward or local):
                    onward = list(index.links)
                self._send(publication, Stamp(epoch, tree), onward, local, out)  # SWAP-1

    def _pass_on(self, publication: Publication, stamp: Stamp, sender: Node, out: Sends) -> None:
        index = self.indexes.get((stamp.epoch, stamp.tree))  # SWAP-1
        if index is not None:
            onward, local = index.matching(publication)
            self._send(publication, stamp, [hop for hop in onward if hop != sender], local, out)

    def _send(
        self, publication: Publication, stamp: Stamp, onward: list[Node], local: list[ProfiledSubscription], out: Sends
    ) -> None:
        out += [(hop, Publish(publication, stamp)) for hop in onward]
        for entry in local:
            subscription = entry.subscription
            if subscription in self.clients and self._comes_first(subscription, stamp):
                out.append((LOCAL, Deliver(publication, subscription)))

    def _comes_first(self, subscription: Subscription, stamp: Stamp) -> bool:
        """CLUS-12: no tree with a lower number has an entry for this subscription."""
        if self.readings.parts == "each":
            return True
        before = ((stamp.epoch, tree) for tree in range(1, stamp.tree))
        return not any(subscription in self.indexes[place].entries for place in before if place in self.indexes)

    # -- subscriptions -------------------------------------------------------------------------------------------------

    def _insert(self, subscription: Subscription, hops: Iterable[tuple[int, int, Node]]) -> None:
        """COORD-4, SWAP-6."""
        for epoch, tree, hop in hops:
            index = self.indexes.get((epoch, tree))
            if index is not None:
                index.put(subscription, hop)

    def _delete(self, subscription: Subscription, epochs: Sequence[int]) -> None:
        """COORD-3, SWAP-6."""
        for (epoch, _), index in self.indexes.items():
            if epoch in epochs:
                index.drop(subscription)

    # -- a switch ------------------------------------------------------------------------------------------------------

    def _install(self, message: Install, out: Sends) -> None:
        """SWAP-2: in addition to the tables that there are."""
        for tree, links in enumerate(message.links, 1):
            self.indexes[message.epoch, tree] = TreeIndex(links)
        for subscription, hops in zip(message.subscriptions, message.hops, strict=True):
            for tree, hop in hops:
                self.indexes[message.epoch, tree].put(subscription, hop)
        out.append((self.coordinator, Acknowledge(message.epoch)))
        if self.readings.commit == "early":
            self._commit(message.epoch, out)

    def _commit(self, epoch: int, out: Sends) -> None:
        """SWAP-3, SWAP-4: from now on stamps are new, and nothing more of its own goes onto older trees."""
        former, self.epoch = self.epoch, max(self.epoch, epoch)
        for (of, tree), index in self.indexes.items():
            if former <= of < self.epoch:
                out += [(hop, EndMark(of, tree)) for hop in index.links if not index.waits_for(hop)]
        self._drop_drained(out)

    def _mark(self, place: Place, sender: Node, out: Sends) -> None:
        """SWAP-4: the marker of one neighbour may be what those to others wait for."""
        index = self.indexes.get(place)
        if index is None or sender in index.marked:
            return
        waiting = [hop for hop in index.links if index.waits_for(hop)]
        index.marked.add(sender)
        if place[0] < self.epoch:
            out += [(hop, EndMark(*place)) for hop in waiting if not index.waits_for(hop)]
        self._drop_drained(out)

    def _drop_drained(self, out: Sends) -> None:
        """SWAP-5: the tables of a strategy go together, or CLUS-12 would not see the first tree of a subscription."""
        for epoch in [each for each in self._epochs() if each < self.epoch]:
            places = [place for place in self.indexes if place[0] == epoch]
            if all(self.indexes[place].is_drained for place in places):
                for place in places:
                    del self.indexes[place]
                out.append((self.coordinator, TornDown(epoch)))

    def _epochs(self) -> list[int]:
        return sorted({epoch for epoch, _ in self.indexes})

    @property
    def table_size(self) -> int:
        """Entries in all its tables."""
        return sum(len(index.entries) for index in self.indexes.values())

    def tables(self) -> TreeBroker:
        """Its state as the model has it."""
        tables = tuple(
            TreeTable(
                epoch,
                tree,
                index.links,
                tuple(sorted(((s, e.source) for s, e in index.entries.items()), key=lambda each: by_id(each[0]))),
                tuple(sorted(index.marked)),
            )
            for (epoch, tree), index in self.indexes.items()
        )
        return TreeBroker(self.epoch, tables, tuple(sorted(self.clients, key=by_id)))
