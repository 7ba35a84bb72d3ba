"""The strict dialect: types never mix, a missing attribute satisfies nothing, numbers are exact.

This module is only the reading of one predicate into a set of values: the tables below are the dialect. The prose is in
`spec/filters.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from routeproof.model.filters import number_set, string_set
from routeproof.model.filters.attributes import Number, Value
from routeproof.model.filters.interface import FilterError
from routeproof.model.filters.number_set import WHOLE_NUMBERS, NumberSet
from routeproof.model.filters.predicate_dialect import PredicateDialect
from routeproof.model.filters.string_set import StringSet
from routeproof.model.filters.value_set import PRESENT, ValueSet
from routeproof.model.filters.wording import named, shown

# Each set holds values of one type and never "missing": this is FLT-3 and FLT-4, for != as for the others.
ON_NUMBERS: Mapping[str, Callable[[Number], NumberSet]] = {  # FLT-8
    "=": number_set.only,
    "!=": number_set.all_but,
    "<": lambda number: number_set.below(number, inclusive=False),
    "<=": lambda number: number_set.below(number, inclusive=True),
    ">": lambda number: number_set.above(number, inclusive=False),
    ">=": lambda number: number_set.above(number, inclusive=True),
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
