"""`controlled-001`: the controlled scenario with the numbers of 001, where families are small and many roots go.

`Clustered001` is the same with each family at home at a few brokers that are close to each other (001 V-E).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from attrs import frozen

from routeproof.impl.workloads.controlled import Controlled
from routeproof.impl.workloads.topologies import CoreChain
from routeproof.impl.workloads.workload import assumed, given, stream
from routeproof.model.overlay import Node


@frozen
class Controlled001(Controlled):
    """What is not said again here is as in 000."""

    brokers: int = given(55, "001 V-A1", "brokers, five of them the core chain A-B-C-D-E")
    inner: int = given(18, "001 V-A1", "brokers between core and edge, dealt out to the core in turn")
    publishers: int = given(3, "001 V-A1", "edge brokers linked to E, with one publisher each")
    subscriptions: int = given(30_000, "001 V-A1", "in all, at random other edge brokers")
    subscription_interval_ms: int = given(1_500, "001 V-A1", "between two subscriptions")
    covered: int = given(30, "001 V-A1", "subscriptions that each root covers: the covering degree")
    publication_interval_ms: int = given(400, "001 V-A1", "between two publications, whoever publishes")
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
