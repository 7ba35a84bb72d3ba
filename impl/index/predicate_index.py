"""The index over predicate filters: which of them can match an event, cover a filter, or overlap one?

A filter has one place, and it is never far from a question that concerns it. Where it fixes an attribute to one value,
it is filed under the value that fewest others fix, its access key: no event with another value there can match it, no
filter with another value is covered by it or overlaps it. Among those of one access key, and among those that fix
nothing, filters are filed by what an attribute's strings have in common (`texts`), or else nest by their narrowest
range (`Nests`). The index asks the remaining filters one by one. It asks many of them in vain in three cases. Where
only several attributes together are narrow: of filters with v > a and w < b, about half have a below any v. Where
strings are compared (with <, not by a prefix) and the constants begin with the same `sketch.CHARACTERS`. And where
filters overlap, which concerns mostly advertisements: these are looked for by access key only.

`Nests` has profiles by their span on one attribute, to find those whose span encloses a given one.

Spans with one bound stand on a ladder. Spans with two are kept by size, in cells about as wide as they are: a span of
that size touches two cells at most, and whatever it encloses touches no others. So a look-up takes one cell for each
size that there is, and meets only spans that reach into that cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from routeproof.impl.index.profile import (
    NO_HI,
    NO_LO,
    NUMBER_BITS,
    STRING_BITS,
    STRING_LO,
    FilterProfile,
    Key,
    Span,
    Spans,
)
from routeproof.impl.index.texts import Ladder, Texts, Trait, traits_of
from routeproof.model.filters import Attributes, PredicateFilter
from routeproof.model.filters.string_set import StringSet

Cell = tuple[int, int]
"""A size and a position: the cell is 2^size wide, and so many times that away from zero."""


class Nests:
    __slots__ = ("_cells", "_from", "_sizes", "_upto", "_whole")

    def __init__(self) -> None:
        self._whole: dict[FilterProfile, None] = {}
        self._from: Ladder[int] = Ladder()
        self._upto: Ladder[int] = Ladder()
        self._cells: dict[Cell, dict[FilterProfile, None]] = {}
        self._sizes: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._whole or self._cells or self._from or self._upto)

    def add(self, span: Span, profile: FilterProfile) -> None:
        match span.lo in NO_LO, span.hi in NO_HI:
            case True, True:
                self._whole[profile] = None
            case False, True:
                self._from.add(span.lo, profile)
            case True, False:
                self._upto.add(span.hi, profile)
            case _:
                for cell in _cells_of(span):
                    if cell not in self._cells:
                        self._cells[cell] = {}
                        self._sizes[cell[0]] = self._sizes.get(cell[0], 0) + 1
                    self._cells[cell][profile] = None

    def remove(self, span: Span, profile: FilterProfile) -> None:
        match span.lo in NO_LO, span.hi in NO_HI:
            case True, True:
                del self._whole[profile]
            case False, True:
                self._from.remove(span.lo, profile)
            case True, False:
                self._upto.remove(span.hi, profile)
            case _:
                for cell in _cells_of(span):
                    del self._cells[cell][profile]
                    if not self._cells[cell]:
                        self._drop(cell)

    def _drop(self, cell: Cell) -> None:
        del self._cells[cell]
        self._sizes[cell[0]] -= 1
        if not self._sizes[cell[0]]:
            del self._sizes[cell[0]]

    def enclosing(self, span: Span) -> Iterator[FilterProfile]:
        """All whose span encloses this one, and some others that come near: the widest first."""
        yield from self._whole
        yield from self._from.upto(span.lo)
        yield from self._upto.onward(span.hi)
        for size in self._sizes:
            cell = self._cells.get((size, span.lo >> size))
            if cell:
                yield from cell


def _cells_of(span: Span) -> set[Cell]:
    size = (span.hi - span.lo).bit_length()
    return {(size, span.lo >> size), (size, span.hi >> size)}


CROWD = 8
"""So many filters with one trait are few."""


class PredicateIndex:
    """Holds each profile at most once."""

    def __init__(self) -> None:
        self._by_key: dict[str, dict[Key, _Place]] = {}
        self._keyless = _Place()
        self._place_of: dict[FilterProfile, _Place] = {}

    def add(self, profile: FilterProfile) -> None:
        place, rarest = self._keyless, 0
        for name, span in profile.sketch.spans.items():
            if span.key is None:
                continue
            by_key = self._by_key.setdefault(name, {})
            found = by_key.get(span.key)
            if found is None:
                found = by_key[span.key] = _Place(span)
            found.fixed_by += 1
            if place is self._keyless or found.fixed_by < rarest:
                place, rarest = found, found.fixed_by
        place.add(profile)
        self._place_of[profile] = place

    def remove(self, profile: FilterProfile) -> None:
        self._place_of.pop(profile).remove(profile)
        for name, span in profile.sketch.spans.items():
            if span.key is None:
                continue
            by_key = self._by_key[name]
            by_key[span.key].fixed_by -= 1
            if not by_key[span.key].fixed_by:
                del by_key[span.key]
                if not by_key:
                    del self._by_key[name]

    def matching(self, event: Attributes, spans: Spans) -> Iterator[FilterProfile]:
        for profile in self._near(spans):
            if profile.matches(event, spans):
                yield profile

    def covering(self, narrow: FilterProfile) -> Iterator[FilterProfile]:
        for profile in self._near(narrow.sketch.spans):
            if profile.covers(narrow):
                yield profile

    def overlapping(self, other: FilterProfile) -> Iterator[FilterProfile]:
        for profile in self._not_apart(other.sketch.spans):
            if profile.overlaps(other):
                yield profile

    def _near(self, spans: Spans) -> Iterator[FilterProfile]:
        """All whose every span encloses the one in `spans`, and some for which that is true of one or two of them."""
        yield from self._keyless.enclosing(spans)
        for name, span in spans.items():
            by_key = self._by_key.get(name)
            if by_key is not None and span.key is not None and (place := by_key.get(span.key)) is not None:
                yield from place.enclosing(spans)

    def _not_apart(self, spans: Spans) -> Iterator[FilterProfile]:
        """All filters without an access key outside these spans."""
        yield from self._keyless.profiles
        for name, by_key in self._by_key.items():
            span = spans.get(name)
            if span is None:
                for place in by_key.values():
                    yield from place.profiles
            elif span.key is not None:
                if (place_of_key := by_key.get(span.key)) is not None:
                    yield from place_of_key.profiles
            else:
                for place in by_key.values():
                    if span.lo <= place.point <= span.hi:
                        yield from place.profiles


class _Place:
    """Profiles of one access key. `fixed_by` counts all that fix the attribute to that value, wherever they are."""

    __slots__ = ("_nests", "_rest", "_texts", "_trait_of", "fixed_by", "point", "profiles")

    def __init__(self, span: Span | None = None) -> None:
        self.fixed_by = 0
        self.point = span.lo if span is not None else 0
        self.profiles: dict[FilterProfile, None] = {}
        self._texts: dict[str, Texts] = {}
        self._trait_of: dict[FilterProfile, tuple[str, Trait]] = {}
        self._nests: dict[str, Nests] = {}
        self._rest: dict[FilterProfile, None] = {}

    def add(self, profile: FilterProfile) -> None:
        self.profiles[profile] = None
        traits = _traits(profile)
        ranged = _narrowest(profile, traits)
        rarest = min(traits, key=self._filed_under, default=None)
        if rarest is not None and (ranged is None or self._filed_under(rarest) < CROWD):
            name, trait = self._trait_of[profile] = rarest
            self._texts.setdefault(name, Texts()).add(trait, profile)
        elif ranged is not None:
            self._nests.setdefault(ranged, Nests()).add(profile.sketch.spans[ranged], profile)
        else:
            self._rest[profile] = None

    def remove(self, profile: FilterProfile) -> None:
        del self.profiles[profile]
        if (filed := self._trait_of.pop(profile, None)) is not None:
            name, trait = filed
            texts = self._texts[name]
            texts.remove(trait, profile)
            if not texts:
                del self._texts[name]
        elif (ranged := _narrowest(profile, _traits(profile))) is not None:
            nests = self._nests[ranged]
            nests.remove(profile.sketch.spans[ranged], profile)
            if not nests:
                del self._nests[ranged]
        else:
            del self._rest[profile]

    def enclosing(self, spans: Spans) -> Iterator[FilterProfile]:
        yield from self._rest
        for name, texts in self._texts.items():
            if (span := spans.get(name)) is not None and span.word is not None:
                yield from texts.allowing(span.word)
        if len(self._nests) < len(spans):
            for name, nests in self._nests.items():
                if (span := spans.get(name)) is not None:
                    yield from nests.enclosing(span)
        else:
            for name, span in spans.items():
                if (found := self._nests.get(name)) is not None:
                    yield from found.enclosing(span)

    def _filed_under(self, named: tuple[str, Trait]) -> int:
        """How many profiles."""
        name, trait = named
        texts = self._texts.get(name)
        return texts.filed_under(trait) if texts is not None else 0


def _traits(profile: FilterProfile) -> list[tuple[str, Trait]]:
    """Traits of the attributes that have any."""
    return [
        (name, trait)
        for name, span in profile.sketch.spans.items()
        if span.key is None and span.word is not None
        for trait in traits_of(_strings(profile, name))
    ]


def _strings(profile: FilterProfile, name: str) -> StringSet:
    assert isinstance(profile.filter, PredicateFilter)
    strings = profile.filter.by_name[name].strings
    assert strings is not None
    return strings


def _narrowest(profile: FilterProfile, traits: Sequence[tuple[str, Trait]]) -> str | None:
    """The attribute with the smallest part of its line, among those that are not fixed to one value and have no trait.

    Where there are traits, it must have two ends: one does not say more than they do.
    """
    narrowest, least = None, 0
    for name, (lo, hi, _, _, key, _) in profile.sketch.spans.items():
        if key is not None or (traits and (lo in NO_LO or hi in NO_HI or any(name == each for each, _ in traits))):
            continue
        width = (hi - lo).bit_length() - (STRING_BITS if lo >= STRING_LO else NUMBER_BITS)
        if narrowest is None or width < least:
            narrowest, least = name, width
    return narrowest
