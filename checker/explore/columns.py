"""States as columns of 64-bit keys, and the graph of the transitions between them.

`RowKeys` is exact: nothing is hashed away. A state's components (each node's local state, each queue, the history) are
small integers; `widths` says how many bits each gets. They fill as few 64-bit words as they can. With one word it is
the key; with more, the words are interned (`KeyIndex`) and two ids make the next word, and so on: tree compression.
Where a component outgrows its width, the search makes a wider `RowKeys` and re-encodes what it has.

`KeyIndex` numbers distinct keys 0, 1, 2 ... in the order of first arrival: an open-addressing table of ids, and the
keys in id order, 8 bytes a key and 4 bytes a slot at a load of at most one half. A batch is interned in a few rounds of
gathers and scatters, without sorting.

`Graph` has the edges, runs and cycles of what was explored. It keeps four bytes per transition, and eight per state in
addition to the keys. Acyclicity is decided by peeling (Kahn): states that nothing unpeeled leads to are taken away,
level by level; what is left over contains a cycle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import count

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


class RowKeys:
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


class Grown:
    """A growing array, appended to by chunks."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._data: NDArray[np.generic] = np.empty(1024, dtype)
        self.size = 0

    def extend(self, values: NDArray[np.generic]) -> None:
        need = self.size + len(values)
        if need > len(self._data):
            grown = np.empty(max(need, len(self._data) * 3 // 2), self._data.dtype)
            grown[: self.size] = self._data[: self.size]
            self._data = grown
        self._data[self.size : need] = values
        self.size = need

    def growth(self, count: int) -> int:
        """Bytes that are allocated when so many values are appended, at most."""
        need = self.size + count
        return self._data.itemsize * max(need, len(self._data) * 3 // 2) if need > len(self._data) else 0

    @property
    def all(self) -> NDArray[np.generic]:
        return self._data[: self.size]

    @property
    def nbytes(self) -> int:
        return self._data.nbytes


class Graph:
    """States by id, in breadth-first order; state 0 is the initial one."""

    def __init__(self) -> None:
        self.parent = Grown(np.int32)  # per state: where it was first reached from
        self.action = Grown(np.uint16)  # per state: and by which action
        self.degree = Grown(np.uint16)  # per expanded state: how many transitions leave it
        self.target = Grown(np.int32)  # per transition, by source

    @property
    def nbytes(self) -> int:
        return self.parent.nbytes + self.action.nbytes + self.degree.nbytes + self.target.nbytes

    def growth(self, states: int, transitions: int) -> int:
        """Bytes that are allocated when so many are added, at most."""
        per_state = (self.parent, self.action, self.degree)
        return sum(grown.growth(states) for grown in per_state) + self.target.growth(transitions)

    @property
    def closing(self) -> int:
        """Bytes that the search for a cycle takes, at most about."""
        return 40 * self.parent.size + 12 * self.target.size

    def add_edges(self, sources: Ints, targets: Ints, count: int) -> None:
        """The transitions of the next `count` states, targets by source; sources are rows 0..count-1 in any order."""
        self.degree.extend(np.bincount(sources, minlength=count).astype(np.uint16))
        self.target.extend(targets.astype(np.int32))

    def path_to(self, state: int) -> list[int]:
        """State ids of a shortest run from the initial state."""
        path = [state]
        while path[-1]:
            path.append(int(self.parent.all[path[-1]]))
        return path[::-1]

    def find_cycle(self, pause: Callable[[], None] = lambda: None) -> list[int] | None:
        """State ids of a cycle [x, …, x] whose x has the lowest id of any state on a cycle; None if there is none.
        `pause` is called often, and may raise."""
        left = self._unpeeled(pause)
        if not left.any():
            return None
        pause()
        successors = self._successors_within(left)
        for start in sorted(successors):
            cycle = _shortest_way_back(start, successors, pause)
            if cycle is not None:
                return cycle
        raise AssertionError("what cannot be peeled contains a cycle")

    def _unpeeled(self, pause: Callable[[], None]) -> NDArray[np.bool_]:
        """States that remain when all that nothing remaining leads to has been taken away."""
        size = self.parent.size
        degree = np.zeros(size, np.int64)
        degree[: self.degree.size] = self.degree.all
        start = np.cumsum(degree) - degree
        targets = self.target.all
        waiting = np.bincount(targets, minlength=size)
        left = np.ones(size, np.bool_)
        front = np.flatnonzero(waiting == 0)
        while len(front):
            pause()
            left[front] = False
            many = degree[front]
            total = int(many.sum())
            if not total:
                break
            offsets = np.arange(total) - np.repeat(np.cumsum(many) - many, many)
            reached = targets[np.repeat(start[front], many) + offsets].astype(np.int64)
            reached.sort()
            first = np.flatnonzero(np.concatenate([[True], reached[1:] != reached[:-1]]))
            states = reached[first]
            waiting[states] -= np.diff(np.append(first, total))
            front = states[waiting[states] == 0]
        return left

    def _successors_within(self, left: NDArray[np.bool_]) -> dict[int, list[int]]:
        degree = self.degree.all.astype(np.int64)
        start = np.cumsum(degree) - degree
        rows = np.flatnonzero(left[: len(degree)]).tolist()
        edges = {s: self.target.all[start[s] : start[s] + degree[s]].tolist() for s in rows}
        return {s: [t for t in targets if left[t]] for s, targets in edges.items()}


PAUSE = 1 << 12
"""States that are visited between two pauses."""


def _shortest_way_back(start: int, successors: dict[int, list[int]], pause: Callable[[], None]) -> list[int] | None:
    came_from: dict[int, int] = {}
    queue = deque([start])
    for visited in count():
        if not queue:
            break
        if visited % PAUSE == 0:
            pause()
        here = queue.popleft()
        for there in successors.get(here, ()):
            if there == start:
                way = [start, here]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if there not in came_from:
                came_from[there] = here
                queue.append(there)
    return None
