"""A second dialect is one function and one object; the first is not touched.

This one differs where real brokers do: `!=` is the negation of `=`, so that it holds of a missing attribute and of a
value of another type; and a string that reads as a number is one.
"""

import pytest
from attrs import evolve

from routeproof.model.filters import (
    Attributes,
    Constant,
    Dialect,
    FilterError,
    PredicateDialect,
    Value,
    sets,
    string_set,
)
from routeproof.model.filters.sets import BOOLEANS, PRESENT, ValueSet


def number_where_it_reads_as_one(value: Constant) -> Constant:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def meaning(operator: str, constant: Value | None) -> ValueSet:
    match operator, constant:
        case "=", bool():
            return ValueSet(booleans=frozenset((constant,)))
        case "=", str():
            return ValueSet(strings=string_set.only(constant))
        case "=", int():
            return ValueSet(numbers=sets.only(constant))
        case "!=", bool():
            return evolve(PRESENT, booleans=BOOLEANS - {constant}, missing=True)
        case "!=", str():
            return evolve(PRESENT, strings=string_set.all_but(constant), missing=True)
        case "!=", int():
            return evolve(PRESENT, numbers=sets.all_but(constant), missing=True)
        case "absent", None:
            return ValueSet(missing=True)
        case "whatever", None:
            return PRESENT.or_missing()
    raise FilterError(f"operator {operator} is not for this")


LOOSE = PredicateDialect("loose", meaning, reading=number_where_it_reads_as_one)


def test_it_is_a_dialect() -> None:
    assert isinstance(LOOSE, Dialect)


@pytest.mark.parametrize(
    ("event", "expected"), [({}, True), ({"x": "5"}, False), ({"x": 5}, False), ({"x": "a"}, True), ({"x": True}, True)]
)
def test_unequal_is_the_negation_of_equal(event: dict[str, object], expected: bool) -> None:
    five = LOOSE.event(event)
    assert isinstance(five, Attributes)
    assert LOOSE.parse([["x", "!=", 5]]).matches(five) is expected
    assert LOOSE.parse([["x", "=", "5"]]).matches(five) is not expected


def test_a_missing_attribute_takes_part_in_every_question() -> None:
    not_five, absent, anything = (
        LOOSE.parse(raw) for raw in ([["x", "!=", 5]], [["x", "absent"]], [["x", "whatever"]])
    )
    assert not_five.covers(absent)
    assert not_five.covers(LOOSE.parse([["x", "=", "a"]]))
    assert not not_five.covers(LOOSE.parse([["y", "=", 1]]))
    assert not_five.overlaps(LOOSE.parse([["x", "!=", 6]]))
    assert not_five.overlaps(absent)
    assert absent.overlaps(LOOSE.parse([["x", "!=", "5"], ["y", "=", 1]]))
    assert not absent.overlaps(LOOSE.parse([["x", "=", 5]]))
    assert anything == LOOSE.parse([])
    assert anything.covers(LOOSE.parse([["y", "=", 1]]))
    assert anything.to_json() == [["x", "whatever"]]


def test_constants_keep_their_types_in_json() -> None:
    raw = [["x", "!=", True], ["x", "!=", 1], ["x", "!=", "1"]]
    assert LOOSE.parse([*raw, ["x", "!=", 1.0]]).to_json() == raw
    assert LOOSE.parse(LOOSE.parse(raw).to_json()) == LOOSE.parse(raw)


def test_refusals_are_shared() -> None:
    with pytest.raises(FilterError, match=r"^the filter matches nothing: 'x' cannot be absent and = \"5\"$"):
        LOOSE.parse([["x", "absent"], ["x", "=", "5"]])
    with pytest.raises(FilterError, match=r"^predicate 1: operator ~ is not for this$"):
        LOOSE.parse([["x", "~", 1]])
