"""How a state becomes one 64-bit key: component ids packed into words, words interned in pairs until one is left.

`Columns` is exact: nothing is hashed away. A state's components (each node's local state, each queue, the history) are
small integers; `widths` says how many bits each gets. They fill as few 64-bit words as they can. With one word it is
the key; with more, the words are interned (`KeyIndex`) and two ids make the next word, and so on: tree compression.
Where a component outgrows its width, the search makes a wider `Columns` and re-encodes what it has.

`KeyIndex` numbers distinct keys 0, 1, 2 ... in the order of first arrival: an open-addressing table of ids, and the
keys in id order, 8 bytes a key and 4 bytes a slot at a load of at most one half. A batch is interned in a few rounds of
gathers and scatters, without sorting.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(32)


class KeyIndex:
    """Distinct keys, numbered in order of first arrival."""

    def __init__(self, bits: int = 12) -> None:
        self._keys: Keys = np.empty(1 << bits, np.uint64)
        self._slots: NDArray[np.int32] = np.full(2 << bits, -1, np.int32)
        self._shift = np.uint64(64 - (bits + 1))
        self.size = 0

    @property
    def keys(self) -> Keys:
        """All keys, by id."""
        return self._keys[: self.size]

    @property
    def nbytes(self) -> int:
        return self._keys.nbytes + self._slots.nbytes

    def growth(self, count: int) -> int:
        """Bytes that are allocated when so many keys are interned, at most."""
        need = self.size + count
        keys = 8 * max(need, len(self._keys) * 3 // 2) if need > len(self._keys) else 0
        slots = 4 << int(2 * need - 1).bit_length() if 2 * need > len(self._slots) else 0
        return keys + slots

    def intern(self, keys: Keys) -> tuple[Ints, Ints]:
        """The id of each key, and the positions at which the new ones first occurred, in id order."""
        count = len(keys)
        self._reserve(self.size + count)
        base = self.size
        self._keys[base : base + count] = keys  # provisional: id base + i is row i until the losers are dropped
        found = np.empty(count, np.int64)
        rows = np.arange(count)
        slots, mask = self._slots, len(self._slots) - 1
        home = self._home(keys)
        while len(rows):
            held = slots.take(home).astype(np.int64)
            empty = np.flatnonzero(held < 0)
            if len(empty):
                backwards = empty[::-1]  # where two rows want one slot the last write stays: let it be the first row's
                slots[home[backwards]] = rows[backwards] + base
                held[empty] = slots.take(home[empty])
            here = self._keys.take(held) == keys
            found[rows[here]] = held[here]
            lost = np.flatnonzero(~here)
            rows, keys, home = rows[lost], keys[lost], (home[lost] + 1) & mask
        return self._settle(found, base, count)

    def _settle(self, found: Ints, base: int, count: int) -> tuple[Ints, Ints]:
        """Close the gaps that known and repeated keys left in the provisional ids."""
        first = np.flatnonzero(found == np.arange(base, base + count))
        if not len(first):
            return found, first
        final = np.empty(count, np.int64)
        final[first] = np.arange(base, base + len(first))
        fresh = self._keys[first + base]
        if len(first) < count:
            slot_of = self._slot_of(fresh, first + base)
            self._slots[slot_of] = final[first]
            self._keys[base : base + len(first)] = fresh
            new = found >= base
            found[new] = final[found[new] - base]
        self.size = base + len(first)
        return found, first

    def _slot_of(self, keys: Keys, ids: Ints) -> Ints:
        """Where each of these ids stands in the table."""
        mask = len(self._slots) - 1
        home = self._home(keys)
        result = np.empty(len(keys), np.int64)
        rows = np.arange(len(keys))
        while len(rows):
            here = self._slots.take(home) == ids[rows]
            result[rows[here]] = home[here]
            lost = np.flatnonzero(~here)
            rows, home = rows[lost], (home[lost] + 1) & mask
        return result

    def _home(self, keys: Keys) -> Ints:
        return (((keys ^ (keys >> _FOLD)) * _MULTIPLIER) >> self._shift).astype(np.int64)

    def _reserve(self, size: int) -> None:
        if size > len(self._keys):
            grown = np.empty(max(size, len(self._keys) * 3 // 2), np.uint64)
            grown[: self.size] = self._keys[: self.size]
            self._keys = grown
        if 2 * size > len(self._slots):
            bits = int(2 * size - 1).bit_length()
            self._shift = np.uint64(64 - bits)
            self._slots = np.full(1 << bits, -1, np.int32)
            self._refill()

    def _refill(self) -> None:
        """Put every key into the new, larger table."""
        mask = len(self._slots) - 1
        for start in range(0, self.size, 1 << 16):
            rows = np.arange(start, min(start + (1 << 16), self.size))
            home = self._home(self._keys[rows])
            while len(rows):
                empty = np.flatnonzero(self._slots.take(home) < 0)
                self._slots[home[empty]] = rows[empty]
                lost = np.flatnonzero(self._slots.take(home) != rows)
                rows, home = rows[lost], (home[lost] + 1) & mask


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
