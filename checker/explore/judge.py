"""Properties on columns of states: each distinct part of a state is put to a property once.

`PropertyJudge.look` takes the component columns of newly found states and answers per property which violate it and how
many exercised it. What properties read, and where, is `checker/evaluation.py`. Properties that read the same are asked
together: their answers are the bits of one number, kept in a table by the numbers of what they read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from routeproof.checker.evaluation import EvaluationPlace, PropertyGroup, groups
from routeproof.checker.explore.columns import Ints, KeyIndex
from routeproof.checker.explore.interned import AnswerTable, Interned, Parts, Sets
from routeproof.checker.explore.questions import Questions
from routeproof.model.history import CONTROL, Reading
from routeproof.spec.properties import Property

UNKNOWN = -1
EXERCISED, WRONG = 1, 2
"""Bits of an answer; two bits a property."""

TOGETHER = 31
"""Properties whose answers fit into one number."""

DENSE = 1 << 22
"""Cells of a table by two numbers at most; a larger one is kept by the pairs that occur."""

_PART = 32


@define
class PropertyTally:
    property: Property
    exercised: int = 0
    violation: int | None = None
    """The lowest id of a violating state: the end of a shortest run, since ids rise with depth."""
    witness: int | None = None
    """The lowest id of a state that exercised it: what a `sometimes` wants."""


class _Pairs:
    """Pairs of numbers, numbered themselves."""

    def __init__(self) -> None:
        self._index = KeyIndex()

    def ids(self, major: Ints, minor: Ints) -> Ints:
        return self._index.intern((major.view(np.uint64) << np.uint64(_PART)) | minor.view(np.uint64))[0]

    def at(self, id: int) -> tuple[int, int]:
        key = int(self._index.keys[id])
        return key >> _PART, key & ((1 << _PART) - 1)


class _Table:
    """Answers of one group at one place, by two numbers of what is read there."""

    def __init__(self, ask: Callable[[int, int], int], bits: int) -> None:
        self._ask = ask
        self._rows, self._columns = 64, 1
        kind = np.int16 if bits < 16 else np.int32 if bits < 32 else np.int64
        self._cells: NDArray[Any] = np.full(64, UNKNOWN, kind)
        self._pairs: _Pairs | None = None

    def __call__(self, major: Ints, minor: Ints | None) -> NDArray[Any]:
        """The answer for each row."""
        where = self._where(major, minor)
        found = self._cells.take(where)
        if found.min() < 0:
            for cell in np.unique(where[found < 0]).tolist():
                at = divmod(cell, self._columns) if self._pairs is None else self._pairs.at(cell)
                self._cells[cell] = self._ask(*at)
            found = self._cells.take(where)
        return found

    def _where(self, major: Ints, minor: Ints | None) -> Ints:
        if self._pairs is None:
            rows, columns = int(major.max()) + 1, 1 if minor is None else int(minor.max()) + 1
            if rows > self._rows or columns > self._columns:
                self._grow(max(rows, self._rows), max(columns, self._columns))
        if self._pairs is None:
            return major if minor is None else major * self._columns + minor
        ids = self._pairs.ids(major, np.zeros_like(major) if minor is None else minor)
        if (size := int(ids.max()) + 1) > len(self._cells):
            more = np.full(max(size, 2 * len(self._cells)) - len(self._cells), UNKNOWN, self._cells.dtype)
            self._cells = np.concatenate([self._cells, more])
        return ids

    def _grow(self, rows: int, columns: int) -> None:
        """Room for more, in powers of two."""
        rows, columns = 1 << (rows - 1).bit_length(), 1 << (columns - 1).bit_length()
        old = self._cells.reshape(self._rows, self._columns)
        if rows * columns <= DENSE:
            grown = np.full((rows, columns), UNKNOWN, old.dtype)
            grown[: self._rows, : self._columns] = old
            self._cells = grown.ravel()
            self._rows, self._columns = rows, columns
        else:
            self._pairs = _Pairs()
            major, minor = np.nonzero(old >= 0)
            ids = self._pairs.ids(major, minor)
            self._cells = np.full(max(64, len(ids)), UNKNOWN, old.dtype)
            self._cells[ids] = old[major, minor]


class _View:
    """The parts of the history and the ghosts that are read, as one number; shared by places that read the same."""

    def __init__(self, q: Questions, reading: Reading) -> None:
        self.reading = reading
        self._columns = [i for _, _, i in reading.ghosts]
        self._ghosts = [q.ghosts[i].values for i in self._columns]
        self._parts: Parts | None = q.parts(reading.parts) if reading.parts else None
        self._joined = [Interned[tuple[int, int]]() for _ in self._ghosts]
        self._joins = [AnswerTable(self._ask(joined)) for joined in self._joined]

    def numbers(self, history: Ints, ghosts: Sequence[Ints]) -> Ints:
        """The number of what is read in each state."""
        number = np.zeros_like(history) if self._parts is None else self._parts.numbers(history)
        for join, i in zip(self._joins, self._columns, strict=True):
            number = join(number, ghosts[i])
        return number

    def values(self, number: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        found: list[Any] = []
        for joined, values in zip(self._joined[::-1], self._ghosts[::-1], strict=True):
            number, other = joined.values[number]
            found.insert(0, values.values[other])
        return (() if self._parts is None else self._parts.values[number]), tuple(found)

    @staticmethod
    def _ask(joined: Interned[tuple[int, int]]) -> Callable[[int, int], int]:
        return lambda number, other: joined.id((number, other))


class _Spot:
    """One group at one place: which columns it reads, and its answers."""

    def __init__(self, judge: PropertyJudge, group: PropertyGroup, place: EvaluationPlace, view: _View | None) -> None:
        self.judge, self.group, self.place, self.view = judge, group, place, view
        self._columns = (*place.locals, *(len(judge.q.locals) + i for i in place.queues))
        axes = len(self._columns) + (view is not None) + place.flight
        self._pairs = [_Pairs() for _ in range(axes - 2)]
        self.answers = _Table(self._ask, 2 * len(group.properties))

    def look(self, columns: Sequence[Ints], view: Ints | None, tags: Ints | None) -> NDArray[Any]:
        """The answers in states of these columns."""
        axes = [*(columns[i] for i in self._columns), *(axis for axis in (view, tags) if axis is not None)]
        major = axes[0] if axes else np.zeros_like(columns[0])
        for pairs, axis in zip(self._pairs, axes[1:], strict=False):
            major = pairs.ids(major, axis)
        return self.answers(major, axes[-1] if len(axes) > 1 else None)

    def _ask(self, major: int, minor: int) -> int:
        """Asks all properties of the group; their answers as bits."""
        numbers: list[int] = []
        for pairs in self._pairs[::-1]:
            numbers.insert(0, minor)
            major, minor = pairs.at(major)
        numbers = [major, minor, *numbers]
        q = self.judge.q
        nodes = tuple(q.locals[i].values[numbers.pop(0)] for i in self.place.locals)
        queues = tuple(q.queues[i].values[numbers.pop(0)] for i in self.place.queues)
        page, ghosts = ((), ()) if self.view is None else self.view.values(numbers.pop(0))
        tags = self.judge.tags(numbers.pop(0)) if self.place.flight else 0
        shown = self.group.shown((page, ghosts))
        ask = self.group.asked(q.world, self.place, (nodes, queues), shown, tags)
        found = 0
        for i, p in enumerate(self.group.properties):
            answer = ask(p)
            if answer is not None:
                found |= (EXERCISED | (WRONG if answer else 0)) << 2 * i
        return found


class PropertyJudge:
    """All properties of one search."""

    def __init__(self, questions: Questions, properties: Sequence[Property]) -> None:
        self.q = questions
        self.tallies = {p.id: PropertyTally(p) for p in properties}
        self._tag_sets = Interned[int]()
        self._numbers: Ints = np.full(1, UNKNOWN, np.int64)  # per set of tags that is one small word: its number
        self._views: dict[Reading, _View] = {}
        few = [
            evolve(group, properties=group.properties[i : i + TOGETHER])
            for group in groups(questions.world, properties)
            for i in range(0, len(group.properties), TOGETHER)
        ]
        self._spots = [(group, [self._spot(group, place) for place in group.places]) for group in few]
        self._reads_flight = any(place.flight for group in few for place in group.places)

    def _spot(self, group: PropertyGroup, place: EvaluationPlace) -> _Spot:
        view = None
        if place.reading:
            view = self._views.setdefault(place.reading, _View(self.q, place.reading))
        return _Spot(self, group, place, view)

    def look(self, first_id: int, columns: Sequence[Ints]) -> None:
        """Judge states whose ids are `first_id`, `first_id` + 1, …"""
        flight = self._in_flight(columns)
        quiet = np.flatnonzero((flight[0] & CONTROL) == 0)
        still = [column.take(quiet) for column in columns]
        tags = self._tag_column(flight) if self._reads_flight else None
        views: dict[tuple[Reading, bool], Ints] = {}
        history = len(self.q.locals) + len(self.q.queues)
        for group, spots in self._spots:
            rows = still if group.quiet else columns
            if not spots or not len(rows[0]):
                continue
            total: NDArray[Any] | None = None
            for spot in spots:
                view = None
                if spot.view is not None:
                    key = (spot.place.reading, group.quiet)
                    if key not in views:
                        views[key] = spot.view.numbers(rows[history], rows[history + 1 :])
                    view = views[key]
                flying = None
                if spot.place.flight and tags is not None:
                    flying = tags.take(quiet) if group.quiet else tags
                found = spot.look(rows, view, flying)
                total = found if total is None else np.bitwise_or(total, found, out=total)
            if total is not None:
                self._weigh(group, total, first_id, quiet if group.quiet else None)

    def _weigh(self, group: PropertyGroup, answers: NDArray[Any], first_id: int, quiet: Ints | None) -> None:
        for i, p in enumerate(group.properties):
            tally = self.tallies[p.id]
            exercised = (answers & (EXERCISED << 2 * i)) != 0
            times = int(np.count_nonzero(exercised))
            if not times:
                continue
            tally.exercised += times

            def state(row: np.intp) -> int:
                return first_id + (int(row) if quiet is None else int(quiet[row]))

            if tally.witness is None:
                tally.witness = state(exercised.argmax())
            if tally.violation is None:
                wrong = (answers & (WRONG << 2 * i)) != 0
                if wrong.any():
                    tally.violation = state(wrong.argmax())

    def _in_flight(self, columns: Sequence[Ints]) -> list[Ints]:
        """The tags in flight in each state, word by word."""
        nodes, links = len(self.q.locals), len(self.q.queues)
        flight = [np.zeros_like(columns[0])]  # a broker alone has no queues
        for tags, queue in zip(self.q.tags, columns[nodes : nodes + links], strict=True):
            flight += [np.zeros_like(queue) for _ in tags.words[len(flight) :]]
            for i, part in enumerate(tags.words):
                flight[i] |= part[queue]
        if self.q.world.protocol.may_hold:
            for tags, local in zip(self.q.kept, columns, strict=False):
                flight += [np.zeros_like(local) for _ in tags.words[len(flight) :]]
                for i, part in enumerate(tags.words):
                    flight[i] |= part[local]
        return flight

    def _tag_column(self, flight: list[Ints]) -> Ints:
        """The number of each set of tags. There are few distinct ones, so a small table does."""
        if len(flight) == 1 and (most := int(flight[0].max())) < 1 << 16:
            if most >= len(self._numbers):
                more = np.full((1 << most.bit_length()) - len(self._numbers), UNKNOWN, np.int64)
                self._numbers = np.concatenate([self._numbers, more])
            found = self._numbers.take(flight[0])
            if found.min() < 0:
                for mask in np.unique(flight[0][found < 0]).tolist():
                    self._numbers[mask] = self._tag_sets.id(mask)
                found = self._numbers.take(flight[0])
            return found
        distinct, inverse = np.unique(np.stack(flight), axis=1, return_inverse=True)
        masks = (sum(word << Sets.BITS * i for i, word in enumerate(words)) for words in distinct.T.tolist())
        return np.array([self._tag_sets.id(mask) for mask in masks], np.int64)[inverse.ravel()]

    def tags(self, number: int) -> int:
        return self._tag_sets.values[number]
