"""Sets of values of one attribute: numbers, strings and booleans, and whether it may be missing.

This is all a dialect has to produce. The four have nothing in common, so a set of values is included in another, or
shares a value with it, kind by kind.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

from attrs import evolve, frozen

from routeproof.model.filters.interface import Value
from routeproof.model.filters.number_set import ALL_NUMBERS, NumberSet
from routeproof.model.filters.string_set import ALL_STRINGS, StringSet

BOOLEANS = frozenset((False, True))


class _Kind(Protocol):
    def within(self, other: Self) -> bool: ...

    def overlaps(self, other: Self) -> bool: ...

    def intersect(self, other: Self) -> Self | None: ...


K = TypeVar("K", bound=_Kind)


@frozen
class ValueSet:
    """No numbers, and no strings, is None. Every field is a normal form: equal sets are equal values."""

    numbers: NumberSet | None = None
    strings: StringSet | None = None
    booleans: frozenset[bool] = frozenset()
    missing: bool = False

    def __contains__(self, value: Value) -> bool:
        if isinstance(value, str):
            return self.strings is not None and value in self.strings
        if isinstance(value, bool):  # before numbers: to Python, True is one
            return value in self.booleans
        return self.numbers is not None and value in self.numbers

    @property
    def is_empty(self) -> bool:
        return self.numbers is None and self.strings is None and not self.booleans and not self.missing

    def within(self, other: ValueSet) -> bool:
        return (
            (other.missing or not self.missing)
            and _within(self.numbers, other.numbers)
            and _within(self.strings, other.strings)
            and self.booleans <= other.booleans
        )

    def overlaps(self, other: ValueSet) -> bool:
        return (
            (self.missing and other.missing)
            or _overlap(self.numbers, other.numbers)
            or _overlap(self.strings, other.strings)
            or not self.booleans.isdisjoint(other.booleans)
        )

    def intersect(self, other: ValueSet) -> ValueSet:
        return ValueSet(
            _intersect(self.numbers, other.numbers),
            _intersect(self.strings, other.strings),
            self.booleans & other.booleans,
            self.missing and other.missing,
        )

    def or_missing(self) -> ValueSet:
        return evolve(self, missing=True)


PRESENT = ValueSet(ALL_NUMBERS, ALL_STRINGS, BOOLEANS)
ANYTHING = PRESENT.or_missing()


def _within(mine: K | None, other: K | None) -> bool:
    return mine is None or (other is not None and mine.within(other))


def _overlap(mine: K | None, other: K | None) -> bool:
    return mine is not None and other is not None and mine.overlaps(other)


def _intersect(mine: K | None, other: K | None) -> K | None:
    return None if mine is None or other is None else mine.intersect(other)
