"""Parameters of migration, and what follows from them: nodes, channels and operations.

Publishers that move are client nodes of their own. Places that paper 004 leaves open are readings, with a default:

[migration]
removal = "drained"       # or "at-once", as printed
checked = "elsewhere"     # or "any", the letter of MIG-5
record = "forgotten"      # or "kept"
enters = "known"          # or "any-time", as printed
waits = "buffer"          # or "pause"
publishes = "always"      # or "arrived": nothing before its first move has ended
refuses = [3]             # brokers that take no publisher
moves = [{ publisher = "a", to = 3 }]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from attrs import evolve, frozen

from routeproof.model.instance import Advertiser, Instance, OperationRow, core_operations
from routeproof.model.messages import Advertise, Advertisement, Publish, Unadvertise
from routeproof.model.migration.messages import Path, Relocate
from routeproof.model.overlay import Node, Topology

READINGS: dict[str, tuple[str, ...]] = {
    "removal": ("drained", "at-once"),
    "checked": ("elsewhere", "any"),
    "record": ("forgotten", "kept"),
    "enters": ("known", "any-time"),
    "waits": ("buffer", "pause"),
    "publishes": ("always", "arrived"),
}
"""Per reading its values, the default first."""


@frozen
class Move:
    """A relocation that the placement decides: which publisher, and to which broker."""

    publisher: str
    to: Node


@frozen
class MigrationParameters:
    """A choice of readings, the moves, and the brokers that refuse."""

    removal: str = "drained"
    """When entries for the old place go: once the last publication from there has passed (MIG-12 to MIG-14), or as
    the update passes (MIG-5, as printed)."""
    checked: str = "elsewhere"
    """Which advertisements keep an entry in op 2: those that lie elsewhere, or by the letter any, the moved one too."""
    record: str = "forgotten"
    """Fate of a broker's record of the subscriptions that its neighbour drops in op 2."""
    enters: str = "known"
    """When the target takes the publisher in: once it knows the advertisement (MIG-15), or at any time, as printed."""
    waits: str = "buffer"
    """A paused publisher buffers what it is given, or takes nothing."""
    publishes: str = "always"
    """A hypothesis about clients: a publisher publishes at any time, or nothing before its first move has ended."""
    refuses: tuple[Node, ...] = ()
    moves: tuple[Move, ...] = ()


DEFAULT = MigrationParameters()


def parameters_of(instance: Instance) -> MigrationParameters:
    """The readings and moves that an instance chooses."""
    found: MigrationParameters = instance.section("migration", DEFAULT)
    return found


# -- nodes, channels and operations ------------------------------------------------------------------------------------


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
