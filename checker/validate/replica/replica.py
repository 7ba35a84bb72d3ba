"""The model's handlers on bit sets: `Replica`.

The handlers, what they send and in which order are those of `Routing` itself. What reads tables is replaced: settling
(`settling`) and the matching of publications (`publishing`).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

from routeproof.checker.validate.replica.knowledge import Knowledge
from routeproof.checker.validate.replica.publishing import publish_hops, publish_local
from routeproof.checker.validate.replica.settling import changes
from routeproof.checker.validate.replica.universe import Universe
from routeproof.model.messages import (
    Advertise,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import Node, Overlay
from routeproof.model.protocol import Sends
from routeproof.model.routing import Routing, Step
from routeproof.model.tables import Tables

NOWHERE = Tables()


class Replica:
    """The routing core for all brokers of one judge. It answers what `Routing.handle` answers, fast."""

    def __init__(self, overlay: Overlay, policy: str, universe: Universe | None = None) -> None:
        self.universe = Universe() if universe is None else universe
        self._routing = _OnMasks(overlay, policy)

    def knowledge(self, node: Node, tables: Tables = NOWHERE) -> Knowledge:
        """What a broker with these tables knows."""
        return Knowledge.of(self.universe, node, tables)

    def handle(self, knowledge: Knowledge, sender: Node, message: Hashable) -> Sends:
        """One step: what the broker sends, in the model's order. `knowledge` is what it knows afterwards."""
        routing = self._routing
        step = Step(knowledge.node, cast(Tables, knowledge))  # the handlers use the methods that the two share
        match message:
            case Subscribe(s):
                routing.on_subscribe(step, s, sender)
            case Unsubscribe(s):
                routing.on_unsubscribe(step, s, sender)
            case Publish(p):
                routing.on_publish(step, p, sender)
            case PackedSubscribe(many):  # COV-7
                for s in many:
                    routing.on_subscribe(step, s, sender)
            case PackedUnsubscribe(many):  # COV-7
                for s in many:
                    routing.on_unsubscribe(step, s, sender)
            case Advertise(a):
                routing.on_advertise(step, a, sender)
            case Unadvertise(a):
                routing.on_unadvertise(step, a, sender)
            case _:
                raise TypeError(f"the routing core has no handler for {message!r}")
        return routing.pack(step) if routing.policy == "packing" else tuple(step.sends)


class _OnMasks(Routing):
    """`Routing` where `Step.tables` is a `Knowledge`."""

    def settle(self, step: Step, neighbour: Node, rule: str) -> None:
        knowledge = _knowledge(step.tables)
        added, removed = changes(knowledge, self.policy, neighbour)
        if added or removed:
            withdrawn = knowledge.in_sent_order(neighbour, removed)
            self.tell(step, neighbour, tuple(knowledge.in_table_order(added)), tuple(withdrawn))
        knowledge.now_sent(neighbour, added, removed, added if self.policy == "lazy" else 0)

    def publish_to(self, step: Step, p: Publication, sender: Node) -> tuple[Node, ...]:
        return publish_hops(_knowledge(step.tables), sender, p.event)

    def deliver_to(self, tables: Tables, p: Publication) -> tuple[Subscription, ...]:
        knowledge = _knowledge(tables)
        return tuple(knowledge.in_table_order(publish_local(knowledge, p.event)))


def _knowledge(tables: object) -> Knowledge:
    assert isinstance(tables, Knowledge)
    return tables
