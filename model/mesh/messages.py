"""Messages of the mesh: headers of subscriptions and publications, operations on links, and the move of a broker."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from routeproof.model.fields import SubscriptionId
from routeproof.model.messages import Message, MessageHeader, Subscription
from routeproof.model.overlay import Node


@frozen(cache_hash=True)
class Anchor(MessageHeader):
    """SUB-3: the broker toward which the receiver sends what matches the subscription."""

    anchor: Node


@frozen(cache_hash=True)
class Passed(MessageHeader):
    """FWD-3: the brokers that a publication has passed, in order, without the receiver."""

    way: tuple[Node, ...] = ()


@frozen(cache_hash=True)
class OpenLink(Message, control=False, by="driver"):
    """LINK-1: this broker opens a soft link, or adds a candidate, to that one. No other broker takes part."""

    end: Node


@frozen(cache_hash=True)
class CloseLink(Message, control=False, by="driver"):
    """LINK-1: this broker drops its soft link or candidate to that one."""

    end: Node


@frozen(cache_hash=True)
class Up(Message, control=False):
    """The first message on a soft link: the connection stands (LINK-1)."""


@frozen(cache_hash=True)
class Down(Message, control=False):
    """The last message on a soft link: the connection is closed behind it (LINK-1)."""


@frozen(cache_hash=True)
class Drained(Message):
    """Answer to `Down`: everything that was sent over the soft link has been handled."""


@frozen(cache_hash=True)
class Load(Message, control=False, by="driver"):
    """FWD-7: the broker's uplink is above the threshold from now on, or below it."""

    high: bool


@frozen(cache_hash=True)
class Measure(Message, control=False, by="driver"):
    """LINK-4: the broker's load from now on, in percent."""

    percent: int


@frozen(cache_hash=True)
class LoadReport(Message, kind="report", control=False):
    """LINK-4: the load of a broker, for its neighbourhood; it may go this many hops farther from the receiver."""

    at: Node
    percent: int
    hops: int


@frozen(cache_hash=True)
class Review(Message, control=False, by="driver"):
    """LINK-5: the broker goes through its links."""


LINKS = (OpenLink, CloseLink, Up, Down, Drained, Load, Measure, LoadReport, Review)


# -- the move of a broker ----------------------------------------------------------------------------------------------

Entries = tuple[tuple[Subscription, Node], ...]
"""Subscriptions with anchors."""
Edges = tuple[tuple[Node, Node], ...]
Ring = tuple[Node, ...]
"""The mover, the neighbour that it leaves, the brokers of the path, and the one that it goes to."""


@frozen(cache_hash=True)
class Move(Message, by="driver"):
    """An operation: the broker is to leave its neighbour on the way to that one, and to become its neighbour."""

    target: Node


@frozen(cache_hash=True)
class CallOff(Message, by="driver"):
    """An operation: the broker is to stay where it is, if it is not too late (MOVE-9)."""


@frozen(cache_hash=True)
class Ask(Message):
    """Mover to coordinator: may I move?"""


@frozen(cache_hash=True)
class Grant(Message):
    """Coordinator to mover: no other move takes place until you release this."""


@frozen(cache_hash=True)
class Release(Message):
    """Mover to coordinator: the move is over, or does not take place."""


@frozen(cache_hash=True)
class Prepare(Message):
    """MOVE-2, a wave: close the links that pass over the ring, and open none."""

    ring: Ring
    hops: int


@frozen(cache_hash=True)
class Renew(Message):
    """MOVE-3, a wave: the links of the other side, and the subscriptions there with their anchors for the receiver."""

    ring: Ring
    hops: int
    edges: Edges
    subscriptions: tuple[Subscription, ...]
    anchors: tuple[Node, ...]
    """The anchor of each subscription."""
    gone: tuple[SubscriptionId, ...] = ()


@frozen(cache_hash=True)
class Finish(Message):
    """MOVE-5, a wave: the move is over."""

    ring: Ring
    hops: int


@frozen(cache_hash=True)
class Confirm(Message):
    """Back to where a wave came from: it has been carried out here and beyond."""


@frozen(cache_hash=True)
class Handover(Message):
    """Mover to its new neighbour: the ring, and the mover's side."""

    ring: Ring
    edges: Edges
    subscriptions: tuple[Subscription, ...]
    anchors: tuple[Node, ...]
    gone: tuple[SubscriptionId, ...] = ()


@frozen(cache_hash=True)
class Snapshot(Message):
    """The new neighbour to the mover: the other side."""

    edges: Edges
    subscriptions: tuple[Subscription, ...]
    anchors: tuple[Node, ...]


@frozen(cache_hash=True)
class DeclineMove(Message, kind="decline"):
    """MOVE-9: the new neighbour takes no mover."""


@frozen(cache_hash=True)
class Last(Message):
    """The last message on a primary link that is given up."""


def paired(message: Renew | Handover | Snapshot) -> Entries:
    """The subscriptions of a message with their anchors."""
    return tuple(zip(message.subscriptions, message.anchors, strict=True))


def columns(entries: Sequence[tuple[Subscription, Node]]) -> tuple[tuple[Subscription, ...], tuple[Node, ...]]:
    """The subscriptions of some entries, and their anchors."""
    return tuple(s for s, _ in entries), tuple(anchor for _, anchor in entries)


MOVE = (Move, CallOff, Ask, Grant, Release, Prepare, Renew, Finish, Confirm, Handover, Snapshot, DeclineMove, Last)

MESH = (*LINKS, *MOVE)
