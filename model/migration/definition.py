"""Definition of migration for the engines, and its ghost: the order in which subscribers receive."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from routeproof.model.definition import Definition, Mutant, Section
from routeproof.model.history import Event, Ghost, Ledger
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.messages import CORE
from routeproof.model.migration.handler import Migration
from routeproof.model.migration.instance import (
    movers,
    operations,
    parameters_of,
    parameters_to_table,
    read_parameters,
    topology,
)
from routeproof.model.migration.messages import MIGRATION
from routeproof.model.protocol import Protocol


class Overtaken(Ghost):
    """The first delivery that came behind a later publication of its publisher, as (earlier, later, subscription) ids.

    A publisher publishes in the order in which its publications are listed (`operations`).
    """

    name = "overtaken"
    reads = ("delivered",)

    def initial(self, ledger: Ledger) -> Hashable:
        return ()

    def sees(self, ledger: Ledger, event: Event) -> Hashable | None:
        return tuple((d.publication.rank, d.subscription.rank) for d in event.deliveries) or None

    def after(self, ledger: Ledger, value: Any, seen: Any, others: Any) -> Hashable:
        if value:
            return value  # type: ignore[no-any-return]  # a ghost's value is its own
        delivered, publications = others.delivered, ledger.instance.publications
        for p, s in seen:
            for later in publications[p + 1 :]:
                if later.of == publications[p].of and delivered & ledger.pair(later.rank, s):
                    return (publications[p].id, later.id, ledger.instance.subscriptions[s].id)
            delivered |= ledger.pair(p, s)
        return ()


def _make(handler: type[Migration], instance: Instance, policy: str) -> Protocol:
    homes = {a.advertisement.id: a.at for a in movers(instance)}
    return handler(topology(instance), instance.overlay, policy, parameters_of(instance), homes)


def _mutants() -> Mapping[str, Mutant]:
    from routeproof.model.migration.mutants import MIGRATION_MUTANTS

    return MIGRATION_MUTANTS


DEFINITION = Definition(
    name="migration",
    policies=POLICIES,
    handler=Migration,
    make=_make,
    about="Publishers that move from broker to broker while they publish (004).",
    messages=(*CORE, *MIGRATION),
    operations=operations,
    topology=topology,
    sections=(Section("migration", read_parameters, parameters_to_table, brokers=("to", "refuses")),),
    mutants=_mutants,
    ghosts=(Overtaken(),),
    instances="routeproof.model.migration",
)
