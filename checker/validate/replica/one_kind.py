"""An index of filters of one kind: that of the first."""

from __future__ import annotations

from collections.abc import Iterable

from routeproof.checker.validate.replica.event_sets import EventSetIndex
from routeproof.checker.validate.replica.groups import Group, Index
from routeproof.checker.validate.replica.predicates import PredicateIndex
from routeproof.model.filters import Event, Filter, FilterError, PredicateFilter


class OneKindIndex:
    """A trace has one dialect, so all its filters can be compared with each other; another is refused."""

    def __init__(self) -> None:
        self._index: Index | None = None

    def add(self, group: Group) -> None:
        predicates = isinstance(group.filter, PredicateFilter)
        if self._index is None:
            self._index = PredicateIndex() if predicates else EventSetIndex()
        if predicates != isinstance(self._index, PredicateIndex):
            raise FilterError("a predicate filter and a set of events in one trace; expected filters of one kind")
        self._index.add(group)

    def remove(self, group: Group) -> None:
        assert self._index is not None, "it was added"
        self._index.remove(group)

    def matching(self, event: Event) -> Iterable[Group]:
        return () if self._index is None else self._index.matching(event)

    def covering(self, asked: Filter) -> Iterable[Group]:
        return () if self._index is None else self._index.covering(asked)

    def covered(self, asked: Filter) -> Iterable[Group]:
        return () if self._index is None else self._index.covered(asked)

    def overlapping(self, asked: Filter) -> Iterable[Group]:
        return () if self._index is None else self._index.overlapping(asked)
