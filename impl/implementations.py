"""The registry of implementations: which protocols can be run, and which of them has a policy."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.impl.implementation import Implementation, Own
from routeproof.impl.migration.implementation import IMPLEMENTATION as MIGRATION
from routeproof.impl.pruning.implementation import IMPLEMENTATION as PRUNING
from routeproof.impl.routing import IMPLEMENTATION as ROUTING
from routeproof.impl.simulation.simulator import Handler
from routeproof.model.overlay import Node
from routeproof.model.plugins import plugins

SHIPPED = (ROUTING, PRUNING, MIGRATION)


def implementations() -> dict[str, Implementation]:
    """The implementations by protocol: those that ship, then those from outside."""
    found = {each.protocol: each for each in SHIPPED}
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
