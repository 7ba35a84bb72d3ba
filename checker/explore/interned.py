"""Tables of numbers: values that are numbered, columns that grow, answers to questions asked once, and ghosts.

A ghost of a protocol is a `GhostColumn`: each value, and each question to a ghost, is met once. A step touches the
ghosts that see something of its event, in most steps none. A touched ghost is asked with its value, the part of the
event that it sees, and the numbers of what it reads, joined pair by pair into one number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np
from attrs import define
from numpy.typing import NDArray

from routeproof.checker.explore.columns import Ints
from routeproof.model.history import Ghost, History, Ledger, Reading, WorldEvent

T = TypeVar("T", bound=Hashable)

UNKNOWN, IMPOSSIBLE = -1, -2

Logged = Callable[[int, int, Callable[[int, int, int], int]], Callable[[int, int], int]]
"""(kind, which, ask) -> ask, as the log of questions keeps it."""

JOIN, TURN = 6, 7
"""Kinds of questions in the log."""


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


class AnswerTable:
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


@define
class _Axis:
    """One thing that a ghost reads: a part of the history, or another ghost."""

    parts: Parts | None
    ghost: int
    values: list[Any]

    def column(self, history: Ints, ghosts: Sequence[Ints]) -> Ints:
        return ghosts[self.ghost] if self.parts is None else self.parts.numbers(history)

    @property
    def size(self) -> int:
        return len(self.values) if self.parts is None else self.parts.size()


class GhostColumn:
    """One ghost: its values, what it sees of events, and its answers."""

    def __init__(self, ghost: Ghost, ledger: Ledger) -> None:
        self.ghost, self.ledger = ghost, ledger
        self.values = Interned[Hashable]()
        self.values.id(ghost.initial(ledger))
        self.seen = Interned[Hashable]()
        self.sees = Column()
        """Per event, twice (not quiet, quiet): 1 + the number of what it sees, or 0."""
        self.axes: list[_Axis] = []
        self.joins: list[AnswerTable] = []
        self.turns: AnswerTable
        self._joined: list[Interned[tuple[int, int]]] = []

    def prepare(
        self,
        reading: Reading,
        parts: Callable[[tuple[str, ...]], Parts],
        columns: Sequence[GhostColumn],
        logged: Logged,
    ) -> None:
        """Takes up what the ghost reads, once all columns are there."""
        self.reading, which = reading, columns.index(self)
        if reading.parts:
            part = parts(reading.parts)
            self.axes.append(_Axis(part, -1, part.values))
        self.axes += [_Axis(None, i, columns[i].values.values) for _, _, i in reading.ghosts]
        self._joined = [Interned() for _ in self.axes]
        before = sum(len(column.axes) for column in columns[:which])
        self.joins = [AnswerTable(logged(JOIN, before + k, self._ask_join(k))) for k in range(len(self.axes))]
        self.turns = AnswerTable(logged(TURN, which, self._ask))

    def note(self, event: WorldEvent) -> bool:
        """Takes up an event that is new; True if the ghost sees something of it."""
        seen = self.ghost.sees(self.ledger, event)
        self.sees.append(0 if seen is None else 1 + self.seen.id(seen))
        return seen is not None

    def after(self, own: Ints, history: Ints, ghosts: Sequence[Ints], event_and_quiet: Ints) -> Ints:
        """The numbers of its values after events of which it sees something; all else as it was before."""
        number = own
        for axis, join in zip(self.axes, self.joins, strict=True):
            number = join(number, axis.column(history, ghosts))
        return self.turns(number, self.sees[event_and_quiet] - 1)

    def known(self, join: int | None) -> tuple[int, int]:
        """How many rows and columns a question may have by now: of the join of an axis, or of the last one."""
        sizes = [len(self.values), *map(len, self._joined)]
        return (sizes[-1], len(self.seen)) if join is None else (sizes[join], self.axes[join].size)

    def _ask_join(self, k: int) -> Callable[[int, int, int], int]:
        return lambda _, number, other: self._joined[k].id((number, other))

    def _ask(self, _: int, number: int, seen: int) -> int:
        others: list[Any] = []
        for axis, joined in zip(self.axes[::-1], self._joined[::-1], strict=True):
            number, other = joined.values[number]
            others.insert(0, axis.values[other])
        page = others.pop(0) if self.reading.parts else ()
        shown = self.reading.shown(page, others)
        return self.values.id(self.ghost.after(self.ledger, self.values.values[number], self.seen.values[seen], shown))
