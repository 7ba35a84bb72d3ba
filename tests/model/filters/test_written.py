"""Numbers that were written as floats, which of several faults is named, and the end of a range over one word."""

from __future__ import annotations

from fractions import Fraction

import pytest

from routeproof.model.filters import string_set
from routeproof.model.filters.interface import FilterError, exact
from routeproof.model.filters.predicate_filter import Predicate, read_attributes


def test_the_number_of_a_float_is_the_one_that_was_written() -> None:
    assert Predicate("x", "=", 0.1).value == Fraction(1, 10)
    assert type(Predicate("x", "=", 2.0).value) is int


def test_the_first_value_that_cannot_be_read_is_named() -> None:
    with pytest.raises(FilterError, match="attribute 'x'"):
        read_attributes({"x": [1], "y": [2]}, lambda value: exact(value) if isinstance(value, float) else value)


def test_the_end_of_a_range_does_not_move_over_a_word_that_the_rest_allows() -> None:
    above = string_set.above("a", inclusive=False).intersect(string_set.containing("a"))
    assert above is not None
    assert ["a" in above, "a\0" in above, "aa" in above, "b" in above] == [False, True, True, False]
