"""Answers of the pruning protocol as the relations of `spec/theory/pruning.py` see them."""

from __future__ import annotations

from attrs import evolve

from routeproof.checker.prove.refine.answers import Objection, Question, objection
from routeproof.checker.prove.refine.sample import Explored
from routeproof.checker.prove.refine.structure import hop, word
from routeproof.model.instance import Instance
from routeproof.model.pruning_state import PruningTables
from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.pruning import PruningAnswer, Retaining
from routeproof.spec.theory.readings import BROKER, SUB, Clause, Term
from routeproof.spec.theory.routing import Change


def is_in_words(instance: Instance) -> bool:
    """The relations have no words for congestion (PRN-6), nor the sample for what is issued again (PRN-15)."""
    return instance.protocol == "pruning" and not instance.congestion and not any(s.again for s in instance.subscribers)


def loosely(explored: Explored, question: Question) -> Objection | None:
    """By the relation of the proofs."""
    return objection(explored.worded.structure, question, PruningAnswer)


def strictly(explored: Explored, question: Question) -> Objection | None:
    """With what is retained as a table: PRN-9 to PRN-13 word for word."""
    parameters = explored.world.instance.parameters(question.policy)
    handler = _handler(question, parameters.collects)
    return objection(explored.worded.structure, evolve(question, policy=parameters.base), handler)


def retained_in(local: object) -> frozenset[tuple[int, int]]:
    """What a broker retains, and for whom."""
    assert isinstance(local, PruningTables)
    return frozenset((u, s.rank) for u, kept in local.retained for s in kept)


def _handler(question: Question, collects: bool) -> type[Retaining]:
    before, after = retained_in(question.local), retained_in(question.answer.local)
    kind, subject = word(question.message)
    sender = hop(question.node, question.sender)

    class Answer(Retaining):
        def clauses(self, kind: str, subject: Term) -> list[Clause]:
            change: Change = getattr(self, f"on_{kind}")(subject)
            kept = Clause(
                "retained is what is wanted without being a candidate, where settled",
                (BROKER, SUB),
                lambda u, s: (
                    ((u, s) in after)
                    == (
                        self.wanted(u, s) and not self.is_candidate(u, s)
                        if self.is_settled(change, u)
                        else (u, s) in before
                    )
                ),
                ("PRN-7", "PRN-10", "PRN-11", "PRN-12", "PRN-13"),
            )
            return [*super().clauses(kind, subject), kept]

        def retained(self, u: Term, s: Term) -> Truth:
            """PRN-4: a withdrawal may end at any neighbour that has it from here; the answer says at which."""
            ends = (
                kind == "unsub"
                and s == subject
                and u != sender
                and self.before.subs(s, sender)
                and self.before.sent(u, s)
                and self.after.sent(u, s)
            )
            return (u, s) in before or ends

        def has_reason(self, u: Term, s: Term) -> Truth:
            """PRN-12"""
            logic = self.logic
            return not collects or logic.some(
                (SUB,), lambda t: logic.all_of(self.facts.covers(s, t), lambda: self.is_candidate(u, t))
            )

    return Answer
