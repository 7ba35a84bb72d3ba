"""Pruning in the reference implementation: its brokers, its columns, its messages over TCP, and congestion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve, field, frozen

from routeproof.impl.implementation import Implementation, Own
from routeproof.impl.pruning.broker import PruningBroker
from routeproof.impl.pruning.columns import PruningColumns
from routeproof.impl.tcp.codec import ID_LENGTH, MOST, Field, Wire
from routeproof.model.instance import Instance
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Message,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import Node
from routeproof.model.pruning.messages import Congest, Cut, CutList, Met, Relieve, withdraw
from routeproof.model.pruning.parameters import PRUNING, THRESHOLDS, PruningParameters


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
