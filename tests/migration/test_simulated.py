"""A publisher moves in the simulator while it publishes, over links of any delay; also while brokers fall behind."""

from typing import Any

import pytest

from routeproof.impl.migration.implementation import IMPLEMENTATION
from routeproof.impl.simulator import MILLISECOND, Network, Observer, Simulator
from routeproof.model.instance import POLICIES
from routeproof.model.messages import Deliver
from routeproof.model.protocols import DEFINITIONS
from tests.campaigns import daily
from tests.migration.test_tcp import MANY, RATE, instance, operations


class Received(Observer):
    """By broker, the publications that its client received, and every kind of message that was handled."""

    def __init__(self) -> None:
        self.publications: dict[int, list[str]] = {}
        self.kinds: list[str] = []

    def handled(self, *args: Any) -> None:
        _, broker, _, message, _, sends = args
        self.kinds.append(message.kind)
        delivered = [each.publication.id for _, each in sends if isinstance(each, Deliver)]
        self.publications.setdefault(broker, []).extend(delivered)


@pytest.mark.parametrize(("latency", "rate"), [(0, 100), (1, 1_000), (40, 100)])
@pytest.mark.parametrize(("refuses", "to"), [([], [4, 2, 1]), ([4], [4])], ids=["moves", "refused"])
@pytest.mark.parametrize("policy", daily(POLICIES, lambda policy: policy == "active"))
def test_nothing_is_lost_nothing_comes_twice_and_all_in_order(
    policy: str, refuses: list[int], to: list[int], latency: int, rate: int
) -> None:
    """At 1,000 publications a second brokers fall behind, and a move is not over when the next one is requested."""
    asked, received = instance(refuses, to), Received()
    topology, own = DEFINITIONS["migration"].topology(asked), IMPLEMENTATION.own_of(asked)
    Simulator(
        asked.overlay,
        lambda node: IMPLEMENTATION.make(node, topology.neighbours(node), policy, own),
        IMPLEMENTATION.costs(policy),
        network=Network(latency=latency * MILLISECOND),
        observers=[received],
        topology=topology,
    ).play([each._replace(time=each.time * RATE // rate) for each in operations(asked)])
    wanted = [f"p{n}" for n in range(MANY)]
    assert {b: came for b, came in received.publications.items() if came} == dict.fromkeys((1, 2, 4), wanted)
    assert received.kinds.count("relocate") == len(to)
    assert received.kinds.count("refuse" if refuses else "resume") == (len(to) if rate < RATE else 1)
