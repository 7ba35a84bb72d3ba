"""Pruning's answers, compared with two relations: to that of the proofs, and to the rules word for word.

The relation of the proofs (`Congested`) leaves open how far a withdrawal goes, and what it retains; it has the held
withdrawals outside the table (PRN-6). Word for word (`Retaining`), the table `retained` is one of a broker's, and the
covering policy chooses from the pool; where a withdrawal ends is given, or read from the answer.

The answer to a relief, or to a subscription that ends a hold (PRN-14), is a row of answers. It is divided: each
withdrawal that is taken up is a question of its own, and the whole must be what they say, one after the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import chain, combinations

from attrs import evolve, frozen

from routeproof.checker.prove.refine.answers import Objection, Question, hop, objection, word
from routeproof.checker.prove.refine.sample import Explored
from routeproof.model.messages import Subscribe, Unsubscribe
from routeproof.model.overlay import Node
from routeproof.model.protocol import Protocol
from routeproof.model.pruning.definition import parameters
from routeproof.model.pruning.vocabulary import Congest, Cut, PruningTables, Relieve, withdraw
from routeproof.spec.pruning.theory.relation import Congested, Holds, Resumes, Retaining, answering, with_held
from routeproof.spec.theory import BROKER, SUB, Clause, Term, Truth, holding
from routeproof.spec.theory.relation.routing import Change

KEPT = "retained is what is wanted without being a candidate, where settled"
AS_IT_CAME = Objection("a withdrawal is held as it came, and nothing else happens", ("PRN-6",))
IN_ORDER = Objection("what is held is taken up in the order in which it came, in one step", ("PRN-6", "PRN-14"))

Held = tuple[Node, Unsubscribe]


@frozen
class QuestionPart:
    """A question that the relation has a step for: a message is handled, a withdrawal is held, or it is taken up."""

    question: Question
    what: type[Congested] = Congested


def objection_to_pruning(explored: Explored, question: Question) -> Objection | None:
    """By either relation, of what the answer is made of."""
    found = parts(explored, question)
    if isinstance(found, Objection):
        return found
    judged = (judge(explored, part) for part in found for judge in (loosely, strictly))
    return next((each for each in judged if each is not None), None)


# -- what an answer is made of -----------------------------------------------------------------------------------------


def parts(explored: Explored, question: Question) -> list[QuestionPart] | Objection:
    """The steps of the relation that this answer is, or why it is none."""
    before, after, message = tables(question.local), tables(question.answer.local), question.message
    if isinstance(message, Congest):
        return [] if (after, question.answer.sends) == (evolve(before, congested=True), ()) else AS_IT_CAME
    if (
        isinstance(message, Unsubscribe)
        and before.congested
        and before.sub_from(message.subscription) == question.sender
    ):
        entries = after.held[len(before.held) :]
        held = evolve(before, held=(*before.held, *entries), rows=after.rows)  # PRN-1: its statistics are purged
        one = [(x, each.subscription) for x, each in entries] == [(question.sender, message.subscription)]
        return [QuestionPart(question, Holds)] if one and (after, question.answer.sends) == (held, ()) else AS_IT_CAME
    due = _due(explored, question)
    if not due and not isinstance(message, Relieve):
        return [QuestionPart(question)]
    return _one_after_the_other(explored.world.protocol, question, due)


def _due(explored: Explored, question: Question) -> list[Held]:
    """Held withdrawals that are handled before, or instead of, the message."""
    before, message = tables(question.local), question.message
    if isinstance(message, Relieve):
        return list(before.held)
    overtakes = parameters(explored.world.instance, question.policy).overtakes
    if isinstance(message, Subscribe) and not overtakes:  # PRN-14
        return [each for each in before.held if each[1].subscription == message.subscription]
    return []


def _one_after_the_other(protocol: Protocol, question: Question, due: Iterable[Held]) -> list[QuestionPart] | Objection:
    """Splits an answer into the model's answers to each held withdrawal, as if the broker were not congested."""
    now, found = tables(question.local), []

    def answered(sender: Node, message: Hashable, held: tuple[Held, ...]) -> Question:
        then = protocol.handle(question.node, evolve(now, held=(), congested=False), sender, message)
        local = evolve(tables(then.local), held=held, congested=now.congested)
        return evolve(question, local=now, sender=sender, message=message, answer=evolve(then, local=local))

    for entry in due:
        left = tuple(each for each in now.held if each != entry)
        if now.sub_from(entry[1].subscription) == entry[0]:
            found.append(QuestionPart(answered(*entry, left), Resumes))
            now = tables(found[-1].question.answer.local)
        else:  # RTE-8: it has become void
            now = evolve(now, held=left)
    if isinstance(question.message, Relieve):
        now = evolve(now, congested=False)
    else:
        found.append(QuestionPart(answered(question.sender, question.message, now.held)))
        now = tables(found[-1].question.answer.local)
    said = tuple(chain.from_iterable(part.question.answer.sends for part in found))
    return found if (question.answer.local, question.answer.sends) == (now, said) else IN_ORDER


# -- by the relation of the proofs -------------------------------------------------------------------------------------


def loosely(explored: Explored, part: QuestionPart) -> Objection | None:
    """Holds a part to the loose relation: no held withdrawal is in the table, and what is wanted is open."""
    question, node = part.question, part.question.node
    before, after = tables(question.local), tables(question.answer.local)
    handler = with_held(answering(part.what), holding(held_by(node, before)), holding(held_by(node, after)))
    asked = evolve(question, local=_without(before), answer=evolve(question.answer, local=_without(after)))
    return objection(explored.structure, asked, handler)


def held_by(node: Node, local: PruningTables) -> frozenset[tuple[int, int]]:
    """(s, x): a withdrawal of s that came from x is held, and would not be void."""
    entries = ((x, each.subscription) for x, each in local.held)
    return frozenset((s.rank, hop(node, x)) for x, s in entries if local.sub_from(s) == x)


def _without(local: PruningTables) -> PruningTables:
    held = {(each.subscription, x) for x, each in local.held}
    return evolve(local, subs=tuple(entry for entry in local.subs if entry not in held))


# -- word for word -----------------------------------------------------------------------------------------------------


def strictly(explored: Explored, part: QuestionPart, ends: frozenset[Node] | None = None) -> Objection | None:
    """PRN-9 to PRN-13; a withdrawal ends at these neighbours, or where the answer says."""
    if part.what is Holds:  # `parts` has compared all of it
        return None
    handler = word_for_word(explored, part, ends)
    return objection(explored.structure, asked_of_base(explored, part.question), handler)


def asked_of_base(explored: Explored, question: Question) -> Question:
    """Under the covering policy below."""
    return evolve(question, policy=parameters(explored.world.instance, question.policy).base)


def word_for_word(explored: Explored, part: QuestionPart, ends: frozenset[Node] | None = None) -> type[Retaining]:
    """The handler of this question: what is retained before and after it is known."""
    question = part.question
    node, (kind, subject) = question.node, word(question.message)
    before, after = retained_in(question.local), retained_in(question.answer.local)
    chosen = parameters(explored.world.instance, question.policy)
    newcomer_from = hop(node, question.sender) if kind == "adv" and chosen.newcomers == "withdraw" else None
    gone = {s for s, x in held_by(node, tables(question.local)) if x == node}
    told = told_of(question)
    stays = tables(question.answer.local)
    at = {u for u in told for s in stays.sent_to(u) if s.rank == subject} if ends is None else ends

    class Answer(Retaining):
        def clauses(self, kind: str, subject: Term) -> list[Clause]:
            change: Change = getattr(self, f"on_{kind}")(subject)
            return [*super().clauses(kind, subject), self.remembers(change)]

        def remembers(self, change: Change) -> Clause:
            return Clause(
                KEPT,
                (BROKER, SUB),
                lambda u, s: (
                    ((u, s) in after)
                    == (
                        self.wanted(u, s) and not self.is_candidate(u, s)
                        if self.is_settled(change, u)
                        else (u, s) in before
                    )
                ),
                ("PRN-7", "PRN-10", "PRN-11", "PRN-12", "PRN-13", "PRN-16"),
            )

        def on_pub(self, p: Term) -> Change:
            """PRN-6: a client whose withdrawal is held is gone."""
            change = super().on_pub(p)
            return evolve(change, delivers=lambda q, s: s not in gone and change.delivers(q, s))

        def retained(self, u: Term, s: Term) -> Truth:
            """PRN-4"""
            return (u, s) in before or (kind == "unsub" and s == subject and u in at)

        def has_reason(self, u: Term, s: Term) -> Truth:
            """PRN-12, PRN-16"""
            logic = self.logic
            if u == newcomer_from and self.facts.overlaps(subject, s):
                return False
            return not chosen.collects or logic.some(
                (SUB,), lambda t: logic.all_of(self.facts.covers(s, t), lambda: self.is_candidate(u, t))
            )

    return Answer


def told_of(question: Question) -> frozenset[Node]:
    """Where the withdrawal that is handled may go on (PRN-4), if it is one."""
    message, local = question.message, tables(question.local)
    if not isinstance(message, Unsubscribe) or local.sub_from(message.subscription) != question.sender:
        return frozenset()
    return frozenset(u for u, sent in local.sent if u != question.sender and message.subscription in sent)


def endings(explored: Explored, part: QuestionPart) -> Iterator[tuple[QuestionPart, frozenset[Node]]]:
    """Variants of a withdrawal with every list that matters: for each choice of neighbours, one that ends at those."""
    question, local = part.question, tables(part.question.local)
    told = sorted(told_of(question))
    assert isinstance(question.message, Unsubscribe)
    thresholds = parameters(explored.world.instance, question.policy).thresholds
    asked = evolve(question, local=evolve(local, held=(), congested=False))
    for some in chain.from_iterable(combinations(told, n) for n in range(len(told) + 1)):
        on = [a.id for a, x in local.advs if x in told and x not in some]
        cuts = tuple(Cut(a, (None,) * len(thresholds)) for a in on)
        message = withdraw(question.message.subscription, cuts)
        then = explored.world.protocol.handle(asked.node, asked.local, asked.sender, message)
        yield QuestionPart(evolve(asked, message=message, answer=then)), frozenset(some)


def retained_in(local: object) -> frozenset[tuple[int, int]]:
    """Pairs of a neighbour and the rank of a subscription that the broker retains for it."""
    return frozenset((u, s.rank) for u, kept in tables(local).retained for s in kept)


def tables(local: object) -> PruningTables:
    assert isinstance(local, PruningTables)
    return local
