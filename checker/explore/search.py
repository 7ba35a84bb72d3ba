"""Breadth-first search over packed columns: the loop, its limits, and what it found.

States are numbered in the order in which they are found, so ids rise with depth and the lowest violating id ends a
shortest run. The frontier is nothing but a range of ids, expanded in chunks whose size the instance decides. A search
stops between two chunks, two questions to the model, or two blocks of states that are judged: a chunk that is cut there
has changed nothing but what the model is known to answer. So one that is resumed ends like one that never stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routeproof.checker.explore.columns import Graph, Ints, KeyIndex, Keys, RowKeys
from routeproof.checker.explore.expand import Expander, Mask, Successors
from routeproof.checker.explore.judge import PropertyJudge
from routeproof.checker.explore.questions import Questions
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.memory import resident
from routeproof.checker.system.terminal import Progress
from routeproof.checker.system.terminal import count as counted
from routeproof.model.world import State, World
from routeproof.spec.properties import Property

CHUNK = 1 << 14
"""States expanded at once: few enough for their columns to stay in the cache."""

WORK = 1 << 22
"""At most so many (state, action, component) are in one chunk: wide instances have smaller chunks."""

OFTEN = 64
"""Questions to the model between two looks at how much memory there is."""

LEAST = 256
"""States in a chunk at least, however wide they are."""

JUDGED = 1 << 9
"""States judged at once to begin with; more where that is quick."""

MOST_JUDGED = 1 << 20
"""States judged at once at most."""

CLOSING, LEAST_CLOSING = 0.1, 1.0
"""Limits of the work after a search: a share of the search's seconds, and seconds that it has in any case."""

QUICK, SLOW = 0.05, 0.2
"""Seconds: a block of states that is judged faster is followed by a larger one, a slower one by a smaller one."""

FIRST_WIDTHS = (8, 6, 12, 4)
"""Bits to begin with for a node's local state, a queue, the history, and a ghost."""


def refuse_unargued(reduction: str, world: World) -> None:
    """Refuses a reduction that has not been argued for the world's protocol."""
    whose = f"the protocol {world.definition.name}"
    if reduction not in world.definition.reductions:
        raise UsageError(f"--reduction {reduction} has not been argued for {whose} under {world.policy}; leave it out")
    if world.ghosts:
        why = "renames no ghosts" if reduction == "symmetry" else "has not been argued for ghosts"
        raise UsageError(f"--reduction {reduction} {why}, and {whose} has some; leave it out")


class LimitReached(Exception):
    """Raised where a search stops; the text is the limit that it reached."""


class Search:
    """The state of a search; `run` goes on with it until it is complete or a limit is reached."""

    limit: Callable[[], str] = staticmethod(lambda: "")
    """Which limit is reached by now, if any."""
    most: int | None = None
    """Bytes that the process may have at most."""

    def __init__(self, world: World, properties: Sequence[Property]) -> None:
        self.world = world
        self.properties = tuple(properties)
        self.questions = Questions(world)
        self.expander = Expander(self.questions)
        self.judge = PropertyJudge(self.questions, self.properties)
        self.graph = Graph()
        self.visited = KeyIndex()
        node, queue, history, ghost = FIRST_WIDTHS
        self.columns = RowKeys(
            [node] * len(world.nodes) + [queue] * len(world.links) + [history] + [ghost] * len(world.ghosts)
        )
        self.levels = [0]  # per depth: the first id there
        self.next = 0  # the first id not yet expanded
        self.judged = 0  # the first id not yet judged
        self.block = JUDGED
        self.transitions = 0
        self.terminals = 0
        self.stuck: int | None = None  # the lowest terminal state that has a message left in a queue
        self.spent = 0.0

    @property
    def states(self) -> int:
        return self.visited.size

    @property
    def complete(self) -> bool:
        return 0 < self.states == self.next == self.judged

    @property
    def depth(self) -> int:
        """The greatest distance from the initial state, as far as seen."""
        return len(self.levels) - 1 if self.levels[-1] < self.states else len(self.levels) - 2

    @property
    def nbytes(self) -> int:
        """Bytes stored for the states: keys, edges, interned words and transition tables."""
        return self.visited.nbytes + self.columns.nbytes + self.graph.nbytes + self.questions.nbytes

    def run(
        self,
        max_states: int | None = None,
        seconds: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        until: Callable[[Search], bool] = lambda _: False,
        max_memory: int | None = None,
    ) -> str:
        """Searches on; returns the limit that was reached first, or '' when complete."""
        began, before, looks = time.perf_counter(), self.spent, count()

        def report() -> None:
            if progress is not None:
                spent = before + time.perf_counter() - began
                try:
                    progress(Progress(self.states, self.states - self.next, self.depth, spent))
                except KeyboardInterrupt:  # between two chunks, and nowhere else
                    raise LimitReached("interrupted") from None

        with interrupts.noted() as interrupted:

            def limit() -> str:
                if interrupted():
                    return "interrupted"
                if max_memory is not None and next(looks) % OFTEN == 0 and resident() + self.graph.closing > max_memory:
                    return "memory"
                late = seconds is not None and time.perf_counter() - began >= seconds
                return f"{seconds:g} seconds" if late else ""

            self.limit, self.most = limit, max_memory
            try:
                self.go_on(max_states, report, until)
            except LimitReached as cut:
                return str(cut)
            finally:
                del self.limit, self.most
                self.questions.pause, self.questions.room = lambda: None, lambda _: None
                self.spent = before + time.perf_counter() - began
        return ""

    @contextmanager
    def closing(self, seconds: float | None) -> Iterator[None]:
        """The work after the search: `pause` raises `LimitReached` when a signal comes, or when more than a share of
        `seconds` went by. Where a signal ended the search, the work has the time in which a command may clean up."""
        began = time.perf_counter()
        with interrupts.noted() as interrupted:
            ended = interrupted()
            most = inf if seconds is None else max(LEAST_CLOSING, CLOSING * seconds)
            most = min(most, interrupts.GRACE) if ended else most

            def limit() -> str:
                if interrupted() and not ended:
                    return "interrupted"
                late = time.perf_counter() - began >= most
                return "" if not late else "interrupted" if ended else f"{seconds:g} seconds"

            self.limit = limit
            try:
                yield
            finally:
                del self.limit

    def go_on(self, max_states: int | None, report: Callable[[], None], until: Callable[[Search], bool]) -> None:
        """Searches until all is found and judged; raises `LimitReached` where it stops before."""
        if not self.states:
            self._begin()
        self.questions.pause, self.questions.room = self.pause, self.room
        while True:
            self._judge()
            if self.next == self.states:
                return
            if max_states is not None and self.states >= max_states:
                raise LimitReached(counted(max_states, "state"))
            self.pause()
            if until(self):
                raise LimitReached("first failure")
            self.room(self._growth())
            self._chunk()
            report()

    def room(self, more: int) -> None:
        """Stops the search if so many more bytes are more than it may have."""
        if self.most is not None and resident() + self.graph.closing + more > self.most:
            raise LimitReached("memory")

    def _growth(self) -> int:
        """Bytes that the next chunk allocates at most, besides what the answers to new questions take."""
        rows = min(self._rows(), self.states - self.next)
        found = rows * len(self.world.actions)
        indexes = (self.visited, *(index for round_ in self.columns.pairs for index in round_))
        work = 8 * found * (self.columns.words + 8)
        return work + sum(index.growth(found) for index in indexes) + self.graph.growth(found, found)

    def pause(self) -> None:
        """Stops the search if it has reached a limit."""
        if reached := self.limit():
            raise LimitReached(reached)

    def columns_of(self, first: int, last: int) -> tuple[list[Ints], list[Keys]]:
        """The component ids, and the packed words, of a range of states."""
        words = self.columns.decode(self.visited.keys[first:last])
        return self.columns.unpack(words), words

    def state(self, id: int) -> State:
        columns, _ = self.columns_of(id, id + 1)
        ids = [int(c[0]) for c in columns]
        q, nodes = self.questions, len(self.questions.locals)
        history = nodes + len(q.queues)
        return State(
            tuple(q.locals[i].values[ids[i]] for i in range(nodes)),
            tuple(q.queues[i].values[ids[nodes + i]] for i in range(len(q.queues))),
            q.histories.values[ids[history]],
            tuple(ghost.values.values[i] for ghost, i in zip(q.ghosts, ids[history + 1 :], strict=True)),
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

    def look(self, first: int, columns: Sequence[Ints]) -> None:
        """Judges the states from id `first` on. Where it raises `LimitReached` it has counted nothing."""
        self.judge.look(first, columns)

    def extra(self) -> object:
        """Part of a checkpoint that a reduction adds, as JSON."""
        return None

    def take_up(self, extra: object) -> None:
        """Takes up what a reduction added to a checkpoint."""
        if extra is not None:
            raise ValueError("no reduction, yet something of one")

    # -- one chunk -----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        start = [np.zeros(1, np.int64) for _ in self.columns.widths]
        self.visited.intern(self.keys_of(self.columns.pack(start)))
        self._keep(np.zeros(1, np.int64), np.zeros(1, np.uint16))

    def _chunk(self) -> None:
        """Expand the next states of the present depth."""
        end = self.states if self.next == self.levels[-1] else self.levels[-1]
        last = min(self.next + self._rows(), end)
        columns, found, outcomes, keys = self._successors(last)
        if self.next == self.levels[-1]:
            self.levels.append(end)  # everything found from here on is one deeper
        # From here on no question reaches the model, and nothing stops.
        self.expander.count(outcomes)
        # By source, then action: the order in which a plain search meets them, however large a chunk is.
        order = np.argsort(found.sources.astype(np.uint16), kind="stable")  # sixteen bits: a radix sort
        ids, first = self.visited.intern(keys[order])
        self.graph.add_edges(found.sources, ids, last - self.next)
        self.note_terminals(columns, self.graph.degree.all[self.next :])
        new = order[first]
        self._keep(found.sources[new] + self.next, found.actions[new])
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
        self.room(2 * (self.visited.nbytes + self.columns.nbytes))
        wider = RowKeys(self.columns.widened(self.questions.sizes))
        visited = KeyIndex()
        for first in range(0, self.states, CHUNK):
            columns, _ = self.columns_of(first, min(first + CHUNK, self.states))
            visited.intern(wider.encode(wider.pack(columns)))
        self.columns, self.visited = wider, visited

    def _keep(self, parents: Ints, actions: NDArray[np.uint16]) -> None:
        """Remembers how new states were reached."""
        self.graph.parent.extend(parents.astype(np.int32))
        self.graph.action.extend(actions)

    def _judge(self) -> None:
        """Judges what is not judged yet, in blocks."""
        while self.judged < self.states:
            self.pause()
            began, last = time.perf_counter(), min(self.judged + self.block, self.states)
            columns, _ = self.columns_of(self.judged, last)
            self.look(self.judged, columns)
            self.judged = last
            took = time.perf_counter() - began
            if took < QUICK:
                self.block = min(8 * self.block, MOST_JUDGED)
            elif took > SLOW:
                self.block = max(1, self.block // 4)

    def _rows(self) -> int:
        """States in a chunk. The instance alone decides, so that a search that is resumed has the same chunks."""
        return min(CHUNK, max(LEAST, WORK // (len(self.world.actions) * len(self.columns.widths))))

    def note_terminals(self, columns: Sequence[Ints], degrees: NDArray[Any]) -> None:
        """Notes states that nothing leaves: there every queue must be empty. They are those from `next` on."""
        terminal = np.flatnonzero(degrees == 0)
        self.terminals += len(terminal)
        if self.stuck is None and len(terminal):
            nodes = len(self.world.nodes)
            for queue in columns[nodes : nodes + len(self.world.links)]:
                left = terminal[queue[terminal] != 0]
                if len(left):
                    id = self.next + int(left[0])
                    self.stuck = id if self.stuck is None else min(self.stuck, id)
