"""A broker's tables: the entries that it knows, where they came from, and where it forwarded them.

`Tables` is a frozen value with entries in id order, so that equal knowledge is an equal value, whatever its history.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Self, TypeVar

from attrs import evolve, frozen

from routeproof.model.fields import ORDERED
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import Node

T = TypeVar("T", bound=Advertisement | Subscription)
PerNeighbour = Annotated[tuple[tuple[Node, Annotated[tuple[Subscription, ...], ORDERED]], ...], ORDERED]


@frozen(cache_hash=True)
class Tables:
    """`advs` and `subs`: entry and where it came from. `sent`: per neighbour, what was forwarded and not retracted."""

    advs: Annotated[tuple[tuple[Advertisement, Node], ...], ORDERED] = ()
    subs: Annotated[tuple[tuple[Subscription, Node], ...], ORDERED] = ()
    sent: PerNeighbour = ()

    def adv_from(self, advertisement: Advertisement) -> Node | None:
        """Where it came from; None when unknown."""
        return next((x for a, x in self.advs if a == advertisement), None)

    def sub_from(self, subscription: Subscription) -> Node | None:
        """Where it came from; None when unknown."""
        return next((x for s, x in self.subs if s == subscription), None)

    def sent_to(self, neighbour: Node) -> tuple[Subscription, ...]:
        return next((subs for n, subs in self.sent if n == neighbour), ())

    def with_adv(self, advertisement: Advertisement, sender: Node) -> Self:
        return evolve(self, advs=_with(self.advs, advertisement, sender))

    def without_adv(self, advertisement: Advertisement) -> Self:
        return evolve(self, advs=tuple(e for e in self.advs if e[0] != advertisement))

    def with_sub(self, subscription: Subscription, sender: Node) -> Self:
        return evolve(self, subs=_with(self.subs, subscription, sender))

    def without_sub(self, subscription: Subscription) -> Self:
        return evolve(self, subs=tuple(e for e in self.subs if e[0] != subscription))

    def with_sent(self, neighbour: Node, subscriptions: Iterable[Subscription]) -> Self:
        """Replaces the whole set; a neighbour that got nothing has no entry."""
        return evolve(self, sent=replaced(self.sent, neighbour, subscriptions))


def by_id(item: Advertisement | Subscription) -> tuple[int, str]:
    """The order of ids: as listed in the instance."""
    return (item.rank, item.id)


def replaced(per_neighbour: PerNeighbour, neighbour: Node, subscriptions: Iterable[Subscription]) -> PerNeighbour:
    """With this set for this neighbour; an empty one has no entry."""
    others = [(n, s) for n, s in per_neighbour if n != neighbour]
    told = tuple(sorted(subscriptions, key=by_id))
    return tuple(sorted([*others, (neighbour, told)] if told else others, key=lambda e: e[0]))


def _with(entries: tuple[tuple[T, Node], ...], item: T, sender: Node) -> tuple[tuple[T, Node], ...]:
    entries = (*(e for e in entries if e[0] != item), (item, sender))
    return tuple(sorted(entries, key=lambda e: by_id(e[0])))
