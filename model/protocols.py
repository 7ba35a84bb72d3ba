"""Which protocols there are, and how an instance becomes a world.

One line a protocol here, one module a protocol beside it.
"""

from __future__ import annotations

from routeproof.model.instance import Instance
from routeproof.model.routing import Routing
from routeproof.model.routing_mutants import MUTANTS
from routeproof.model.world import World

PROTOCOLS = {"routing": Routing}


def world(instance: Instance, policy: str | None = None, mutant: str | None = None) -> World:
    """The instance in motion; its own first policy where none is given."""
    policy = policy or instance.policies[0]
    make = MUTANTS[mutant].make if mutant else PROTOCOLS[instance.protocol]
    return World(instance, make(instance.overlay, policy), policy, mutant)
