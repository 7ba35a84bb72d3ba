"""Dissemination on trees in the reference implementation (`spec/trees.md`): brokers, and the coordinator of switches.

A `TreeRoutingBroker` (`broker`) stands at each broker's node. A `SwitchCoordinator` stands at the coordinator's; it
finds the neighbours toward a home from the trees alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import asdict, define, field

from routeproof.impl import Implementation, Own
from routeproof.impl.observers import Counters
from routeproof.impl.simulator import Costs, Handler
from routeproof.impl.tcp.codec import Wire
from routeproof.impl.trees.broker import Sends, TreeRoutingBroker
from routeproof.model.instance import Instance
from routeproof.model.messages import (
    CORE,
    Message,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Link, Node
from routeproof.model.tables import by_id
from routeproof.model.trees.vocabulary import (
    READINGS,
    TREES,
    Acknowledge,
    Commit,
    Compute,
    Delete,
    Insert,
    Install,
    Stamp,
    Switch,
    TornDown,
    TreeCoordinator,
    TreeParameters,
    parameters_of,
    strategies_of,
)

# -- the coordinator ---------------------------------------------------------------------------------------------------


@define
class PlannedTree:
    """A spanning tree of the network (NET-1, NET-2). `toward`: per home, every broker's neighbour on the way there,
    found once for each home."""

    edges: Sequence[Link]
    around: dict[Node, list[Node]] = field(init=False)
    _toward: dict[Node, dict[Node, Node]] = field(init=False, factory=dict)

    @around.default
    def _around(self) -> dict[Node, list[Node]]:
        found: dict[Node, list[Node]] = {}
        for u, v in self.edges:
            found.setdefault(u, []).append(v)
            found.setdefault(v, []).append(u)
        return found

    def links(self, broker: Node) -> tuple[Node, ...]:
        return tuple(sorted(self.around.get(broker, ())))

    def toward(self, broker: Node, home: Node) -> Node:
        """The neighbour of a broker toward a home; `LOCAL` at home."""
        if home not in self._toward:
            hops, frontier = {home: LOCAL}, [home]
            for reached in frontier:
                for further in self.around.get(reached, ()):
                    if further not in hops:
                        hops[further] = reached
                        frontier.append(further)
            self._toward[home] = hops
        return self._toward[home][broker]


@define
class Plan:
    """The strategies that are switched to, and the clusters of subscriptions by id (CLUS-12); tree 1 where none are."""

    strategies: Sequence[Sequence[PlannedTree]]
    clusters: Mapping[str, Sequence[Sequence[int]]]

    def trees(self, subscription: Subscription, epoch: int) -> Sequence[int]:
        own = self.clusters.get(subscription.id)
        return own[epoch] if own else (1,)

    def hops(self, subscription: Subscription, home: Node, epoch: int, broker: Node) -> Iterator[tuple[int, Node]]:
        for tree in self.trees(subscription, epoch):
            yield tree, self.strategies[epoch][tree - 1].toward(broker, home)


class SwitchCoordinator:
    """Knows all subscriptions, and installs one strategy after the other."""

    def __init__(self, brokers: Iterable[Node], plan: Plan, readings: TreeParameters) -> None:
        self.brokers, self.plan, self.readings = tuple(sorted(brokers)), plan, readings
        self.counters = Counters()
        self.epoch = 0
        self.committed = 0
        self.homes: dict[Subscription, Node] = {}
        self.snapshots: dict[int, dict[Subscription, Node]] = {}
        self.waiting: list[int] = []
        self.unacknowledged: dict[int, set[Node]] = {}
        self.standing: dict[int, set[Node]] = {}

    def receive(self, sender: Node, message: Message) -> Sends:
        """One step: handle a broker's message, or from `LOCAL` a driver's."""
        out: Sends = []
        match message:
            case Subscribe(subscription):
                self.homes[subscription] = sender
                self._insert(subscription, sender, out)
            case Unsubscribe(subscription):
                self.homes.pop(subscription, None)
                epochs = self._changed()
                out += [(broker, Delete(subscription, epochs)) for broker in self.brokers]  # COORD-3
            case Compute(epoch):
                self.snapshots[epoch] = dict(self.homes)  # COORD-7
            case Switch(epoch):
                self._request(epoch, out)
            case Acknowledge(epoch):
                self._acknowledged(epoch, sender, out)
            case TornDown(epoch):
                self._torn_down(epoch, sender, out)
            case _:
                raise TypeError(f"the coordinator cannot receive {message!r}")
        self.counters.step(message, out)
        return out

    @property
    def _is_switching(self) -> bool:
        return bool(self.unacknowledged or self.standing)

    def _changed(self) -> tuple[int, ...]:
        """SWAP-6: the strategies whose tables change with the subscriptions."""
        if self.readings.changes != "both":
            return (self.committed if self.readings.changes == "old" else self.epoch,)
        return tuple(sorted({self.epoch, *self.standing}))

    def _insert(self, subscription: Subscription, home: Node, out: Sends) -> None:
        """COORD-4."""
        epochs = self._changed()
        for broker in self.brokers:
            hops = tuple(
                (epoch, tree, hop)
                for epoch in epochs
                for tree, hop in self.plan.hops(subscription, home, epoch, broker)
            )
            out.append((broker, Insert(subscription, hops)))

    def _request(self, epoch: int, out: Sends) -> None:
        """SWAP-7."""
        if self._is_switching and self.readings.next == "torn-down":
            self.waiting.append(epoch)
        else:
            self._begin(epoch, out)

    def _begin(self, epoch: int, out: Sends) -> None:
        """SWAP-2, with everything that has changed since the snapshot (COORD-7)."""
        snapshot = self.snapshots.pop(epoch, None)
        if snapshot is None:
            return  # it was never computed
        homes = snapshot if self.readings.log == "forgotten" else self.homes
        known = sorted(homes.items(), key=lambda each: by_id(each[0]))
        former, self.epoch = self.epoch, epoch
        self.unacknowledged[epoch] = set(self.brokers)
        self.standing[former] = set(self.brokers)
        for broker in self.brokers:
            links = tuple(tree.links(broker) for tree in self.plan.strategies[epoch])
            hops = tuple(tuple(self.plan.hops(s, home, epoch, broker)) for s, home in known)
            out.append((broker, Install(epoch, links, tuple(s for s, _ in known), hops)))

    def _acknowledged(self, epoch: int, broker: Node, out: Sends) -> None:
        """SWAP-3: the last one commits."""
        awaited = self.unacknowledged.get(epoch, set())
        awaited.discard(broker)
        if not awaited:
            self.unacknowledged.pop(epoch, None)
            self.committed = max(self.committed, epoch)
            out += [(each, Commit(epoch)) for each in self.brokers]

    def _torn_down(self, epoch: int, broker: Node, out: Sends) -> None:
        """SWAP-5; SWAP-7: then the next one."""
        standing = self.standing.get(epoch, set())
        standing.discard(broker)
        if not standing:
            self.standing.pop(epoch, None)
        if self.waiting and not self._is_switching:
            self._begin(self.waiting.pop(0), out)

    def tables(self) -> TreeCoordinator:
        """Its state as the model has it."""
        return TreeCoordinator(
            self.epoch,
            self.committed,
            _in_order(self.homes),
            tuple((epoch, _in_order(homes)) for epoch, homes in self.snapshots.items()),
            tuple(self.waiting),
            tuple(sorted((epoch, broker) for epoch, brokers in self.unacknowledged.items() for broker in brokers)),
            tuple(sorted((epoch, broker) for epoch, brokers in self.standing.items() for broker in brokers)),
        )


def _in_order(homes: Mapping[Subscription, Node]) -> tuple[tuple[Subscription, Node], ...]:
    return tuple(sorted(homes.items(), key=lambda each: by_id(each[0])))


# -- for the rooms -----------------------------------------------------------------------------------------------------


def own_of(instance: Instance) -> Own:
    """The readings, the trees, the clusters, and the coordinator's node."""
    parameters = parameters_of(instance)
    clusters = {each.subscription.id: each.section("clusters", ()) for each in instance.subscribers}
    return {
        "readings": {name: asdict(parameters)[name] for name in READINGS},
        "strategies": [[list(tree.edges) for tree in trees] for trees in strategies_of(instance)],
        "clusters": {id: [list(numbers) for numbers in own] for id, own in clusters.items() if own},
        "brokers": list(instance.overlay.brokers),
        "coordinator": max(instance.overlay.brokers) + 1,  # numbered after the brokers
    }


def make(node: Node, neighbours: Sequence[Node], policy: str, own: Own) -> Handler:
    """A broker, or the coordinator. Without strategies, all neighbours of a broker are those of the only tree."""
    readings = TreeParameters(**own.get("readings", {}))
    strategies = [[PlannedTree([(u, v) for u, v in edges]) for edges in trees] for trees in own.get("strategies", ())]
    if node == own.get("coordinator"):
        return SwitchCoordinator(own["brokers"], Plan(strategies, own.get("clusters", {})), readings)
    trees: list[Any] = [tree.links(node) for tree in strategies[0]] if strategies else [neighbours]
    return TreeRoutingBroker(node, trees, own.get("coordinator", LOCAL), readings)


def own_wire(policy: str, own: Own) -> Wire:
    """Over TCP a driver may have a strategy computed and switched to; the other messages come from nodes only."""
    return Wire((*CORE, *TREES), {Publish: Stamp}, operations=(Compute, Switch))


def costs(policy: str) -> Costs:
    """Prices of Table II of paper 000, for brokers without covering."""
    return Costs.measured("none")


IMPLEMENTATION = Implementation("trees", ("none",), make, messages=TREES, own_of=own_of, own_wire=own_wire, costs=costs)
