"""Definition of migration for the engines: its ghost, and its table in instance files."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from attrs import fields

from routeproof.model.definition import Definition, Mutant, Section
from routeproof.model.history import Ghost, Ledger, WorldEvent
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.messages import CORE
from routeproof.model.migration.handler import Migration
from routeproof.model.migration.vocabulary import (
    DEFAULT,
    MIGRATION,
    READINGS,
    MigrationParameters,
    PlannedMove,
    movers,
    operations,
    parameters_of,
    topology,
)
from routeproof.model.overlay import Node
from routeproof.model.protocol import Protocol
from routeproof.model.reading import Place


class Overtaken(Ghost):
    """The first delivery that came behind a later publication of its publisher, as (earlier, later, subscription) ids.

    A publisher publishes in the order in which its publications are listed (`operations`).
    """

    name = "overtaken"
    reads = ("delivered",)

    def initial(self, ledger: Ledger) -> Hashable:
        return ()

    def sees(self, ledger: Ledger, event: WorldEvent) -> Hashable | None:
        return tuple((d.publication.rank, d.subscription.rank) for d in event.deliveries) or None

    def after(self, ledger: Ledger, value: Any, seen: Any, others: Any) -> Hashable:
        if value:
            return value  # type: ignore[no-any-return]  # a ghost's value is its own
        delivered, publications = others.delivered, ledger.instance.publications
        for p, s in seen:
            for later in publications[p + 1 :]:
                if later.of == publications[p].of and delivered & ledger.pair(later.rank, s):
                    return (publications[p].id, later.id, ledger.instance.subscriptions[s].id)
            delivered |= ledger.pair(p, s)
        return ()


# -- the table `[migration]` of instance files -------------------------------------------------------------------------

MOVES = 8


def read_parameters(place: Place, instance: Instance) -> MigrationParameters:
    """The table `[migration]`."""
    keys = place.table(("moves",), (*READINGS, "refuses"))
    chosen: dict[str, Any] = {name: keys[name].one_of(values) for name, values in READINGS.items() if name in keys}
    publishers = [a.advertisement.id for a in instance.advertisers]
    moves = []
    for entry in keys["moves"].items(MOVES, "moves, each { publisher, to }", least=1):
        move = entry.table(("publisher", "to"), ())
        if not publishers:
            move["publisher"].refuse("the id of an advertisement, of which there is none")
        moves.append(
            PlannedMove(move["publisher"].one_of(publishers, "an advertisement: "), _broker(move["to"], instance))
        )
    refuses: tuple[Node, ...] = ()
    if "refuses" in keys:
        entries = keys["refuses"].items(len(instance.overlay.brokers), "brokers")
        refuses = tuple(_broker(entry, instance) for entry in entries)
        keys["refuses"].distinct(entries, refuses)
    return MigrationParameters(**chosen, refuses=refuses, moves=tuple(moves))


def parameters_to_table(parameters: MigrationParameters) -> dict[str, object]:
    """The inverse of `read_parameters`; what has its default is left out."""
    table: dict[str, object] = {name: getattr(parameters, name) for name in READINGS}
    table = {name: value for name, value in table.items() if value != getattr(DEFAULT, name)}
    if parameters.refuses:
        table["refuses"] = list(parameters.refuses)
    moves = [{field.name: getattr(move, field.name) for field in fields(PlannedMove)} for move in parameters.moves]
    return {**table, "moves": moves}


def _broker(place: Place, instance: Instance) -> Node:
    return place.whole(1, len(instance.overlay.brokers))


# -- the definition ----------------------------------------------------------------------------------------------------


def _make(handler: type[Migration], instance: Instance, policy: str) -> Protocol:
    homes = {a.advertisement.id: a.at for a in movers(instance)}
    return handler(topology(instance), instance.overlay, policy, parameters_of(instance), homes)


def _mutants() -> Mapping[str, Mutant]:
    from routeproof.model.migration.mutants import MIGRATION_MUTANTS

    return MIGRATION_MUTANTS


DEFINITION = Definition(
    name="migration",
    policies=POLICIES,
    handler=Migration,
    make=_make,
    about="Publishers that move from broker to broker while they publish (004).",
    messages=(*CORE, *MIGRATION),
    operations=operations,
    topology=topology,
    sections=(Section("migration", read_parameters, parameters_to_table, brokers=("to", "refuses")),),
    mutants=_mutants,
    ghosts=(Overtaken(),),
    instances="routeproof.model.migration",
)
