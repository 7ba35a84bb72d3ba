"""The reference broker: the routing core of `spec/routing.md`, by indexes that are kept up to date with each message.

`Broker` is one broker without input or output of its own: a message in, messages out. A driver carries them.

    broker = Broker(2, (1, 3), "active")
    for receiver, message in broker.receive(1, Subscribe(subscription)):
        ...  # carry it to that neighbour, or, where the receiver is LOCAL, hand it to a client

The code that connects brokers must make the overlay a tree (RTE-1).

An `Outbox` has the messages of one step, in the order in which they are sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from attrs import Factory, define

from routeproof.impl import Implementation, Own
from routeproof.impl.index import Candidates, Matching
from routeproof.impl.index.covering import Settlement
from routeproof.impl.index.profile import ProfiledSubscription, profile_of, spans_of
from routeproof.impl.observers import Counters
from routeproof.impl.simulator import Costs
from routeproof.model.instance import POLICIES
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables, by_id

Sends: TypeAlias = list[tuple[Node, Message]]
"""(receiver, message); what the receiver `LOCAL` gets is for a client of this broker."""


@define
class Outbox:
    """Filled by one step, then sealed."""

    sends: Sends = Factory(list)

    def send(self, receiver: Node, message: Message) -> None:
        self.sends.append((receiver, message))

    def settle(self, neighbour: Node, settlement: Settlement) -> None:
        """COV-8: additions before removals, or a publication handled in between is lost."""
        self.sends += [(neighbour, Subscribe(entry.subscription)) for entry in settlement.additions]
        self.sends += [(neighbour, Unsubscribe(entry.subscription)) for entry in settlement.removals]

    def sealed(self) -> Sends:
        return self.sends


@define
class PackingOutbox(Outbox):
    """COV-7: what a step sends to a neighbour travels in one message, its withdrawals in another one after it."""

    _additions: dict[Node, list[Subscription]] = Factory(dict)
    _removals: dict[Node, list[Subscription]] = Factory(dict)

    def settle(self, neighbour: Node, settlement: Settlement) -> None:
        for entries, packed in ((settlement.additions, self._additions), (settlement.removals, self._removals)):
            if entries:
                packed.setdefault(neighbour, []).extend(entry.subscription for entry in entries)

    def sealed(self) -> Sends:
        for neighbour, subscriptions in self._additions.items():
            self.send(neighbour, PackedSubscribe(tuple(subscriptions)))
        for neighbour, subscriptions in self._removals.items():
            self.send(neighbour, PackedUnsubscribe(tuple(subscriptions)))
        return self.sends


class Broker:
    """Starts with empty tables."""

    policies: ClassVar[Sequence[str]] = POLICIES

    def __init__(self, node: Node, neighbours: Sequence[Node], policy: str) -> None:
        if policy not in self.policies:
            raise ValueError(f"policy {policy!r} is unknown; expected one of {', '.join(self.policies)}")
        if LOCAL in neighbours or node in neighbours or len(set(neighbours)) < len(neighbours):
            raise ValueError(f"b{node} cannot have the neighbours {named(neighbours)}")
        self.node = node
        self.neighbours = tuple(sorted(neighbours))
        self.policy = policy
        self.counters = Counters()
        self._empty()

    def _empty(self) -> None:
        self._advs: dict[Advertisement, Node] = {}
        self._subs: dict[Subscription, ProfiledSubscription] = {}
        self._matching = Matching((LOCAL, *self.neighbours))
        self._candidates: Mapping[Node, Candidates] = {n: Candidates(self.policy) for n in self.neighbours}

    def receive(self, sender: Node, message: Message) -> Sends:
        """One step: handle a message from a neighbour, or from `LOCAL`: a client's operation."""
        if sender != LOCAL and sender not in self._candidates:
            raise ValueError(f"b{self.node} has no neighbour b{sender}; expected one of {named(self.neighbours)}")
        out = self._outbox()
        self._handle(sender, message, out)
        sends = out.sealed()
        self.counters.step(message, sends)
        return sends

    def _outbox(self) -> Outbox:
        """An empty outbox, for one step."""
        return PackingOutbox() if self.policy == "packing" else Outbox()

    def _handle(self, sender: Node, message: Message, out: Outbox) -> None:
        match message:
            case Publish(publication):
                self._publish(sender, publication, message, out)
            case Subscribe(subscription):
                self._subscribe(sender, subscription, out)
            case Unsubscribe(subscription):
                self._unsubscribe(sender, subscription, out)
            case PackedSubscribe(subscriptions):  # COV-7: one after the other, within one step
                for subscription in subscriptions:
                    self._subscribe(sender, subscription, out)
            case PackedUnsubscribe(subscriptions):
                for subscription in subscriptions:
                    self._unsubscribe(sender, subscription, out)
            case Advertise(advertisement):
                self._advertise(sender, advertisement, message, out)
            case Unadvertise(advertisement):
                self._unadvertise(sender, advertisement, message, out)
            case _:
                raise TypeError(f"b{self.node} cannot receive {message!r}")

    def _advertise(self, sender: Node, advertisement: Advertisement, message: Advertise, out: Outbox) -> None:
        if advertisement in self._advs:
            return  # RTE-8
        self._advs[advertisement] = sender  # RTE-2
        self._flood(message, sender, out)
        if sender != LOCAL:
            profile = profile_of(advertisement.filter)
            self._candidates[sender].advertise(profile, self._matching.overlapping(profile, besides=sender))
            self._settle(sender, out)  # RTE-4

    def _unadvertise(self, sender: Node, advertisement: Advertisement, message: Unadvertise, out: Outbox) -> None:
        if self._advs.get(advertisement) != sender:
            return  # RTE-8
        del self._advs[advertisement]  # RTE-7
        self._flood(message, sender, out)
        if sender != LOCAL:
            self._candidates[sender].unadvertise(profile_of(advertisement.filter))
            self._settle(sender, out)

    def _subscribe(self, sender: Node, subscription: Subscription, out: Outbox) -> None:
        entry = self._subs.get(subscription)
        if entry is None:  # RTE-3
            entry = self._subs[subscription] = ProfiledSubscription(
                subscription, profile_of(subscription.filter), sender
            )
            self._matching.add(entry)
            for neighbour, candidates in self._candidates.items():
                if neighbour != sender:
                    candidates.subscribe(entry)
        elif entry.source != sender:
            self._move(entry, sender)
        self._settle_all(out)

    def _move(self, entry: ProfiledSubscription, source: Node) -> None:
        """RTE-3: it comes from elsewhere now. Only for the two neighbours concerned may that make a difference."""
        former = entry.source
        self._matching.remove(entry)
        entry.source = source
        self._matching.add(entry)
        if source != LOCAL:
            self._candidates[source].unsubscribe(entry)
        if former != LOCAL:
            self._candidates[former].subscribe(entry)

    def _unsubscribe(self, sender: Node, subscription: Subscription, out: Outbox) -> None:
        entry = self._subs.get(subscription)
        if entry is None or entry.source != sender:
            return  # RTE-8
        self._drop(entry)
        for neighbour, candidates in self._candidates.items():
            if neighbour != sender:
                candidates.unsubscribe(entry)
        self._settle_all(out)

    def _drop(self, entry: ProfiledSubscription) -> None:
        del self._subs[entry.subscription]  # RTE-6
        self._matching.remove(entry)

    def _publish(self, sender: Node, publication: Publication, message: Publish, out: Outbox) -> None:
        """RTE-5: once a hop, never back."""
        spans = spans_of(publication.event)
        for neighbour in self.neighbours:
            if neighbour != sender and self._matching.any_from(neighbour, publication.event, spans):
                out.send(neighbour, message)
        local = self._matching.all_from(LOCAL, publication.event, spans)
        out.sends += [(LOCAL, Deliver(publication, entry.subscription)) for entry in local]

    def _flood(self, message: Message, sender: Node, out: Outbox) -> None:
        for neighbour in self.neighbours:
            if neighbour != sender:
                out.send(neighbour, message)

    def _settle_all(self, out: Outbox) -> None:
        for neighbour in self.neighbours:
            self._settle(neighbour, out)

    def _settle(self, neighbour: Node, out: Outbox) -> None:
        out.settle(neighbour, self._candidates[neighbour].settle())

    @property
    def table_size(self) -> int:
        """How many subscriptions there are."""
        return len(self._subs)

    def tables(self) -> Tables:
        advs = sorted(self._advs.items(), key=lambda item: by_id(item[0]))
        subs = sorted(self._subs.values(), key=lambda entry: entry.key)
        told = [(neighbour, candidates.sent()) for neighbour, candidates in self._candidates.items()]
        return Tables(
            tuple(advs),
            tuple((entry.subscription, entry.source) for entry in subs),
            tuple((u, tuple(sorted((e.subscription for e in sent), key=by_id))) for u, sent in told if sent),
        )

    def restore(self, tables: Tables) -> None:
        """Know what `tables` says and nothing else. They are those of a broker under this policy, after some step."""
        self._empty()
        self._advs = dict(tables.advs)
        for subscription, source in tables.subs:
            entry = ProfiledSubscription(subscription, profile_of(subscription.filter), source)
            self._subs[subscription] = entry
            self._matching.add(entry)
        for neighbour, candidates in self._candidates.items():
            elsewhere = self._pool(neighbour, tables)
            told = tables.sent_to(neighbour)
            settled = all(s in elsewhere for s in told) and candidates.restore(
                (profile_of(adv.filter) for adv, source in tables.advs if source == neighbour),
                (elsewhere.pop(s) for s in told),
                elsewhere.values(),
            )
            if not settled:
                self._empty()
                raise ValueError(f"what was sent to {neighbour} is not what the policy {self.policy} wants sent")

    def _pool(self, neighbour: Node, tables: Tables) -> dict[Subscription, ProfiledSubscription]:
        """Subscriptions that `tables` may say were sent to a neighbour."""
        return {s: entry for s, entry in self._subs.items() if entry.source != neighbour}


def named(nodes: Iterable[Node]) -> str:
    return ", ".join("a client" if node == LOCAL else f"b{node}" for node in nodes)


def make(node: Node, neighbours: Sequence[Node], policy: str, own: Own) -> Broker:
    if own:
        raise ValueError(f"the policy {policy} has no parameters; found {', '.join(own)}")
    return Broker(node, neighbours, policy)


IMPLEMENTATION = Implementation("routing", POLICIES, make, costs=Costs.measured)
