"""Messages of the pruning protocol: the headers of publications and withdrawals, and the signals of congestion."""

from __future__ import annotations

from attrs import frozen

from routeproof.model.fields import AdvertisementId
from routeproof.model.messages import Header, Message, Publication, Publish, Subscription, Unsubscribe


@frozen(cache_hash=True)
class Met(Header):
    """STA-1: what brokers have made of a publication: hops since it last met another subscription, and how often."""

    distance: int = 0
    count: int = 0


@frozen(cache_hash=True)
class Cut:
    """How far a withdrawal is to go toward an advertisement: hops, one number a threshold; None is without end."""

    advertisement: AdvertisementId
    distances: tuple[int | None, ...]


@frozen(cache_hash=True)
class CutList(Header):
    """PRN-1: how far a withdrawal is to go. A withdrawal without this header goes all the way."""

    cuts: tuple[Cut, ...]


@frozen(cache_hash=True)
class Congest(Message):
    """From `LOCAL`: the broker is congested from now on (PRN-6)."""

    kind = "congest"
    control = False
    by = "driver"


@frozen(cache_hash=True)
class Relieve(Message):
    """From `LOCAL`: the broker is no longer congested."""

    kind = "relieve"
    control = False
    by = "driver"


def publish(publication: Publication, distance: int = 0, count: int = 0) -> Publish:
    """A publication as it travels: with its header."""
    return Publish(publication, Met(distance, count))


def met(message: Publish) -> Met:
    """The header of a publication; a client's operation has none yet, which is as good as one that met nothing."""
    return message.header if isinstance(message.header, Met) else NOTHING_MET


def withdraw(subscription: Subscription, cuts: tuple[Cut, ...] | None) -> Unsubscribe:
    """A withdrawal that is to go as far as the cuts say; with None a full one."""
    return Unsubscribe(subscription, None if cuts is None else CutList(cuts))


def cuts_of(message: Unsubscribe) -> tuple[Cut, ...] | None:
    """How far a withdrawal is to go; None for a full one."""
    return message.header.cuts if isinstance(message.header, CutList) else None


NOTHING_MET = Met()
