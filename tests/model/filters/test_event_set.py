"""Sets of event numbers: the laws of sets, and what is refused."""

import pickle
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.model.filters import EVENTS, STRICT, EventSet, Filter, FilterError

numbers = st.sets(st.integers(0, 6), min_size=1)
sets = settings(derandomize=True, max_examples=200, deadline=None)


@sets
@given(numbers, numbers)
def test_it_is_a_set(one: set[int], other: set[int]) -> None:
    f, g = EventSet.of(one), EventSet.of(other)
    assert f.covers(g) == (one >= other)
    assert f.overlaps(g) == g.overlaps(f) == bool(one & other)
    assert (f == g) == (one == other)
    assert [event for event in range(-1, 9) if f.matches(event)] == sorted(one)


@sets
@given(numbers)
def test_it_survives_json_and_another_process(events: set[int]) -> None:
    f = EventSet.of(events)
    assert EventSet.of(f.to_json()) == EVENTS.parse(f.to_json()) == pickle.loads(pickle.dumps(f)) == f
    assert f.to_json() == sorted(events)


def test_what_it_looks_like() -> None:
    f = EventSet.of([3, 1, 3])
    assert f.mask == 0b1010
    assert f.events == (1, 3)
    assert str(f) == "{1,3}"
    assert f == EventSet(0b1010)
    assert isinstance(f, Filter)
    assert EVENTS.event(3) == 3


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([], "a set of events: found an empty list; expected at least one event number"),
        (5, "a set of events: found 5; expected a list of event numbers"),
        ("01", 'a set of events: found "01"; expected a list of event numbers'),
        ({0: 1}, "a set of events: found a table; expected a list of event numbers"),
        ([True], "an event: found true; expected a whole number from 0 to 4095"),
        ([1.0], "an event: found 1.0; expected a whole number from 0 to 4095"),
        ([-1], "an event: found -1; expected a whole number from 0 to 4095"),
        ([4096], "an event: found 4096; expected a whole number from 0 to 4095"),
        ([10**5000], "an event: found an integer of 16610 bits; expected a whole number from 0 to 4095"),
        ([[0]], "an event: found a list; expected a whole number from 0 to 4095"),
        (range(4097), "a set of events: found 4097 of them; expected at most 4096"),
        (range(10**15), "a set of events: found 1000000000000000 of them; expected at most 4096"),
    ],
)
def test_what_is_refused(raw: object, message: str) -> None:
    with pytest.raises(FilterError) as refusal:
        EVENTS.parse(raw)
    assert str(refusal.value) == message


def test_the_largest_set() -> None:
    assert EVENTS.parse(range(4096)).mask == (1 << 4096) - 1


@pytest.mark.parametrize("mask", [0, -1, 1 << 4096, True, "1"])
def test_a_mask_is_checked_too(mask: int) -> None:
    with pytest.raises(FilterError, match=r"expected at least one event from 0 to 4095$"):
        EventSet(mask)


def test_the_two_kinds_of_filters_are_not_compared() -> None:
    numbered, predicate = EventSet.of([0]), STRICT.parse([])
    questions: list[Callable[[], object]] = [
        lambda: numbered.covers(predicate),
        lambda: numbered.overlaps(predicate),
        lambda: numbered.matches(STRICT.event({})),
        lambda: predicate.covers(numbered),
        lambda: predicate.overlaps(numbered),
        lambda: predicate.matches(0),
    ]
    for question in questions:
        with pytest.raises(FilterError, match=r"; expected "):
            question()
