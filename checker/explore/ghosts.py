"""The ghosts of a protocol as columns of numbers: each value, and each question to a ghost, is met once.

A step touches the ghosts that see something of its event, in most steps none. A touched ghost is asked with its value,
the part of the event that it sees, and the numbers of what it reads, joined pair by pair into one number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from attrs import define

from routeproof.checker.explore.interned import Answers, Column, Interned, Parts
from routeproof.checker.explore.keyindex import Ints
from routeproof.model.history import Event, Ghost, Ledger, Reading

Logged = Callable[[int, int, Callable[[int, int, int], int]], Callable[[int, int], int]]
"""(kind, which, ask) -> ask, as the log of questions keeps it."""

JOIN, TURN = 6, 7
"""Kinds of questions in the log."""


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
        self.joins: list[Answers] = []
        self.turns: Answers
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
        self.joins = [Answers(logged(JOIN, before + k, self._ask_join(k))) for k in range(len(self.axes))]
        self.turns = Answers(logged(TURN, which, self._ask))

    def note(self, event: Event) -> bool:
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
