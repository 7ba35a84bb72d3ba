"""The mesh as the model has it: its channels, its operations, and its one value."""

from __future__ import annotations

from collections.abc import Mapping

from routeproof.model.definition import Definition, Mutant, Section
from routeproof.model.instance import Instance, OperationRow, core_operations
from routeproof.model.mesh.handler import Mesh
from routeproof.model.mesh.messages import MESH, Close, Load, Open, Relocate
from routeproof.model.mesh.move import MovingMesh
from routeproof.model.mesh.parameters import MeshParameters, parameters_of, parameters_to_table, read_parameters
from routeproof.model.messages import CORE
from routeproof.model.overlay import Topology
from routeproof.model.protocol import Protocol

COORDINATOR = "coordinator"


def _topology(instance: Instance) -> Topology:
    """The overlay, a channel both ways for each soft link and each new primary link, and those to the coordinator."""
    chosen = parameters_of(instance)
    links = (*chosen.soft, *chosen.opens, *chosen.moves)
    if not chosen.moves:
        return Topology.of(instance.overlay, {}, links)
    asks = [(broker, COORDINATOR) for broker, _ in chosen.moves]
    return Topology.of(instance.overlay, {COORDINATOR: "coordinator"}, (*links, *asks))


def _operations(instance: Instance) -> list[OperationRow]:
    """The core's, then those on links and loads."""
    chosen, rows = parameters_of(instance), core_operations(instance)
    for near, far in chosen.opens:
        rows.append(OperationRow(f"open(b{near}, b{far})", near, Open(far)))
    for near, far in chosen.closes:
        before = f"open(b{near}, b{far})" if (near, far) in chosen.opens else ""
        rows.append(OperationRow(f"close(b{near}, b{far})", near, Close(far), before))
    for broker in chosen.loaded:
        rows.append(OperationRow(f"loaded(b{broker})", broker, Load(True)))
        rows.append(OperationRow(f"recovered(b{broker})", broker, Load(False), f"loaded(b{broker})"))
    for broker, to in chosen.moves:
        rows.append(OperationRow(f"move(b{broker}, b{to})", broker, Relocate(to)))
    return rows


def _make(handler: type[Mesh], instance: Instance, policy: str) -> Protocol:
    return handler(instance.overlay, policy, parameters_of(instance))


def _parameters(instance: Instance, policy: str) -> MeshParameters:
    return parameters_of(instance)


def _mutants() -> Mapping[str, Mutant]:
    from routeproof.model.mesh.mutants import MESH_MUTANTS

    return MESH_MUTANTS


DEFINITION = Definition(
    name="mesh",
    policies=("none",),
    handler=MovingMesh,
    make=_make,
    about="Brokers that forward over soft links, by what they know of their neighbourhood (002).",
    messages=(*CORE, *MESH),
    operations=_operations,
    topology=_topology,
    sections=(Section("mesh", read_parameters, parameters_to_table),),
    parameters=_parameters,
    mutants=_mutants,
)
