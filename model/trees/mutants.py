"""Seeded faults of dissemination on trees: each replaces one method of `Dissemination`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from attrs import evolve

from routeproof.model.definition import Mutant
from routeproof.model.messages import Publication, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Outcome
from routeproof.model.trees.handler import Dissemination, Known
from routeproof.model.trees.vocabulary import Install, Stamp, TornDown, TreeBroker, TreeCoordinator, TreeTable

TREE_MUTANTS: dict[str, Mutant] = {}


def mutant(id: str, rule: str) -> Callable[[type[Dissemination]], type[Dissemination]]:
    """Register a seeded fault; its docstring says what it does wrong."""

    def register(cls: type[Dissemination]) -> type[Dissemination]:
        assert id not in TREE_MUTANTS, id
        TREE_MUTANTS[id] = Mutant(id, "trees", rule, ("none",), " ".join((cls.__doc__ or "").split()), cls)
        return cls

    return register


# -- documents ---------------------------------------------------------------------------------------------------------


@mutant("one-tree-only", "NET-3")
class OneTreeOnly(Dissemination):
    """Sends a document onto the first tree that has a matching subscription, and onto no other."""

    def publish(self, local: TreeBroker, p: Publication, header: Hashable, sender: Node) -> Outcome:
        if isinstance(header, Stamp):
            return super().publish(local, p, header, sender)
        matching = [t for t in local.of_epoch(local.epoch) if any(s.filter.matches(p.event) for s, _ in t.entries)]
        return self.forward(local, matching[:1], p, None, LOCAL)


@mutant("all-links-of-the-tree", "NET-4")
class AllLinksOfTheTree(Dissemination):
    """Sends a copy on all links of its tree."""

    def ends(self, table: TreeTable, hops: set[Node], stamp: Stamp | None) -> set[Node]:
        return set(table.links)


@mutant("back-to-the-sender", "NET-4")
class BackToTheSender(Dissemination):
    """Sends a copy that it passes on back over the link that it came from, too."""

    def forward(
        self, local: TreeBroker, tables: Iterable[TreeTable], p: Publication, stamp: Stamp | None, sender: Node
    ) -> Outcome:
        outcome = super().forward(local, tables, p, stamp, sender)
        echo = [(sender, message) for to, message in outcome.sends if to not in (LOCAL, sender)]
        return evolve(outcome, sends=(*outcome.sends, *echo[:1])) if stamp is not None else outcome


@mutant("stamped-anew", "SWAP-1")
class StampedAnew(Dissemination):
    """Stamps a copy anew at each broker that has a newer strategy."""

    def publish(self, local: TreeBroker, p: Publication, header: Hashable, sender: Node) -> Outcome:
        if isinstance(header, Stamp) and local.table(local.epoch, header.tree) is not None:
            header = Stamp(max(header.epoch, local.epoch), header.tree)
        return super().publish(local, p, header, sender)


@mutant("every-part-delivered", "CLUS-12")
class EveryPartDelivered(Dissemination):
    """Delivers a document for each part of a subscription."""

    def is_first(self, local: TreeBroker, table: TreeTable, s: Subscription) -> bool:
        return True


@mutant("first-of-all-strategies", "CLUS-12")
class FirstOfAllStrategies(Dissemination):
    """Looks for the first tree of a subscription among those of all strategies."""

    def is_first(self, local: TreeBroker, table: TreeTable, s: Subscription) -> bool:
        return all(other.toward(s) is None for other in local.tables if other.tree < table.tree)


# -- subscriptions -----------------------------------------------------------------------------------------------------


@mutant("withdrawals-not-replayed", "COORD-7")
class WithdrawalsNotReplayed(Dissemination):
    """Adds to a new strategy what has been subscribed since its snapshot, and leaves in it what has been withdrawn."""

    def replayed(self, local: TreeCoordinator, snapshot: Known) -> Known:
        new = [each for each in local.known if each not in snapshot]
        return tuple(sorted((*snapshot, *new), key=lambda each: each[0].rank))


@mutant("inserted-in-the-newest", "SWAP-6")
class InsertedInTheNewest(Dissemination):
    """Inserts a subscription into the newest tables of a broker only."""

    def on_insert(self, local: TreeBroker, s: Subscription, hops: tuple[tuple[int, int, Node], ...]) -> Outcome:
        newest = max(local.epochs, default=0)
        return super().on_insert(local, s, tuple(hop for hop in hops if hop[0] == newest))


@mutant("deleted-in-the-stamped", "SWAP-6")
class DeletedInTheStamped(Dissemination):
    """Deletes a subscription only from the tables by which the broker stamps."""

    def on_delete(self, local: TreeBroker, s: Subscription, epochs: tuple[int, ...]) -> Outcome:
        return super().on_delete(local, s, (local.epoch,))


@mutant("toward-the-old-home", "COORD-4")
class TowardTheOldHome(Dissemination):
    """Inserts a subscription into the tables of a new strategy with the neighbours of the old one."""

    def rows(self, s: Subscription, home: Node, epochs: Iterable[int], at: Node) -> tuple[tuple[int, int, Node], ...]:
        first, *_ = epochs = tuple(epochs)
        hops = dict(self.assignment.hops(s, home, first, at))
        return tuple((epoch, n, hops.get(n, hop)) for epoch, n, hop in super().rows(s, home, epochs, at))


# -- the switch --------------------------------------------------------------------------------------------------------


@mutant("installs-no-entries", "SWAP-2")
class InstallsNoEntries(Dissemination):
    """Adds new tables without the subscriptions that come with them."""

    def on_install(self, local: TreeBroker, message: Install) -> Outcome:
        return super().on_install(local, evolve(message, subscriptions=(), hops=()))


@mutant("commits-at-the-first", "SWAP-3")
class CommitsAtTheFirst(Dissemination):
    """Commits when the first broker has acknowledged."""

    def may_commit(self, local: TreeCoordinator, epoch: int) -> bool:
        return sum(number == epoch for number, _ in local.unacknowledged) == len(self.brokers) - 1


@mutant("marks-early", "SWAP-4")
class MarksEarly(Dissemination):
    """Sends its markers with the commit, whether or not those of its other neighbours have come."""

    def due(self, table: TreeTable) -> list[Node]:
        return list(table.links)


@mutant("marks-no-neighbour", "SWAP-4")
class MarksNoNeighbour(Dissemination):
    """Waits for the markers of all neighbours before it sends any."""

    def due(self, table: TreeTable) -> list[Node]:
        return list(table.links) if table.marked == table.links else []


@mutant("a-mark-for-all-trees", "SWAP-4")
class AMarkForAllTrees(Dissemination):
    """Takes a marker for one tree as one for all trees of the strategy that share the link."""

    def on_mark(self, local: TreeBroker, epoch: int, tree: int, sender: Node) -> Outcome:
        others = [t for t in local.of_epoch(epoch) if t.tree != tree and sender in t.links]
        for table in others:
            local = local.replaced(evolve(table, marked=tuple(sorted({*table.marked, sender}))))
        return super().on_mark(local, epoch, tree, sender)


@mutant("one-mark-short", "SWAP-5")
class OneMarkShort(Dissemination):
    """Drops the tables of a strategy when the marker of one neighbour is missing."""

    def is_drained(self, local: TreeBroker, table: TreeTable) -> bool:
        return table.epoch < local.epoch and len(table.marked) + 1 >= len(table.links)


@mutant("keeps-old-tables", "SWAP-5")
class KeepsOldTables(Dissemination):
    """Says that it has dropped the tables of a strategy, and keeps them."""

    def tear_down(self, local: TreeBroker, gone: list[TreeTable]) -> tuple[TreeBroker, list[tuple[Node, Hashable]]]:
        epochs = dict.fromkeys(table.epoch for table in gone)
        return local, [(self.coordinator, TornDown(epoch)) for epoch in epochs]


@mutant("next-with-the-commit", "SWAP-7")
class NextWithTheCommit(Dissemination):
    """Begins the next switch as soon as the one before it is committed."""

    def on_switch(self, local: TreeCoordinator, epoch: int) -> Outcome:
        return self.begin(local, epoch) if not local.unacknowledged else super().on_switch(local, epoch)
