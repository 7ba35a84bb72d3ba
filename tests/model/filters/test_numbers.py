"""Conjunctions of number predicates against all the numbers that can tell them apart.

The constants are multiples of a half from -2 to 2. They cut the line into points and open intervals. Each of
these, and the whole numbers among each, is empty or holds a multiple of a quarter from -5 to 5: those decide.
"""

import operator
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.model.filters import STRICT, FilterError, PredicateFilter
from routeproof.model.filters.sets import NumberSet, above, all_but, below, only

Condition = tuple[str] | tuple[str, float]

WITNESSES = [quarters / 4 for quarters in range(-20, 21)]
COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

constants = st.integers(-4, 4).map(lambda halves: halves // 2 if halves % 2 == 0 else halves / 2)
comparisons = st.tuples(st.sampled_from([*COMPARE, "!=", "!="]), constants)
conjunctions = st.lists(comparisons | comparisons | st.just(("integer",)), max_size=5)
numbers = settings(derandomize=True, max_examples=500, deadline=None)


def admitted(conjunction: Sequence[Condition]) -> set[float]:
    def admits(number: float, condition: Condition) -> bool:
        return number == int(number) if len(condition) == 1 else COMPARE[condition[0]](number, condition[1])

    return {number for number in WITNESSES if all(admits(number, condition) for condition in conjunction)}


def parse(conjunction: Sequence[Condition]) -> PredicateFilter | None:
    try:
        # Asking for a number, whichever, keeps an empty conjunction from letting everything through.
        return STRICT.parse([["x", "<", 10**9], *(["x", *condition] for condition in conjunction)])
    except FilterError:
        return None


@numbers
@given(conjunctions)
def test_matches_and_satisfiability(mine: Sequence[Condition]) -> None:
    f = parse(mine)
    assert (f is not None) == bool(admitted(mine))
    if f is not None:
        assert {number for number in WITNESSES if f.matches(STRICT.event({"x": number}))} == admitted(mine)


@numbers
@given(conjunctions, conjunctions)
def test_covers_overlaps_and_equality(mine: Sequence[Condition], others: Sequence[Condition]) -> None:
    f, g = parse(mine), parse(others)
    both = parse([*mine, *others])
    if f is None or g is None:
        return
    assert f.covers(g) == (admitted(mine) >= admitted(others))
    assert f.overlaps(g) == g.overlaps(f) == bool(admitted(mine) & admitted(others)) == (both is not None)
    assert (f == g) == (admitted(mine) == admitted(others))
    assert both is None or (f.covers(both) and g.covers(both))


@numbers
@given(conjunctions, conjunctions)
def test_more_predicates_cover_less(mine: Sequence[Condition], others: Sequence[Condition]) -> None:
    f, both = parse(mine), parse([*mine, *others])
    assert both is None or (f is not None and f.covers(both))


@pytest.mark.parametrize(
    ("written", "same"),
    [
        (2, 2.0),
        (0.1, 0.10000000000000001),  # the same float: what was written is already gone
        (1e300, 10**300),  # the decimal, not the nearest binary number
        (-0.0, 0),
        (1e-5, 0.00001),
    ],
)
def test_numbers_that_are_the_same(written: float, same: float) -> None:
    assert STRICT.parse([["x", "=", written]]) == STRICT.parse([["x", "=", same]])
    assert STRICT.parse([["x", "=", written]]).matches(STRICT.event({"x": same}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (2**53 + 1, float(2**53)),
        (0.1, 0.1 + 2**-54),
        (10**300, 10**300 + 1),
        (0, 5e-324),
        (0.1 + 0.2, 0.3),
    ],
)
def test_numbers_that_are_not(one: float, other: float) -> None:
    f = STRICT.parse([["x", "=", one]])
    assert f != STRICT.parse([["x", "=", other]])
    assert not f.matches(STRICT.event({"x": other}))
    assert STRICT.parse([["x", "!=", one]]).matches(STRICT.event({"x": other}))


def test_the_normal_form() -> None:
    assert above(1, inclusive=False).intersect(NumberSet(whole=True)) == NumberSet(2, False, whole=True)
    assert above(1, inclusive=True).intersect(all_but(1)) == above(1, inclusive=False)
    assert above(1, inclusive=True).intersect(below(1, inclusive=True)) == only(1) == only(Fraction(1))
    assert above(1, inclusive=True).intersect(below(1, inclusive=False)) is None
    assert all_but(5).intersect(below(5, inclusive=False)) == below(5, inclusive=False)


def test_one_hole_of_several_is_enough() -> None:
    holed = all_but(3).intersect(all_but(20))
    assert holed is not None
    assert not below(10, inclusive=True).within(holed)
    assert below(2, inclusive=True).within(holed)
