"""Migration in the reference implementation: a broker at each broker's node, a publisher at each client's."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import asdict

from routeproof.impl.implementation import Implementation, Own
from routeproof.impl.migration.broker import MigratingBroker
from routeproof.impl.migration.publisher import MovingPublisher
from routeproof.impl.simulation.simulator import Handler
from routeproof.impl.tcp.codec import Wire
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.messages import CORE
from routeproof.model.migration.messages import MIGRATION, Relocate
from routeproof.model.migration.operations import movers, publisher_name, topology
from routeproof.model.migration.parameters import READINGS, MigrationParameters, parameters_of
from routeproof.model.overlay import Node


def own_of(instance: Instance) -> Own:
    """The readings, the brokers that refuse, and per publisher that moves its node and its home."""
    parameters, layout = parameters_of(instance), topology(instance)
    publishers = [
        [a.advertisement.id, layout.numbered(publisher_name(a.advertisement.id)), a.at] for a in movers(instance)
    ]
    readings = {name: asdict(parameters)[name] for name in READINGS}
    return {"readings": readings, "refuses": list(parameters.refuses), "publishers": publishers}


def make(node: Node, neighbours: Sequence[Node], policy: str, own: Own) -> Handler:
    parameters = MigrationParameters(**own.get("readings", {}), refuses=tuple(own.get("refuses", ())))
    publishers = own.get("publishers", ())
    for _, client, home in publishers:
        if client == node:
            return MovingPublisher(node, home, neighbours, marks=parameters.removal == "drained")
    return MigratingBroker(node, neighbours, policy, parameters, {id: client for id, client, _ in publishers})


def own_wire(policy: str, own: Own) -> Wire:
    """Over TCP a driver may request a move; the other messages of a move come from brokers and publishers only."""
    return Wire((*CORE, *MIGRATION), operations=(Relocate,))


IMPLEMENTATION = Implementation("migration", POLICIES, make, messages=MIGRATION, own_of=own_of, own_wire=own_wire)
