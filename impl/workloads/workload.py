"""Workloads: an overlay, the clients' operations on it with their times, and the parameters behind them.

A `Recipe` is a workload's parameters at the size of its paper. `scaled` makes it smaller, `workload` draws the rest
from a seed. Every parameter has its source: `given` by a paper, or `assumed` here because the paper is silent.

The overlays are those of the papers, as far as their text says: who is linked to whom is in images that we do not have.
`of_operations` makes a workload of an instance: its operations, as often as it gives them, in an order that is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import count, pairwise
from random import Random
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar

from attrs import AttrsInstance, Factory, field, fields, frozen

from routeproof.impl.simulator import MILLISECOND, SECOND, TimedOperation
from routeproof.model.filters import STRICT, Filter
from routeproof.model.instance import OperationRow
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import Node, Overlay, Topology

Setting: TypeAlias = int | float | str
Predicates: TypeAlias = list[list[object]]

ASSUMPTION = "assumption"


@frozen
class Workload:
    """`operations()` begins anew each time it is called, in order of time; it is never held in memory whole."""

    overlay: Overlay
    operations: Callable[[], Iterator[TimedOperation]]
    parameters: Mapping[str, Setting]
    watched: Mapping[Node, str]
    """The brokers that plots show, and their names in the paper."""
    look_every: int
    """Nanoseconds between two samples of the metrics that do it justice."""
    nodes: Topology | None = None
    """The nodes and channels, where there are more than the overlay's."""
    dialect: str = "strict"
    """The language of its filters."""
    own: Mapping[str, Any] = Factory(dict)
    """Values of the protocol's own, which its nodes are made with."""

    @property
    def topology(self) -> Topology:
        return self.nodes or Topology.of(self.overlay)


class Recipe(AttrsInstance, Protocol):
    """Parameters; an attrs class whose fields are made by `given` and `assumed`."""

    @property
    def about(self) -> str:
        """One line."""

    def scaled(self, scale: float) -> Self:
        """1 is the paper's full size."""

    def workload(self, seed: int) -> Workload: ...


@frozen
class Parameter:
    name: str
    value: Setting
    source: str
    about: str


def given(value: Setting, source: str, about: str) -> Any:
    """A field that a paper names: `source` is its number and section."""
    return field(default=value, metadata={"source": source, "about": about})


def assumed(value: Setting, about: str) -> Any:
    """A field that the papers leave open."""
    return given(value, ASSUMPTION, about)


def parameters(recipe: Recipe) -> tuple[Parameter, ...]:
    """All of them, in order, for `docs/reference/workloads.md` and for listing."""
    return tuple(
        Parameter(each.name, getattr(recipe, each.name), each.metadata["source"], each.metadata["about"])
        for each in fields(type(recipe))
    )


def settings(recipe: Recipe) -> dict[str, Setting]:
    return {each.name: each.value for each in parameters(recipe)}


def at_least(least: int, number: float) -> int:
    """A number that was scaled, as a whole one."""
    return max(least, round(number))


def by_root(number: float, scale: float) -> float:
    """For what is one of two factors: a workload of n * m messages shrinks by `scale`, n and m by its root each."""
    return number * math.sqrt(scale)


def stream(seed: int, what: str) -> Random:
    """Random numbers of its own for each thing that is drawn: changing one draw leaves the others as they were."""
    return Random(f"{what} {seed}")


class Ids:
    """Names what clients bring, in the order in which they bring it.

    The order of the names as text is the same: who reads a trace knows no other.
    """

    def __init__(self) -> None:
        self._advertisements = count(1)
        self._subscriptions = count(1)
        self._publications = count(1)

    def advertisement(self, predicates: Predicates) -> Advertisement:
        n = next(self._advertisements)
        return Advertisement(n, _named("a", n), STRICT.parse(predicates))

    def subscription(self, wanted: Predicates | Filter) -> Subscription:
        n = next(self._subscriptions)
        return Subscription(n, _named("s", n), STRICT.parse(wanted) if isinstance(wanted, list) else wanted)

    def publication(self, of: Advertisement, attributes: Mapping[str, object]) -> Publication:
        n = next(self._publications)
        return Publication(n, _named("p", n), of.id, STRICT.event(attributes))


def _named(kind: str, n: int) -> str:
    return f"{kind}{n:08}"


# -- Drawings ----------------------------------------------------------------------------------------------------------


class Scenario(Recipe, Protocol):
    """A recipe whose clients subscribe one after the other before anything else happens."""

    @property
    def subscription_interval_ms(self) -> int: ...
    @property
    def settle_ms(self) -> int: ...
    @property
    def look_ms(self) -> int: ...


ScenarioT = TypeVar("ScenarioT", bound=Scenario)


def drawn(
    recipe: Scenario, overlay: Overlay, draw: Callable[[], Drawing[Any]], watched: Mapping[Node, str]
) -> Workload:
    return Workload(overlay, lambda: draw().operations(), settings(recipe), watched, recipe.look_ms * MILLISECOND)


class Drawing(Generic[ScenarioT]):
    """One drawing of everything that is random in a scenario.

    Advertisements come at 0, then one subscription after the other, and when these have settled everything else.
    """

    start: ClassVar[int] = SECOND
    """When the first subscription comes: advertisements have reached every broker by then."""

    def __init__(self, recipe: ScenarioT, seed: int) -> None:
        self.recipe = recipe
        self.seed = seed
        self.ids = Ids()
        self.publishers: list[tuple[Node, Advertisement]] = []

    def advertised(self) -> Iterator[tuple[Node, Advertisement]]:
        """The advertisements, each at its broker."""
        raise NotImplementedError

    def subscribed(self) -> Iterator[tuple[Node, Subscription]]:
        """The subscriptions, each at its broker, in their order."""
        raise NotImplementedError

    def settled(self, first: int) -> Iterable[Iterator[TimedOperation]]:
        """Everything that happens from `first` on, in streams that are in order of time."""
        raise NotImplementedError

    def operations(self) -> Iterator[TimedOperation]:
        self.publishers = list(self.advertised())
        for broker, advertisement in self.publishers:
            yield TimedOperation(0, broker, Advertise(advertisement))
        time = self.start
        for broker, subscription in self.subscribed():
            yield TimedOperation(time, broker, Subscribe(subscription))
            time += self.recipe.subscription_interval_ms * MILLISECOND
        first = time + self.recipe.settle_ms * MILLISECOND
        yield from merge(*self.settled(first), key=lambda operation: operation.time)

    def publishers_at(
        self, brokers: Sequence[Node], promised: Iterable[Predicates]
    ) -> Iterator[tuple[Node, Advertisement]]:
        """A publisher of each filter at a random broker."""
        random = stream(self.seed, "publishers")
        return ((random.choice(brokers), self.ids.advertisement(each)) for each in promised)

    def published(self, time: int, of: tuple[Node, Advertisement], attributes: Mapping[str, object]) -> TimedOperation:
        broker, advertisement = of
        return TimedOperation(time, broker, Publish(self.ids.publication(advertisement, attributes)))

    def moved(
        self, time: int, clients: list[tuple[Node, Subscription]], n: int, elsewhere: Node
    ) -> Iterator[TimedOperation]:
        """A client withdraws its subscription where it is, and brings the same filter as a new one elsewhere."""
        home, subscription = clients[n]
        clients[n] = elsewhere, self.ids.subscription(subscription.filter)
        yield TimedOperation(time, home, Unsubscribe(subscription))
        yield TimedOperation(time, elsewhere, Subscribe(clients[n][1]))


# -- Overlays ----------------------------------------------------------------------------------------------------------

CORE = "ABCDE"


@frozen
class CoreChain:
    """Fig. 5 of 000, Fig. 6 of 001: a chain of core brokers, inner brokers around it, edge brokers around those."""

    overlay: Overlay
    core: Mapping[Node, str]
    publishers: tuple[Node, ...]
    """Edge brokers, linked to E."""
    subscribers: tuple[Node, ...]
    """The other edge brokers."""


def core_chain(brokers: int, inner: int, publishers: int = 3) -> CoreChain:
    """`inner` without the core. Inner brokers are dealt out to the core in turn, edge brokers to the inner ones."""
    core = list(range(1, len(CORE) + 1))
    around = list(range(core[-1] + 1, core[-1] + 1 + inner))
    outer = list(range(around[-1] + 1, brokers + 1))
    subscribing, publishing = outer[:-publishers], outer[-publishers:]
    edges = list(pairwise(core))
    edges += [(core[i % len(core)], broker) for i, broker in enumerate(around)]
    edges += [(around[i % inner], broker) for i, broker in enumerate(subscribing)]
    edges += [(core[-1], broker) for broker in publishing]
    names = dict(zip(core, CORE, strict=True))
    return CoreChain(Overlay.of(edges), names, tuple(publishing), tuple(subscribing))


def balanced(brokers: int, fan_out: int) -> Overlay:
    """004: broker 1 is the root, and every level is full but the last."""
    return Overlay.of(_below(1, brokers, fan_out))


def _below(root: Node, brokers: int, fan_out: int) -> list[tuple[Node, Node]]:
    """The links of a balanced tree, its brokers numbered from its root on."""
    return [(root + (n - 1) // fan_out, root + n) for n in range(1, brokers)]


def star(brokers: int) -> Overlay:
    """Fig. 8 of 000: broker 1 is the hub."""
    return Overlay.of((1, broker) for broker in range(2, brokers + 1))


@frozen
class Regions:
    """Balanced trees of one size, and what links their roots."""

    overlay: Overlay
    regions: tuple[range, ...]
    """The brokers of each, its root first."""


def domains(many: int, brokers: int, fan_out: int) -> Regions:
    """Fig. 10 of 000: the roots of the domains are a chain."""
    each = tuple(range(1 + n * brokers, 1 + (n + 1) * brokers) for n in range(many))
    links = [link for domain in each for link in _below(domain[0], brokers, fan_out)]
    return Regions(Overlay.of([*pairwise(domain[0] for domain in each), *links]), each)


def tiered(many: int, fan_out: int, tiers: int) -> Regions:
    """Fig. 11 of 001: broker 1 is the core and the first tier, the roots of the regions are the second."""
    brokers = sum(fan_out**tier for tier in range(tiers - 1))
    each = tuple(range(2 + n * brokers, 2 + (n + 1) * brokers) for n in range(many))
    links = [link for region in each for link in _below(region[0], brokers, fan_out)]
    return Regions(Overlay.of([*((1, region[0]) for region in each), *links]), each)


# -- Workloads of instances --------------------------------------------------------------------------------------------

APART = 10 * MILLISECOND
"""Between two operations. Messages of the one are on their way still when the next one comes."""


def of_operations(overlay: Overlay, topology: Topology, rows: Sequence[OperationRow], seed: int) -> Workload:
    """`after` and `until` of the rows are kept to, so that every operation is issued."""
    order = _order(rows, stream(seed, "operations"))
    operations = tuple(TimedOperation(n * APART, row.node, row.message) for n, row in enumerate(order))
    return Workload(overlay, lambda: iter(operations), {"operations": len(operations)}, {}, APART, topology)


def _order(rows: Sequence[OperationRow], random: Random) -> list[OperationRow]:
    """A row comes behind the one that it names in `after`, and before the one in `until`."""
    left, order = list(rows), list[OperationRow]()
    while left:
        waiting = {row.label for row in left}
        held = {row.until for row in left}
        ready = [row for row in left if row.after not in waiting and row.label not in held]
        order.append(random.choice(ready))
        left.remove(order[-1])
    return order
