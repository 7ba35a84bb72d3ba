"""Snapshots: a broker's tables as a trace tells them.

`TraceTables` is what a snapshot says, by names. `encode_tables` writes the model's `Tables`; `TraceTables.of` makes of
them what reading that would give, so that a snapshot can be compared with the tables that the broker should have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from attrs import evolve, frozen
from msgspec import UNSET, Raw, Struct, UnsetType

from routeproof.model.tables import Tables
from routeproof.traces import extensions
from routeproof.traces.extensions import Entry, EntryLine, Naming, bare, by_id, entry_row, read_entries
from routeproof.traces.fields import REFUSALS, Name, TraceError, in_one_line, parse
from routeproof.traces.messages import Meanings


class _CoreTables(Struct, frozen=True, gc=False):
    """A broker's tables. `sent`: per neighbour, the ids of what was forwarded to it and not retracted."""

    advs: tuple[EntryLine, ...] | UnsetType = UNSET
    subs: tuple[EntryLine, ...] | UnsetType = UNSET
    sent: dict[Name, tuple[Name, ...]] | UnsetType = UNSET


TablesLine: type[Any] = msgspec.defstruct(
    "TablesLine",
    [(part.name, part.type | UnsetType, UNSET) for part in extensions.parts()],
    bases=(_CoreTables,),
    module=__name__,
    frozen=True,
    gc=False,
)
"""The type of the value under `tables`: the core's parts, and those that protocols add."""


@frozen
class TraceTables:
    """Entries in the order of ids, neighbours in the order of names. None: the snapshot does not tell.

    `more`: the parts that a protocol adds, by name; those that the snapshot tells.
    """

    advs: tuple[Entry, ...] | None = None
    subs: tuple[Entry, ...] | None = None
    sent: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    more: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, tables: Tables, name: Naming) -> TraceTables:
        """Snapshot of these tables."""
        return cls(
            advs=by_id(Entry.of(a, hop, name) for a, hop in tables.advs),
            subs=by_id(Entry.of(s, hop, name) for s, hop in tables.subs),
            sent=_by_name((name(to), [s.id for s in subs]) for to, subs in tables.sent),
            more=tuple((part.name, part.of(tables, name)) for part in extensions.parts_of(tables)),
        )

    def without_filters(self) -> TraceTables:
        """For comparing with a snapshot that leaves them out."""
        bare_parts = {part.name: part.bare for part in extensions.parts()}
        return evolve(
            self,
            advs=None if self.advs is None else bare(self.advs),
            subs=None if self.subs is None else bare(self.subs),
            more=tuple((name, bare_parts[name](value)) for name, value in self.more),
        )


def _by_name(sent: Iterable[tuple[str, Iterable[str]]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A neighbour that got nothing counts as absent."""
    return tuple(sorted((name, tuple(sorted(ids))) for name, ids in sent if ids))


def encode_tables(tables: Tables, name: Naming, *, filters: bool = True) -> dict[str, object]:
    """The model's tables as JSON."""
    return {
        "advs": [entry_row(a, hop, name, filters) for a, hop in tables.advs],
        "subs": [entry_row(s, hop, name, filters) for s, hop in tables.subs],
        "sent": {name(to): [s.id for s in subs] for to, subs in tables.sent},
        **{part.name: part.encode(tables, name, filters) for part in extensions.parts_of(tables)},
    }


def read_tables(text: Raw, meanings: Meanings) -> TraceTables:
    """Reads the value under `tables`; raises `TraceError` where it cannot be read."""
    try:
        line = msgspec.json.decode(text, type=TablesLine)
    except REFUSALS as error:
        raise TraceError(f'"tables": {_reason(text, error)}') from None
    told = ((part, getattr(line, part.name)) for part in extensions.parts())
    return TraceTables(
        advs=_entries("advs", line.advs, meanings),
        subs=_entries("subs", line.subs, meanings),
        sent=None if line.sent is UNSET else _by_name(line.sent.items()),
        more=tuple((part.name, part.read(value, meanings)) for part, value in told if value is not UNSET),
    )


def local_entries(text: Raw) -> Iterator[tuple[str, str, bytes | None]]:
    """Yields what local clients announced, as a snapshot tells it: `advertise` or `subscribe`, the id, and the filter
    as it was written, if it was."""
    line = msgspec.json.decode(text, type=TablesLine)
    for kind, entries in (("advertise", line.advs), ("subscribe", line.subs)):
        for entry in () if entries is UNSET else entries:
            if not entry.hop:
                yield kind, entry.id, None if entry.filter_text is UNSET else bytes(entry.filter_text)


def _entries(key: str, lines: Sequence[EntryLine] | UnsetType, meanings: Meanings) -> tuple[Entry, ...] | None:
    return None if lines is UNSET else read_entries(key, lines, meanings)


def _reason(text: Raw, error: Exception) -> str:
    parse(bytes(text))  # if it is no JSON at all, this has the better words
    return in_one_line(error)
