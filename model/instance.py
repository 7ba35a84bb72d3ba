"""An instance: a finite question to a protocol.

`Instance` holds an overlay, the clients that are attached to it, and what may go wrong. It is what an instance file
says after every check has passed; `instance_file` reads and writes it, `world` puts it in motion. `core_operations`
lists what its clients may do, as rows that a protocol can add to.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from attrs import frozen

from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Message,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import Node, Overlay

POLICIES = ("none", "active", "lazy", "packing")

Own = tuple[tuple[str, Any], ...]
"""Content of keys of a protocol's own, in the order of keys; keys that have their default are left out."""


def own_with(own: Own, key: str, value: Any) -> Own:
    """The content with another value for a key; without the key where the value is None or empty."""
    others = [each for each in own if each[0] != key]
    return tuple(sorted(others if value in (None, ()) else [*others, (key, value)], key=lambda each: each[0]))


@frozen
class Advertiser:
    """An advertisement at its home broker."""

    advertisement: Advertisement
    at: Node
    unadvertises: bool = False
    own: Own = ()

    def section(self, key: str, default: Any = None) -> Any:
        """Content of a key that only the instance's protocol has."""
        return dict(self.own).get(key, default)


@frozen
class Subscriber:
    """A subscription at its home broker."""

    subscription: Subscription
    at: Node
    unsubscribes: bool = False
    own: Own = ()

    def section(self, key: str, default: Any = None) -> Any:
        """Content of a key that only the instance's protocol has."""
        return dict(self.own).get(key, default)


@frozen
class Faults:
    """How many of each fault may happen at most. All zero: links are FIFO and reliable, brokers never fail."""

    loss: int = 0
    duplicate: int = 0
    reorder: int = 0
    crash: int = 0

    @property
    def any(self) -> bool:
        return bool(self.loss or self.duplicate or self.reorder or self.crash)


@frozen
class Instance:
    """Content of an instance file. `must_reach` and `must_fail` are its author's statements about the outcome."""

    name: str
    overlay: Overlay
    advertisers: tuple[Advertiser, ...]
    subscribers: tuple[Subscriber, ...]
    publications: tuple[Publication, ...]
    protocol: str = "routing"
    policies: tuple[str, ...] = ("active",)
    dialect: str = "strict"
    faults: Faults = Faults()
    must_reach: tuple[str, ...] = ()
    must_fail: tuple[str, ...] = ()
    about: str = ""
    broker_names: tuple[str, ...] = ()
    """Names of the brokers 1, 2, ... for people and in traces; b1, b2, ... where there are none."""
    own: Own = ()
    """Content of the keys that only the instance's protocol has (`Definition.sections`)."""

    def section(self, key: str, default: Any = None) -> Any:
        """Content of a section of the protocol's own."""
        return dict(self.own).get(key, default)

    @cached_property
    def advertisements(self) -> tuple[Advertisement, ...]:
        return tuple(a.advertisement for a in self.advertisers)

    @cached_property
    def subscriptions(self) -> tuple[Subscription, ...]:
        return tuple(s.subscription for s in self.subscribers)

    def advertiser_of(self, publication: Publication) -> Advertiser:
        return next(a for a in self.advertisers if a.advertisement.id == publication.of)


@frozen
class OperationRow:
    """A message that a node is given once: after the operation `after`, if any, and not after `until`."""

    label: str
    node: Node
    message: Message
    after: str = ""
    until: str = ""


def core_operations(instance: Instance) -> list[OperationRow]:
    """The operations of the routing core, as listed in the instance; withdrawals after everything that comes first."""
    rows = []
    for a in instance.advertisers:
        rows.append(OperationRow(f"advertise({a.advertisement.id})", a.at, Advertise(a.advertisement)))
    for s in instance.subscribers:
        rows.append(OperationRow(f"subscribe({s.subscription.id})", s.at, Subscribe(s.subscription)))
    for p in instance.publications:
        home, until = instance.advertiser_of(p).at, f"unadvertise({p.of})"
        rows.append(OperationRow(f"publish({p.id})", home, Publish(p), f"advertise({p.of})", until))
    for s in instance.subscribers:
        if s.unsubscribes:
            name = s.subscription.id
            rows.append(OperationRow(f"unsubscribe({name})", s.at, Unsubscribe(s.subscription), f"subscribe({name})"))
    for a in instance.advertisers:
        if a.unadvertises:
            name = a.advertisement.id
            rows.append(OperationRow(f"unadvertise({name})", a.at, Unadvertise(a.advertisement), f"advertise({name})"))
    return rows
