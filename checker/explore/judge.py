"""Properties on columns of states: each distinct part of a state is put to a property once.

`Judge.look` takes the component columns of newly found states and answers per property which violate it and how many
exercised it. An answer is kept by the part that the property reads (`spec.properties.Scope`): a history, a history with
the tags in flight, one queue, one node's tables (with the history, or with what is done), or those of two neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from attrs import define, field

from routeproof.checker.explore.keyindex import Ints, KeyIndex
from routeproof.checker.explore.questions import Interned, Questions
from routeproof.model.history import CONTROL
from routeproof.spec.properties import Answer, Property

VACUOUS, FINE, WRONG = 0, 1, 2
_PART = 32


@define
class Tally:
    """What was seen of one property so far."""

    property: Property
    exercised: int = 0
    violation: int | None = None
    """The lowest id of a violating state: the end of a shortest run, since ids rise with depth."""
    witness: int | None = None
    """The lowest id of a state that exercised it: what a `sometimes` wants."""


@define
class _Asked:
    """Answers to one property, by the part it read, packed into one key."""

    ask: Callable[[int, int], Answer]
    parts: KeyIndex = field(factory=KeyIndex)
    answers: list[int] = field(factory=list)
    _column: Ints = field(factory=lambda: np.empty(0, np.int64))

    def __call__(self, major: Ints, minor: Ints) -> Ints:
        """The answer for each pair."""
        keys = (major.view(np.uint64) << np.uint64(_PART)) | minor.view(np.uint64)
        ids, new = self.parts.intern(keys)
        if len(new):
            for row in new.tolist():
                answer = self.ask(int(major[row]), int(minor[row]))
                self.answers.append(VACUOUS if answer is None else WRONG if answer else FINE)
            self._column = np.array(self.answers, np.int64)
        return self._column.take(ids)


class Judge:
    """All properties of one search."""

    def __init__(self, questions: Questions, properties: Sequence[Property]) -> None:
        self.q = questions
        self.tallies = {p.id: Tally(p) for p in properties}
        self._tag_sets = Interned[int]()
        self._done_sets = Interned[int]()
        self._done_of: list[int] = []
        self._asked = {p.id: self._questions_of(p) for p in properties}

    def look(self, first_id: int, columns: Sequence[Ints]) -> None:
        """Judge states whose ids are `first_id`, `first_id` + 1, …"""
        nodes, links = len(self.q.locals), len(self.q.queues)
        history = columns[-1]
        flight = np.zeros_like(history)
        for link in range(links):
            flight |= self.q.tags[link][columns[nodes + link]]
        noisy = flight & CONTROL
        if self.q.world.protocol.may_hold:
            for node in range(nodes):
                noisy = noisy | self.q.holds[node][columns[node]]
        quiet = np.flatnonzero(noisy == 0)
        still = [column[quiet] for column in columns[:nodes]]
        done = self._done_column()[history[quiet]] if len(quiet) else quiet
        for id, tally in self.tallies.items():
            asked = self._asked[id]
            match tally.property.scope:
                case "history":
                    self._weigh(tally, asked, [(history, np.zeros_like(history))], first_id, None)
                case "flight":
                    self._weigh(tally, asked, [(history, self._tag_column(flight))], first_id, None)
                case "queue":
                    queues = columns[nodes : nodes + links]
                    self._weigh(tally, asked, [(queue, np.zeros_like(queue)) for queue in queues], first_id, None)
                case "record" if len(quiet):
                    page = history[quiet]
                    self._weigh(tally, asked, [(local, page) for local in still], first_id, quiet)
                case "node" if len(quiet):
                    self._weigh(tally, asked, [(local, done) for local in still], first_id, quiet)
                case "link" if len(quiet):
                    ends = [(self.q.node_index[u], self.q.node_index[v]) for u, v in self.q.world.links]
                    self._weigh(tally, asked, [(still[u], still[v]) for u, v in ends], first_id, quiet)

    def _weigh(
        self, tally: Tally, asked: list[_Asked], parts: list[tuple[Ints, Ints]], first_id: int, quiet: Ints | None
    ) -> None:
        if not parts:  # one broker alone has no links
            return
        verdicts = np.zeros(len(parts[0][0]), np.int64)
        for ask, (major, minor) in zip(asked, parts, strict=True):
            np.maximum(verdicts, ask(major, minor), out=verdicts)
        exercised, wrong = np.flatnonzero(verdicts), np.flatnonzero(verdicts == WRONG)
        tally.exercised += len(exercised)

        def state(row: int) -> int:
            return first_id + (row if quiet is None else int(quiet[row]))

        if len(wrong) and tally.violation is None:
            tally.violation = state(int(wrong[0]))
        if len(exercised) and tally.witness is None:
            tally.witness = state(int(exercised[0]))

    def _tag_column(self, flight: Ints) -> Ints:
        """The number of each set of tags; few distinct ones, so a small table does."""
        top = int(flight.max()) + 1
        if top <= 1 << 16:
            return flight  # the set is its own number
        distinct, inverse = np.unique(flight, return_inverse=True)
        return np.array([self._tag_sets.id(t) + (1 << 16) for t in distinct.tolist()], np.int64)[inverse]

    def _tags(self, number: int) -> int:
        return number if number < 1 << 16 else self._tag_sets.values[number - (1 << 16)]

    def _done_column(self) -> Ints:
        """Per history: the number of its set of operations done."""
        for history in range(len(self._done_of), len(self.q.histories)):
            self._done_of.append(self._done_sets.id(self.q.histories.values[history].done))
        return np.array(self._done_of, np.int64)

    def _questions_of(self, p: Property) -> list[_Asked]:
        q, ledger = self.q, self.q.ledger
        match p.scope:
            case "history":
                return [_Asked(lambda h, _: p.evaluate(ledger, q.histories.values[h]))]
            case "flight":
                return [_Asked(lambda h, t: p.evaluate(ledger, q.histories.values[h], self._tags(t)))]
            case "queue":
                return [self._asked_of_queue(p, i) for i in range(len(q.queues))]
            case "record":
                return [self._asked_of_record(p, i) for i in range(len(q.locals))]
            case "node":
                return [self._asked_of_node(p, i) for i in range(len(q.locals))]
            case "link":
                return [self._asked_of_link(p, i) for i in range(len(q.queues))]
        return []

    def _asked_of_node(self, p: Property, i: int) -> _Asked:
        node, locals_ = self.q.world.nodes[i], self.q.locals[i]
        return _Asked(lambda x, d: p.evaluate(self.q.ledger, node, locals_.values[x], self._done_sets.values[d]))

    def _asked_of_record(self, p: Property, i: int) -> _Asked:
        q, node, locals_ = self.q, self.q.world.nodes[i], self.q.locals[i]
        return _Asked(lambda x, h: p.evaluate(q.ledger, node, locals_.values[x], q.histories.values[h]))

    def _asked_of_queue(self, p: Property, i: int) -> _Asked:
        link, queues = self.q.world.links[i], self.q.queues[i]
        return _Asked(lambda x, _: p.evaluate(self.q.ledger, link, queues.values[x]))

    def _asked_of_link(self, p: Property, i: int) -> _Asked:
        link = self.q.world.links[i]
        near, far = (self.q.locals[self.q.node_index[n]] for n in link)
        return _Asked(lambda x, y: p.evaluate(self.q.ledger, link, near.values[x], far.values[y]))
