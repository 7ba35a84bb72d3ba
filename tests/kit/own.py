"""A user's own property, seeded fault and policies, for the routing core."""

from __future__ import annotations

from attrs import evolve

from routeproof.model.definition import Mutant, Policy
from routeproof.model.history import Ledger
from routeproof.model.messages import Subscription
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.routing import Routing, Step
from routeproof.model.tables import Tables
from routeproof.spec.property import OK, Answer, Property, variants


def few_entries(ledger: Ledger, node: Node, tables: Tables) -> Answer:
    """No broker has more entries than there are subscriptions."""
    most = len(ledger.instance.subscriptions)
    return f"{node} has {len(tables.subs)} entries" if len(tables.subs) > most else OK


class InventsEntries(Routing):
    """Adds an entry of its own to each subscription."""

    def on_subscribe(self, step: Step, s: Subscription, sender: Node) -> None:
        super().on_subscribe(step, s, sender)
        step.tables = step.tables.with_sub(evolve(s, id=f"{s.id}-copy"), LOCAL)


class Eager(Routing):
    """Sends every subscription, and withdraws none because of a wider one: covering is only remembered."""

    def __init__(self, overlay: Overlay, policy: str) -> None:
        super().__init__(overlay, policy)
        self.covering = "none"


class Forgetful(Routing):
    """Keeps no subscription of its clients."""

    def on_subscribe(self, step: Step, s: Subscription, sender: Node) -> None:
        if sender != LOCAL:
            super().on_subscribe(step, s, sender)


class VARIATIONS:
    """What `--protocol tests.kit.own:VARIATIONS` brings: policies for a protocol that ships."""

    policies = (Policy("eager", "routing", "none", Eager), Policy("forgetful", "routing", "active", Forgetful))


class OWN:
    """What `--protocol tests.kit.own:OWN` brings: no protocol."""

    properties = (
        Property.of("FewEntries", "always", "node", variants("routing", ("active",)), few_entries, ("local",)),
    )
    mutants = (
        Mutant("invents-entries", "routing", "RTE-3", ("active",), InventsEntries.__doc__ or "", InventsEntries),
    )
