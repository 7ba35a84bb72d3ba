"""Messages in traces: `TraceMessage` is any implementation's, `encode` writes one of the model's as JSON.

A reader makes a `TraceMessage` and not one of the model's own messages: a withdrawal may carry an id only, a delivery
may leave out the event, and only a reader of the whole trace knows which subscription an id was. A message holds the
texts of filters and attributes as they were written. Finding out that a filter is a non-empty set of events takes far
longer than reading its line, so `items` and `event` ask `Meanings` on demand, which caches recent readings: a trace
repeats the same filter at every broker that it passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from attrs import frozen
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, defstruct, field

from routeproof.model.filters import (
    Attributes,
    Constant,
    Dialect,
    Event,
    EventSet,
    Filter,
    FilterError,
    PredicateDialect,
    dialect,
)
from routeproof.model.filters.interface import quoted
from routeproof.model.filters.predicate_dialect import as_it_is
from routeproof.model.messages import CORE, Message, to_row
from routeproof.traces import extensions
from routeproof.traces.extensions import FilterText
from routeproof.traces.fields import (
    Name,
    OptionalName,
    TraceError,
    WholeNumber,
    integer,
    items,
    json_text,
    name,
    names,
    parse,
    plain_table,
    table,
)

FILTERS = 1 << 12
"""Largest number of cached filters (about 3 kB each)."""

PUBLICATIONS = 1 << 10
"""Largest number of cached events (about 2 kB each)."""

TEXT = 1 << 14
"""Largest text in bytes whose meaning is cached. A longer one is read again each time."""


class Meanings:
    """The meanings of one dialect. Build with `meanings_of`: all readers of the same dialect share one cache."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._filter = lru_cache(FILTERS)(self._read_filter)
        self._advertised = lru_cache(FILTERS)(self._read_advertised)
        self._attributes = lru_cache(PUBLICATIONS)(self._read_attributes)
        self._is_read_as_written = isinstance(dialect, PredicateDialect) and dialect.reading is as_it_is

    def filter(self, text: Raw) -> Filter:
        """The filter of this text; `TraceError` where it is none, or one that matches nothing."""
        written = bytes(text)
        return self._filter(written) if len(written) <= TEXT else self._read_filter(written)

    def advertised(self, text: Raw) -> Filter:
        """The filter of an advertisement, likewise."""
        written = bytes(text)
        return self._advertised(written) if len(written) <= TEXT else self._read_advertised(written)

    def attributes(self, text: Raw) -> Attributes:
        """The event of this text; `TraceError` where it is none."""
        written = bytes(text)
        return self._attributes(written) if len(written) <= TEXT else self._read_attributes(written)

    def plain(self, text: bytes) -> dict[str, Constant] | None:
        """The attributes of an event that is written so plainly that it can be read fast; None asks for `attributes`.

        A float among them is not a whole number, and stands for its shortest decimal.
        """
        return plain_table(text) if self._is_read_as_written and len(text) <= TEXT else None

    def _read_filter(self, text: bytes) -> Filter:
        return _read(text, self.dialect.parse)

    def _read_advertised(self, text: bytes) -> Filter:
        found = _read(text, self.dialect.advertisement)
        try:
            same = self.filter(Raw(text))
        except TraceError:  # a dialect may read as an advertisement what is no subscription
            return found
        return same if same == found else found  # one object, where the two readings agree

    def _read_attributes(self, text: bytes) -> Attributes:
        try:
            event = self.dialect.event(parse(text))
        except FilterError as error:
            raise TraceError(str(error)) from None
        if not isinstance(event, Attributes):  # a dialect of event numbers, which stand under "event"
            raise TraceError(f"attributes in a trace whose dialect is {self.dialect.name}; expected an event number")
        return event

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled by name, for workers in other processes."""
        return _by_name, (self.dialect.name,)


def _read(text: bytes, dialect: Callable[[object], Filter]) -> Filter:
    raw = parse(text)
    try:
        # Event numbers are event numbers in every dialect: no predicate is a number.
        if isinstance(raw, list) and raw and all(type(each) is int for each in raw):
            return EventSet.of(raw)
        return dialect(raw)
    except FilterError as error:
        raise TraceError(str(error)) from None


_SHARED: dict[str, Meanings] = {}


def meanings_of(dialect: Dialect) -> Meanings:
    shared = _SHARED.get(dialect.name)
    if shared is None or shared.dialect is not dialect:
        shared = _SHARED[dialect.name] = Meanings(dialect)
    return shared


def _by_name(name: str) -> Meanings:
    return meanings_of(dialect(name))


SHORT = {each.kind: each.word for each in CORE}
"""The kinds that every protocol here knows, and the model's short word for each. A protocol may add its own kinds."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    "advertise": ("id", "filter"),
    "unadvertise": ("id",),
    "subscribe": ("id", "filter"),
    "unsubscribe": ("id",),
    "subscribe-many": ("items",),
    "unsubscribe-many": ("items",),
    "publish": ("id",),
}
"""Keys that a message of these kinds must have. A message of another kind needs nothing that we know of."""

MANY = ("subscribe-many", "unsubscribe-many")
"""COV-7: under packing several subscriptions travel in one message, as `items`."""

ITEMS = 10_000
"""How many subscriptions one packed message may hold."""

STANDING = ("subscribe", "unsubscribe")
"""Kinds of messages about one entry, which may stand for several others: those of a list under `of`."""

ADDED = extensions.keys()
"""Keys that the protocols which ship add to messages."""

STANDARD = frozenset(("kind", "id", "filter", "of", "to", "event", "attributes", *(key.name for key in ADDED)))
"""Keys of a message that have a field here. `items` has one in the kinds `MANY`."""

AttributesText: TypeAlias = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/$defs/Attributes"})]


@frozen
class Item:
    """One advertisement, subscription or publication. `of`: a publication's advertisement, or the original of an id
    that an implementation made itself. `several`: the subscriptions for which an entry of a broker's own stands."""

    id: str
    filter: Filter | None = None
    of: str = ""
    several: tuple[str, ...] = ()


class PackedItem(Struct, frozen=True, gc=False, omit_defaults=True):
    """One subscription of a message that holds many."""

    id: Name
    filter_text: FilterText | UnsetType = field(default=UNSET, name="filter")
    of: OptionalName = ""
    several: tuple[str, ...] = field(default=(), name=" ")
    """A list under `of`, which only the reference reads: few lines have one."""


PackedItems: TypeAlias = Annotated[tuple[PackedItem, ...], Meta(min_length=1, max_length=ITEMS)]


class _CoreMessage(Struct, frozen=True, gc=False, eq=False):
    """One message. Equal messages mean the same, however they were written."""

    kind: Name
    id: OptionalName = ""
    filter_text: FilterText | UnsetType = field(default=UNSET, name="filter")
    of: OptionalName = ""
    to: OptionalName = ""
    """The subscription that a delivery is for."""
    number: WholeNumber | UnsetType = field(default=UNSET, name="event")
    attributes_text: AttributesText | UnsetType = field(default=UNSET, name="attributes")
    packed: PackedItems | UnsetType = field(default=UNSET, name="items")
    own: Raw | UnsetType = field(default=UNSET, name=" ")
    """The other keys of a message, as a JSON object: what a protocol from outside adds. The reader's, as the next."""
    meanings: Meanings | None = field(default=None, name="")
    """In which dialect to read; the reader's, never the writer's."""
    several: tuple[str, ...] = field(default=(), name="  ")
    """A list under `of`, like that of a `PackedItem`."""

    @property
    def items(self) -> tuple[Item, ...]:
        """Items that the message is about; raises `TraceError` where a filter cannot be read."""
        return tuple(Item(each.id, self._filter(each), each.of, each.several) for each in self._entries())

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the items, without reading filters."""
        return tuple(each.id for each in self._entries())

    @property
    def event(self) -> Event | None:
        """The published event; raises `TraceError` where it cannot be read."""
        if self.attributes_text is not UNSET:
            return self._in_dialect().attributes(self.attributes_text)
        return None if self.number is UNSET else self.number

    def check(self) -> None:
        """`TraceError` where `items` or `event` would give one."""
        for each in self._entries():
            self._filter(each)
        if self.attributes_text is not UNSET:
            self._in_dialect().attributes(self.attributes_text)

    def added(self, key: str) -> Any:
        """The value of a key that a protocol adds; None where it is left out."""
        value = getattr(self, key)
        return None if value is UNSET else value

    def _entries(self) -> tuple[PackedItem, ...] | tuple[_CoreMessage]:
        return self.packed if self.kind in MANY and self.packed is not UNSET else (self,)

    def _filter(self, entry: PackedItem | _CoreMessage) -> Filter | None:
        if entry.filter_text is UNSET:
            return None
        meanings = self._in_dialect()
        return (meanings.advertised if self.kind == "advertise" else meanings.filter)(entry.filter_text)

    def _in_dialect(self) -> Meanings:
        assert self.meanings is not None, "a message that no reader has made"
        return self.meanings

    def __eq__(self, other: object) -> bool:
        return _meant(self) == _meant(other) if isinstance(other, _CoreMessage) else NotImplemented

    def __ne__(self, other: object) -> bool:  # a Struct has one of its own, which does not ask __eq__
        return not self == other

    def __hash__(self) -> int:
        return hash((self.kind, self.ids, self.to))


if TYPE_CHECKING:

    class TraceMessage(_CoreMessage, frozen=True):
        """One message, with a field for each key that a protocol adds (`added`)."""

else:
    TraceMessage = defstruct(
        "TraceMessage",
        [(key.name, key.type | UnsetType, UNSET) for key in ADDED],
        bases=(_CoreMessage,),
        module=__name__,
        frozen=True,
        gc=False,
        eq=False,
    )


def _meant(m: _CoreMessage) -> tuple[object, ...]:
    own = None if m.own is UNSET else bytes(m.own)
    added = *(m.added(key.name) or (0 if key.is_number else m.added(key.name)) for key in ADDED), own
    try:
        return m.kind, m.items, m.event, m.to, added
    except TraceError:  # then it is what was written
        texts = [each.filter_text for each in m._entries()] + [m.attributes_text]
        return m.kind, m.ids, m.to, added, *(None if text is UNSET else bytes(text) for text in texts)


def lack(message: TraceMessage) -> str | None:
    """A key that this message must have and has not, or must not have, in words."""
    if message.several and message.kind not in STANDING:
        return f'"of": found a list; expected one id in a message of the kind {quoted(message.kind)}'
    for key in NEEDS.get(message.kind, ()):
        if key == "id" and not message.id:
            return '"id" is missing; expected a string'
        if key == "filter" and message.filter_text is UNSET:
            return _without_filter(message.kind)
        if key == "items":
            if message.packed is UNSET:
                return '"items" is missing; expected a list'
            if message.kind == "subscribe-many" and any(each.filter_text is UNSET for each in message.packed):
                return _without_filter(message.kind)
    return None


def _without_filter(kind: str) -> str:
    return f"{kind} of an item without a filter; expected a list of predicates or of event numbers"


# -- writing -----------------------------------------------------------------------------------------------------------


def encode(message: Message) -> dict[str, object]:
    """A message of the model as JSON; withdrawals by id."""
    return to_row(message)


# -- reading -----------------------------------------------------------------------------------------------------------


def decode(raw: object, dialect: Dialect) -> TraceMessage:
    """Reads the value under `message` in full; raises `TraceError` where any of it cannot be read."""
    message = read_message(raw, meanings_of(dialect))
    if (reason := lack(message)) is not None:
        raise TraceError(reason)
    message.check()
    return message


def own_keys(row: Mapping[str, object], *, every: bool) -> Raw | UnsetType:
    """The keys of a message that no field has, as JSON; of a kind of the core only with `every`."""
    kind = row.get("kind")
    if not every and kind in SHORT:
        return UNSET
    left = {key: value for key, value in row.items() if key not in STANDARD and (key != "items" or kind not in MANY)}
    return json_text(left, in_order=True) if left else UNSET


def read_message(raw: object, meanings: Meanings, *, own: bool = False) -> TraceMessage:
    """Its fields, each by itself; `lack` says whether they are enough. `own`: also keys that the core has not."""
    row = table("a message", raw)
    kind = name(row, "kind")
    return TraceMessage(
        kind=kind,
        id=name(row, "id", ""),
        filter_text=json_text(row["filter"]) if "filter" in row else UNSET,
        **_of(row),
        to=name(row, "to", ""),
        number=integer(row, "event") if "event" in row else UNSET,
        attributes_text=json_text(row["attributes"]) if "attributes" in row else UNSET,
        packed=_packed(items(row, "items", ITEMS)) if kind in MANY else UNSET,
        own=own_keys(row, every=own),
        meanings=meanings,
        **{key.name: key.read(row, key.name) for key in ADDED if key.name in row},
    )


def _packed(entries: list[object]) -> tuple[PackedItem, ...]:
    if not entries:
        raise TraceError('"items": found an empty list; expected at least one subscription')
    return tuple(_packed_item(entry) for entry in entries)


def _packed_item(raw: object) -> PackedItem:
    row = table("an item", raw)
    filter_text = json_text(row["filter"]) if "filter" in row else UNSET
    return PackedItem(name(row, "id"), filter_text, **_of(row))


def _of(row: Mapping[str, object]) -> dict[str, Any]:
    if not isinstance(row.get("of"), list):
        return {"of": name(row, "of", "")}
    several = names(row, "of", ITEMS)
    if not several or len(set(several)) < len(several):
        what = "an empty list" if not several else "an id twice"
        raise TraceError(f'"of": found {what}; expected the ids of the subscriptions for which the entry stands')
    return {"several": several}


def describe(message: TraceMessage) -> str:
    """One word a message, as `routeproof.model.messages.describe` says it: `sub(S)`, `deliver(p to S)`."""
    ids = ", ".join(id for id in message.ids if id) + (f" for {', '.join(message.several)}" if message.several else "")
    if message.to:
        return f"deliver({ids} to {message.to})"
    word = SHORT.get(message.kind, message.kind)
    return f"{word}({ids})" if ids else word
