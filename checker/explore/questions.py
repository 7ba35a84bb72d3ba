"""Every question that is ever put to the model, asked once: interned components and memoised answers.

`Questions` holds, as integer arrays, what `World` says about one handler call, one queue and one page of the ledger.
Exploration itself is integer work on these arrays; a pure function is called once for each distinct question.

Component ids are numbered in the order in which they are met, and every miss is written to `log` as four integers.
Asking the same questions again in the same order gives the same ids: that is how a checkpoint is resumed, without
storing a single object.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from routeproof.checker.explore.keyindex import Ints
from routeproof.model.history import CONTROL, History
from routeproof.model.overlay import LOCAL
from routeproof.model.protocol import Outcome
from routeproof.model.world import Queue, World, deliveries, edit_queue

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


class Answers:
    """A growing table (row, column) -> answer, filled by asking where it is still unknown."""

    def __init__(self, ask: Callable[[int, int], int]) -> None:
        self._ask = ask
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
            grown = np.full(shape, UNKNOWN, np.int32)
            grown[:have_rows, :have_columns] = self._cells
            self._cells = grown


def _room(need: int, have: int) -> int:
    return have if need <= have else max(need, 2 * have)


class NodeOutcomes:
    """The distinct answers of one node's handler, a row each."""

    def __init__(self, out_links: tuple[int, ...]) -> None:
        self.local = Column()
        self.appended = {link: Column() for link in out_links}
        self.delivered = Column()
        self.rules = Column()
        self._rows = Interned[tuple[int, ...]]()

    def id(self, local: int, appended: dict[int, int], delivered: int, rules: int) -> int:
        row = self._rows.id((local, delivered, rules, *(appended[link] for link in self.appended)))
        if row == self.local.size:
            self.local.append(local)
            self.delivered.append(delivered)
            self.rules.append(rules)
            for link, column in self.appended.items():
                column.append(appended[link])
        return row

    def __len__(self) -> int:
        return self.local.size


class Questions:
    """The world, cut into components with numbers."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ledger = world.ledger
        self.log: list[tuple[int, int, int, int]] = []
        nodes, links = range(len(world.nodes)), range(len(world.links))
        self.node_index = {n: i for i, n in enumerate(world.nodes)}
        self.out_links = tuple(tuple(i for i in links if world.links[i][0] == n) for n in world.nodes)

        self.locals = tuple(Interned[Hashable]() for _ in nodes)
        self.messages = tuple(Interned[Hashable]() for _ in links)
        self.queues = tuple(Interned[Queue]() for _ in links)
        self.appendices = tuple(Interned[Queue]() for _ in links)
        self.histories = Interned[History]()
        self.deliveries = Interned[tuple[Any, ...]]()
        self.events = Interned[tuple[int, str, int]]()
        self.rules = Interned[str]()

        self.head = tuple(Column() for _ in links)
        self.tail = tuple(Column() for _ in links)
        self.tags = tuple(Column() for _ in links)
        self.control = tuple(Column() for _ in links)
        self.may = Column()  # per history: a mask of the operations that are enabled
        self.budget = Column()  # per history: a mask of the fault kinds that may still happen
        self.done = Column()  # per history: the operations done
        self.holds = tuple(Column() for _ in nodes)  # per local state: 1 where it holds back what changes tables
        self.outcomes = tuple(NodeOutcomes(out) for out in self.out_links)

        actions = world.actions
        self.handled = tuple(Answers(self.logged(0, a.index, self._ask_handler)) for a in actions)
        self.appended = tuple(Answers(self.logged(1, link, self._ask_append)) for link in links)
        self.edited = tuple(Answers(self.logged(2, a.index, self._ask_edit)) for a in actions)
        self.event = tuple(Answers(self.logged(3, a.index, self._ask_event)) for a in actions)
        self.page = Answers(self.logged(4, 0, self._ask_page))
        self.extra: tuple[Answers, ...] = ()
        """What a reduction asks besides."""
        self.watch: Callable[[int, Hashable, int, Hashable, Outcome], None] | None = None
        """Called with every question put to a handler, and its answer."""
        self._start()

    def _start(self) -> None:
        for i, node in enumerate(self.world.nodes):
            self.number_local(i, self.world.protocol.initial(node))
        for link in range(len(self.world.links)):
            self.appendices[link].id(())
            self.number_queue(link, ())
        self.deliveries.id(())
        self.number_history(self.ledger.initial())

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column of a state has so far: locals, queues, history."""
        return (*map(len, self.locals), *map(len, self.queues), len(self.histories))

    @property
    def nbytes(self) -> int:
        """The transition tables, without the objects behind the ids."""
        tables = (*self.handled, *self.appended, *self.edited, *self.event, self.page)
        return sum(t.nbytes for t in tables)

    def replay(self, log: NDArray[np.int32]) -> None:
        """Ask all these questions again, in order, so that every id means what it meant."""
        tables = (self.handled, self.appended, self.edited, self.event, (self.page,), self.extra)
        for kind, which, row, column in log.tolist():
            tables[kind][which](np.array([row]), np.array([column]))

    def logged(self, kind: int, which: int, ask: Callable[[int, int, int], int]) -> Callable[[int, int], int]:
        def logged(row: int, column: int) -> int:
            self.log.append((kind, which, row, column))
            return ask(which, row, column)

        return logged

    # -- the questions -------------------------------------------------------------------------------------------------

    def _ask_handler(self, which: int, local: int, message: int) -> int:
        """A node's handler: the row of `outcomes` that holds its answer, if it accepts the message."""
        action = self.world.actions[which]
        node = self.node_index[action.node]
        if action.kind == "crash":
            return self._outcome(node, self.world.protocol.initial(action.node), (), frozenset())
        if action.operation is not None:
            sender, said = LOCAL, action.operation.message
        else:
            sender, said = self.world.links[action.link][0], self.messages[action.link].values[message]
        protocol, knows = self.world.protocol, self.locals[node].values[local]
        if protocol.may_refuse and not protocol.accepts(action.node, knows, sender, said):
            return IMPOSSIBLE
        answer = protocol.handle(action.node, knows, sender, said)
        if self.watch is not None:
            self.watch(action.node, knows, sender, said, answer)
        return self._outcome(node, answer.local, answer.sends, answer.rules, deliveries(answer))

    def _ask_append(self, link: int, queue: int, appendix: int) -> int:
        return self.number_queue(link, self.queues[link].values[queue] + self.appendices[link].values[appendix])

    def _ask_edit(self, which: int, queue: int, _: int) -> int:
        action = self.world.actions[which]
        edited = edit_queue(action.kind, self.queues[action.link].values[queue])
        return IMPOSSIBLE if edited is None else self.number_queue(action.link, edited)

    def _ask_event(self, which: int, delivered: int, _: int) -> int:
        """What the ledger is told of a step: its operation or fault, and what was delivered."""
        action = self.world.actions[which]
        operation = action.operation.index if action.operation is not None else UNKNOWN
        fault = "" if action.kind in ("operation", "deliver") else action.kind
        return self.events.id((operation, fault, delivered))

    def _ask_page(self, _: int, history: int, event_and_quiet: int) -> int:
        event, quiet = divmod(event_and_quiet, 2)
        operation, fault, delivered = self.events.values[event]
        page = self.ledger.after(
            self.histories.values[history],
            None if operation == UNKNOWN else self.ledger.operations[operation],
            self.deliveries.values[delivered],
            bool(quiet),
        )
        return self.number_history(self.ledger.spend(page, fault) if fault else page)

    # -- numbering -----------------------------------------------------------------------------------------------------

    def _outcome(
        self,
        node: int,
        local: Hashable,
        sends: tuple[tuple[int, Hashable], ...],
        rules: frozenset[str],
        delivered: tuple[Any, ...] = (),
    ) -> int:
        appended = {
            link: self.appendices[link].id(tuple(m for n, m in sends if n == self.world.links[link][1]))
            for link in self.out_links[node]
        }
        mask = sum(1 << self.rules.id(rule) for rule in sorted(rules))
        return self.outcomes[node].id(self.number_local(node, local), appended, self.deliveries.id(delivered), mask)

    def number_local(self, node: int, local: Hashable) -> int:
        known = self.locals[node].id(local)
        if known == self.holds[node].size:
            self.holds[node].append(1 if self.world.holds([local]) else 0)
        return known

    def number_queue(self, link: int, queue: Queue) -> int:
        if queue:
            tail = self.number_queue(link, queue[1:])
        known = self.queues[link].id(queue)
        if known == self.tags[link].size:
            tags = self.world.tags(queue)
            self.tags[link].append(tags)
            self.control[link].append(1 if tags & CONTROL else 0)
            self.head[link].append(self.messages[link].id(queue[0]) if queue else IMPOSSIBLE)
            self.tail[link].append(tail if queue else IMPOSSIBLE)
        return known

    def number_history(self, history: History) -> int:
        known = self.histories.id(history)
        if known == self.done.size:
            operations = self.ledger.operations
            self.done.append(history.done)
            self.may.append(sum(o.bit for o in operations if self.ledger.enabled(history, o)))
            self.budget.append(sum(bit for fault, bit in FAULT_BIT.items() if getattr(history.faults, fault)))
        return known


FAULT_BIT = {"loss": 1, "duplicate": 2, "reorder": 4, "crash": 8}
