"""Specification of dissemination on trees (`spec/trees.md`): what a switch must keep, and the rules.

What a table must have is computed from the trees of the instance: which broker on which path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from routeproof.model.history import Ledger
from routeproof.model.messages import Publication, Publish
from routeproof.model.overlay import Link, Node, Overlay
from routeproof.model.trees.vocabulary import SWITCHING, Delete, Insert, Stamp, TreeBroker, TreeCoordinator
from routeproof.spec.specification import OK, Answer, Property, Rule, Seen, Specification, variants
from routeproof.spec.trees.claims import TREE_CLAIMS
from routeproof.spec.trees.claims_of_figures import TREE_FIGURE_CLAIMS

if TYPE_CHECKING:
    from routeproof.spec.theory.proof import Theorem

Queue = tuple[object, ...]
Queues = Mapping[Link, Queue]
States = Mapping[Node, object]


# -- every copy --------------------------------------------------------------------------------------------------------


def on_tree(ledger: Ledger, channel: Link, queue: Queue) -> Answer:
    """Every copy travels on a link of the tree of its stamp, away from its publisher, and none is there twice."""
    copies = list(_copies(queue))
    for i, (p, stamp) in enumerate(copies):
        tree, home = _tree(ledger, stamp), ledger.instance.advertiser_of(p).at
        where = f"a copy of {p} with stamp {stamp.epoch}/{stamp.tree} is on its way {_way(ledger, channel)}"
        if (min(channel), max(channel)) not in tree.edges:
            return f"{where}, which is no link of that tree"
        if tree.path(home, channel[1])[-2:] != channel:
            return f"{where}, which is toward its publisher"
        if (p, stamp) in copies[:i]:
            return f"{where} twice"
    return OK if copies else None


def toward_subscriber(ledger: Ledger, channel: Link, queue: Queue) -> Answer:
    """Every copy travels toward the home of a subscription of its tree's cluster that it matches."""
    for p, stamp in _copies(queue):
        tree = _tree(ledger, stamp)
        wanted = [
            subscriber.at
            for subscriber in ledger.instance.subscribers
            if stamp.tree in ledger.parameters.numbers(subscriber.subscription, stamp.epoch)
            and subscriber.subscription.filter.matches(p.event)
        ]
        if not any(channel[1] in tree.path(channel[0], home) for home in wanted):
            return f"a copy of {p} is on its way {_way(ledger, channel)}, and no subscription there wants it"
    return OK if any(_copies(queue)) else None


def table_there(ledger: Ledger, states: States, queues: Queues) -> Answer:
    """Where a copy is on its way to, there is the table of its stamp."""
    exercised = False
    for channel, queue in queues.items():
        for p, stamp in _copies(queue):
            broker = states[channel[1]]
            assert isinstance(broker, TreeBroker)
            if broker.table(stamp.epoch, stamp.tree) is None:
                there = ledger.name(channel[1])
                return f"a copy of {p} with stamp {stamp.epoch}/{stamp.tree} comes to {there}, which lacks that table"
            exercised = True
    return OK if exercised else None


# -- tables ------------------------------------------------------------------------------------------------------------


def tables_follow_trees(ledger: Ledger, node: Node, broker: TreeBroker, seen: Seen) -> Answer:
    """Every table has its tree's links, and exactly the active subscriptions of the cluster, each toward its home."""
    assignment, exercised = ledger.parameters, False
    for table in broker.tables:
        tree = assignment.strategies[table.epoch][table.tree - 1]
        expected = {}
        for rank, subscriber in enumerate(ledger.instance.subscribers):
            s = ledger.issue(rank, seen.done)
            if s is not None and table.tree in assignment.numbers(s, table.epoch):
                expected[s] = tree.toward(node, subscriber.at)
        where = f"{ledger.name(node)}, strategy {table.epoch}, tree {table.tree}"
        if set(table.links) != set(tree.neighbours(node)):
            return f"{where}: the links are {table.links}; those of the tree are {tree.neighbours(node)}"
        held = dict(table.entries)
        for s in sorted({*held, *expected}, key=lambda s: s.rank):
            if held.get(s) != expected.get(s):
                return f"{where}: {s} lies at {held.get(s)}; by the tree and the clusters at {expected.get(s)}"
        exercised = exercised or bool(expected)
    return OK if exercised else None


def two_strategies(ledger: Ledger, node: Node, broker: TreeBroker) -> Answer:
    """No broker has tables of more than two strategies, and of two they follow one another."""
    epochs = broker.epochs
    if len(epochs) > 2 or (len(epochs) == 2 and epochs[1] != epochs[0] + 1):
        return f"{ledger.name(node)} has tables of the strategies {', '.join(map(str, epochs))}"
    return OK if len(epochs) > 1 else None


def all_installed(ledger: Ledger, states: States) -> Answer:
    """Once a broker stamps by a strategy, every broker has got the tables of it."""
    brokers = _brokers(states)
    first = max(brokers, key=lambda node: brokers[node].epoch)
    epoch = brokers[first].epoch
    for node, broker in brokers.items():
        if max(broker.epochs, default=0) < epoch:
            names = ledger.name(first), ledger.name(node)
            return f"{names[0]} stamps by strategy {epoch}, and {names[1]} has not got its tables of it"
    return OK if epoch else None


# -- the end of a switch -----------------------------------------------------------------------------------------------


def switch_ends(ledger: Ledger, states: States, queues: Queues) -> Answer:
    """A switch of which no message is on its way has ended, and no other one waits for it."""
    coordinator = _coordinator(states)
    if _is_on_its_way(queues):
        return None
    if coordinator.is_switching or coordinator.waiting:
        return (
            f"no message of a switch is on its way, but brokers have not acknowledged ({coordinator.unacknowledged}) or"
            f" may have old tables ({coordinator.standing}), and waiting are {coordinator.waiting}"
        )
    return OK if coordinator.epoch else None


def old_tables_gone(ledger: Ledger, states: States, queues: Queues) -> Answer:
    """Where no switch is under way, every broker has the tables of the last strategy, and no others."""
    coordinator = _coordinator(states)
    if coordinator.is_switching or _is_on_its_way(queues):
        return None
    for node, broker in _brokers(states).items():
        if broker.epochs != (coordinator.epoch,) or broker.epoch != coordinator.epoch:
            has = ", ".join(map(str, broker.epochs)) or "none"
            return (
                f"the switch to strategy {coordinator.epoch} has ended, and {ledger.name(node)} has the tables of {has}"
                f" and stamps by {broker.epoch}"
            )
    return OK if coordinator.epoch else None


# -- sometimes ---------------------------------------------------------------------------------------------------------


def some_switch(ledger: Ledger, states: States, queues: Queues) -> Answer:
    """A switch has ended."""
    coordinator = _coordinator(states)
    return OK if coordinator.epoch and not coordinator.is_switching and not _is_on_its_way(queues) else None


def some_old_copy(ledger: Ledger, states: States, queues: Queues) -> Answer:
    """A copy comes to a broker that stamps by a newer strategy."""
    brokers = _brokers(states)
    copies = ((channel[1], stamp) for channel, queue in queues.items() for _, stamp in _copies(queue))
    return OK if any(brokers[there].epoch > stamp.epoch for there, stamp in copies) else None


def some_two_trees(ledger: Ledger, states: States, queues: Queues) -> Answer:
    """Copies of one publication travel on two trees."""
    trees: dict[Publication, int] = {}
    for queue in queues.values():
        for p, stamp in _copies(queue):
            if trees.setdefault(p, stamp.tree) != stamp.tree:
                return OK
    return None


def some_late_change(ledger: Ledger, channel: Link, queue: Queue) -> Answer:
    """A subscription is inserted or deleted in two strategies at once."""
    for message in queue:
        match message:
            case Insert(_, hops) if len({epoch for epoch, _, _ in hops}) > 1:
                return OK
            case Delete(_, epochs) if len(epochs) > 1:
                return OK
    return None


# -- parts of states ---------------------------------------------------------------------------------------------------


def _copies(queue: Queue) -> Iterator[tuple[Publication, Stamp]]:
    return ((m.publication, m.header) for m in queue if isinstance(m, Publish) and isinstance(m.header, Stamp))


def _brokers(states: States) -> dict[Node, TreeBroker]:
    return {node: local for node, local in states.items() if isinstance(local, TreeBroker)}


def _coordinator(states: States) -> TreeCoordinator:
    return next(local for local in states.values() if isinstance(local, TreeCoordinator))


def _is_on_its_way(queues: Queues) -> bool:
    """True if a message of a switch is queued."""
    return any(isinstance(message, SWITCHING) for queue in queues.values() for message in queue)


def _tree(ledger: Ledger, stamp: Stamp) -> Overlay:
    tree: Overlay = ledger.parameters.strategies[stamp.epoch][stamp.tree - 1]
    return tree


def _way(ledger: Ledger, channel: Link) -> str:
    return " to ".join(["from " + ledger.name(channel[0]), ledger.name(channel[1])])


ON_TREES = variants("trees", ("none",))
EVERYTHING = ("locals", "queues")

PROPERTIES_OF_TREES = (
    Property.of("OnTree", "always", "channel", ON_TREES, on_tree, ("queue",)),
    Property.of("TowardSubscriber", "always", "channel", ON_TREES, toward_subscriber, ("queue",)),
    Property.of("TableThere", "always", "world", ON_TREES, table_there, EVERYTHING),
    Property.of("TablesFollowTrees", "always", "node", ON_TREES, tables_follow_trees, ("local", "done")),
    Property.of("TwoStrategies", "always", "node", ON_TREES, two_strategies, ("local",), quiet=False),
    Property.of("AllInstalled", "always", "world", ON_TREES, all_installed, ("locals",)),
    Property.of("SwitchEnds", "always", "world", ON_TREES, switch_ends, EVERYTHING),
    Property.of("OldTablesGone", "always", "world", ON_TREES, old_tables_gone, EVERYTHING),
    Property.of("SomeSwitch", "sometimes", "world", ON_TREES, some_switch, EVERYTHING),
    Property.of("SomeOldCopy", "sometimes", "world", ON_TREES, some_old_copy, EVERYTHING),
    Property.of("SomeTwoTrees", "sometimes", "world", ON_TREES, some_two_trees, EVERYTHING),
    Property.of("SomeLateChange", "sometimes", "channel", ON_TREES, some_late_change, ("queue",)),
)


# -- rules -------------------------------------------------------------------------------------------------------------

RULES = tuple(
    Rule(id, "trees", title, source, fires)
    for id, title, source, fires in (
        ("NET-1", "the network is a connected graph", "003 II", False),
        ("NET-2", "a strategy: clusters of subscriptions, and a spanning tree for each", "003 II", False),
        ("NET-3", "a document goes onto each tree whose cluster it matches", "003 II", True),
        ("NET-4", "within a tree brokers filter", "003 II", True),
        ("CLUS-12", "a subscription with parts in several clusters is delivered to once", "ours", True),
        ("COORD-2", "the coordinator learns of every subscription", "003 V", True),
        ("COORD-3", "a subscription that is withdrawn is deleted from its tables", "003 V", True),
        ("COORD-4", "a new subscription is inserted along its tree", "003 V", True),
        ("COORD-7", "changes since the snapshot are replayed", "ours", True),
        ("SWAP-1", "a copy carries its strategy and its tree", "ours", True),
        ("SWAP-2", "new tables are installed in addition to the old ones", "ours", True),
        ("SWAP-3", "commit only after all acknowledgements", "ours", True),
        ("SWAP-4", "markers end the old trees link by link", "ours", True),
        ("SWAP-5", "tables go behind the markers", "ours", True),
        ("SWAP-6", "changes during a switch are applied to both strategies", "ours", True),
        ("SWAP-7", "one switch at a time", "ours", True),
    )
)


def theorems() -> Sequence[Theorem]:
    from routeproof.spec.trees.theory import THEOREMS

    return THEOREMS


SPECIFICATION = Specification(
    "trees",
    ("none",),
    properties=PROPERTIES_OF_TREES,
    rules=RULES,
    claims=(*TREE_CLAIMS, *TREE_FIGURE_CLAIMS),
    theorems=theorems,
    adopts=("NoLostDelivery", "NoDuplicate", "Precise", "Drains", "SomeDelivery", "SomeObligation"),
)
