"""An instance as a finite structure: what the relation's words mean in it.

Brokers are their numbers, everything else is its rank in the instance. A broker's tables, what it says in a step and a
whole state become relations that hold of tuples of those. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

from attrs import evolve, frozen

from routeproof.model.instance import Instance
from routeproof.model.messages import Advertise, Deliver, Publish, Subscribe, Unadvertise, Unsubscribe, describe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Local
from routeproof.model.protocol import Sends as Said
from routeproof.model.tables import Tables as Known
from routeproof.spec.theory.formulas import ADV, BROKER, ITEM, PUB, SUB, Grounded, Sort, Term, holding, mapping
from routeproof.spec.theory.relation.signature import ABOUT, Facts, Sends, TableRelations

Word = tuple[str, int]
"""A message: its kind, and the rank of what it is about."""


class Unsayable(ValueError):
    """An action of the model that has no words in the relation; the message says which in one line."""


def word(message: Hashable) -> Word:
    match message:
        case Advertise(x):
            return "adv", x.rank
        case Unadvertise(x):
            return "unadv", x.rank
        case Subscribe(x):
            return "sub", x.rank
        case Unsubscribe(x):
            return "unsub", x.rank
        case Publish(x):
            return "pub", x.rank
    raise Unsayable(f"the relation has no word for {describe(message)}")


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
    if not isinstance(message, Deliver):
        raise Unsayable(f"what a client receives is a delivery; this is {describe(message)}")
    return message.publication.rank, message.subscription.rank
