"""Filters that constrain the same attributes, and some of them to the same one value: `Bucket`.

What is left to compare are the other constraints. Where these are ranges of numbers and nothing else, and the bucket
has more than a few filters, they are compared in columns; in every other case each filter is asked, by the methods that
it has for that: they are the truth that columns are held to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from attrs import frozen

from routeproof.checker.validate.replica.groups import Group
from routeproof.checker.validate.replica.ranges import Bounds, Columns, Flags, bounds, point
from routeproof.model.filters import Attributes, PredicateFilter, Value
from routeproof.model.filters.value_set import ValueSet

FEW = 12
"""Up to so many filters are asked one by one: numpy is no faster."""

Item: TypeAlias = Value | tuple[bool]
"""A value as a key: to Python, True is 1."""


def item(value: Value) -> Item:
    return (value,) if isinstance(value, bool) else value


def only_value(values: ValueSet) -> Item | None:
    """The one that the set holds; None where there are more, or what is missing is among them.

    It need not notice every such set. But equal sets are equal values (FLT-6), so all that hold one value are noticed,
    or none.
    """
    if values.missing:
        return None
    numbers, strings, booleans = values.numbers, values.strings, values.booleans
    if numbers is not None:
        alone = strings is None and not booleans and numbers.low == numbers.high
        return numbers.low if alone else None
    if strings is not None:
        if booleans or not strings.range.is_finite:
            return None
        words = strings.range.words()
        return words[0] if len(words) == 1 else None
    return item(next(iter(booleans))) if len(booleans) == 1 else None


@frozen
class Key:
    """`items`: the attributes with one value. `ranges`: those with bounds. `others`: any other constraint.

    `lenient`: does one of these hold of an event that lacks the attribute?
    """

    items: tuple[tuple[str, Item], ...]
    ranges: tuple[str, ...]
    others: tuple[str, ...]
    lenient: bool

    @property
    def size(self) -> int:
        """How many attributes are constrained."""
        return len(self.items) + len(self.ranges) + len(self.others)

    @classmethod
    def of(cls, constrained: PredicateFilter) -> Key:
        items, ranges, others = [], [], []
        for name, values in constrained.constraints:
            one = only_value(values)
            if one is not None:
                items.append((name, one))
            elif bounds(values) is not None:
                ranges.append(name)
            else:
                others.append(name)
        lenient = any(values.missing for _, values in constrained.constraints)
        return cls(tuple(items), tuple(ranges), tuple(others), lenient)


class Bucket:
    """`place` is the index's number for it."""

    def __init__(self, key: Key, place: int) -> None:
        self.key = key
        self.place = place
        self.groups: list[Group] = []
        self._columns: Columns | None = None

    def add(self, group: Group) -> None:
        group.place = len(self.groups)
        self.groups.append(group)
        if self._columns is not None:
            self._columns.append(self._row(group))
        elif len(self.groups) > FEW and not self.key.others:
            self._columns = Columns(len(self.key.ranges))
            for each in self.groups:
                self._columns.append(self._row(each))

    def remove(self, group: Group) -> None:
        last = self.groups.pop()
        if last is not group:
            self.groups[group.place] = last
            last.place = group.place
        if self._columns is not None:
            self._columns.remove(group.place)

    def matching(self, event: Attributes) -> Iterable[Group]:
        """Of a bucket whose items the event has, and whose ranges it has a value for."""
        if self._columns is not None:
            values = [event.by_name[name] for name in self.key.ranges]
            if any(isinstance(value, str | bool) for value in values):
                return ()
            row = [point(value) for value in values]
            if None not in row:
                return self._chosen(self._columns.covering(row))
        elif not self.key.ranges and not self.key.others:
            return self.groups
        return [group for group in self.groups if group.filter.matches(event)]

    def covering(self, asked: PredicateFilter) -> Iterable[Group]:
        return self._related(asked, Columns.covering, lambda group: group.filter.covers(asked))

    def covered(self, asked: PredicateFilter) -> Iterable[Group]:
        sets = asked.by_name
        mine = self.groups[0].filter
        assert isinstance(mine, PredicateFilter)
        if any(name in sets and not mine.by_name[name].within(sets[name]) for name, _ in self.key.items):
            return ()
        return self._related(asked, Columns.covered, lambda group: asked.covers(group.filter))

    def overlapping(self, asked: PredicateFilter) -> Iterable[Group]:
        sets = asked.by_name
        mine = self.groups[0].filter
        assert isinstance(mine, PredicateFilter)
        if any(name in sets and not mine.by_name[name].overlaps(sets[name]) for name, _ in self.key.items):
            return ()
        return self._related(asked, Columns.overlapping, lambda group: group.filter.overlaps(asked))

    def _related(
        self,
        asked: PredicateFilter,
        compare: Callable[[Columns, Sequence[Bounds | None]], Flags],
        ask: Callable[[Group], bool],
    ) -> Iterable[Group]:
        if self._columns is not None:
            sets = asked.by_name
            row = [bounds(sets[name]) if name in sets else None for name in self.key.ranges]
            if not any(ends is None and name in sets for name, ends in zip(self.key.ranges, row, strict=True)):
                return self._chosen(compare(self._columns, row))
        return [group for group in self.groups if ask(group)]

    def _chosen(self, flags: Flags) -> Iterable[Group]:
        return [self.groups[row] for row in flags.nonzero()[0].tolist()]

    def _row(self, group: Group) -> list[Bounds]:
        assert isinstance(group.filter, PredicateFilter)
        row = [bounds(group.filter.by_name[name]) for name in self.key.ranges]
        return [each for each in row if each is not None]  # by the key, all are
