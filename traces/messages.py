"""Messages in traces: `encode` writes one of the model's as JSON, `decode` reads any implementation's.

What is read is a `TraceMessage` and not one of the model's own messages: a withdrawal may carry an id only, a delivery
may leave out the event, and only who has seen the whole trace knows which subscription an id was.
"""

from __future__ import annotations

from attrs import frozen

from routeproof.model.filters import Dialect, Event, EventSet, Filter, FilterError
from routeproof.model.messages import (
    Advertise,
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from routeproof.traces.fields import Raw, TraceError, integer, items, name, table

SHORT = {
    "advertise": "adv",
    "unadvertise": "unadv",
    "subscribe": "sub",
    "unsubscribe": "unsub",
    "subscribe-many": "sub",
    "unsubscribe-many": "unsub",
    "publish": "pub",
}
"""The kinds that every protocol here knows, and the model's short word for each. A protocol may add its own kinds."""

CARRIES_FILTER = ("advertise", "subscribe", "subscribe-many")
MANY = ("subscribe-many", "unsubscribe-many")
"""COV-7: under packing several subscriptions travel in one message, as `items`."""

ITEMS = 10_000
"""How many subscriptions one packed message may hold."""


@frozen
class Item:
    """One advertisement, subscription or publication. `of`: a publication's advertisement, or the original of an id
    that an implementation made itself."""

    id: str
    filter: Filter | None = None
    of: str = ""


@frozen
class TraceMessage:
    """One message as a trace tells it. `to` names the subscription that a delivery is for."""

    kind: str
    items: tuple[Item, ...]
    event: Event | None = None
    to: str = ""


# -- writing -----------------------------------------------------------------------------------------------------------


def encode(message: Message) -> dict[str, object]:
    """A message of the model as JSON; withdrawals by id."""
    match message:
        case Advertise(a):
            return {"kind": "advertise", "id": a.id, "filter": a.filter.to_json()}
        case Unadvertise(a):
            return {"kind": "unadvertise", "id": a.id}
        case Subscribe(s):
            return {"kind": "subscribe", "id": s.id, "filter": s.filter.to_json()}
        case Unsubscribe(s):
            return {"kind": "unsubscribe", "id": s.id}
        case PackedSubscribe(many):
            return {"kind": "subscribe-many", "items": [{"id": s.id, "filter": s.filter.to_json()} for s in many]}
        case PackedUnsubscribe(many):
            return {"kind": "unsubscribe-many", "items": [{"id": s.id} for s in many]}
        case Publish(p):
            return _publication(p)
        case Deliver(p, s):
            return {**_publication(p), "to": s.id}


def _publication(p: Publication) -> dict[str, object]:
    event: dict[str, object] = {"event": p.event} if isinstance(p.event, int) else {"attributes": p.event.to_json()}
    return {"kind": "publish", "id": p.id, "of": p.of, **event}


# -- reading -----------------------------------------------------------------------------------------------------------


def decode(raw: object, dialect: Dialect) -> TraceMessage:
    """What a line says under `message`; filters and events are read in the trace's dialect."""
    message = table("a message", raw)
    kind = name(message, "kind")
    many = [table("an item", each) for each in items(message, "items", ITEMS)] if kind in MANY else [message]
    if not many:
        raise TraceError('"items": found an empty list; expected at least one subscription')
    try:
        return TraceMessage(
            kind, tuple(_item(kind, each, dialect) for each in many), _event(message, dialect), name(message, "to", "")
        )
    except FilterError as error:
        raise TraceError(str(error)) from None


def _item(kind: str, raw: Raw, dialect: Dialect) -> Item:
    # A kind of a protocol's own may have no id at all; the kinds that we know have one.
    id_ = name(raw, "id") if kind in SHORT else name(raw, "id", "")
    if kind in CARRIES_FILTER and "filter" not in raw:
        raise TraceError(f"{kind} of an item without a filter; expected a list of predicates or of event numbers")
    filter_ = read_filter(raw["filter"], dialect) if "filter" in raw else None
    return Item(id_, filter_, name(raw, "of", ""))


def read_filter(raw: object, dialect: Dialect) -> Filter:
    """Event numbers are event numbers in every dialect: no predicate is a number."""
    if isinstance(raw, list) and raw and all(type(each) is int for each in raw):
        return EventSet.of(raw)
    return dialect.parse(raw)


def _event(message: Raw, dialect: Dialect) -> Event | None:
    if "attributes" in message:
        return dialect.event(message["attributes"])
    return integer(message, "event") if "event" in message else None


def describe(message: TraceMessage) -> str:
    """One word a message, as `routeproof.model.messages.describe` says it: `sub(S)`, `deliver(p to S)`."""
    ids = ", ".join(item.id for item in message.items if item.id)
    if message.to:
        return f"deliver({ids} to {message.to})"
    return f"{SHORT.get(message.kind, message.kind)}({ids})"
