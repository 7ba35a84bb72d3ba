"""Sets of small numbers as bits of one integer: number n is in the set where bit n is set.

Python's integers do a union or an intersection of such sets at some ten numbers per nanosecond, whatever their members.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

LOOPED = 24
"""Up to so many numbers a loop is faster than numpy."""

FEW = 8
"""So many numbers are kept as a list: in a large universe a mask has kilobytes, and there are very many sets."""

SPARSE = 12
"""In a very large one somewhat more are: one number for each `2**SPARSE` bits."""


def mask_of(numbers: Sequence[int]) -> int:
    """The set of these numbers."""
    if len(numbers) <= 2:
        mask = 0
        for number in numbers:
            mask |= 1 << number
        return mask
    if len(numbers) <= LOOPED:
        octets = bytearray((max(numbers) >> 3) + 1)
        for number in numbers:
            octets[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(octets, "little")
    array = np.array(numbers, np.int64)
    flags = np.zeros(int(array.max()) + 1, np.bool_)
    flags[array] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def numbers_of(mask: int) -> list[int]:
    """The numbers in the set, ascending."""
    if mask.bit_count() <= 4:
        few = []
        while mask:
            number = mask.bit_length() - 1
            few.append(number)
            mask ^= 1 << number
        few.reverse()
        return few
    octets = np.frombuffer(mask.to_bytes((mask.bit_length() + 7) >> 3, "little"), np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()
    return found


class Numbers:
    """A set that changes: `few` numbers in ascending order or else (None) a mask."""

    __slots__ = ("_mask", "few")

    def __init__(self, numbers: Sequence[int] = ()) -> None:
        few = len(numbers) <= FEW or len(numbers) <= max(numbers) >> SPARSE
        self.few: tuple[int, ...] | None = tuple(sorted(numbers)) if few else None
        self._mask = mask_of(numbers) if self.few is None else 0

    @property
    def mask(self) -> int:
        return self._mask if self.few is None else mask_of(self.few)

    def __bool__(self) -> bool:
        return bool(self.few or self._mask)

    @property
    def size(self) -> int:
        """Bytes of the mask; next to nothing where there is none."""
        return self._mask.bit_length() >> 3

    def join(self, mask: int) -> None:
        """Takes in all of a mask, which are many."""
        self._mask, self.few = self.mask | mask, None

    def has(self, number: int) -> bool:
        return bool(self._mask >> number & 1) if self.few is None else number in self.few

    def set(self, number: int, belongs: bool) -> None:
        """Whether the number is in the set, from now on."""
        if self.few is None:
            bit = 1 << number
            self._mask = self._mask | bit if belongs else self._mask & ~bit
        elif belongs != (number in self.few):
            others = [each for each in self.few if each != number]
            Numbers.__init__(self, [*others, number] if belongs else others)


class Tally:
    """For each number, how many: bit i of the count of number n is bit n of plane i."""

    def __init__(self) -> None:
        self.planes: list[int] = []

    def set(self, number: int, count: int) -> None:
        bit = 1 << number
        while len(self.planes) < count.bit_length():
            self.planes.append(0)
        for i, plane in enumerate(self.planes):
            self.planes[i] = plane | bit if count >> i & 1 else plane & ~bit

    def add(self, mask: int) -> None:
        """One more for everyone in the set."""
        for i, plane in enumerate(self.planes):
            self.planes[i], mask = plane ^ mask, plane & mask
            if not mask:
                return
        self.planes.append(mask)

    def differ(self, other: Tally) -> int:
        """Whose counts are not the same."""
        unlike = 0
        for i in range(max(len(self.planes), len(other.planes))):
            mine = self.planes[i] if i < len(self.planes) else 0
            unlike |= mine ^ (other.planes[i] if i < len(other.planes) else 0)
        return unlike


def in_all_of_theirs(masks: Iterable[int], totals: Tally, everyone: int) -> int:
    """Members that are in as many of the sets as `totals` has for them."""
    tally = Tally()
    for mask in masks:
        tally.add(mask)
    return everyone & ~tally.differ(totals)


class Places:
    """Hands out small numbers, and those that came back before new ones."""

    def __init__(self) -> None:
        self.everyone = 0
        self._back: list[int] = []
        self._next = 0

    def take(self) -> int:
        if self._back:
            place = self._back.pop()
        else:
            place, self._next = self._next, self._next + 1
        self.everyone |= 1 << place
        return place

    def give_back(self, place: int) -> None:
        self._back.append(place)
        self.everyone &= ~(1 << place)
