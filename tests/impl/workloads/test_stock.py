"""Stock quotes, as 004 publishes them, and who wants them."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

import pytest

from routeproof.impl.simulator import TimedOperation
from routeproof.impl.workloads.stock import HIGH, LOW, MEDIUM, Stock, StockEnterprise, quotes, symbol, wanted
from routeproof.impl.workloads.workload import stream
from routeproof.model.filters import STRICT
from routeproof.model.overlay import Node
from tests.impl.workloads.reading import constraints, subscribed

TEMPLATE = (
    *("class", "symbol", "open", "high", "low", "close", "volume", "date"),
    *("openClose%Diff", "highLow%Diff", "closeEqualsLow", "closeEqualsHigh"),
)


def test_a_quote_is_one_of_the_template() -> None:
    for quote in islice(quotes("YHOO", stream(0, "test")), 3_000):
        assert tuple(quote) == TEMPLATE
        opening, high, low, closing = (float(str(quote[key])) for key in ("open", "high", "low", "close"))
        assert 0 < low <= min(opening, closing) <= max(opening, closing) <= high
        assert float(str(quote["openClose%Diff"])) == pytest.approx(abs(closing - opening) / opening, abs=0.003)
        assert float(str(quote["highLow%Diff"])) == pytest.approx((high - low) / low, abs=0.006)
        assert quote["closeEqualsLow"] == ("true" if closing == low else "false")
        assert quote["closeEqualsHigh"] == ("true" if closing == high else "false")
    assert next(quotes("YHOO", stream(0, "test")))["date"] == "5-Sep-96"


def test_quotes_sink_as_the_paper_says() -> None:
    events = [STRICT.event(quote) for quote in islice(quotes("YHOO", stream(1, "test")), 5_000)]
    for rate, expected in ((LOW, 0.1), (MEDIUM, 0.5), (HIGH, 1.0)):
        read = STRICT.parse(wanted("YHOO", rate))
        share = sum(read.matches(event) for event in events) / len(events)
        assert share == pytest.approx(expected, abs=0.03 if rate != HIGH else 0), rate
        assert not STRICT.parse(wanted("MSFT", rate)).matches(events[0])


def test_some_closings_are_the_lowest_or_the_highest() -> None:
    drawn = list(islice(quotes("YHOO", stream(2, "test")), 1_000))
    for key in ("closeEqualsLow", "closeEqualsHigh"):
        assert 0.1 < sum(quote[key] == "true" for quote in drawn) / len(drawn) < 0.9


def test_symbols_differ() -> None:
    names = [symbol(n) for n in range(1_000)]
    assert names[:2] == ["AAAA", "AAAB"]
    assert len(set(names)) == 1_000


def rates(operations: Sequence[TimedOperation]) -> dict[tuple[str, str], list[Node]]:
    """Homes of the subscribers of each symbol and rate."""
    sizes = {len(wanted("", rate)): rate for rate in (LOW, MEDIUM, HIGH)}
    found = defaultdict(list)
    for broker, subscription in subscribed(operations):
        written = {name: constant for name, _, constant in constraints(subscription.filter)}
        found[str(written["symbol"]), sizes[len(written)]].append(broker)
    return found


def test_random_distribution() -> None:
    recipe = Stock().scaled(1.0)
    found = rates(list(islice(recipe.workload(0).operations(), 40 + 4_000)))
    for n in range(recipe.publishers):
        homes = {rate: found[symbol(n), rate] for rate in (LOW, MEDIUM, HIGH)}
        assert [len(homes[rate]) for rate in (LOW, MEDIUM, HIGH)] == [70, 25, 5]
        assert len({broker for at in homes.values() for broker in at}) <= recipe.spread


def test_enterprise_distribution() -> None:
    recipe = StockEnterprise().scaled(1.0)
    found = rates(list(islice(recipe.workload(0).operations(), 40 + 4_000)))
    offices = {broker for (_, rate), homes in found.items() if rate == HIGH for broker in homes}
    assert len(offices) == 1
    for n in range(recipe.publishers):
        branches = set(found[symbol(n), LOW])
        assert (len(found[symbol(n), LOW]), len(found[symbol(n), HIGH])) == (95, 5)
        assert len(branches) <= recipe.spread - 1
        assert not branches & offices
