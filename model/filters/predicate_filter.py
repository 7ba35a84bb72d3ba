"""The filter over attributes: for each attribute that it constrains, the set of values it lets through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from attrs import field, frozen

from routeproof.model.filters.attributes import Attributes, Value, exact
from routeproof.model.filters.interface import Event, Filter, FilterError, shown
from routeproof.model.filters.value_set import ANYTHING, ValueSet

Constant: TypeAlias = str | bool | int | float
"""A constant as JSON and TOML write it."""


@frozen
class Predicate:
    """One condition as it was written. Without a constant: None."""

    attribute: str
    operator: str
    constant: Constant | None = None

    @property
    def value(self) -> Value | None:
        return exact(self.constant) if isinstance(self.constant, float) else self.constant

    @property
    def condition(self) -> str:
        return self.operator if self.constant is None else f"{self.operator} {shown(self.constant)}"

    def to_json(self) -> list[object]:
        written: list[object] = [self.attribute, self.operator]
        return written if self.constant is None else [*written, self.constant]


@frozen(cache_hash=True)
class PredicateFilter:
    """A conjunction of predicates (FLT-7), made by a dialect's `parse`.

    `constraints` are sorted by attribute; no set among them is empty and none is `ANYTHING`. The filter's events are
    then a product of non-empty sets, one an attribute, which is why every question can be answered attribute by
    attribute (FLT-13), and why equal constraints are the same events (FLT-6). `written` has no part in equality.
    """

    constraints: tuple[tuple[str, ValueSet], ...]
    written: tuple[Predicate, ...] = field(eq=False, repr=False)
    by_name: Mapping[str, ValueSet] = field(init=False, eq=False, repr=False)

    @by_name.default
    def _by_name(self) -> Mapping[str, ValueSet]:
        return dict(self.constraints)

    def matches(self, event: Event) -> bool:
        if not isinstance(event, Attributes):
            raise FilterError("a predicate filter cannot match an event number; expected a table of attributes")
        values = event.by_name
        for name, allowed in self.constraints:
            value = values.get(name)
            if not (allowed.missing if value is None else value in allowed):
                return False
        return True

    def covers(self, other: Filter) -> bool:
        theirs = _by_name(other)
        return all(theirs.get(name, ANYTHING).within(mine) for name, mine in self.constraints)

    def overlaps(self, other: Filter) -> bool:
        theirs = _by_name(other)
        return all(theirs[name].overlaps(mine) for name, mine in self.constraints if name in theirs)

    def to_json(self) -> list[object]:
        """FLT-14: the predicates as written, each once, by attribute."""
        return [predicate.to_json() for predicate in self.written]

    def __str__(self) -> str:
        return " and ".join(f"{each.attribute} {each.condition}" for each in self.written) or "any event"


def _by_name(other: Filter) -> Mapping[str, ValueSet]:
    if not isinstance(other, PredicateFilter):
        raise FilterError("a predicate filter was compared with a set of events; expected filters of one kind")
    return other.by_name
