"""The explored transition graph: its edges, its runs, and whether it has a cycle.

`Graph` keeps four bytes per transition, and eight per state in addition to the keys. Acyclicity is decided by peeling
(Kahn): states that nothing unpeeled leads to are taken away, level by level; what is left over contains a cycle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.typing import NDArray

from routeproof.checker.explore.columns import Ints


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
