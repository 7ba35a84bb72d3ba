"""Snapshots: a broker's tables as a trace tells them.

`TraceTables` is what a snapshot says, by names. `encode_tables` writes the model's `Tables`; `TraceTables.of` makes of
them what reading that would give, so that what a broker knows can be compared with what it should.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias, overload

import msgspec
from attrs import evolve, frozen
from msgspec import UNSET, Raw, Struct, UnsetType, field

from routeproof.model.filters import Filter
from routeproof.model.filters.interface import quoted
from routeproof.model.messages import Advertisement, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.messages import Cut
from routeproof.model.pruning.messages import cuts_of as cuts_in
from routeproof.model.pruning.state import PruningTables, Row
from routeproof.model.tables import Tables
from routeproof.traces.fields import REFUSALS, Name, OptionalName, TraceError, WholeNumber, in_one_line, parse
from routeproof.traces.messages import FilterText, Meanings
from routeproof.traces.pruning import CutLines, cuts_of, encode_cuts

Naming: TypeAlias = Callable[[Node], str]
"""Naming of the model's brokers in a trace."""


class EntryLine(Struct, frozen=True, gc=False):
    """One advertisement or subscription. `from` is the neighbour that it came from; left out for a local client."""

    id: Name
    hop: OptionalName = field(default="", name="from")
    filter_text: FilterText | UnsetType = field(default=UNSET, name="filter")


class HeldLine(Struct, frozen=True, gc=False):
    """A withdrawal that waits, under pruning; `from` and `filter` as in an entry."""

    id: Name
    hop: OptionalName = field(default="", name="from")
    filter_text: FilterText | UnsetType = field(default=UNSET, name="filter")
    cuts: CutLines | UnsetType = UNSET


RowLine: TypeAlias = tuple[Name, WholeNumber, WholeNumber]
"""A publication, and the distance and the count in its header."""


class TablesLine(Struct, frozen=True, gc=False):
    """A broker's tables. `sent`: per neighbour, the ids of what was forwarded to it and not retracted.

    Under pruning also: `retained`, per neighbour what is in `sent` there and was withdrawn here; `rows`, by
    subscription and advertisement; `held`, in the order in which it came; and whether the broker is `congested`.
    """

    advs: tuple[EntryLine, ...] | UnsetType = UNSET
    subs: tuple[EntryLine, ...] | UnsetType = UNSET
    sent: dict[Name, tuple[Name, ...]] | UnsetType = UNSET
    retained: dict[Name, tuple[EntryLine, ...]] | UnsetType = UNSET
    rows: tuple[tuple[Name, OptionalName, tuple[RowLine, ...]], ...] | UnsetType = UNSET
    held: tuple[HeldLine, ...] | UnsetType = UNSET
    congested: bool | UnsetType = UNSET


@frozen
class Entry:
    """One advertisement or subscription; `hop` is empty for a local client's, `filter` None where it was left out."""

    id: str
    hop: str = ""
    filter: Filter | None = None


@frozen
class Held:
    """A withdrawal that waits."""

    entry: Entry
    cuts: tuple[Cut, ...] | None = None


@frozen
class TraceTables:
    """Entries in the order of ids, neighbours in the order of names. None: the snapshot does not tell."""

    advs: tuple[Entry, ...] | None = None
    subs: tuple[Entry, ...] | None = None
    sent: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    retained: tuple[tuple[str, tuple[Entry, ...]], ...] | None = None
    rows: tuple[tuple[str, str, tuple[Row, ...]], ...] | None = None
    """By subscription and advertisement, in the order of both; of each pair in the order of delivery."""
    held: tuple[Held, ...] | None = None
    congested: bool | None = None

    @classmethod
    def of(cls, tables: Tables, name: Naming) -> TraceTables:
        """Snapshot of these tables."""
        core = cls(
            advs=_by_id(_entry(a, hop, name) for a, hop in tables.advs),
            subs=_by_id(_entry(s, hop, name) for s, hop in tables.subs),
            sent=_by_name((name(to), [s.id for s in subs]) for to, subs in tables.sent),
        )
        if not isinstance(tables, PruningTables):
            return core
        return evolve(
            core,
            retained=_retained((name(n), [Entry(s.id, "", s.filter) for s in subs]) for n, subs in tables.retained),
            rows=_rows((s.id, a, rows) for s, a, rows in tables.rows),
            held=tuple(Held(_entry(w.subscription, hop, name), cuts_in(w)) for hop, w in tables.held),
            congested=tables.congested,
        )

    def without_filters(self) -> TraceTables:
        """For comparing with a snapshot that leaves them out."""
        return evolve(
            self,
            advs=_bare(self.advs),
            subs=_bare(self.subs),
            retained=None if self.retained is None else tuple((n, _bare(each) or ()) for n, each in self.retained),
            held=None if self.held is None else tuple(evolve(w, entry=_bare((w.entry,))[0]) for w in self.held),
        )


@overload
def _bare(entries: None) -> None: ...
@overload
def _bare(entries: tuple[Entry, ...]) -> tuple[Entry, ...]: ...
def _bare(entries: tuple[Entry, ...] | None) -> tuple[Entry, ...] | None:
    return None if entries is None else tuple(evolve(each, filter=None) for each in entries)


def _entry(item: Advertisement | Subscription, hop: Node, name: Naming) -> Entry:
    return Entry(item.id, "" if hop == LOCAL else name(hop), item.filter)


def _by_id(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda each: each.id))


def _by_name(sent: Iterable[tuple[str, Iterable[str]]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A neighbour that got nothing counts as absent."""
    return tuple(sorted((name, tuple(sorted(ids))) for name, ids in sent if ids))


def _retained(retained: Iterable[tuple[str, Sequence[Entry]]]) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    by_name = sorted((name, _by_id(entries)) for name, entries in retained if entries)
    return tuple(by_name)


def _rows(rows: Iterable[tuple[str, str, tuple[Row, ...]]]) -> tuple[tuple[str, str, tuple[Row, ...]], ...]:
    return tuple(sorted((each for each in rows if each[2]), key=lambda each: each[:2]))


# -- writing -----------------------------------------------------------------------------------------------------------


def encode_tables(tables: Tables, name: Naming, *, filters: bool = True) -> dict[str, object]:
    """The model's tables as JSON."""
    core: dict[str, object] = {
        "advs": [_row(a, hop, name, filters) for a, hop in tables.advs],
        "subs": [_row(s, hop, name, filters) for s, hop in tables.subs],
        "sent": {name(to): [s.id for s in subs] for to, subs in tables.sent},
    }
    if not isinstance(tables, PruningTables):
        return core
    return {
        **core,
        "retained": {name(n): [_row(s, LOCAL, name, filters) for s in subs] for n, subs in tables.retained},
        "rows": [[s.id, a, [[r.publication, r.distance, r.count] for r in rows]] for s, a, rows in tables.rows],
        "held": [_held_row(withdrawal, hop, name, filters) for hop, withdrawal in tables.held],
        "congested": tables.congested,
    }


def _held_row(withdrawal: Unsubscribe, hop: Node, name: Naming, filters: bool) -> dict[str, object]:
    listed = cuts_in(withdrawal)
    cuts = {} if listed is None else {"cuts": encode_cuts(listed)}
    return {**_row(withdrawal.subscription, hop, name, filters), **cuts}


def _row(item: Advertisement | Subscription, hop: Node, name: Naming, filters: bool) -> dict[str, object]:
    return {
        "id": item.id,
        **({} if hop == LOCAL else {"from": name(hop)}),
        **({"filter": item.filter.to_json()} if filters else {}),
    }


# -- reading -----------------------------------------------------------------------------------------------------------


def read_tables(text: Raw, meanings: Meanings) -> TraceTables:
    """Reads the value under `tables`; raises `TraceError` where it cannot be read."""
    try:
        line = msgspec.json.decode(text, type=TablesLine)
    except REFUSALS as error:
        raise TraceError(f'"tables": {_reason(text, error)}') from None
    return TraceTables(
        advs=_entries("advs", line.advs, meanings),
        subs=_entries("subs", line.subs, meanings),
        sent=None if line.sent is UNSET else _by_name(line.sent.items()),
        retained=None
        if line.retained is UNSET
        else _retained((n, _entries("retained", lines, meanings) or ()) for n, lines in line.retained.items()),
        rows=None if line.rows is UNSET else _read_rows(line.rows),
        held=None if line.held is UNSET else tuple(_held(each, meanings) for each in line.held),
        congested=None if line.congested is UNSET else line.congested,
    )


def _entries(key: str, lines: Sequence[EntryLine] | UnsetType, meanings: Meanings) -> tuple[Entry, ...] | None:
    if lines is UNSET:
        return None
    entries = _by_id(_read_entry(line, meanings) for line in lines)
    for one, next_one in pairwise(entries):
        if one.id == next_one.id:
            raise TraceError(f'"tables": {quoted(one.id)} is twice in "{key}"; expected an id once')
    return entries


def _read_entry(line: EntryLine | HeldLine, meanings: Meanings) -> Entry:
    return Entry(line.id, line.hop, None if line.filter_text is UNSET else meanings.filter(line.filter_text))


def _held(line: HeldLine, meanings: Meanings) -> Held:
    return Held(_read_entry(line, meanings), None if line.cuts is UNSET else cuts_of(line.cuts))


def _read_rows(lines: Iterable[tuple[str, str, tuple[RowLine, ...]]]) -> tuple[tuple[str, str, tuple[Row, ...]], ...]:
    rows = _rows((s, a, tuple(Row(*each) for each in latest)) for s, a, latest in lines)
    for one, next_one in pairwise(rows):
        if one[:2] == next_one[:2]:
            raise TraceError(f'"tables": {quoted(one[0])} with {quoted(one[1])} is twice in "rows"; expected it once')
    return rows


def _reason(text: Raw, error: Exception) -> str:
    parse(bytes(text))  # if it is no JSON at all, this has the better words
    return in_one_line(error)
