"""Masks, lists of numbers, and counting with masks agree with sets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.checker.validate.fast.bits import Numbers, Tally, in_all_of_theirs, mask_of, numbers_of
from tests.checker.validate.replica.thresholds import SIZES, thresholds

quick = settings(derandomize=True, max_examples=200, deadline=None)
numbers = st.one_of(st.integers(0, 70), st.integers(0, 40_000))


@quick
@given(st.sets(numbers, max_size=60))
def test_a_mask_is_its_numbers(drawn: set[int]) -> None:
    mask = sum(1 << number for number in drawn)
    assert mask_of(list(drawn)) == mask
    assert numbers_of(mask) == sorted(drawn)


@pytest.mark.parametrize("size", SIZES)
def test_numbers_come_and_go(size: str) -> None:
    @quick
    @given(st.lists(numbers, max_size=20, unique=True), st.lists(st.tuples(numbers, st.booleans()), max_size=30))
    def run(first: list[int], changes: list[tuple[int, bool]]) -> None:
        kept, expected = Numbers(first), set(first)
        for number, belongs in changes:
            kept.set(number, belongs)
            (expected.add if belongs else expected.discard)(number)
            assert kept.mask == sum(1 << each for each in expected)
            assert bool(kept) == bool(expected)
            assert kept.few is None or list(kept.few) == sorted(expected)
            assert kept.few is not None or kept.size >= max(expected, default=0) >> 3

    with thresholds(size):
        run()


@quick
@given(st.lists(st.sets(st.integers(0, 12)), max_size=20), st.dictionaries(st.integers(0, 12), st.integers(0, 20)))
def test_counting(drawn: list[set[int]], totals: dict[int, int]) -> None:
    tally = Tally()
    for number, total in totals.items():
        tally.set(number, 9)
        tally.set(number, total)
    found = in_all_of_theirs([mask_of(list(each)) for each in drawn], tally, mask_of(list(totals)))
    expected = [n for n, total in totals.items() if sum(n in each for each in drawn) == total]
    assert numbers_of(found) == sorted(expected)
