"""Breadth-first search over packed columns: the loop, its limits, and what it found.

States are numbered in the order in which they are found, so ids rise with depth and the lowest violating id ends a
shortest run. The frontier is nothing but a range of ids; it is expanded in chunks of fixed size, and a search that
stops does so between two chunks, so that one that is resumed makes the same steps as one that was never interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from routeproof.checker.explore.columns import Columns
from routeproof.checker.explore.expand import Expander, Mask, Successors
from routeproof.checker.explore.graph import Graph
from routeproof.checker.explore.judge import Judge
from routeproof.checker.explore.keyindex import Ints, KeyIndex, Keys
from routeproof.checker.explore.questions import Questions
from routeproof.model.world import State, World
from routeproof.spec.properties import Property

CHUNK = 1 << 14
"""States expanded at once: few enough for their columns to stay in the cache."""

FIRST_WIDTHS = (8, 6, 12)
"""Bits to begin with for a node's local state, a queue, and the history."""


@frozen
class Progress:
    """What is shown while a search runs."""

    states: int
    frontier: int
    depth: int
    seconds: float


class Search:
    """The state of a search; `run` goes on with it until it is complete or a limit is reached."""

    def __init__(self, world: World, properties: Sequence[Property]) -> None:
        self.world = world
        self.properties = tuple(properties)
        self.questions = Questions(world)
        self.expander = Expander(self.questions)
        self.judge = Judge(self.questions, self.properties)
        self.graph = Graph()
        self.visited = KeyIndex()
        node, queue, history = FIRST_WIDTHS
        self.columns = Columns([node] * len(world.nodes) + [queue] * len(world.links) + [history])
        self.levels = [0]  # per depth: the first id there
        self.next = 0  # the first id not yet expanded
        self.transitions = 0
        self.terminals = 0
        self.stuck: int | None = None  # the lowest terminal state that has a message left in a queue
        self.spent = 0.0

    @property
    def states(self) -> int:
        return self.visited.size

    @property
    def complete(self) -> bool:
        return 0 < self.states == self.next

    @property
    def depth(self) -> int:
        """The greatest distance from the initial state, as far as seen."""
        return len(self.levels) - 1 if self.levels[-1] < self.states else len(self.levels) - 2

    @property
    def nbytes(self) -> int:
        """What is stored for the states: keys, edges, interned words and transition tables."""
        return self.visited.nbytes + self.columns.nbytes + self.graph.nbytes + self.questions.nbytes

    def run(
        self,
        max_states: int | None = None,
        seconds: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        until: Callable[[Search], bool] = lambda _: False,
    ) -> str:
        """Search on; the limit that was reached first, or '' when complete."""
        began, before = time.perf_counter(), self.spent
        try:
            if not self.states:
                self._begin()
            while self.next < self.states:
                if max_states is not None and self.states >= max_states:
                    return f"{max_states} states"
                if seconds is not None and time.perf_counter() - began >= seconds:
                    return f"{seconds:g} seconds"
                if until(self):
                    return "first failure"
                self._chunk()
                self.spent = before + time.perf_counter() - began
                if progress is not None:
                    progress(Progress(self.states, self.states - self.next, self.depth, self.spent))
        except KeyboardInterrupt:
            return "interrupted"
        finally:
            self.spent = before + time.perf_counter() - began
        return ""

    def columns_of(self, first: int, last: int) -> tuple[list[Ints], list[Keys]]:
        """The component ids, and the packed words, of a range of states."""
        words = self.columns.decode(self.visited.keys[first:last])
        return self.columns.unpack(words), words

    def state(self, id: int) -> State:
        """A state as a value."""
        columns, _ = self.columns_of(id, id + 1)
        ids = [int(c[0]) for c in columns]
        q, nodes = self.questions, len(self.questions.locals)
        return State(
            tuple(q.locals[i].values[ids[i]] for i in range(nodes)),
            tuple(q.queues[i].values[ids[nodes + i]] for i in range(len(q.queues))),
            q.histories.values[ids[-1]],
        )

    @property
    def full_states(self) -> int:
        """Distinct states as the specification counts them, whatever is stored."""
        return self.states

    # -- to be refined by a reduction ----------------------------------------------------------------------------------

    def explored(self, columns: Sequence[Ints]) -> Sequence[Mask | None]:
        """Per action, the rows in which it has to be explored; None for all."""
        return [None] * len(self.world.actions)

    def keys_of(self, words: list[Keys]) -> Keys:
        """The key under which a state is stored."""
        return self.columns.encode(words)

    def is_stored_as(self, state: State, id: int) -> bool:
        """Is this state, or the one that stands for it, the one with this id?"""
        return self.state(id) == state

    # -- one chunk -----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        start = [np.zeros(1, np.int64) for _ in self.columns.widths]
        self.visited.intern(self.keys_of(self.columns.pack(start)))
        self._keep(np.zeros(1, np.int64), np.zeros(1, np.uint16), 0)

    def _chunk(self) -> None:
        """Expand the next states of the present depth."""
        if self.next == self.levels[-1]:
            self.levels.append(self.states)  # everything found from here on is one deeper
        last = min(self.next + CHUNK, self.levels[-1])
        columns, found, outcomes, keys = self._successors(last)
        self.expander.count(outcomes)
        ids, first = self.visited.intern(keys)
        self.graph.add_edges(found.sources, ids, last - self.next)
        self._note_terminals(columns)
        known = self.states - len(first)
        self._keep(found.sources[first] + self.next, found.actions[first], known)
        self.transitions += len(found)
        self.next = last

    def _successors(self, last: int) -> tuple[list[Ints], Successors, list[Ints], Keys]:
        """Successors of the chunk; again with wider columns if a component outgrew its width on the way."""
        while True:
            columns, words = self.columns_of(self.next, last)
            found, outcomes = self.expander.expand(self.columns, columns, words, self.explored(columns))
            if self.columns.fits(self.questions.sizes):
                keys = self.keys_of(found.words)
                if self.columns.fits(self.questions.sizes):
                    return columns, found, outcomes, keys
            self._widen()

    def _widen(self) -> None:
        """Re-encode every state under wider columns. Ids stay."""
        wider = Columns(self.columns.widened(self.questions.sizes))
        visited = KeyIndex()
        for first in range(0, self.states, CHUNK):
            columns, _ = self.columns_of(first, min(first + CHUNK, self.states))
            visited.intern(wider.encode(wider.pack(columns)))
        self.columns, self.visited = wider, visited

    def _keep(self, parents: Ints, actions: NDArray[np.uint16], known: int) -> None:
        """Take in the states from id `known` on: remember how they were reached, and judge them."""
        if self.states > known:
            self.graph.parent.extend(parents.astype(np.int32))
            self.graph.action.extend(actions)
            columns, _ = self.columns_of(known, self.states)
            self.judge.look(known, columns)

    def _note_terminals(self, columns: Sequence[Ints]) -> None:
        """States that nothing leaves: there every queue must be empty."""
        degrees = self.graph.degree.all[self.next :]
        terminal = np.flatnonzero(degrees == 0)
        self.terminals += len(terminal)
        if self.stuck is None and len(terminal):
            nodes = len(self.world.nodes)
            for queue in columns[nodes:-1]:
                left = terminal[queue[terminal] != 0]
                if len(left):
                    id = self.next + int(left[0])
                    self.stuck = id if self.stuck is None else min(self.stuck, id)
