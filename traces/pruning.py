"""Cuts: how far a withdrawal is to go toward each advertisement, as a trace tells it.

    [["a1", [1, 7]], ["a2", [null, null]]]

An advertisement and a distance for each threshold; null is without end. An empty list is not the same as none: without
a list a withdrawal goes all the way (PRN-1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeAlias

from msgspec import Meta

from routeproof.model.filters.interface import shown
from routeproof.model.pruning.messages import Cut
from routeproof.traces.fields import INTEGER, Name, Raw, TraceError, items, name

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
