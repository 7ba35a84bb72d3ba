"""Pruning as the model has it, with the operations that it adds: clients that come back (PRN-15), and brokers' drivers
(PRN-6).
"""

from __future__ import annotations

from collections.abc import Mapping

from routeproof.model.definition import Definition, Mutant
from routeproof.model.instance import Instance
from routeproof.model.messages import Advertise, Publish, Subscribe, Unadvertise, Unsubscribe
from routeproof.model.operations import OperationRow, core_operations
from routeproof.model.protocol import Protocol
from routeproof.model.pruning.ghosts import GHOSTS
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.instances import SECTIONS, again, congested, issued_again, parameters, readings
from routeproof.model.pruning.messages import Congest, Relieve
from routeproof.model.pruning.parameters import PRUNING, THRESHOLDS


def operations(instance: Instance) -> list[OperationRow]:
    """The core's operations, then the second subscriptions of clients, then congestion."""
    rows = core_operations(instance)
    for s in instance.subscribers:
        at = again(s)
        if at is not None:
            name = s.subscription.id
            message = Subscribe(issued_again(instance, s))
            rows.append(OperationRow(f"resubscribe({name})", at, message, f"unsubscribe({name})"))
    for b in congested(instance):
        rows.append(OperationRow(f"congest({b})", b, Congest()))
        rows.append(OperationRow(f"relieve({b})", b, Relieve(), f"congest({b})"))
    return rows


def _make(handler: type[Pruning], instance: Instance, policy: str) -> Protocol:
    return handler(instance.overlay, policy, parameters(instance, policy))


def _policies_for(instance: Instance) -> tuple[str, ...]:
    """The policies that have as many thresholds as the instance gives, if it gives any."""
    given = dict(readings(instance)).get("thresholds")
    return tuple(p for p in PRUNING if given is None or len(given) == len(THRESHOLDS[p]))


def _mutants() -> Mapping[str, Mutant]:
    from routeproof.model.pruning.mutants import PRUNING_MUTANTS

    return PRUNING_MUTANTS


DEFINITION = Definition(
    name="pruning",
    policies=PRUNING,
    handler=Pruning,
    make=_make,
    about="Withdrawals that end where keeping a subscription costs little: incremental (000) and selective (001).",
    messages=(Advertise, Unadvertise, Subscribe, Unsubscribe, Publish, Congest, Relieve),
    operations=operations,
    ghosts=GHOSTS,
    sections=SECTIONS,
    parameters=parameters,
    policies_for=_policies_for,
    mutants=_mutants,
)
