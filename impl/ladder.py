"""A ladder: profiles by a number or a word, in order.

Profiles with one number share a rung, so that numbers met again and again (a popular bound) cost a dictionary's entry,
and only new ones move the list of rungs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar

from routeproof.impl.profile import Profile

K = TypeVar("K", int, str)


class Ladder(Generic[K]):
    """`upto`, `onward` and `between` include what is given. No high end is None."""

    __slots__ = ("_at", "_rungs", "_size")

    def __init__(self) -> None:
        self._rungs: list[K] = []
        self._at: dict[K, dict[Profile, None]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, number: K, profile: Profile) -> bool:
        """Whether that is a new rung."""
        rung = self._at.get(number)
        is_new = rung is None
        if rung is None:
            insort(self._rungs, number)
            rung = self._at[number] = {}
        rung[profile] = None
        self._size += 1
        return is_new

    def remove(self, number: K, profile: Profile) -> bool:
        """Whether its rung is gone."""
        rung = self._at[number]
        del rung[profile]
        self._size -= 1
        if not rung:
            del self._at[number]
            del self._rungs[bisect_left(self._rungs, number)]
        return not rung

    def upto(self, number: K) -> Iterator[Profile]:
        """From the lowest on."""
        for rung in islice(self._rungs, bisect_right(self._rungs, number)):
            yield from self._at[rung]

    def onward(self, number: K) -> Iterator[Profile]:
        """From the highest down."""
        for position in range(len(self._rungs) - 1, bisect_left(self._rungs, number) - 1, -1):
            yield from self._at[self._rungs[position]]

    def between(self, low: K, high: K | None) -> Iterator[Profile]:
        for position in self._positions(low, high):
            yield from self._at[self._rungs[position]]

    def about(self, low: K, high: K | None) -> int:
        """How many are between, were all rungs of one width."""
        return self.about_so_many(len(self._positions(low, high)))

    def about_so_many(self, rungs: int) -> int:
        """How many are on so many rungs."""
        return -(-rungs * self._size // len(self._rungs)) if rungs else 0

    def at(self, rungs: Iterable[K]) -> Iterator[Profile]:
        """On each of these, which are rungs."""
        for rung in rungs:
            yield from self._at[rung]

    @property
    def rungs(self) -> Sequence[K]:
        return self._rungs

    def _positions(self, low: K, high: K | None) -> range:
        return range(
            bisect_left(self._rungs, low), len(self._rungs) if high is None else bisect_right(self._rungs, high)
        )

    def __iter__(self) -> Iterator[Profile]:
        for rung in self._rungs:
            yield from self._at[rung]
