"""The coordinator's decisions: subscriptions that come and go, and when a new strategy is worth its installation.

The coordinator keeps a window of sampled documents (COORD-1) and all subscriptions (COORD-2). Trees stay while
subscriptions change (COORD-3, COORD-4). A strategy that was computed from a snapshot is brought up to date by the log
of changes since then, and judged on the same subscriptions and documents as the present one (COORD-5, COORD-7).
Brokers switch to it by the protocol of `impl/trees/broker.py` (COORD-6).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from attrs import define, field, frozen

from routeproof.impl.trees.clustering import Start, Units
from routeproof.impl.trees.matching import Interest, Subscriptions
from routeproof.impl.trees.multiple import Readings, merged, mult, strategy_of
from routeproof.impl.trees.network import Array, BrokerGraph
from routeproof.impl.trees.strategy import saving
from routeproof.impl.trees.tree import Rooted, spanning


@frozen
class Sampled:
    """A document of the sample."""

    time: int
    publisher: int
    size: int
    words: frozenset[str]


@frozen
class Interested:
    """A subscription: where it is, and what it is interested in."""

    broker: int
    interest: Interest

    def matches(self, words: frozenset[str]) -> bool:
        return any(words.issuperset(alternative) for alternative in self.interest)

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for alternative in self.interest for word in alternative)


Change = tuple[str, Interested | None]
"""The id of a subscription that was inserted, or deleted (None)."""


@define
class Routes:
    """A strategy whose clusters change one by one while its trees stay."""

    network: BrokerGraph
    parents: Sequence[Array]
    cluster: dict[str, int] = field(factory=dict)
    """By subscription."""
    wanted: dict[str, Interested] = field(factory=dict)
    _trees: dict[int, Rooted] = field(factory=dict)

    @classmethod
    def around(cls, network: BrokerGraph, broker: int = 0) -> Routes:
        """No subscriptions, and one tree of shortest paths from a broker."""
        return cls(network, (network.shortest_path_tree(broker),))

    def delete(self, id: str) -> None:
        """COORD-3."""
        del self.cluster[id], self.wanted[id]

    def insert(self, id: str, wanted: Interested, window: Iterable[Sampled]) -> int:
        """COORD-4: into the cluster whose cost grows least; ties by FLAG-19. Returns by how much."""
        documents = [document for document in window if wanted.matches(document.words)]
        hosts = [self._hosts(document) for document in documents]
        increments = [
            sum(
                self._increment(at, document, reached[at], wanted.broker)
                for document, reached in zip(documents, hosts, strict=True)
            )
            for at in range(len(self.parents))
        ]
        shared, nearest = self._likeness(wanted)
        best = min(range(len(increments)), key=lambda at: (increments[at], -shared[at], nearest[at], at))
        self.cluster[id], self.wanted[id] = best, wanted
        return increments[best]

    def cost(self, window: Iterable[Sampled]) -> int:
        """COST-2 for these documents."""
        return sum(
            self._cost(at, document, hosts) for document in window for at, hosts in enumerate(self._hosts(document))
        )

    def _hosts(self, document: Sampled) -> list[Counter[int]]:
        found: list[Counter[int]] = [Counter() for _ in self.parents]
        for id, wanted in self.wanted.items():
            if wanted.matches(document.words):
                found[self.cluster[id]][wanted.broker] += 1
        return found

    def _increment(self, at: int, document: Sampled, hosts: Counter[int], broker: int) -> int:
        return self._cost(at, document, hosts + Counter((broker,))) - self._cost(at, document, hosts)

    def _cost(self, at: int, document: Sampled, hosts: Counter[int]) -> int:
        if not hosts:
            return 0
        vertices = np.array(sorted({document.publisher, *hosts}))
        connected = self._tree(at).connected(np.zeros(len(vertices), np.int64), vertices, 1)
        return document.size * int(connected.costs()[0])

    def _tree(self, at: int) -> Rooted:
        if at not in self._trees:
            self._trees[at] = spanning(self.network, self.parents[at])
        return self._trees[at]

    def _likeness(self, wanted: Interested) -> tuple[list[int], list[int]]:
        """For each cluster the keywords that it shares, and the distance to its nearest broker."""
        words: list[set[str]] = [set() for _ in self.parents]
        nearest = [len(self.network) * int(self.network.cost.max())] * len(self.parents)
        row = self.network.distances[wanted.broker]
        for id, other in self.wanted.items():
            at = self.cluster[id]
            words[at] |= other.words
            nearest[at] = min(nearest[at], int(row[other.broker]))
        return [len(each & wanted.words) for each in words], nearest


Compute = Callable[[Mapping[str, Interested], Sequence[Sampled]], Routes]


@frozen
class Proposal:
    """A strategy computed from a snapshot, and how long the log of changes was then."""

    routes: Routes
    changes: int


@frozen
class Installation:
    """The answer to a proposal: both costs are on the same subscriptions and documents (FLAG-20)."""

    before: int
    after: int
    installed: bool


@define
class ClusterCoordinator:
    """The state of the coordinator (B4 of the catalogue of 003)."""

    routes: Routes
    threshold: float
    """A new strategy is installed if it saves more than this share of the cost (COORD-5)."""
    span: int
    """Length of the sliding window, in the unit of time of documents."""
    window: deque[Sampled] = field(factory=deque)
    log: list[Change] = field(factory=list)

    def sample(self, document: Sampled) -> None:
        """COORD-1: a document is kept, and those that the window has left are dropped."""
        self.window.append(document)
        while self.window[0].time <= document.time - self.span:
            self.window.popleft()

    def insert(self, id: str, wanted: Interested) -> int:
        if id in self.routes.wanted:
            raise ValueError(f"a subscription {id!r} is there already")
        self.log.append((id, wanted))
        return self.routes.insert(id, wanted, self.window)

    def delete(self, id: str) -> None:
        if id not in self.routes.wanted:
            raise ValueError(f"there is no subscription {id!r}")
        self.log.append((id, None))
        self.routes.delete(id)

    def propose(self, compute: Compute) -> Proposal:
        """Computes a strategy from a snapshot. Subscriptions may change before it is decided upon."""
        changes = len(self.log)
        return Proposal(compute(dict(self.routes.wanted), tuple(self.window)), changes)

    def decide(self, proposal: Proposal) -> Installation:
        """Replays the changes since the snapshot on the proposal, and installs it if it saves enough (COORD-7)."""
        routes = proposal.routes
        for id, wanted in self.log[proposal.changes :]:
            if wanted is None:
                routes.delete(id)
            else:
                routes.insert(id, wanted, self.window)
        before, after = self.routes.cost(self.window), routes.cost(self.window)
        installed = before > 0 and saving(before, after) > self.threshold
        if installed:
            self.routes = routes
        return Installation(before, after, installed)


def by_mult(network: BrokerGraph, readings: Readings | None = None, start: Start = "documents") -> Compute:
    """Computes strategies by MULT."""

    def compute(wanted: Mapping[str, Interested], window: Sequence[Sampled]) -> Routes:
        if not wanted:
            return Routes.around(network)
        subscriptions = Subscriptions.of((id, each.broker, each.interest) for id, each in wanted.items())
        sample = subscriptions.documents((d.publisher, d.size, d.words) for d in window)
        planning = merged(network, Units.of(subscriptions, sample, start), readings or Readings())
        strategy = strategy_of(planning, subscriptions, mult(planning))
        cluster = {
            id: int(strategy.cluster[subscriptions.members.row(at)[0]]) for at, id in enumerate(subscriptions.ids)
        }
        return Routes(network, strategy.parents, cluster, dict(wanted))

    return compute
