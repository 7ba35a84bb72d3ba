"""Sets that filters are made of: event numbers, and the values of one attribute.

A set of event numbers is a filter by itself: the small algebra, for instances that are explored exhaustively.

A set of values of one attribute has numbers, strings and booleans, and says whether the attribute may be missing. This
is all a dialect has to produce. The four have nothing in common, so a set of values is included in another, or shares a
value with it, kind by kind.

Every conjunction of comparisons with constants is an interval of the real line or of the whole numbers, with holes.
`NumberSet` is its one normal form: bounds are as tight as they go and holes lie strictly inside, so that equal sets are
equal values. A `NumberSet` is never empty; where a set may be, the type is `NumberSet | None`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from typing import Protocol, Self, TypeVar

from attrs import evolve, field, frozen

from routeproof.model.filters.interface import Event, Filter, FilterError, Float, Number, Value, exact, shown
from routeproof.model.filters.string_set import ALL_STRINGS, StringSet

EVENT_NUMBER = 4095
"""The highest event number. The sets are bit masks, and one absurd number must not allocate one of a gigabyte."""


@frozen
class EventSet:
    """A non-empty set of event numbers as a bit mask: bit e is set where event e is in the set."""

    mask: int = field()

    @mask.validator
    def _not_empty(self, _: object, mask: int) -> None:
        if type(mask) is not int or not 0 < mask < 2 << EVENT_NUMBER:
            raise FilterError(
                f"a set of events: found the mask {shown(mask)}; expected at least one event from 0 to {EVENT_NUMBER}"
            )

    @classmethod
    def of(cls, events: object) -> EventSet:
        """The set of the numbers in a list, tuple, set or range."""
        if not isinstance(events, list | tuple | set | frozenset | range):
            raise FilterError(f"a set of events: found {shown(events)}; expected a list of event numbers")
        if not events:
            raise FilterError("a set of events: found an empty list; expected at least one event number")
        if len(events) > EVENT_NUMBER + 1:
            raise FilterError(f"a set of events: found {len(events)} of them; expected at most {EVENT_NUMBER + 1}")
        return cls(reduce(lambda mask, event: mask | 1 << read_event_number(event), events, 0))

    @property
    def events(self) -> tuple[int, ...]:
        return tuple(event for event in range(self.mask.bit_length()) if self.mask >> event & 1)

    def matches(self, event: Event) -> bool:
        if not isinstance(event, int):
            raise FilterError("a set of event numbers cannot match a table of attributes; expected an event number")
        return event >= 0 and bool(self.mask >> event & 1)

    def covers(self, other: Filter) -> bool:
        return not _mask(other) & ~self.mask

    def overlaps(self, other: Filter) -> bool:
        return bool(_mask(other) & self.mask)

    def to_json(self) -> list[object]:
        return list(self.events)

    def __str__(self) -> str:
        return "{" + ",".join(map(str, self.events)) + "}"


@frozen
class EventNumbers:
    """The dialect of `EventSet`: a filter is a list of event numbers, an event is a number."""

    name: str = "events"

    def parse(self, raw: object) -> EventSet:
        return EventSet.of(raw)

    def advertisement(self, raw: object) -> EventSet:
        return EventSet.of(raw)

    def event(self, raw: object) -> int:
        return read_event_number(raw)


EVENTS = EventNumbers()


def read_event_number(raw: object) -> int:
    if type(raw) is not int or not 0 <= raw <= EVENT_NUMBER:
        raise FilterError(f"an event: found {shown(raw)}; expected a whole number from 0 to {EVENT_NUMBER}")
    return raw


def _mask(other: Filter) -> int:
    if not isinstance(other, EventSet):
        raise FilterError("a set of events was compared with a predicate filter; expected filters of one kind")
    return other.mask


BOOLEANS = frozenset((False, True))


@frozen
class NumberSet:
    """Build with the functions below and `intersect`: they keep the normal form. A bound of None is none (and open)."""

    low: Number | None = None
    low_open: bool = True
    high: Number | None = None
    high_open: bool = True
    whole: bool = False
    holes: frozenset[Number] = frozenset()

    def __contains__(self, number: Number) -> bool:
        if self.low is not None and (number < self.low or (self.low_open and number == self.low)):
            return False
        if self.high is not None and (number > self.high or (self.high_open and number == self.high)):
            return False
        if self.whole and number.denominator != 1:
            return False
        return not self.holes or number not in self.holes

    def within(self, other: NumberSet) -> bool:
        """Whether this is a subset. Normal bounds are elements or limits of the set, so comparing them decides."""
        if self is other:
            return True
        if other.low is not None and (
            self.low is None or self.low < other.low or (other.low_open and not self.low_open and self.low == other.low)
        ):
            return False
        if other.high is not None and (
            self.high is None
            or self.high > other.high
            or (other.high_open and not self.high_open and self.high == other.high)
        ):
            return False
        if other.whole and not self.whole:
            return False
        return not other.holes or not any(hole in self for hole in other.holes)

    def overlaps(self, other: NumberSet) -> bool:
        return self.intersect(other) is not None

    def intersect(self, other: NumberSet) -> NumberSet | None:
        low, low_open = self.low, self.low_open
        if other.low is not None and (low is None or other.low >= low):
            low_open = other.low_open or (low_open and other.low == low)
            low = other.low
        high, high_open = self.high, self.high_open
        if other.high is not None and (high is None or other.high <= high):
            high_open = other.high_open or (high_open and other.high == high)
            high = other.high
        whole = self.whole or other.whole
        holes = self.holes | other.holes
        return _whole(low, low_open, high, high_open, holes) if whole else _dense(low, low_open, high, high_open, holes)


ALL_NUMBERS = NumberSet()
WHOLE_NUMBERS = NumberSet(whole=True)


def only(number: Number) -> NumberSet:
    number = exact(number)
    return NumberSet(number, False, number, False, whole=number.denominator == 1)


def all_but(number: Number) -> NumberSet:
    return NumberSet(holes=frozenset((exact(number),)))


def below(number: Number, *, inclusive: bool) -> NumberSet:
    return NumberSet(high=exact(number), high_open=not inclusive)


def above(number: Number, *, inclusive: bool) -> NumberSet:
    return NumberSet(low=exact(number), low_open=not inclusive)


def _dense(
    low: Number | None, low_open: bool, high: Number | None, high_open: bool, holes: frozenset[Number]
) -> NumberSet | None:
    """On the real line: between two different bounds there is always room, and a hole at a bound opens it."""
    low_open = low_open or low in holes
    high_open = high_open or high in holes
    if low is not None and high is not None and low >= high:
        return None if low > high or low_open or high_open else only(low)
    return NumberSet(low, low_open, high, high_open, False, _inside(holes, low, high))


def _whole(
    low: Number | None, low_open: bool, high: Number | None, high_open: bool, holes: frozenset[Number]
) -> NumberSet | None:
    """Among whole numbers every bound moves to a number that is in the set, so the set is empty where they cross."""
    if low is not None:
        low = math.floor(low) + 1 if low_open else math.ceil(low)
        while low in holes:
            low += 1
    if high is not None:
        high = math.ceil(high) - 1 if high_open else math.floor(high)
        while high in holes:
            high -= 1
    if low is not None and high is not None and low > high:
        return None
    whole_holes = (hole for hole in holes if hole.denominator == 1)
    return NumberSet(low, low is None, high, high is None, True, _inside(whole_holes, low, high))


def _inside(holes: Iterable[Number], low: Number | None, high: Number | None) -> frozenset[Number]:
    return frozenset(hole for hole in holes if (low is None or low < hole) and (high is None or hole < high))


class _Kind(Protocol):
    def within(self, other: Self) -> bool: ...

    def overlaps(self, other: Self) -> bool: ...

    def intersect(self, other: Self) -> Self | None: ...


K = TypeVar("K", bound=_Kind)


@frozen
class ValueSet:
    """No numbers, no strings and no floats is None. Every field is a normal form: equal sets are equal values."""

    numbers: NumberSet | None = None
    strings: StringSet | None = None
    booleans: frozenset[bool] = frozenset()
    missing: bool = False
    floats: NumberSet | None = None

    def __contains__(self, value: Value) -> bool:
        if isinstance(value, str):
            return self.strings is not None and value in self.strings
        if isinstance(value, bool):  # before numbers: to Python, True is one
            return value in self.booleans
        if isinstance(value, Float):
            return self.floats is not None and value.number in self.floats
        return self.numbers is not None and value in self.numbers

    @property
    def is_empty(self) -> bool:
        is_empty = self.numbers is None and self.strings is None and not self.booleans and not self.missing
        return is_empty and self.floats is None

    def within(self, other: ValueSet) -> bool:
        return (
            (other.missing or not self.missing)
            and _within(self.numbers, other.numbers)
            and _within(self.strings, other.strings)
            and self.booleans <= other.booleans
            and (self.floats is None or _within(self.floats, other.floats))
        )

    def overlaps(self, other: ValueSet) -> bool:
        return (
            (self.missing and other.missing)
            or _overlap(self.numbers, other.numbers)
            or _overlap(self.strings, other.strings)
            or not self.booleans.isdisjoint(other.booleans)
            or (self.floats is not None and _overlap(self.floats, other.floats))
        )

    def intersect(self, other: ValueSet) -> ValueSet:
        return ValueSet(
            _intersect(self.numbers, other.numbers),
            _intersect(self.strings, other.strings),
            self.booleans & other.booleans,
            self.missing and other.missing,
            None if self.floats is None else _intersect(self.floats, other.floats),
        )

    def or_missing(self) -> ValueSet:
        return evolve(self, missing=True)


ABSENT = ValueSet(missing=True)
PRESENT = ValueSet(ALL_NUMBERS, ALL_STRINGS, BOOLEANS, floats=ALL_NUMBERS)
ANYTHING = PRESENT.or_missing()


def _within(mine: K | None, other: K | None) -> bool:
    return mine is None or (other is not None and mine.within(other))


def _overlap(mine: K | None, other: K | None) -> bool:
    return mine is not None and other is not None and mine.overlaps(other)


def _intersect(mine: K | None, other: K | None) -> K | None:
    return None if mine is None or other is None else mine.intersect(other)
