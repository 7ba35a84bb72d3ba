"""What one step of a broker says, in the order in which it is sent."""

from __future__ import annotations

from typing import TypeAlias

from attrs import Factory, define

from routeproof.impl.covering import Settlement
from routeproof.model.messages import Message, PackedSubscribe, PackedUnsubscribe, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Node

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
