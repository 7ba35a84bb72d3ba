"""Messages of migration, and the local states of the nodes that exchange them.

Messages travel between a publisher and its brokers, and along the path of a move. `path` lists the brokers of a move as
the relocation answer does: the target first, the source last.
"""

from __future__ import annotations

from typing import Annotated, Self

from attrs import evolve, frozen

from routeproof.model.fields import ORDERED, Node
from routeproof.model.messages import Advertisement, Message
from routeproof.model.tables import Tables, by_id

Path = tuple[Node, ...]


@frozen(cache_hash=True)
class Relocate(Message):
    """The relocation answer reaches the source: this publisher is to move along the path (POP-10, MIG-1)."""

    kind = "relocate"
    by = "placement"

    advertisement: Advertisement
    path: Path


@frozen(cache_hash=True)
class Pause(Message):
    """Source to publisher: stop publishing here, and go to the target (MIG-1)."""

    kind = "pause"

    advertisement: Advertisement
    path: Path


@frozen(cache_hash=True)
class Arrive(Message):
    """Publisher to target: the migration advertisement (MIG-1)."""

    kind = "arrive"

    advertisement: Advertisement
    path: Path


@frozen(cache_hash=True)
class Flushed(Message):
    """Publisher to source: all that it published here is ahead of this message (MIG-12)."""

    kind = "flushed"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Update(Message):
    """Hop by hop from target to source: the publisher now lies where this comes from (MIG-3)."""

    kind = "update"

    advertisement: Advertisement
    path: Path


@frozen(cache_hash=True)
class Complete(Message):
    """Hop by hop from source to target: every subscription for the publisher is ahead of this message (MIG-7)."""

    kind = "complete"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Resume(Message):
    """Target to publisher: publish here from now on (MIG-8)."""

    kind = "resume"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Leave(Message):
    """Publisher to source: the connection ends (MIG-8)."""

    kind = "leave"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Refuse(Message):
    """Target to publisher: no place here (MIG-16)."""

    kind = "refuse"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Stay(Message):
    """Publisher to source: it does not move (MIG-16)."""

    kind = "stay"

    advertisement: Advertisement


MIGRATION = (Relocate, Pause, Arrive, Flushed, Update, Complete, Resume, Leave, Refuse, Stay)
"""The kinds of messages that migration adds."""


# -- local states ------------------------------------------------------------------------------------------------------

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
