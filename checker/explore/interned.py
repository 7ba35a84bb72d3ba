"""Tables of numbers: values that are numbered, columns that grow, and answers to questions asked once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from routeproof.checker.explore.keyindex import Ints
from routeproof.model.history import History

T = TypeVar("T", bound=Hashable)

UNKNOWN, IMPOSSIBLE = -1, -2


class Interned(Generic[T]):
    """Distinct values, numbered in order of first arrival."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._ids: dict[T, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def id(self, value: T) -> int:
        known = self._ids.get(value)
        if known is None:
            known = self._ids[value] = len(self.values)
            self.values.append(value)
        return known


class Column:
    """A growing array of integers."""

    def __init__(self) -> None:
        self._data: Ints = np.zeros(64, np.int64)
        self.size = 0

    def append(self, value: int) -> None:
        if self.size == len(self._data):
            self._data = np.concatenate([self._data, np.zeros(self.size, np.int64)])
        self._data[self.size] = value
        self.size += 1

    def __getitem__(self, ids: Ints) -> Ints:
        return self._data.take(ids)

    @property
    def all(self) -> Ints:
        return self._data[: self.size]


class Sets:
    """A growing column of sets of the numbers below `width`, which may be any; in as few words as hold them."""

    BITS = 62
    """Members in one word, a signed integer of 64 bits."""

    def __init__(self, width: int) -> None:
        self.words = [Column() for _ in range(max(1, -(-width // self.BITS)))]

    @property
    def size(self) -> int:
        return self.words[0].size

    def append(self, mask: int) -> None:
        for word in self.words:
            word.append(mask & ((1 << self.BITS) - 1))
            mask >>= self.BITS

    def have(self, number: int, ids: Ints) -> NDArray[np.bool_]:
        """True for each of these sets that has the number as a member."""
        found: NDArray[np.bool_] = (self.words[number // self.BITS][ids] & (1 << number % self.BITS)) != 0
        return found

    def meet(self, mask: int, ids: Ints) -> NDArray[np.bool_]:
        """True for each of these sets that has a member in common with a mask."""
        found = np.zeros(len(ids), np.bool_)
        for word in self.words:
            if part := mask & ((1 << self.BITS) - 1):
                found |= (word[ids] & part) != 0
            mask >>= self.BITS
        return found


class Answers:
    """A growing table (row, column) -> answer, filled by asking where it is still unknown."""

    def __init__(self, ask: Callable[[int, int], int], room: Callable[[int], None] = lambda _: None) -> None:
        self._ask = ask
        self._room = room  # called with the bytes of a larger table before there is one
        self._cells: NDArray[np.int32] = np.full((64, 4), UNKNOWN, np.int32)

    @property
    def nbytes(self) -> int:
        return self._cells.nbytes

    def __call__(self, rows: Ints, columns: Ints) -> Ints:
        self._grow(int(rows.max()) + 1, int(columns.max()) + 1)
        where = rows * self._cells.shape[1] + columns
        answers = self._cells.ravel().take(where)
        if len(answers) and (answers == UNKNOWN).any():
            for cell in np.unique(where[answers == UNKNOWN]).tolist():
                row, column = divmod(cell, self._cells.shape[1])
                self._cells[row, column] = self._ask(row, column)
            answers = self._cells.ravel().take(where)
        known: Ints = answers.astype(np.int64)
        return known

    def _grow(self, rows: int, columns: int) -> None:
        have_rows, have_columns = self._cells.shape
        if rows > have_rows or columns > have_columns:
            shape = (_room(rows, have_rows), _room(columns, have_columns))
            self._room(4 * shape[0] * shape[1])
            grown = np.full(shape, UNKNOWN, np.int32)
            grown[:have_rows, :have_columns] = self._cells
            self._cells = grown


def _room(need: int, have: int) -> int:
    return have if need <= have else max(need, 2 * have)


class Parts:
    """The number of the part of each history that a property reads, in the order of histories."""

    def __init__(self, names: tuple[str, ...], histories: Interned[History]) -> None:
        self._histories = histories
        self._get: Callable[[History], Any] = attrgetter(*names)
        self._alone = len(names) == 1
        self._known = Interned[Any]()
        self._column = Column()
        self.values: list[tuple[Any, ...]] = []
        """By number: the values of the names."""

    def numbers(self, histories: Ints) -> Ints:
        """The number of the part of each of these histories."""
        self.size()
        return self._column[histories]

    def size(self) -> int:
        """How many parts there are so far."""
        for page in self._histories.values[self._column.size :]:
            part = self._get(page)
            number = self._known.id(part)
            if number == len(self.values):
                self.values.append((part,) if self._alone else part)
            self._column.append(number)
        return len(self.values)
