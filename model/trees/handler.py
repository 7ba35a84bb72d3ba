"""The handler of dissemination on trees: brokers that forward by tables of trees, and the coordinator of switches.

`spec/trees.md` is normative; the rule ids in comments are its headings. Small pure methods, so that a mutant
(`mutants`) is one of them replaced.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from attrs import evolve

from routeproof.model.messages import (
    Advertise,
    Deliver,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import NOTHING_KEPT, Kept, Local, Outcome, Sends
from routeproof.model.tables import by_id
from routeproof.model.trees.vocabulary import (
    Acknowledge,
    ClusterAssignment,
    Commit,
    Compute,
    Delete,
    EndMark,
    Insert,
    Install,
    Stamp,
    Switch,
    TornDown,
    TreeBroker,
    TreeCoordinator,
    TreeParameters,
    TreeTable,
)

Known = tuple[tuple[Subscription, Node], ...]


class Dissemination:
    """Brokers with a table for each tree of each strategy that is installed, and their coordinator."""

    name = "trees"
    may_refuse = False
    may_hold = False

    def __init__(self, brokers: tuple[Node, ...], assignment: ClusterAssignment, parameters: TreeParameters) -> None:
        self.brokers, self.assignment, self.parameters = brokers, assignment, parameters
        self.coordinator = max(brokers) + 1

    def initial(self, node: Node) -> Local:
        return TreeCoordinator() if node == self.coordinator else TreeBroker(tables=self.tables(0, node))

    def tables(self, epoch: int, node: Node) -> tuple[TreeTable, ...]:
        """The tables of a broker under a strategy, without subscriptions."""
        trees = enumerate(self.assignment.strategies[epoch], 1)
        return tuple(TreeTable(epoch, number, tree.neighbours(node)) for number, tree in trees)

    def accepts(self, node: Node, local: Local, sender: Node, message: Hashable) -> bool:
        return True

    def kept(self, local: Local) -> Kept:
        return NOTHING_KEPT

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        if isinstance(local, TreeCoordinator):
            return self.at_coordinator(local, sender, message)
        assert isinstance(local, TreeBroker)
        match message:
            case Publish(p, header):
                return self.publish(local, p, header, sender)
            case Subscribe(s):
                local = evolve(local, clients=tuple(sorted((*local.clients, s), key=by_id)))
                return Outcome(local, ((self.coordinator, message),), frozenset({"COORD-2"}))
            case Unsubscribe(s):
                local = evolve(local, clients=tuple(each for each in local.clients if each != s))
                return Outcome(local, ((self.coordinator, message),), frozenset({"COORD-2"}))
            case Advertise() | Unadvertise():  # any broker may publish on any tree
                return Outcome(local)
            case Insert(s, hops):
                return self.on_insert(local, s, hops)
            case Delete(s, epochs):
                return self.on_delete(local, s, epochs)
            case Install():
                return self.on_install(local, message)
            case Commit(epoch):
                return self.on_commit(local, epoch)
            case EndMark(epoch, tree):
                return self.on_mark(local, epoch, tree, sender)
        raise AssertionError(message)

    # -- documents -----------------------------------------------------------------------------------------------------

    def publish(self, local: TreeBroker, p: Publication, header: Hashable, sender: Node) -> Outcome:
        if isinstance(header, Stamp):
            table = self.looked_up(local, header)
            return Outcome(local) if table is None else self.forward(local, [table], p, header, sender)
        return self.forward(local, local.of_epoch(local.epoch), p, None, LOCAL)

    def looked_up(self, local: TreeBroker, stamp: Stamp) -> TreeTable | None:
        """SWAP-1: the table by which a copy goes on."""
        if self.parameters.looked == "newest":
            return local.table(max(local.epochs, default=0), stamp.tree)
        return local.table(stamp.epoch, stamp.tree)

    def forward(
        self, local: TreeBroker, tables: Iterable[TreeTable], p: Publication, stamp: Stamp | None, sender: Node
    ) -> Outcome:
        """NET-3, NET-4: on each of these trees to where it matches, and to local clients."""
        sends: list[tuple[Node, Hashable]] = []
        rules = {"SWAP-1"} if stamp is not None else set()
        for table in tables:
            hops = {hop for s, hop in table.entries if s.filter.matches(p.event)}
            ends = self.ends(table, hops, stamp) - {LOCAL, sender}
            own = stamp or self.stamp(local, table)
            sends += [(end, Publish(p, own)) for end in sorted(ends)]
            for s, hop in table.entries:
                if hop == LOCAL and s in local.clients and s.filter.matches(p.event):
                    if self.is_first(local, table, s):
                        sends.append((LOCAL, Deliver(p, s)))
                    else:
                        rules.add("CLUS-12")
            if hops:
                rules |= {"NET-3"} if stamp is None else {"NET-4"}
        return Outcome(local, tuple(sends), frozenset(rules))

    def ends(self, table: TreeTable, hops: set[Node], stamp: Stamp | None) -> set[Node]:
        """NET-4: the neighbours that get a copy."""
        if stamp is None and hops and self.parameters.publisher == "floods":
            return set(table.links)
        return set(hops)

    def stamp(self, local: TreeBroker, table: TreeTable) -> Stamp:
        """SWAP-1: what the publisher's broker writes on a copy."""
        return Stamp(table.epoch, table.tree)

    def is_first(self, local: TreeBroker, table: TreeTable, s: Subscription) -> bool:
        """CLUS-12: of a subscription with parts in several clusters, the first tree's copy is the one to deliver."""
        if self.parameters.parts == "each":
            return True
        return all(other.toward(s) is None for other in local.of_epoch(table.epoch) if other.tree < table.tree)

    # -- subscriptions at brokers --------------------------------------------------------------------------------------

    def on_insert(self, local: TreeBroker, s: Subscription, hops: tuple[tuple[int, int, Node], ...]) -> Outcome:
        """COORD-4."""
        rules = {"COORD-4"}
        for epoch, tree, hop in hops:
            table = local.table(epoch, tree)
            if table is not None:
                local = local.replaced(table.with_entry(s, hop))
        if len({epoch for epoch, _, _ in hops}) > 1:
            rules.add("SWAP-6")
        return Outcome(local, (), frozenset(rules))

    def on_delete(self, local: TreeBroker, s: Subscription, epochs: tuple[int, ...]) -> Outcome:
        """COORD-3."""
        for table in local.tables:
            if table.epoch in epochs:
                local = local.replaced(table.without_entry(s))
        return Outcome(local, (), frozenset({"COORD-3"} | ({"SWAP-6"} if len(epochs) > 1 else set())))

    # -- a switch at brokers -------------------------------------------------------------------------------------------

    def on_install(self, local: TreeBroker, message: Install) -> Outcome:
        """SWAP-2: the new tables in addition to the old ones."""
        tables = {n: TreeTable(message.epoch, n, links) for n, links in enumerate(message.links, 1)}
        for s, hops in zip(message.subscriptions, message.hops, strict=True):
            for tree, hop in hops:
                tables[tree] = tables[tree].with_entry(s, hop)
        local = evolve(local, tables=(*local.tables, *tables.values()))
        sends: list[tuple[Node, Hashable]] = [(self.coordinator, Acknowledge(message.epoch))]
        rules = {"SWAP-2"}
        if self.parameters.commit == "early":
            local, more = self.commit(local, message.epoch)
            sends += more
        if self.parameters.torn == "installed":
            local, more = self.tear_down(local, self.older(local, message.epoch))
            sends += more
            rules.add("SWAP-5")
        return Outcome(local, tuple(sends), frozenset(rules))

    def on_commit(self, local: TreeBroker, epoch: int) -> Outcome:
        """SWAP-3: stamps by the new strategy from now on."""
        rules = {"SWAP-3"}
        local, sends = self.commit(local, epoch)
        if any(isinstance(message, EndMark) for _, message in sends):
            rules.add("SWAP-4")
        if self.parameters.torn == "acknowledged":
            local, more = self.tear_down(local, self.older(local, epoch))
            sends, rules = [*sends, *more], {*rules, "SWAP-5"}
        return Outcome(local, tuple(sends), frozenset(rules))

    def commit(self, local: TreeBroker, epoch: int) -> tuple[TreeBroker, list[tuple[Node, Hashable]]]:
        """SWAP-4: with the new stamp, the old trees begin to drain."""
        before, sends = local.epoch, list[tuple[Node, Hashable]]()
        local = evolve(local, epoch=max(epoch, before))
        if self.parameters.torn == "marked":
            for table in local.tables:
                if before <= table.epoch < local.epoch:
                    sends += self.marks(table, self.due(table))
            local, more = self.tear_down(local, self.drained(local))
            sends += more
        return local, sends

    def on_mark(self, local: TreeBroker, epoch: int, tree: int, sender: Node) -> Outcome:
        """SWAP-4: a marker; where this broker stamps by a newer strategy, its own may be due."""
        table = local.table(epoch, tree)
        if table is None:
            return Outcome(local)
        marked = evolve(table, marked=tuple(sorted({*table.marked, sender})))
        local, sends = local.replaced(marked), list[tuple[Node, Hashable]]()
        rules = {"SWAP-4"}
        if local.epoch > epoch:
            sends += self.marks(marked, [n for n in self.due(marked) if n not in self.due(table)])
        if self.parameters.torn == "marked":
            before = local
            local, more = self.tear_down(local, self.drained(local))
            sends += more
            if local != before:
                rules.add("SWAP-5")
        return Outcome(local, tuple(sends), frozenset(rules))

    def marks(self, table: TreeTable, to: Iterable[Node]) -> Iterator[tuple[Node, Hashable]]:
        return ((n, EndMark(table.epoch, table.tree)) for n in to)

    def due(self, table: TreeTable) -> list[Node]:
        """SWAP-4: the neighbours to which a marker is due: those of all others have come."""
        return [n for n in table.links if all(other in table.marked for other in table.links if other != n)]

    def drained(self, local: TreeBroker) -> list[TreeTable]:
        """SWAP-5: the tables on which no copy can come any more; those of a strategy go together."""
        gone = [table for table in local.tables if self.is_drained(local, table)]
        if self.parameters.dropped == "tree":
            return gone
        return [table for table in gone if all(other in gone for other in local.of_epoch(table.epoch))]

    def is_drained(self, local: TreeBroker, table: TreeTable) -> bool:
        if table.marked != table.links:
            return False
        return table.epoch < local.epoch or (self.parameters.leaves == "marked" and bool(table.marked))

    def older(self, local: TreeBroker, epoch: int) -> list[TreeTable]:
        return [table for table in local.tables if table.epoch < epoch]

    def tear_down(self, local: TreeBroker, gone: list[TreeTable]) -> tuple[TreeBroker, list[tuple[Node, Hashable]]]:
        """SWAP-5: without these tables; the coordinator learns when the last of a strategy is gone."""
        before = local.epochs
        local = evolve(local, tables=tuple(table for table in local.tables if table not in gone))
        return local, [(self.coordinator, TornDown(epoch)) for epoch in before if epoch not in local.epochs]

    # -- the coordinator -----------------------------------------------------------------------------------------------

    def at_coordinator(self, local: TreeCoordinator, sender: Node, message: Hashable) -> Outcome:
        match message:
            case Subscribe(s):
                return self.on_subscription(local, s, sender)
            case Unsubscribe(s):
                return self.on_withdrawal(local, s)
            case Compute(epoch):  # COORD-7
                return Outcome(evolve(local, snapshots=(*local.snapshots, (epoch, local.known))))
            case Switch(epoch):
                return self.on_switch(local, epoch)
            case Acknowledge(epoch):
                return self.on_acknowledge(local, epoch, sender)
            case TornDown(epoch):
                return self.on_torn_down(local, epoch, sender)
        raise AssertionError(message)

    def on_subscription(self, local: TreeCoordinator, s: Subscription, home: Node) -> Outcome:
        """COORD-4, SWAP-6: into the tables of its clusters, in every strategy that brokers have."""
        local = evolve(local, known=tuple(sorted((*local.known, (s, home)), key=lambda e: by_id(e[0]))))
        epochs = self.changed(local)
        sends = tuple((b, Insert(s, self.rows(s, home, epochs, b))) for b in self.brokers)
        return Outcome(local, sends, frozenset({"COORD-4"}))

    def rows(self, s: Subscription, home: Node, epochs: Iterable[int], at: Node) -> tuple[tuple[int, int, Node], ...]:
        return tuple((epoch, *row) for epoch in epochs for row in self.assignment.hops(s, home, epoch, at))

    def on_withdrawal(self, local: TreeCoordinator, s: Subscription) -> Outcome:
        """COORD-3, SWAP-6."""
        local = evolve(local, known=tuple(each for each in local.known if each[0] != s))
        epochs = self.changed(local)
        return Outcome(local, tuple((b, Delete(s, epochs)) for b in self.brokers), frozenset({"COORD-3"}))

    def changed(self, local: TreeCoordinator) -> tuple[int, ...]:
        """SWAP-6: the strategies to whose tables a change is applied."""
        if self.parameters.changes == "both":
            return local.live
        return (local.committed if self.parameters.changes == "old" else local.epoch,)

    def on_switch(self, local: TreeCoordinator, epoch: int) -> Outcome:
        """SWAP-7: one switch at a time."""
        if local.is_switching and self.parameters.next == "torn-down":
            return Outcome(evolve(local, waiting=(*local.waiting, epoch)), (), frozenset({"SWAP-7"}))
        return self.begin(local, epoch)

    def begin(self, local: TreeCoordinator, epoch: int) -> Outcome:
        """SWAP-2: every broker gets its tables."""
        rules = {"SWAP-2"}
        snapshot = next((known for number, known in local.snapshots if number == epoch), None)
        if snapshot is None:  # it has crashed since it computed this strategy
            return Outcome(local)
        subscriptions = self.replayed(local, snapshot)
        if subscriptions != snapshot:
            rules.add("COORD-7")
        former = local.epoch
        local = evolve(
            local,
            epoch=epoch,
            snapshots=tuple(each for each in local.snapshots if each[0] != epoch),
            unacknowledged=(*local.unacknowledged, *((epoch, b) for b in self.brokers)),
            standing=(*local.standing, *((former, b) for b in self.brokers)),
        )
        return Outcome(local, tuple(self.installs(epoch, subscriptions)), frozenset(rules))

    def replayed(self, local: TreeCoordinator, snapshot: Known) -> Known:
        """COORD-7: the subscriptions of a new strategy, with what has changed since its snapshot."""
        return snapshot if self.parameters.log == "forgotten" else local.known

    def installs(self, epoch: int, known: Known) -> Iterator[tuple[Node, Hashable]]:
        trees = self.assignment.strategies[epoch]
        for b in self.brokers:
            links = tuple(tree.neighbours(b) for tree in trees)
            hops = tuple(self.assignment.hops(s, home, epoch, b) for s, home in known)
            yield b, Install(epoch, links, tuple(s for s, _ in known), hops)

    def on_acknowledge(self, local: TreeCoordinator, epoch: int, broker: Node) -> Outcome:
        """SWAP-3: commits once all have acknowledged."""
        local = evolve(local, unacknowledged=tuple(e for e in local.unacknowledged if e != (epoch, broker)))
        if not self.may_commit(local, epoch):
            return Outcome(local)
        local = evolve(local, committed=max(epoch, local.committed))
        return Outcome(local, self.commits(epoch), frozenset({"SWAP-3"}))

    def may_commit(self, local: TreeCoordinator, epoch: int) -> bool:
        return all(number != epoch for number, _ in local.unacknowledged)

    def commits(self, epoch: int) -> Sends:
        return tuple((b, Commit(epoch)) for b in self.brokers)

    def on_torn_down(self, local: TreeCoordinator, epoch: int, broker: Node) -> Outcome:
        """SWAP-5, SWAP-7: with the last one the switch has ended, and the next one begins."""
        local = evolve(local, standing=tuple(e for e in local.standing if e != (epoch, broker)))
        if local.waiting and not local.is_switching:
            return self.begin(evolve(local, waiting=local.waiting[1:]), local.waiting[0])
        return Outcome(local, (), frozenset({"SWAP-5"}))
