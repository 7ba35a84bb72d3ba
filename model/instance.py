"""An instance: a finite question to a protocol.

`Instance` holds an overlay, the clients that are attached to it, and what may go wrong. It is what an instance file
says after every check has passed; `instance_file` reads and writes it, `world` puts it in motion.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from attrs import evolve, frozen

from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Node, Overlay
from routeproof.model.pruning_parameters import PruningParameters

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
    again: Node | None = None
    """Where its client may subscribe again, once it has unsubscribed (PRN-15)."""


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
    readings: tuple[tuple[str, Any], ...] = ()
    """Of the pruning protocol: parameters that do not have their default."""
    congestion: tuple[Node, ...] = ()
    """Brokers that may become congested, and be relieved, once each (PRN-6)."""

    @cached_property
    def advertisements(self) -> tuple[Advertisement, ...]:
        return tuple(a.advertisement for a in self.advertisers)

    @cached_property
    def subscriptions(self) -> tuple[Subscription, ...]:
        return tuple(s.subscription for s in self.subscribers)

    def parameters(self, policy: str) -> PruningParameters:
        return evolve(PruningParameters.of(policy), **dict(self.readings))

    def issued_again(self, subscriber: Subscriber) -> Subscription:
        """PRN-15: what the client sends when it subscribes a second time."""
        s = subscriber.subscription
        is_new = dict(self.readings).get("identity", "issue") == "issue"
        return evolve(s, id=f"{s.id}'") if is_new else s

    def advertiser_of(self, publication: Publication) -> Advertiser:
        return next(a for a in self.advertisers if a.advertisement.id == publication.of)
