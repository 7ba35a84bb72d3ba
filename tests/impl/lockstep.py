"""Model and reference implementation side by side: told the same, they must say the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import Factory, define
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.strategies import SearchStrategy

from routeproof.impl.routing import Broker
from routeproof.model.messages import Deliver, Publication, Subscription
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.routing import Routing
from routeproof.model.tables import Tables

Said = tuple[dict[Node, list[object]], set[tuple[Publication, Subscription]]]


@define
class Lockstep:
    """One broker, twice. `rules` are those that the model applied so far."""

    overlay: Overlay
    node: Node
    policy: str
    tables: Tables = Tables()
    rules: set[str] = Factory(set)
    routing: Routing = Factory(lambda self: Routing(self.overlay, self.policy), takes_self=True)
    broker: Broker = Factory(lambda self: new_broker(self.overlay, self.node, self.policy), takes_self=True)

    def tell(self, sender: Node, message: object) -> None:
        outcome = self.routing.handle(self.node, self.tables, sender, message)
        assert isinstance(outcome.local, Tables)
        self.tables = outcome.local
        self.rules |= outcome.rules
        assert said(self.broker.receive(sender, message)) == said(outcome.sends)  # type: ignore[arg-type]  # hashable
        assert self.broker.tables() == self.tables

    def restart(self) -> None:
        """Another broker goes on from the tables of this one."""
        self.broker = new_broker(self.overlay, self.node, self.policy)
        self.broker.restore(self.tables)
        assert self.broker.tables() == self.tables


def new_broker(overlay: Overlay, node: Node, policy: str) -> Broker:
    return Broker(node, overlay.neighbours(node), policy)


def said(sends: Iterable[tuple[Node, object]]) -> Said:
    """To each neighbour, in order; and what was delivered. That nothing is delivered twice is asserted."""
    messages: dict[Node, list[object]] = {}
    delivered: list[tuple[Publication, Subscription]] = []
    for receiver, message in sends:
        if receiver == LOCAL:
            assert isinstance(message, Deliver)
            delivered.append((message.publication, message.subscription))
        else:
            messages.setdefault(receiver, []).append(message)
    assert len(set(delivered)) == len(delivered)
    return messages, set(delivered)


def rules_fired(follow: Callable[[Any], Any], talks: SearchStrategy[Any], wanted: set[str], examples: int) -> set[str]:
    """Returns the rules that fire in random talks. Draws anew where one of `wanted` has not fired.

    What Hypothesis draws depends on the modules that are loaded, and one draw may hold examples that are all alike.
    """
    fired: set[str] = set()
    for attempt in range(4):
        if not fired >= wanted:

            @seed(attempt)
            @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
            @given(talks)
            def run(talk: Any) -> None:
                fired.update(follow(talk).rules)

            run()
    return fired
