"""An instance: a finite question to a protocol.

`Instance` holds an overlay, the clients that are attached to it, and what may go wrong. It is what an instance file
says after every check has passed; `instance_file` reads and writes it, `world` puts it in motion.
"""

from __future__ import annotations

from functools import cached_property

from attrs import frozen

from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Node, Overlay

POLICIES = ("none", "active", "lazy", "packing")


@frozen
class Advertiser:
    """An advertisement at its home broker."""

    advertisement: Advertisement
    at: Node
    unadvertises: bool = False


@frozen
class Subscriber:
    """A subscription at its home broker."""

    subscription: Subscription
    at: Node
    unsubscribes: bool = False


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
    """What an instance file says. `must_reach` and `must_fail` are what its author declares about the outcome."""

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

    @cached_property
    def advertisements(self) -> tuple[Advertisement, ...]:
        return tuple(a.advertisement for a in self.advertisers)

    @cached_property
    def subscriptions(self) -> tuple[Subscription, ...]:
        return tuple(s.subscription for s in self.subscribers)

    def advertiser_of(self, publication: Publication) -> Advertiser:
        return next(a for a in self.advertisers if a.advertisement.id == publication.of)
