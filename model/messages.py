"""What brokers and clients say to each other.

The same words in prose, model, implementation, traces and on the command line: advertise, unadvertise, subscribe,
unsubscribe, publish, and deliver for what a client receives. All are frozen values; a message never changes on its way.
"""

from __future__ import annotations

from attrs import frozen

from routeproof.model.filters import Event, Filter


@frozen(cache_hash=True)
class Advertisement:
    """What a publisher will publish. `rank` is its place in the instance: ids are ordered as listed there."""

    rank: int
    id: str
    filter: Filter

    def __str__(self) -> str:
        return self.id


@frozen(cache_hash=True)
class Subscription:
    """What a subscriber wants. `rank` is its place in the instance: "the lower id" is the one listed first."""

    rank: int
    id: str
    filter: Filter

    def __str__(self) -> str:
        return self.id


@frozen(cache_hash=True)
class Publication:
    """One event, published under an advertisement."""

    rank: int
    id: str
    of: str
    event: Event

    def __str__(self) -> str:
        return self.id


@frozen(cache_hash=True)
class Advertise:
    advertisement: Advertisement


@frozen(cache_hash=True)
class Unadvertise:
    advertisement: Advertisement


@frozen(cache_hash=True)
class Subscribe:
    subscription: Subscription


@frozen(cache_hash=True)
class Cut:
    """How far a withdrawal is to go toward an advertisement: hops, one number a threshold; None is without end."""

    advertisement: str
    distances: tuple[int | None, ...]


@frozen(cache_hash=True)
class Unsubscribe:
    """Without `cuts` a full withdrawal (PRN-1)."""

    subscription: Subscription
    cuts: tuple[Cut, ...] | None = None


@frozen(cache_hash=True)
class PackedSubscribe:
    """COV-7: all subscriptions that one step sends to one neighbour, in order."""

    subscriptions: tuple[Subscription, ...]


@frozen(cache_hash=True)
class PackedUnsubscribe:
    """COV-7: all withdrawals that one step sends to one neighbour, in order."""

    subscriptions: tuple[Subscription, ...]


@frozen(cache_hash=True)
class Publish:
    """`distance` and `count` are the header that pruning keeps (STA-1)."""

    publication: Publication
    distance: int = 0
    count: int = 0


@frozen(cache_hash=True)
class Deliver:
    """Handed to a local client; its receiver is `LOCAL`, it never travels on a link."""

    publication: Publication
    subscription: Subscription


@frozen(cache_hash=True)
class Congest:
    """From `LOCAL`: the broker is congested from now on (PRN-6)."""


@frozen(cache_hash=True)
class Relieve:
    """From `LOCAL`: it is no longer."""


Control = Advertise | Unadvertise | Subscribe | Unsubscribe | PackedSubscribe | PackedUnsubscribe
Message = Control | Publish | Deliver
Signal = Congest | Relieve
"""What only a broker's driver says to it."""


def is_control(message: object) -> bool:
    """Does it change tables? While one is queued anywhere, tables need not agree."""
    return isinstance(message, Control)


def describe(message: object) -> str:
    """One word a message, for people: `sub(S)`, `unsub(S, s1)`, `pub(p)`."""
    match message:
        case Advertise(a):
            return f"adv({a.id})"
        case Unadvertise(a):
            return f"unadv({a.id})"
        case Subscribe(s):
            return f"sub({s.id})"
        case Unsubscribe(s):
            return f"unsub({s.id})"
        case PackedSubscribe(many):
            return f"sub({', '.join(s.id for s in many)})"
        case PackedUnsubscribe(many):
            return f"unsub({', '.join(s.id for s in many)})"
        case Publish(p):
            return f"pub({p.id})"
        case Deliver(p, s):
            return f"deliver({p.id} to {s.id})"
        case Congest():
            return "congest"
        case Relieve():
            return "relieve"
    return str(message)
