"""Many plain events at once match what each of them matches alone, in the same order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from unittest.mock import patch

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.checker.validate.fast import matches
from routeproof.checker.validate.fast.matches import Plain
from routeproof.checker.validate.fast.universe import Register
from routeproof.model.filters import STRICT, Attributes, Event, Filter, PredicateFilter
from routeproof.model.filters.sets import BOOLEANS, ValueSet
from routeproof.traces.fields import plain_table
from tests.checker.validate.replica.speech import material, ranges_of_numbers
from tests.checker.validate.replica.thresholds import SIZES, thresholds

quiet = settings(derandomize=True, deadline=None, max_examples=150)


def plain(event: Event) -> Plain | None:
    return plain_table(json.dumps(event.to_json()).encode()) if isinstance(event, Attributes) else None


def register(filters: Sequence[Filter], left_out: int = 0) -> Register[tuple[int, Filter]]:
    """Where the filters in a mask have been, and their numbers are others' now."""
    in_use = ~left_out
    found = Register[tuple[int, Filter]](lambda each: each[1], lambda: in_use)
    for each in enumerate(filters):
        found.number(each)
    found._sweep()
    for each in enumerate(filters[::2], len(filters)):
        found.number(each)
    return found


def check(known: Register[tuple[int, Filter]], events: Sequence[Event]) -> None:
    tables = [table for each in events if (table := plain(each)) is not None]
    places, numbers = known.matching_many(tables)
    expected = [(at, number) for at, table in enumerate(tables) for number in known.matching_plain(table)]
    assert list(zip(places.tolist(), numbers.tolist(), strict=True)) == expected
    asked = [event for event in events if plain(event) is not None]
    belong = ((at, n) for (_, f), n in known._numbers.items() for at, event in enumerate(asked) if f.matches(event))
    assert sorted(expected) == sorted(belong)


@pytest.mark.parametrize("size", SIZES)
def test_many_events_match_what_each_matches(size: str) -> None:
    @quiet
    @given(st.one_of(material(), ranges_of_numbers()), st.integers(0, 255))
    def run(drawn: tuple[list[Filter], list[Event]], left_out: int) -> None:
        filters = [each for each in drawn[0] if isinstance(each, PredicateFilter)]
        check(register(filters, left_out), drawn[1] * 2)

    with thresholds(size), patch.object(matches, "PAIRS", 4 if size == "low" else matches.PAIRS):
        run()


def test_a_large_bucket_is_compared_in_columns() -> None:
    """Beside small ones, others that are asked, and one whose attributes do not matter."""
    many = [[["class", "=", "a"], ["price", operator, n / 4]] for n in range(40) for operator in ("<", "<=", ">", ">=")]
    raw = [*many, [["class", "=", "b"], ["price", ">", 3]], [["class", "prefix", "a"]], [], [["price", "=", 5]]]
    values: list[dict[str, object]] = [{"class": c, "price": n / 8} for c in "abc" for n in range(90)]
    values += [{"price": 5}, {"class": "a"}, {"class": "a", "price": "5"}, {"class": "a", "price": True}, {}]
    check(register([STRICT.parse(each) for each in raw]), [STRICT.event(each) for each in values])


def test_filters_that_say_what_they_do_not_mention_are_asked_one_by_one() -> None:
    open_one = STRICT.parse([["a", ">", 1]])
    assert isinstance(open_one, PredicateFilter)
    closed = evolve(open_one, rest=ValueSet(booleans=BOOLEANS, missing=True))
    events = [STRICT.event(each) for each in ({"a": 2}, {"a": 2, "b": 1}, {"a": 2, "b": True}, {"a": 1})]
    known = register([open_one, closed])
    check(known, events)
    assert known.matching_many([])[0].tolist() == []


def test_no_event_matches_nothing() -> None:
    places, numbers = register([STRICT.parse([["a", ">", 1]])]).matching_many([])
    assert (places.tolist(), numbers.tolist()) == ([], [])
