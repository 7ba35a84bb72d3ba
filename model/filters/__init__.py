"""Filters: what a subscription asks for and what an advertisement promises.

Two algebras stand behind the one interface `Filter`. `EventSet` is a set of event numbers, for small instances that are
explored exhaustively. A predicate filter is a conjunction of predicates over attributes, read by a `Dialect`, so that a
broker is judged by the language it implements:

    large = STRICT.parse([["class", "=", "STOCK"], ["volume", ">", 1000]])
    large.matches(STRICT.event({"class": "STOCK", "volume": 2000}))

In both, `matches`, `covers` and `overlaps` are exact, and equal filters are those that match the same events.
`spec/filters.md` is the normative text; the rule ids `FLT-n` in comments are its.
"""

from routeproof.model.filters.interface import (
    Attributes,
    Constant,
    Dialect,
    Event,
    Filter,
    FilterError,
    Float,
    Number,
    Value,
)
from routeproof.model.filters.predicate_dialect import DIALECTS, STRICT, PredicateDialect, dialect, dialects
from routeproof.model.filters.predicate_filter import Predicate, PredicateFilter
from routeproof.model.filters.sets import EVENTS, EventSet

__all__ = [
    "DIALECTS",
    "EVENTS",
    "STRICT",
    "Attributes",
    "Constant",
    "Dialect",
    "Event",
    "EventSet",
    "Filter",
    "FilterError",
    "Float",
    "Number",
    "Predicate",
    "PredicateDialect",
    "PredicateFilter",
    "Value",
    "dialect",
    "dialects",
]
