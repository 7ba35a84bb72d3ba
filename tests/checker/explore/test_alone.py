"""One broker, no links: the smallest world there is."""

from routeproof.checker.experiments.bench import plain_search
from routeproof.checker.explore import explore
from routeproof.model.filters import EventSet
from routeproof.model.instance import Advertiser, Instance, Subscriber
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Overlay
from routeproof.model.protocols import world


def test_a_broker_alone() -> None:
    event = EventSet.of([0])
    alone = Instance(
        "alone",
        Overlay.of([]),
        (Advertiser(Advertisement(0, "a", event), 1),),
        (Subscriber(Subscription(0, "s", event), 1, unsubscribes=True),),
        (Publication(0, "p", "a", 0),),
    )
    for policy in ("none", "active", "lazy", "packing"):
        result = explore(world(alone, policy))
        plain = plain_search(world(alone, policy))
        assert (result.states, result.transitions, result.depth) == (plain.states, plain.transitions, plain.depth)
        assert all(f.verdict == "holds" for f in result.findings.values() if f.kind == "always")
        assert result.findings["Agreement"].exercised == 0
