"""A handler's answer, held to the relation: the clause that forbids it, if there is one.

`Structure` is an instance as a finite structure: what the relation's words mean in it. Brokers are their numbers,
everything else is its rank in the instance. A broker's tables, what it says in a step and a whole state become
relations that hold of tuples of those. `Question` is one question that was put to the model with the answer that it
gave. The relation is read over sets: no solver has a part in it.

Packing (COV-7) is held to the relation of active covering, which speaks of one subscription at a time. A packed message
is handled as its items, one after the other. Each of those answers is held to the relation, unpacked; and the packed
answer must send what they send together, a step's subscriptions to one neighbour in one message and its withdrawals in
another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property

from attrs import evolve, frozen

from routeproof.model import messages
from routeproof.model.instance import Instance
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Local, Outcome, Protocol
from routeproof.model.protocol import Sends as Said
from routeproof.model.tables import Tables
from routeproof.model.tables import Tables as Known
from routeproof.spec.theory import ADV, BROKER, ITEM, PUB, SUB, Clause, Grounded, Sort, Term, holding, mapping
from routeproof.spec.theory.relation import ABOUT, Facts, Sends, TableRelations
from routeproof.spec.theory.relation.routing import HandlerStep


@frozen
class Question:
    """A question to a broker, and its answer."""

    policy: str
    node: Node
    local: Local
    sender: Node
    message: Hashable
    answer: Outcome

    @property
    def kind(self) -> str:
        return word(self.message)[0]

    def put_to(
        self, handler: type[HandlerStep], logic: Grounded, facts: Facts, after: TableRelations, sends: Sends
    ) -> HandlerStep:
        """The broker that is asked, in the relation, with these tables after the message and what it sends."""
        before = tables(self.node, self.local)
        return handler(logic, facts, self.policy, self.node, hop(self.node, self.sender), before, after, sends)

    def told(self) -> dict[str, str]:
        """For people."""
        return {
            "asked": f"b{self.node}, under {self.policy}: {messages.describe(self.message)} from {_who(self.sender)}",
            "knowing": known(self.local),
            "answers": ", ".join(f"{messages.describe(m)} to {_who(u)}" for u, m in self.answer.sends) or "nothing",
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


def objection(structure: Structure, question: Question, handler: type[HandlerStep] = HandlerStep) -> Objection | None:
    """Why the relation does not allow this answer; None where it does."""
    try:
        said = spoken(question.answer.sends)
        logic = structure.logic(len(said.words))
        clauses = relation(structure, question, logic, said, handler)
    except Unsayable as error:
        return Objection(str(error))
    return broken(structure, clauses, logic, said.words)


def relation(
    structure: Structure, question: Question, logic: Grounded, said: Spoken, handler: type[HandlerStep]
) -> list[Clause]:
    """The clauses of this step, over the model's own answer."""
    after = tables(question.node, question.answer.local)
    broker = question.put_to(handler, logic, structure.facts(said.words), after, said.sends)
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
    """Copies of a question with other answers, each of which differs visibly from the given one."""
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
    found += [(*sends, send) for send in sends]  # one is sent twice
    for i in range(len(sends) - 1):
        (u, one), (v, other) = sends[i : i + 2]
        if u == v and not isinstance(one, messages.Deliver | messages.Publish):  # to one neighbour, in the other order
            found.append((*sends[:i], (v, other), (u, one), *sends[i + 2 :]))
    back = (question.sender, question.message)
    if question.sender != LOCAL and back not in sends:
        found.append((*sends, back))  # a message is sent back to its sender
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


def unpacked(message: Hashable) -> tuple[Hashable, ...]:
    match message:
        case messages.PackedSubscribe(many):
            return tuple(messages.Subscribe(s) for s in many)
        case messages.PackedUnsubscribe(many):
            return tuple(messages.Unsubscribe(s) for s in many)
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
    structure: Structure, protocol: Protocol, question: Question, handler: type[HandlerStep] = HandlerStep
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


def item_by_item(sends: Said) -> Said:
    return tuple((u, item) for u, m in sends for item in unpacked(m))


def together(parts: Iterable[Question]) -> Said:
    """COV-7: what the items of a step say, a neighbour's subscriptions in one message, then its withdrawals in one."""
    said = [send for part in parts for send in part.answer.sends]
    packed: list[tuple[int, Hashable]] = []
    for u in dict.fromkeys(u for u, _ in said):
        mine = [m for v, m in said if v == u]
        packed += [(u, m) for m in mine if not isinstance(m, messages.Subscribe | messages.Unsubscribe)]
        added = tuple(m.subscription for m in mine if isinstance(m, messages.Subscribe))
        removed = tuple(m.subscription for m in mine if isinstance(m, messages.Unsubscribe))
        packed += [(u, messages.PackedSubscribe(added))] if added else []
        packed += [(u, messages.PackedUnsubscribe(removed))] if removed else []
    return tuple(packed)


def _unpacked_answer(question: Question) -> Outcome:
    return evolve(question.answer, sends=item_by_item(question.answer.sends))


def _by_receiver(sends: Said) -> dict[int, object]:
    """Only what each hears, and in which order, can be seen; of deliveries not even that."""
    found: dict[int, list[Hashable]] = {}
    for u, message in sends:
        found.setdefault(u, []).append(message)
    return {u: frozenset(said) if u == LOCAL else said for u, said in found.items()}


Word = tuple[str, int]
"""A message: its kind, and the rank of what it is about."""


class Unsayable(ValueError):
    """An action of the model that has no words in the relation; the message says which in one line."""


def word(message: Hashable) -> Word:
    match message:
        case messages.Advertise(x):
            return "adv", x.rank
        case messages.Unadvertise(x):
            return "unadv", x.rank
        case messages.Subscribe(x):
            return "sub", x.rank
        case messages.Unsubscribe(x):
            return "unsub", x.rank
        case messages.Publish(x):
            return "pub", x.rank
    raise Unsayable(f"the relation has no word for {messages.describe(message)}")


@frozen
class Structure:
    """The unchanging part of an instance, as relations."""

    instance: Instance

    @cached_property
    def elements(self) -> dict[Sort, tuple[int, ...]]:
        each = self.instance
        return {
            BROKER: each.overlay.brokers,
            SUB: tuple(range(len(each.subscriptions))),
            ADV: tuple(range(len(each.advertisements))),
            PUB: tuple(range(len(each.publications))),
        }

    def logic(self, items: int = 0) -> Grounded:
        return Grounded({**self.elements, ITEM: range(items)})

    @cached_property
    def _facts(self) -> Facts:
        subs, advs, pubs = self.instance.subscriptions, self.instance.advertisements, self.instance.publications
        of = {a.id: a.rank for a in advs}
        nothing = holding(())
        return Facts(
            link=holding(self.instance.overlay.links),
            covers=holding([(t.rank, s.rank) for t in subs for s in subs if t.filter.covers(s.filter)]),
            overlaps=holding([(a.rank, s.rank) for a in advs for s in subs if a.filter.overlaps(s.filter)]),
            matches=holding([(p.rank, s.rank) for p in pubs for s in subs if s.filter.matches(p.event)]),
            lower=lambda s, t: bool(s < t),
            adv_of=mapping({p.rank: of[p.of] for p in pubs}),
            home_of_adv=mapping({a.advertisement.rank: a.at for a in self.instance.advertisers}),
            home_of_sub=mapping({s.subscription.rank: s.at for s in self.instance.subscribers}),
            may_unadvertise=holding([(a.advertisement.rank,) for a in self.instance.advertisers if a.unadvertises]),
            may_unsubscribe=holding([(s.subscription.rank,) for s in self.instance.subscribers if s.unsubscribes]),
            **{f"is_{kind}": nothing for kind in ABOUT},
            before=lambda i, j: bool(i < j),
        )

    def facts(self, items: Sequence[Word] = ()) -> Facts:
        """With these items, in the order in which they are sent."""
        says = {
            f"is_{kind}": holding([(i, subject) for i, (said, subject) in enumerate(items) if said == kind])
            for kind in {kind for kind, _ in items}
        }
        return evolve(self._facts, **says)

    # -- names, for people ---------------------------------------------------------------------------------------------

    def name(self, sort: Sort, element: Term, items: Sequence[Word] = ()) -> str:
        if sort == BROKER:
            return f"b{element}"
        if sort == ITEM:
            kind, subject = items[element]
            return f"{kind}({self.name(ABOUT[kind], subject)})"
        listed: Mapping[Sort, Sequence[object]] = {
            SUB: self.instance.subscriptions,
            ADV: self.instance.advertisements,
            PUB: self.instance.publications,
        }
        return str(listed[sort][element])


# -- what one broker knows and says -----------------------------------------------------------------------------------


def hop(node: Node, neighbour: Node) -> Node:
    """LOCAL is written as the broker itself."""
    return node if neighbour == LOCAL else neighbour


def tables(node: Node, local: Local) -> TableRelations:
    entries = entries_of(node, local)
    return TableRelations(**{name: holding(tuples) for name, tuples in entries.items()})


def entries_of(node: Node, local: Local) -> dict[str, frozenset[tuple[int, int]]]:
    if not isinstance(local, Known):
        raise Unsayable(f"b{node} keeps no tables of the routing core")
    found = {
        "advs": [(a.rank, hop(node, x)) for a, x in local.advs],
        "subs": [(s.rank, hop(node, x)) for s, x in local.subs],
        "sent": [(u, s.rank) for u, told in local.sent for s in told],
    }
    for name, tuples in found.items():
        if len(set(tuples)) < len(tuples):
            raise Unsayable(f"b{node} keeps an entry of {name} twice")
    return {name: frozenset(tuples) for name, tuples in found.items()}


@frozen
class Spoken:
    """Messages that a broker sends in a step: on links, in order, and its deliveries."""

    words: tuple[Word, ...]
    to: tuple[Node, ...]
    delivered: frozenset[tuple[int, int]]

    @property
    def sends(self) -> Sends:
        return Sends(to=holding(list(enumerate(self.to))), delivers=holding(self.delivered))


def spoken(sends: Said) -> Spoken:
    links = [(u, word(message)) for u, message in sends if u != LOCAL]
    delivered = [_delivery(message) for u, message in sends if u == LOCAL]
    if len(set(delivered)) < len(delivered):
        raise Unsayable("it delivers one publication twice for one subscription, in one step")
    return Spoken(tuple(w for _, w in links), tuple(u for u, _ in links), frozenset(delivered))


def _delivery(message: Hashable) -> tuple[int, int]:
    if not isinstance(message, messages.Deliver):
        raise Unsayable(f"what a client receives is a delivery; this is {messages.describe(message)}")
    return message.publication.rank, message.subscription.rank
