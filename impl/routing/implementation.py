"""The routing core in the reference implementation."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.impl.implementation import Implementation, Own
from routeproof.impl.routing.broker import Broker
from routeproof.impl.simulation.costs import Costs
from routeproof.model.instance import POLICIES
from routeproof.model.overlay import Node


def make(node: Node, neighbours: Sequence[Node], policy: str, own: Own) -> Broker:
    if own:
        raise ValueError(f"the policy {policy} has no parameters; found {', '.join(own)}")
    return Broker(node, neighbours, policy)


IMPLEMENTATION = Implementation("routing", POLICIES, make, costs=Costs.measured)
