"""The bench of the broker: what it measures is what it says, and the aim is reached only where it is."""

import pytest

from routeproof.checker.experiments.bench import Row
from routeproof.checker.experiments.bench.broker import FILTERS, SECONDS, measure, with_aim, with_growth
from routeproof.impl.workloads.stock import HIGH, LOW, MEDIUM, quotes
from routeproof.impl.workloads.workload import stream
from routeproof.model.filters import STRICT
from routeproof.model.instance import POLICIES
from routeproof.model.pruning.vocabulary import PRUNING


@pytest.mark.parametrize("policy", [*POLICIES, *PRUNING])
@pytest.mark.parametrize("filters", FILTERS)
def test_a_row(policy: str, filters: str) -> None:
    row = measure(policy, filters, 300, 50)
    assert (row["policy"], row["filters"], row["table"]) == (policy, filters, 300)
    assert row["subscriptions/s"] > 0
    assert row["withdrawals/s"] > 0
    assert row["publications/s"] > 0


def test_filters_are_alike_or_not() -> None:
    alike, distinct = (measure("none", filters, 3000, 50)["different"] for filters in ("alike", "distinct"))
    assert alike <= 1200
    assert distinct == 3000


@pytest.mark.parametrize("rate", [LOW, MEDIUM, HIGH])
def test_distinct_filters_match_about_what_those_of_the_paper_do(rate: str) -> None:
    drawn, random = quotes("AAAA", stream(0, "quotes")), stream(0, "filters")
    events = [STRICT.event(next(drawn)) for _ in range(2000)]
    alike, distinct = (
        sum(STRICT.parse(make("AAAA", rate, random)).matches(event) for event in events) / len(events)
        for make in FILTERS.values()
    )
    assert distinct == pytest.approx(alike, abs=0.05)


@pytest.mark.parametrize(("seconds", "reached"), [(SECONDS - 1, True), (SECONDS, False)])
def test_the_aim_is_that_of_the_whole_workload(seconds: float, reached: bool) -> None:
    rows: list[Row] = [{"messages/s": 100, "seconds": 9999}, {"messages/s": 50, "seconds": seconds}]
    first, last = with_aim(rows)
    assert first["aims"] == ""
    assert (first["ratio"], last["ratio"]) == (1.0, 0.5)
    assert last["aims"] == f"under 300 s: {'reached' if reached else 'NOT reached'}"


def test_growth_is_that_of_speed() -> None:
    kinds = ("subscriptions/s", "withdrawals/s", "publications/s")
    rows = with_growth([dict.fromkeys(kinds, 100), dict.fromkeys(kinds, 25)])
    assert [row["publications/s ratio"] for row in rows] == [1.0, 0.25]
