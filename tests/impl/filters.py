"""Filters and events on few attributes, with constants where rounding, order and normal forms are difficult."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hypothesis import strategies as st

from routeproof.model.filters import (
    EVENTS,
    STRICT,
    Event,
    Filter,
    FilterError,
    Float,
    PredicateDialect,
    PredicateFilter,
    Value,
)
from routeproof.model.filters.sets import BOOLEANS, PRESENT, ValueSet, all_but, only
from routeproof.model.filters.string_set import ALL_STRINGS

LAST = chr(sys.maxunicode)
LONG = "long" * 10
"""Longer than the part of a string that its point is made of."""

NUMBERS: Sequence[int | float] = (
    *(0, 1, 2, 3, 5, 0.1, 0.5, 2.5, -1, -0.1, 1e-320, -1e-320, 1e308, -1e308),
    *(2**53, 2**53 + 1, 2**53 + 2, 10**400, 10**400 + 1, -(10**400)),
)
WORDS = (
    "",
    "\0",
    "\0\0",
    "a",
    "a\0",
    "a\0b",
    "ab",
    "b",
    "ba",
    LAST,
    "a" + LAST,
    "\ud800",
    "abab",
    "xabab",
    LONG,
    LONG + "a",
    LONG + "b",
)
STRING_OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "prefix", "suffix", "contains")
NUMBER_OPERATORS = STRING_OPERATORS[:6]
ATTRIBUTES = ("x", "y", "z")


def _not_equal(operator: str, constant: Value | None) -> ValueSet:
    """A dialect in which `!=` holds of what has another type or is missing, too."""
    if operator == "present":
        return PRESENT
    if isinstance(constant, str | bool | Float) or constant is None:
        raise FilterError("a number is expected")
    if operator == "=":
        return ValueSet(numbers=only(constant))
    return ValueSet(all_but(constant), ALL_STRINGS, BOOLEANS, missing=True)


NEGATING = PredicateDialect("negating", _not_equal)

_strict = st.one_of(
    st.tuples(st.sampled_from(NUMBER_OPERATORS), st.sampled_from(NUMBERS)),
    st.tuples(st.sampled_from(STRING_OPERATORS), st.sampled_from(WORDS)),
    st.tuples(st.sampled_from(("=", "!=")), st.booleans()),
    st.sampled_from((("present",), ("integer",))),
)
_negating = st.one_of(st.tuples(st.sampled_from(("=", "!=")), st.sampled_from(NUMBERS)), st.just(("present",)))


def _parsed(dialect: PredicateDialect, raw: list[tuple[str, tuple[object, ...]]]) -> PredicateFilter | None:
    try:
        return dialect.parse([[attribute, *condition] for attribute, condition in raw])
    except FilterError:
        return None


def _filters(dialect: PredicateDialect, conditions: st.SearchStrategy[tuple[object, ...]]) -> st.SearchStrategy[Filter]:
    raw = st.lists(st.tuples(st.sampled_from(ATTRIBUTES), conditions), max_size=4)
    parsed = raw.map(lambda each: _parsed(dialect, each))
    return parsed.filter(lambda each: each is not None).map(lambda each: each or STRICT.parse([]))


def predicate_filters() -> st.SearchStrategy[Filter]:
    strict = _filters(STRICT, _strict)
    return st.one_of(strict, strict, strict, _filters(NEGATING, _negating))


def single_conditions() -> list[Filter]:
    """Every condition there is here, each as a filter of its own; and two together that no single one is like."""
    conditions: list[list[object]] = [["present"], ["integer"], ["=", True], ["!=", True]]
    conditions += [[operator, number] for operator in NUMBER_OPERATORS for number in NUMBERS]
    conditions += [[operator, word] for operator in STRING_OPERATORS for word in WORDS]
    parsed = [_parsed(STRICT, [("x", tuple(condition))]) for condition in conditions]
    parsed += [_parsed(NEGATING, [("x", ("!=", 1))]), _parsed(NEGATING, [("x", ("!=", 1)), ("x", ("present",))])]
    return list(dict.fromkeys(each for each in parsed if each is not None))


def event_sets() -> st.SearchStrategy[Filter]:
    return st.sets(st.integers(0, 5), min_size=1).map(EVENTS.parse)


def tables() -> st.SearchStrategy[Event]:
    """Events of attributes."""
    value = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(WORDS), st.booleans())
    return st.dictionaries(st.sampled_from(ATTRIBUTES), value).map(STRICT.event)
