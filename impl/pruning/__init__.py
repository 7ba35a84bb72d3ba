"""Pruning in the reference implementation: its brokers, its columns, its messages over TCP, and congestion.

Columns are also shown of brokers that are compared with those that prune. Under pruning a publication may travel
several hops for a subscription that is retained only. Each broker but the last passes it on, so none of them can tell
that it comes in vain: `InVain` looks at the whole way, once nothing of the publication is left on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, evolve, field, frozen

from routeproof.impl import Implementation, Own
from routeproof.impl.observers import ExtraColumns, Metrics
from routeproof.impl.pruning.broker import PruningBroker
from routeproof.impl.simulator import Handler, Sends
from routeproof.impl.tcp.codec import ID_LENGTH, MOST, Field, Wire
from routeproof.model.instance import Instance
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    Message,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.vocabulary import (
    PRUNING,
    THRESHOLDS,
    Congest,
    Cut,
    CutList,
    Met,
    PruningParameters,
    Relieve,
    withdraw,
)


@frozen
class Congestion:
    """The bounds of congestion: a broker is congested when its input queue is longer than `high`, until it is below
    `low`. The change happens between two messages and costs no time. The withdrawals that the broker then handles cost
    no time either: it was counted when they arrived.
    """

    high: int
    low: int = field()

    @low.validator
    def _below(self, _: object, low: int) -> None:
        if low < 1:
            raise ValueError(f"congestion ends below {low}; expected at least 1")
        if low > self.high:
            raise ValueError(f"congestion ends below {low}, above where it begins, {self.high}; expected at most that")

    def signals(self) -> Callable[[Node, int], Message | None]:
        """The signals of one run, as the simulator asks for them."""
        congested: set[Node] = set()

        def signal(node: Node, waiting: int) -> Message | None:
            if node in congested:
                if waiting >= self.low:
                    return None
                congested.discard(node)
                return Relieve()
            if waiting <= self.high:
                return None
            congested.add(node)
            return Congest()

        return signal


def parameters_of(policy: str, own: Own) -> PruningParameters:
    """The readings of a policy: those that `own` gives, which may have come as JSON, and the defaults."""
    read: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in own.items()}
    return evolve(PruningParameters.of(policy), **read)


def make(node: Node, neighbours: Sequence[Node], policy: str, own: Own) -> PruningBroker:
    return PruningBroker(node, neighbours, policy, parameters_of(policy, own))


def own_of(instance: Instance) -> Own:
    return dict(instance.section("pruning", ()))


def withdrawal(policy: str, subscription: Subscription, of: Advertisement) -> Message:
    """A withdrawal with a list that leads one hop further."""
    return withdraw(subscription, (Cut(of.id, (1,) * len(THRESHOLDS[policy])),))


def wire(policy: str, own: Own) -> Wire:
    """The messages of brokers under a policy over TCP, with their limits; they do not pack."""
    thresholds = len(parameters_of(policy, own).thresholds)
    number = Field(f"a whole number from 0 to {MOST}", lambda value: 0 <= value <= MOST)
    cuts = Field(
        f"a list of advertisements, each with {thresholds} distances",
        lambda value: all(_is_whole(cut, thresholds) for cut in value),
    )
    return Wire(
        (Advertise, Unadvertise, Subscribe, Unsubscribe, Publish),
        {Unsubscribe: CutList, Publish: Met},
        {"distance": number, "count": number, "cuts": cuts},
    )


def _is_whole(cut: Cut, thresholds: int) -> bool:
    return (
        0 < len(cut.advertisement) <= ID_LENGTH
        and len(cut.distances) == thresholds
        and all(each is None or -MOST <= each <= MOST for each in cut.distances)
    )


# -- Columns -----------------------------------------------------------------------------------------------------------

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


class PruningColumns(ExtraColumns):
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


IMPLEMENTATION = Implementation(
    "pruning",
    PRUNING,
    make,
    messages=(Congest, Relieve),
    columns=PruningColumns,
    own_wire=wire,
    own_of=own_of,
    withdrawal=withdrawal,
)
