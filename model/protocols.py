"""The registry of protocols: which there are, how an instance becomes a world, and the seeded faults of all.

`MUTANTS` has the mutants of all protocols by id. A mutant is a protocol with one of its small methods replaced; it is
in a module next to its protocol (`routing_mutants`).
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from routeproof.model.definition import Definition, Mutant, Policy
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.mesh.definition import DEFINITION as MESH_DEFINITION
from routeproof.model.migration.definition import DEFINITION as MIGRATION_DEFINITION
from routeproof.model.placement.definition import DEFINITION as PLACEMENT_DEFINITION
from routeproof.model.plugins import Composed, PluginError, plugins
from routeproof.model.protocol import Protocol
from routeproof.model.pruning.definition import DEFINITION as PRUNING_DEFINITION
from routeproof.model.routing import Routing
from routeproof.model.routing_mutants import MUTANTS as ROUTING_MUTANTS
from routeproof.model.trees.definition import DEFINITION as TREES_DEFINITION
from routeproof.model.world import World


def _make(handler: type[Routing], instance: Instance, policy: str) -> Protocol:
    return handler(instance.overlay, policy)


ROUTING = Definition(
    name="routing",
    policies=POLICIES,
    handler=Routing,
    make=_make,
    about="Content-based routing on a tree under one covering policy.",
    mutants=lambda: ROUTING_MUTANTS,
    reductions=frozenset({"symmetry", "por"}),
)

SHIPPED = (ROUTING, PRUNING_DEFINITION, MIGRATION_DEFINITION, PLACEMENT_DEFINITION, TREES_DEFINITION, MESH_DEFINITION)
"""The protocols of the distribution, in the order in which they are listed."""


def _definitions() -> dict[str, Definition]:
    """The definitions by name: those that ship, then those from outside."""
    found = {each.name: each for each in SHIPPED}
    for plugin in plugins():
        own = getattr(plugin, "definition", None)
        if own is not None and found.setdefault(own.name, own) is not own:
            raise PluginError(f"two protocols are called {own.name}; rename the one from outside")
    for plugin in plugins():
        for policy in getattr(plugin, "policies", ()):
            _refuse_wrong(policy, found)
            varied = found[policy.protocol]
            policies = (*varied.policies, policy.name)
            found[policy.protocol] = evolve(varied, policies=policies, varied=(*varied.varied, policy))
    return found


def _refuse_wrong(policy: Policy, definitions: Mapping[str, Definition]) -> None:
    if policy.protocol not in definitions:
        known = ", ".join(definitions)
        raise PluginError(f"policy {policy.name}: found the protocol {policy.protocol}; expected one of {known}")
    protocol = definitions[policy.protocol]
    if policy.like not in protocol.policies:
        known = ", ".join(protocol.policies)
        raise PluginError(f"policy {policy.name}: found like {policy.like}; expected one of {known}")
    if policy.name in protocol.policies:
        raise PluginError(f"policy {policy.name}: the protocol {protocol.name} has one of this name; rename yours")


DEFINITIONS: Mapping[str, Definition] = Composed(_definitions)


def all_policies() -> tuple[str, ...]:
    """The policies of all protocols, each name once."""
    return tuple(dict.fromkeys(policy for each in DEFINITIONS.values() for policy in each.policies))


def policies_for(instance: Instance) -> tuple[str, ...]:
    """The policies under which an instance can be put in motion."""
    definition = DEFINITIONS[instance.protocol]
    if definition.policies_for is None:
        return definition.policies
    own = definition.policies_for(instance)
    return (*own, *(each.name for each in definition.varied if each.like in own))


def mutants() -> dict[str, Mutant]:
    """The seeded faults of all protocols by id, and those that were brought from outside."""
    found = {id: each for definition in DEFINITIONS.values() for id, each in definition.mutants().items()}
    for plugin in plugins():
        found |= {each.id: each for each in getattr(plugin, "mutants", ())}
    return found


def world(instance: Instance, policy: str | None = None, mutant: str | None = None) -> World:
    """The instance in motion; under its own first policy where none is given."""
    policy = policy or instance.policies[0]
    definition = DEFINITIONS[instance.protocol]
    varied = definition.variation(policy)
    handler = mutants()[mutant].make if mutant else definition.handler if varied is None else varied.handler
    if varied is not None:  # no reduction has been argued for a handler from outside
        definition = evolve(definition, reductions=frozenset())
    return World(instance, definition.make(handler, instance, definition.base(policy)), policy, mutant, definition)


MUTANTS: Mapping[str, Mutant] = Composed(mutants)
