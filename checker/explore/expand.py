"""One chunk of states to all their successors, on columns.

`Expander` gathers, per action, the rows in which it is enabled, looks the answers up in `Questions`, and changes the
packed words by the difference: no state object is ever built.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from routeproof.checker.explore.columns import Ints, Keys, RowKeys
from routeproof.checker.explore.interned import IMPOSSIBLE
from routeproof.checker.explore.questions import FAULT_BIT, Questions
from routeproof.model.world import Action

Mask = NDArray[np.bool_]


@frozen
class Successors:
    """Transitions in action order, then row order: source row, action, packed words of the target."""

    sources: Ints
    actions: NDArray[np.uint16]
    words: list[Keys]

    def __len__(self) -> int:
        return len(self.sources)


class Expander:
    """The transition relation of one world."""

    def __init__(self, questions: Questions) -> None:
        self.q = questions
        self.actions = questions.world.actions
        self.nodes = len(questions.locals)
        self.history = self.nodes + len(questions.queues)
        self.fired = [np.zeros(0, np.int64) for _ in range(self.nodes)]  # per node: transitions per outcome

    def expand(
        self, layout: RowKeys, columns: Sequence[Ints], words: Sequence[Keys], only: Sequence[Mask | None]
    ) -> tuple[Successors, list[Ints]]:
        """All successors, and per node the outcomes that led to them. `only[a]`: rows in which action a is explored."""
        q = self.q
        control = np.zeros(len(columns[0]), np.int64)
        for link in range(len(q.queues)):
            control += q.control[link][columns[self.nodes + link]]
        if q.world.protocol.may_hold:
            for node in range(self.nodes):
                control += q.holds[node][columns[node]]
        sources: list[Ints] = []
        actions: list[NDArray[np.uint16]] = []
        targets: list[list[Keys]] = []
        outcomes: list[list[Ints]] = [[] for _ in range(self.nodes)]
        for action in self.actions:
            enabled = self.enabled(action, columns)
            mask = only[action.index]
            rows = np.flatnonzero(enabled if mask is None else enabled & mask)
            outcome = None
            if action.node and len(rows):
                rows, outcome = self._handle(action, rows, columns)
                outcomes[q.node_index[action.node]].append(outcome)
            if not len(rows):
                continue
            changed = [word.take(rows) for word in words]
            self._apply(layout, action, rows, outcome, columns, control, changed)
            sources.append(rows)
            actions.append(np.full(len(rows), action.index, np.uint16))
            targets.append(changed)
        if not sources:
            return Successors(np.empty(0, np.int64), np.empty(0, np.uint16), [w[:0] for w in words]), []
        joined = [np.concatenate([t[w] for t in targets]) for w in range(len(words))]
        per_node = [np.concatenate(o) if o else np.empty(0, np.int64) for o in outcomes]
        return Successors(np.concatenate(sources), np.concatenate(actions), joined), per_node

    def enabled(self, action: Action, columns: Sequence[Ints]) -> Mask:
        q = self.q
        able: Mask
        if action.operation is not None:
            return q.may.have(action.operation.index, columns[self.history])
        if action.kind == "deliver":
            able = columns[self.nodes + action.link] != 0
            return able
        able = (q.budget[columns[self.history]] & FAULT_BIT[action.kind]) != 0
        if action.kind == "crash":
            able &= columns[q.node_index[action.node]] != 0
            return able
        rows = np.flatnonzero(able)
        if len(rows):
            queue = columns[self.nodes + action.link][rows]
            able[rows] = q.edited[action.index](queue, np.zeros_like(queue)) != IMPOSSIBLE
        return able

    def _handle(self, action: Action, rows: Ints, columns: Sequence[Ints]) -> tuple[Ints, Ints]:
        """The node's answers in these rows, except those in which it refuses."""
        q = self.q
        local = columns[q.node_index[action.node]].take(rows)
        message = np.zeros_like(rows)
        if action.link >= 0:
            message = q.head[action.link][columns[self.nodes + action.link].take(rows)]
        outcome = q.handled[action.index](local, message)
        if q.world.protocol.may_refuse:
            accepted = np.flatnonzero(outcome != IMPOSSIBLE)
            return rows.take(accepted), outcome.take(accepted)
        return rows, outcome

    def _apply(
        self,
        layout: RowKeys,
        action: Action,
        rows: Ints,
        outcome: Ints | None,
        columns: Sequence[Ints],
        control: Ints,
        words: list[Keys],
    ) -> None:
        """Change the words of these rows as the action and its outcome do."""
        q = self.q
        busy = control.take(rows)
        delivered = np.zeros(len(rows), np.int64)
        if action.link >= 0:
            column = self.nodes + action.link
            old = columns[column].take(rows)
            if action.kind in ("deliver", "loss"):
                new = q.tail[action.link][old]
            else:
                new = q.edited[action.index](old, np.zeros_like(old))
            layout.change(words, column, old, new)
            busy += q.control[action.link][new] - q.control[action.link][old]
        if outcome is not None:
            node = q.node_index[action.node]
            answers = q.outcomes[node]
            was, becomes = columns[node].take(rows), answers.local[outcome]
            layout.change(words, node, was, becomes)
            if q.world.protocol.may_hold:
                busy += q.holds[node][becomes] - q.holds[node][was]
            delivered = answers.delivered[outcome]
            for link, appended in answers.appended.items():
                busy += self._append(layout, link, appended[outcome], rows, columns, words)
        event = q.event[action.index](delivered, np.zeros_like(delivered))
        page = columns[self.history].take(rows)
        event = 2 * event + (busy == 0)
        layout.change(words, self.history, page, q.page(page, event))
        if q.ghosts:
            self._turn_ghosts(layout, event, page, rows, columns, words)

    def _turn_ghosts(
        self, layout: RowKeys, event: Ints, history: Ints, rows: Ints, columns: Sequence[Ints], words: list[Keys]
    ) -> None:
        """Change the ghosts that see something of these events."""
        q = self.q
        touched = np.flatnonzero(q.touched[event])
        if not len(touched):
            return
        event, history, rows = event.take(touched), history.take(touched), rows.take(touched)
        ghosts = [column.take(rows) for column in columns[self.history + 1 :]]
        for i, (ghost, own) in enumerate(zip(q.ghosts, ghosts, strict=True)):
            sees = np.flatnonzero(ghost.sees[event])
            if len(sees):
                old = own.take(sees)
                new = ghost.after(old, history.take(sees), [each.take(sees) for each in ghosts], event.take(sees))
                word, shift = layout.place[self.history + 1 + i]
                words[word][touched.take(sees)] += (new - old).view(np.uint64) << shift

    def _append(
        self, layout: RowKeys, link: int, appendix: Ints, rows: Ints, columns: Sequence[Ints], words: list[Keys]
    ) -> Ints:
        """Append to one queue; by how much the number of queues with control messages grows, per row."""
        grown = np.zeros(len(rows), np.int64)
        some = np.flatnonzero(appendix)
        if not len(some):
            return grown
        column = self.nodes + link
        old = columns[column].take(rows.take(some))
        new = self.q.appended[link](old, appendix.take(some))
        word, shift = layout.place[column]
        words[word][some] += (new - old).view(np.uint64) << shift
        grown[some] = self.q.control[link][new] - self.q.control[link][old]
        return grown

    def count(self, outcomes: Sequence[Ints]) -> None:
        for node, rows in enumerate(outcomes):
            size = max(len(self.q.outcomes[node]), len(self.fired[node]))
            total = np.bincount(rows, minlength=size)
            total[: len(self.fired[node])] += self.fired[node]
            self.fired[node] = total

    def rules(self) -> dict[str, int]:
        """How often each rule fired, over all transitions."""
        counts: dict[str, int] = {}
        for i, rule in enumerate(self.q.rules.values):
            fired = 0
            for node, times in enumerate(self.fired):
                masks = self.q.outcomes[node].rules
                fired += sum(n for n, mask in zip(times.tolist(), masks, strict=False) if mask >> i & 1)
            counts[rule] = fired
        return dict(sorted(counts.items()))
