"""`tiered`: regions below one core broker, and monitors that want everything and move about (001 V-F).

Whenever a monitor leaves, what it covered has to be sent in its place. `TieredAll` has the other subscribers move too,
each within its region.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import merge
from typing import Self

from attrs import evolve, frozen

from routeproof.impl.simulation.simulator import MILLISECOND, SECOND, Operation
from routeproof.impl.workloads.workload import (
    Ids,
    Regions,
    Workload,
    assumed,
    at_least,
    by_root,
    given,
    settings,
    stream,
    tiered,
)
from routeproof.model.messages import Advertise, Advertisement, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Node

VALUES = 1_000_000
START = SECOND


@frozen
class Tiered:
    regions: int = given(4, "001 V-F", "regions, with one monitor each at the beginning")
    tiers: int = assumed(4, "from the core broker, the first, to the leaves of the regions")
    fan_out: int = assumed(3, "of the trees that the regions are")
    subscriptions: int = given(5_000, "001 V-F", "at random brokers, monitors not counted")
    publishers: int = given(40, "001 V-F", "publishers at random brokers, which stay; each advertises everything")
    matching: float = assumed(3.0, "the mean number of subscriptions that a publication matches, monitors not counted")
    subscription_interval_ms: int = given(1_500, "001 V-A1", "between two subscriptions")
    settle_ms: int = assumed(10_000, "from the last subscription to the first publication")
    publication_interval_ms: int = given(400, "001 V-A1", "between two publications of any client")
    run_ms: int = given(21_600_000, "001 V-F", "from the first publication to the last: 6 hours")
    monitor_interval_ms: int = given(120_000, "001 V-F", "between two moves of monitors, which take turns")
    others_interval_ms: int = given(0, "001 V-F", "between two moves of other subscribers; 0: they stay")
    look_ms: int = assumed(10_000, "between two samples of the metrics")

    @property
    def about(self) -> str:
        move = "they and all others move" if self.others_interval_ms else "only they move"
        return f"{self.subscriptions:,} subscriptions in {self.regions} regions, a monitor each; {move}."

    def scaled(self, scale: float) -> Self:
        """Fewer subscriptions, and monitors that move more often in a shorter run: as much to send in a second."""
        return evolve(
            self,
            subscriptions=at_least(1, by_root(self.subscriptions, scale)),
            run_ms=at_least(1_000, by_root(self.run_ms, scale)),
            monitor_interval_ms=at_least(5, by_root(self.monitor_interval_ms, scale)),
        )

    def workload(self, seed: int) -> Workload:
        regions = tiered(self.regions, self.fan_out, self.tiers)
        heads = {region[0]: f"region {n}" for n, region in enumerate(regions.regions, 1)}
        return Workload(
            overlay=regions.overlay,
            operations=lambda: _Drawn(self, regions, seed).operations(),
            parameters=settings(self),
            watched={1: "core", **heads},
            look_every=self.look_ms * MILLISECOND,
        )


@frozen
class TieredAll(Tiered):
    others_interval_ms: int = given(1_000, "001 V-F", "between two moves of other subscribers; 0: they stay")


class _Drawn:
    def __init__(self, recipe: Tiered, regions: Regions, seed: int) -> None:
        self.recipe = recipe
        self.regions = regions
        self.seed = seed
        self.ids = Ids()
        self.brokers = regions.overlay.brokers
        self.monitors: list[tuple[Node, Subscription]] = []
        self.others: list[tuple[Node, Subscription]] = []

    def operations(self) -> Iterator[Operation]:
        recipe = self.recipe
        random = stream(self.seed, "publishers")
        publishers = [
            (random.choice(self.brokers), self.ids.advertisement([["value", ">=", 0], ["value", "<", VALUES]]))
            for _ in range(recipe.publishers)
        ]
        for broker, advertisement in publishers:
            yield Operation(0, broker, Advertise(advertisement))
        yield from self._subscribe()
        many = recipe.subscriptions + recipe.regions
        first = START + (many * recipe.subscription_interval_ms + recipe.settle_ms) * MILLISECOND
        last = first + recipe.run_ms * MILLISECOND
        yield from merge(
            self._move(first, last), self._publish(first, last, publishers), key=lambda operation: operation.time
        )

    def _subscribe(self) -> Iterator[Operation]:
        """The monitors last, one in each region."""
        random = stream(self.seed, "subscriptions")
        length = max(1, min(VALUES // 2, round(VALUES * self.recipe.matching / self.recipe.subscriptions)))
        starts = random.sample(range(VALUES - length), self.recipe.subscriptions)
        for start in starts:
            self.others.append((random.choice(self.brokers), self.ids.subscription(_within(start, start + length - 1))))
        for region in self.regions.regions:
            self.monitors.append((random.choice(region), self.ids.subscription(_within(0, VALUES - 1))))
        for n, (broker, subscription) in enumerate([*self.others, *self.monitors]):
            time = START + n * self.recipe.subscription_interval_ms * MILLISECOND
            yield Operation(time, broker, Subscribe(subscription))

    def _move(self, first: int, last: int) -> Iterator[Operation]:
        """Monitors anywhere; others within the region."""
        random = stream(self.seed, "destinations")
        around = {broker: region for region in self.regions.regions for broker in region}
        due = merge(self._monitors_due(first, last), self._others_due(first, last, around))
        for time, monitors, n in due:
            clients = self.monitors if monitors else self.others
            home, subscription = clients[n]
            within = self.brokers if monitors else around[home]
            elsewhere = random.choice([broker for broker in within if broker != home])
            again = self.ids.subscription(subscription.filter)
            clients[n] = elsewhere, again
            yield Operation(time, home, Unsubscribe(subscription))
            yield Operation(time, elsewhere, Subscribe(again))

    def _monitors_due(self, first: int, last: int) -> Iterator[tuple[int, bool, int]]:
        """When, and which one, by turns."""
        interval = self.recipe.monitor_interval_ms * MILLISECOND
        for n, time in enumerate(range(first + interval, last + 1, interval)):
            yield time, True, n % len(self.monitors)

    def _others_due(self, first: int, last: int, around: Mapping[Node, range]) -> Iterator[tuple[int, bool, int]]:
        """A client at the core stays there, and in a region of one broker there is nowhere to go."""
        interval = self.recipe.others_interval_ms * MILLISECOND
        movers = [n for n, (broker, _) in enumerate(self.others) if len(around.get(broker, ())) > 1]
        if interval and movers:
            random = stream(self.seed, "others")
            for time in range(first + interval, last + 1, interval):
                yield time, False, random.choice(movers)

    def _publish(self, first: int, last: int, publishers: list[tuple[Node, Advertisement]]) -> Iterator[Operation]:
        random = stream(self.seed, "publications")
        for time in range(first, last + 1, self.recipe.publication_interval_ms * MILLISECOND):
            broker, advertisement = random.choice(publishers)
            yield Operation(
                time, broker, Publish(self.ids.publication(advertisement, {"value": random.randrange(VALUES)}))
            )


def _within(lowest: int, highest: int) -> list[list[object]]:
    return [["value", ">=", lowest], ["value", "<=", highest]]
