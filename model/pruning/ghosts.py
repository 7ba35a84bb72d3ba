"""Ghosts of pruning: values that properties remember in addition to the history. `spec/pruning.md`, Ghosts."""

from __future__ import annotations

from typing import Any

from routeproof.model.ghosts import Event, Ghost
from routeproof.model.history import Ledger, Operation
from routeproof.model.messages import Deliver, Publish, Unsubscribe


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
    """1 + the rank of the subscription whose withdrawal was the last change, with fair statistics; else 0."""

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
        return seen if mine and all(others.fair >> p & 1 for p in mine) else 0


GHOSTS = (Astray(), Fair(), Cut())
