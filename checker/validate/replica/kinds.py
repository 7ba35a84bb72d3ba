"""An index of filters of either kind: sets of events, and predicates.

A trace has one dialect, but its filters may be of both kinds, since event numbers are event numbers in every dialect.
The two have nothing in common: none matches, covers or overlaps what is of the other kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from routeproof.checker.validate.replica.event_sets import EventSetIndex
from routeproof.checker.validate.replica.groups import Group, Index
from routeproof.checker.validate.replica.predicates import PredicateIndex
from routeproof.model.filters import Attributes, Event, Filter, PredicateFilter


class BothKinds:
    """Each question goes to the index of its kind."""

    def __init__(self) -> None:
        self._sets = EventSetIndex()
        self._predicates = PredicateIndex()

    def add(self, group: Group) -> None:
        self._of(group.filter).add(group)

    def remove(self, group: Group) -> None:
        self._of(group.filter).remove(group)

    def matching(self, event: Event) -> Iterable[Group]:
        return (self._predicates if isinstance(event, Attributes) else self._sets).matching(event)

    def covering(self, asked: Filter) -> Iterable[Group]:
        return self._of(asked).covering(asked)

    def covered(self, asked: Filter) -> Iterable[Group]:
        return self._of(asked).covered(asked)

    def overlapping(self, asked: Filter) -> Iterable[Group]:
        return self._of(asked).overlapping(asked)

    def _of(self, each: Filter) -> Index:
        return self._predicates if isinstance(each, PredicateFilter) else self._sets


def matches(its: Filter, event: Event) -> bool:
    return isinstance(its, PredicateFilter) == isinstance(event, Attributes) and its.matches(event)


def covers(wide: Filter, narrow: Filter) -> bool:
    return type(wide) is type(narrow) and wide.covers(narrow)


def overlaps(one: Filter, other: Filter) -> bool:
    return type(one) is type(other) and one.overlaps(other)
