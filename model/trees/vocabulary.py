"""Vocabulary of dissemination on trees: messages, local states, readings, strategies, channels and operations.

An *epoch* is the number of a strategy: 0 is the one at the beginning. Trees of a strategy are numbered from 1. A
strategy is given by the instance; how one is computed is none of the protocol's business. Places that paper 003 leaves
open are readings, with a default:

[trees]
links = [[1, 3]]              # links of the network that the overlay, one of its spanning trees, does not have
strategies = [                # the first one is there at the beginning, the others are switched to in turn
  [[[1, 2], [2, 3]]],         # a strategy of one tree
  [[[1, 2], [1, 3]], [[1, 3], [2, 3]]],
]
looked = "stamped"            # or "newest" (SWAP-1)
commit = "acknowledged"       # or "early" (SWAP-3)
torn = "marked"               # or "acknowledged", "installed" (SWAP-4, SWAP-5)
leaves = "committed"          # or "marked", the letter of SWAP-5
dropped = "strategy"          # or "tree", the letter of SWAP-5
next = "torn-down"            # or "any-time" (SWAP-7)
log = "replayed"              # or "forgotten", as printed (COORD-7)
changes = "both"              # or "old", "new" (SWAP-6)
parts = "first"               # or "each" (CLUS-12)
publisher = "filters"         # or "floods", the letter of NET-4

[[subscription]]
clusters = [1, 2]             # per strategy the tree of the subscription; [1, 2] in the place of a number for a
                              # subscription that has a part in each of these clusters; the first tree where left out
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from attrs import evolve, field, frozen

from routeproof.model.fields import ORDERED, Node, choices_of
from routeproof.model.instance import Instance, OperationRow, core_operations
from routeproof.model.messages import Message, MessageHeader, Subscription
from routeproof.model.overlay import Link, Overlay, Topology
from routeproof.model.tables import by_id


@frozen(cache_hash=True)
class Stamp(MessageHeader):
    """SWAP-1: the strategy and the tree on which a copy travels."""

    epoch: int
    tree: int


@frozen(cache_hash=True)
class Compute(Message, control=False, by="driver"):
    """An operation: the coordinator takes a snapshot of the subscriptions, and computes this strategy for them."""

    epoch: int


@frozen(cache_hash=True)
class Switch(Message, control=False, by="driver"):
    """An operation: the coordinator installs the strategy that it has computed (SWAP-2)."""

    epoch: int


@frozen(cache_hash=True)
class Install(Message, control=False):
    """Coordinator to broker: its tables under a new strategy (SWAP-2).

    `links`: per tree the broker's neighbours in it. `hops`: per subscription, (tree, neighbour toward its home).
    """

    epoch: int
    links: tuple[tuple[Node, ...], ...]
    subscriptions: tuple[Subscription, ...] = ()
    hops: tuple[tuple[tuple[int, Node], ...], ...] = ()


@frozen(cache_hash=True)
class Acknowledge(Message, control=False):
    """Broker to coordinator: it has the tables of this strategy (SWAP-2)."""

    epoch: int


@frozen(cache_hash=True)
class Commit(Message, control=False):
    """Coordinator to broker: all brokers have the tables, so stamp by this strategy from now on (SWAP-3)."""

    epoch: int


@frozen(cache_hash=True)
class EndMark(Message, control=False):
    """Broker to neighbour: no copy of this strategy comes over this link of this tree any more (SWAP-4)."""

    epoch: int
    tree: int


@frozen(cache_hash=True)
class TornDown(Message, control=False):
    """Broker to coordinator: it has no table of this strategy any more (SWAP-5)."""

    epoch: int


@frozen(cache_hash=True)
class Insert(Message):
    """Coordinator to broker: a subscription for its tables, as (epoch, tree, neighbour toward its home) (COORD-4)."""

    subscription: Subscription
    hops: tuple[tuple[int, int, Node], ...]


@frozen(cache_hash=True)
class Delete(Message):
    """Coordinator to broker: a subscription to take out of the tables of these epochs (COORD-3)."""

    subscription: Subscription
    epochs: tuple[int, ...]


TREES = (Compute, Switch, Install, Acknowledge, Commit, EndMark, TornDown, Insert, Delete)
"""The kinds of messages that dissemination on trees adds."""

SWITCHING = (Install, Acknowledge, Commit, EndMark, TornDown)
"""Messages of a switch: while one is queued, it has not ended."""


# -- local states ------------------------------------------------------------------------------------------------------

Nodes = Annotated[tuple[Node, ...], ORDERED]


@frozen(cache_hash=True)
class TreeTable:
    """A broker's table for one tree of one strategy."""

    epoch: int
    tree: int
    links: Nodes
    """Its neighbours in the tree."""
    entries: Annotated[tuple[tuple[Subscription, Node], ...], ORDERED] = ()
    """Subscriptions of the tree's cluster, each with the neighbour toward its home."""
    marked: Nodes = ()
    """Neighbours of which the marker has come."""

    def toward(self, subscription: Subscription) -> Node | None:
        """The neighbour toward a subscription's home, `LOCAL` at home; None where the table does not have it."""
        return next((hop for s, hop in self.entries if s == subscription), None)

    def with_entry(self, subscription: Subscription, hop: Node) -> Self:
        entries = [*self.without_entry(subscription).entries, (subscription, hop)]
        return evolve(self, entries=tuple(sorted(entries, key=lambda e: by_id(e[0]))))

    def without_entry(self, subscription: Subscription) -> Self:
        return evolve(self, entries=tuple(e for e in self.entries if e[0] != subscription))


@frozen(cache_hash=True)
class TreeBroker:
    """A broker: the strategy by which it stamps, its tables by epoch and tree, and the subscriptions of its clients."""

    epoch: int = 0
    tables: tuple[TreeTable, ...] = ()
    clients: Annotated[tuple[Subscription, ...], ORDERED] = ()

    @property
    def epochs(self) -> tuple[int, ...]:
        """The strategies of which it has a table."""
        return tuple(dict.fromkeys(table.epoch for table in self.tables))

    def of_epoch(self, epoch: int) -> tuple[TreeTable, ...]:
        return tuple(table for table in self.tables if table.epoch == epoch)

    def table(self, epoch: int, tree: int) -> TreeTable | None:
        return next((table for table in self.tables if (table.epoch, table.tree) == (epoch, tree)), None)

    def replaced(self, table: TreeTable) -> Self:
        """With this table in the place of the one for the same tree."""
        same = (table.epoch, table.tree)
        return evolve(self, tables=tuple(table if (each.epoch, each.tree) == same else each for each in self.tables))


@frozen(cache_hash=True)
class TreeCoordinator:
    """The coordinator: the subscriptions there are, what it has computed, and the switch that is under way."""

    epoch: int = 0
    """The strategy that was installed last."""
    committed: int = 0
    """The strategy that was committed last."""
    known: Annotated[tuple[tuple[Subscription, Node], ...], ORDERED] = ()
    """Subscriptions with their homes."""
    snapshots: tuple[tuple[int, Annotated[tuple[tuple[Subscription, Node], ...], ORDERED]], ...] = ()
    """Per strategy that was computed and not installed, the subscriptions that there were then."""
    waiting: tuple[int, ...] = ()
    """Strategies that are to be switched to after the switch that is under way (SWAP-7)."""
    unacknowledged: Annotated[tuple[tuple[int, Node], ...], ORDERED] = ()
    """Strategies with brokers that have not acknowledged them."""
    standing: Annotated[tuple[tuple[int, Node], ...], ORDERED] = ()
    """Former strategies with brokers that may have tables of them."""

    @property
    def live(self) -> tuple[int, ...]:
        """The strategies of which brokers may have tables."""
        return tuple(sorted({self.epoch, *(epoch for epoch, _ in self.standing)}))

    @property
    def is_switching(self) -> bool:
        return bool(self.unacknowledged or self.standing)


# -- readings and strategies -------------------------------------------------------------------------------------------

COORDINATOR = "coordinator"

Strategy = tuple[Overlay, ...]
"""Spanning trees of the network; tree 1 is the first."""

Clusters = tuple[tuple[int, ...], ...]
"""Per strategy, the trees in whose clusters a subscription has a part, in ascending order."""


@frozen
class TreeParameters:
    """The links that the overlay lacks, the strategies, and a choice of readings."""

    links: tuple[Link, ...] = ()
    strategies: tuple[Strategy, ...] = ()
    looked: Literal["stamped", "newest"] = "stamped"
    """SWAP-1: a copy is looked up in the tables of its stamp, or by its tree's number in the newest ones."""
    commit: Literal["acknowledged", "early"] = "acknowledged"
    """SWAP-3: brokers stamp by a strategy once all have acknowledged it, or each as soon as it has its tables."""
    torn: Literal["marked", "acknowledged", "installed"] = "marked"
    """SWAP-4, SWAP-5: old tables go behind the markers, with the commit, or as soon as the new ones are there."""
    leaves: Literal["committed", "marked"] = "committed"
    """SWAP-5: a broker that has not committed keeps the tables, or drops them by the letter, once markers are there."""
    dropped: Literal["strategy", "tree"] = "strategy"
    """SWAP-5: the tables of a strategy go together, or by the letter each behind the markers of its tree."""
    next: Literal["torn-down", "any-time"] = "torn-down"
    """SWAP-7: a switch waits for the end of the one before it, or begins at any time."""
    log: Literal["replayed", "forgotten"] = "replayed"
    """COORD-7: changes since the snapshot are applied to the new strategy before it is installed, or are not."""
    changes: Literal["both", "old", "new"] = "both"
    """SWAP-6: a change during a switch is applied to the tables of both strategies, or of one."""
    parts: Literal["first", "each"] = "first"
    """CLUS-12: a host delivers the copy of the first tree in which the subscription has a part, or each copy."""
    publisher: Literal["filters", "floods"] = "filters"
    """NET-4: the publisher's broker filters as every broker does, or sends on all links of the tree."""


READINGS = choices_of(TreeParameters)
"""Per reading its values, the default first."""


DEFAULT = TreeParameters()
ONE_TREE: Clusters = ()
"""Clusters of a subscription that says nothing: the first tree of every strategy."""


def parameters_of(instance: Instance) -> TreeParameters:
    """The parameters that an instance chooses. Without a strategy, the overlay is the only tree."""
    found: TreeParameters = instance.section("trees", DEFAULT)
    return found


def strategies_of(instance: Instance) -> tuple[Strategy, ...]:
    """The strategies in their order; without any, the overlay is the only tree."""
    return parameters_of(instance).strategies or ((instance.overlay,),)


@frozen(eq=False)
class ClusterAssignment:
    """The strategies of an instance, and the clusters of its subscriptions in each of them."""

    strategies: tuple[Strategy, ...]
    clusters: dict[str, Clusters] = field(factory=dict)
    """By the id of a subscription."""

    @classmethod
    def of(cls, instance: Instance) -> ClusterAssignment:
        clusters = {each.subscription.id: each.section("clusters", ONE_TREE) for each in instance.subscribers}
        return cls(strategies_of(instance), clusters)

    def numbers(self, subscription: Subscription, epoch: int) -> tuple[int, ...]:
        """The trees of a strategy in whose clusters a subscription has a part."""
        own = self.clusters.get(subscription.id, ONE_TREE)
        return own[epoch] if own else (1,)

    def hops(self, subscription: Subscription, home: Node, epoch: int, at: Node) -> tuple[tuple[int, Node], ...]:
        """Per tree of the subscription, the neighbour of a broker toward the subscription's home."""
        trees = self.strategies[epoch]
        return tuple((n, trees[n - 1].toward(at, home)) for n in self.numbers(subscription, epoch))


# -- nodes, channels and operations ------------------------------------------------------------------------------------


def topology(instance: Instance) -> Topology:
    """The network, and the coordinator with a channel to each broker."""
    channels: list[tuple[Node | str, Node | str]] = list(parameters_of(instance).links)
    channels += [(COORDINATOR, broker) for broker in instance.overlay.brokers]
    return Topology.of(instance.overlay, {COORDINATOR: "coordinator"}, channels)


def operations(instance: Instance) -> list[OperationRow]:
    """The core's; then for each further strategy that it is computed and that it is switched to."""
    rows, node = core_operations(instance), topology(instance).numbered(COORDINATOR)
    for epoch in range(1, len(strategies_of(instance))):
        before = f"switch({epoch - 1})" if epoch > 1 else ""
        rows.append(OperationRow(f"compute({epoch})", node, Compute(epoch), before))
        rows.append(OperationRow(f"switch({epoch})", node, Switch(epoch), f"compute({epoch})"))
    return rows
