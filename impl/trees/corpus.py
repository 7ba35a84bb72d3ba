"""Networks of brokers, documents and subscriptions to measure trees with, drawn as in 003 VI.

`NETWORKS` has three families: `transit-stub` (like GT-ITM: domains that carry transit, and stubs that hang on them),
`small-world` (a ring with some links rewired) and `geometric` (brokers in the unit square, linked where they are near).
Keywords have a region each: its subscribers are drawn among the brokers that are nearest to a root. Documents take
keywords that are subscribed to near a broker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import combinations
from random import Random
from typing import Any, NoReturn, Self, TypeAlias

import numpy as np
from attrs import evolve, field, frozen

from routeproof.impl.trees.matching import Interest, interest
from routeproof.impl.trees.network import BrokerGraph
from routeproof.impl.workloads.workload import assumed, at_least, given, stream

Links: TypeAlias = "set[tuple[int, int]]"

FAR = {"localized1": 2.0, "localized2": 15.0, "uniform": 100.0}
"""For each dataset the share of brokers, in percent, among which the subscribers of a keyword are drawn."""


# -- networks ----------------------------------------------------------------------------------------------------------


def _connected(random: Random, brokers: list[int], degree: float) -> Links:
    """A random tree, and random links until brokers have this degree on average."""
    found: Links = set()
    for at in range(1, len(brokers)):
        found.add(_ordered(brokers[at], random.choice(brokers[:at])))
    most = len(brokers) * (len(brokers) - 1) // 2
    while len(found) < min(most, round(len(brokers) * degree / 2)):
        found.add(_ordered(*random.sample(brokers, 2)))
    return found


def _ordered(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def transit_stub(brokers: int, random: Random) -> Links:
    """Transit domains of four brokers, four stubs at each of them, a domain for each 500 brokers."""
    domains = max(1, round(brokers / 500))
    transit = [list(range(4 * at, 4 * at + 4)) for at in range(domains)]
    found: Links = set()
    for each in transit:
        found |= set(combinations(each, 2))
    for at in range(1, domains):
        found.add(_ordered(random.choice(transit[at]), random.choice(transit[random.randrange(at)])))
    for _ in range(domains // 2):
        one, other = random.sample(range(domains), 2)
        found.add(_ordered(random.choice(transit[one]), random.choice(transit[other])))
    left = list(range(4 * domains, brokers))
    stubs = 16 * domains
    for at in range(stubs):
        stub = left[at * len(left) // stubs : (at + 1) * len(left) // stubs]
        if stub:
            found |= _connected(random, stub, 3.0)
            found.add(_ordered(at // 4, random.choice(stub)))
    return found


def small_world(brokers: int, random: Random) -> Links:
    """A ring in which everyone is linked to two brokers on each side; a tenth of the links are rewired."""
    found: Links = set()
    for at in range(brokers):
        found.add(_ordered(at, (at + 1) % brokers))  # the ring stays, so that the network is connected
        end = random.randrange(brokers) if random.random() < 0.2 else (at + 2) % brokers
        if end != at:
            found.add(_ordered(at, end))
    return found


def geometric(brokers: int, random: Random) -> Links:
    """Brokers in the unit square with links to those within a radius, six on average; components are joined."""
    places = np.array([(random.random(), random.random()) for _ in range(brokers)])
    radius = (6 / (np.pi * brokers)) ** 0.5
    found: Links = set()
    group = list(range(brokers))

    def root(v: int) -> int:
        while group[v] != v:
            v = group[v]
        return v

    for at in range(brokers):
        near = np.flatnonzero(((places[at + 1 :] - places[at]) ** 2).sum(axis=1) <= radius**2) + at + 1
        for other in near.tolist():
            found.add((at, other))
            one, two = sorted((root(at), root(other)))
            group[two] = one
    while len(roots := sorted({root(v) for v in range(brokers)})) > 1:
        mine = np.array([v for v in range(brokers) if root(v) == roots[-1]])
        others = np.array([v for v in range(brokers) if root(v) != roots[-1]])
        gaps = ((places[mine][:, None] - places[others]) ** 2).sum(axis=2)
        one, two = (int(at) for at in np.unravel_index(int(gaps.argmin()), gaps.shape))
        found.add(_ordered(int(mine[one]), int(others[two])))
        group[roots[-1]] = root(int(others[two]))
    return found


NETWORKS: Mapping[str, Callable[[int, Random], Links]] = {
    "transit-stub": transit_stub,
    "small-world": small_world,
    "geometric": geometric,
}


@lru_cache(maxsize=4)
def network_of(family: str, brokers: int, seed: int) -> BrokerGraph:
    """A network of one family; the broker with number 7 of 500 is called 007."""
    links = NETWORKS[family](brokers, stream(seed, f"network {family} {brokers}"))
    return BrokerGraph.numbered(sorted(links))


# -- documents and subscriptions ---------------------------------------------------------------------------------------


@frozen(eq=False)
class Corpus:
    """A network, documents and subscriptions, by names."""

    network: BrokerGraph
    documents: list[tuple[str, int, int, list[str]]]
    """Id, publisher, size, keywords."""
    subscriptions: list[tuple[str, int, Interest]]

    def write(self, folder: Any) -> None:
        """Writes network, documents and subscriptions, each as a table that `routeproof trees` reads."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        graph, names = self.network, self.network.names
        tables = {
            "network": {
                "from": [names[v] for v in graph.low.tolist()],
                "to": [names[v] for v in graph.high.tolist()],
                "cost": graph.cost.tolist(),
            },
            "documents": {
                "id": [each[0] for each in self.documents],
                "publisher": [names[each[1]] for each in self.documents],
                "size": [each[2] for each in self.documents],
                "keywords": [each[3] for each in self.documents],
            },
            "subscriptions": {
                "id": [each[0] for each in self.subscriptions],
                "broker": [names[each[1]] for each in self.subscriptions],
                "keywords": [[word for words in each[2] for word in words] for each in self.subscriptions],
            },
        }
        for name, columns in tables.items():
            pq.write_table(pa.table(columns), folder / f"{name}.parquet", compression="zstd")


@frozen
class CorpusRecipe:
    """The parameters of 003 VI."""

    about = "networks, documents and subscriptions of 003"

    network: str = given("transit-stub", "003 VI", "the family of the network; the paper has GT-ITM's transit-stub")
    dataset: str = given("localized1", "003 VI", "how far from each other the subscribers of a keyword are")
    brokers: int = given(500, "003 VI", "brokers, up to 5,000 in the paper")
    keywords: int = given(1_000, "003 VI", "keywords")
    subscribers: int = given(10, "003 VI", "brokers that subscribe to a keyword")
    documents: int = given(10_000, "003 VI", "documents")
    words: int = assumed(2, "keywords of a document at most; the paper contradicts itself (FLAG-24)")
    near: int = assumed(5, "brokers whose keywords a document takes from: a drawn one, and the nearest to it")
    whole: int = assumed(0, "1: one subscription for all keywords of a broker; 0: one for each keyword (CLUS-12)")
    seed: int = field(default=0, metadata={"source": "option", "about": "seed of all draws"})

    def scaled(self, scale: float) -> Self:
        """Fewer documents and keywords; the number of brokers is what experiments vary."""
        return evolve(
            self, documents=at_least(60, self.documents * scale), keywords=at_least(20, self.keywords * scale)
        )

    def workload(self, seed: int) -> NoReturn:
        """Trees are computed, and no broker runs."""
        raise NotImplementedError("a corpus is computed with, and is not played in the simulator")

    def drawn(self) -> Corpus:
        network = network_of(self.network, self.brokers, self.seed)
        random = stream(self.seed, f"corpus {self.dataset} {self.brokers}")
        words = [f"k{at:0{len(str(self.keywords - 1))}}" for at in range(self.keywords)]
        reach = max(1, min(self.brokers, round(self.brokers * FAR[self.dataset] / 100)))
        wanted: list[list[str]] = [[] for _ in range(self.brokers)]
        for word in words:
            nearest = _nearest(network, random.randrange(self.brokers), reach)
            for v in sorted(random.sample(nearest, min(self.subscribers, reach))):
                wanted[v].append(word)
        return Corpus(network, self._documents(network, random, wanted), self._subscriptions(wanted))

    def _documents(
        self, network: BrokerGraph, random: Random, wanted: list[list[str]]
    ) -> list[tuple[str, int, int, list[str]]]:
        found = []
        width = len(str(self.documents - 1))
        interested = [v for v in range(self.brokers) if wanted[v]]
        for at in range(self.documents):
            centre = random.choice(interested)
            words = sorted({word for v in _nearest(network, centre, self.near) for word in wanted[v]})
            chosen = random.sample(words, min(len(words), random.randint(1, self.words)))
            found.append((f"d{at:0{width}}", random.randrange(self.brokers), 1, sorted(chosen)))
        return found

    def _subscriptions(self, wanted: list[list[str]]) -> list[tuple[str, int, Interest]]:
        if self.whole:
            return [(f"s{v:05}", v, interest(words, needs_all=False)) for v, words in enumerate(wanted) if words]
        return [(f"s{v:05}-{word}", v, ((word,),)) for v, words in enumerate(wanted) for word in words]


def _nearest(network: BrokerGraph, centre: int, many: int) -> list[int]:
    """The brokers that are nearest to one, itself among them; of equally near ones those with smaller numbers."""
    row = network.distances[centre]
    found: list[int] = np.lexsort((np.arange(len(row)), row))[:many].tolist()
    return found
