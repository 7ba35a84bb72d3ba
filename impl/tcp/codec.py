"""Messages as they travel: JSON objects with the words of traces (`docs/traces.md`), and whole filters in withdrawals.

Ranks do not travel: whoever is told an id knows its text and nothing else, so brokers on the wire order ids by text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeGuard

from attrs import frozen

from routeproof.impl.tcp.frames import Refusal
from routeproof.model.filters import Dialect, Filter, FilterError
from routeproof.model.filters.wording import shown
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Cut,
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)

Row = Mapping[str, object]

NO_RANK = 0
"""Of everything that came over a wire: what is left of the order of ids is that of their text."""

MOST_HOPS = 1 << 31
"""The largest distance or count."""

ID_LENGTH = 200
"""Characters in an id. In a trace it also stands behind `client-`, and names there have 256."""


@frozen
class Delivery:
    """What a client is told."""

    publication: str
    subscription: str


def encode(message: Message) -> bytes:
    """JSON in ASCII: half a character in an id is escaped, as everything beyond ASCII is."""
    return json.dumps(_row(message), separators=(",", ":"), allow_nan=False).encode("ascii")


def _row(message: Message) -> dict[str, object]:
    match message:
        case Advertise(item):
            return {"kind": "advertise", **_item(item)}
        case Unadvertise(item):
            return {"kind": "unadvertise", **_item(item)}
        case Subscribe(item):
            return {"kind": "subscribe", **_item(item)}
        case Unsubscribe(item, cuts):
            return {"kind": "unsubscribe", **_item(item), **({} if cuts is None else {"cuts": list(map(_cut, cuts))})}
        case PackedSubscribe(many):
            return {"kind": "subscribe-many", "items": [_item(each) for each in many]}
        case PackedUnsubscribe(many):
            return {"kind": "unsubscribe-many", "items": [_item(each) for each in many]}
        case Publish(publication, distance, count):
            header = {"distance": distance, "count": count}
            return {**_publication(publication), **{key: min(n, MOST_HOPS) for key, n in header.items() if n}}
        case Deliver(publication, subscription):
            return {**_publication(publication), "to": subscription.id}


def _cut(cut: Cut) -> list[object]:
    """No neighbour is sent what it would refuse, whatever another one has sent."""
    return [cut.advertisement, [None if d is None else max(d, -MOST_HOPS) for d in cut.distances]]


def _item(item: Advertisement | Subscription) -> dict[str, object]:
    return {"id": item.id, "filter": item.filter.to_json()}


def _publication(p: Publication) -> dict[str, object]:
    event: dict[str, object] = {"event": p.event} if isinstance(p.event, int) else {"attributes": p.event.to_json()}
    return {"kind": "publish", "id": p.id, "of": p.of, **event}


# -- reading -----------------------------------------------------------------------------------------------------------


@frozen
class Codec:
    """Reads what was sent, by the language of filters that all brokers of a run speak.

    `thresholds`: how many distances a cut has, where brokers prune; 0 where they do not.
    """

    dialect: Dialect
    thresholds: int = 0

    def from_neighbour(self, raw: object) -> Message:
        return self._read(raw, _FROM_PRUNING_NEIGHBOURS if self.thresholds else _FROM_NEIGHBOURS)

    def from_client(self, raw: object) -> Message:
        return self._read(raw, _FROM_CLIENTS)

    def _read(self, raw: object, kinds: Mapping[str, _Reader]) -> Message:
        row = _table(raw)
        kind = row.get("kind")
        reader = kinds.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise Refusal(f"a message of the kind {shown(kind)}; expected one of {', '.join(kinds)}")
        return reader(self, row)

    def _advertisement(self, row: Row) -> Advertisement:
        return Advertisement(NO_RANK, text(row, "id"), self._filter(row))

    def _subscription(self, raw: object) -> Subscription:
        row = _table(raw)
        return Subscription(NO_RANK, text(row, "id"), self._filter(row))

    def _many(self, row: Row) -> tuple[Subscription, ...]:
        items = row.get("items")
        if not isinstance(items, list) or not items:
            raise Refusal(f'"items": found {shown(items)}; expected a list of subscriptions')
        return tuple(self._subscription(each) for each in items)

    def _filter(self, row: Row) -> Filter:
        try:
            return self.dialect.parse(row.get("filter"))
        except FilterError as error:
            raise Refusal(str(error)) from None

    def _publication(self, row: Row) -> Publication:
        try:
            event = self.dialect.event(row["event"] if "event" in row else row.get("attributes"))
        except FilterError as error:
            raise Refusal(str(error)) from None
        return Publication(NO_RANK, text(row, "id"), text(row, "of"), event)

    def _cuts(self, row: Row) -> tuple[Cut, ...] | None:
        if "cuts" not in row:
            return None
        raw = row["cuts"]
        if not isinstance(raw, list):
            raise Refusal(f'"cuts": found {shown(raw)}; expected a list')
        return tuple(self._cut(each) for each in raw)

    def _cut(self, raw: object) -> Cut:
        match raw:
            case [str(advertisement), list(distances)] if len(distances) == self.thresholds and all(
                each is None or _is_number(each, -MOST_HOPS) for each in distances
            ):
                return Cut(text({"cuts": advertisement}, "cuts"), tuple(distances))
        raise Refusal(f'"cuts": found {shown(raw)}; expected an advertisement and {self.thresholds} distances')


def _number(row: Row, key: str) -> int:
    """0 where it is left out."""
    value = row.get(key, 0)
    if not _is_number(value, 0):
        raise Refusal(f'"{key}": found {shown(value)}; expected a whole number from 0 to {MOST_HOPS}')
    return value


def _is_number(value: object, least: int) -> TypeGuard[int]:
    return type(value) is int and least <= value <= MOST_HOPS


_Reader = Callable[[Codec, Row], Message]

_FROM_CLIENTS: Mapping[str, _Reader] = {
    "advertise": lambda codec, row: Advertise(codec._advertisement(row)),
    "unadvertise": lambda codec, row: Unadvertise(codec._advertisement(row)),
    "subscribe": lambda codec, row: Subscribe(codec._subscription(row)),
    "unsubscribe": lambda codec, row: Unsubscribe(codec._subscription(row)),
    "publish": lambda codec, row: Publish(codec._publication(row)),
}
_FROM_NEIGHBOURS: Mapping[str, _Reader] = {
    **_FROM_CLIENTS,
    "subscribe-many": lambda codec, row: PackedSubscribe(codec._many(row)),
    "unsubscribe-many": lambda codec, row: PackedUnsubscribe(codec._many(row)),
}
_FROM_PRUNING_NEIGHBOURS: Mapping[str, _Reader] = {
    **_FROM_CLIENTS,
    "unsubscribe": lambda codec, row: Unsubscribe(codec._subscription(row), codec._cuts(row)),
    "publish": lambda codec, row: Publish(codec._publication(row), _number(row, "distance"), _number(row, "count")),
}


def delivery(raw: object) -> Delivery:
    """What a broker tells a client."""
    row = _table(raw)
    if row.get("kind") != "publish":
        raise Refusal(f"a message of the kind {shown(row.get('kind'))}; expected publish: a client is told no other")
    return Delivery(text(row, "id"), text(row, "to"))


def _table(raw: object) -> Row:
    if not isinstance(raw, dict):
        raise Refusal(f"a message: found {shown(raw)}; expected an object")
    return raw


def text(row: Row, key: str) -> str:
    """A name that may stand in a trace."""
    value = row.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= ID_LENGTH:
        raise Refusal(f'"{key}": found {shown(value)}; expected a string of 1 to {ID_LENGTH} characters')
    return value
