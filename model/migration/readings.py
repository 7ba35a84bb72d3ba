"""The table `[migration]` of an instance file: reading and writing."""

from __future__ import annotations

from attrs import fields

from routeproof.model.instance import Instance
from routeproof.model.migration.parameters import DEFAULT, READINGS, MigrationParameters, Move
from routeproof.model.overlay import Node
from routeproof.model.reading import Place

MOVES = 8


def read_parameters(place: Place, instance: Instance) -> MigrationParameters:
    """The table `[migration]`."""
    keys = place.table(("moves",), (*READINGS, "refuses"))
    chosen = {name: keys[name].one_of(values) for name, values in READINGS.items() if name in keys}
    publishers = [a.advertisement.id for a in instance.advertisers]
    moves = []
    for entry in keys["moves"].items(MOVES, "moves, each { publisher, to }", least=1):
        move = entry.table(("publisher", "to"), ())
        if not publishers:
            move["publisher"].refuse("the id of an advertisement, of which there is none")
        moves.append(Move(move["publisher"].one_of(publishers, "an advertisement: "), _broker(move["to"], instance)))
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
    moves = [{field.name: getattr(move, field.name) for field in fields(Move)} for move in parameters.moves]
    return {**table, "moves": moves}


def _broker(place: Place, instance: Instance) -> Node:
    return place.whole(1, len(instance.overlay.brokers))
