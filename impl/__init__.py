"""The reference implementation: protocols as it has them, and the registry of all.

`Implementation` is the one value that `impl/NAME/` exports:

    IMPLEMENTATION = Implementation("ferry", ("active",), make, messages=(Moor, Cast, Open, Close))

What is left out is the routing core's: its messages, its prices, no columns of its own, no workloads of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from attrs import Factory, frozen

from routeproof.impl.observers import ExtraColumns, Metrics, column_names
from routeproof.impl.simulator import Costs, Handler
from routeproof.impl.tcp.codec import Wire
from routeproof.impl.workloads.workload import Recipe
from routeproof.model.instance import Instance
from routeproof.model.messages import CORE, Advertisement, Message, Subscription, Unsubscribe
from routeproof.model.overlay import Node
from routeproof.model.plugins import plugins

Own: TypeAlias = Mapping[str, Any]
"""Values that only one protocol has, of JSON's types: they travel to the process of each node."""


@frozen
class Implementation:
    """Everything that the simulator and the TCP driver need to run a protocol."""

    protocol: str
    policies: tuple[str, ...]
    make: Callable[[Node, Sequence[Node], str, Own], Handler]
    """(node, its neighbours, policy, the protocol's own values) -> what runs at the node, in its initial state."""
    messages: tuple[type[Message], ...] = ()
    """Kinds of messages in addition to those of the core."""
    costs: Callable[[str], Costs] = lambda policy: Costs.measured("active")
    """By policy."""
    columns: Callable[[], ExtraColumns] = ExtraColumns
    """Metrics of the protocol's own, made anew for each run."""
    own_wire: Callable[[str, Own], Wire] | None = None
    """How messages travel over TCP, where it is not as their fields say."""
    own_of: Callable[[Instance], Own] = lambda instance: {}
    """The protocol's own values for an instance."""
    workloads: Mapping[str, Recipe] = Factory(dict)
    """Workloads in addition to those that fit any protocol."""
    withdrawal: Callable[[str, Subscription, Advertisement], Message] = lambda policy, s, of: Unsubscribe(s)
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


@cache
def _shipped() -> tuple[Implementation, ...]:
    """Returns the implementations of the distribution, each of which needs this module."""
    from routeproof.impl.mesh.implementation import IMPLEMENTATION as mesh
    from routeproof.impl.migration.implementation import IMPLEMENTATION as migration
    from routeproof.impl.placement.implementation import IMPLEMENTATION as placement
    from routeproof.impl.pruning import IMPLEMENTATION as pruning
    from routeproof.impl.routing import IMPLEMENTATION as routing
    from routeproof.impl.trees.implementation import IMPLEMENTATION as trees

    return (routing, pruning, migration, placement, trees, mesh)


def implementations() -> dict[str, Implementation]:
    """The implementations by protocol: those that ship, then those from outside."""
    found = {each.protocol: each for each in _shipped()}
    for plugin in plugins():
        if hasattr(plugin, "implementation"):
            found.setdefault(plugin.implementation.protocol, plugin.implementation)
    return found


def all_policies() -> tuple[str, ...]:
    """The policies of all implementations, each name once."""
    return tuple(dict.fromkeys(policy for each in implementations().values() for policy in each.policies))


def implementation_of(policy: str, protocol: str = "") -> Implementation:
    """The implementation of a protocol, or else the first one that has the policy. `ValueError` if there is none."""
    known = implementations()
    if protocol and protocol not in known:
        raise ValueError(f"the protocol {protocol} has no implementation to run; there is one of {', '.join(known)}")
    for each in [known[protocol]] if protocol else known.values():
        if policy in each.policies:
            return each
    has = ", ".join(known[protocol].policies if protocol else all_policies())
    raise ValueError(f"policy {policy!r} is unknown; expected one of {has}")


def make_node(node: Node, neighbours: Sequence[Node], policy: str, own: Own | None = None) -> Handler:
    """A node of the first protocol that has the policy."""
    return implementation_of(policy).make(node, neighbours, policy, own or {})
