"""The routing core, written from the text of `spec/routing.md` alone; it shares no code with routeproof.

A state is a tuple of tuples and frozensets. A message is `(kind, id, ...)`; under `packing` the subscriptions that one
step sends to one neighbour travel as `("Subs", ids)`, the withdrawals as `("Unsubs", ids)`, and the receiver handles
their items one after the other in one step.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.naive.instances import Instance

LOCAL = 0  # brokers are 1..n
Message = tuple[Any, ...]
Queues = tuple[tuple[Message, ...], ...]


class Tables(NamedTuple):
    """The state of a broker."""

    advs: frozenset[tuple[int, int]] = frozenset()
    """(advertisement, where it came from)."""
    subs: frozenset[tuple[int, int]] = frozenset()
    sent: frozenset[tuple[int, int]] = frozenset()
    """(neighbour, subscription)."""


class State(NamedTuple):
    done: frozenset[tuple[str, int]]
    faults: tuple[int, ...]
    """How often each fault happened."""
    brokers: tuple[Any, ...]
    queues: Queues
    """One queue for each of `Routing.links`."""
    delivered: frozenset[tuple[int, int]] = frozenset()
    duplicate: bool = False
    ready: frozenset[tuple[int, int]] = frozenset()
    owed: frozenset[tuple[int, int]] = frozenset()
    more: Any = ()
    """Ghosts that a protocol adds."""


class Step:
    """A broker while it handles one message: its tables, opened, what it sends and what it delivers."""

    def __init__(self, world: "Routing", b: int, tables: Any) -> None:
        self.world = world
        self.near = world.near[b]
        self.advs = dict(tables.advs)
        self.subs = dict(tables.subs)
        self.sent: dict[int, set[int]] = {u: {s for v, s in tables.sent if v == u} for u in self.near}
        self.out: list[tuple[int, Message]] = []
        self.delivered: set[tuple[int, int]] = set()

    def closed(self) -> Any:
        return Tables(frozenset(self.advs.items()), frozenset(self.subs.items()), pairs(self.sent))

    def handle(self, x: int, message: Message) -> None:
        kind, i = message[:2]
        if kind in ("Subs", "Unsubs"):
            for item in i:
                self.handle(x, (kind.removesuffix("s"), item))
        else:
            getattr(self, kind.lower())(x, *message[1:])

    def adv(self, x: int, a: int) -> None:
        if a in self.advs:
            return
        self.advs[a] = x
        self.flood(x, ("Adv", a))
        if x != LOCAL:
            self.settle(x)

    def unadv(self, x: int, a: int) -> None:
        if self.advs.get(a) != x:
            return
        del self.advs[a]
        self.flood(x, ("Unadv", a))
        if x != LOCAL:
            self.settle(x)

    def sub(self, x: int, s: int) -> None:
        self.subs[s] = x
        for u in self.near:
            self.settle(u)

    def unsub(self, x: int, s: int) -> None:
        if self.subs.get(s) == x:
            del self.subs[s]
            for u in self.near:
                self.settle(u)

    def pub(self, x: int, p: int) -> None:
        hits = [(s, origin) for s, origin in self.subs.items() if self.world.matches(s, p)]
        self.out += [(u, ("Pub", p)) for u in self.near if u != x and any(origin == u for _, origin in hits)]
        self.delivered |= {(p, s) for s, origin in hits if origin == LOCAL}

    def flood(self, x: int, message: Message) -> None:
        self.out += [(u, message) for u in self.near if u != x]

    def draws(self, u: int, s: int) -> bool:
        """True if s intersects an advertisement that came from u."""
        return any(origin == u and self.world.overlap(s, a) for a, origin in self.advs.items())

    def candidates(self, u: int) -> set[int]:
        return {s for s, origin in self.subs.items() if origin != u and self.draws(u, s)}

    def wanted(self, u: int) -> set[int]:
        return self.world.let_through(self.candidates(u), self.sent[u])

    def settle(self, u: int) -> None:
        wanted, sent = self.wanted(u), self.sent[u]
        self.out += [(u, ("Sub", s)) for s in sorted(wanted - sent)]
        self.out += [(u, ("Unsub", s)) for s in sorted(sent - wanted)]
        self.sent[u] = wanted


class Routing:
    """The routing core on an instance, under `none`, `active`, `lazy` or `packing`."""

    step: type[Step] = Step
    nothing: Any = Tables()

    def __init__(self, instance: Instance, policy: str) -> None:
        self.instance = instance
        self.policy = policy
        self.covering = policy
        self.brokers = sorted({b for edge in instance.edges for b in edge})
        self.near = {b: sorted({y for e in instance.edges for x, y in (e, e[::-1]) if x == b}) for b in self.brokers}
        self.links = [(b, u) for b in self.brokers for u in self.near[b]]
        self.filters = [s.events for s in instance.subs]
        self.rank = list(range(len(instance.subs)))
        self.pairs = frozenset(
            (s, a) for s, sub in enumerate(instance.subs) for a, adv in enumerate(instance.advs) if sub[2] & adv[2]
        )
        self.known: dict[Any, Any] = {}
        self.judged: dict[Any, list[str]] = {}

    # -- filters --

    def matches(self, s: int, p: int) -> bool:
        return self.instance.pubs[p][1] in self.filters[s]

    def overlap(self, s: int, a: int) -> bool:
        return bool(self.filters[s] & self.instance.advs[a].events)

    def let_through(self, pool: set[int], sent: set[int]) -> set[int]:
        """Returns what the policy of covering wants the neighbour to know, of what is in the pool for it."""
        filters = self.filters

        def quenches(t: int, s: int) -> bool:
            return filters[s] < filters[t] or (filters[s] == filters[t] and (t not in sent, t) < (s not in sent, s))

        if self.covering == "none":
            return pool
        kept = sent & pool if self.covering == "lazy" else set()
        rest = {s for s in pool if not any(filters[s] <= filters[k] for k in kept)}
        return kept | {s for s in rest if not any(quenches(t, s) for t in rest if t != s)}

    # -- the overlay --

    def path(self, b: int, c: int) -> list[int]:
        """The brokers from b to c."""
        ways = [[b]]
        for way in ways:
            if way[-1] == c:
                return way
            ways += [[*way, u] for u in self.near[way[-1]] if u not in way]
        raise AssertionError("the overlay is not connected")

    # -- steps --

    def initial(self) -> State:
        queues: Queues = tuple(() for _ in self.links)
        return State(frozenset(), (0,) * len(self.instance.faults), tuple(self.nothing for _ in self.brokers), queues)

    def operations(self, done: frozenset[tuple[str, int]]) -> list[tuple[tuple[str, int], int, Message]]:
        """Returns each operation that is enabled, its broker, and the message that the broker handles."""
        found: list[tuple[tuple[str, int], int, Message]] = []
        for table, do, undo in ((self.instance.advs, "adv", "unadv"), (self.instance.subs, "sub", "unsub")):
            for i, client in enumerate(table):
                if (do, i) not in done:
                    found.append(((do, i), client.home, (do.capitalize(), i)))
                elif client.leaves and (undo, i) not in done:
                    found.append(((undo, i), client.home, (undo.capitalize(), i)))
        for p, (a, _) in enumerate(self.instance.pubs):
            if ("pub", p) not in done and ("adv", a) in done and ("unadv", a) not in done:
                found.append((("pub", p), self.instance.advs[a].home, ("Pub", p)))
        return found

    def successors(self, state: State) -> list[State]:
        found = []
        for operation, home, message in self.operations(state.done):
            done = state.done | {operation}
            found.append(self.after(state, state._replace(done=done), home, LOCAL, message, operation))
        for k, (x, b) in enumerate(self.links):
            if state.queues[k]:
                found.append(
                    self.after(state, self.with_queue(state, k, state.queues[k][1:]), b, x, state.queues[k][0])
                )
        return found + self.faulty(state)

    def faulty(self, state: State) -> list[State]:
        found = []
        for kind, (fault, most) in enumerate(self.instance.faults):
            if state.faults[kind] == most:
                continue
            counted = state._replace(faults=tuple(n + (i == kind) for i, n in enumerate(state.faults)))
            if fault == "crash":
                for i in range(len(self.brokers)):
                    if state.brokers[i] == self.nothing:
                        continue
                    empty = (*state.brokers[:i], self.nothing, *state.brokers[i + 1 :])
                    found.append(self.history(state, counted._replace(brokers=empty)))
                continue
            for k, queue in enumerate(state.queues):
                if queue if fault != "reorder" else queue[:1] != queue[1:2] and len(queue) > 1:
                    changed = {
                        "loss": queue[1:],
                        "duplicate": (*queue, queue[0]),
                        "reorder": (*queue[1::-1], *queue[2:]),
                    }
                    found.append(self.history(state, self.with_queue(counted, k, changed[fault])))
        return found

    @staticmethod
    def with_queue(state: State, k: int, queue: tuple[Message, ...]) -> State:
        return state._replace(queues=(*state.queues[:k], queue, *state.queues[k + 1 :]))

    def answer(self, b: int, x: int, message: Message, tables: Any) -> Any:
        """Returns what handling the message makes of the tables, what is put on each link, and what is delivered."""
        key = (b, x, message, tables)
        known = self.known.get(key)
        if known is None:
            step = self.step(self, b, tables)
            step.handle(x, message)
            posted = [(self.links.index((b, u)), self.post([m for v, m in step.out if v == u])) for u in self.near[b]]
            posted = [(k, messages) for k, messages in posted if messages]
            known = self.known[key] = (step.closed(), posted, frozenset(step.delivered))
        return known

    def post(self, messages: list[Message]) -> tuple[Message, ...]:
        """Returns the messages of one step to one neighbour as they travel."""
        if self.policy != "packing":
            return tuple(messages)
        plain = [m for m in messages if m[0] not in ("Sub", "Unsub")]
        packs = [(kind + "s", tuple(m[1] for m in messages if m[0] == kind)) for kind in ("Sub", "Unsub")]
        assert not plain or len(plain) == len(messages), "a step mixes packed and plain messages to one neighbour"
        for at, (kind, i) in enumerate(messages):
            assert kind != "Unsub" or ("Sub", i) not in messages[at:], "packing reorders an Unsub and a later Sub"
        return (*plain, *(pack for pack in packs if pack[1]))

    def after(self, before: State, state: State, b: int, x: int, message: Message, operation: Any = None) -> State:
        tables, posted, delivered = self.answer(b, x, message, before.brokers[b - 1])
        queues = list(state.queues)
        for k, messages in posted:
            queues[k] += messages
        brokers = (*state.brokers[: b - 1], tables, *state.brokers[b:])
        state = state._replace(brokers=brokers, queues=tuple(queues))
        return self.history(before, state, operation, delivered)

    # -- ghosts --

    def active(self, done: frozenset[tuple[str, int]]) -> tuple[frozenset[int], frozenset[int]]:
        """The subscriptions and the advertisements that are active."""
        subs = frozenset(i for op, i in done if op == "sub" and ("unsub", i) not in done)
        return subs, frozenset(i for op, i in done if op == "adv" and ("unadv", i) not in done)

    def homes(self, done: frozenset[tuple[str, int]]) -> dict[int, int]:
        """The home of each active subscription."""
        return {s: self.instance.subs[s].home for s in self.active(done)[0]}

    def quiet(self, state: State) -> bool:
        return all(message[0] == "Pub" for queue in state.queues for message in queue)

    def history(
        self,
        before: State,
        state: State,
        operation: tuple[str, int] | None = None,
        delivered: frozenset[tuple[int, int]] = frozenset(),
    ) -> State:
        """Returns the state with its ghosts brought up to date."""
        owed, was = before.owed, before.delivered
        fresh = frozenset((p, self.rank[s]) for p, s in delivered)
        if operation is not None and operation[0] == "pub":
            p = operation[1]
            owed |= {(p, s) for s, a in before.ready if a == self.instance.pubs[p][0] and self.matches_rank(s, p)}
        if operation is not None and operation[0] == "unsub":
            owed = frozenset((p, s) for p, s in owed if s != operation[1])
        subs, advs = self.active(state.done)
        source = self.pairs if self.quiet(state) else before.ready
        return state._replace(
            delivered=was | fresh,
            duplicate=before.duplicate or bool(was & fresh),
            ready=frozenset((s, a) for s, a in source if s in subs and a in advs),
            owed=owed,
        )

    def matches_rank(self, s: int, p: int) -> bool:
        return self.instance.pubs[p][1] in self.instance.subs[s].events

    # -- properties --

    def drained(self, state: State) -> bool:
        return not any(state.queues)

    def violations(self, state: State) -> Iterable[str]:
        flying = {m[1] for queue in state.queues for m in queue if m[0] == "Pub"}
        bad = []
        if any(p not in flying for p, _ in state.owed - state.delivered):
            bad.append("NoLostDelivery")
        if state.duplicate:
            bad.append("NoDuplicate")
        if not all(self.matches_rank(s, p) for p, s in state.delivered):
            bad.append("Precise")
        if self.quiet(state):
            key = (state.brokers, state.done)
            known = self.judged.get(key)
            if known is None:
                known = self.judged[key] = list(self.at_rest(state, *self.active(state.done)))
            bad += known
        return bad

    def at_rest(self, state: State, subs: frozenset[int], advs: frozenset[int]) -> Iterable[str]:
        """Yields the properties of quiet states that the tables violate."""
        tables = dict(zip(self.brokers, state.brokers, strict=True))
        heard = {(b, u): {s for s, origin in tables[u].subs if origin == b} for b, u in self.links}
        sent = {(b, u): {s for v, s in tables[b].sent if v == u} for b, u in self.links}
        if heard != sent:
            yield "Agreement"
        if any({a for a, _ in t.advs} - advs or {self.rank[s] for s, _ in t.subs} - subs for t in state.brokers):
            yield "NoResidue"
        if any(
            not any(self.overlap(s, a) for a, origin in tables[b].advs if origin == u)
            for b, u in self.links
            for s in sent[b, u]
        ):
            yield "NoStray"
        within = [(s, t) for s, f in enumerate(self.filters) for t, g in enumerate(self.filters) if f < g]
        if self.covering in ("active", "packing"):
            if any(s in known and t in known for known in heard.values() for s, t in within):
                yield "Compact"
            homes = self.homes(state.done)
            covered = {s for s, t in within if s in homes and t in homes}
            if not all(self.goes_straight(s, homes[s], b, tables[b]) for s in covered for b in self.brokers):
                yield "PropagationPath"
        if self.covering == "none":
            for s in subs:
                publishers = [self.instance.advs[a].home for t, a in self.pairs if t == s and a in advs]
                home = self.instance.subs[s].home
                if self.knowing(s, tables) != {home}.union(*(self.path(home, h) for h in publishers)):
                    yield "PropagationTree"
                    break

    def knowing(self, s: int, tables: dict[int, Any]) -> set[int]:
        return {b for b, t in tables.items() if s in {known for known, _ in t.subs}}

    def goes_straight(self, s: int, home: int, b: int, tables: Any) -> bool:
        """True if b does not have s, or has it from the way to its home and passes it on to one neighbour at most."""
        came = dict(tables.subs).get(s)
        if came is None:
            return True
        way = self.path(b, home)
        return bool(came == (LOCAL if b == home else way[1])) and sum(t == s for _, t in tables.sent) <= 1


def pairs(table: dict[int, set[int]]) -> frozenset[tuple[int, int]]:
    return frozenset((u, s) for u, known in table.items() for s in known)
