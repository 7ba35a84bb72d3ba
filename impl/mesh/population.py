"""Networks of the mesh under load, as in 002 VI: who matches what, and what each strategy sends.

A `MeshPopulation` draws a tree of degree 3, the brokers that match each topic, and publications with a topic and a
publisher each. `play` sends them through the reference implementation's maps, strategies and choice of links
(`forwarding`, `links`): tables of subscriptions are left out, since the topic of a publication says who matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from heapq import heappop, heappush
from random import Random
from typing import NoReturn, Self

from attrs import Factory, define, evolve, frozen

from routeproof.impl.mesh.forwarding import Bits, MasterMap, WorkingMap, copies, downstream, strategy_of
from routeproof.impl.mesh.links import LinkProfile
from routeproof.impl.workloads.workload import assumed, given
from routeproof.model.mesh.parameters import MeshParameters
from routeproof.model.overlay import Link, Node

FULL = 0.005
"""Networks have the paper's size from this scale on."""

SECOND = 1_000_000
"""Microseconds."""


@frozen
class MeshPopulation:
    """One configuration with one data set and one strategy."""

    brokers: int = given(120, "002 VI", "configuration C1; C2 has 250, C3 500")
    degree: int = given(3, "002 VI", "primary links of a broker that is no leaf")
    radius: int = given(4, "002 VI", "the paper's Delta")
    publications: int = given(36_000, "002 VI", "3,600 a minute for ten minutes (FLAG-9)")
    rate: float = given(60.0, "002 VI", "publications of all publishers, by second")
    fanout: int = given(35, "002 VI", "the most real connections of a broker")
    maxlinks: int = assumed(51, "real connections and candidates")
    matching: float = given(8.06, "002 VI", "percent of brokers that match a publication")
    topics: int = assumed(300, "a publication has one; each has its brokers")
    rounds: int = assumed(8, "rounds in which links are chosen before the measurement")
    warming: int = assumed(400, "publications before each round")
    hop: float = given(1.0, "002 VI", "ms that each hop takes")
    uplink: float = assumed(0.0, "messages that a broker sends by second at most; 0 for no limit")
    strategy: str = assumed("S2", "of all brokers")
    seed: int = assumed(1, "of what is drawn")

    @property
    def about(self) -> str:
        return "Publications with a topic each, in a tree of brokers with soft links."

    def scaled(self, scale: float) -> Self:
        """Fewer publications; below a scale of 0.005 fewer brokers too, and fewer publications before rounds."""
        share = min(1.0, scale / FULL)
        return evolve(
            self,
            publications=max(50, round(self.publications * scale)),
            brokers=max(20, round(self.brokers * share)),
            warming=max(20, round(self.warming * share)),
        )

    def workload(self, seed: int) -> NoReturn:
        raise NotImplementedError("these networks are no workload of the simulator")

    def edges(self) -> list[Link]:
        """A tree, filled level by level: every broker but the leaves has the degree."""
        below = self.degree - 1
        return [
            (1 if b <= self.degree + 1 else 2 + (b - self.degree - 2) // below, b) for b in range(2, self.brokers + 1)
        ]

    def interests(self) -> list[tuple[Node, ...]]:
        """Per topic the brokers that match: few match most topics, as in a Zipf distribution of popularity."""
        draw = Random(f"{self.seed} interests {self.brokers} {self.matching}")
        weights = [1 / (rank + 1) ** 0.5 for rank in range(self.topics)]
        mean = self.matching / 100 * self.brokers
        scale = mean * self.topics / sum(weights)
        sizes = [min(self.brokers, max(1, round(weight * scale))) for weight in weights]
        return [tuple(sorted(draw.sample(range(1, self.brokers + 1), size))) for size in sizes]


@define
class MeshFigures:
    """Measurements of publications: counts, and sums over deliveries."""

    published: int = 0
    delivered: int = 0
    pure: int = 0
    """Brokers that forwarded a publication and did not match it."""
    copies: int = 0
    hops: int = 0
    delay: float = 0.0
    """ms."""
    by_hops: Counter[int] = Factory(Counter)
    sent: Counter[Node] = Factory(Counter)
    """Copies by sender."""

    @property
    def handled(self) -> int:
        return self.delivered + self.pure


class PopulatedBroker:
    """One broker: its map, its links, and the ends that stand for homes."""

    def __init__(self, node: Node, links: Collection[Link], parameters: MeshParameters) -> None:
        self.node = node
        self.master = MasterMap(node, links, parameters.radius)
        whole = MasterMap(node, links, 1_000)
        self.anchor = {home: whole.path(home)[min(parameters.radius, whole.distance[home])] for home in whole.parent}
        self.profile = LinkProfile(parameters)
        self.soft: Sequence[Node] = ()
        self.candidates: Sequence[Node] = ()
        self.view = WorkingMap(self.master, ())
        self.free_at = 0.0
        """When its uplink has sent everything, in microseconds."""
        self.stands: dict[Node, Bits] = {}
        self._rebuild()

    def _rebuild(self) -> None:
        self.view = WorkingMap(self.master, self.soft, self.candidates)
        self.stands = {home: 1 << self.view.stands[anchor] for home, anchor in self.anchor.items()}

    def review(self, loads: dict[Node, int]) -> None:
        """LINK-4 to LINK-6: one round."""
        self.profile.loads = {b: loads[b] for b in self.master.parent}
        self.soft, self.candidates = self.profile.choose(self.master, self.soft, self.candidates)
        self._rebuild()

    def settle(self) -> None:
        """Gives up candidates, which are there to be measured only."""
        self.candidates = ()
        self._rebuild()

    def receivers(
        self, homes: Collection[Node], way: Sequence[Node], strategy: str, *, is_loaded: bool
    ) -> Sequence[Node]:
        view, anchors = self.view, 0
        for home in homes:
            if home != self.node:
                anchors |= self.stands[home]
        chosen = strategy_of(strategy, is_loaded=is_loaded)(view, downstream(view, anchors, way))
        self.profile.count(view.ends(chosen))
        return copies(view, chosen)


class PopulatedNetwork:
    def __init__(self, population: MeshPopulation) -> None:
        self.population = population
        self.links = population.edges()
        self.interests = population.interests()
        self.draw = Random(f"{population.seed} publications")
        chosen = MeshParameters(
            radius=population.radius, fanout=population.fanout, maxlinks=population.maxlinks, rounds=(1,), factor="max"
        )
        self.brokers = {b: PopulatedBroker(b, self.links, chosen) for b in range(1, population.brokers + 1)}

    def warm(self) -> None:
        """Chooses links, by what S2 would send; S0 has none."""
        population = self.population
        if population.strategy == "S0":
            return
        for _ in range(population.rounds):
            figures = self.play(population.warming, "S2", uplink=0.0)
            most = max(figures.sent.values(), default=1)
            loads = {b: round(100 * figures.sent[b] / most) for b in self.brokers}
            for broker in self.brokers.values():
                broker.review(loads)
        for broker in self.brokers.values():
            broker.settle()

    def play(self, publications: int, strategy: str, uplink: float) -> MeshFigures:
        """Publishes at the rate; what is not delivered when the last one is published does not count."""
        population, figures, number = self.population, MeshFigures(), 0
        gap, hop = SECOND / population.rate, population.hop * 1_000
        service = SECOND / uplink if uplink else 0.0
        events: list[tuple[float, int, Node, tuple[Node, ...], int, int, float]] = []
        for n in range(publications):
            publisher = self.draw.choice(range(1, population.brokers + 1))
            topic = self.draw.randrange(population.topics)
            heappush(events, (n * gap, number := number + 1, publisher, (), topic, 0, n * gap))
        end = publications * gap
        for broker in self.brokers.values():
            broker.free_at = 0.0
        figures.published = publications
        while events:
            now, _, node, way, topic, hops, began = heappop(events)
            if uplink and now > end:
                break
            broker, homes = self.brokers[node], self.interests[topic]
            figures.copies += hops > 0
            if node in homes:
                figures.delivered += 1
                figures.hops += hops
                figures.delay += (now - began) / 1_000
                figures.by_hops[hops] += 1
            backlog = broker.free_at - now
            to = broker.receivers(homes, way, strategy, is_loaded=backlog > WINDOW * THRESHOLD)
            figures.pure += bool(to) and node not in homes
            figures.sent[node] += len(to)
            for each in to:
                left = max(now, broker.free_at) + service
                broker.free_at = left
                onward = (*way, *broker.master.path(each)[:-1])
                heappush(events, (left + hop, number := number + 1, each, onward, topic, hops + 1, began))
        return figures


WINDOW, THRESHOLD = 0.1 * SECOND, 0.8
"""FWD-7: an uplink is loaded if what waits for it takes more than this share of the window."""


def played(population: MeshPopulation) -> MeshFigures:
    """The publications of a population, after its links were chosen."""
    network = PopulatedNetwork(population)
    network.warm()
    network.draw = Random(f"{population.seed} measured")  # the same publications for every strategy
    return network.play(population.publications, population.strategy, population.uplink)


# -- covering ----------------------------------------------------------------------------------------------------------


@frozen
class CoveringFigures:
    """SUB-6, on average over brokers: members of all covering sets, and predicates evaluated for a publication."""

    members: float
    evaluations: float


LEVELS = 10
"""Subscriptions of a topic are nested: one of a level covers those of higher ones."""


def covered(population: MeshPopulation) -> CoveringFigures:
    """Covering sets by end of each broker's links, once its links were chosen; each set is read until one matches."""
    network = PopulatedNetwork(population)
    network.warm()
    draw = Random(f"{population.seed} levels")
    levels = {(t, home): draw.randrange(LEVELS) for t, homes in enumerate(network.interests) for home in homes}
    probes = [(draw.randrange(population.topics), draw.randrange(LEVELS)) for _ in range(PROBES)]
    members = evaluations = 0
    for broker in network.brokers.values():
        widest: dict[Bits, dict[int, int]] = {}
        for (topic, home), level in levels.items():
            if home != broker.node:
                held = widest.setdefault(broker.stands[home], {})
                held[topic] = min(level, held.get(topic, LEVELS))
        sets = [list(held.items()) for held in widest.values()]
        members += sum(map(len, sets))
        evaluations += sum(_read(each, topic, level) for each in sets for topic, level in probes)
    many = len(network.brokers)
    return CoveringFigures(members / many, evaluations / many / PROBES)


PROBES = 40
"""Publications for which predicates are counted."""


def _read(covering: Sequence[tuple[int, int]], topic: int, level: int) -> int:
    """Members that are read until one matches."""
    found = (at for at, (wanted, least) in enumerate(covering, 1) if wanted == topic and least <= level)
    return next(found, len(covering))
