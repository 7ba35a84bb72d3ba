"""Pruning as the model has it: its definition, the operations that it adds, and its ghosts.

The operations are those of clients that come back (PRN-15) and of brokers' drivers (PRN-6); the ghosts are values that
properties remember in addition to the history (`spec/pruning.md`, Ghosts).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routeproof.model.definition import Definition, Mutant
from routeproof.model.history import Event, Ghost, Ledger, Operation
from routeproof.model.instance import Instance, OperationRow, core_operations
from routeproof.model.messages import Advertise, Deliver, Publish, Subscribe, Unadvertise, Unsubscribe
from routeproof.model.protocol import Protocol
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.messages import Congest, Relieve
from routeproof.model.pruning.parameters import PRUNING, THRESHOLDS
from routeproof.model.pruning.sections import SECTIONS, again, congested, issued_again, parameters, readings


class Astray(Ghost):
    """True once something was delivered to a client that has no subscription of this name any more."""

    name = "astray"
    reads = ("done",)

    def initial(self, ledger: Ledger) -> bool:
        return False

    def sees(self, ledger: Ledger, event: Event) -> tuple[int, tuple[Deliver, ...]] | None:
        if not event.deliveries:
            return None
        return (0 if event.operation is None else event.operation.bit), event.deliveries

    def after(self, ledger: Ledger, value: bool, seen: tuple[int, tuple[Deliver, ...]], others: Any) -> bool:
        operation, deliveries = seen
        done = others.done | operation
        return value or any(ledger.issue(d.subscription.rank, done) != d.subscription for d in deliveries)


class Fair(Ghost):
    """The publications since which no client has changed anything, published while all was quiet: a mask of ranks."""

    name = "fair"

    def initial(self, ledger: Ledger) -> int:
        return 0

    def sees(self, ledger: Ledger, event: Event) -> int | None:
        """The bit of a publication that is fair; 0 where a client changes something."""
        match event.operation:
            case None:
                return None
            case Operation(message=Publish(p)):  # it leaves the world as quiet as it was
                return 1 << p.rank if event.quiet else None
        return 0

    def after(self, ledger: Ledger, value: int, seen: int, others: Any) -> int:
        return value | seen if seen else 0


class Cut(Ghost):
    """1 + the rank of the subscription whose withdrawal was the last change, with fair statistics; else 0.

    A publication that is fair shows that all was quiet before the withdrawal, also where none was delivered to it.
    """

    name = "cut"
    reads = ("delivered", "fair")

    def initial(self, ledger: Ledger) -> int:
        return 0

    def sees(self, ledger: Ledger, event: Event) -> int | None:
        match event.operation:
            case None | Operation(message=Publish()):
                return None
            case Operation(message=Unsubscribe(s)):
                return s.rank + 1
        return 0

    def after(self, ledger: Ledger, value: int, seen: int, others: Any) -> int:
        if not seen:
            return 0
        mine = [p for p, s in ledger.pairs(others.delivered) if s == seen - 1]
        return seen if others.fair and all(others.fair >> p & 1 for p in mine) else 0


GHOSTS = (Astray(), Fair(), Cut())


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
    instances="routeproof.model.pruning",
    parameters=parameters,
    policies_for=_policies_for,
    mutants=_mutants,
)
