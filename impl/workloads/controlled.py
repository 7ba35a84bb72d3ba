"""`controlled`: subscriptions in families of one root that covers the others; then roots are withdrawn (000 V-A).

What a withdrawn root covered must be sent in its place, at every broker where it was held back: the burst that these
papers are about.

`controlled-001`: the controlled scenario with the numbers of 001, where families are small and many roots go.

`Clustered001` is the same with each family at home at a few brokers that are close to each other (001 V-E).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from random import Random
from typing import Self

from attrs import evolve, frozen

from routeproof.impl.simulator import MILLISECOND, TimedOperation
from routeproof.impl.workloads.workload import (
    CoreChain,
    Drawing,
    Predicates,
    Workload,
    assumed,
    at_least,
    by_root,
    core_chain,
    drawn,
    given,
    stream,
)
from routeproof.model.messages import Advertisement, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Node

FEWEST_COVERED = 30
"""A root with less to hold back is no root worth withdrawing: scaling stops here."""

VALUES = 1_000_000
LONGEST = 0.4
"""Longest range, as a share of all values. In a family so small that `matching` takes more, fewer match."""


@frozen
class Controlled:
    brokers: int = given(49, "000 V-A", "brokers, five of them the core chain A-B-C-D-E")
    inner: int = assumed(15, "brokers between core and edge, dealt out to the core in turn")
    publishers: int = given(3, "000 V-A", "edge brokers linked to E, with one publisher each")
    subscriptions: int = given(80_000, "000 V-A2", "in all, at random other edge brokers")
    subscription_interval_ms: int = assumed(50, "between two subscriptions")
    covered: int = assumed(1_000, "subscriptions that each root covers; none of them covers another")
    sizes: float = assumed(0.0, "exponent of Zipf's law, by which families differ in size; 0: all are of one size")
    matching: float = assumed(3.0, "of those, the mean number that a publication of the family matches")
    alike: str = assumed(
        "number", "what families of another size have in common: this number, or its share of `covered`"
    )
    settle_ms: int = assumed(10_000, "from the last subscription to the first publication")
    publication_interval_ms: int = given(10, "000 V-A2", "between two publications of any client")
    lead_ms: int = assumed(10_000, "from the first publication to the first withdrawal")
    withdrawals: int = given(20, "000 V-A2", "roots that are unsubscribed")
    withdrawal_interval_ms: int = given(500, "000 V-A2", "between two withdrawals")
    watch_ms: int = assumed(300_000, "from the last withdrawal to the last publication")
    probes: int = assumed(0, "publications that match a subscriber at every subscribers' edge")
    probe_after_ms: int = given(600_000, "001 V-B", "from the last withdrawal to the first probe")
    look_ms: int = assumed(1_000, "between two samples of the metrics")

    @property
    def about(self) -> str:
        return f"{self.subscriptions:,} subscriptions on {self.brokers} brokers; then {self.withdrawals} roots go."

    @property
    def families(self) -> int:
        return max(1, self.subscriptions // (self.covered + 1))

    def scaled(self, scale: float) -> Self:
        """Fewer families and smaller ones, on the same overlay; the share of roots that go stays what it is."""
        covered = self.covered_at(scale)
        fewer = evolve(
            self,
            covered=covered,
            matching=self.matches(covered),
            subscriptions=at_least(covered + 1, self.subscriptions * scale),
        )
        return evolve(
            fewer,
            withdrawals=min(
                fewer.families, at_least(min(1, self.withdrawals), self.withdrawals * fewer.families / self.families)
            ),
            probes=at_least(1, self.probes * scale) if self.probes else 0,
            lead_ms=at_least(1, by_root(self.lead_ms, scale)),
            watch_ms=at_least(1, by_root(self.watch_ms, scale)),
            probe_after_ms=at_least(1, by_root(self.probe_after_ms, scale)),
        )

    def covered_at(self, scale: float) -> int:
        return at_least(min(self.covered, FEWEST_COVERED), by_root(self.covered, scale))

    @property
    def sizes_of_families(self) -> Sequence[int]:
        """How many subscriptions each root covers."""
        every = self.subscriptions - self.families
        if not self.sizes:
            return [len(range(family, every, self.families)) for family in range(self.families)]
        weights = [rank**-self.sizes for rank in range(1, self.families + 1)]
        bounds = [round(every * part / sum(weights)) for part in accumulate(weights)]
        return [end - begin for begin, end in pairwise([0, *bounds])]

    def matches(self, covered: int) -> float:
        """Average number of subscriptions in a family of this size that match one of its publications."""
        return self.matching if self.alike == "number" else self.matching * covered / self.covered

    def length(self, covered: int) -> int:
        """Length of the ranges of a family. Values that far from both ends are in any of its ranges equally likely."""
        some = max(1, covered)
        matching = self.matches(some)
        return max(1, round(VALUES * min(LONGEST, matching / (some + matching))))

    def homes(self, chain: CoreChain, seed: int) -> Sequence[Sequence[Node]]:
        """For each family, the brokers where its members may be."""
        return [chain.subscribers] * self.families

    def workload(self, seed: int) -> Workload:
        chain = core_chain(self.brokers, self.inner, self.publishers)
        return drawn(self, chain.overlay, lambda: _Drawn(self, chain, seed), chain.core)


class _Drawn(Drawing[Controlled]):
    def __init__(self, recipe: Controlled, chain: CoreChain, seed: int) -> None:
        super().__init__(recipe, seed)
        self.chain = chain
        self.roots: dict[int, tuple[Node, Subscription]] = {}

    def advertised(self) -> Iterator[tuple[Node, Advertisement]]:
        for broker in self.chain.publishers:
            yield broker, self.ids.advertisement([["class", "present"], ["value", ">=", 0], ["value", "<", VALUES]])

    def subscribed(self) -> Iterator[tuple[Node, Subscription]]:
        """Roots and what they cover in random order: about half of the latter come first and are retracted again."""
        random = stream(self.seed, "homes")
        homes = self.recipe.homes(self.chain, self.seed)
        for family, lowest, highest in self._wanted(stream(self.seed, "filters")):
            client = random.choice(homes[family]), self.ids.subscription(_within(family, lowest, highest))
            if (lowest, highest) == (0, VALUES - 1):
                self.roots[family] = client
            yield client

    def settled(self, first: int) -> Iterable[Iterator[TimedOperation]]:
        recipe = self.recipe
        withdrawn = first + recipe.lead_ms * MILLISECOND
        last = withdrawn + (recipe.withdrawals - 1) * recipe.withdrawal_interval_ms * MILLISECOND
        probes = self._probes(first - recipe.settle_ms * MILLISECOND)
        return probes, self._withdraw(withdrawn), self._publish(first, last + recipe.watch_ms * MILLISECOND)

    def _probes(self, time: int) -> Iterator[TimedOperation]:
        for broker in self.chain.subscribers if self.recipe.probes else ():
            yield TimedOperation(time, broker, Subscribe(self.ids.subscription([["class", "=", PROBE]])))

    def _wanted(self, random: Random) -> list[tuple[int, int, int]]:
        """Family and values. Ranges of one length with different beginnings: none covers another."""
        wanted = []
        for family, covered in enumerate(self.recipe.sizes_of_families):
            length = self.recipe.length(covered)
            starts = random.sample(range(VALUES - length), covered)
            wanted += [(family, 0, VALUES - 1), *((family, start, start + length - 1) for start in starts)]
        random.shuffle(wanted)
        return wanted

    def _withdraw(self, first: int) -> Iterator[TimedOperation]:
        chosen = stream(self.seed, "withdrawals").sample(range(self.recipe.families), self.recipe.withdrawals)
        for n, family in enumerate(chosen):
            broker, root = self.roots[family]
            time = first + n * self.recipe.withdrawal_interval_ms * MILLISECOND
            yield TimedOperation(time, broker, Unsubscribe(root))

    def _publish(self, first: int, last: int) -> Iterator[TimedOperation]:
        """The stream goes on while the probes are out; each takes a publication's place."""
        recipe = self.recipe
        random = stream(self.seed, "publications")
        probes_from = last - (recipe.watch_ms - recipe.probe_after_ms) * MILLISECOND
        probes = recipe.probes
        least = max(map(recipe.length, {recipe.covered, *recipe.sizes_of_families}))
        for time in range(first, last + 1, recipe.publication_interval_ms * MILLISECOND):
            publisher = random.choice(self.publishers)
            family = _name(random.randrange(recipe.families))
            if probes and time >= probes_from:
                probes -= 1
                family = PROBE
            attributes = {"class": family, "value": random.randrange(least, VALUES - least)}
            yield self.published(time, publisher, attributes)


PROBE = "probe"


def _name(family: int) -> str:
    return f"family-{family + 1}"


def _within(family: int, lowest: int, highest: int) -> Predicates:
    return [["class", "=", _name(family)], ["value", ">=", lowest], ["value", "<=", highest]]


@frozen
class Controlled001(Controlled):
    """Parameters of paper 001 where they differ from those of 000."""

    brokers: int = given(55, "001 V-A1", "brokers, five of them the core chain A-B-C-D-E")
    inner: int = given(18, "001 V-A1", "brokers between core and edge, dealt out to the core in turn")
    publishers: int = given(3, "001 V-A1", "edge brokers linked to E, with one publisher each")
    subscriptions: int = given(30_000, "001 V-A1", "in all, at random other edge brokers")
    subscription_interval_ms: int = given(1_500, "001 V-A1", "between two subscriptions")
    covered: int = given(30, "001 V-A1", "subscriptions that each root covers: the covering degree")
    publication_interval_ms: int = given(400, "001 V-A1", "between two publications of any client")
    lead_ms: int = assumed(7_370_000, "from the first publication to the first withdrawal: the history to decide by")
    withdrawals: int = given(300, "001 V-B", "roots that are unsubscribed")
    withdrawal_interval_ms: int = given(500, "001 V-B", "between two withdrawals")
    watch_ms: int = assumed(900_000, "from the last withdrawal to the last publication: over 21,000 in all (001 V-A1)")
    probes: int = given(300, "001 V-B", "publications that match a subscriber at every subscribers' edge")
    look_ms: int = assumed(10_000, "between two samples of the metrics")

    def covered_at(self, scale: float) -> int:
        """Families are small: a smaller workload has fewer of them."""
        return self.covered


@frozen
class Clustered001(Controlled001):
    cluster_least: int = given(2, "001 V-E", "the fewest edge brokers of a cluster")
    cluster_most: int = given(4, "001 V-E", "the most; all edge brokers are in one cluster each")

    @property
    def about(self) -> str:
        return f"{super().about[:-1]}, each family at {self.cluster_least} to {self.cluster_most} adjacent brokers."

    def homes(self, chain: CoreChain, seed: int) -> Sequence[Sequence[Node]]:
        random = stream(seed, "clusters")
        clusters = self.clusters(chain, random)
        return [random.choice(clusters) for _ in range(self.families)]

    def clusters(self, chain: CoreChain, random: Random) -> list[tuple[Node, ...]]:
        """Edge brokers in the order of their paths from A, so that those of one inner broker come together."""
        left = sorted(chain.subscribers, key=lambda broker: chain.overlay.path(min(chain.core), broker))
        clusters = []
        while left:
            sizes = range(self.cluster_least, self.cluster_most + 1)
            fits = [size for size in sizes if len(left) == size or len(left) - size >= self.cluster_least]
            size = random.choice(fits or [len(left)])
            clusters.append(tuple(left[:size]))
            left = left[size:]
        return clusters
