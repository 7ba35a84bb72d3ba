"""Placement as the model has it: its definition, the table `[placement]` of instance files, and its operations."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from routeproof.model.definition import Definition, Mutant, Section
from routeproof.model.history import Ghost, Ledger, WorldEvent
from routeproof.model.instance import POLICIES, Instance, OperationRow, core_operations
from routeproof.model.messages import CORE, Publish
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.placement.handler import Placement
from routeproof.model.placement.vocabulary import (
    DEFAULT,
    PLACEMENT,
    READINGS,
    PlacementParameters,
    PlacementTables,
    Tag,
    Traced,
    parameters_of,
)
from routeproof.model.protocol import Outcome, Protocol
from routeproof.model.reading import Place

NUMBERS = {"threshold": (1, 8), "tags": (0, 4), "weight": (0, 100)}
"""Keys with numbers, and their bounds."""


def operations(instance: Instance) -> list[OperationRow]:
    """The core's operations; under POP also tags, which may come at any time once the publisher has advertised."""
    return [*core_operations(instance), *_tags(instance)]


def _tags(instance: Instance) -> Iterator[OperationRow]:
    chosen = parameters_of(instance)
    for each in instance.advertisers if chosen.algorithm == "pop" else ():
        before = f"advertise({each.advertisement.id})"
        for number in range(1, chosen.tags + 1):
            label = f"tag({each.advertisement.id})" if number == 1 else f"tag({each.advertisement.id}, {number})"
            yield OperationRow(label, each.at, Tag(each.advertisement), before)
            before = label


class Spread(Ghost):
    """The traced publications that came to each broker, and where they went from there: (broker, rank, neighbours)."""

    name = "spread"

    def initial(self, ledger: Ledger) -> Hashable:
        return ()

    def sees(self, ledger: Ledger, event: WorldEvent) -> Hashable | None:
        return event.facts or None if parameters_of(ledger.instance).algorithm == "pop" else None

    def after(self, ledger: Ledger, value: Any, seen: Any, others: Any) -> Hashable:
        return tuple(sorted((*value, *seen)))


def facts(node: Node, local: Hashable, sender: Node, message: Hashable, outcome: Outcome) -> tuple[Hashable, ...]:
    """A traced publication at a broker: POP traces the one behind a tag."""
    match message:
        case Publish(p, header):
            assert isinstance(local, PlacementTables)
            is_traced = any(a.id == p.of for a in local.tagging) if sender == LOCAL else header is not None
            onward = sorted(n for n, sent in outcome.sends if n != LOCAL and isinstance(sent, Publish))
            return ((node, p.rank, tuple(onward)),) if is_traced else ()
    return ()


def read_parameters(place: Place, instance: Instance) -> PlacementParameters:
    """The table `[placement]`."""
    keys = place.table((), (*READINGS, *NUMBERS))
    chosen: dict[str, Any] = {name: keys[name].one_of(values) for name, values in READINGS.items() if name in keys}
    chosen |= {name: keys[name].whole(*bounds) for name, bounds in NUMBERS.items() if name in keys}
    return PlacementParameters(**chosen)


def parameters_to_table(parameters: PlacementParameters) -> dict[str, object]:
    """The inverse of `read_parameters`; what has its default is left out."""
    table: dict[str, object] = {name: getattr(parameters, name) for name in (*READINGS, *NUMBERS)}
    return {name: value for name, value in table.items() if value != getattr(DEFAULT, name)}


def _make(handler: type[Placement], instance: Instance, policy: str) -> Protocol:
    return handler(instance.overlay, policy, parameters_of(instance))


def _mutants() -> Mapping[str, Mutant]:
    from routeproof.model.placement.mutants import PLACEMENT_MUTANTS

    return PLACEMENT_MUTANTS


DEFINITION = Definition(
    name="placement",
    policies=POLICIES,
    handler=Placement,
    make=_make,
    about="The choice of a broker for each publisher, by POP or GRAPE (004).",
    messages=(*CORE, *PLACEMENT),
    headers={Publish: Traced},
    operations=operations,
    ghosts=(Spread(),),
    facts=facts,
    sections=(Section("placement", read_parameters, parameters_to_table, DEFAULT),),
    mutants=_mutants,
    instances="routeproof.model.placement",
)
