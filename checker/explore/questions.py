"""Every question that is ever put to the model, asked once: interned components and memoised answers.

`Questions` holds, as integer arrays, what `World` says about one handler call, one queue and one page of the ledger.
Exploration itself is integer work on these arrays; a pure function is called once for each distinct question.

Component ids are numbered in the order in which they are met, and every miss is written to `log` as four integers.
Asking the same questions again in the same order gives the same ids: that is how a checkpoint is resumed, without
storing a single object.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routeproof.checker.explore.interned import (
    IMPOSSIBLE,
    UNKNOWN,
    AnswerTable,
    Column,
    GhostColumn,
    Interned,
    Parts,
    Sets,
)
from routeproof.model.history import CONTROL, History, WorldEvent
from routeproof.model.overlay import LOCAL
from routeproof.model.protocol import Outcome
from routeproof.model.world import Queue, World, deliveries, edit_queue


class NodeOutcomes:
    """The distinct answers of one node's handler, a row each."""

    def __init__(self, out_links: tuple[int, ...]) -> None:
        self.local = Column()
        self.appended = {link: Column() for link in out_links}
        self.delivered = Column()
        self.rules: list[int] = []
        """The mask of the rules that fired; masks are as wide as there are rules."""
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
        self.deliveries = Interned[tuple[tuple[Any, ...], tuple[Hashable, ...]]]()
        """Deliveries of a step, and what the definition notes of it for ghosts."""
        self.events = Interned[tuple[int, str, int]]()
        self.rules = Interned[str]()

        self.head = tuple(Column() for _ in links)
        self.tail = tuple(Column() for _ in links)
        self.tags = tuple(Sets(len(world.instance.publications) + 1) for _ in links)  # CONTROL is tag 0
        self.control = tuple(Column() for _ in links)
        self.may = Sets(len(world.ledger.operations))  # per history: the operations that are enabled
        self.budget = Column()  # per history: a mask of the fault kinds that may still happen
        self.holds = tuple(Column() for _ in nodes)  # per local state: 1 where it holds back what changes tables
        self.kept = tuple(Sets(len(world.instance.publications) + 1) for _ in nodes)  # per local state: tags
        self.outcomes = tuple(NodeOutcomes(out) for out in self.out_links)

        actions = world.actions
        self.handled = tuple(AnswerTable(self.logged(0, a.index, self._ask_handler)) for a in actions)
        self.appended = tuple(AnswerTable(self.logged(1, link, self._ask_append)) for link in links)
        self.edited = tuple(AnswerTable(self.logged(2, a.index, self._ask_edit)) for a in actions)
        self.event = tuple(AnswerTable(self.logged(3, a.index, self._ask_event)) for a in actions)
        self.page = AnswerTable(self.logged(4, 0, self._ask_page), lambda more: self.room(more))  # noqa: PLW0108 - the search sets `room` later
        self._parts: dict[tuple[str, ...], Parts] = {}
        self.ghosts = tuple(GhostColumn(ghost, self.ledger) for ghost in world.ghosts)
        for ghost, reading in zip(self.ghosts, world.ghosts_read, strict=True):
            ghost.prepare(reading, self.parts, self.ghosts, self.logged)
        self._joins = tuple((ghost, k) for ghost in self.ghosts for k in range(len(ghost.joins)))
        self.touched = Column()
        """Per event, twice (not quiet, quiet): 1 where a ghost sees something of it."""
        self.extra: tuple[AnswerTable, ...] = ()
        """Further questions of a reduction."""
        self.watch: Callable[[int, Hashable, int, Hashable, Outcome], None] | None = None
        """Called with every question put to a handler, and its answer."""
        self.room: Callable[[int], None] = lambda _: None
        """Called with the number of bytes that a table is about to take; a search may raise there as well."""
        self.pause: Callable[[], None] = lambda: None
        """Called before each question; a search may raise there, since nothing is torn between two questions."""
        self._start()

    def _start(self) -> None:
        first = self.world.initial()
        for i, local in enumerate(first.locals):
            self.number_local(i, local)
        for link, queue in enumerate(first.queues):
            self.appendices[link].id(())
            self.number_queue(link, queue)
        self.deliveries.id(((), ()))
        self.number_history(first.history)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column of a state has so far: locals, queues, history, ghosts."""
        ghosts = (len(ghost.values) for ghost in self.ghosts)
        return (*map(len, self.locals), *map(len, self.queues), len(self.histories), *ghosts)

    def parts(self, names: tuple[str, ...]) -> Parts:
        """The parts of histories of these names; one table for all who read them."""
        return self._parts.setdefault(names, Parts(names, self.histories))

    @property
    def nbytes(self) -> int:
        """The transition tables, without the objects behind the ids."""
        ghosts = (table for ghost in self.ghosts for table in (*ghost.joins, ghost.turns))
        tables = (*self.handled, *self.appended, *self.edited, *self.event, self.page, *ghosts)
        return sum(t.nbytes for t in tables)

    def replay(self, log: NDArray[np.int32]) -> bool:
        """Asks all these questions again, in order, so that every id means what it meant. False if that is no log."""
        joins = tuple(ghost.joins[k] for ghost, k in self._joins)
        turns = tuple(ghost.turns for ghost in self.ghosts)
        tables = (self.handled, self.appended, self.edited, self.event, (self.page,), self.extra, joins, turns)
        for asked, (kind, which, row, column) in enumerate(log.tolist(), start=1):
            if not (0 <= kind < len(tables) and 0 <= which < len(tables[kind])):
                return False
            rows, columns = self._known(kind, which)
            if not (0 <= row < rows and 0 <= column < columns):
                return False
            tables[kind][which](np.array([row]), np.array([column]))
            if len(self.log) != asked:
                return False  # asked twice
        return True

    def _known(self, kind: int, which: int) -> tuple[int, int]:
        """How many rows and columns a question of this kind may have by now."""
        match kind:
            case 0:
                action = self.world.actions[which]
                if not action.node:
                    return 0, 0
                messages = len(self.messages[action.link]) if action.link >= 0 else 1
                return len(self.locals[self.node_index[action.node]]), messages
            case 1:
                return len(self.queues[which]), len(self.appendices[which])
            case 2:
                link = self.world.actions[which].link
                return (len(self.queues[link]) if link >= 0 else 0), 1
            case 3:
                return len(self.deliveries), 1
            case 4:
                return len(self.histories), 2 * len(self.events)
            case 6:
                ghost, k = self._joins[which]
                return ghost.known(k)
            case 7:
                return self.ghosts[which].known(None)
        return self.sizes[which % len(self.sizes)], 1  # of a symmetry: a table for each column, renaming by renaming

    def logged(self, kind: int, which: int, ask: Callable[[int, int, int], int]) -> Callable[[int, int], int]:
        def logged(row: int, column: int) -> int:
            self.pause()
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
        answer = self.world.handle(action.node, knows, sender, said)
        self.world.refuse_stray(action.node, answer.sends)
        if self.watch is not None:
            self.watch(action.node, knows, sender, said, answer)
        facts = self.world.definition.facts(action.node, knows, sender, said, answer)
        return self._outcome(node, answer.local, answer.sends, answer.rules, (deliveries(answer), facts))

    def _ask_append(self, link: int, queue: int, appendix: int) -> int:
        return self.number_queue(link, self.queues[link].values[queue] + self.appendices[link].values[appendix])

    def _ask_edit(self, which: int, queue: int, _: int) -> int:
        action = self.world.actions[which]
        edited = edit_queue(action.kind, self.queues[action.link].values[queue])
        return IMPOSSIBLE if edited is None else self.number_queue(action.link, edited)

    def _ask_event(self, which: int, delivered: int, _: int) -> int:
        """Number of a step for the ledger: its operation or fault, and its deliveries."""
        action = self.world.actions[which]
        operation = action.operation.index if action.operation is not None else UNKNOWN
        fault = "" if action.kind in ("operation", "deliver") else action.kind
        known = self.events.id((operation, fault, delivered))
        if 2 * known == self.touched.size:
            came, facts = self.deliveries.values[delivered]
            for quiet in (False, True):
                event = WorldEvent(action.operation, fault, came, quiet, facts)
                seen = [ghost.note(event) for ghost in self.ghosts]
                self.touched.append(int(any(seen)))
        return known

    def _ask_page(self, _: int, history: int, event_and_quiet: int) -> int:
        number, quiet = divmod(event_and_quiet, 2)
        operation, fault, delivered = self.events.values[number]
        done = None if operation == UNKNOWN else self.ledger.operations[operation]
        before = self.histories.values[history]
        came = self.deliveries.values[delivered][0]
        return self.number_history(self.world.page(before, done, fault, came, bool(quiet)))

    # -- numbering -----------------------------------------------------------------------------------------------------

    def _outcome(
        self,
        node: int,
        local: Hashable,
        sends: tuple[tuple[int, Hashable], ...],
        rules: frozenset[str],
        noted: tuple[tuple[Any, ...], tuple[Hashable, ...]] = ((), ()),
    ) -> int:
        appended = {
            link: self.appendices[link].id(tuple(m for n, m in sends if n == self.world.links[link][1]))
            for link in self.out_links[node]
        }
        mask = sum(1 << self.rules.id(rule) for rule in sorted(rules))
        return self.outcomes[node].id(self.number_local(node, local), appended, self.deliveries.id(noted), mask)

    def number_local(self, node: int, local: Hashable) -> int:
        known = self.locals[node].id(local)
        if known == self.holds[node].size:
            kept = self.world.kept([local])
            self.kept[node].append(kept)
            self.holds[node].append(1 if kept & CONTROL else 0)
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
        if known == self.budget.size:
            self.may.append(self.ledger.may(history))
            self.budget.append(sum(bit for fault, bit in FAULT_BIT.items() if getattr(history.faults, fault)))
        return known


FAULT_BIT = {"loss": 1, "duplicate": 2, "reorder": 4, "crash": 8}
