"""What the bench of validation says of its aims: reached only where they are."""

import pytest

from routeproof.checker.experiments.bench import Row
from routeproof.checker.experiments.bench.validation import FAST, FAST_CHURN, FLAT, at_least, with_aims


def rows(rate: int, short: int, long: int) -> list[Row]:
    return [{"events/cpu s": rate // 2, "peak MB": short, "aims": ""}, {"events/cpu s": rate, "peak MB": long}]


@pytest.mark.parametrize("wanted", [*FAST.values(), FAST_CHURN])
@pytest.mark.parametrize(("long", "flat"), [(95, True), (round(100 * FLAT), True), (111, False), (300, False)])
@pytest.mark.parametrize(("short_of", "fast"), [(0, True), (1, False)])
def test_aims_are_reached_or_not(wanted: int, long: int, flat: bool, short_of: int, fast: bool) -> None:
    first, last = with_aims(rows(wanted - short_of, 100, long), wanted)
    assert first["aims"] == ""
    assert last["MB ratio"] == long / 100
    speed, memory = last["aims"].split("; ")
    assert speed.endswith("NOT reached") != fast
    assert memory.endswith("NOT reached") != flat


@pytest.mark.parametrize(("ratio", "reached"), [(1.59, False), (1.6, True), (2.0, True)])
def test_the_last_of_a_group_against_the_first(ratio: float, reached: bool) -> None:
    first, last = at_least(1.6, "times one core", [{"ratio": 1.0, "aims": ""}, {"ratio": ratio, "aims": ""}])
    assert first["aims"] == ""
    assert last["aims"] == f"1.6 times one core: {'reached' if reached else 'NOT reached'}"
