"""Vocabulary of migration: its messages, the local states of the nodes that exchange them, and its readings.

Publishers that move are client nodes of their own. Messages travel between a publisher and its brokers, and along the
path of a move. `path` lists the brokers of a move as the relocation answer does: the target first, the source last.
Places that paper 004 leaves open are readings, keys of the table `[migration]` of instances (`spec/migration.md`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from attrs import evolve, frozen

from routeproof.model.fields import ORDERED, choices_of
from routeproof.model.instance import Advertiser, Instance, OperationRow, core_operations
from routeproof.model.messages import Advertise, Advertisement, Message, Publish, Unadvertise
from routeproof.model.overlay import Node, Topology
from routeproof.model.tables import Tables, by_id

Path = tuple[Node, ...]


@frozen(cache_hash=True)
class OfMove(Message):
    """Base of the messages of migration: the advertisement whose publisher moves."""

    advertisement: Advertisement


@frozen(cache_hash=True)
class OnPath(OfMove):
    """Base of those that have the path of the move."""

    path: Path


@frozen(cache_hash=True)
class Relocate(OnPath, by="placement"):
    """The relocation answer reaches the source: this publisher is to move along the path (POP-10, MIG-1)."""


@frozen(cache_hash=True)
class Pause(OnPath):
    """Source to publisher: stop publishing here, and go to the target (MIG-1)."""


@frozen(cache_hash=True)
class Arrive(OnPath):
    """Publisher to target: the migration advertisement (MIG-1)."""


@frozen(cache_hash=True)
class Flushed(OfMove):
    """Publisher to source: all that it published here is ahead of this message (MIG-12)."""


@frozen(cache_hash=True)
class Update(OnPath):
    """Hop by hop from target to source: the publisher now lies where this comes from (MIG-3)."""


@frozen(cache_hash=True)
class Complete(OfMove):
    """Hop by hop from source to target: every subscription for the publisher is ahead of this message (MIG-7)."""


@frozen(cache_hash=True)
class Resume(OfMove):
    """Target to publisher: publish here from now on (MIG-8)."""


@frozen(cache_hash=True)
class Leave(OfMove):
    """Publisher to source: the connection ends (MIG-8)."""


@frozen(cache_hash=True)
class Refuse(OfMove):
    """Target to publisher: no place here (MIG-16)."""


@frozen(cache_hash=True)
class Stay(OfMove):
    """Publisher to source: it does not move (MIG-16)."""


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


# -- readings, and what follows from them: nodes, channels and operations ----------------------------------------------


@frozen
class PlannedMove:
    """A relocation that the placement decides: which publisher, and to which broker."""

    publisher: str
    to: Node


@frozen
class MigrationParameters:
    """A choice of readings, the moves, and the brokers that refuse."""

    removal: Literal["drained", "at-once"] = "drained"
    """When entries for the old place go: once the last publication from there has passed (MIG-12 to MIG-14), or as
    the update passes (MIG-5, as printed)."""
    checked: Literal["elsewhere", "any"] = "elsewhere"
    """Which advertisements keep an entry in op 2: those that lie elsewhere, or by the letter any, the moved one too."""
    record: Literal["forgotten", "kept"] = "forgotten"
    """Fate of a broker's record of the subscriptions that its neighbour drops in op 2."""
    enters: Literal["known", "any-time"] = "known"
    """When the target takes the publisher in: once it knows the advertisement (MIG-15), or at any time, as printed."""
    waits: Literal["buffer", "pause"] = "buffer"
    """A paused publisher buffers what it is given, or takes nothing."""
    publishes: Literal["always", "arrived"] = "always"
    """A hypothesis about clients: a publisher publishes at any time, or nothing before its first move has ended."""
    refuses: tuple[Node, ...] = ()
    moves: tuple[PlannedMove, ...] = ()


READINGS = choices_of(MigrationParameters)
"""Per reading its values, the default first."""


DEFAULT = MigrationParameters()


def parameters_of(instance: Instance) -> MigrationParameters:
    """The readings and moves that an instance chooses."""
    found: MigrationParameters = instance.section("migration", DEFAULT)
    return found


def publisher_name(advertisement: str) -> str:
    """The name of a publisher's client node."""
    return f"client-{advertisement}"


def movers(instance: Instance) -> tuple[Advertiser, ...]:
    """The publishers that are to move, as listed in the instance."""
    moved = {move.publisher for move in parameters_of(instance).moves}
    return tuple(a for a in instance.advertisers if a.advertisement.id in moved)


def topology(instance: Instance) -> Topology:
    """The overlay, and a client node for each publisher that moves, with channels to every broker it may be at."""
    channels = [
        (publisher_name(a.advertisement.id), broker) for a in movers(instance) for broker in _places(instance, a)
    ]
    others = {publisher_name(a.advertisement.id): "client" for a in movers(instance)}
    return Topology.of(instance.overlay, others, channels)  # type: ignore[arg-type]  # a literal


def _places(instance: Instance, advertiser: Advertiser) -> list[Node]:
    own = (m.to for m in parameters_of(instance).moves if m.publisher == advertiser.advertisement.id)
    return sorted({advertiser.at, *own})


def operations(instance: Instance) -> list[OperationRow]:
    """The core's, in each publisher's order of publication, those of a mover at its client node; then the moves.

    A move follows the move before it: its path begins where that one ends.
    """
    node = {
        a.advertisement.id: topology(instance).numbered(publisher_name(a.advertisement.id)) for a in movers(instance)
    }
    last: dict[str, str] = {}
    rows = []
    for row in core_operations(instance):
        match row.message:
            case Publish(p):  # one publisher speaks in one order
                rows.append(evolve(row, node=node.get(p.of, row.node), after=last.get(p.of, row.after)))
                last[p.of] = row.label
            case Advertise(a) | Unadvertise(a) if a.id in node:
                rows.append(evolve(row, node=node[a.id]))
            case _:
                rows.append(row)
    return [*rows, *_moves(instance)]


def _moves(instance: Instance) -> Iterator[OperationRow]:
    at = {a.advertisement.id: a.at for a in instance.advertisers}
    advertisement = {a.id: a for a in instance.advertisements}
    count: dict[str, int] = defaultdict(int)
    for move in parameters_of(instance).moves:
        id, source = move.publisher, at[move.publisher]
        label, before = _label(id, count[id] + 1), _label(id, count[id]) if count[id] else f"advertise({id})"
        yield OperationRow(label, source, _request(instance, advertisement[id], source, move.to), before)
        count[id] += 1
        at[id] = move.to


def _request(instance: Instance, a: Advertisement, source: Node, target: Node) -> Relocate:
    path: Path = instance.overlay.path(target, source)
    return Relocate(a, path)


def _label(id: str, number: int) -> str:
    return f"move({id})" if number == 1 else f"move({id}, {number})"
