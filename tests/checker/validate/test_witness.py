"""A witness is a publication that some filters match and others do not; where there is one, it is mostly found."""

from collections.abc import Sequence

import pytest
from hypothesis import given

from routeproof.checker.validate.broker.witness import witness
from routeproof.model.filters import EVENTS, STRICT, Filter
from tests.impl.filters import predicate_filters

CASES: tuple[tuple[Sequence[list[list[object]]], Sequence[list[list[object]]]], ...] = (
    ([[["x", ">", 10]]], []),
    ([[["x", ">", 10]], [["x", "<", 12], ["x", "integer"]]], []),
    ([[["x", ">", 10]]], [[["x", ">", 20]]]),
    ([[["x", ">=", 10]]], [[["x", ">", 10]]]),
    ([[["x", ">", 10], ["x", "<", 11]]], [[["x", "=", 10.25]]]),
    ([[["class", "=", "STOCK"]]], [[["class", "=", "STOCK"], ["volume", ">", 1000]]]),
    ([[["class", "prefix", "ST"]]], [[["class", "=", "STOCK"]], [["class", "=", "ST"]]]),
    ([[["word", "suffix", "ing"], ["word", "contains", "ou"]]], []),
    ([[["ok", "=", True]]], [[["ok", "=", 1]]]),
    ([[["x", "present"]], [["y", "!=", 3]]], [[["x", "integer"]]]),
    ([[]], [[["x", "present"]]]),
)


@pytest.mark.parametrize(("inside", "outside"), CASES)
def test_a_witness_is_found(inside: Sequence[list[list[object]]], outside: Sequence[list[list[object]]]) -> None:
    in_them, not_in_them = [STRICT.parse(raw) for raw in inside], [STRICT.parse(raw) for raw in outside]
    found = witness(in_them, not_in_them)
    assert found is not None
    assert all(f.matches(found) for f in in_them)
    assert not any(f.matches(found) for f in not_in_them)


def test_of_sets_of_events_it_is_the_least() -> None:
    one, other = EVENTS.parse([1, 2, 5]), EVENTS.parse([2, 5, 7])
    assert witness([one, other]) == 2
    assert witness([one, other], [EVENTS.parse([2])]) == 5
    assert witness([one, other], [EVENTS.parse([2, 5])]) is None


def test_there_is_none_where_filters_cover_each_other() -> None:
    wide, narrow = STRICT.parse([["x", ">", 1]]), STRICT.parse([["x", ">", 2]])
    assert witness([narrow], [wide]) is None
    assert witness([STRICT.parse([["x", "<", 1]]), wide]) is None


@given(predicate_filters(), predicate_filters(), predicate_filters())
def test_a_witness_is_one(one: Filter, other: Filter, third: Filter) -> None:
    found = witness([one, other], [third])
    if found is not None:
        assert one.matches(found)
        assert other.matches(found)
        assert not third.matches(found)
        assert one.overlaps(other)
        assert not third.covers(one)
