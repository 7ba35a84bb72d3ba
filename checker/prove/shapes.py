"""The shapes of trees: of all trees of so many brokers, one for each way to be a tree."""

from __future__ import annotations

from functools import cache
from itertools import product

from routeproof.model.overlay import Node, Overlay

Nested = tuple["Nested", ...]
"""A tree below a broker: those below its neighbours, in order."""


@cache
def shapes(brokers: int) -> tuple[Overlay, ...]:
    """Each broker but the first has a neighbour of a lower number: every tree can be numbered so."""
    parents = product(*(range(1, broker) for broker in range(2, brokers + 1)))
    trees = [Overlay.of(zip(choice, range(2, brokers + 1), strict=True)) for choice in parents]
    return tuple({_shape(tree): tree for tree in reversed(trees)}.values())[::-1]


def _shape(tree: Overlay) -> Nested:
    """The same for trees that differ by the names of their brokers only."""

    def below(broker: Node, above: Node | None) -> Nested:
        return tuple(sorted(below(near, broker) for near in tree.neighbours(broker) if near != above))

    return min(below(broker, None) for broker in tree.brokers)
