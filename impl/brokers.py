"""Which broker speaks a policy: `make_broker` makes it, whatever the protocol."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.impl.broker import Broker
from routeproof.impl.pruning import PruningBroker
from routeproof.model.instance import POLICIES
from routeproof.model.overlay import Node
from routeproof.model.pruning_parameters import PRUNING, PruningParameters

SPOKEN = (*POLICIES, *PRUNING)
"""The policies of all protocols."""


def make_broker(
    node: Node, neighbours: Sequence[Node], policy: str, parameters: PruningParameters | None = None
) -> Broker:
    """`parameters` are the readings of a policy of pruning; its defaults where none are given."""
    if policy in PRUNING:
        return PruningBroker(node, neighbours, policy, parameters)
    if parameters is not None:
        raise ValueError(f"the policy {policy} has no parameters; {' and '.join(PRUNING)} have")
    return Broker(node, neighbours, policy)
