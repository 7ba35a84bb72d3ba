"""The overlay of a trace as arrays: brokers by number, each with its parent in a tree whose root is broker 0.

Each edge is known by the broker at its far end from the root. A value for each directed edge is therefore two rows:
`down`, of the edge into a broker from its parent, and `up`, of the edge from a broker to its parent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate.store import natural
from routeproof.model.overlay import Overlay, OverlayError
from routeproof.traces import Header

Column: TypeAlias = Any
"""A numpy array."""

KINDS = ("client", "deliver")
"""Kinds of events without which nothing can be computed."""


@frozen
class Frame:
    """The overlay and the settings that the header of a trace fixes. Brokers are numbered by name."""

    run: str
    names: tuple[str, ...]
    parents: tuple[int, ...]
    """The parent of each broker; that of broker 0 is -1."""
    order: tuple[int, ...]
    """Every broker after its parent, broker 0 first."""
    shared_clock: bool = False
    number: Mapping[str, int] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "number", {name: at for at, name in enumerate(self.names)})

    @classmethod
    def of(cls, header: Header) -> Frame:
        """The frame of a trace. `UsageError` where publishers cannot be placed by it."""
        names = tuple(sorted({name for edge in header.overlay for name in edge}, key=natural))
        if not names:
            raise UsageError("the header's overlay has no links; expected at least two brokers to choose from")
        observes = header.observes or (*KINDS, "receive")
        if missing := [kind for kind in KINDS if kind not in observes]:
            raise UsageError(
                f"the header does not list {' and '.join(missing)} among the kinds of events that it observes;"
                " placement needs publications of clients and deliveries"
            )
        number = {name: at for at, name in enumerate(names)}
        try:
            tree = Overlay.of((number[near] + 1, number[far] + 1) for near, far in header.overlay)
        except OverlayError as error:
            raise UsageError(f"the header's overlay: {error} (brokers numbered by name)") from None
        parents, order = _rooted(tree)
        shared = header.more.get("clock") == "shared" and "receive" in observes
        return cls(header.run, names, parents, order, shared)

    def __len__(self) -> int:
        return len(self.names)

    def parent_array(self) -> Column:
        return np.array(self.parents, np.int64)

    def subtrees(self, values: Column) -> Column:
        """Sums of rows, one for each broker, over the brokers below each one and itself."""
        return self._gathered(values, np.add)

    def united(self, vectors: Column) -> Column:
        """Unions of bit vectors, one for each broker, over the brokers below each one and itself."""
        return self._gathered(vectors, np.bitwise_or)

    def _gathered(self, values: Column, add: Callable[..., Column]) -> Column:
        found = values.copy()
        for broker in reversed(self.order[1:]):
            found[self.parents[broker]] = add(found[self.parents[broker]], found[broker])
        return found

    def outside(self, vectors: Column, below: Column) -> Column:
        """Unions of bit vectors over all brokers that are not below a broker; of broker 0 nothing."""
        children: dict[int, list[int]] = {}
        for broker in self.order[1:]:
            children.setdefault(self.parents[broker], []).append(broker)
        found = np.zeros_like(below)
        for parent in self.order:
            mine = children.get(parent, ())
            base = vectors[parent] | found[parent]
            before = base.copy()
            for child in mine:  # what its earlier siblings have
                found[child] = before
                before |= below[child]
            after = np.zeros_like(base)
            for child in reversed(mine):  # what its later siblings have
                found[child] |= after
                after |= below[child]
        return found

    def at_every_root(self, at_zero: Column, down: Column, up: Column) -> Column:
        """Costs with the publisher at each broker, a row each, from the cost with the publisher at broker 0.

        A move over an edge turns it round: `down` of it is no longer paid, `up` is.
        """
        found = np.zeros_like(down)
        found[0] = at_zero
        for broker in self.order[1:]:
            found[broker] = found[self.parents[broker]] - down[broker] + up[broker]
        return found

    def way_up(self, broker: int) -> list[int]:
        """The brokers from this one to broker 0, both included."""
        found = [broker]
        while found[-1]:
            found.append(self.parents[found[-1]])
        return found

    def path(self, start: int, end: int) -> list[int]:
        """The brokers from one to another, both included."""
        up, down = self.way_up(start), self.way_up(end)
        while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
            up.pop()
            down.pop()
        return up + down[-2::-1]


def _rooted(tree: Overlay) -> tuple[tuple[int, ...], tuple[int, ...]]:
    parents, order = [-1] * len(tree.brokers), [0]
    for broker in order:
        for neighbour in tree.neighbours(broker + 1):
            if neighbour - 1 != parents[broker]:
                parents[neighbour - 1] = broker
                order.append(neighbour - 1)
    return tuple(parents), tuple(order)
