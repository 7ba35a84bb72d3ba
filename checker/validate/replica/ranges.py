"""Ranges of numbers as floats, many at a time: `Columns`.

A number has a *float of its own* where that float reads as the number again (FLT-2: a float stands for the shortest
decimal that reads as it). Rounding keeps order, and no two numbers have the same float of their own, so such numbers
are ordered as their floats are and comparing the floats is exact. The others (2**53 + 1, 10**400, 1/3) have no place
here: whoever asks `bounds` is told None, and goes to the filters themselves.

A range has two ends; an end is (where, open). The upper end is held with its sign changed, so that for both ends less
is further out: a range holds another where each of its ends is at most the other's, open counting as a little more.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from routeproof.model.filters import Number, Value
from routeproof.model.filters.value_set import ValueSet

End: TypeAlias = tuple[float, bool]
Bounds: TypeAlias = tuple[End, End]
Flags: TypeAlias = NDArray[np.bool_]

EXACT = 1 << 53
"""Whole numbers up to here are floats."""

NONE: End = (float("-inf"), True)
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
    if numbers.whole and numbers.low != numbers.high:
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
        """Which rows hold all that is asked."""
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

    def covered(self, asked: Sequence[Bounds | None]) -> Flags:
        """Which rows are held by what is asked."""
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
        """Which rows share something with what is asked: each begins before the other ends."""
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
