"""The other way around: what the relation allows beside the answer that the model gives.

Here the answer is open: every entry that the new tables may have, every message that may be said, is an unknown of Z3,
and the relation, spelled out over the instance's elements, is a formula over them. If it has a solution that is not the
model's answer, the relation allows too much. Each message may be said once, and once more where the model says it. The
order of what the model says is asked apart. `other_steps` asks the same of whole steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, permutations
from typing import TypeVar

import attrs
import z3
from attrs import evolve, frozen

from routeproof.checker.prove.refine.answers import Question
from routeproof.checker.prove.refine.structure import Spoken, Structure, Word, hop, spoken, tables, word
from routeproof.checker.prove.small import Solver
from routeproof.checker.prove.solve import RLIMIT
from routeproof.model.overlay import Node
from routeproof.spec.theory.logic import Truth, formula, negation
from routeproof.spec.theory.readings import Clause, Grounded, Relation, Term
from routeproof.spec.theory.routing import Handler
from routeproof.spec.theory.signature import ABOUT, Sends, Tables

R = TypeVar("R", bound=attrs.AttrsInstance)
Change = tuple[str, Truth]


def other_answer(structure: Structure, question: Question, handler: type[Handler] = Handler) -> str | None:
    """An answer that the relation allows and the model does not give, by where it differs; None if there is none."""
    said = spoken(question.answer.sends)
    return _other_content(structure, question, said, handler) or _other_order(structure, question, said, handler)


def _other_content(structure: Structure, question: Question, said: Spoken, handler: type[Handler]) -> str | None:
    node = question.node
    open_ = Messages.of(structure, said, node)
    logic = structure.logic(len(open_.words))
    after, sends = unknown(Tables), open_.sends
    broker = handler(
        logic,
        structure.facts(open_.words),
        question.policy,
        node,
        hop(node, question.sender),
        tables(node, question.local),
        after,
        sends,
    )
    changes = [
        *differences(logic, after, tables(node, question.answer.local)),
        *differences(logic, sends, open_.as_said(said)),
    ]
    return solution(logic, broker.content(*word(question.message)), changes, open_.twice())


def _other_order(structure: Structure, question: Question, said: Spoken, handler: type[Handler]) -> str | None:
    logic, node = structure.logic(len(said.words)), question.node
    pairs = [(i, j) for i, j in combinations(range(len(said.to)), 2) if said.to[i] == said.to[j]]
    if not pairs:
        return None
    before, total = some_order(len(said.words))
    broker = handler(
        logic,
        evolve(structure.facts(said.words), before=before),
        question.policy,
        node,
        hop(node, question.sender),
        tables(node, question.local),
        tables(node, question.answer.local),
        said.sends,
    )
    changes = [(f"{said.words[j]} before {said.words[i]} to b{said.to[i]}", before(j, i)) for i, j in pairs]
    return solution(logic, broker.order(), changes, total)


# -- what is open ------------------------------------------------------------------------------------------------------


@frozen
class Messages:
    """Every message that may be said to a neighbour: first those that the model says, last those again.

    `offset` is how many items there are before them.
    """

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
        """Nothing is said again that was not said."""
        listed = list(zip(self.words, self.to, strict=True))
        return [
            z3.Implies(self.sends.to(self.offset + j, u), self.sends.to(self.offset + listed.index((w, u)), u))
            for j, (w, u) in enumerate(listed)
        ]


def _only(to: Relation, receivers: Sequence[Node], offset: int) -> Relation:
    """Each message is to one neighbour, if it is said at all."""
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
    """Apart from everybody else's. There is one for thousands of questions: to make one takes longer than to answer."""
    return z3.Context()


def solution(
    logic: Grounded, clauses: Sequence[Clause], changes: Sequence[Change], given: Sequence[z3.BoolRef] = ()
) -> str | None:
    """What is changed in a solution; None if there is none. `GaveUp` is neither."""
    solver = Solver(RLIMIT, _context())
    solver.add(*given, *(formula(clause.closed(logic)) for clause in clauses))
    model = solver.find(z3.Or([formula(change) for _, change in changes]))
    if model is None:
        return None
    return "; ".join(
        name for name, change in changes if z3.is_true(model.eval(formula(change).translate(model.ctx), True))
    )
