"""Extensions: the keys of messages and the parts of snapshots that protocols which ship add to traces.

A protocol that adds any has a module of its name here with its `EXTENSION`, listed in `extensions`. The reader's types,
the columns of Parquet and the JSON Schema are made from these; no other module here knows whose they are. Messages of a
protocol from outside keep their own keys as JSON (`TraceMessage.own`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from attrs import evolve, frozen
from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec import Raw as JsonText

from routeproof.model.fields import types_of
from routeproof.model.filters import Filter
from routeproof.model.filters.interface import quoted
from routeproof.model.messages import Advertisement, MessageHeader, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables
from routeproof.traces.fields import Name, OptionalName, Raw, TraceError, WholeNumber, integer

if TYPE_CHECKING:
    from routeproof.traces.messages import Meanings

FilterText: TypeAlias = Annotated[JsonText, Meta(extra_json_schema={"$ref": "#/$defs/Filter"})]

Naming: TypeAlias = Callable[[Node], str]
"""Naming of the model's brokers in a trace."""


@frozen
class MessageKey:
    """A key of a message. `type` is what msgspec reads it by, `read` the reference reader, which names the key.

    A number that is left out is 0. A value that is no number is a column of JSON texts.
    """

    name: str
    type: Any
    read: Callable[[Raw, str], Any]
    is_number: bool = False


@frozen
class SnapshotPart:
    """A part of a snapshot. `read` makes its value of what `type` has read, `of` makes it of the model's tables, `bare`
    leaves out its filters, and `encode` writes it.
    """

    name: str
    type: Any
    read: Callable[[Any, Meanings], object]
    of: Callable[[Any, Naming], object]
    bare: Callable[[Any], object]
    encode: Callable[[Any, Naming, bool], object]


@frozen
class Extension:
    """The additions of one protocol. `tables`: its class of tables, which have the parts."""

    keys: tuple[MessageKey, ...] = ()
    parts: tuple[SnapshotPart, ...] = ()
    tables: type[Tables] | None = None
    is_open: bool = False
    """True if messages keep other keys as JSON, as those of a protocol from outside do (`TraceMessage.own`)."""

    def parts_of(self, tables: Tables) -> tuple[SnapshotPart, ...]:
        return self.parts if self.tables is not None and isinstance(tables, self.tables) else ()


def keys_of(header: type[MessageHeader], *others: MessageKey) -> tuple[MessageKey, ...]:
    """The keys of a header's fields: whole numbers are derived, the others are given."""
    given = {key.name: key for key in others}
    numbers = {
        name: MessageKey(name, WholeNumber, integer, True) for name, hint in types_of(header).items() if hint is int
    }
    return tuple((numbers | given)[name] for name in types_of(header))


@cache
def extensions() -> dict[str, Extension]:
    """The extensions of the protocols that ship, by protocol; one that adds nothing has an empty one."""
    from routeproof.traces import pruning  # which rests on this module

    return {
        "routing": Extension(),
        "pruning": pruning.EXTENSION,
        "migration": Extension(is_open=True),
        "placement": Extension(is_open=True),
        "trees": Extension(is_open=True),
        "mesh": Extension(is_open=True),
    }


def keys() -> tuple[MessageKey, ...]:
    """The keys of all protocols, each once."""
    return tuple({key.name: key for each in extensions().values() for key in each.keys}.values())


def parts() -> tuple[SnapshotPart, ...]:
    """The parts of all protocols, each once."""
    return tuple({part.name: part for each in extensions().values() for part in each.parts}.values())


def parts_of(tables: Tables) -> tuple[SnapshotPart, ...]:
    """The parts that these tables have."""
    return tuple(part for each in extensions().values() for part in each.parts_of(tables))


# -- entries of tables -------------------------------------------------------------------------------------------------


class EntryLine(Struct, frozen=True, gc=False):
    """One advertisement or subscription. `from` is the neighbour that it came from; left out for a local client."""

    id: Name
    hop: OptionalName = field(default="", name="from")
    filter_text: FilterText | UnsetType = field(default=UNSET, name="filter")


@frozen
class Entry:
    """One advertisement or subscription; `hop` is empty for a local client's, `filter` None where it was left out."""

    id: str
    hop: str = ""
    filter: Filter | None = None

    @classmethod
    def of(cls, item: Advertisement | Subscription, hop: Node, name: Naming) -> Entry:
        return cls(item.id, "" if hop == LOCAL else name(hop), item.filter)


def by_id(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda each: each.id))


def bare(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries without their filters."""
    return tuple(evolve(each, filter=None) for each in entries)


def read_entry(
    id: str, hop: str, filter_text: JsonText | UnsetType, meanings: Meanings, *, is_promise: bool = False
) -> Entry:
    read = meanings.advertised if is_promise else meanings.filter
    return Entry(id, hop, None if filter_text is UNSET else read(filter_text))


def read_entries(key: str, lines: Sequence[EntryLine], meanings: Meanings) -> tuple[Entry, ...]:
    """Reads the entries in the order of ids; refuses an id that stands twice."""
    entries = by_id(
        read_entry(line.id, line.hop, line.filter_text, meanings, is_promise=key == "advs") for line in lines
    )
    for one, next_one in pairwise(entries):
        if one.id == next_one.id:
            raise TraceError(f'"tables": {quoted(one.id)} is twice in "{key}"; expected an id once')
    return entries


def entry_row(item: Advertisement | Subscription, hop: Node, name: Naming, filters: bool) -> dict[str, object]:
    return {
        "id": item.id,
        **({} if hop == LOCAL else {"from": name(hop)}),
        **({"filter": item.filter.to_json()} if filters else {}),
    }
