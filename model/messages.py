"""Messages: what brokers and clients say to each other.

The same words in prose, model, implementation, traces and on the command line: advertise, unadvertise, subscribe,
unsubscribe, publish, and deliver for what a client receives. All are frozen values; a message never changes on its way.

The union of messages is open. A protocol adds its own by subclassing `Message`, and adds fields to a core message by a
`MessageHeader`. Everything that others do with a message (describe it, encode it, rename what is in it, know whether it
may change tables) is derived from its class variables and the types of its fields (`routeproof.model.fields`).

The codec (`to_row`, `from_row`) writes a message as a row of JSON's types, derived from the same fields:

    to_row(Subscribe(s))                  {"kind": "subscribe", "id": "s", "filter": [...]}
    from_row(row, Subscribe, None, read)  the message again; `read` knows the language of filters

What a message is about stands under "id" (with "filter", or with "of" and "event" or "attributes"), several of it under
"items"; every other field stands under its own name, and so do the fields of a header. A field that has its default is
left out. Traces and wires use the same rows; a withdrawal in a trace has no filter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, cast, get_args, get_origin

import attrs
from attrs import frozen

from routeproof.model.fields import (
    ENTITIES,
    Advertisement,
    Entity,
    Misfit,
    Publication,
    Subscription,
    entities_in,
    from_json,
    ids_in,
    to_json,
    types_of,
    values_of,
)

__all__ = [
    "CORE",
    "Advertise",
    "Advertisement",
    "Deliver",
    "Message",
    "MessageHeader",
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

Row = Mapping[str, Any]


class Message:
    """Base of every message; a subclass is a frozen attrs class whose fields say what the message is about.

    What else is known of a class of messages stands in its first line: `class Load(Message, control=False)`.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """The word in traces and on the wire. By default the name of the class: `open-link` for `OpenLink`."""
    word: ClassVar[str] = ""
    """The short word for people; empty where it is `kind`."""
    control: ClassVar[bool] = True
    """True if handling it may change tables: while such a message is queued, tables need not agree."""
    withdraws: ClassVar[bool] = False
    """True for a withdrawal: in traces it is known by its id, without a filter."""
    rule: ClassVar[str] = ""
    """The rule by which it is sent, if there is one of a protocol's own."""
    by: ClassVar[str] = ""
    """Who gives this to a broker as an operation, where it is no client of something that the message is about."""

    def __init_subclass__(
        cls, kind: str = "", word: str = "", control: bool = True, withdraws: bool = False, by: str = "", rule: str = ""
    ) -> None:
        super().__init_subclass__()
        kind = kind or re.sub("(?<!^)(?=[A-Z])", "-", cls.__name__).lower()
        known = {"kind": kind, "word": word, "control": control, "withdraws": withdraws, "by": by, "rule": rule}
        for name, value in known.items():
            if name not in cls.__dict__:  # attrs makes a class with slots a second time, of what was set before
                setattr(cls, name, value)

    @property
    def publication(self) -> Publication | None:
        """The publication of which this message is a copy."""
        return None

    @property
    def copies(self) -> tuple[Publication, ...]:
        """The publications that are on their way with this message: those in its fields."""
        return tuple(each for each in entities_in(self) if isinstance(each, Publication))


class MessageHeader:
    """Base of what a protocol adds to a core message. In traces and on wires its fields stand among the message's."""

    __slots__ = ()


@frozen(cache_hash=True)
class Advertise(Message, word="adv"):
    advertisement: Advertisement
    header: MessageHeader | None = None


@frozen(cache_hash=True)
class Unadvertise(Message, word="unadv", withdraws=True):
    advertisement: Advertisement
    header: MessageHeader | None = None


@frozen(cache_hash=True)
class Subscribe(Message, word="sub"):
    subscription: Subscription
    header: MessageHeader | None = None


@frozen(cache_hash=True)
class Unsubscribe(Message, word="unsub", withdraws=True):
    subscription: Subscription
    header: MessageHeader | None = None


@frozen(cache_hash=True)
class PackedSubscribe(Message, kind="subscribe-many", word="sub"):
    """COV-7: all subscriptions that one step sends to one neighbour, in order."""

    subscriptions: tuple[Subscription, ...]


@frozen(cache_hash=True)
class PackedUnsubscribe(Message, kind="unsubscribe-many", word="unsub", withdraws=True):
    """COV-7: all withdrawals that one step sends to one neighbour, in order."""

    subscriptions: tuple[Subscription, ...]


@frozen(cache_hash=True)
class Publish(Message, word="pub", control=False):
    publication: Publication
    header: MessageHeader | None = None

    @property
    def copies(self) -> tuple[Publication, ...]:
        return (self.publication,)


@frozen(cache_hash=True)
class Deliver(Message, kind="publish", control=False):
    """Handed to a local client; its receiver is `LOCAL`, it never travels on a link."""

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
    """The client that sends or receives a message: one of each advertisement and subscription, or a broker's driver."""
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


PACKED = (PackedSubscribe, PackedUnsubscribe)
"""Messages that are never about nothing."""


def to_row(message: Message, *, whole: bool = False, bounded: Callable[[int], int] = int) -> dict[str, Any]:
    """A message as a row. `whole`: withdrawals have their filters too. `bounded` is applied to protocols' numbers."""
    row: dict[str, Any] = {"kind": message.kind}
    filters = whole or not message.withdraws
    for name, value in values_of(message).items():
        if isinstance(message, Deliver) and name == "subscription":
            row["to"] = value.id
        elif isinstance(value, ENTITIES) and "id" not in row:
            row |= _item(value, filters)
        elif _is_items(value, message, name):
            row["items"] = [_item(each, filters) for each in value]
        elif isinstance(value, MessageHeader):
            row |= _own_row(value, values_of(value), bounded)
        elif name != "header":
            row |= _own_row(message, {name: value}, bounded)
    return row


def _is_items(value: Any, message: Message, name: str) -> bool:
    arguments = get_args(types_of(type(message))[name])
    return isinstance(value, tuple) and bool(arguments) and arguments[0] in ENTITIES


def _item(item: Entity, filters: bool) -> dict[str, Any]:
    if isinstance(item, Publication):
        event = {"event": item.event} if isinstance(item.event, int) else {"attributes": item.event.to_json()}
        return {"id": item.id, "of": item.of, **event}
    return {"id": item.id, **({"filter": item.filter.to_json()} if filters else {})}


def _own_row(holder: Any, values: Mapping[str, Any], bounded: Callable[[int], int]) -> dict[str, Any]:
    """A protocol's own fields, those that have their default left out."""
    defaults = {each.name: each.default for each in attrs.fields(type(holder))}
    return {name: _bounded(to_json(value), bounded) for name, value in values.items() if value != defaults[name]}


def _bounded(value: Any, bounded: Callable[[int], int]) -> Any:
    if isinstance(value, list):
        return [_bounded(each, bounded) for each in value]
    return bounded(value) if type(value) is int else value


class Read(Protocol):
    """How what a message is about is read from a row; each refuses by an error of its own."""

    def advertisement(self, row: Any, /) -> Advertisement: ...
    def subscription(self, row: Any, /) -> Subscription: ...
    def publication(self, row: Any, /) -> Publication: ...
    def find(self, kind: type[Entity], id: str, /) -> Entity | None: ...
    def refuse(self, key: str, raw: Any, expected: str, /) -> Exception: ...


def from_row(row: Row, cls: type[Message], header: type[MessageHeader] | None, read: Read) -> Message:
    """The message that a row says; `header` is what the protocol adds to messages of this class."""
    arguments: dict[str, Any] = {}
    has_id = False
    for name, hint in types_of(cls).items():
        if hint in ENTITIES and not has_id:
            has_id = True
            arguments[name] = _entity(hint, row, read)
        elif get_origin(hint) is tuple and get_args(hint)[0] in ENTITIES:
            arguments[name] = _items(get_args(hint)[0], row, read, issubclass(cls, PACKED))
        elif name == "header":
            arguments[name] = None if header is None else _header(row, header, read)
        elif (value := _value(row, cls, name, hint, read)) is not attrs.NOTHING:
            arguments[name] = value
    return cls(**arguments)


def _entity(kind: type[Entity], row: Any, read: Read) -> Entity:
    if kind is Advertisement:
        return read.advertisement(row)
    return read.subscription(row) if kind is Subscription else read.publication(row)


def _items(kind: type[Entity], row: Row, read: Read, is_packed: bool) -> tuple[Entity, ...]:
    items = row.get("items")
    if not isinstance(items, list) or (is_packed and not items):
        raise read.refuse("items", items, f"a list of {kind.__name__.lower()}s")
    return tuple(_entity(kind, each, read) for each in items)


def _header(row: Row, header: type[MessageHeader], read: Read) -> MessageHeader | None:
    """None where something is left out that has no default."""
    values = {name: _value(row, header, name, hint, read) for name, hint in types_of(header).items()}
    given = {name: value for name, value in values.items() if value is not attrs.NOTHING}
    required = {each.name for each in attrs.fields(cast(Any, header)) if each.default is attrs.NOTHING}
    return header(**given) if required <= set(given) else None


def _value(row: Row, holder: type, name: str, hint: Any, read: Read) -> Any:
    """A protocol's own field; `NOTHING` where it is left out."""
    if name not in row:
        return attrs.NOTHING
    try:
        return from_json(row[name], hint, read.find)
    except Misfit as misfit:
        raise read.refuse(name, row[name], str(misfit)) from None
