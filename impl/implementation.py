"""A protocol as the reference implementation has it: `Implementation`, the one value that `impl/NAME/` exports.

    IMPLEMENTATION = Implementation("ferry", ("active",), make, messages=(Moor, Cast, Open, Close))

What is left out is the routing core's: its messages, its prices, no columns of its own, no workloads of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import Factory, frozen

from routeproof.impl.simulation.metrics import Columns, Metrics, column_names
from routeproof.impl.simulation.simulator import Costs, Handler
from routeproof.impl.tcp.codec import Wire
from routeproof.impl.workloads.workload import Recipe
from routeproof.model.instance import Instance
from routeproof.model.messages import CORE, Advertisement, Message, Subscription, Unsubscribe
from routeproof.model.overlay import Node

Own: TypeAlias = Mapping[str, Any]
"""Values that only one protocol has, of JSON's types: they travel to the process of each node."""


def _prices_of_active(policy: str) -> Costs:
    return Costs.measured("active")


def _nothing(instance: Instance) -> Own:
    return {}


def _in_full(policy: str, subscription: Subscription, of: Advertisement) -> Message:
    return Unsubscribe(subscription)


@frozen
class Implementation:
    """Everything that the simulator and the TCP driver need to run a protocol."""

    protocol: str
    policies: tuple[str, ...]
    make: Callable[[Node, Sequence[Node], str, Own], Handler]
    """(node, its neighbours, policy, the protocol's own values) -> what runs at the node, in its initial state."""
    messages: tuple[type[Message], ...] = ()
    """Kinds of messages in addition to those of the core."""
    costs: Callable[[str], Costs] = _prices_of_active
    """By policy."""
    columns: Callable[[], Columns] = Columns
    """Metrics of the protocol's own, made anew for each run."""
    own_wire: Callable[[str, Own], Wire] | None = None
    """How messages travel over TCP, where it is not as their fields say."""
    own_of: Callable[[Instance], Own] = _nothing
    """The protocol's own values for an instance."""
    workloads: Mapping[str, Recipe] = Factory(dict)
    """Workloads in addition to those that fit any protocol."""
    withdrawal: Callable[[str, Subscription, Advertisement], Message] = _in_full
    """A withdrawal as a neighbour passes it on, by policy: for measuring one broker."""

    @property
    def kinds(self) -> Mapping[type[Message], str]:
        """The kinds of messages that nodes and clients send, with the names of their columns."""
        return column_names((*CORE, *self.messages))

    def metrics(self, nodes: Sequence[Node], every: int) -> Metrics:
        return Metrics(nodes, every, self.columns(), self.kinds)

    def wire(self, policy: str, own: Own) -> Wire:
        """The messages of a node over TCP. What the core has no client for may be an operation of a driver."""
        if self.own_wire is not None:
            return self.own_wire(policy, own)
        return Wire((*CORE, *self.messages), operations=self.messages)
