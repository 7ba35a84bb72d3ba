"""Messages: what brokers and clients say to each other.

The same words in prose, model, implementation, traces and on the command line: advertise, unadvertise, subscribe,
unsubscribe, publish, and deliver for what a client receives. All are frozen values; a message never changes on its way.

The union of messages is open. A protocol adds its own by subclassing `Message`, and adds fields to a core message by a
`Header`. Everything that others do with a message (describe it, encode it, rename what is in it, know whether it may
change tables) is derived from its class variables and the types of its fields (`routeproof.model.fields`).
"""

from __future__ import annotations

from typing import Any, ClassVar

from attrs import frozen

from routeproof.model.fields import Advertisement, Publication, Subscription, entities_in, ids_in, values_of

__all__ = [
    "CORE",
    "Advertise",
    "Advertisement",
    "Deliver",
    "Header",
    "Message",
    "PackedSubscribe",
    "PackedUnsubscribe",
    "Publication",
    "Publish",
    "Subscribe",
    "Subscription",
    "Unadvertise",
    "Unsubscribe",
    "client_of",
    "describe",
    "is_control",
]


class Message:
    """Base of every message; a subclass is a frozen attrs class whose fields say what the message is about."""

    __slots__ = ()

    kind: ClassVar[str]
    """The word in traces and on the wire."""
    word: ClassVar[str] = ""
    """The short word for people; empty where it is `kind`."""
    control: ClassVar[bool] = True
    """True if handling it may change tables: while such a message is queued, tables need not agree."""
    withdraws: ClassVar[bool] = False
    """True for a withdrawal: in traces it is known by its id, without a filter."""
    by: ClassVar[str] = ""
    """Who gives this to a broker as an operation, where it is no client of something that the message is about."""

    @property
    def publication(self) -> Publication | None:
        """The publication of which this message is a copy."""
        return None

    @property
    def copies(self) -> tuple[Publication, ...]:
        """The publications that are on their way with this message: those in its fields."""
        return tuple(each for each in entities_in(self) if isinstance(each, Publication))


class Header:
    """Base of what a protocol adds to a core message. In traces and on wires its fields stand among the message's."""

    __slots__ = ()


@frozen(cache_hash=True)
class Advertise(Message):
    kind = "advertise"
    word = "adv"

    advertisement: Advertisement
    header: Header | None = None


@frozen(cache_hash=True)
class Unadvertise(Message):
    kind = "unadvertise"
    word = "unadv"
    withdraws = True

    advertisement: Advertisement
    header: Header | None = None


@frozen(cache_hash=True)
class Subscribe(Message):
    kind = "subscribe"
    word = "sub"

    subscription: Subscription
    header: Header | None = None


@frozen(cache_hash=True)
class Unsubscribe(Message):
    kind = "unsubscribe"
    word = "unsub"
    withdraws = True

    subscription: Subscription
    header: Header | None = None


@frozen(cache_hash=True)
class PackedSubscribe(Message):
    """COV-7: all subscriptions that one step sends to one neighbour, in order."""

    kind = "subscribe-many"
    word = "sub"

    subscriptions: tuple[Subscription, ...]


@frozen(cache_hash=True)
class PackedUnsubscribe(Message):
    """COV-7: all withdrawals that one step sends to one neighbour, in order."""

    kind = "unsubscribe-many"
    word = "unsub"
    withdraws = True

    subscriptions: tuple[Subscription, ...]


@frozen(cache_hash=True)
class Publish(Message):
    kind = "publish"
    word = "pub"
    control = False

    publication: Publication
    header: Header | None = None

    @property
    def copies(self) -> tuple[Publication, ...]:
        return (self.publication,)


@frozen(cache_hash=True)
class Deliver(Message):
    """Handed to a local client; its receiver is `LOCAL`, it never travels on a link."""

    kind = "publish"
    control = False

    publication: Publication
    subscription: Subscription


CORE: tuple[type[Message], ...] = (
    Advertise,
    Unadvertise,
    Subscribe,
    Unsubscribe,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
)
"""The messages of the routing core that travel between brokers."""


def is_control(message: object) -> bool:
    """True if the message may change tables: while one is queued anywhere, tables need not agree."""
    return isinstance(message, Message) and message.control


def describe(message: object) -> str:
    """A message in one word for people: `sub(S)`, `unsub(S, s1)`, `pub(p)`, `deliver(p to S)`."""
    if not isinstance(message, Message):
        return str(message)
    if isinstance(message, Deliver):
        return f"deliver({message.publication.id} to {message.subscription.id})"
    word = message.word or message.kind
    shown = ", ".join(ids_in(message)) or ", ".join(_own(message))
    return f"{word}({shown})" if shown else word


def client_of(message: object) -> str:
    """The client that sends or receives a message. Each advertisement and each subscription has a client of its own. A
    message about a broker's own state comes from its driver.
    """
    if not isinstance(message, Message):
        raise TypeError(f"{message!r} is no message")
    if message.by:
        return message.by
    if isinstance(message, Deliver):
        return f"client-{message.subscription.id}"
    if message.publication is not None:
        return f"client-{message.publication.of}"
    if isinstance(message, PackedSubscribe | PackedUnsubscribe):
        raise ValueError("a client sends its subscriptions one by one")
    first = next(ids_in(message), None)
    return "driver" if first is None else f"client-{first}"


def _own(message: Message) -> list[str]:
    """The values of a message that is about no advertisement, subscription or publication."""
    return [_shown(value) for name, value in values_of(message).items() if name != "header"]


def _shown(value: Any) -> str:
    return f"[{', '.join(map(_shown, value))}]" if isinstance(value, tuple) else str(value)
