"""The codec of messages: rows of JSON's types, derived from the fields that messages declare.

    to_row(Subscribe(s))                  {"kind": "subscribe", "id": "s", "filter": [...]}
    from_row(row, Subscribe, None, read)  the message again; `read` knows the language of filters

What a message is about stands under "id" (with "filter", or with "of" and "event" or "attributes"), several of it under
"items"; every other field stands under its own name, and so do the fields of a header. A field that has its default is
left out. Traces and wires use the same rows; a withdrawal in a trace has no filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast, get_args, get_origin

import attrs

from routeproof.model.fields import (
    ENTITIES,
    Advertisement,
    Entity,
    Misfit,
    Publication,
    Subscription,
    from_json,
    to_json,
    types_of,
    values_of,
)
from routeproof.model.messages import Deliver, Header, Message, PackedSubscribe, PackedUnsubscribe

Row = Mapping[str, Any]

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
        elif isinstance(value, Header):
            row |= _own(value, values_of(value), bounded)
        elif name != "header":
            row |= _own(message, {name: value}, bounded)
    return row


def _is_items(value: Any, message: Message, name: str) -> bool:
    arguments = get_args(types_of(type(message))[name])
    return isinstance(value, tuple) and bool(arguments) and arguments[0] in ENTITIES


def _item(item: Entity, filters: bool) -> dict[str, Any]:
    if isinstance(item, Publication):
        event = {"event": item.event} if isinstance(item.event, int) else {"attributes": item.event.to_json()}
        return {"id": item.id, "of": item.of, **event}
    return {"id": item.id, **({"filter": item.filter.to_json()} if filters else {})}


def _own(holder: Any, values: Mapping[str, Any], bounded: Callable[[int], int]) -> dict[str, Any]:
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


def from_row(row: Row, cls: type[Message], header: type[Header] | None, read: Read) -> Message:
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


def _header(row: Row, header: type[Header], read: Read) -> Header | None:
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
