"""Snapshots: a broker's tables as a trace tells them.

`TraceTables` is what a snapshot says, by names. `encode_tables` writes the model's `Tables`; `TraceTables.of` makes of
them what reading that would give, so that what a broker knows can be compared with what it should.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

import msgspec
from attrs import evolve, frozen
from msgspec import UNSET, Raw, Struct, UnsetType, field

from routeproof.model.filters import Filter
from routeproof.model.filters.wording import quoted
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables
from routeproof.traces.fields import Name, OptionalName, TraceError, in_one_line
from routeproof.traces.meanings import Meanings
from routeproof.traces.messages import FilterText
from routeproof.traces.strict_json import REFUSALS, parse

Naming: TypeAlias = Callable[[Node], str]
"""What a trace calls a broker of the model."""


class EntryLine(Struct, frozen=True, gc=False):
    """One advertisement or subscription. `from` is the neighbour that it came from; left out for a local client."""

    id: Name
    hop: OptionalName = field(default="", name="from")
    filter_text: FilterText | UnsetType = field(default=UNSET, name="filter")


class TablesLine(Struct, frozen=True, gc=False):
    """A broker's tables. `sent`: per neighbour, the ids of what was forwarded to it and not retracted."""

    advs: tuple[EntryLine, ...] | UnsetType = UNSET
    subs: tuple[EntryLine, ...] | UnsetType = UNSET
    sent: dict[Name, tuple[Name, ...]] | UnsetType = UNSET


@frozen
class Entry:
    """One advertisement or subscription; `hop` is empty for a local client's, `filter` None where it was left out."""

    id: str
    hop: str = ""
    filter: Filter | None = None


@frozen
class TraceTables:
    """Entries in the order of ids, neighbours in the order of names. None: the snapshot does not tell."""

    advs: tuple[Entry, ...] | None = None
    subs: tuple[Entry, ...] | None = None
    sent: tuple[tuple[str, tuple[str, ...]], ...] | None = None

    @classmethod
    def of(cls, tables: Tables, name: Naming) -> TraceTables:
        """What a snapshot of these tables says."""
        return cls(
            advs=_by_id(_entry(a, hop, name) for a, hop in tables.advs),
            subs=_by_id(_entry(s, hop, name) for s, hop in tables.subs),
            sent=_by_name((name(to), [s.id for s in subs]) for to, subs in tables.sent),
        )

    def without_filters(self) -> TraceTables:
        """For comparing with a snapshot that leaves them out."""
        bare = {
            key: None if entries is None else tuple(evolve(each, filter=None) for each in entries)
            for key, entries in (("advs", self.advs), ("subs", self.subs))
        }
        return TraceTables(**bare, sent=self.sent)


def _entry(item: Advertisement | Subscription, hop: Node, name: Naming) -> Entry:
    return Entry(item.id, "" if hop == LOCAL else name(hop), item.filter)


def _by_id(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda each: each.id))


def _by_name(sent: Iterable[tuple[str, Iterable[str]]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A neighbour that was told nothing is as good as none."""
    return tuple(sorted((name, tuple(sorted(ids))) for name, ids in sent if ids))


# -- writing -----------------------------------------------------------------------------------------------------------


def encode_tables(tables: Tables, name: Naming, *, filters: bool = True) -> dict[str, object]:
    """The model's tables as JSON."""
    return {
        "advs": [_row(a, hop, name, filters) for a, hop in tables.advs],
        "subs": [_row(s, hop, name, filters) for s, hop in tables.subs],
        "sent": {name(to): [s.id for s in subs] for to, subs in tables.sent},
    }


def _row(item: Advertisement | Subscription, hop: Node, name: Naming, filters: bool) -> dict[str, object]:
    return {
        "id": item.id,
        **({} if hop == LOCAL else {"from": name(hop)}),
        **({"filter": item.filter.to_json()} if filters else {}),
    }


# -- reading -----------------------------------------------------------------------------------------------------------


def read_tables(text: Raw, meanings: Meanings) -> TraceTables:
    """What stands under `tables`; `TraceError` where it cannot be read."""
    try:
        line = msgspec.json.decode(text, type=TablesLine)
    except REFUSALS as error:
        raise TraceError(f'"tables": {_reason(text, error)}') from None
    return TraceTables(
        advs=_entries("advs", line.advs, meanings),
        subs=_entries("subs", line.subs, meanings),
        sent=None if line.sent is UNSET else _by_name(line.sent.items()),
    )


def _entries(key: str, lines: Sequence[EntryLine] | UnsetType, meanings: Meanings) -> tuple[Entry, ...] | None:
    if lines is UNSET:
        return None
    entries = _by_id(
        Entry(line.id, line.hop, None if line.filter_text is UNSET else meanings.filter(line.filter_text))
        for line in lines
    )
    for one, next_one in pairwise(entries):
        if one.id == next_one.id:
            raise TraceError(f'"tables": {quoted(one.id)} is twice in "{key}"; expected an id once')
    return entries


def _reason(text: Raw, error: Exception) -> str:
    parse(bytes(text))  # if it is no JSON at all, this has the better words
    return in_one_line(error)
