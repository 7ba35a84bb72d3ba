"""Buckets: filters that constrain the same attributes, and some of them to the same single value.

The constraints that are left are compared one by one. Where these are ranges of numbers only, and the bucket has more
than a few filters, they are compared in columns of floats (`Columns`); in every other case by the methods of each
filter, which define the right answer for columns too.

A number has a *float of its own* where that float reads as the number again (FLT-2: a float stands for the shortest
decimal that reads as it). Rounding keeps order, and no two numbers have the same float of their own, so such numbers
are ordered as their floats are and comparing the floats is exact. The others (2**53 + 1, 10**400, 1/3) have no place
here: `bounds` returns None for them, and the caller compares the filters themselves.

A range has two ends; an end is (where, open). The upper end is held with its sign changed, so that for both ends less
is further out: a range holds another where each of its ends is at most the other's, open counting as a little more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from math import inf, nextafter
from typing import TypeAlias

import numpy as np
from attrs import Factory, define, frozen
from numpy.typing import NDArray

from routeproof.checker.validate.fast.bits import FEW as FEW_NUMBERS
from routeproof.checker.validate.fast.bits import SPARSE, mask_of
from routeproof.model.filters import Attributes, Filter, Float, Number, PredicateFilter, Value
from routeproof.model.filters.sets import ValueSet

End: TypeAlias = tuple[float, bool]
Bounds: TypeAlias = tuple[End, End]
Flags: TypeAlias = NDArray[np.bool_]

EXACT = 1 << 53
"""Whole numbers up to here are floats."""

NONE: End = (-inf, True)
"""The end of what has none."""


def own_float(number: Number) -> float | None:
    """The float that stands for this number and no other; None where there is none."""
    if isinstance(number, int) and -EXACT <= number <= EXACT:
        return float(number)
    try:
        nearest = number.numerator / number.denominator
    except OverflowError:
        return None
    return nearest if Decimal(repr(nearest)).as_integer_ratio() == (number.numerator, number.denominator) else None


def bounds(values: ValueSet) -> Bounds | None:
    """The ends of a set that is one number, or all real numbers of a range and nothing else."""
    numbers = values.numbers
    if numbers is None or values.strings is not None or values.booleans or values.missing or numbers.holes:
        return None
    if values.floats is not None:
        return None
    if numbers.whole and (numbers.low is None or numbers.low != numbers.high):
        return None
    low = None if numbers.low is None else own_float(numbers.low)
    high = None if numbers.high is None else own_float(numbers.high)
    if (low is None) != (numbers.low is None) or (high is None) != (numbers.high is None):
        return None
    return (
        NONE if low is None else (low, numbers.low_open),
        NONE if high is None else (-high, numbers.high_open),
    )


def point(value: Value) -> Bounds | None:
    """One number as a range; None where that cannot be."""
    if not isinstance(value, int | Fraction) or isinstance(value, bool):
        return None
    number = own_float(value)
    return None if number is None else ((number, False), (-number, False))


class Columns:
    """Rows of ranges, `width` in a row. A question is one range for each place in a row, or None for any."""

    def __init__(self, width: int) -> None:
        self._ends = 2 * width
        self._where: NDArray[np.float64] = np.empty((self._ends, 16))
        self._open: Flags = np.empty((self._ends, 16), np.bool_)
        self._opens = [0] * self._ends
        """How many are open, end by end: where all are alike, a comparison is one step and not five."""
        self.rows = 0

    def append(self, row: Sequence[Bounds]) -> None:
        if self.rows == self._where.shape[1]:
            self._where = np.concatenate((self._where, np.empty_like(self._where)), axis=1)
            self._open = np.concatenate((self._open, np.empty_like(self._open)), axis=1)
        for i, (where, is_open) in enumerate(end for ends in row for end in ends):
            self._where[i, self.rows] = where
            self._open[i, self.rows] = is_open
            self._opens[i] += is_open
        self.rows += 1

    def remove(self, row: int) -> None:
        """The last row takes its place."""
        self.rows -= 1
        for i in range(self._ends):
            self._opens[i] -= bool(self._open[i, row])
        self._where[:, row] = self._where[:, self.rows]
        self._open[:, row] = self._open[:, self.rows]

    def covering(self, asked: Sequence[Bounds | None]) -> Flags:
        """Marks the rows that cover the query."""
        found = np.ones(self.rows, np.bool_)
        for i, (where, is_open) in _ends(asked):
            mine, opens = self._where[i, : self.rows], self._opens[i]
            if is_open or not opens:
                found &= mine <= where
            elif opens == self.rows:
                found &= mine < where
            else:
                found &= (mine < where) | ((mine == where) & ~self._open[i, : self.rows])
        return found

    def holding(self, points: Sequence[NDArray[np.float64]]) -> Flags:
        """Marks for each of many points the rows that hold it. `points`: their numbers, for each place in a row."""
        found = np.ones((len(points[0]), self.rows), np.bool_)
        for i in range(self._ends):
            mine, is_open = self._where[i, : self.rows], self._open[i, : self.rows]
            values = points[i // 2] if i % 2 == 0 else -points[i // 2]
            found &= np.where(is_open, np.nextafter(mine, inf), mine) <= values[:, None]
        return found

    def covered(self, asked: Sequence[Bounds | None]) -> Flags:
        """Marks the rows that the query covers."""
        found = np.ones(self.rows, np.bool_)
        for i, (where, is_open) in _ends(asked):
            mine, opens = self._where[i, : self.rows], self._opens[i]
            if not is_open or opens == self.rows:
                found &= mine >= where
            elif not opens:
                found &= mine > where
            else:
                found &= (mine > where) | ((mine == where) & self._open[i, : self.rows])
        return found

    def overlapping(self, asked: Sequence[Bounds | None]) -> Flags:
        """Marks the rows that overlap the query: each begins before the other ends."""
        found = np.ones(self.rows, np.bool_)
        for i, (where, is_open) in _ends(asked):
            mine, opens = self._where[i ^ 1, : self.rows], self._opens[i ^ 1]
            if is_open or opens == self.rows:
                found &= mine < -where
            elif not opens:
                found &= mine <= -where
            else:
                found &= (mine < -where) | ((mine == -where) & ~self._open[i ^ 1, : self.rows])
        return found


def _ends(asked: Sequence[Bounds | None]) -> list[tuple[int, End]]:
    return [(2 * i + j, end) for i, each in enumerate(asked) if each is not None for j, end in enumerate(each)]


# -- buckets -----------------------------------------------------------------------------------------------------------

FEW = 12
"""Largest number of filters that are compared one by one: numpy is no faster for them."""

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
    if (floats := values.floats) is not None:
        alone = floats.low is not None and floats.low == floats.high and values == ValueSet(floats=floats)
        return Float(floats.low) if alone and floats.low is not None else None
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


@define(eq=False)
class Group:
    """All that have one filter, by number. `place` belongs to the index that holds the group."""

    filter: Filter
    numbers: list[int] = Factory(list)
    place: int = -1
    _mask: int = 0
    """The numbers as a mask, where they are many and it was asked for."""
    _ends: tuple[float, ...] | None = None

    @property
    def are_many(self) -> bool:
        """Is a mask of them not larger than they are?"""
        return len(self.numbers) > max(FEW_NUMBERS, self.numbers[-1] >> SPARSE)

    @property
    def mask(self) -> int:
        if self._mask or not self.are_many:
            return self._mask or mask_of(self.numbers)
        self._mask = mask_of(self.numbers)
        return self._mask

    def row_of(self, ranges: Iterable[str]) -> list[Bounds]:
        """The ranges of these attributes, which have bounds."""
        assert isinstance(self.filter, PredicateFilter)
        row = [bounds(self.filter.by_name[name]) for name in ranges]
        return [each for each in row if each is not None]

    def ends_of(self, ranges: Iterable[str]) -> tuple[float, ...]:
        """The ends of these ranges as floats that belong to them."""
        if self._ends is None:
            row = chain.from_iterable(self.row_of(ranges))
            self._ends = tuple(nextafter(where, inf) if is_open else where for where, is_open in row)
        return self._ends

    def add(self, number: int) -> None:
        self.numbers.append(number)
        self._mask |= 1 << number if self._mask else 0

    def remove(self, number: int) -> None:
        self.numbers.remove(number)
        self._mask &= ~(1 << number)


class Bucket:
    """`place` is the index's number for it."""

    def __init__(self, key: Key, place: int) -> None:
        self.key = key
        self.place = place
        self.groups: list[Group] = []
        self.columns: Columns | None = None

    def add(self, group: Group) -> None:
        group.place = len(self.groups)
        self.groups.append(group)
        if self.columns is not None:
            self.columns.append(group.row_of(self.key.ranges))
        elif len(self.groups) > FEW and not self.key.others:
            self.columns = Columns(len(self.key.ranges))
            for each in self.groups:
                self.columns.append(each.row_of(self.key.ranges))

    def remove(self, group: Group) -> None:
        last = self.groups.pop()
        if last is not group:
            self.groups[group.place] = last
            last.place = group.place
        if self.columns is not None:
            self.columns.remove(group.place)

    def matching(self, event: Attributes) -> Sequence[Group]:
        """Groups of a bucket whose items the event has, and whose ranges it has a value for."""
        if self.columns is not None:
            values = [event.by_name[name] for name in self.key.ranges]
            if any(isinstance(value, str | bool) for value in values):
                return ()
            row = [point(value) for value in values]
            if None not in row:
                return self._chosen(self.columns.covering(row))
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
        if self.columns is not None:
            sets = asked.by_name
            row = [bounds(sets[name]) if name in sets else None for name in self.key.ranges]
            if not any(ends is None and name in sets for name, ends in zip(self.key.ranges, row, strict=True)):
                return self._chosen(compare(self.columns, row))
        return [group for group in self.groups if ask(group)]

    def _chosen(self, flags: Flags) -> Sequence[Group]:
        return [self.groups[row] for row in flags.nonzero()[0].tolist()]
