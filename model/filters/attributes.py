"""Events as attributes: a finite map from names to strings, booleans and exact numbers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from attrs import field, frozen

Number: TypeAlias = int | Fraction
"""An exact number; a `Fraction` only where it is not whole."""

Value: TypeAlias = str | bool | Number


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

    def to_json(self) -> dict[str, str | bool | int | float]:
        """The table that was read; a number that is not whole came from a float and goes back to the same one."""
        return {name: float(value) if isinstance(value, Fraction) else value for name, value in self.pairs}

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value!r}" for name, value in self.to_json().items())
