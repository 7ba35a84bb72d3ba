"""A handler's answer, held to the relation: the clause that forbids it, if there is one.

`Question` is one question that was put to the model with the answer that it gave. The relation is read over sets: no
solver has a part in it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from attrs import evolve, frozen

from routeproof.checker.prove.refine.structure import Spoken, Structure, Unsayable, Word, hop, spoken, tables, word
from routeproof.model.messages import Deliver, Publish, describe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Local, Outcome
from routeproof.model.tables import Tables
from routeproof.spec.theory.readings import Clause, Grounded
from routeproof.spec.theory.routing import Handler


@frozen
class Question:
    """What a broker was asked, and what it answered."""

    policy: str
    node: Node
    local: Local
    sender: Node
    message: Hashable
    answer: Outcome

    @property
    def kind(self) -> str:
        return word(self.message)[0]

    def told(self) -> dict[str, str]:
        """For people."""
        return {
            "asked": f"b{self.node}, under {self.policy}: {describe(self.message)} from {_who(self.sender)}",
            "knowing": known(self.local),
            "answers": ", ".join(f"{describe(m)} to {_who(u)}" for u, m in self.answer.sends) or "nothing",
            "and then knows": known(self.answer.local),
        }


@frozen
class Objection:
    """The clause that a step breaks, and what it says it of."""

    clause: str
    rules: tuple[str, ...] = ()
    about: str = ""

    def __str__(self) -> str:
        rules = f" ({', '.join(dict.fromkeys(self.rules))})" if self.rules else ""
        return f"{self.clause}{rules}{': ' if self.about else ''}{self.about}"


def objection(structure: Structure, question: Question, handler: type[Handler] = Handler) -> Objection | None:
    """Why the relation does not allow this answer; None where it does."""
    try:
        said = spoken(question.answer.sends)
        logic = structure.logic(len(said.words))
        clauses = relation(structure, question, logic, said, handler)
    except Unsayable as error:
        return Objection(str(error))
    return broken(structure, clauses, logic, said.words)


def relation(
    structure: Structure, question: Question, logic: Grounded, said: Spoken, handler: type[Handler]
) -> list[Clause]:
    """The clauses of this step, over the model's own answer."""
    node = question.node
    broker = handler(
        logic,
        structure.facts(said.words),
        question.policy,
        node,
        hop(node, question.sender),
        tables(node, question.local),
        tables(node, question.answer.local),
        said.sends,
    )
    return broker.clauses(*word(question.message))


def broken(
    structure: Structure, clauses: Iterable[Clause], logic: Grounded, items: Sequence[Word] = ()
) -> Objection | None:
    """The first clause that does not hold, and the first elements of which it does not."""
    for clause in clauses:
        for terms in logic.each(clause.sorts):
            if not clause.body(*terms):
                names = (structure.name(sort, term, items) for sort, term in zip(clause.sorts, terms, strict=True))
                return Objection(clause.name, clause.rules, ", ".join(names))
    return None


# -- answers that are wrong -------------------------------------------------------------------------------------------


def altered(question: Question) -> list[Question]:
    """The same question with other answers, each of which differs from the given one in what can be seen of it."""
    found = [evolve(question, answer=evolve(question.answer, sends=sends)) for sends in _other_sends(question)]
    local = question.answer.local
    if isinstance(local, Tables):
        for name in ("advs", "subs", "sent"):
            if getattr(local, name):
                shorter = evolve(local, **{name: getattr(local, name)[1:]})
                found.append(evolve(question, answer=evolve(question.answer, local=shorter)))
    return found


def _other_sends(question: Question) -> list[tuple[tuple[Node, Hashable], ...]]:
    sends = question.answer.sends
    found = [(*sends[:i], *sends[i + 1 :]) for i in range(len(sends))]  # one is missing
    found += [(*sends, send) for send in sends]  # one is said twice
    for i in range(len(sends) - 1):
        (u, one), (v, other) = sends[i : i + 2]
        if u == v and not isinstance(one, Deliver | Publish):  # to one neighbour, in the other order
            found.append((*sends[:i], (v, other), (u, one), *sends[i + 2 :]))
    back = (question.sender, question.message)
    if question.sender != LOCAL and back not in sends:
        found.append((*sends, back))  # what was heard is said to who said it
    return found


# -- for people -------------------------------------------------------------------------------------------------------


def _who(node: Node) -> str:
    return "a client" if node == LOCAL else f"b{node}"


def known(local: Local) -> str:
    if not isinstance(local, Tables):
        return str(local)
    rows = [f"{m} from {_who(x)}" for entries in (local.advs, local.subs) for m, x in entries]
    rows += [f"sent to b{u}: {', '.join(map(str, told))}" for u, told in local.sent]
    return "; ".join(rows) or "nothing"
