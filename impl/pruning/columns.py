"""Metrics that are of interest where brokers prune, or are compared with such.

Under pruning a publication may travel several hops for a subscription that is retained only. Each broker but the last
passes it on, so none of them can tell that it comes in vain: `InVain` looks at the whole way, once nothing of the
publication is left on it.
"""

from __future__ import annotations

from collections import Counter

from attrs import define, field

from routeproof.impl.simulation.metrics import Columns, Metrics
from routeproof.impl.simulation.simulator import Handler, Sends
from routeproof.model.messages import Deliver, Message, Publish
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.messages import Congest, Relieve

SIGNALS = {Congest: "congest", Relieve: "relieve"}


@define
class _Way:
    """`came_from`: by broker; `LOCAL` for the publisher's."""

    came_from: dict[Node, Node] = field(factory=dict)
    useful: set[Node] = field(factory=set)
    """Brokers at which or beyond which a client got a delivery."""
    copies: int = 0
    """On links."""


class InVain:
    """The publications that are on their way, by id."""

    def __init__(self) -> None:
        self._ways: dict[str, _Way] = {}

    def handled(self, broker: Node, sender: Node, publication: str, sends: Sends) -> list[Node]:
        """The brokers that a publication came to in vain, when its last copy has been handled."""
        way = self._ways.get(publication)
        if way is None:
            way = self._ways[publication] = _Way()
        way.came_from[broker] = sender
        way.copies -= sender != LOCAL
        served = False
        for receiver, message in sends:
            if receiver != LOCAL:
                way.copies += 1
            else:
                served = served or isinstance(message, Deliver)
        while served and broker != LOCAL and broker not in way.useful:
            way.useful.add(broker)
            broker = way.came_from[broker]
        if way.copies:
            return []
        del self._ways[publication]
        return [broker for broker, x in way.came_from.items() if x != LOCAL and broker not in way.useful]


class PruningColumns(Columns):
    """`rows` in the database of a subscribers' broker; `in_vain`, publications that came from a neighbour and led to no
    delivery, there or beyond; and how often congestion began at the broker, and how often it ended.
    """

    momentary = ("rows",)
    counted = ("in_vain", *SIGNALS.values())

    def __init__(self) -> None:
        self._in_vain = InVain()
        self._counts: Counter[tuple[Node, str]] = Counter()

    def handled(self, node: Node, sender: Node, message: Message, sends: Sends) -> None:
        if isinstance(message, Publish):
            for broker in self._in_vain.handled(node, sender, message.publication.id, sends):
                self._counts[broker, "in_vain"] += 1
        elif type(message) in SIGNALS:
            self._counts[node, message.kind] += 1

    def row(self, node: Node, handler: Handler) -> dict[str, int]:
        # Brokers that are compared with those that prune keep no statistics.
        return {"rows": getattr(handler, "rows", 0), **{name: self._counts[node, name] for name in self.counted}}

    def summary(self, metrics: Metrics) -> dict[str, int]:
        """`rows_most`: of a broker's database, at the moments of the samples; `congested`: how often a broker was."""
        in_vain, congested = (metrics.total(column)[-1] for column in ("in_vain", "congest"))
        return {"in_vain": in_vain, "rows_most": max(metrics.columns["rows"]), "congested": congested}
