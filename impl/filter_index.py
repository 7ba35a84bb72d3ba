"""Indexes over filters of either algebra, whose filters have nothing to do with each other's.

`FilterIndex` finds the filters that match an event, cover a filter or overlap one; `CoveredIndex` those that a filter
covers. Both look where the answers can be, then ask the filters found there, so that every answer is exact.
"""

from __future__ import annotations

from collections.abc import Iterator

from routeproof.impl.covered_predicates import CoveredPredicates
from routeproof.impl.event_index import EventIndex
from routeproof.impl.predicate_index import PredicateIndex
from routeproof.impl.profile import Profile
from routeproof.impl.sketch import Spans
from routeproof.model.filters import Attributes, Event


class FilterIndex:
    """Holds each profile at most once. Its answers come one by one: whoever needs one only looks for no more."""

    __slots__ = ("_events", "_predicates")

    def __init__(self) -> None:
        self._events, self._predicates = EventIndex(), PredicateIndex()

    def add(self, profile: Profile) -> None:
        self._part(profile).add(profile)

    def remove(self, profile: Profile) -> None:
        self._part(profile).remove(profile)

    def matching(self, event: Event, spans: Spans) -> Iterator[Profile]:
        """`spans` are those of the event."""
        if isinstance(event, Attributes):
            return self._predicates.matching(event, spans)
        return self._events.matching(event)

    def covering(self, narrow: Profile) -> Iterator[Profile]:
        return self._part(narrow).covering(narrow)

    def overlapping(self, other: Profile) -> Iterator[Profile]:
        return self._part(other).overlapping(other)

    def _part(self, profile: Profile) -> EventIndex | PredicateIndex:
        return self._events if profile.events else self._predicates


class CoveredIndex:
    """Holds each profile at most once."""

    __slots__ = ("_events", "_predicates")

    def __init__(self) -> None:
        self._events, self._predicates = EventIndex(), CoveredPredicates()

    def add(self, profile: Profile) -> None:
        self._part(profile).add(profile)

    def remove(self, profile: Profile) -> None:
        self._part(profile).remove(profile)

    def covered(self, wide: Profile) -> Iterator[Profile]:
        return self._part(wide).covered(wide)

    def _part(self, profile: Profile) -> EventIndex | CoveredPredicates:
        return self._events if profile.events else self._predicates
