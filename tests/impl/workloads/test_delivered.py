"""The reference brokers, under every policy, deliver what the clients of a workload are owed."""

from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest

from routeproof.impl import all_policies, implementation_of, make_node
from routeproof.impl.pruning import Congestion
from routeproof.impl.simulator import MILLISECOND, Network, Observer, Sends, Simulator, TimedOperation
from routeproof.impl.workloads import WORKLOADS, Workload, workload
from routeproof.model.messages import Advertise, Deliver, Message, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.vocabulary import PRUNING
from tests.campaigns import daily


class Deliveries(Observer):
    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
    ) -> None:
        for to, sent in sends:
            if to == LOCAL:
                assert isinstance(sent, Deliver)
                assert sent.subscription.filter.matches(sent.publication.event)
                self.pairs[sent.publication.id, sent.subscription.id] += 1


def phases(operations: Sequence[TimedOperation]) -> list[list[TimedOperation]]:
    """Advertisements; subscriptions; withdrawals and what comes with them; publications."""
    first = next(o.time for o in operations if isinstance(o.message, Publish))
    control = [o for o in operations if not isinstance(o.message, Publish)]
    return [
        [o for o in control if isinstance(o.message, Advertise)],
        [o for o in control if not isinstance(o.message, Advertise) and o.time < first],
        [o for o in operations if isinstance(o.message, Publish)][::2],
        [o for o in control if not isinstance(o.message, Advertise) and o.time >= first],
        [o for o in operations if isinstance(o.message, Publish)][1::2],
    ]


def played(drawn: Workload, policy: str, network: Network) -> Deliveries:
    """Each phase begins when nothing of the one before is under way."""
    deliveries = Deliveries()
    simulator = Simulator(
        drawn.overlay,
        lambda broker: make_node(broker, drawn.overlay.neighbours(broker), policy),
        implementation_of(policy).costs(policy),
        network,
        [deliveries],
        Congestion(high=2, low=1).signals() if policy in PRUNING else None,
    )
    for phase in phases(list(drawn.operations())):
        simulator.play(phase)
    return deliveries


def owed(drawn: Workload) -> set[tuple[str, str]]:
    """By definition: whoever is subscribed while it is published."""
    pairs: set[tuple[str, str]] = set()
    active: dict[str, Subscription] = {}
    for phase in phases(list(drawn.operations())):
        for _, _, message in phase:
            match message:
                case Subscribe(s):
                    active[s.id] = s
                case Unsubscribe(s):
                    del active[s.id]
                case Publish(p):
                    pairs |= {(p.id, s.id) for s in active.values() if s.filter.matches(p.event)}
    return pairs


LARGE = ("controlled", "mobile", "workflow", "tiered")
"""Workloads with more than a thousand operations at the scale of the others; daily there are fewer of them."""


def is_daily(case: tuple[str, float]) -> bool:
    name, scale = case
    return name != "tiered-all" and scale == (0.0003 if name in LARGE else 0.001)


@pytest.mark.parametrize(("name", "scale"), daily(product(WORKLOADS, (0.0003, 0.001)), is_daily))
def test_every_policy_delivers_what_is_owed_and_nothing_twice(name: str, scale: float) -> None:
    drawn = workload(name, scale, 5)
    expected = Counter(owed(drawn))
    assert expected
    for policy in all_policies():
        network = Network(jitter=20 * MILLISECOND, capacity=5, seed=1) if policy == "packing" else Network()
        assert played(drawn, policy, network).pairs == expected, policy
