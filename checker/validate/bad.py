"""Lines that could not be read: `BadLines` counts them and keeps the first few, however many there are."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable

from attrs import define, field

from routeproof.checker.validate.packing import storable
from routeproof.traces import BadLine

KEPT = 20
"""So many are shown."""


@define
class BadLines:
    """Whoever reads a piece of a trace has some; added up in any order, they come to the same."""

    count: int = 0
    first: list[BadLine] = field(factory=list)
    """By number."""

    def add(self, line: BadLine) -> None:
        self.count += 1
        self._keep(line)

    def merge(self, other: BadLines) -> None:
        self.count += other.count
        for line in other.first:
            self._keep(line)

    def renumbered(self, number_of: Callable[[int], int]) -> BadLines:
        """With other numbers, in the same order."""
        return BadLines(self.count, [BadLine(number_of(line.number), line.reason) for line in self.first])

    @property
    def first_number(self) -> int:
        """0 where there is none; and where rows cannot be read of which nobody knows the lines."""
        return self.first[0].number if self.first else 0

    def _keep(self, line: BadLine) -> None:
        if len(self.first) < KEPT or _place(line) < _place(self.first[-1]):
            insort(self.first, BadLine(line.number, storable(line.reason)), key=_place)
            del self.first[KEPT:]


def _place(line: BadLine) -> tuple[int, str]:
    return line.number, line.reason
