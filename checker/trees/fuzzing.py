"""Fuzzing of dissemination on trees: it draws a network with cycles, strategies, and clusters."""

from __future__ import annotations

from attrs import evolve
from hypothesis.stateful import rule

from routeproof.checker.fuzz.strategies import Draw, Fuzzing, pick
from routeproof.checker.fuzz.walk import NUMBER, Machine
from routeproof.model.instance import Instance, Subscriber, own_with
from routeproof.model.overlay import Link, Overlay
from routeproof.model.trees.vocabulary import Compute, Strategy, Switch, TreeParameters

LINKS = (1, 1, 2, 3, 0)
STRATEGIES = (2, 2, 3)
TREES = (1, 1, 2, 3)
"""Numbers of further links, of strategies, and of trees of a strategy, to draw from."""

BREAKING: dict[str, tuple[str, ...]] = {
    "looked": ("newest",),
    "commit": ("early",),
    "torn": ("acknowledged", "installed"),
    "leaves": ("marked",),
    "dropped": ("tree",),
    "next": ("any-time",),
    "log": ("forgotten",),
    "changes": ("old", "new"),
    "parts": ("each",),
    "publisher": ("floods",),
}
"""Readings that are not drawn, since a property fails under each. A given instance may have them."""


def on_trees(draw: Draw, instance: Instance, policy: str) -> Instance:
    """Adds links, strategies, and clusters of most subscriptions."""
    brokers = instance.overlay.brokers
    chords = [(u, v) for u in brokers for v in brokers if u < v and (u, v) not in instance.overlay.edges]
    links = tuple(sorted({pick(draw, chords) for _ in range(pick(draw, LINKS))})) if chords else ()
    network = [*instance.overlay.edges, *links]
    strategies = tuple(
        tuple(_spanning(draw, network) for _ in range(pick(draw, TREES))) for _ in range(pick(draw, STRATEGIES))
    )
    subscribers = tuple(_clustered(draw, each, strategies) for each in instance.subscribers)
    parameters = TreeParameters(links=links, strategies=strategies)
    own = own_with(instance.own, "trees", parameters)
    return evolve(instance, protocol="trees", policies=("none",), subscribers=subscribers, own=own)


def _spanning(draw: Draw, network: list[Link]) -> Overlay:
    """A spanning tree of the network: links in a drawn order, without those that would close a cycle."""
    left, part, edges = list(network), {b: b for link in network for b in link}, list[Link]()
    while left:
        u, v = left.pop(draw_index(draw, len(left)))
        if part[u] != part[v]:
            edges.append((u, v))
            old, new = part[u], part[v]
            part = {b: new if p == old else p for b, p in part.items()}
    return Overlay.of(edges)


def draw_index(draw: Draw, size: int) -> int:
    return pick(draw, range(size))


def _clustered(draw: Draw, subscriber: Subscriber, strategies: tuple[Strategy, ...]) -> Subscriber:
    """One tree of each strategy, or parts in several."""
    parts = tuple(
        tuple(sorted({pick(draw, range(1, len(trees) + 1)) for _ in range(pick(draw, (1, 1, 2)))}))
        for trees in strategies
    )
    return evolve(subscriber, own=own_with(subscriber.own, "clusters", parts))


class SwitchingMachine(Machine):
    """Machine for networks that switch from one strategy to the next."""

    @rule(number=NUMBER)
    def switch(self, number: int) -> None:
        """The coordinator computes a strategy, or installs one."""
        self._operate(number, Compute, Switch)


FUZZING = Fuzzing(on_trees, SwitchingMachine)
"""Dissemination on trees in the engines."""
