"""A dialect of predicate filters: everything but what its operators mean.

To add one, write a module with a function from an operator and its constant to a `ValueSet`, and one object:

    MINE = PredicateDialect("mine", meaning)

then list the object in `DIALECTS`, or bring it from outside (`model.plugins`). `STRICT` is the example: types never
mix, a missing attribute satisfies nothing, numbers are exact. It is only the reading of one predicate into a set of
values: the tables below are the dialect. The prose is in `spec/filters.md`.

`DIALECTS` is the registry of those that ship, by the name that a trace's header gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from types import MappingProxyType
from typing import TypeAlias

from attrs import evolve, field, frozen

from routeproof.model.filters import sets, string_set
from routeproof.model.filters.interface import (
    Attributes,
    Constant,
    Dialect,
    FilterError,
    Number,
    Value,
    exact,
    named,
    shown,
)
from routeproof.model.filters.predicate_filter import Predicate, PredicateFilter, read_attributes, read_predicates
from routeproof.model.filters.sets import ANYTHING, EVENTS, PRESENT, WHOLE_NUMBERS, NumberSet, ValueSet
from routeproof.model.filters.string_set import StringSet
from routeproof.model.plugins import plugins

Meaning: TypeAlias = Callable[[str, Value | None], ValueSet]
"""The values that an operator with a constant (or without: None) lets through; `FilterError` where there is none."""

Condition: TypeAlias = tuple[Predicate, ValueSet]

CONDITIONS_SHOWN = 8
"""In a message about conditions that contradict each other."""


def as_it_is(written: Constant) -> Constant:
    return written


def _exactly(read: Value | float) -> Value:
    return exact(read) if isinstance(read, float) else read


@frozen
class PredicateDialect:
    """`reading` is what the dialect makes of what was written, in events and in constants alike, before it is compared.
    A float that it leaves is read as the exact number (FLT-2); to distinguish `5` from `5.0`, it returns a `Float`.

    `unmentioned` has the values that publications may have of attributes that their advertisement does not mention:
    `ANYTHING`, or `ABSENT` where an advertisement lists all there are. An attribute may always be missing.
    """

    name: str
    meaning: Meaning
    reading: Callable[[Constant], Value | float] = as_it_is
    unmentioned: ValueSet = field(default=ANYTHING)

    @unmentioned.validator
    def _may_be_missing(self, _: object, unmentioned: ValueSet) -> None:
        if not unmentioned.missing:
            raise FilterError(f"dialect {self.name}: an attribute that is not mentioned may be missing; expected that")

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

    def advertisement(self, raw: object) -> PredicateFilter:
        promised = self.parse(raw)
        return promised if self.unmentioned == ANYTHING else evolve(promised, rest=self.unmentioned)

    def event(self, raw: object) -> Attributes:
        return read_attributes(raw, _exactly if self.reading is as_it_is else self._read)

    def _read(self, written: Constant) -> Value:
        return _exactly(self.reading(written))

    def _meaning(self, number: int, predicate: Predicate) -> ValueSet:
        written = predicate.constant
        try:
            return self.meaning(predicate.operator, None if written is None else self._read(written))
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
    # By what each admits, and its type: to Python, the constants True and 1 are equal.
    first: dict[tuple[str, bool, Value | None, ValueSet], Predicate] = {}
    for each, allowed in conditions:
        first.setdefault((each.operator, isinstance(each.constant, bool), each.value, allowed), each)
    return list(first.values())


# Each set holds values of one type and never "missing": this is FLT-3 and FLT-4, for != as for the others.
ON_NUMBERS: Mapping[str, Callable[[Number], NumberSet]] = {  # FLT-8
    "=": sets.only,
    "!=": sets.all_but,
    "<": lambda number: sets.below(number, inclusive=False),
    "<=": lambda number: sets.below(number, inclusive=True),
    ">": lambda number: sets.above(number, inclusive=False),
    ">=": lambda number: sets.above(number, inclusive=True),
}
ON_STRINGS: Mapping[str, Callable[[str], StringSet | None]] = {  # FLT-9, FLT-10
    "=": string_set.only,
    "!=": string_set.all_but,
    "<": lambda word: string_set.below(word, inclusive=False),
    "<=": lambda word: string_set.below(word, inclusive=True),
    ">": lambda word: string_set.above(word, inclusive=False),
    ">=": lambda word: string_set.above(word, inclusive=True),
    "prefix": string_set.prefixed,
    "suffix": string_set.suffixed,
    "contains": string_set.containing,
}
ON_BOOLEANS: Mapping[str, Callable[[bool], frozenset[bool]]] = {  # FLT-11
    "=": lambda truth: frozenset((truth,)),
    "!=": lambda truth: frozenset((not truth,)),
}
ALONE: Mapping[str, ValueSet] = {  # FLT-11
    "present": PRESENT,
    "integer": ValueSet(numbers=WHOLE_NUMBERS),
}
OPERATORS = (*ON_STRINGS, *ALONE)


def meaning(operator: str, constant: Value | None) -> ValueSet:
    if operator not in OPERATORS:
        raise FilterError(f"operator {named(operator)} is unknown; expected one of {' '.join(OPERATORS)}")
    if operator in ALONE:
        if constant is not None:
            raise FilterError(f"operator {operator} takes no constant; found {shown(constant)}")
        return ALONE[operator]
    match constant:
        case str() if operator in ON_STRINGS:
            return ValueSet(strings=ON_STRINGS[operator](constant))
        case bool() if operator in ON_BOOLEANS:
            return ValueSet(booleans=ON_BOOLEANS[operator](constant))
        case int() | Fraction() if not isinstance(constant, bool) and operator in ON_NUMBERS:
            return ValueSet(numbers=ON_NUMBERS[operator](constant))
    found = "no constant" if constant is None else shown(constant)
    raise FilterError(f"operator {operator} takes {_kinds(operator)}; found {found}")


def _kinds(operator: str) -> str:
    tables = (("a string", ON_STRINGS), ("a number", ON_NUMBERS), ("a boolean", ON_BOOLEANS))
    return " or ".join(kind for kind, table in tables if operator in table)


STRICT = PredicateDialect("strict", meaning)


_ALL: tuple[Dialect, ...] = (STRICT, EVENTS)

DIALECTS: Mapping[str, Dialect] = MappingProxyType({each.name: each for each in _ALL})


def dialects() -> Mapping[str, Dialect]:
    """The dialects that ship and those from outside, by name. A name that is taken is not given again."""
    outside = {each.name: each for plugin in plugins() for each in getattr(plugin, "dialects", ())}
    return DIALECTS if not outside else {**outside, **DIALECTS}


def dialect(name: object) -> Dialect:
    found = DIALECTS.get(name) or dialects().get(name) if isinstance(name, str) else None
    if found is None:
        raise FilterError(f"dialect {shown(name)} is unknown; expected one of {', '.join(sorted(dialects()))}")
    return found
