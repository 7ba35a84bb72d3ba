"""A ladder: profiles by a number, in order.

Profiles with one number share a rung, so that numbers met again and again (a popular bound) cost a dictionary's entry,
and only new ones move the list of rungs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from itertools import islice

from routeproof.impl.profile import Profile


class Ladder:
    """`upto`, `onward` and `between` include the numbers that are given."""

    __slots__ = ("_at", "_rungs", "_size")

    def __init__(self) -> None:
        self._rungs: list[int] = []
        self._at: dict[int, dict[Profile, None]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, number: int, profile: Profile) -> None:
        rung = self._at.get(number)
        if rung is None:
            insort(self._rungs, number)
            rung = self._at[number] = {}
        rung[profile] = None
        self._size += 1

    def remove(self, number: int, profile: Profile) -> None:
        rung = self._at[number]
        del rung[profile]
        self._size -= 1
        if not rung:
            del self._at[number]
            del self._rungs[bisect_left(self._rungs, number)]

    def upto(self, number: int) -> Iterator[Profile]:
        """From the lowest on."""
        for rung in islice(self._rungs, bisect_right(self._rungs, number)):
            yield from self._at[rung]

    def onward(self, number: int) -> Iterator[Profile]:
        """From the highest down."""
        for position in range(len(self._rungs) - 1, bisect_left(self._rungs, number) - 1, -1):
            yield from self._at[self._rungs[position]]

    def between(self, low: int, high: int) -> Iterator[Profile]:
        for position in range(bisect_left(self._rungs, low), bisect_right(self._rungs, high)):
            yield from self._at[self._rungs[position]]

    def about(self, low: int, high: int) -> int:
        """How many are between, were all rungs of one width."""
        rungs = bisect_right(self._rungs, high) - bisect_left(self._rungs, low)
        return -(-rungs * self._size // len(self._rungs)) if rungs > 0 else 0

    def __iter__(self) -> Iterator[Profile]:
        for rung in self._rungs:
            yield from self._at[rung]
