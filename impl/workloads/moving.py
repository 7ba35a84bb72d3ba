"""Workloads whose subscribers move: `zipf` and `mobile` on a star of brokers, `tiered` on regions below one core.

`zipf` is the workload of SIENA, with subscribers on their way to work (000 V-B). Subscriptions are conjunctions over
names, a few of which are common and most of which are rare, so that coverings come about by themselves. Who moves
withdraws the subscription where it was and brings the same filter as a new one.

`mobile` is the rush hour of 000 V-B, with publications and moves as frequent at any scale as in the paper. The clients,
their filters and the star are those of `zipf`. A smaller `zipf` is a quieter one, which never comes near what its hub
can carry; a smaller `mobile` is a shorter one with fewer clients, and its roamers keep roaming.

`tiered` has monitors that want everything and move about (001 V-F). Whenever a monitor leaves, what it covered has to
be sent in its place. `TieredAll` has the other subscribers move too, each within its region.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heapreplace, merge
from itertools import accumulate
from random import Random
from typing import Self

from attrs import evolve, field, frozen

from routeproof.impl.simulator import MILLISECOND, TimedOperation
from routeproof.impl.workloads.workload import (
    Drawing,
    Predicates,
    Regions,
    Workload,
    assumed,
    at_least,
    by_root,
    drawn,
    given,
    star,
    stream,
    tiered,
)
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import Node

ROAMERS_DEVIATION = 6
"""The normal distribution of the roamers' departures has this many deviations between the window's ends."""


@frozen
class Zipf:
    brokers: int = given(17, "000 V-B", "brokers in a star; clients are at its points")
    publishers: int = given(2_000, "000 V-B", "publishers at random points; each advertises everything")
    subscriptions: int = given(200_000, "000 V-B", "subscriptions at random points")
    constraints: int = given(10, "000 V-B", "the most in a subscription, on different names; the least is 1")
    attributes: int = given(19, "000 V-B", "the most in a publication, of different names; the least is 1")
    names: int = given(1_000, "000 V-B", "words from which names are drawn, in both")
    exponent: float = assumed(1.0, "of the Zipf distribution of the names")
    equal: float = given(0.6, "000 V-B", "share of constraints with the operator =")
    less: float = given(0.2, "000 V-B", "share of constraints with the operator <; the rest has >")
    values: int = given(100, "000 V-B", "the whole numbers from 0 from which values are drawn, each as likely")
    subscription_interval_ms: int = assumed(50, "between two subscriptions")
    settle_ms: int = assumed(10_000, "from the last subscription to the beginning of the window")
    window_ms: int = given(7_200_000, "000 V-B", "rush hours: publications and moves, 7 to 9 in the morning")
    publish_least_ms: int = given(1_000, "000 V-B", "the shortest time between two publications of one publisher")
    publish_most_ms: int = given(15_000, "000 V-B", "the longest; every time between is as likely")
    commuters: float = given(0.6, "000 V-B", "share of subscribers that move once, at any time in the window")
    roamers: float = given(0.2, "000 V-B", "share that moves once, most of them in the middle; the rest stays")
    look_ms: int = assumed(10_000, "between two samples of the metrics")

    @property
    def about(self) -> str:
        return (
            f"{self.subscriptions:,} SIENA subscriptions on a star of {self.brokers}; {self.moving:.0%} of them move."
        )

    @property
    def moving(self) -> float:
        return self.commuters + self.roamers

    def departures(self, commutes: bool, random: Random) -> list[float]:
        """When one of those who move does so: milliseconds since the beginning of the window."""
        if commutes:
            return [random.uniform(0, self.window_ms)]
        time = random.gauss(self.window_ms / 2, self.window_ms / ROAMERS_DEVIATION)
        return [min(max(time, 0), self.window_ms)]

    def scaled(self, scale: float) -> Self:
        """Fewer clients in a shorter window; what they ask for and say stays as it is."""
        return evolve(
            self,
            publishers=at_least(1, self.publishers * scale),
            subscriptions=at_least(1, self.subscriptions * scale),
            window_ms=at_least(1_000, by_root(self.window_ms, scale)),
        )

    def workload(self, seed: int) -> Workload:
        watched = {1: "hub", 2: "point 2", 3: "point 3"}
        return drawn(self, star(self.brokers), lambda: _Drawn(self, seed), watched)


@frozen
class RankedNames:
    """Names by rank: the k-th is drawn in proportion to 1 / k^exponent."""

    names: int
    exponent: float
    _cumulative: list[float] = field(init=False)

    @_cumulative.default
    def _of_ranks(self) -> list[float]:
        return list(accumulate(1 / rank**self.exponent for rank in range(1, self.names + 1)))

    def draw(self, random: Random, many: int) -> list[str]:
        """Different ones; drawn again where one has come before."""
        ranks: dict[int, None] = {}
        while len(ranks) < many:
            ranks[random.choices(range(1, self.names + 1), cum_weights=self._cumulative)[0]] = None
        return [f"word-{rank}" for rank in ranks]


class _Drawn(Drawing[Zipf]):
    start = 60_000 * MILLISECOND
    """Thousands of advertisements are flooded before the first subscription."""

    def __init__(self, recipe: Zipf, seed: int) -> None:
        super().__init__(recipe, seed)
        self.points = range(2, recipe.brokers + 1)
        self.words = RankedNames(recipe.names, recipe.exponent)
        self.movers: list[tuple[Node, Subscription]] = []
        """Clients that will move: where they are, and their subscriptions there."""

    def advertised(self) -> Iterator[tuple[Node, Advertisement]]:
        return self.publishers_at(self.points, ([] for _ in range(max(1, self.recipe.publishers))))

    def subscribed(self) -> Iterator[tuple[Node, Subscription]]:
        random = stream(self.seed, "subscriptions")
        movers = round(self.recipe.subscriptions * self.recipe.moving)
        for n in range(self.recipe.subscriptions):
            subscription = self.ids.subscription(self._wanted(random))
            client = random.choice(self.points), subscription
            if n < movers:
                self.movers.append(client)
            yield client

    def settled(self, first: int) -> Iterable[Iterator[TimedOperation]]:
        return self._move(first), self._publish(first)

    def _wanted(self, random: Random) -> Predicates:
        names = self.words.draw(random, random.randint(1, self.recipe.constraints))
        return [[name, self._operator(random), random.randrange(self.recipe.values)] for name in names]

    def _operator(self, random: Random) -> str:
        drawn = random.random()
        if drawn < self.recipe.equal:
            return "="
        return "<" if drawn < self.recipe.equal + self.recipe.less else ">"

    def _move(self, begin: int) -> Iterator[TimedOperation]:
        """Commuters first in the list, roamers after them; each leaves one point for another."""
        random = stream(self.seed, "moves")
        commuters = round(self.recipe.subscriptions * self.recipe.commuters)
        departures = [
            (begin + round(time * MILLISECOND), n)
            for n in range(len(self.movers))
            for time in self.recipe.departures(n < commuters, random)
        ]
        for time, n in sorted(departures):
            home, _ = self.movers[n]
            elsewhere = random.choice([point for point in self.points if point != home] or [home])
            yield from self.moved(time, self.movers, n, elsewhere)

    def _publish(self, begin: int) -> Iterator[TimedOperation]:
        random = stream(self.seed, "publications")
        end = begin + self.recipe.window_ms * MILLISECOND
        due = [(begin + self._pause(random), n) for n in range(len(self.publishers))]
        heapify(due)
        while due[0][0] <= end:
            time, n = due[0]
            heapreplace(due, (time + self._pause(random), n))
            names = self.words.draw(random, random.randint(1, self.recipe.attributes))
            attributes = {name: random.randrange(self.recipe.values) for name in names}
            yield self.published(time, self.publishers[n], attributes)

    def _pause(self, random: Random) -> int:
        return random.randint(self.recipe.publish_least_ms, self.recipe.publish_most_ms) * MILLISECOND


@frozen
class Mobile(Zipf):
    roamers: float = given(0.2, "000 V-B", "share that moves again and again; the rest stays")
    roam_mean_ms: int = assumed(1_800_000, "of the normal distribution of the times between two moves of a roamer")
    roam_deviation_ms: int = assumed(600_000, "of the same; what it gives below 1 is taken as 1")

    @property
    def about(self) -> str:
        return (
            f"The rush hour of zipf at full load: {self.subscriptions:,} subscriptions, {self.moving:.0%} of them move."
        )

    def scaled(self, scale: float) -> Self:
        """Fewer clients, and every time shorter by the same factor: as many publications and moves in a second."""
        return evolve(
            self,
            publishers=at_least(1, self.publishers * scale),
            subscriptions=at_least(1, self.subscriptions * scale),
            window_ms=at_least(1_000, self.window_ms * scale),
            publish_least_ms=at_least(1, self.publish_least_ms * scale),
            publish_most_ms=at_least(1, self.publish_most_ms * scale),
            roam_mean_ms=at_least(1, self.roam_mean_ms * scale),
            roam_deviation_ms=at_least(1, self.roam_deviation_ms * scale),
        )

    def departures(self, commutes: bool, random: Random) -> list[float]:
        if commutes:
            return super().departures(commutes, random)
        # Roamers have been on their way before the window begins, each at another point between two moves.
        time = -random.uniform(0, self.roam_mean_ms)
        times = []
        while time <= self.window_ms:
            if time >= 0:
                times.append(time)
            time += max(1.0, random.gauss(self.roam_mean_ms, self.roam_deviation_ms))
        return times


VALUES = 1_000_000


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
        return drawn(self, regions.overlay, lambda: _DrawnTiers(self, regions, seed), {1: "core", **heads})


@frozen
class TieredAll(Tiered):
    others_interval_ms: int = given(1_000, "001 V-F", "between two moves of other subscribers; 0: they stay")


class _DrawnTiers(Drawing[Tiered]):
    def __init__(self, recipe: Tiered, regions: Regions, seed: int) -> None:
        super().__init__(recipe, seed)
        self.regions = regions
        self.brokers = regions.overlay.brokers
        self.monitors: list[tuple[Node, Subscription]] = []
        self.others: list[tuple[Node, Subscription]] = []

    def advertised(self) -> Iterator[tuple[Node, Advertisement]]:
        promised: Predicates = [["value", ">=", 0], ["value", "<", VALUES]]
        return self.publishers_at(self.brokers, (promised for _ in range(self.recipe.publishers)))

    def subscribed(self) -> Iterator[tuple[Node, Subscription]]:
        """The monitors last, one in each region."""
        random = stream(self.seed, "subscriptions")
        length = max(1, min(VALUES // 2, round(VALUES * self.recipe.matching / self.recipe.subscriptions)))
        starts = random.sample(range(VALUES - length), self.recipe.subscriptions)
        for start in starts:
            self.others.append((random.choice(self.brokers), self.ids.subscription(_within(start, start + length - 1))))
        for region in self.regions.regions:
            self.monitors.append((random.choice(region), self.ids.subscription(_within(0, VALUES - 1))))
        yield from (*self.others, *self.monitors)

    def settled(self, first: int) -> Iterable[Iterator[TimedOperation]]:
        last = first + self.recipe.run_ms * MILLISECOND
        return self._move(first, last), self._publish(first, last)

    def _move(self, first: int, last: int) -> Iterator[TimedOperation]:
        """Monitors anywhere; others within the region."""
        random = stream(self.seed, "destinations")
        around = {broker: region for region in self.regions.regions for broker in region}
        due = merge(self._monitors_due(first, last), self._others_due(first, last, around))
        for time, monitors, n in due:
            clients = self.monitors if monitors else self.others
            home, _ = clients[n]
            within = self.brokers if monitors else around[home]
            elsewhere = random.choice([broker for broker in within if broker != home])
            yield from self.moved(time, clients, n, elsewhere)

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

    def _publish(self, first: int, last: int) -> Iterator[TimedOperation]:
        random = stream(self.seed, "publications")
        for time in range(first, last + 1, self.recipe.publication_interval_ms * MILLISECOND):
            publisher = random.choice(self.publishers)
            yield self.published(time, publisher, {"value": random.randrange(VALUES)})


def _within(lowest: int, highest: int) -> Predicates:
    return [["value", ">=", lowest], ["value", "<=", highest]]
