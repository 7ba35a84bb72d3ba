"""Dissemination on trees and its switch, written from the text of `spec/trees.md`; it shares no code with routeproof.

The coordinator is the node behind the last broker. A copy of a document is `("Pub", p, (epoch, tree))`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tests.naive.instances import Instance
from tests.naive.routing import LOCAL, Message, Routing, State

READINGS = {
    "looked": "stamped",
    "commit": "acknowledged",
    "torn": "marked",
    "leaves": "committed",
    "dropped": "strategy",
    "next": "torn-down",
    "log": "replayed",
    "changes": "both",
    "parts": "first",
    "publisher": "filters",
}
OF_SWITCHES = ("Install", "Acknowledge", "Commit", "Endmark", "Torndown")
CHANGING = ("Sub", "Unsub", "Insert", "Delete")
Place = tuple[int, int]
"""An epoch and the number of a tree."""


class Table(NamedTuple):
    """A table of a broker."""

    entries: frozenset[tuple[int, int]] = frozenset()
    """(subscription, the neighbour toward its home)."""
    marked: frozenset[int] = frozenset()


class TreeTables(NamedTuple):
    """The state of a broker."""

    epoch: int
    tables: frozenset[tuple[Place, Table]]
    clients: frozenset[int] = frozenset()


class Coordinator(NamedTuple):
    """The state of the coordinator."""

    installed: int = 0
    committed: int = 0
    known: frozenset[tuple[int, int]] = frozenset()
    """(subscription, home)."""
    snapshots: frozenset[tuple[int, frozenset[tuple[int, int]]]] = frozenset()
    waiting: tuple[int, ...] = ()
    awaited: frozenset[tuple[int, int]] = frozenset()
    """(epoch, broker) that has not acknowledged."""
    standing: frozenset[tuple[int, int]] = frozenset()
    """(epoch, broker) that may have tables of it."""

    @property
    def is_switching(self) -> bool:
        return bool(self.awaited or self.standing)


class TreeStep:
    """A broker while it handles one message."""

    def __init__(self, world: "Trees", b: int, local: TreeTables) -> None:
        self.world, self.b = world, b
        self.epoch, self.tables, self.clients = local.epoch, dict(local.tables), set(local.clients)
        self.out: list[tuple[int, Message]] = []
        self.delivered: list[tuple[int, int]] = []

    def closed(self) -> TreeTables:
        return TreeTables(self.epoch, frozenset(self.tables.items()), frozenset(self.clients))

    def links(self, place: Place) -> list[int]:
        return self.world.neighbours(place, self.b)

    # -- documents --

    def pub(self, x: int, p: int, stamp: Place | None = None) -> None:
        if stamp is None:  # NET-3
            for place in sorted(place for place in self.tables if place[0] == self.epoch):
                self.carry(x, p, place, place, self.world.reads["publisher"] == "floods")
            return
        newest = max((epoch for epoch, _ in self.tables), default=0)
        place = (newest, stamp[1]) if self.world.reads["looked"] == "newest" else stamp
        if place in self.tables:
            self.carry(x, p, place, stamp, False)

    def carry(self, x: int, p: int, place: Place, stamp: Place, floods: bool) -> None:
        hits = [(s, hop) for s, hop in sorted(self.tables[place].entries) if self.world.matches(s, p)]
        ends = {hop for _, hop in hits}
        if floods and hits:
            ends = set(self.links(place))
        self.out += [(u, ("Pub", p, stamp)) for u in sorted(ends - {LOCAL, x})]
        for s, hop in hits:
            if hop == LOCAL and s in self.clients and self.comes_first(s, place):
                self.delivered.append((p, s))

    def comes_first(self, s: int, place: Place) -> bool:
        """CLUS-12."""
        before = [self.tables.get((place[0], tree), Table()).entries for tree in range(1, place[1])]
        return self.world.reads["parts"] == "each" or not any(s == t for entries in before for t, _ in entries)

    # -- subscriptions --

    def sub(self, x: int, s: int) -> None:
        self.clients.add(s)
        self.out.append((self.world.coordinator, ("Sub", s)))

    def unsub(self, x: int, s: int) -> None:
        self.clients.discard(s)
        self.out.append((self.world.coordinator, ("Unsub", s)))

    def insert(self, x: int, s: int, hops: tuple[tuple[Place, int], ...]) -> None:
        for place, hop in hops:
            if place in self.tables:
                table = self.tables[place]
                self.tables[place] = table._replace(entries=table.entries | {(s, hop)})

    def delete(self, x: int, s: int, epochs: tuple[int, ...]) -> None:
        for place, table in self.tables.items():
            if place[0] in epochs:
                left = frozenset((t, hop) for t, hop in table.entries if t != s)
                self.tables[place] = table._replace(entries=left)

    # -- a switch --

    def install(self, x: int, e: int, entries: frozenset[tuple[Place, int, int]]) -> None:
        for tree in range(1, len(self.world.strategies[e]) + 1):
            own = frozenset((s, hop) for place, s, hop in entries if place == (e, tree))
            self.tables[e, tree] = Table(own)
        self.out.append((x, ("Acknowledge", e)))
        if self.world.reads["torn"] == "installed":
            self.tear({epoch for epoch, _ in self.tables if epoch < e})
        if self.world.reads["commit"] == "early":
            self.advance(e)

    def commit(self, x: int, e: int) -> None:
        self.advance(e)
        if self.world.reads["torn"] == "acknowledged":
            self.tear({epoch for epoch, _ in self.tables if epoch < e})

    def advance(self, e: int) -> None:
        """Stamps by e from now on, and begins to drain."""
        former, self.epoch = self.epoch, max(self.epoch, e)
        for place in sorted(self.tables):
            if self.world.reads["torn"] == "marked" and former <= place[0] < self.epoch:
                for u in self.links(place):
                    self.mark(place, u)
        self.drop()

    def mark(self, place: Place, u: int) -> None:
        """SWAP-4: if the markers of all other neighbours have come."""
        if set(self.links(place)) - {u} <= self.tables[place].marked:
            self.out.append((u, ("Endmark", *place)))

    def endmark(self, x: int, e: int, i: int) -> None:
        place = (e, i)
        if place not in self.tables:
            return
        table = self.tables[place]
        self.tables[place] = table._replace(marked=table.marked | {x})
        if e < self.epoch:
            for u in self.links(place):
                if u != x:
                    self.mark(place, u)
        self.drop()

    def drop(self) -> None:
        """SWAP-5."""
        reads = self.world.reads
        if reads["torn"] != "marked":
            return

        def is_drained(place: Place) -> bool:
            has_left = place[0] < self.epoch or reads["leaves"] == "marked"
            return has_left and set(self.links(place)) <= self.tables[place].marked

        drained = {place for place in self.tables if is_drained(place)}
        if reads["dropped"] == "strategy":
            drained = {p for p in drained if all(q in drained for q in self.tables if q[0] == p[0])}
        self.remove(drained)

    def tear(self, epochs: set[int]) -> None:
        self.remove({place for place in self.tables if place[0] in epochs})

    def remove(self, places: set[Place]) -> None:
        before = {epoch for epoch, _ in self.tables}
        self.tables = {place: table for place, table in self.tables.items() if place not in places}
        gone = before - {epoch for epoch, _ in self.tables}
        self.out += [(self.world.coordinator, ("Torndown", epoch)) for epoch in sorted(gone)]

    def handle(self, x: int, message: Message) -> None:
        if message[0] not in ("Adv", "Unadv"):
            getattr(self, message[0].lower())(x, *message[1:])


class CoordinatorStep:
    """The coordinator while it handles one message."""

    def __init__(self, world: "Trees", b: int, local: Coordinator) -> None:
        self.world, self.local = world, local
        self.out: list[tuple[int, Message]] = []
        self.delivered: list[tuple[int, int]] = []

    def closed(self) -> Coordinator:
        return self.local

    def handle(self, x: int, message: Message) -> None:
        getattr(self, message[0].lower())(x, *message[1:])

    def to_all(self, message: Message) -> None:
        self.out += [(b, message) for b in self.world.brokers]

    def changed(self) -> tuple[int, ...]:
        """SWAP-6: the epochs whose tables change."""
        reading = self.world.reads["changes"]
        if reading != "both":
            return (self.local.committed if reading == "old" else self.local.installed,)
        return tuple(sorted({self.local.installed, *(e for e, _ in self.local.standing)}))

    def sub(self, x: int, s: int) -> None:
        self.local = self.local._replace(known=self.local.known | {(s, x)})
        for b in self.world.brokers:
            hops = tuple(row for e in self.changed() for row in self.world.hops(s, x, e, b))
            self.out.append((b, ("Insert", s, hops)))

    def unsub(self, x: int, s: int) -> None:
        self.local = self.local._replace(known=frozenset((t, home) for t, home in self.local.known if t != s))
        self.to_all(("Delete", s, self.changed()))

    def compute(self, x: int, e: int) -> None:
        self.local = self.local._replace(snapshots=self.local.snapshots | {(e, self.local.known)})

    def switch(self, x: int, e: int) -> None:
        if self.local.is_switching and self.world.reads["next"] == "torn-down":
            self.local = self.local._replace(waiting=(*self.local.waiting, e))
        else:
            self.begin(e)

    def begin(self, e: int) -> None:
        snapshots = dict(self.local.snapshots)
        if e not in snapshots:
            return
        taken = snapshots.pop(e)
        known = taken if self.world.reads["log"] == "forgotten" else self.local.known
        for b in self.world.brokers:
            rows = frozenset((place, s, hop) for s, home in known for place, hop in self.world.hops(s, home, e, b))
            self.out.append((b, ("Install", e, rows)))
        everyone = self.world.brokers
        self.local = self.local._replace(
            installed=e,
            snapshots=frozenset(snapshots.items()),
            awaited=self.local.awaited | {(e, b) for b in everyone},
            standing=self.local.standing | {(self.local.installed, b) for b in everyone},
        )

    def acknowledge(self, x: int, e: int) -> None:
        self.local = self.local._replace(awaited=self.local.awaited - {(e, x)})
        if not any(epoch == e for epoch, _ in self.local.awaited):
            self.local = self.local._replace(committed=max(e, self.local.committed))
            self.to_all(("Commit", e))

    def torndown(self, x: int, e: int) -> None:
        self.local = self.local._replace(standing=self.local.standing - {(e, x)})
        if self.local.waiting and not self.local.is_switching:
            first, *rest = self.local.waiting
            self.local = self.local._replace(waiting=tuple(rest))
            self.begin(first)


class Trees(Routing):
    """Dissemination on trees on an instance."""

    def __init__(self, instance: Instance, policy: str) -> None:
        super().__init__(instance, policy)
        given = dict(instance.trees)
        self.reads = {name: given.get(name, value) for name, value in READINGS.items()}
        self.coordinator = len(self.brokers) + 1
        self.strategies = given.get("strategies") or ((instance.edges,),)
        graph = {*instance.edges, *((min(link), max(link)) for link in given.get("links", ()))}
        graph |= {(b, self.coordinator) for b in self.brokers}
        self.links = sorted((x, y) for edge in graph for x, y in (edge, edge[::-1]))
        self.ways: dict[tuple[Place, int, int], list[int]] = {}

    # -- strategies --

    def neighbours(self, place: Place, b: int) -> list[int]:
        edges = self.strategies[place[0]][place[1] - 1]
        return sorted(v for edge in edges for u, v in (edge, edge[::-1]) if u == b)

    def way(self, place: Place, b: int, c: int) -> list[int]:
        """The brokers from b to c in a tree."""
        key = (place, b, c)
        if key not in self.ways:
            ways = [[b]]
            for way in ways:
                if way[-1] == c:
                    self.ways[key] = way
                    break
                ways += [[*way, u] for u in self.neighbours(place, way[-1]) if u not in way]
        return self.ways[key]

    def parts(self, s: int, e: int) -> tuple[int, ...]:
        """The trees of an epoch in whose clusters a subscription has a part."""
        clusters = self.instance.clusters[s]
        if not clusters:
            return (1,)
        own = clusters[e]
        return tuple(sorted(own)) if isinstance(own, list | tuple) else (own,)

    def hops(self, s: int, home: int, e: int, b: int) -> list[tuple[Place, int]]:
        places = [(e, tree) for tree in self.parts(s, e)]
        return [(place, LOCAL if b == home else self.way(place, b, home)[1]) for place in places]

    # -- steps --

    def nothing_of(self, node: int) -> Any:
        if node == self.coordinator:
            return Coordinator()
        return TreeTables(0, frozenset(((0, tree), Table()) for tree in range(1, len(self.strategies[0]) + 1)))

    def initial(self) -> State:
        locals_ = tuple(self.nothing_of(node) for node in (*self.brokers, self.coordinator))
        return State(frozenset(), (0,) * len(self.instance.faults), locals_, tuple(() for _ in self.links), more=False)

    def operations(self, done: frozenset[tuple[str, int]]) -> list[tuple[tuple[str, int], int, Message]]:
        found = super().operations(done)
        for e in range(1, len(self.strategies)):
            if ("compute", e) not in done and (e == 1 or ("switch", e - 1) in done):
                found.append((("compute", e), self.coordinator, ("Compute", e)))
            if ("switch", e) not in done and ("compute", e) in done:
                found.append((("switch", e), self.coordinator, ("Switch", e)))
        return found

    def faulty(self, state: State) -> list[State]:
        """Crashes only: a node that crashes is as it was at the beginning."""
        found = []
        for kind, (fault, most) in enumerate(self.instance.faults):
            assert fault == "crash"
            for i, local in enumerate(state.brokers):
                nothing = self.nothing_of(i + 1)
                if state.faults[kind] < most and local != nothing:
                    counted = state._replace(faults=tuple(n + (i == kind) for i, n in enumerate(state.faults)))
                    crashed = counted._replace(brokers=(*state.brokers[:i], nothing, *state.brokers[i + 1 :]))
                    found.append(self.history(state, crashed))
        return found

    def answer(self, b: int, x: int, message: Message, local: Any) -> Any:
        key = (b, x, message, local)
        known = self.known.get(key)
        if known is None:
            step: Any = CoordinatorStep(self, b, local) if b == self.coordinator else TreeStep(self, b, local)
            step.handle(x, message)
            ends = sorted({u for u, _ in step.out})
            posted = [(self.links.index((b, u)), tuple(m for v, m in step.out if v == u)) for u in ends]
            known = self.known[key] = (step.closed(), posted, tuple(step.delivered))
        return known

    # -- ghosts --

    def history(self, before: State, state: State, operation: Any = None, delivered: Any = frozenset()) -> State:
        state = super().history(before, state, operation, frozenset(delivered))
        return state._replace(duplicate=state.duplicate or len(set(delivered)) < len(delivered))

    def quiet(self, state: State) -> bool:
        return not any(message[0] in CHANGING for queue in state.queues for message in queue)

    # -- properties --

    def copies(self, state: State) -> Iterator[tuple[tuple[int, int], list[tuple[int, Place]]]]:
        for link, queue in zip(self.links, state.queues, strict=True):
            found = [(m[1], m[2]) for m in queue if m[0] == "Pub"]
            if found:
                yield link, found

    def violations(self, state: State) -> Iterable[str]:
        bad = list(super().violations(state))
        brokers, leader = state.brokers[:-1], state.brokers[-1]
        for link, found in self.copies(state):
            if len(set(found)) < len(found) or not all(self.is_on_tree(link, p, place) for p, place in found):
                bad.append("OnTree")
            if not all(self.is_toward(link, p, place) for p, place in found):
                bad.append("TowardSubscriber")
            if not all(place in dict(brokers[link[1] - 1].tables) for _, place in found):
                bad.append("TableThere")
        held = [sorted({epoch for (epoch, _), _ in b.tables}) for b in brokers]
        if any(len(epochs) > 2 or (len(epochs) == 2 and epochs[1] != epochs[0] + 1) for epochs in held):
            bad.append("TwoStrategies")
        if any(max(epochs, default=0) < max(b.epoch for b in brokers) for epochs in held):
            bad.append("AllInstalled")
        if not any(m[0] in OF_SWITCHES for queue in state.queues for m in queue):
            if leader.is_switching or leader.waiting:
                bad.append("SwitchEnds")
            if not leader.is_switching and any(
                epochs != [leader.installed] or b.epoch != leader.installed
                for b, epochs in zip(brokers, held, strict=True)
            ):
                bad.append("OldTablesGone")
        return sorted(set(bad))

    def is_on_tree(self, link: tuple[int, int], p: int, place: Place) -> bool:
        home = self.instance.advs[self.instance.pubs[p][0]].home
        return link[1] in self.neighbours(place, link[0]) and self.way(place, home, link[1])[-2:] == list(link)

    def is_toward(self, link: tuple[int, int], p: int, place: Place) -> bool:
        wanted = [s for s in range(len(self.filters)) if place[1] in self.parts(s, place[0]) and self.matches(s, p)]
        return any(link[1] in self.way(place, link[0], self.instance.subs[s].home) for s in wanted)

    def at_rest(self, state: State, subs: frozenset[int], advs: frozenset[int]) -> Iterable[str]:
        for b, local in zip(self.brokers, state.brokers[:-1], strict=True):
            for place, table in local.tables:
                homes = [(s, self.instance.subs[s].home) for s in subs]
                rows = {(s, hop) for s, home in homes for at, hop in self.hops(s, home, place[0], b) if at == place}
                if table.entries != rows:
                    yield "TablesFollowTrees"
                    return
