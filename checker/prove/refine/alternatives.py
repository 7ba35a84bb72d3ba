"""The other direction of refinement: answers and steps that the relation allows in addition to those of the model.

The answer is open here: every entry that the new tables may have, every message that may be sent, is an unknown of Z3,
and the relation, spelled out over the instance's elements, is a formula over them. If it has a solution that is not the
model's answer, the relation allows too much. Each message may be sent once, and once more where the model sends it. The
order of the model's messages is a question of its own.

Of a whole step (`other_step`) the state after it is open in the same way: tables, queues and ghosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, permutations
from typing import TypeVar

import attrs
import z3
from attrs import evolve, frozen

from routeproof.checker.prove.refine.answers import Question, Spoken, Structure, Word, spoken, tables, word
from routeproof.checker.prove.refine.worlds import Across, Worded
from routeproof.checker.prove.small import Solver
from routeproof.checker.prove.solve import RLIMIT
from routeproof.model.overlay import Node
from routeproof.model.world import State as ModelState
from routeproof.model.world import Step as ModelStep
from routeproof.spec.theory import Clause, Grounded, Relation, Term, Truth, formula, negation
from routeproof.spec.theory.relation import ABOUT, Sends, TableRelations, WorldState
from routeproof.spec.theory.relation.routing import HandlerStep

R = TypeVar("R", bound=attrs.AttrsInstance)
Change = tuple[str, Truth]


def other_answer(structure: Structure, question: Question, handler: type[HandlerStep] = HandlerStep) -> str | None:
    """An answer that the relation allows and the model does not give, by where it differs; None if there is none."""
    said = spoken(question.answer.sends)
    return _other_content(structure, question, said, handler) or _other_order(structure, question, said, handler)


def _other_content(structure: Structure, question: Question, said: Spoken, handler: type[HandlerStep]) -> str | None:
    node = question.node
    open_ = Messages.of(structure, said, node)
    logic = structure.logic(len(open_.words))
    after, sends = unknown(TableRelations), open_.sends
    broker = question.put_to(handler, logic, structure.facts(open_.words), after, sends)
    changes = [
        *differences(logic, after, tables(node, question.answer.local)),
        *differences(logic, sends, open_.as_said(said)),
    ]
    return solution(logic, broker.content(*word(question.message)), changes, open_.twice())


def _other_order(structure: Structure, question: Question, said: Spoken, handler: type[HandlerStep]) -> str | None:
    logic = structure.logic(len(said.words))
    pairs = [(i, j) for i, j in combinations(range(len(said.to)), 2) if said.to[i] == said.to[j]]
    if not pairs:
        return None
    before, total = some_order(len(said.words))
    facts = evolve(structure.facts(said.words), before=before)
    broker = question.put_to(handler, logic, facts, tables(question.node, question.answer.local), said.sends)
    changes = [(f"{said.words[j]} before {said.words[i]} to b{said.to[i]}", before(j, i)) for i, j in pairs]
    return solution(logic, broker.order(), changes, total)


# -- what is open ------------------------------------------------------------------------------------------------------


@frozen
class Messages:
    """Every message that may be sent to a neighbour, after `offset` items: what the model sends first and last."""

    words: tuple[Word, ...]
    to: tuple[Node, ...]
    offset: int
    sends: Sends

    @classmethod
    def of(cls, structure: Structure, said: Spoken, node: Node, offset: int = 0) -> Messages:
        neighbours = structure.instance.overlay.neighbours(node)
        every = [((kind, m), u) for kind, sort in ABOUT.items() for m in structure.elements[sort] for u in neighbours]
        real = list(zip(said.words, said.to, strict=True))
        listed = [*real, *(each for each in every if each not in real), *dict.fromkeys(real)]
        to = tuple(u for _, u in listed)
        sends = unknown(Sends)
        return cls(tuple(w for w, _ in listed), to, offset, evolve(sends, to=_only(sends.to, to, offset)))

    def as_said(self, said: Spoken) -> Sends:
        """The model's own answer among those messages."""
        real = range(self.offset, self.offset + len(said.words))
        return Sends(to=lambda i, u: i in real and self.to[i - self.offset] == u, delivers=said.sends.delivers)

    def twice(self) -> list[z3.BoolRef]:
        """No message is repeated that was not sent."""
        listed = list(zip(self.words, self.to, strict=True))
        return [
            z3.Implies(self.sends.to(self.offset + j, u), self.sends.to(self.offset + listed.index((w, u)), u))
            for j, (w, u) in enumerate(listed)
        ]


def _only(to: Relation, receivers: Sequence[Node], offset: int) -> Relation:
    """Each message goes to one neighbour, if it is sent at all."""
    return lambda i, u: to(i, u) if i >= offset and receivers[i - offset] == u else False


def unknown(signature: type[R]) -> R:
    """A record of relations of which nothing is known."""
    return signature(**{each.name: _open(each.name) for each in attrs.fields(signature)})


def _open(name: str) -> Relation:
    @cache
    def atom(*terms: Term) -> z3.BoolRef:
        return z3.Bool(f"{name}{terms}")

    return atom


def some_order(items: int) -> tuple[Relation, list[z3.BoolRef]]:
    """A strict total order that nothing else is known of, and the formulas that make it one."""
    first = {(i, j): z3.Bool(f"before{i, j}") for i, j in combinations(range(items), 2)}

    def before(i: Term, j: Term) -> Truth:
        if i == j:
            return False
        return first[i, j] if i < j else z3.Not(first[j, i])

    around = permutations(range(items), 3)
    return before, [z3.Implies(z3.And(before(i, j), before(j, k)), before(i, k)) for i, j, k in around]


def differences(logic: Grounded, open_: R, known: R) -> Iterator[Change]:
    """Each way to differ from what is known, by its name."""
    for each in attrs.fields(type(open_)):
        for terms in logic.each(each.metadata["sorts"]):
            holds = getattr(known, each.name)(*terms)
            atom = getattr(open_, each.name)(*terms)
            yield f"{'not ' if holds else ''}{each.name}{terms}", negation(atom) if holds else atom


@cache
def _context() -> z3.Context:
    """Separate from all other contexts. One serves thousands of questions: making one takes longer than an answer."""
    return z3.Context()


def solution(
    logic: Grounded, clauses: Sequence[Clause], changes: Sequence[Change], given: Sequence[z3.BoolRef] = ()
) -> str | None:
    """Returns what is changed in a solution, or None if there is none. `GaveUp` is neither."""
    solver = Solver(RLIMIT, _context())
    solver.add(*given, *(formula(clause.closed(logic)) for clause in clauses))
    model = solver.find(z3.Or([formula(change) for _, change in changes]))
    if model is None:
        return None
    return "; ".join(
        name for name, change in changes if z3.is_true(model.eval(formula(change).translate(model.ctx), True))
    )


def other_step(worded: Worded, before: ModelState, taken: ModelStep) -> str | None:
    """Where another step that the relation allows differs from this one; None if there is none."""
    across = Across.of(worded, before, taken)
    return _other_state(worded, before, across) or _other_queues(worded, before, across)


def _other_state(worded: Worded, before: ModelState, across: Across) -> str | None:
    structure, old, here = worded.structure, len(across.old), across.taken.action.node
    messages = Messages.of(structure, across.said, here, offset=old)
    items = (*across.items[:old], *messages.words)
    logic = structure.logic(len(items))
    after, sends = unknown(WorldState), messages.sends
    clauses = across.relation(
        logic, structure.facts(items), worded.state(before, across.old), after, sends, _unordered(worded.handler)
    )
    kept = [place for place in across.new if place[0] < old]
    ends = [(old + k, here, u) for k, u in enumerate(across.said.to)]
    changes = [
        *differences(logic, after, worded.state(across.taken.state, [*kept, *ends])),
        *differences(logic, sends, messages.as_said(across.said)),
    ]
    return solution(logic, clauses, changes, messages.twice())


def _other_queues(worded: Worded, before: ModelState, across: Across) -> str | None:
    structure, old = worded.structure, len(across.old)
    where = {i: (x, y) for i, x, y in (*across.old, *across.new)}
    pairs = [(i, j) for i, j in combinations(range(len(across.items)), 2) if where[i] == where[j]]
    changed = [(i, j) for i, j in pairs if j >= old]
    if not changed:
        return None
    logic = structure.logic(len(across.items))
    first, total = some_order(len(across.items))
    clauses = across.relation(
        logic,
        evolve(structure.facts(across.items), before=first),
        worded.state(before, across.old),
        worded.state(across.taken.state, across.new),
        across.sends,
    )
    changes = [(f"{across.items[j]} before {across.items[i]}", first(j, i)) for i, j in changed]
    return solution(logic, clauses, changes, [*total, *(first(i, j) for i, j in pairs if j < old)])


def _unordered(handler: type[HandlerStep]) -> type[HandlerStep]:
    """Returns the handler without its order of messages."""

    class Unordered(handler):  # type: ignore[misc, valid-type]  # a class that is an argument
        def order(self) -> list[Clause]:
            return []

    return Unordered
