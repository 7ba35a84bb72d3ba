"""Indexes over filters of either algebra, whose filters have nothing to do with each other's.

`FilterIndex` finds the filters that match an event, cover a filter or overlap one; `CoveredIndex` those that a filter
covers. Both look where the answers can be, then ask the filters found there, so that every answer is exact.

Sets of event numbers are indexed by each event that a set holds. `CoveredPredicates` is the index over predicate
filters the other way round: which of them does a filter cover? What a filter covers has, on each attribute, a span
within the filter's own. So profiles are filed under all their spans, by value, by lower and by upper bound, those of
strings by a word (`words`), and a question goes through the shortest of the lists that it may use.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain

from attrs import Factory, define

from routeproof.impl.index.predicate_index import PredicateIndex
from routeproof.impl.index.profile import NO_HI, NO_LO, FilterProfile, Key, Span, Spans
from routeproof.impl.index.texts import Ladder, Listed, WordSet
from routeproof.model.filters import Attributes, Event, PredicateFilter
from routeproof.model.filters.sets import ValueSet


class CoveredPredicates:
    """Holds each profile at most once."""

    def __init__(self) -> None:
        self._profiles: dict[FilterProfile, None] = {}
        self._by_name: dict[str, _Column] = {}

    def add(self, profile: FilterProfile) -> None:
        self._profiles[profile] = None
        for name, span in profile.sketch.spans.items():
            column = self._by_name.get(name)
            if column is None:
                column = self._by_name[name] = _Column()
            column.add(span, profile)

    def remove(self, profile: FilterProfile) -> None:
        del self._profiles[profile]
        for name, span in profile.sketch.spans.items():
            column = self._by_name[name]
            column.remove(span, profile)
            if not len(column):
                del self._by_name[name]

    def covered(self, wide: FilterProfile) -> Iterator[FilterProfile]:
        for profile in self._within(wide):
            if wide.covers(profile):
                yield profile

    def _within(self, wide: FilterProfile) -> Iterator[FilterProfile]:
        """All whose spans are within those of `wide`, and others for which that is true of one."""
        asked = wide.filter
        assert isinstance(asked, PredicateFilter)
        shortest, listed = len(self._profiles), self._profiles.__iter__
        for name, span in wide.sketch.spans.items():
            column = self._by_name.get(name)
            if column is None:
                return iter(())
            for length, profiles in column.within(span, asked.by_name[name]):
                if length < shortest:
                    shortest, listed = length, profiles
        return listed()


@define
class _Column:
    """All profiles that have a span on one attribute."""

    by_key: dict[Key, dict[FilterProfile, None]] = Factory(dict)
    by_lo: Ladder[int] = Factory(Ladder)
    by_hi: Ladder[int] = Factory(Ladder)
    words: WordSet = Factory(WordSet)
    """Predicates on strings only, which are in no other index."""

    def __len__(self) -> int:
        return len(self.by_lo) + len(self.words)

    def add(self, span: Span, profile: FilterProfile) -> None:
        if span.word is not None:
            self.words.add(span.word, profile)
            return
        if span.key is not None:
            self.by_key.setdefault(span.key, {})[profile] = None
        self.by_lo.add(span.lo, profile)
        self.by_hi.add(span.hi, profile)

    def remove(self, span: Span, profile: FilterProfile) -> None:
        if span.word is not None:
            self.words.remove(span.word, profile)
            return
        if span.key is not None:
            del self.by_key[span.key][profile]
            if not self.by_key[span.key]:
                del self.by_key[span.key]
        self.by_lo.remove(span.lo, profile)
        self.by_hi.remove(span.hi, profile)

    def within(self, span: Span, allowed: ValueSet) -> Iterator[Listed]:
        """Lists that hold all profiles whose values are among these, which have this span."""
        if span.word is not None and allowed.strings is not None:
            yield from self.words.within(allowed.strings)
        elif span.key is not None:
            same = self.by_key.get(span.key, {})
            yield len(same), same.__iter__
        elif allowed.strings is not None:
            yield len(self), lambda: chain(self.by_lo, self.words)
        else:
            if span.lo not in NO_LO:
                yield self.by_lo.about(span.lo, span.hi), partial(self.by_lo.between, span.lo, span.hi)
            if span.hi not in NO_HI:
                yield self.by_hi.about(span.lo, span.hi), partial(self.by_hi.between, span.lo, span.hi)
            yield len(self.by_lo), self.by_lo.__iter__


class EventIndex:
    """Holds each profile at most once."""

    def __init__(self) -> None:
        self._by_event: dict[int, dict[FilterProfile, None]] = {}
        self._by_first: dict[int, dict[FilterProfile, None]] = {}

    def add(self, profile: FilterProfile) -> None:
        for event in profile.events:
            self._by_event.setdefault(event, {})[profile] = None
        self._by_first.setdefault(profile.events[0], {})[profile] = None

    def remove(self, profile: FilterProfile) -> None:
        for event in profile.events:
            _remove(self._by_event, event, profile)
        _remove(self._by_first, profile.events[0], profile)

    def matching(self, event: int) -> Iterator[FilterProfile]:
        return iter(self._by_event.get(event, ()))

    def covering(self, narrow: FilterProfile) -> Iterator[FilterProfile]:
        """A set that covers has every event of the narrow one: the rarest of them has all that can."""
        rarest = min((self._by_event.get(event, {}) for event in narrow.events), key=len)
        for profile in rarest:
            if profile.covers(narrow):
                yield profile

    def covered(self, wide: FilterProfile) -> Iterator[FilterProfile]:
        for event in wide.events:
            for profile in self._by_first.get(event, ()):
                if wide.covers(profile):
                    yield profile

    def overlapping(self, other: FilterProfile) -> Iterator[FilterProfile]:
        seen: set[FilterProfile] = set()
        for event in other.events:
            for profile in self._by_event.get(event, ()):
                if profile not in seen:
                    seen.add(profile)
                    yield profile


def _remove(table: dict[int, dict[FilterProfile, None]], event: int, profile: FilterProfile) -> None:
    del table[event][profile]
    if not table[event]:
        del table[event]


class FilterIndex:
    """Holds each profile at most once. Its answers come one by one: a caller that needs only one looks no further."""

    __slots__ = ("_events", "_predicates")

    def __init__(self) -> None:
        self._events, self._predicates = EventIndex(), PredicateIndex()

    def add(self, profile: FilterProfile) -> None:
        self._part(profile).add(profile)

    def remove(self, profile: FilterProfile) -> None:
        self._part(profile).remove(profile)

    def matching(self, event: Event, spans: Spans) -> Iterator[FilterProfile]:
        """`spans` are those of the event."""
        if isinstance(event, Attributes):
            return self._predicates.matching(event, spans)
        return self._events.matching(event)

    def covering(self, narrow: FilterProfile) -> Iterator[FilterProfile]:
        return self._part(narrow).covering(narrow)

    def overlapping(self, other: FilterProfile) -> Iterator[FilterProfile]:
        return self._part(other).overlapping(other)

    def _part(self, profile: FilterProfile) -> EventIndex | PredicateIndex:
        return self._events if profile.events else self._predicates


class CoveredIndex:
    """Holds each profile at most once."""

    __slots__ = ("_events", "_predicates")

    def __init__(self) -> None:
        self._events, self._predicates = EventIndex(), CoveredPredicates()

    def add(self, profile: FilterProfile) -> None:
        self._part(profile).add(profile)

    def remove(self, profile: FilterProfile) -> None:
        self._part(profile).remove(profile)

    def covered(self, wide: FilterProfile) -> Iterator[FilterProfile]:
        return self._part(wide).covered(wide)

    def _part(self, profile: FilterProfile) -> EventIndex | CoveredPredicates:
        return self._events if profile.events else self._predicates
