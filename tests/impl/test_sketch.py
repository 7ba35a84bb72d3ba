"""Sketches never say anything but the truth, and say it often enough to be worth having."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings

from routeproof.impl.index.profile import encloses, meets, profile_of, sketch_of, spans_of
from routeproof.model.filters import STRICT, Attributes, Event, EventSet, Filter, PredicateFilter, string_set
from routeproof.model.filters.interface import exact
from routeproof.model.filters.sets import ValueSet
from routeproof.model.filters.string_set import StringRange, StringSet
from tests.impl.filters import LAST, LONG, NUMBERS, WORDS, predicate_filters, single_conditions, tables

many = settings(derandomize=True, max_examples=1500, deadline=None)


@many
@given(predicate_filters(), predicate_filters())
def test_what_a_sketch_says_of_two_filters_is_true(one: Filter, other: Filter) -> None:
    mine, theirs = profile_of(one), profile_of(other)
    assert encloses(mine.sketch, theirs.sketch.spans) in (None, one.covers(other))
    assert meets(mine.sketch, theirs.sketch) in (None, one.overlaps(other))
    assert meets(mine.sketch, theirs.sketch) == meets(theirs.sketch, mine.sketch)
    assert mine.covers(theirs) == one.covers(other)
    assert mine.overlaps(theirs) == one.overlaps(other)


@many
@given(predicate_filters(), tables())
def test_what_a_sketch_says_of_an_event_is_true(asked: Filter, event: Event) -> None:
    assert encloses(profile_of(asked).sketch, spans_of(event)) in (None, asked.matches(event))


def test_what_a_sketch_says_of_any_two_conditions_is_true() -> None:
    filters = single_conditions()
    for one, other in product(filters, filters):
        mine, theirs = profile_of(one), profile_of(other)
        assert encloses(mine.sketch, theirs.sketch.spans) in (None, one.covers(other)), (str(one), str(other))
        assert meets(mine.sketch, theirs.sketch) in (None, one.overlaps(other)), (str(one), str(other))


def test_a_word_of_a_set_is_in_it() -> None:
    """Whatever the ends: high ends that begin with the low one, holes, endings and parts."""
    words = ("", "\0", "a", "a\0", "a\0\0b", "a\0b", "ab", LAST, "a" + LAST)
    parts = [string_set.containing(part) for part in ("b", "\0")] + [string_set.suffixed("b\0"), string_set.ALL_STRINGS]
    drawn = 0
    for low, high in product(words, (*words, None)):
        if high is not None and not low < high:
            continue
        between = StringSet(StringRange(low, high))
        for hole, part in product(words, parts):
            left = between.intersect(string_set.all_but(hole))
            allowed = None if left is None else left.intersect(part)
            if allowed is not None:
                word = sketch_of(PredicateFilter((("x", ValueSet(strings=allowed)),), ())).spans["x"].word
                assert word is not None
                assert word in allowed
                drawn += 1
    assert drawn > 1000
    assert sketch_of(STRICT.parse([["x", "present"]])).spans["x"].word is None, "it may be a number"


def test_values_stand_on_the_line_in_order() -> None:
    """Each kind in its own order, rounded but never swapped, and apart from the other kinds."""
    points: list[int] = []
    for values in ((False, True), sorted(map(exact, NUMBERS)), sorted(WORDS)):
        of_kind = [spans_of(Attributes.of({"x": value}))["x"].lo for value in values]
        assert of_kind == sorted(of_kind)
        assert points[-1:] < of_kind[:1]
        points += of_kind


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ([["x", ">", 1]], [["x", ">", 2]], True),
        ([["x", ">", 2]], [["x", ">", 1]], False),
        ([["x", ">", 1]], [["x", "=", 2], ["y", "=", "a"]], True),
        ([["x", "prefix", "a"]], [["x", "=", "ab"]], True),
        ([["x", "prefix", "b"]], [["x", "=", "ab"]], False),
        ([["x", "=", True]], [["x", "=", True]], True),
        ([["x", "=", True]], [["x", "=", 1]], False),
        ([["x", "present"]], [["x", "contains", "a"]], True),
        ([["x", "<", "b"]], [["x", "<", 1]], False),
        ([["x", "=", "a"]], [], False),
        ([], [["x", "suffix", "a"]], True),
        # Too close, or more than a span can say: the filters are asked.
        ([["x", ">", 1]], [["x", ">=", 1]], None),
        ([["x", ">", 2**53]], [["x", "=", 2**53 + 1]], None),
        ([["x", "integer"]], [["x", "=", 2]], None),
        ([["x", "prefix", LONG + "a"]], [["x", "=", LONG + "b"]], None),
    ],
)
def test_what_is_certain(wide: object, narrow: object, expected: bool | None) -> None:
    one, other = STRICT.parse(wide), STRICT.parse(narrow)
    assert encloses(profile_of(one).sketch, profile_of(other).sketch.spans) is expected
    assert expected in (None, one.covers(other))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([["x", ">", 1], ["y", "=", "a"]], [["x", "<", 2]], True),
        ([["x", ">", 2]], [["x", "<", 1]], False),
        ([["x", "=", "a"]], [["x", "=", "b"]], False),
        ([["x", ">", 1]], [["x", "=", 2]], True),
        ([["x", ">", 1]], [["x", ">", "a"]], False),
        ([["x", "=", "a"]], [["y", "=", "b"]], True),
        ([["x", ">=", 1]], [["x", "<=", 1]], None),
        ([["x", "!=", 1]], [["x", "<", 5]], None),
    ],
)
def test_what_certainly_meets(one: object, other: object, expected: bool | None) -> None:
    mine, theirs = STRICT.parse(one), STRICT.parse(other)
    assert meets(profile_of(mine).sketch, profile_of(theirs).sketch) is expected
    assert expected in (None, mine.overlaps(theirs))


def test_equal_filters_have_one_profile_as_long_as_it_is_used() -> None:
    one = profile_of(STRICT.parse([["x", ">", 1], ["x", "integer"]]))
    assert profile_of(STRICT.parse([["x", ">=", 2], ["x", "integer"]])) is one
    assert profile_of(EventSet.of([1])) is not one
