"""Nodes, channels and operations of migration: publishers that move are client nodes of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from attrs import evolve

from routeproof.model.instance import Advertiser, Instance, OperationRow, core_operations
from routeproof.model.messages import Advertise, Advertisement, Publish, Unadvertise
from routeproof.model.migration.messages import Path, Relocate
from routeproof.model.migration.parameters import parameters_of
from routeproof.model.overlay import Node, Topology


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
