"""Migration as the model has it."""

from __future__ import annotations

from collections.abc import Mapping

from routeproof.model.definition import Definition, Mutant, Section
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.messages import CORE
from routeproof.model.migration.ghosts import Overtaken
from routeproof.model.migration.handler import Migration
from routeproof.model.migration.messages import MIGRATION
from routeproof.model.migration.operations import movers, operations, topology
from routeproof.model.migration.parameters import parameters_of
from routeproof.model.migration.readings import parameters_to_table, read_parameters
from routeproof.model.protocol import Protocol


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
