"""How a state becomes one 64-bit key: component ids packed into words, words interned in pairs until one is left.

`Columns` is exact: nothing is hashed away. A state's components (each node's local state, each queue, the history) are
small integers; `widths` says how many bits each gets. They fill as few 64-bit words as they can. With one word it is
the key; with more, the words are interned (`KeyIndex`) and two ids make the next word, and so on: tree compression.
Where a component outgrows its width, the search makes a wider `Columns` and re-encodes what it has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routeproof.checker.explore.keyindex import Ints, KeyIndex, Keys

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class Columns:
    """An exact encoding of rows of small integers as single keys."""

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths = tuple(widths)
        self.place: list[tuple[int, np.uint64]] = []  # per column: its word, and its lowest bit there
        word, used = 0, 0
        for width in widths:
            if used + width > 64:
                word, used = word + 1, 0
            self.place.append((word, np.uint64(used)))
            used += width
        self.words = word + 1
        self.pairs: list[list[KeyIndex]] = []  # per round, the index of each word interned in it
        count = self.words
        while count > 1:
            self.pairs.append([KeyIndex() for _ in range(count)])
            count = (count + 1) // 2

    @property
    def nbytes(self) -> int:
        return sum(index.nbytes for round_ in self.pairs for index in round_)

    def fits(self, sizes: Sequence[int]) -> bool:
        """Can every component with so many values be held?"""
        return all(size <= 1 << width for size, width in zip(sizes, self.widths, strict=True))

    def widened(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Widths with room to grow for components with so many values."""
        return tuple(
            width if size <= 1 << width else (size - 1).bit_length() + 2
            for size, width in zip(sizes, self.widths, strict=True)
        )

    def change(self, words: list[Keys], column: int, old: Ints, new: Ints) -> None:
        """Replace a column's value in words that hold `old` there."""
        word, shift = self.place[column]
        words[word] += (new - old).view(np.uint64) << shift

    def pack(self, columns: Sequence[Ints]) -> list[Keys]:
        words = [np.zeros(len(columns[0]), np.uint64) for _ in range(self.words)]
        for (word, shift), column in zip(self.place, columns, strict=True):
            words[word] |= column.view(np.uint64) << shift
        return words

    def unpack(self, words: Sequence[Keys]) -> list[Ints]:
        return [
            ((words[word] >> shift) & np.uint64((1 << width) - 1)).view(np.int64)
            for (word, shift), width in zip(self.place, self.widths, strict=True)
        ]

    def encode(self, words: Sequence[Keys]) -> Keys:
        words = list(words)
        for round_ in self.pairs:
            ids = [index.intern(word)[0].view(np.uint64) for index, word in zip(round_, words, strict=True)]
            words = [
                (ids[i] << _HALF) | ids[i + 1] if i + 1 < len(ids) else ids[i] << _HALF for i in range(0, len(ids), 2)
            ]
        return words[0]

    def decode(self, keys: Keys) -> list[Keys]:
        words = [keys]
        for round_ in reversed(self.pairs):
            ids = [half for word in words for half in (word >> _HALF, word & _LOW)]
            words = [index.keys.take(half.view(np.int64)) for index, half in zip(round_, ids, strict=False)]
        return words
