"""Local states of migration: a publisher's state, and what a broker knows in addition to its tables."""

from __future__ import annotations

from typing import Annotated, Self

from attrs import evolve, frozen

from routeproof.model.fields import ORDERED
from routeproof.model.messages import Advertisement, Message
from routeproof.model.overlay import Node
from routeproof.model.tables import Tables, by_id

Advertisements = Annotated[tuple[Advertisement, ...], ORDERED]
Hops = Annotated[tuple[tuple[Advertisement, Node], ...], ORDERED]
Arrivals = Annotated[tuple[tuple[Advertisement, tuple[Node, ...]], ...], ORDERED]


@frozen(cache_hash=True)
class Publisher:
    """A publisher's client: where it is connected, and what it holds back while it moves."""

    at: Node
    advertised: bool = False
    paused: bool = False
    held: tuple[Message, ...] = ()
    """Messages that it was given while it was paused, in that order."""


@frozen(cache_hash=True)
class MigrationTables(Tables):
    """A broker's tables, and the moves that it takes part in. Entries are in the order of ids."""

    attached: Advertisements = ()
    """The advertisements whose publisher is connected to this broker."""
    moving: Advertisements = ()
    """At the source: publishers that were instructed to move. At the target: publishers that may not publish yet."""
    draining: Hops = ()
    """MIG-13: the old last hop of an advertisement whose last publications from there may still come."""
    flushed: Advertisements = ()
    """At the source: publishers that have sent their last publication (MIG-12)."""
    updated: Advertisements = ()
    """At the source: publishers whose update has come."""
    waiting: Arrivals = ()
    """At the target: publishers that came before their advertisement, with the paths of their moves (MIG-15)."""

    def draining_from(self, advertisement: Advertisement) -> Node | None:
        """Where its last publications come from; None where no move of it is under way."""
        return next((hop for a, hop in self.draining if a == advertisement), None)

    def with_draining(self, advertisement: Advertisement, hop: Node) -> Self:
        entries = (*(e for e in self.draining if e[0] != advertisement), (advertisement, hop))
        return evolve(self, draining=tuple(sorted(entries, key=lambda e: by_id(e[0]))))

    def without_draining(self, advertisement: Advertisement) -> Self:
        return evolve(self, draining=tuple(e for e in self.draining if e[0] != advertisement))

    def with_waiting(self, advertisement: Advertisement, path: tuple[Node, ...]) -> Self:
        entries = (*self.without_waiting(advertisement).waiting, (advertisement, path))
        return evolve(self, waiting=tuple(sorted(entries, key=lambda e: by_id(e[0]))))

    def without_waiting(self, advertisement: Advertisement) -> Self:
        return evolve(self, waiting=tuple(e for e in self.waiting if e[0] != advertisement))

    def marked(self, name: str, advertisement: Advertisement, *, present: bool = True) -> Self:
        """With the advertisement in the field of this name, or without it."""
        others = [a for a in getattr(self, name) if a != advertisement]
        entries = sorted([*others, advertisement], key=by_id) if present else others
        return evolve(self, **{name: tuple(entries)})

    def lies(self, advertisement: Advertisement, neighbour: Node) -> bool:
        """True if publications of it may come from there."""
        return neighbour in (self.adv_from(advertisement), self.draining_from(advertisement))
