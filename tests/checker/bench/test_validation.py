"""What the bench of validation says of its aims: reached only where they are."""

from pathlib import Path

import pytest

from routeproof.checker.experiments.bench import Row
from routeproof.checker.experiments.bench.validation import (
    FAST,
    FAST_CHURN,
    FLAT,
    at_least,
    lopsided,
    with_aims,
    wrong_deliveries,
)
from routeproof.traces import to_parquet


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


def test_the_reference_finds_lost_and_unwanted_deliveries(tmp_path: Path) -> None:
    pytest.importorskip("polars", reason="the extra `bench` is not installed")
    lines = tmp_path / "trace.jsonl"
    lopsided(lines, 500, 1 / 8, 0)
    rows = lines.read_text().splitlines(keepends=True)
    came = [number for number, row in enumerate(rows) if '"event":"deliver"' in row]
    found = []
    for change in (
        {},
        {came[3]: ""},
        {came[0]: "", came[5]: ""},
        {came[0]: rows[came[0]].replace('"to":"s', '"to":"x')},
    ):
        lines.write_text("".join(change.get(number, row) for number, row in enumerate(rows)))
        to_parquet(lines, tmp_path / "trace.parquet")
        found.append(wrong_deliveries(tmp_path / "trace.parquet"))
    assert found == [0, 1, 2, 2]
