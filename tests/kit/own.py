"""A user's own property, seeded fault and policies, for the routing core; and a dialect of filters."""

from __future__ import annotations

from fractions import Fraction

from attrs import evolve

from routeproof.model.definition import Mutant, Policy
from routeproof.model.filters import Constant, FilterError, Float, PredicateDialect, Value, string_set
from routeproof.model.filters.interface import exact
from routeproof.model.filters.predicate_dialect import ON_NUMBERS
from routeproof.model.filters.sets import ABSENT, ValueSet
from routeproof.model.history import Ledger
from routeproof.model.messages import Subscription
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.routing import Routing, StepEffects
from routeproof.model.tables import Tables
from routeproof.spec.specification import OK, Answer, Property, variants


def few_entries(ledger: Ledger, node: Node, tables: Tables) -> Answer:
    """No broker has more entries than there are subscriptions."""
    most = len(ledger.instance.subscriptions)
    return f"{node} has {len(tables.subs)} entries" if len(tables.subs) > most else OK


class InventsEntries(Routing):
    """Adds an entry of its own to each subscription."""

    def on_subscribe(self, step: StepEffects, s: Subscription, sender: Node) -> None:
        super().on_subscribe(step, s, sender)
        step.tables = step.tables.with_sub(evolve(s, id=f"{s.id}-copy"), LOCAL)


class Eager(Routing):
    """Sends every subscription, and withdraws none because of a wider one: covering is only remembered."""

    def __init__(self, overlay: Overlay, policy: str) -> None:
        super().__init__(overlay, policy)
        self.covering = "none"


class Forgetful(Routing):
    """Keeps no subscription of its clients."""

    def on_subscribe(self, step: StepEffects, s: Subscription, sender: Node) -> None:
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


# -- a dialect ---------------------------------------------------------------------------------------------------------


def _typed(written: Constant) -> Value:
    """The numbers 5 and 5.0 are two constants."""
    return Float(exact(written)) if isinstance(written, float) else written


def _meaning(operator: str, constant: Value | None) -> ValueSet:
    """Equality of any constant, and comparisons of numbers of one kind."""
    if operator == "=" and isinstance(constant, str):
        return ValueSet(strings=string_set.only(constant))
    if isinstance(constant, Float) and operator in ON_NUMBERS:
        return ValueSet(floats=ON_NUMBERS[operator](constant.number))
    if isinstance(constant, int | Fraction) and not isinstance(constant, bool) and operator in ON_NUMBERS:
        return ValueSet(numbers=ON_NUMBERS[operator](constant))
    raise FilterError(f"operator {operator} is not for this")


class TYPED:
    """What `--protocol tests.kit.own:TYPED` brings: a dialect that keeps the types of numbers, and in which an
    advertisement lists all attributes that its publications have.
    """

    dialects = (PredicateDialect("typed", _meaning, _typed, unmentioned=ABSENT),)
