"""The mesh without moves, written from the text of `spec/mesh.md` alone; it shares no code with routeproof.

Ends are chosen by their definitions on the whole tree: which broker is on which path.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from tests.naive.instances import Instance
from tests.naive.routing import LOCAL, Message, Routing, State

Nodes = frozenset[int]


class MeshTables(NamedTuple):
    """The state of a broker."""

    subs: frozenset[tuple[int, int]] = frozenset()
    """(subscription, anchor)."""
    soft: Nodes = frozenset()
    stubs: Nodes = frozenset()
    """Candidates."""
    incoming: Nodes = frozenset()
    draining: tuple[int, ...] = ()
    loaded: bool = False
    sent: frozenset[tuple[int, int]] = frozenset()
    loads: frozenset[tuple[int, int]] = frozenset()


class MeshStep:
    """A broker while it handles one message."""

    def __init__(self, world: "Mesh", b: int, tables: MeshTables) -> None:
        self.world, self.b = world, b
        self.near = world.near[b]
        self.subs, self.sent, self.loads = dict(tables.subs), dict(tables.sent), dict(tables.loads)
        self.soft, self.stubs, self.incoming = set(tables.soft), set(tables.stubs), set(tables.incoming)
        self.draining, self.loaded = list(tables.draining), tables.loaded
        self.out: list[tuple[int, Message]] = []
        self.delivered: set[tuple[int, int]] = set()

    def closed(self) -> MeshTables:
        return MeshTables(
            frozenset(self.subs.items()),
            frozenset(self.soft),
            frozenset(self.stubs),
            frozenset(self.incoming),
            tuple(sorted(self.draining)),
            self.loaded,
            frozenset(self.sent.items()),
            frozenset(self.loads.items()),
        )

    def handle(self, x: int, message: Message) -> None:
        kind = message[0]
        if kind not in ("Adv", "Unadv"):
            getattr(self, kind.lower())(x, *message[1:])

    def path(self, c: int) -> list[int]:
        return self.world.path(self.b, c)

    def sub(self, x: int, s: int, anchor: int = 0) -> None:
        anchor = self.b if x == LOCAL else anchor
        self.subs[s] = anchor
        hops = len(self.path(anchor)) - 1
        onward = anchor if hops < self.world.radius else self.path(anchor)[-2]
        self.out += [(u, ("Sub", s, onward)) for u in self.near if u != x]

    def unsub(self, x: int, s: int) -> None:
        del self.subs[s]
        self.out += [(u, ("Unsub", s)) for u in self.near if u != x]

    # -- publications --

    def pub(self, x: int, p: int, way: tuple[int, ...] = ()) -> None:
        if x != LOCAL and x not in self.near and x not in self.incoming:
            return
        hits = [(s, anchor) for s, anchor in self.subs.items() if self.world.matches(s, p)]
        self.delivered |= {(p, s) for s, anchor in hits if anchor == self.b}
        linked = {*self.near, *self.soft, *self.stubs}
        anchors = {self.last(anchor, linked) for _, anchor in hits if anchor != self.b}
        ends = self.chosen({e for e in anchors if not set(self.path(e)) & set(way)}, linked)
        if self.world.table.get("rounds"):
            self.sent.update({e: self.sent.get(e, 0) + 1 for e in ends})
        visited = self.world.table.get("passed") == "visited"
        for u in self.receivers(ends):
            self.out.append((u, ("Pub", p, (*way, *([self.b] if visited else self.path(u)[:-1])))))

    def last(self, c: int, among: set[int]) -> int:
        """The last of these on the way to c."""
        return next(u for u in reversed(self.path(c)) if u in among)

    def chosen(self, ends: set[int], linked: set[int]) -> set[int]:
        strategies = self.world.table.get("strategies", ["S2"])
        strategy = strategies[0] if len(strategies) == 1 else strategies[self.b - 1]
        if strategy == "SH":
            strategy = "S1" if self.loaded else "S2"
        if strategy == "S0":
            return {self.path(e)[1] for e in ends}
        if strategy == "S2":
            return {e for e in ends if not ends & set(self.path(e)[:-1])}
        found = set()
        for branch in self.near:
            paths = [set(self.path(e)) for e in ends if self.path(e)[1] == branch]
            if paths:
                found.add(max(linked & paths[0].intersection(*paths), key=lambda u: len(self.path(u))))
        return found

    def receivers(self, ends: set[int]) -> list[int]:
        real = {*self.near, *self.soft}
        carriers = [self.last(e, real) for e in sorted(ends)]
        reading = self.world.table.get("copies", "nearest")
        if reading == "each":
            return carriers
        carry = {self.last(e, real) for e in ends - real} if reading == "nearest" else set()
        return sorted({u for u in carriers if not carry & set(self.path(u)[:-1])})

    # -- links --

    def open(self, x: int, c: int) -> None:
        self.soft.add(c)
        self.stubs.discard(c)
        self.out.append((c, ("Up",)))

    def close(self, x: int, c: int) -> None:
        self.stubs.discard(c)
        if c in self.soft:
            self.soft.remove(c)
            self.draining.append(c)
            self.out.append((c, ("Down",)))

    def up(self, x: int) -> None:
        self.incoming.add(x)

    def down(self, x: int) -> None:
        self.incoming.remove(x)
        self.out.append((x, ("Drained",)))

    def drained(self, x: int) -> None:
        self.draining.remove(x)

    def load(self, x: int, loaded: bool) -> None:
        self.loaded = loaded

    def report(self, x: int, c: int, percent: int, hops: int) -> None:
        self.loads[c] = percent
        if hops:
            self.out += [(u, ("Report", c, percent, hops - 1)) for u in self.near if u != x]

    def gain(self, c: int) -> Fraction:
        table, between = self.world.table, self.path(c)[1:-1]
        threshold = table.get("threshold", 50)
        zero, gain = Fraction(0), Fraction(self.sent.get(c, 0) * len(between))
        for u in between:
            over = Fraction(self.loads.get(u, threshold) - threshold, 100)
            gain *= 1 + (max(over, zero) if table.get("factor") == "max" else min(over, zero))
        return gain

    def review(self, x: int) -> None:
        table = self.world.table
        fanout, links = table.get("fanout", 35), {*self.soft, *self.stubs}
        most = table.get("maxlinks", 40) - fanout
        strong = sorted((-self.gain(c), c) for c in links if self.gain(c) > table.get("weak", 0))
        room = max(0, fanout - len(self.near))
        soft, rest = [c for _, c in strong[:room]], [c for _, c in strong[room:] if c in self.stubs]
        new = []
        for u in {*self.near, *links}:
            heat = self.gain(u) if table.get("seeds") == "gain" else self.sent.get(u, 0)
            for c in self.world.near[u]:
                hops = len(self.path(c)) - 1
                if heat > 0 and c not in links and 2 <= hops <= self.world.radius:
                    new.append((-sum(self.loads.get(v, 0) for v in self.path(c)[1:-1]), -heat, u, c))
        found = list(dict.fromkeys(c for *_, c in sorted(new)))
        for c in sorted(self.soft - {*soft}):
            self.close(x, c)
        for c in soft:
            if c not in self.soft:
                self.open(x, c)
        self.stubs = {*[*rest, *found][:most]}
        self.sent = {}


class Mesh(Routing):
    """`table`: the table `[mesh]` of the instance."""

    def __init__(self, instance: Instance, table: dict[str, Any]) -> None:
        super().__init__(instance, "none")
        self.table, self.radius = table, table.get("radius", 4)
        self.links = [(b, u) for b in self.brokers for u in self.brokers if b != u]

    def initial(self) -> State:
        soft, stubs = self.table.get("soft", []), self.table.get("candidates", [])
        brokers = tuple(
            MeshTables(
                soft=frozenset(v for u, v in soft if u == b),
                stubs=frozenset(v for u, v in stubs if u == b),
                incoming=frozenset(u for u, v in soft if v == b),
            )
            for b in self.brokers
        )
        return State(frozenset(), (), brokers, tuple(() for _ in self.links))

    def operations(self, done: frozenset[tuple[str, int]]) -> list[tuple[tuple[str, int], int, Message]]:
        table, found = self.table, super().operations(done)
        opens, rounds = table.get("opens", []), table.get("rounds", [])
        found += [(("open", i), u, ("Open", v)) for i, (u, v) in enumerate(opens)]
        for i, (u, v) in enumerate(table.get("closes", [])):
            if [u, v] not in opens or ("open", opens.index([u, v])) in done:
                found.append((("close", i), u, ("Close", v)))
        for i, b in enumerate(table.get("loaded", [])):
            found.append((("loaded", i), b, ("Load", True)))
            if ("loaded", i) in done:
                found.append((("recovered", i), b, ("Load", False)))
        found += [(("load", i), b, ("Report", b, n, self.radius)) for i, (b, n) in enumerate(table.get("loads", []))]
        for i, b in enumerate(rounds):
            if all(("round", j) in done for j in range(i) if rounds[j] == b):
                found.append((("round", i), b, ("Review",)))
        return [each for each in found if each[0] not in done]

    def step_at(self, b: int, tables: Any) -> MeshStep:
        return MeshStep(self, b, tables)

    def answer(self, b: int, x: int, message: Message, tables: Any) -> Any:
        key = (b, x, message, tables)
        if key not in self.known:
            step = self.step_at(b, tables)
            step.handle(x, message)
            receivers = sorted({u for u, _ in step.out})
            posted = [(self.links.index((b, u)), tuple(m for v, m in step.out if v == u)) for u in receivers]
            self.known[key] = (step.closed(), posted, frozenset(step.delivered))
        return self.known[key]

    def quiet(self, state: State) -> bool:
        return all(message[0] in ("Pub", "Up", "Down", "Report") for queue in state.queues for message in queue)

    def at_rest(self, state: State, subs: frozenset[int], advs: frozenset[int]) -> Iterable[str]:
        if any({s for s, _ in t.subs} != subs for t in state.brokers):
            yield "Everywhere"
        for b, t in zip(self.brokers, state.brokers, strict=True):
            ways = [(anchor, self.path(b, self.instance.subs[s].home)) for s, anchor in t.subs]
            if any(anchor != way[min(self.radius, len(way) - 1)] for anchor, way in ways):
                yield "AnchorsFresh"
                break
