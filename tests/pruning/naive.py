"""Pruning of withdrawals, written from the text of `spec/pruning.md` alone; it shares no code with routeproof.

Inside, a subscription is a number for each of its issues, in the order (rank, issue). Messages are the routing core's
but for `("Pub", p, distance, count)` and `("Unsub", s, cuts)`, where `cuts` is a tuple of `(advertisement, distances)`
or, in a full withdrawal, None.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import NamedTuple

from tests.naive.instances import Instance
from tests.naive.routing import LOCAL, Message, Routing, State, Step, pairs
from tests.pruning.naive_properties import violated

Cuts = tuple[tuple[int, tuple[float, ...]], ...] | None
Row = tuple[int, int, int, int | None]  # publication, distance, count; STA-9: where it came from, if not updated yet

READINGS = {
    "cuts": (10, 5012),
    "triggered": "broker",
    "inclusive": True,
    "without_history": "remove",
    "counts": "elsewhere",
    "rows": "updated",
    "window": 1000,
    "fewest": 1,
    "sends": "all",
    "base": "active",
    "remembers": True,
    "collects": False,
    "newcomers": "keep",
    "overtakes": False,
    "identity": "issue",
}
THRESHOLDS = {"incremental": (60, 90), "selective": (90,)}


class PrunedTables(NamedTuple):
    """The state of a broker."""

    advs: frozenset[tuple[int, int]] = frozenset()
    subs: frozenset[tuple[int, int]] = frozenset()
    sent: frozenset[tuple[int, int]] = frozenset()
    retained: frozenset[tuple[int, int]] = frozenset()
    """(neighbour, subscription)."""
    rows: frozenset[tuple[tuple[int, int], tuple[Row, ...]]] = frozenset()
    """((local subscription, advertisement), its rows)."""
    held: tuple[tuple[int, int, Cuts], ...] = ()
    """(sender, subscription, list)."""
    congested: bool = False


class Ghosts(NamedTuple):
    """The ghosts that pruning adds."""

    astray: bool = False
    fair: frozenset[int] = frozenset()
    cut: int | None = None


class PruningStep(Step):
    """A broker while it handles one message."""

    world: "Pruning"

    def __init__(self, world: "Pruning", b: int, tables: PrunedTables) -> None:
        super().__init__(world, b, tables)
        self.retained = {u: {s for v, s in tables.retained if v == u} for u in self.near}
        self.rows = dict(tables.rows)
        self.held = list(tables.held)
        self.congested = tables.congested

    def closed(self) -> PrunedTables:
        return PrunedTables(
            frozenset(self.advs.items()),
            frozenset(self.subs.items()),
            pairs(self.sent),
            pairs(self.retained),
            frozenset(self.rows.items()),
            tuple(self.held),
            self.congested,
        )

    # -- publications --

    def pub(self, x: int, p: int, distance: int = 0, count: int = 0) -> None:
        hits = [(s, origin) for s, origin in self.subs.items() if self.world.matches(s, p)]
        row: Row = (p, distance, count, x)
        if x != LOCAL:  # STA-1, STA-2
            distance, count = self.updated(row)
        if x == LOCAL or self.world.rows == "updated":
            row = (p, distance, count, None)
        self.out += [
            (u, ("Pub", p, distance, count)) for u in self.near if u != x and any(origin == u for _, origin in hits)
        ]
        gone = {s for sender, s, _ in self.held if sender == LOCAL}  # PRN-6
        a = self.world.instance.pubs[p][0]
        for s, origin in hits:
            if origin == LOCAL and s not in gone:
                self.delivered.add((p, s))
                rows = (*self.rows.get((s, a), ()), row)
                self.rows[s, a] = rows[-self.world.window :]

    def updated(self, row: Row) -> tuple[int, int]:
        """STA-2, by the table as it is now."""
        p, distance, count, x = row
        if x is None:
            return distance, count
        hits = [(s, origin) for s, origin in self.subs.items() if self.world.matches(s, p)]
        counted = [s for s, origin in hits if self.world.counts == "all" or origin != x]
        return (0, count + 1) if len(counted) > 1 else (distance + 1, count)

    # -- withdrawals --

    def unsub(self, x: int, s: int, cuts: Cuts = None) -> None:
        if self.subs.get(s) != x:
            return
        if x == LOCAL:
            cuts = self.list_for(s)  # PRN-1
            self.rows = {key: rows for key, rows in self.rows.items() if key[0] != s}
        if self.congested:
            self.held.append((x, s, cuts))
        else:
            self.withdraw(x, s, cuts)

    def list_for(self, s: int) -> Cuts:
        if self.world.policy == "selective":  # STA-8
            counts = [self.updated(row)[1] for (t, _), rows in self.rows.items() if t == s for row in rows]
            if max(counts, default=0) < self.world.fewest:
                return None
        cuts = []
        for a, origin in sorted(self.advs.items()):
            if origin != LOCAL and self.world.overlap(s, a):
                rows = self.rows.get((s, a), ())
                if rows or self.world.without_history != "absent":
                    cuts.append((a, self.critical([self.updated(row)[0] for row in rows])))
        return tuple(cuts)

    def critical(self, distances: list[int]) -> tuple[float, ...]:
        """Returns the critical distance for each threshold."""
        thresholds = self.world.thresholds
        if not distances:
            return tuple(0 if self.world.without_history == "zero" else inf for _ in thresholds)

        def reaches(mu: int, percent: int) -> bool:
            if self.world.inclusive:
                return Fraction(sum(d <= mu for d in distances), len(distances)) >= Fraction(percent, 100)
            return Fraction(sum(d < mu for d in distances), len(distances)) > Fraction(percent, 100)

        return tuple(next((mu for mu in range(max(distances) + 2) if reaches(mu, t)), inf) for t in thresholds)

    def withdraw(self, x: int, s: int, cuts: Cuts) -> None:
        if self.subs.get(s) != x:
            return
        del self.subs[s]
        if cuts is None:
            for u in self.near:
                self.settle(u)
            return
        sent = [u for u in self.near if u != x and s in self.sent[u]]
        triggered = {u: self.wanted(u) - self.sent[u] for u in sent}  # SIM-8
        if self.world.triggered == "broker":
            together = set().union(*triggered.values())
            triggered = dict.fromkeys(sent, together)
        for u in self.near:
            if u == x:
                continue
            if u not in sent:
                self.settle(u)
                continue
            which = self.which(len(triggered[u]))
            onward = tuple(
                (a, tuple(d - 1 for d in distances))
                for a, distances in cuts
                if self.advs.get(a) == u and (inf if which is None else distances[which]) > 0
            )
            if onward:
                self.settle(u, s, onward)
            elif self.world.remembers:
                self.retained[u].add(s)
                if self.world.collects and s not in self.pool(u):  # PRN-12
                    self.settle(u)
            else:
                self.sent[u].discard(s)

    def which(self, triggered: int) -> int | None:
        """Returns which of the distances counts; None stands for an infinite one."""
        if self.world.policy == "selective":
            return 0
        few, many = self.world.cuts
        return 0 if triggered >= many else 1 if triggered >= few else None

    # -- settling --

    def pool(self, u: int) -> set[int]:
        candidates = self.candidates(u)
        retained = {s for s in self.retained[u] if self.draws(u, s)}  # PRN-11
        if self.world.collects:
            filters = self.world.filters
            retained = {s for s in retained if any(filters[t] <= filters[s] for t in candidates)}
        return candidates | retained

    def wanted(self, u: int) -> set[int]:
        return self.world.let_through(self.pool(u), self.sent[u])

    def settle(self, u: int, withdrawn: int | None = None, cuts: Cuts = None) -> None:
        """Settles u; the removal of the subscription `withdrawn` carries the list."""
        wanted, sent = self.wanted(u), self.sent[u]
        fresh = wanted - sent
        if cuts is not None and self.world.sends == "listed":
            fresh = {s for s in fresh if any(self.world.overlap(s, a) for a, _ in cuts)}
        self.out += [(u, ("Sub", s)) for s in sorted(fresh)]
        self.out += [(u, ("Unsub", s, cuts if s == withdrawn else None)) for s in sorted(sent - wanted)]
        self.sent[u] = (sent & wanted) | fresh
        self.retained[u] &= wanted

    # -- other messages --

    def adv(self, x: int, a: int) -> None:
        if a not in self.advs and x != LOCAL and self.world.newcomers == "withdraw":  # PRN-16
            self.retained[x] = {s for s in self.retained[x] if not self.world.overlap(s, a)}
        super().adv(x, a)

    def sub(self, x: int, s: int) -> None:
        if not self.world.overtakes:  # PRN-14
            waiting = [entry for entry in self.held if entry[1] == s]
            self.held = [entry for entry in self.held if entry[1] != s]
            for entry in waiting:
                self.withdraw(*entry)
        self.subs[s] = x
        for u in self.near:
            if s in self.candidates(u):
                self.retained[u].discard(s)  # PRN-13
        for u in self.near:
            self.settle(u)

    def congest(self, x: int, _: int) -> None:
        self.congested = True

    def relieve(self, x: int, _: int) -> None:
        self.congested = False
        held, self.held = self.held, []
        for entry in held:
            self.withdraw(*entry)


class Pruning(Routing):
    """Pruning on an instance, under `incremental` or `selective`."""

    step = PruningStep
    nothing = PrunedTables()

    def __init__(self, instance: Instance, policy: str) -> None:
        super().__init__(instance, policy)
        readings = {**READINGS, "thresholds": THRESHOLDS[policy], **dict(instance.pruning)}
        self.cuts: tuple[int, int] = readings["cuts"]
        self.triggered: str = readings["triggered"]
        self.inclusive: bool = readings["inclusive"]
        self.without_history: str = readings["without_history"]
        self.counts: str = readings["counts"]
        self.rows: str = readings["rows"]
        self.window: int = readings["window"]
        self.fewest: int = readings["fewest"]
        self.sends: str = readings["sends"]
        self.covering: str = readings["base"]
        self.remembers: bool = readings["remembers"]
        self.collects: bool = readings["collects"]
        self.newcomers: str = readings["newcomers"]
        self.overtakes: bool = readings["overtakes"]
        self.identity: str = readings["identity"]
        self.thresholds: tuple[int, ...] = readings["thresholds"]
        self.beyond = 0 if self.inclusive else 1
        issues = [
            (rank, issue)
            for rank, s in enumerate(instance.subs)
            for issue in range(2 if s.again is not None and self.identity == "issue" else 1)
        ]
        self.number = {issue: number for number, issue in enumerate(issues)}
        self.rank = [rank for rank, _ in issues]
        self.filters = [instance.subs[rank].events for rank in self.rank]

    # -- steps --

    def issue(self, s: int, done: frozenset[tuple[str, int]]) -> int:
        """The number of the issue of now of the subscription with rank s."""
        return self.number[s, int(("resub", s) in done and self.identity == "issue")]

    def home(self, s: int, done: frozenset[tuple[str, int]]) -> int:
        """The broker at which the subscription with rank s was issued last."""
        client = self.instance.subs[s]
        return client.again if client.again is not None and ("resub", s) in done else client.home

    def operations(self, done: frozenset[tuple[str, int]]) -> list[tuple[tuple[str, int], int, Message]]:
        found = []
        for operation, home, message in super().operations(done):
            if operation[0] in ("sub", "unsub"):
                found.append((operation, home, (message[0], self.number[operation[1], 0])))
            else:
                found.append((operation, home, message))
        for s, client in enumerate(self.instance.subs):
            if client.again is not None and ("unsub", s) in done and ("resub", s) not in done:
                again = ("Sub", self.issue(s, done | {("resub", s)}))
                found.append((("resub", s), client.again, again))
        for b in self.instance.congestion:
            if ("congest", b) not in done:
                found.append((("congest", b), b, ("Congest", b)))
            elif ("relieve", b) not in done:
                found.append((("relieve", b), b, ("Relieve", b)))
        return found

    # -- ghosts --

    def initial(self) -> State:
        return super().initial()._replace(more=Ghosts())

    def active(self, done: frozenset[tuple[str, int]]) -> tuple[frozenset[int], frozenset[int]]:
        subs, advs = super().active(done)
        return subs | {s for op, s in done if op == "resub"}, advs

    def homes(self, done: frozenset[tuple[str, int]]) -> dict[int, int]:
        return {self.issue(s, done): self.home(s, done) for s in self.active(done)[0]}

    def quiet(self, state: State) -> bool:
        return super().quiet(state) and not any(tables.held for tables in state.brokers)

    def history(
        self,
        before: State,
        state: State,
        operation: tuple[str, int] | None = None,
        delivered: frozenset[tuple[int, int]] = frozenset(),
    ) -> State:
        astray, fair, cut = before.more
        if operation is not None:
            kind, i = operation
            if kind == "resub":
                before = before._replace(delivered=frozenset((p, s) for p, s in before.delivered if s != i))
            if kind == "pub":
                fair |= {i} if self.quiet(before) else set()
            else:
                seen = {p for p, s in before.delivered if s == i}
                cut = i if kind == "unsub" and fair and seen <= fair else None
                fair = frozenset()
        subs, _ = self.active(state.done)
        now = {self.issue(s, state.done) for s in subs}
        astray = astray or any(s not in now for _, s in delivered)
        return super().history(before, state, operation, delivered)._replace(more=Ghosts(astray, fair, cut))

    # -- properties --

    def violations(self, state: State) -> Iterable[str]:
        core = [name for name in super().violations(state) if name not in ("NoResidue", "PropagationTree")]
        return core + list(violated(self, state))
