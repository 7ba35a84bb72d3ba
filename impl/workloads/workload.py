"""Workloads: an overlay, the clients' operations on it with their times, and the parameters behind them.

A `Recipe` is a workload's parameters at the size of its paper. `scaled` makes it smaller, `workload` draws the rest
from a seed. Every parameter has its source: `given` by a paper, or `assumed` here because the paper is silent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from random import Random
from typing import Any, Protocol, Self, TypeAlias

from attrs import AttrsInstance, Factory, field, fields, frozen

from routeproof.impl.simulation.simulator import Operation
from routeproof.model.filters import STRICT, Filter
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Node, Overlay
from routeproof.model.topology import Topology

Setting: TypeAlias = int | float | str

ASSUMPTION = "assumption"


@frozen
class Workload:
    """`operations()` begins anew each time it is called, in order of time; it is never held in memory whole."""

    overlay: Overlay
    operations: Callable[[], Iterator[Operation]]
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

    def advertisement(self, predicates: list[list[object]]) -> Advertisement:
        n = next(self._advertisements)
        return Advertisement(n, _named("a", n), STRICT.parse(predicates))

    def subscription(self, wanted: list[list[object]] | Filter) -> Subscription:
        n = next(self._subscriptions)
        return Subscription(n, _named("s", n), STRICT.parse(wanted) if isinstance(wanted, list) else wanted)

    def publication(self, of: Advertisement, attributes: Mapping[str, object]) -> Publication:
        n = next(self._publications)
        return Publication(n, _named("p", n), of.id, STRICT.event(attributes))


def _named(kind: str, n: int) -> str:
    return f"{kind}{n:08}"
