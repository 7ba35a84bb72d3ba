"""The worth of links (LINK-2 to LINK-6): publications counted per end, known loads, and the choice of a round.

All arithmetic is on integers. Gains of ends at different distances are compared on one scale: each bypassed broker
contributes a factor in percent, and each hop that is missing to the radius contributes 100.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from routeproof.impl.mesh.forwarding import MasterMap
from routeproof.model.mesh.parameters import MeshParameters
from routeproof.model.overlay import Node


class LinkChoice(NamedTuple):
    """The links that a broker has after a round."""

    soft: Sequence[Node]
    candidates: Sequence[Node]


class LinkProfile:
    """One broker's measurements."""

    def __init__(self, parameters: MeshParameters) -> None:
        self.parameters = parameters
        self.sent: Counter[Node] = Counter()
        """Publications meant for each end since the last round."""
        self.loads: dict[Node, int] = {}
        """Percent."""

    def count(self, ends: Iterable[Node]) -> None:
        """LINK-2. Without rounds, nothing begins the counts again."""
        if self.parameters.rounds:
            self.sent.update(ends)

    def gain(self, master: MasterMap, end: Node) -> int:
        """LINK-2 and LINK-3, as a multiple of 100 to the power of the radius."""
        bound = min if self.parameters.factor == "min" else max
        threshold = self.parameters.threshold
        gain, distance = self.sent[end], master.distance[end]
        for broker in self._bypassed(master, end):
            gain *= 100 + bound(0, self.loads.get(broker, threshold) - threshold)
        scale: int = 100 ** (self.parameters.radius - distance + 1)
        return gain * (distance - 1) * scale

    @staticmethod
    def _bypassed(master: MasterMap, end: Node) -> Sequence[Node]:
        return master.path(end)[1:-1]

    def choose(self, master: MasterMap, soft: Collection[Node], candidates: Collection[Node]) -> LinkChoice:
        """LINK-5 and LINK-6; the counts begin again."""
        low = self.parameters.weak * 100**self.parameters.radius
        gains = {end: self.gain(master, end) for end in (*soft, *candidates) if end in master}
        strong = sorted((end for end, gain in gains.items() if gain > low), key=lambda end: (-gains[end], end))
        room = max(0, self.parameters.fanout - len(master.neighbours))
        stubs = self.parameters.maxlinks - self.parameters.fanout
        kept = [end for end in strong[room:] if end in candidates]
        new = self._new(master, {*master.neighbours, *soft, *candidates, master.centre})
        self.sent.clear()
        return LinkChoice(strong[:room], [*kept, *new][:stubs])

    def _new(self, master: MasterMap, known: set[Node]) -> list[Node]:
        """LINK-6."""
        found: list[Node] = []
        around: dict[Node, list[Node]] = {}
        for far, near in master.parent.items():
            around.setdefault(near, []).append(far)
            around.setdefault(far, []).append(near)
        for end in self._busiest(master, known):
            found += [broker for broker in sorted(around[end]) if broker not in known and broker not in found]
        return sorted(found, key=lambda broker: -self._load_under(master, broker))

    def _busiest(self, master: MasterMap, ends: Collection[Node]) -> list[Node]:
        """The ends of links near which there may be candidates, in order; by the letter of LINK-6, by gain. A link that
        was closed since the last round has none."""
        heat = {end: self.sent[end] for end in ends if end in master.parent}
        if self.parameters.seeds == "gain":
            heat = {end: self.gain(master, end) for end in heat}
        return sorted((end for end, many in heat.items() if many > 0), key=lambda end: (-heat[end], end))

    def _load_under(self, master: MasterMap, end: Node) -> int:
        return sum(self.loads.get(broker, 0) for broker in self._bypassed(master, end))
