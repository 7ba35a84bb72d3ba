"""`stock`: a publisher for each stock, and subscribers that want some, half or all of its quotes (004 V-A).

`random` spreads all subscribers of a stock over the same number of random brokers; `enterprise` puts those who want
everything on one broker, the main office, and the others on the branches.

Stock quotes as 004 publishes and subscribes to them: drawn, since the data set of the paper is not at hand.

`Quotes` draws what one stock did, day after day; `wanted` is a subscription of one of the three rates. The two
conditions of subscriptions hold for a tenth and for a half of the quotes, independently of each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from random import Random
from typing import Self

from attrs import evolve, frozen

from routeproof.impl.simulator import MILLISECOND, TimedOperation
from routeproof.impl.workloads.workload import (
    Drawing,
    Predicates,
    Workload,
    assumed,
    at_least,
    balanced,
    by_root,
    drawn,
    given,
    stream,
)
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import Node

LOW, MEDIUM, HIGH = "low", "medium", "high"

SWING = 0.15
"""Low subscriptions want a highLow%Diff above this: about 10 % of the quotes."""
VOLUME = 1_000_000
MOVE = 0.025
"""Medium subscriptions want a volume and an openClose%Diff above these: about 50 % of the quotes."""

MOST = 0.12
"""Largest openClose%Diff: such a move fits into a day that does not swing."""

LOW_SHARE = 0.1
MEDIUM_SHARE = 0.5

FIRST_DAY = date(1996, 9, 5)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def wanted(symbol: str, rate: str) -> Predicates:
    """The three templates of 004 V-A."""
    conditions: dict[str, Predicates] = {
        LOW: [["highLow%Diff", ">", SWING]],
        MEDIUM: [["volume", ">", VOLUME], ["openClose%Diff", ">", MOVE]],
        HIGH: [],
    }
    return [*promised(symbol), *conditions[rate]]


def promised(symbol: str) -> Predicates:
    return [["class", "=", "STOCK"], ["symbol", "=", symbol]]


def symbol(number: int) -> str:
    """AAAA, AAAB, ...: a name of four letters for each stock."""
    letters = ""
    for _ in range(4):
        number, letter = divmod(number, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def quotes(symbol: str, random: Random) -> Iterator[dict[str, object]]:
    """Without end; one trading day each. Prices in cents follow from the two differences, which are drawn first."""
    day = FIRST_DAY
    opening = random.uniform(10, 100)
    while True:
        busy = random.random() < MEDIUM_SHARE
        volume, move = _busy(random) if busy else _quiet(random)
        swings = random.random() < LOW_SHARE
        # A swing is never smaller than the move from open to close; in percent of the low price it is a little more.
        swing = random.uniform(SWING + 0.001, 2 * SWING) if swings else random.uniform(move / (1 - move), SWING)
        closing = opening * (1 + move * random.choice((-1, 1)))
        yield _quote(symbol, day, opening, closing, swing, volume, move, random)
        opening = closing if 5 < closing < 500 else random.uniform(10, 100)
        day += timedelta(days=3 if day.weekday() == 4 else 1)


def _busy(random: Random) -> tuple[int, float]:
    return random.randrange(VOLUME + 100, 10 * VOLUME, 100), random.uniform(MOVE + 0.001, MOST)


def _quiet(random: Random) -> tuple[int, float]:
    """Not both: either few were sold, or the price stayed where it was."""
    if random.random() < 0.5:
        return random.randrange(1_000, VOLUME + 1, 100), random.uniform(0, MOST)
    return random.randrange(1_000, 10 * VOLUME, 100), random.uniform(0, MOVE)


def _quote(
    symbol: str, day: date, opening: float, closing: float, swing: float, volume: int, move: float, random: Random
) -> dict[str, object]:
    """The range from low to high is laid around open and close; what is left over goes to either side, or to both."""
    bottom, top = min(opening, closing), max(opening, closing)
    # The lowest that the low can be is where high = top, and high / low = 1 + swing.
    low = bottom - max(0.0, bottom - top / (1 + swing)) * random.choice((0.0, random.random(), 1.0))
    high = max(top, low * (1 + swing))
    return {
        "class": "STOCK",
        "symbol": symbol,
        "open": round(opening, 2),
        "high": round(high, 2),
        "low": round(low, 2),
        "close": round(closing, 2),
        "volume": volume,
        "date": f"{day.day}-{MONTHS[day.month - 1]}-{day.year % 100:02}",
        "openClose%Diff": round(move, 4),
        "highLow%Diff": round(swing, 4),
        "closeEqualsLow": str(round(closing, 2) == round(low, 2)).lower(),
        "closeEqualsHigh": str(round(closing, 2) == round(high, 2)).lower(),
    }


@frozen
class Stock:
    brokers: int = given(63, "004 V-B", "brokers in a balanced tree")
    fan_out: int = given(2, "004 V-A", "of the tree; 4 in other runs of the paper")
    publishers: int = assumed(40, "publishers, each of one stock, at random brokers")
    subscribers: int = assumed(100, "subscriptions to each stock")
    spread: int = given(16, "004 V-B", "brokers over which a stock's subscribers are spread (X in the paper)")
    low: float = given(0.70, "004 V-A", "share of subscribers that want about a tenth of the quotes")
    medium: float = given(0.25, "004 V-A", "share that wants about half; the rest wants all")
    office: int = assumed(0, "1: those who want all are at one broker, for all stocks the same")
    subscription_interval_ms: int = assumed(50, "between two subscriptions")
    settle_ms: int = assumed(10_000, "from the last subscription to the first publication")
    publication_interval_ms: int = assumed(1_000, "between two quotes of one stock")
    run_ms: int = given(1_080_000, "004 V-B", "from the first publication to the last: 18 minutes")
    look_ms: int = assumed(1_000, "between two samples of the metrics")

    @property
    def about(self) -> str:
        spread = "enterprise" if self.office else "random"
        return f"Quotes of {self.publishers} stocks on {self.brokers} brokers; {spread} distribution of subscribers."

    def scaled(self, scale: float) -> Self:
        """Fewer stocks, fewer subscribers each, and a shorter run, on the same overlay."""
        return evolve(
            self,
            publishers=at_least(1, by_root(self.publishers, scale)),
            subscribers=at_least(1, by_root(self.subscribers, scale)),
            run_ms=at_least(1, by_root(self.run_ms, scale)),
        )

    def workload(self, seed: int) -> Workload:
        watched = {1: "root", **{b: f"below {b}" for b in range(2, 2 + self.fan_out) if b <= self.brokers}}
        return drawn(self, balanced(self.brokers, self.fan_out), lambda: _Drawn(self, seed), watched)


@frozen
class StockEnterprise(Stock):
    """The other distribution of the same workload."""

    low: float = given(0.95, "004 V-A", "share of subscribers that want about a tenth of the quotes")
    medium: float = given(0.0, "004 V-A", "share that wants about half; the rest wants all")
    office: int = given(1, "004 V-A", "1: those who want all are at one broker, for all stocks the same")


class _Drawn(Drawing[Stock]):
    def __init__(self, recipe: Stock, seed: int) -> None:
        super().__init__(recipe, seed)
        self.all_brokers = range(1, recipe.brokers + 1)
        self.office = stream(seed, "office").choice(self.all_brokers) if recipe.office else None

    def advertised(self) -> Iterator[tuple[Node, Advertisement]]:
        return self.publishers_at(self.all_brokers, (promised(symbol(n)) for n in range(self.recipe.publishers)))

    def subscribed(self) -> Iterator[tuple[Node, Subscription]]:
        """Subscribers of all stocks in random order."""
        random = stream(self.seed, "subscribers")
        clients = [
            (broker, wanted(symbol(n), rate))
            for n in range(self.recipe.publishers)
            for broker, rate in self._homes(random)
        ]
        random.shuffle(clients)
        return ((broker, self.ids.subscription(predicates)) for broker, predicates in clients)

    def _homes(self, random: Random) -> Iterator[tuple[Node, str]]:
        """Broker and rate of each subscriber to one stock."""
        recipe = self.recipe
        # Rounded down: however few there are, one client subscribes to all. (The tiny number: 0.7 * 10 may be below 7.)
        low, medium = (int(recipe.subscribers * share + 1e-9) for share in (recipe.low, recipe.medium))
        branches = [broker for broker in self.all_brokers if broker != self.office] or list(self.all_brokers)
        spread = random.sample(branches, max(1, min(recipe.spread - recipe.office, len(branches))))
        for n in range(recipe.subscribers):
            rate = LOW if n < low else MEDIUM if n < low + medium else HIGH
            yield self.office if self.office and rate == HIGH else random.choice(spread), rate

    def settled(self, first: int) -> Iterable[Iterator[TimedOperation]]:
        return [self._publish(first)]

    def _publish(self, first: int) -> Iterator[TimedOperation]:
        """One quote of each stock in every interval, evenly spaced."""
        interval = self.recipe.publication_interval_ms * MILLISECOND
        many = len(self.publishers)
        stocks = [quotes(symbol(n), stream(self.seed, f"quotes {n}")) for n in range(many)]
        for begin in range(first, first + self.recipe.run_ms * MILLISECOND, interval):
            for n, (publisher, stock) in enumerate(zip(self.publishers, stocks, strict=True)):
                yield self.published(begin + n * interval // many, publisher, next(stock))
