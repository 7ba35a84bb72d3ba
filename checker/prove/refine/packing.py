"""Packing (COV-7) held to the relation of active covering: its answers are unpacked first.

The relation speaks of one subscription at a time. A packed message is handled as its items, one after the other: each
of those answers is held to the relation, unpacked, and what the broker says of the whole must be what it says of them
all, a step's subscriptions to one neighbour in one message and its withdrawals in another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from attrs import evolve

from routeproof.checker.prove.refine.answers import Objection, Question, objection
from routeproof.checker.prove.refine.structure import Structure, Word, word
from routeproof.model.messages import PackedSubscribe, PackedUnsubscribe, Subscribe, Unsubscribe
from routeproof.model.overlay import LOCAL
from routeproof.model.protocol import Outcome, Protocol, Sends
from routeproof.spec.theory.routing import Handler


def unpacked(message: Hashable) -> tuple[Hashable, ...]:
    match message:
        case PackedSubscribe(many):
            return tuple(Subscribe(s) for s in many)
        case PackedUnsubscribe(many):
            return tuple(Unsubscribe(s) for s in many)
    return (message,)


def heading(message: Hashable) -> Word:
    """One word for a message that is not looked into, as in a queue: a packed one is its first item."""
    return word(unpacked(message)[0])


def singles(protocol: Protocol, question: Question) -> list[Question]:
    """The items of a message as questions of their own, one after the other, unpacked and under active covering."""
    items = unpacked(question.message)
    if items == (question.message,):
        return [evolve(question, policy="active", answer=_unpacked_answer(question))]
    found: list[Question] = []
    local = question.local
    for item in items:
        answer = protocol.handle(question.node, local, question.sender, item)
        one = evolve(question, local=local, message=item, answer=answer)
        found.append(evolve(one, policy="active", answer=_unpacked_answer(one)))
        local = answer.local
    return found


def objection_to_packed(
    structure: Structure, protocol: Protocol, question: Question, handler: type[Handler] = Handler
) -> Objection | None:
    parts = singles(protocol, question)
    for part in parts:
        found = objection(structure, part, handler)
        if found is not None:
            return found
    if parts[-1].answer.local != question.answer.local:
        return Objection("a packed message is handled as its items, in order", ("COV-7",), "the tables differ")
    if _by_receiver(question.answer.sends) != _by_receiver(together(parts)):
        return Objection("what one step sends to one neighbour travels together", ("COV-7",))
    return None


def item_by_item(sends: Sends) -> Sends:
    return tuple((u, item) for u, m in sends for item in unpacked(m))


def together(parts: Iterable[Question]) -> Sends:
    """COV-7: what the items of a step say, a neighbour's subscriptions in one message, then its withdrawals in one."""
    said = [send for part in parts for send in part.answer.sends]
    packed: list[tuple[int, Hashable]] = []
    for u in dict.fromkeys(u for u, _ in said):
        mine = [m for v, m in said if v == u]
        packed += [(u, m) for m in mine if not isinstance(m, Subscribe | Unsubscribe)]
        added = tuple(m.subscription for m in mine if isinstance(m, Subscribe))
        removed = tuple(m.subscription for m in mine if isinstance(m, Unsubscribe))
        packed += [(u, PackedSubscribe(added))] if added else []
        packed += [(u, PackedUnsubscribe(removed))] if removed else []
    return tuple(packed)


def _unpacked_answer(question: Question) -> Outcome:
    return evolve(question.answer, sends=item_by_item(question.answer.sends))


def _by_receiver(sends: Sends) -> dict[int, object]:
    """Only what each hears, and in which order, can be seen; of deliveries not even that."""
    found: dict[int, list[Hashable]] = {}
    for u, message in sends:
        found.setdefault(u, []).append(message)
    return {u: frozenset(said) if u == LOCAL else said for u, said in found.items()}
