"""A dialect of predicate filters: everything but what its operators mean.

To add one, write a module with a function from an operator and its constant to a `ValueSet`, and one object:

    MINE = PredicateDialect("mine", meaning)

then list the object in `dialects`. `strict` is the example.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import accumulate
from typing import TypeAlias

from attrs import frozen

from routeproof.model.filters.attributes import Attributes, Value
from routeproof.model.filters.interface import FilterError
from routeproof.model.filters.predicate_filter import Predicate, PredicateFilter
from routeproof.model.filters.reading import read_attributes, read_predicates
from routeproof.model.filters.value_set import ANYTHING, ValueSet
from routeproof.model.filters.wording import named

Meaning: TypeAlias = Callable[[str, Value | None], ValueSet]
"""The values that an operator with a constant (or without: None) lets through; `FilterError` where there is none."""

Condition: TypeAlias = tuple[Predicate, ValueSet]

CONDITIONS_SHOWN = 8
"""In a message about conditions that contradict each other."""


def as_it_is(value: Value) -> Value:
    return value


@frozen
class PredicateDialect:
    """`reading` is what the dialect makes of a value, in events and in constants alike, before it is compared."""

    name: str
    meaning: Meaning
    reading: Callable[[Value], Value] = as_it_is

    def parse(self, raw: object) -> PredicateFilter:
        by_attribute: dict[str, list[Condition]] = {}
        for number, predicate in enumerate(read_predicates(raw), start=1):
            conditions = by_attribute.setdefault(predicate.attribute, [])
            conditions.append((predicate, self._meaning(number, predicate)))
        constraints = [(name, _conjunction(by_attribute[name])) for name in sorted(by_attribute)]
        written = [predicate for name in sorted(by_attribute) for predicate in _once(by_attribute[name])]
        return PredicateFilter(
            tuple((name, allowed) for name, allowed in constraints if allowed != ANYTHING), tuple(written)
        )

    def event(self, raw: object) -> Attributes:
        return read_attributes(raw, self.reading)

    def _meaning(self, number: int, predicate: Predicate) -> ValueSet:
        value = predicate.value
        try:
            return self.meaning(predicate.operator, None if value is None else self.reading(value))
        except FilterError as error:
            raise FilterError(f"predicate {number}: {error}") from None


def _conjunction(conditions: list[Condition]) -> ValueSet:
    allowed = reduce(ValueSet.intersect, (each for _, each in conditions), ANYTHING)
    if allowed.is_empty:  # FLT-5
        core = _conflict(conditions)
        wanted = [predicate.condition for predicate in core[:CONDITIONS_SHOWN]]
        if len(core) > CONDITIONS_SHOWN:
            wanted.append(f"{len(core) - CONDITIONS_SHOWN} more")
        raise FilterError(f"the filter matches nothing: {named(core[0].attribute)} cannot be {' and '.join(wanted)}")
    return allowed


def _conflict(conditions: list[Condition]) -> list[Predicate]:
    """Conditions that no value meets together, though it could if any of them were left out: what to show the author.

    The condition at which nothing is left is one of them; the others are among those before it.
    """
    core: list[Predicate] = []
    met = ANYTHING
    while not met.is_empty:
        left = accumulate((allowed for _, allowed in conditions), ValueSet.intersect, initial=met)
        at = next(number for number, allowed in enumerate(left) if allowed.is_empty) - 1
        predicate, allowed = conditions[at]
        core.insert(0, predicate)
        met = met.intersect(allowed)
        conditions = conditions[:at]
    return core


def _once(conditions: list[Condition]) -> list[Predicate]:
    # With its type: to Python, the constants True and 1 are equal.
    first: dict[tuple[str, bool, Value | None], Predicate] = {}
    for each, _ in conditions:
        first.setdefault((each.operator, isinstance(each.constant, bool), each.value), each)
    return list(first.values())
