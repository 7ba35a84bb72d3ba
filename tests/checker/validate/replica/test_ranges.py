"""Columns of floats say what the value sets themselves say, or that they cannot say."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.checker.validate.fast.buckets import Bounds, Columns, bounds, own_float, point
from routeproof.model.filters.interface import exact
from routeproof.model.filters.sets import ANYTHING, BOOLEANS, PRESENT, NumberSet, ValueSet, above, below, only

quick = settings(derandomize=True, max_examples=300, deadline=None)

floats = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from((0.1, 0.5, 1.0, 5e-324, -5e-324, 1.7976931348623157e308, 1.0000000000000002, 2.0**53)),
)


@quick
@given(floats, floats)
def test_own_floats_are_in_the_order_of_their_numbers(one: float, other: float) -> None:
    assert own_float(exact(one)) == one
    assert (exact(one) < exact(other)) == (one < other)


@pytest.mark.parametrize(
    "number", [2**53 + 1, -(2**53) - 1, 10**400, -(10**400), Fraction(1, 3), Fraction(1, 10**400), 10**23 + 1]
)
def test_some_numbers_have_no_float_of_their_own(number: int | Fraction) -> None:
    assert own_float(number) is None
    assert bounds(ValueSet(numbers=above(number, inclusive=True))) is None
    assert bounds(ValueSet(numbers=below(number, inclusive=False))) is None
    assert point(number) is None


@pytest.mark.parametrize(
    "values",
    [
        PRESENT,
        ANYTHING,
        ValueSet(booleans=BOOLEANS),
        ValueSet(NumberSet(), booleans=BOOLEANS),
        ValueSet(NumberSet(), missing=True),
        ValueSet(NumberSet(low=1, low_open=False, whole=True)),
        ValueSet(NumberSet(whole=True)),
        ValueSet(NumberSet(holes=frozenset((1,)))),
    ],
)
def test_what_is_no_range_has_no_bounds(values: ValueSet) -> None:
    assert bounds(values) is None


def test_what_is_no_number_is_no_point() -> None:
    assert point("1") is point(True) is None
    assert point(1) == bounds(ValueSet(numbers=only(1))) == ((1.0, False), (-1.0, False))


ends = st.sampled_from((0, 1, 2, Fraction(1, 10), Fraction(1, 2), exact(5e-324), exact(1.0000000000000002), 2**53))


@st.composite
def ranges(draw: st.DrawFn) -> ValueSet:
    numbers: NumberSet | None = NumberSet()
    for side in (above, below):
        if draw(st.booleans()) and numbers is not None:
            numbers = numbers.intersect(side(draw(ends), inclusive=draw(st.booleans())))
    return ValueSet(numbers=numbers or only(draw(ends)))


def row(these: tuple[ValueSet, ...]) -> list[Bounds]:
    found = [bounds(each) for each in these]
    return [each for each in found if each is not None]


@quick
@given(
    st.lists(st.tuples(ranges(), ranges()), min_size=1, max_size=40),
    st.tuples(ranges(), ranges()),
    st.tuples(st.booleans(), st.booleans()),
    st.tuples(ends, ends),
    st.lists(st.integers(0, 39), max_size=40),
)
def test_columns_say_what_value_sets_say(
    kept: list[tuple[ValueSet, ValueSet]],
    asked: tuple[ValueSet, ValueSet],
    about: tuple[bool, bool],
    event: tuple[int, int],
    removed: list[int],
) -> None:
    columns = Columns(2)
    for each in kept:
        columns.append(row(each))
    for at in removed:
        if at < len(kept) - 1:
            columns.remove(at)
            kept[at] = kept.pop()
    question = [ends if of_this else None for ends, of_this in zip(row(asked), about, strict=True)]
    pairs = [[(mine, q) for mine, q, of_this in zip(each, asked, about, strict=True) if of_this] for each in kept]
    assert columns.covering(question).tolist() == [all(q.within(mine) for mine, q in both) for both in pairs]
    assert columns.covered(question).tolist() == [all(mine.within(q) for mine, q in both) for both in pairs]
    assert columns.overlapping(question).tolist() == [all(mine.overlaps(q) for mine, q in both) for both in pairs]
    there = [point(value) for value in event]
    assert columns.covering(there).tolist() == [
        all(value in mine for mine, value in zip(each, event, strict=True)) for each in kept
    ]


def test_columns_grow() -> None:
    columns = Columns(1)
    for n in range(100):
        columns.append([((float(n), n % 2 == 0), (-math.inf, True))])
    assert columns.covering([point(50)]).tolist() == [n < 50 for n in range(100)]
