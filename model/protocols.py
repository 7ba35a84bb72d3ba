"""Which protocols there are, and how an instance becomes a world.

One line a protocol here, one module a protocol beside it.
"""

from __future__ import annotations

from routeproof.model.instance import POLICIES, Instance
from routeproof.model.mutants import MUTANTS
from routeproof.model.protocol import Protocol
from routeproof.model.pruning import Pruning
from routeproof.model.pruning_parameters import PRUNING, THRESHOLDS
from routeproof.model.routing import Routing
from routeproof.model.world import World

PROTOCOLS: dict[str, type[Routing]] = {"routing": Routing, "pruning": Pruning}

POLICIES_OF = {"routing": POLICIES, "pruning": PRUNING}
ALL_POLICIES = (*POLICIES, *PRUNING)


def policies_for(instance: Instance) -> tuple[str, ...]:
    """Those under which it can be put in motion: of its protocol, and with as many thresholds as it gives, if any."""
    given = dict(instance.readings).get("thresholds")
    return tuple(p for p in POLICIES_OF[instance.protocol] if given is None or len(given) == len(THRESHOLDS[p]))


def world(instance: Instance, policy: str | None = None, mutant: str | None = None) -> World:
    """The instance in motion; its own first policy where none is given."""
    policy = policy or instance.policies[0]
    make = MUTANTS[mutant].make if mutant else PROTOCOLS[instance.protocol]
    protocol: Protocol
    if issubclass(make, Pruning):
        protocol = make(instance.overlay, policy, instance.parameters(policy))
    else:
        protocol = make(instance.overlay, policy)
    return World(instance, protocol, policy, mutant)
