"""`stock`: a publisher for each stock, and subscribers that want some, half or all of its quotes (004 V-A).

`random` spreads all subscribers of a stock over the same number of random brokers; `enterprise` puts those who want
everything on one broker, the main office, and the others on the branches.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Self

from attrs import evolve, frozen

from routeproof.impl.costs import MILLISECOND, SECOND
from routeproof.impl.simulator import Operation
from routeproof.impl.workloads.quotes import HIGH, LOW, MEDIUM, promised, quotes, symbol, wanted
from routeproof.impl.workloads.topologies import balanced
from routeproof.impl.workloads.workload import (
    Ids,
    Workload,
    assumed,
    at_least,
    by_root,
    given,
    settings,
    stream,
)
from routeproof.model.messages import Advertise, Advertisement, Publish, Subscribe
from routeproof.model.overlay import Node

START = SECOND


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
        return Workload(
            overlay=balanced(self.brokers, self.fan_out),
            operations=lambda: _Drawn(self, seed).operations(),
            parameters=settings(self),
            watched={1: "root", **{b: f"below {b}" for b in range(2, 2 + self.fan_out) if b <= self.brokers}},
            look_every=self.look_ms * MILLISECOND,
        )


@frozen
class StockEnterprise(Stock):
    """The other distribution of the same workload."""

    low: float = given(0.95, "004 V-A", "share of subscribers that want about a tenth of the quotes")
    medium: float = given(0.0, "004 V-A", "share that wants about half; the rest wants all")
    office: int = given(1, "004 V-A", "1: those who want all are at one broker, for all stocks the same")


class _Drawn:
    def __init__(self, recipe: Stock, seed: int) -> None:
        self.recipe = recipe
        self.seed = seed
        self.ids = Ids()
        self.all_brokers = range(1, recipe.brokers + 1)
        self.office = stream(seed, "office").choice(self.all_brokers) if recipe.office else None

    def operations(self) -> Iterator[Operation]:
        recipe = self.recipe
        random = stream(self.seed, "publishers")
        publishers = [
            (random.choice(self.all_brokers), self.ids.advertisement(promised(symbol(n))))
            for n in range(recipe.publishers)
        ]
        for broker, advertisement in publishers:
            yield Operation(0, broker, Advertise(advertisement))
        yield from self._subscribe()
        many = recipe.publishers * recipe.subscribers
        yield from self._publish(
            publishers, START + (many * recipe.subscription_interval_ms + recipe.settle_ms) * MILLISECOND
        )

    def _subscribe(self) -> Iterator[Operation]:
        """Subscribers of all stocks in random order."""
        random = stream(self.seed, "subscribers")
        clients = [
            (broker, wanted(symbol(n), rate))
            for n in range(self.recipe.publishers)
            for broker, rate in self._homes(random)
        ]
        random.shuffle(clients)
        for n, (broker, predicates) in enumerate(clients):
            time = START + n * self.recipe.subscription_interval_ms * MILLISECOND
            yield Operation(time, broker, Subscribe(self.ids.subscription(predicates)))

    def _homes(self, random: Random) -> Iterator[tuple[Node, str]]:
        """Of one stock's subscribers: broker and rate."""
        recipe = self.recipe
        # Rounded down: however few there are, somebody wants all. (The tiny number: 0.7 * 10 may be below 7.)
        low, medium = (int(recipe.subscribers * share + 1e-9) for share in (recipe.low, recipe.medium))
        branches = [broker for broker in self.all_brokers if broker != self.office] or list(self.all_brokers)
        spread = random.sample(branches, max(1, min(recipe.spread - recipe.office, len(branches))))
        for n in range(recipe.subscribers):
            rate = LOW if n < low else MEDIUM if n < low + medium else HIGH
            yield self.office if self.office and rate == HIGH else random.choice(spread), rate

    def _publish(self, publishers: list[tuple[Node, Advertisement]], first: int) -> Iterator[Operation]:
        """One quote of each stock in every interval, evenly spaced."""
        interval = self.recipe.publication_interval_ms * MILLISECOND
        stocks = [quotes(symbol(n), stream(self.seed, f"quotes {n}")) for n in range(len(publishers))]
        for begin in range(first, first + self.recipe.run_ms * MILLISECOND, interval):
            for n, ((broker, advertisement), stock) in enumerate(zip(publishers, stocks, strict=True)):
                publication = self.ids.publication(advertisement, next(stock))
                yield Operation(begin + n * interval // len(publishers), broker, Publish(publication))
