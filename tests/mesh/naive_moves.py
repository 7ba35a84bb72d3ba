"""Moves of brokers, written from the text of `spec/mesh.md`; it shares no code with routeproof.

Its author had read the handler before (`tests/naive/README.md`).

Every broker has a map of its own, as a set of links. Ends are chosen by their definitions on that map.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from tests.mesh.naive import Mesh, MeshStep, MeshTables
from tests.naive.instances import Instance
from tests.naive.routing import LOCAL, Message, State

Edges = frozenset[frozenset[int]]
Entries = frozenset[tuple[int, int]]
"""(subscription, anchor)."""


class MovingTables(NamedTuple):
    """The state of a broker."""

    known: Edges
    """The map."""
    rest: MeshTables = MeshTables()
    target: int = 0
    ring: tuple[int, ...] = ()
    wave: str = ""
    """The wave that is under way here; at the mover also `handover`."""
    came: int = 0
    """Where it came from."""
    awaited: frozenset[int] = frozenset()
    last: bool = False
    """`Last` has come over the old link."""
    handled: frozenset[int] = frozenset()
    withheld: tuple[Message, ...] = ()
    off: bool = False


def way(edges: Edges, b: int, c: int) -> list[int]:
    """The brokers from b to c; none where the links do not lead there."""
    ways = [[b]]
    for each in ways:
        if each[-1] == c:
            return each
        near = {u for edge in edges if each[-1] in edge for u in edge}
        ways += [[*each, u] for u in sorted(near - set(each))]
    return []


def within(edges: Edges, b: int, radius: int) -> Edges:
    return frozenset(edge for edge in edges if all(0 < len(way(edges, b, u)) <= radius + 1 for u in edge))


class MovingStep(MeshStep):
    """A broker, or the coordinator, while it handles one message."""

    world: "MovingMeshes"

    def __init__(self, world: "MovingMeshes", b: int, tables: Any) -> None:
        self.asked: tuple[int, ...] = ()
        if b == world.coordinator:
            self.world, self.b, self.asked, self.out, self.delivered = world, b, tables, [], set()
            return
        t: MovingTables = tables
        super().__init__(world, b, t.rest)
        self.known, self.target, self.ring, self.wave, self.came = t.known, t.target, t.ring, t.wave, t.came
        self.last_came, self.off, self.near = t.last, t.off, self.around()
        self.awaited, self.handled, self.withheld = set(t.awaited), set(t.handled), list(t.withheld)

    def around(self) -> list[int]:
        return sorted(u for edge in self.known if self.b in edge for u in edge if u != self.b)

    def closed(self) -> Any:
        if self.b == self.world.coordinator:
            return self.asked
        return MovingTables(
            self.known,
            super().closed(),
            self.target,
            self.ring,
            self.wave,
            self.came,
            frozenset(self.awaited),
            self.last_came,
            frozenset(self.handled),
            tuple(self.withheld),
            self.off,
        )

    def reading(self, name: str, default: str) -> str:
        return str(self.world.table.get(name, default))

    @property
    def moves(self) -> bool:
        return self.ring[:1] == (self.b,)

    def path(self, c: int) -> list[int]:
        return way(self.known, self.b, c)

    def last(self, c: int, among: set[int]) -> int:
        """0 for an anchor that is not in the map."""
        return next((u for u in reversed(self.path(c)) if u in among and u != self.b), 0)

    # -- subscriptions --

    def onward(self, anchor: int) -> int:
        """SUB-3."""
        path = self.path(anchor)
        is_far = len(path) - 1 >= self.world.radius and self.reading("advance", "receiver") == "receiver"
        return path[-2] if is_far and path else anchor

    def is_late(self, x: int) -> bool:
        """MOVE-7, and MOVE-9 of a broker that takes no mover."""
        if self.moves and self.wave in ("Renew", "Finish") and x == self.ring[1] and x not in self.near:
            return True
        return self.b in self.world.table.get("refuses", ()) and x != LOCAL and x not in self.near

    def spread(self, x: int, message: Message) -> None:
        """To the primary neighbours; MOVE-7: what the mover withholds from the one that it leaves."""
        to = [u for u in self.near if u != x]
        if self.moves and self.wave in ("Prepare", "handover") and self.reading("control", "withheld") == "withheld":
            if self.wave == "handover" and x != self.ring[1]:
                to.append(self.ring[-1])
            if self.ring[1] in to:
                to.remove(self.ring[1])
                self.withheld.append(message)
        self.out += [(u, message) for u in to]

    def sub(self, x: int, s: int, anchor: int = 0) -> None:
        if not self.is_late(x):
            self.subs[s] = self.b if x == LOCAL else anchor
            self.spread(x, ("Sub", s, self.onward(self.subs[s])))

    def unsub(self, x: int, s: int) -> None:
        if not self.is_late(x):
            self.subs.pop(s, None)
            self.spread(x, ("Unsub", s))

    # -- publications --

    def pub(self, x: int, p: int, way: tuple[int, ...] = ()) -> None:
        is_old = self.b in self.ring[:2] and x in self.ring[:2] and not self.is_cut()
        if x != LOCAL and x not in self.near and x not in self.incoming and not is_old:
            return
        if self.moves:
            if p in self.handled:
                return
            self.handled.add(p)
            if x == self.ring[1] and self.reading("entering", "inward") == "inward":
                way = (*way, self.ring[-1])
        hits = [(s, anchor) for s, anchor in self.subs.items() if self.world.matches(s, p)]
        self.delivered |= {(p, s) for s, anchor in hits if anchor == self.b}
        linked = {*self.near, *(u for u in (*self.soft, *self.stubs) if self.path(u))}
        anchors = {self.last(anchor, linked) for _, anchor in hits if anchor != self.b} - {0}
        ends = self.chosen({e for e in anchors if not set(self.path(e)[1:]) & set(way)}, linked)
        visited = self.reading("passed", "primary") == "visited"
        for u in self.receivers(ends):
            self.out.append((u, ("Pub", p, (*way, *([self.b] if visited else self.path(u)[:-1])))))

    def receivers(self, ends: set[int]) -> list[int]:
        soft, self.soft = self.soft, {u for u in self.soft if self.path(u)}
        found = super().receivers(ends)
        self.soft = soft
        return found

    def is_cut(self) -> bool:
        cut = self.reading("cut", "drained")
        return self.last_came or cut == "switched" or (cut == "confirmed" and self.wave == "Finish")

    # -- links --

    def over(self, c: int) -> bool:
        """MOVE-2: a link to c passes over the ring."""
        path, dropped = self.path(c), self.reading("dropped", "ring")
        if dropped == "mover":
            return self.ring[0] in path[1:-1]
        ring = (*self.ring, self.ring[0]) if dropped == "ring" else self.ring
        return bool({frozenset(link) for link in pairwise(ring)} & {frozenset(link) for link in pairwise(path)})

    def open(self, x: int, c: int) -> None:
        if len(self.path(c)) > 2 and not (self.ring and self.over(c)):
            super().open(x, c)

    def close(self, x: int, c: int) -> None:
        super().close(x, c)
        if self.reading("drained", "awaited") != "awaited" and c in self.draining:
            self.draining.remove(c)

    def drained(self, x: int) -> None:
        if x in self.draining:
            self.draining.remove(x)
        self.proceed()

    # -- the coordinator --

    def ask(self, x: int) -> None:
        self.asked = (*self.asked, x)
        if len(self.asked) == 1:
            self.out.append((x, ("Grant",)))

    def release(self, x: int) -> None:
        self.asked = self.asked[1:]
        if self.asked:
            self.out.append((self.asked[0], ("Grant",)))

    # -- waves --

    def begin(self, x: int, wave: str, hops: int, *parts: Any) -> list[int]:
        """Passes a wave on; returns the neighbours that it reaches."""
        self.wave, self.came = wave, x
        hops = self.world.radius if self.b in self.ring else hops
        reached = [u for u in self.near if u != x and hops]
        self.awaited |= set(reached)
        self.out += [(u, (wave, self.ring, hops - 1, *parts)) for u in reached]
        return reached

    def proceed(self) -> None:
        """Confirms a wave, or begins the next one."""
        if not self.wave or self.awaited or self.draining:
            return
        if not self.moves:
            self.out.append((self.came, ("Confirm",)))
            if self.wave == "Finish":
                self.ring = ()
            self.wave, self.came = "", 0
        elif self.wave == "Prepare":
            if self.off:
                self.stay()
            else:
                self.hand_over()
        elif self.wave == "Renew" and (self.last_came or self.reading("cut", "drained") == "confirmed"):
            self.end()
        elif self.wave == "Finish":
            self.out.append((self.world.coordinator, ("Release",)))
            self.ring, self.wave, self.came, self.target = (), "", 0, 0
            self.last_came, self.off, self.handled = False, False, set()

    def confirm(self, x: int) -> None:
        self.awaited.discard(x)
        self.proceed()

    # -- the move --

    def move(self, x: int, c: int) -> None:
        if not self.target:
            self.target = c
            self.out.append((self.world.coordinator, ("Ask",)))

    def calloff(self, x: int) -> None:
        self.off |= self.moves and self.wave == "Prepare"

    def grant(self, x: int) -> None:
        path = self.path(self.target)
        if len(path) < 3:
            self.target = 0
            self.out.append((x, ("Release",)))
        else:
            self.prepare(LOCAL, tuple(path), 0)

    def prepare(self, x: int, ring: tuple[int, ...], hops: int) -> None:
        self.ring = ring
        for c in sorted({*self.soft, *self.stubs}):
            if self.over(c):
                MeshStep.close(self, x, c)
        if self.reading("drained", "awaited") == "ignored":
            self.draining = []
        self.begin(x, "Prepare", hops)
        self.proceed()

    def beyond(self, c: int) -> Edges:
        """The links that lie beyond a neighbour or a broker, with the one that leads there."""
        return frozenset(edge for edge in self.known if any(c in self.path(u) for u in edge))

    def hand_over(self) -> None:
        away = self.ring[1]
        own = frozenset((s, self.onward(a)) for s, a in self.subs.items() if away not in self.path(a))
        gone = tuple(m[1] for m in self.withheld if m[0] == "Unsub")
        self.wave, self.awaited = "handover", {self.ring[-1]}
        self.out.append((self.ring[-1], ("Handover", self.ring, self.known - self.beyond(away), own, gone)))

    def handover(self, x: int, ring: tuple[int, ...], edges: Edges, entries: Entries, gone: tuple[int, ...]) -> None:
        if self.b in self.world.table.get("refuses", ()):
            self.out.append((x, ("Decline",)))
            return
        there = {*(s for s, _ in entries), *gone}
        own = frozenset((s, self.onward(a)) for s, a in self.subs.items() if s not in there)
        self.out.append((x, ("Snapshot", self.known - self.beyond(x), own)))
        self.renew(x, ring, 0, edges, entries, gone)

    def snapshot(self, x: int, edges: Edges, entries: Entries) -> None:
        away, still = self.ring[1], {s for s, _ in entries}
        gone = tuple(s for s, a in sorted(self.subs.items()) if away in self.path(a) and s not in still)
        self.withheld = []
        self.awaited.add(away)
        self.renew(x, self.ring, 0, edges, entries, gone)
        self.out.append((away, ("Last",)))

    def renew(
        self, x: int, ring: tuple[int, ...], hops: int, edges: Edges, entries: Entries, gone: tuple[int, ...]
    ) -> None:
        had = set(self.subs)
        links = (self.known | edges) - {frozenset(ring[:2])} | {frozenset((ring[0], ring[-1]))}
        self.ring, self.known = ring, within(links, self.b, self.world.radius)
        self.near = self.around()
        self.subs.update(entries)
        for s in gone:
            self.subs.pop(s, None)
        passed = frozenset((s, self.onward(a)) for s, a in entries)
        reached = self.begin(x, "Renew", hops, edges, passed, gone)
        for u in self.near:
            if u != x and u not in reached:
                self.out += [(u, ("Sub", s, a)) for s, a in sorted(passed) if s not in had]
                self.out += [(u, ("Unsub", s)) for s in sorted(gone) if s in had]
        if self.b == ring[1]:
            self.out.append((ring[0], ("Last",)))
        self.proceed()

    def last_message(self, x: int) -> None:
        self.last_came = True
        if self.moves:
            self.proceed()
        else:
            self.out.append((x, ("Confirm",)))

    def decline(self, x: int) -> None:
        self.stay()

    def stay(self) -> None:
        """MOVE-9."""
        self.out += [(self.ring[1], message) for message in self.withheld]
        self.withheld, self.awaited = [], set()
        self.end()

    def end(self) -> None:
        self.begin(LOCAL, "Finish", 0)
        self.proceed()

    def finish(self, x: int, ring: tuple[int, ...], hops: int) -> None:
        self.last_came = False
        self.begin(x, "Finish", hops)
        self.proceed()

    def handle(self, x: int, message: Message) -> None:
        if message[0] == "Last":
            self.last_message(x)
        else:
            super().handle(x, message)


class MovingMeshes(Mesh):
    """The mesh whose brokers move; the coordinator is the node after the brokers."""

    def __init__(self, instance: Instance, table: dict[str, Any]) -> None:
        super().__init__(instance, table)
        self.coordinator = len(self.brokers) + 1
        self.links += [each for b in self.brokers for each in ((b, self.coordinator), (self.coordinator, b))]
        whole = frozenset(frozenset(edge) for edge in instance.edges)
        self.maps = {b: within(whole, b, self.radius) for b in self.brokers}

    def initial(self) -> State:
        state = super().initial()
        brokers = [MovingTables(self.maps[b], t) for b, t in zip(self.brokers, state.brokers, strict=True)]
        return state._replace(brokers=(*brokers, ()), queues=tuple(() for _ in self.links))

    def operations(self, done: frozenset[tuple[str, int]]) -> list[tuple[tuple[str, int], int, Message]]:
        found = super().operations(done)
        found += [(("move", i), b, ("Move", c)) for i, (b, c) in enumerate(self.table.get("moves", []))]
        found += [(("off", i), b, ("Calloff",)) for i, b in enumerate(self.table.get("calls_off", []))]
        return [each for each in found if each[0] not in done]

    def step_at(self, b: int, tables: Any) -> MovingStep:
        return MovingStep(self, b, tables)

    def quiet(self, state: State) -> bool:
        return super().quiet(state) and not any(t.ring for t in state.brokers[:-1])

    def violations(self, state: State) -> Iterable[str]:
        yield from super().violations(state)
        brokers = state.brokers[:-1]
        if any(not self.is_tree(t.known) for t in brokers):
            yield "OwnMapIsTree"
        moves = self.table.get("moves", [])
        is_refused = moves and {c for _, c in moves} <= {*self.table.get("refuses", ())}
        if is_refused and any(t.known != self.maps[b] for b, t in zip(self.brokers, brokers, strict=True)):
            yield "RefusedStays"
        idle = ("Pub", "Up", "Report")
        if all(m[0] in idle for q in state.queues for m in q) and (
            state.brokers[-1] or any(t.ring or t.target for t in brokers)
        ):
            yield "MoveEnds"

    def is_tree(self, edges: Edges) -> bool:
        brokers = {u for edge in edges for u in edge}
        return len(brokers) == len(edges) + 1 and all(way(edges, min(brokers), u) for u in brokers)

    def at_rest(self, state: State, subs: frozenset[int], advs: frozenset[int]) -> Iterable[str]:
        tables = dict(zip(self.brokers, state.brokers[:-1], strict=True))
        if any({s for s, _ in t.rest.subs} != subs for t in tables.values()):
            yield "Everywhere"
        claimed = {(b, u) for b, t in tables.items() for edge in t.known if b in edge for u in edge if u != b}
        whole = frozenset(frozenset(pair) for pair in claimed)
        if len(claimed) != 2 * len(whole) or not self.is_tree(whole):
            yield "MapsFresh"
            return
        if any(t.known != within(whole, b, self.radius) for b, t in tables.items()):
            yield "MapsFresh"
        for b, t in tables.items():
            ways = [(anchor, way(whole, b, self.instance.subs[s].home)) for s, anchor in t.rest.subs]
            if any(anchor != each[min(self.radius, len(each) - 1)] for anchor, each in ways):
                yield "AnchorsFresh"
                break
