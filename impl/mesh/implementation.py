"""The mesh in the reference implementation: a broker at each broker's node, and the coordinator if brokers move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import asdict

from routeproof.impl import Implementation, Own
from routeproof.impl.mesh.move import MoveCoordinator, MovingBroker
from routeproof.impl.simulator import Costs, Handler
from routeproof.impl.tcp.codec import Wire
from routeproof.model.instance import Instance
from routeproof.model.mesh.messages import (
    MESH,
    Anchor,
    CallOff,
    CloseLink,
    Load,
    Measure,
    Move,
    OpenLink,
    Passed,
    Review,
)
from routeproof.model.mesh.parameters import MeshParameters, parameters_of
from routeproof.model.messages import CORE, Publish, Subscribe
from routeproof.model.overlay import LOCAL, Node


def own_of(instance: Instance) -> Own:
    """The primary network, the parameters, and the coordinator's node."""
    parameters = parameters_of(instance)
    coordinator = max(instance.overlay.brokers) + 1 if parameters.moves else LOCAL  # numbered after the brokers
    return {"overlay": instance.overlay.edges, "mesh": asdict(parameters), "coordinator": coordinator}


def make(node: Node, neighbours: Sequence[Node], policy: str, own: Own) -> Handler:
    """A broker, or the coordinator. Without a primary network, the neighbours are all that a broker has."""
    coordinator = own.get("coordinator", LOCAL)
    if node == coordinator:
        return MoveCoordinator()
    links = [(u, v) for u, v in own["overlay"]] if "overlay" in own else [(node, other) for other in neighbours]
    return MovingBroker(node, links, parameters_from(own.get("mesh", {})), coordinator)


def parameters_from(table: Own) -> MeshParameters:
    """Parameters from what `own_of` returns, or from what JSON made of it."""
    return MeshParameters(**{name: _frozen(value) for name, value in table.items()})


def _frozen(value: Any) -> Any:
    return tuple(_frozen(each) for each in value) if isinstance(value, list | tuple) else value


def own_wire(policy: str, own: Own) -> Wire:
    """Over TCP a driver may open and close links, say what load there is, begin rounds, and ask a broker to move."""
    return Wire(
        (*CORE, *MESH),
        {Subscribe: Anchor, Publish: Passed},
        operations=(OpenLink, CloseLink, Load, Measure, Review, Move, CallOff),
    )


def costs(policy: str) -> Costs:
    """Prices of Table II of paper 000, for brokers without covering."""
    return Costs.measured("none")


IMPLEMENTATION = Implementation("mesh", ("none",), make, messages=MESH, own_of=own_of, own_wire=own_wire, costs=costs)
