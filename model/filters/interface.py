"""Interface of filters, dialects and events: the names that the rest of routeproof is written against.

An event is a number, or `Attributes`: a finite map from names to strings, booleans and exact numbers. `shown` writes
whatever was found on one short line of a message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Protocol, TypeAlias, runtime_checkable

from attrs import field, frozen

LONGEST = 40
"""Characters shown of a string; digits shown of a number."""

Number: TypeAlias = int | Fraction
"""An exact number; a `Fraction` only where it is not whole."""

Constant: TypeAlias = str | bool | int | float
"""A constant, or a value of an event, as JSON and TOML write it: `5` and `5.0` are two."""


@frozen
class Float:
    """A number that was written as a float, in a dialect to which it is another value than the whole number."""

    number: Number


Value: TypeAlias = str | bool | Number | Float

FLOATS = 1 << 12
"""Floats of which the number is remembered, some 300 bytes each: prices come again and again."""


def exact(number: float | Fraction) -> Number:
    """The number that was written (FLT-2): a float stands for the shortest decimal that reads as it, so 0.1 is 1/10."""
    if isinstance(number, float):
        return _of_float(number)
    return number.numerator if number.denominator == 1 else number


@lru_cache(FLOATS)
def _of_float(number: float) -> Number:
    # By way of `Decimal`, which reads ten times as fast as `Fraction`.
    fraction = Fraction(*Decimal(repr(number)).as_integer_ratio())
    return fraction.numerator if fraction.denominator == 1 else fraction


def _typed(pairs: tuple[tuple[str, Value], ...]) -> tuple[tuple[str, bool, Value], ...]:
    # Python holds True == 1: without the type, interning would hand out one event for the other.
    return tuple((name, isinstance(value, bool), value) for name, value in pairs)


@frozen(cache_hash=True)
class Attributes:
    """One event. `pairs` are sorted by name, each name once; a dialect's `event` makes them so."""

    pairs: tuple[tuple[str, Value], ...] = field(eq=_typed)
    by_name: Mapping[str, Value] = field(init=False, eq=False, repr=False)

    @by_name.default
    def _by_name(self) -> Mapping[str, Value]:
        return dict(self.pairs)

    @classmethod
    def of(cls, values: Mapping[str, Value]) -> Attributes:
        return cls(tuple(sorted(values.items())))  # each name is there once: values are never compared

    def to_json(self) -> dict[str, Constant]:
        """The table that was read; a number that is not whole came from a float and goes back to the same one."""
        return {name: written(value) for name, value in self.pairs}

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value!r}" for name, value in self.to_json().items())


def written(value: Value) -> Constant:
    """The constant that is read as this value."""
    number = value.number if isinstance(value, Float) else value
    return float(number) if isinstance(number, Fraction) or isinstance(value, Float) else number


def shown(value: object) -> str:
    """Scalars as JSON writes them, anything else by its kind only: it may be huge, nested or recursive."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # Before str(): Python refuses to write out a number of some thousand digits.
        bits = value.bit_length()
        return f"an integer of {bits} bits" if bits > 3 * LONGEST else str(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "a table"
    return f"a value of type {type(value).__name__}"


def quoted(text: str) -> str:
    """Escaped as JSON does: no line break, and no lone surrogate that a terminal could not print."""
    return json.dumps(text if len(text) <= LONGEST else text[:LONGEST] + "...")


def named(name: str) -> str:
    """An attribute or operator, which a message must not take for a string constant."""
    return f"'{quoted(name)[1:-1]}'"


Event: TypeAlias = int | Attributes
"""An event number for `EventSet`, attributes for a predicate filter."""


class FilterError(ValueError):
    """A filter or an event that cannot be read: one line that says what was found and what was expected."""


@runtime_checkable
class Filter(Protocol):
    """A set of events that is never empty. Frozen and hashable; equal where the same events match (FLT-6)."""

    def matches(self, event: Event) -> bool: ...

    def covers(self, other: Filter) -> bool:
        """Whether every event that `other` matches matches here too. Reflexive."""

    def overlaps(self, other: Filter) -> bool:
        """Whether some event matches both."""

    def to_json(self) -> list[object]:
        """Returns JSON that the filter's dialect parses back into an equal filter."""

    def __hash__(self) -> int: ...


@runtime_checkable
class Dialect(Protocol):
    """A language of filters: how one that arrives as JSON or TOML is read, and how an event is."""

    @property
    def name(self) -> str: ...

    def parse(self, raw: object) -> Filter:
        """Returns the filter of a subscription."""

    def advertisement(self, raw: object) -> Filter:
        """Returns the filter of an advertisement, which may be another one than that of an equal subscription."""

    def event(self, raw: object) -> Event: ...
