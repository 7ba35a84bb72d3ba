"""Messages of the mesh: what it adds to subscriptions and publications, and the operations on a broker's own links."""

from __future__ import annotations

from attrs import frozen

from routeproof.model.fields import Node
from routeproof.model.messages import Header, Message


@frozen(cache_hash=True)
class Anchor(Header):
    """SUB-3: the broker toward which the receiver sends what matches the subscription."""

    anchor: Node


@frozen(cache_hash=True)
class Way(Header):
    """FWD-3: the brokers that a publication has passed, in order, without the receiver."""

    way: tuple[Node, ...] = ()


@frozen(cache_hash=True)
class Open(Message):
    """LINK-1: this broker opens a soft link, or adds a candidate, to that one. Nobody else takes part."""

    kind = "open"
    control = False
    by = "driver"

    to: Node


@frozen(cache_hash=True)
class Close(Message):
    """LINK-1: this broker drops its soft link or candidate to that one."""

    kind = "close"
    control = False
    by = "driver"

    to: Node


@frozen(cache_hash=True)
class Up(Message):
    """The first message on a soft link: the connection stands (LINK-1)."""

    kind = "up"
    control = False


@frozen(cache_hash=True)
class Down(Message):
    """The last message on a soft link: the connection is closed behind it (LINK-1)."""

    kind = "down"
    control = False


@frozen(cache_hash=True)
class Load(Message):
    """FWD-7: the broker's uplink is above the threshold from now on, or below it."""

    kind = "load"
    control = False
    by = "driver"

    high: bool


MESH = (Open, Close, Up, Down, Load)
