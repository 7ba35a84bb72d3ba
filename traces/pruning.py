"""Additions of pruning to traces: the header of a publication, the cuts of a withdrawal, and parts of snapshots.

    [["a1", [1, 7]], ["a2", [null, null]]]

Cuts say how far a withdrawal is to go: an advertisement and a distance for each threshold; null is without end. An
empty list is not the same as none: without a list a withdrawal goes all the way (PRN-1).

A snapshot also has `retained`, per neighbour what is in `sent` there and was withdrawn here; `rows`, by subscription
and advertisement; `held`, in the order in which it came; and whether the broker is `congested`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from attrs import evolve, frozen
from msgspec import UNSET, Meta, Struct, UnsetType, field

from routeproof.model.filters.interface import quoted, shown
from routeproof.model.messages import Unsubscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.vocabulary import Cut, CutList, Met, PruningTables, Row
from routeproof.model.pruning.vocabulary import cuts_of as cuts_in
from routeproof.traces.extensions import (
    Entry,
    EntryLine,
    Extension,
    FilterText,
    MessageKey,
    Naming,
    SnapshotPart,
    bare,
    by_id,
    entry_row,
    keys_of,
    read_entries,
    read_entry,
)
from routeproof.traces.fields import INTEGER, Name, OptionalName, Raw, TraceError, WholeNumber, items, name

if TYPE_CHECKING:
    from routeproof.traces.messages import Meanings, TraceMessage
    from routeproof.traces.tables import TraceTables

CUTS = 10_000
"""Advertisements in one list."""

THRESHOLDS = 16
"""Distances for one advertisement."""

Distance: TypeAlias = Annotated[int, Meta(ge=-INTEGER, le=INTEGER)]
"""Below 0 for what would have ended earlier, had there been less to send."""

Distances: TypeAlias = Annotated[tuple[Distance | None, ...], Meta(max_length=THRESHOLDS)]
CutLines: TypeAlias = Annotated[tuple[tuple[Name, Distances], ...], Meta(max_length=CUTS)]


def encode_cuts(cuts: Iterable[Cut]) -> list[object]:
    return [[cut.advertisement, list(cut.distances)] for cut in cuts]


def cuts_of(lines: CutLines) -> tuple[Cut, ...]:
    """The model's."""
    return tuple(Cut(advertisement, distances) for advertisement, distances in lines)


def read_cuts(row: Raw, key: str) -> CutLines:
    return tuple(_read_cut(each, key) for each in items(row, key, CUTS))


def _read_cut(raw: object, key: str) -> tuple[str, tuple[int | None, ...]]:
    if not isinstance(raw, list) or len(raw) != 2:
        raise TraceError(f'"{key}": found {shown(raw)}; expected an advertisement and its distances')
    distances = items({key: raw[1]}, key, THRESHOLDS)
    return name({key: raw[0]}, key), tuple(_distance(each, key) for each in distances)


def _distance(raw: object, key: str) -> int | None:
    if raw is None:
        return None
    if type(raw) is not int or not -INTEGER <= raw <= INTEGER:
        raise TraceError(f'"{key}": found {shown(raw)}; expected a whole number of hops, or null')
    return raw


def header_in(message: TraceMessage) -> tuple[int, int]:
    """Distance and count of a publication; 0 where they are left out."""
    return message.added("distance") or 0, message.added("count") or 0


def cuts_in_trace(message: TraceMessage) -> tuple[Cut, ...] | None:
    """The list of a withdrawal; None where it has none."""
    lines = message.added("cuts")
    return None if lines is None else cuts_of(lines)


# -- snapshots ---------------------------------------------------------------------------------------------------------


class HeldLine(Struct, frozen=True, gc=False):
    """Under pruning, a withdrawal that waits; `from` as in an entry."""

    id: Name
    hop: OptionalName = field(default="", name="from")
    filter_text: FilterText | UnsetType = field(default=UNSET, name="filter")
    cuts: CutLines | UnsetType = UNSET


RowLine: TypeAlias = tuple[Name, WholeNumber, WholeNumber]
"""A publication, and the distance and the count in its header."""

Retained: TypeAlias = tuple[tuple[str, tuple[Entry, ...]], ...]
Rows: TypeAlias = tuple[tuple[str, str, tuple[Row, ...]], ...]
"""By subscription and advertisement, in the order of both; of each pair in the order of delivery."""


@frozen
class Held:
    """A withdrawal that waits."""

    entry: Entry
    cuts: tuple[Cut, ...] | None = None


@frozen
class PruningParts:
    """The parts of a snapshot that pruning adds. None: the snapshot does not tell."""

    retained: Retained | None = None
    rows: Rows | None = None
    held: tuple[Held, ...] | None = None
    congested: bool | None = None

    @classmethod
    def of(cls, told: TraceTables) -> PruningParts:
        return cls(**{part: value for part, value in told.more if part in PARTS})


def _retained(retained: Iterable[tuple[str, Sequence[Entry]]]) -> Retained:
    by_name = sorted((name, by_id(entries)) for name, entries in retained if entries)
    return tuple(by_name)


def _retained_in(tables: PruningTables, name: Naming) -> Retained:
    return _retained((name(n), [Entry(s.id, "", s.filter) for s in subs]) for n, subs in tables.retained)


def _read_retained(lines: dict[str, tuple[EntryLine, ...]], meanings: Meanings) -> Retained:
    return _retained((n, read_entries("retained", entries, meanings)) for n, entries in lines.items())


def _bare_retained(retained: Retained) -> Retained:
    return tuple((n, bare(entries)) for n, entries in retained)


def _encode_retained(tables: PruningTables, name: Naming, filters: bool) -> object:
    return {name(n): [entry_row(s, LOCAL, name, filters) for s in subs] for n, subs in tables.retained}


def _rows(rows: Iterable[tuple[str, str, tuple[Row, ...]]]) -> Rows:
    return tuple(sorted((each for each in rows if each[2]), key=lambda each: each[:2]))


def _read_rows(lines: Iterable[tuple[str, str, tuple[RowLine, ...]]], _: Meanings) -> Rows:
    rows = _rows((s, a, tuple(Row(*each) for each in latest)) for s, a, latest in lines)
    for one, next_one in pairwise(rows):
        if one[:2] == next_one[:2]:
            raise TraceError(f'"tables": {quoted(one[0])} with {quoted(one[1])} is twice in "rows"; expected it once')
    return rows


def _encode_rows(tables: PruningTables, _: Naming, __: bool) -> object:
    return [[s.id, a, [[r.publication, r.distance, r.count] for r in rows]] for s, a, rows in tables.rows]


def _held_in(tables: PruningTables, name: Naming) -> tuple[Held, ...]:
    return tuple(Held(Entry.of(w.subscription, hop, name), cuts_in(w)) for hop, w in tables.held)


def _read_held(lines: Sequence[HeldLine], meanings: Meanings) -> tuple[Held, ...]:
    return tuple(
        Held(
            read_entry(line.id, line.hop, line.filter_text, meanings),
            None if line.cuts is UNSET else cuts_of(line.cuts),
        )
        for line in lines
    )


def _bare_held(held: tuple[Held, ...]) -> tuple[Held, ...]:
    return tuple(evolve(each, entry=bare((each.entry,))[0]) for each in held)


def _encode_held(tables: PruningTables, name: Naming, filters: bool) -> object:
    return [_held_row(withdrawal, hop, name, filters) for hop, withdrawal in tables.held]


def _held_row(withdrawal: Unsubscribe, hop: Node, name: Naming, filters: bool) -> dict[str, object]:
    listed = cuts_in(withdrawal)
    cuts = {} if listed is None else {"cuts": encode_cuts(listed)}
    return {**entry_row(withdrawal.subscription, hop, name, filters), **cuts}


def _same(value: Any) -> Any:
    return value


PARTS = ("retained", "rows", "held", "congested")

EXTENSION = Extension(
    (*keys_of(Met), *keys_of(CutList, MessageKey("cuts", CutLines, read_cuts))),
    (
        SnapshotPart(
            "retained",
            dict[Name, tuple[EntryLine, ...]],
            _read_retained,
            _retained_in,
            _bare_retained,
            _encode_retained,
        ),
        SnapshotPart(
            "rows",
            tuple[tuple[Name, OptionalName, tuple[RowLine, ...]], ...],
            _read_rows,
            lambda tables, _: _rows((s.id, a, rows) for s, a, rows in tables.rows),
            _same,
            _encode_rows,
        ),
        SnapshotPart("held", tuple[HeldLine, ...], _read_held, _held_in, _bare_held, _encode_held),
        SnapshotPart(
            "congested",
            bool,
            lambda value, _: value,
            lambda tables, _: tables.congested,
            _same,
            lambda tables, _, __: tables.congested,
        ),
    ),
    PruningTables,
)
