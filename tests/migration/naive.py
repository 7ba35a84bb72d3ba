"""Migration of publishers, written from the text of `spec/migration.md` alone; it shares no code with routeproof.

A publisher that moves is a node of its own, numbered behind the brokers. What goes between it and a broker is in queues
like those between brokers; to the broker it is a client, so its messages come from `LOCAL`.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.naive.instances import Instance
from tests.naive.routing import LOCAL, Message, Queues, Routing, State, Step, pairs

Path = tuple[int, ...]
READINGS = {
    "removal": "drained",
    "checked": "elsewhere",
    "record": "forgotten",
    "enters": "known",
    "waits": "buffer",
    "publishes": "always",
    "refuses": (),
}
OWN = ("Relocate", "Pause", "Flushed", "Arrive", "Update", "Complete", "Resume", "Leave", "Refuse", "Stay")


class MovingTables(NamedTuple):
    """The state of a broker."""

    advs: frozenset[tuple[int, int]] = frozenset()
    subs: frozenset[tuple[int, int]] = frozenset()
    sent: frozenset[tuple[int, int]] = frozenset()
    attached: frozenset[int] = frozenset()
    moving: frozenset[int] = frozenset()
    draining: frozenset[tuple[int, int]] = frozenset()
    """(advertisement, its old last hop)."""
    flushed: frozenset[int] = frozenset()
    updated: frozenset[int] = frozenset()
    waiting: frozenset[tuple[int, Path]] = frozenset()


class Client(NamedTuple):
    """The state of a publisher that moves."""

    at: int
    advertised: bool = False
    paused: bool = False
    held: tuple[Message, ...] = ()


class MovingStep(Step):
    """A broker of migration while it handles one message."""

    world: "Migration"

    def __init__(self, world: "Migration", b: int, tables: MovingTables) -> None:
        super().__init__(world, b, tables)
        self.b = b
        self.attached, self.moving = set(tables.attached), set(tables.moving)
        self.flushed, self.updated = set(tables.flushed), set(tables.updated)
        self.draining, self.waiting = dict(tables.draining), dict(tables.waiting)

    def closed(self) -> MovingTables:
        return MovingTables(
            frozenset(self.advs.items()),
            frozenset(self.subs.items()),
            pairs(self.sent),
            frozenset(self.attached),
            frozenset(self.moving),
            frozenset(self.draining.items()),
            frozenset(self.flushed),
            frozenset(self.updated),
            frozenset(self.waiting.items()),
        )

    # -- the core, where an advertisement may lie both ways --

    def adv(self, x: int, a: int) -> None:
        if x == LOCAL and a in self.world.client_of:
            self.attached.add(a)
        super().adv(x, a)
        if a in self.waiting and a in self.advs:  # MIG-15
            self.take_in(a, self.waiting.pop(a))

    def unadv(self, x: int, a: int) -> None:
        if x == LOCAL:
            self.attached.discard(a)
        super().unadv(x, a)

    def draws(self, u: int, s: int) -> bool:
        """MIG-13: an advertisement draws subscriptions to where it lies and to where it lay."""
        return any(
            self.world.overlap(s, a) for a, origin in (*self.advs.items(), *self.draining.items()) if origin == u
        )

    # -- the messages of a move --

    def relocate(self, x: int, a: int, path: Path) -> None:
        is_connected = a in self.attached and self.advs.get(a) == LOCAL
        if path[0] == self.b or a not in self.world.client_of or not is_connected or a in self.moving:  # MIG-16
            return
        self.moving.add(a)
        self.out.append((self.world.client_of[a], ("Pause", a, path)))

    def arrive(self, x: int, a: int, path: Path) -> None:
        if self.world.enters == "known" and a not in self.advs:
            self.waiting[a] = path
        else:
            self.take_in(a, path)

    def take_in(self, a: int, path: Path) -> None:
        if self.b in self.world.refuses:
            self.out.append((self.world.client_of[a], ("Refuse", a)))
            return
        self.attached.add(a)
        self.moving.add(a)
        self.update(LOCAL, a, path)

    def update(self, x: int, a: int, path: Path) -> None:
        old = self.advs.get(a)
        self.advs[a] = x  # MIG-4
        if self.world.drained_form:
            if old is not None:
                self.draining[a] = old
        else:
            self.printed_removal(x, old)
        if x != LOCAL:
            self.settle(x)  # MIG-6
        if self.b == path[-1]:
            self.updated.add(a)
            self.end(a)
        else:
            self.out.append((path[path.index(self.b) + 1], ("Update", a, path)))

    def printed_removal(self, x: int, old: int | None) -> None:
        if x != LOCAL:  # MIG-5
            keeping = {a for a, origin in self.advs.items() if origin != x or self.world.checked == "any"}
            for s in [s for s, origin in self.subs.items() if origin == x]:
                if not any(self.world.overlap(s, a) for a in keeping):
                    del self.subs[s]
        if old is not None and old != LOCAL and self.world.record == "forgotten":  # MIG-11
            self.sent[old] &= self.candidates(old)

    def flush(self, x: int, a: int) -> None:
        self.flushed.add(a)
        self.end(a)

    def end(self, a: int) -> None:
        """MIG-7, MIG-12: the source sends the completion once the update and the mark have come."""
        if a in self.updated and (a in self.flushed or not self.world.drained_form):
            self.draining.pop(a, None)
            for marks in (self.moving, self.flushed, self.updated):
                marks.discard(a)
            self.pass_on(a)

    def complete(self, x: int, a: int) -> None:
        if self.world.drained_form:
            self.draining.pop(a, None)
            unwanted = sorted(self.sent[x] - self.wanted(x))  # MIG-14
            self.sent[x] -= set(unwanted)
            if unwanted:
                self.out.append((x, ("Unsubs", tuple(unwanted))))
        self.pass_on(a)

    def pass_on(self, a: int) -> None:
        origin = self.advs.get(a)
        if origin == LOCAL and a in self.world.client_of:
            self.moving.discard(a)
            self.out.append((self.world.client_of[a], ("Resume", a)))
        elif origin is not None:
            self.out.append((origin, ("Complete", a)))

    def leave(self, x: int, a: int) -> None:
        self.attached.discard(a)

    def stay(self, x: int, a: int) -> None:
        self.moving.discard(a)
        self.flushed.discard(a)

    def handle(self, x: int, message: Message) -> None:
        if message[0] == "Flushed":  # a set has that name
            self.flush(x, message[1])
        else:
            super().handle(x, message)


class Migration(Routing):
    """Migration on an instance, under a policy of the core."""

    step = MovingStep
    nothing = MovingTables()

    def __init__(self, instance: Instance, policy: str) -> None:
        super().__init__(instance, policy)
        given = dict(instance.migration)
        readings: dict[str, Any] = {**READINGS, **given}
        self.drained_form = readings["removal"] == "drained"
        self.checked, self.record, self.enters = readings["checked"], readings["record"], readings["enters"]
        self.waits, self.publishes, self.refuses = readings["waits"], readings["publishes"], readings["refuses"]
        ids = [a.id for a in instance.advs]
        self.moves = [(ids.index(move["publisher"]), move["to"]) for move in readings["moves"]]
        movers = [a for a in range(len(ids)) if any(a == moved for moved, _ in self.moves)]
        self.client_of = {a: len(self.brokers) + 1 + i for i, a in enumerate(movers)}
        self.advertisement_of = {client: a for a, client in self.client_of.items()}
        for a, client in self.client_of.items():
            places = {instance.advs[a].home, *(to for moved, to in self.moves if moved == a)}
            self.links += [link for place in sorted(places) for link in ((client, place), (place, client))]

    # -- steps --

    def initial(self) -> State:
        homes = {client: self.instance.advs[a].home for a, client in self.client_of.items()}
        locals_ = (*(self.nothing for _ in self.brokers), *(Client(home) for home in homes.values()))
        queues: Queues = tuple(() for _ in self.links)
        return State(frozenset(), (), locals_, queues, more=())

    def requests(self) -> list[tuple[int, int, Path]]:
        """Returns for each move its advertisement, its number among the moves of the publisher, and its path."""
        found: list[tuple[int, int, Path]] = []
        for a, to in self.moves:
            before = [path for moved, _, path in found if moved == a]
            source = before[-1][0] if before else self.instance.advs[a].home
            found.append((a, len(before), tuple(self.path(to, source))))
        return found

    def successors(self, state: State) -> list[State]:
        found = []
        operation: Any
        for operation, home, message in super().operations(state.done):
            kind, i = operation
            a = self.instance.pubs[i][0] if kind == "pub" else i
            if kind == "pub" and any(
                of == a and ("pub", p) not in state.done for p, (of, _) in enumerate(self.instance.pubs[:i])
            ):
                continue  # it publishes in the order of the instance
            client = self.client_of.get(a) if kind in ("adv", "unadv", "pub") else None
            if client is not None and not self.takes(state.brokers[client - 1], kind, home):
                continue
            node = home if client is None else client
            found.append(
                self.after(state, state._replace(done=state.done | {operation}), node, LOCAL, message, operation)
            )
        for a, number, path in self.requests():
            operation = ("move", (a, number))
            before: Any = ("move", (a, number - 1)) if number else ("adv", a)
            if operation not in state.done and before in state.done:
                done = state._replace(done=state.done | {operation})
                found.append(self.after(state, done, path[-1], LOCAL, ("Relocate", a, path), operation))
        for k, (x, node) in enumerate(self.links):
            if state.queues[k]:
                sender = x if x <= len(self.brokers) or node > len(self.brokers) else LOCAL
                rest = self.with_queue(state, k, state.queues[k][1:])
                found.append(self.after(state, rest, node, sender, state.queues[k][0]))
        return found

    def takes(self, client: Client, kind: str, home: int) -> bool:
        """The readings `waits` and `publishes`."""
        if kind == "pub" and self.publishes == "arrived" and client.at == home:
            return False
        return not client.paused or self.waits == "buffer"

    def answer(self, b: int, x: int, message: Message, tables: Any) -> Any:
        key = (b, x, message, tables)
        known = self.known.get(key)
        if known is None:
            local: Any
            delivered: frozenset[tuple[int, int]] = frozenset()
            if b > len(self.brokers):
                local, out = self.at_client(tables, x, message)
            else:
                step = self.step(self, b, tables)
                step.handle(x, message)
                local, out, delivered = step.closed(), step.out, frozenset(step.delivered)
            ends = {u for u, _ in out}
            posted = [(self.links.index((b, u)), self.post([m for v, m in out if v == u])) for u in sorted(ends)]
            known = self.known[key] = (local, posted, delivered)
        return known

    def post(self, messages: list[Message]) -> tuple[Message, ...]:
        """Subscriptions of the step first, then the withdrawal of MIG-14, then what belongs to the move."""
        ours = [m for m in messages if m[0] in (*OWN, "Unsubs")]
        return (*super().post([m for m in messages if m not in ours]), *ours)

    def at_client(self, client: Client, x: int, message: Message) -> tuple[Client, list[tuple[int, Message]]]:
        kind, a = message[:2]
        match kind:
            case "Pub" | "Unadv" if client.paused:
                return client._replace(held=(*client.held, message)), []
            case "Adv" | "Unadv":
                return client._replace(advertised=kind == "Adv"), [(client.at, message)]
            case "Pub":
                return client, [(client.at, message)]
            case "Pause" if not client.advertised:
                return client, [(client.at, ("Stay", a))]
            case "Pause":
                mark: list[tuple[int, Message]] = [(client.at, ("Flushed", a))] if self.drained_form else []
                return client._replace(paused=True), [*mark, (message[2][0], ("Arrive", a, message[2]))]
            case "Resume":
                return self.speaks_again(client, x), [*((x, m) for m in client.held), (client.at, ("Leave", a))]
            case "Refuse":
                at = client.at
                return self.speaks_again(client, at), [*((at, m) for m in client.held), (at, ("Stay", a))]
        raise AssertionError(message)

    @staticmethod
    def speaks_again(client: Client, at: int) -> Client:
        return Client(at, client.advertised and not any(m[0] == "Unadv" for m in client.held))

    # -- ghosts --

    def quiet(self, state: State) -> bool:
        """Nothing of a move is on its way or waits, and no publisher holds back its withdrawal."""
        held = [m for client in self.clients(state).values() for m in client.held]
        is_waiting = any(tables.waiting for tables in state.brokers[: len(self.brokers)])
        return super().quiet(state) and not is_waiting and all(m[0] == "Pub" for m in held)

    def clients(self, state: State) -> dict[int, Client]:
        """The state of the publisher of each advertisement that moves."""
        return {a: state.brokers[client - 1] for a, client in self.client_of.items()}

    def history(
        self,
        before: State,
        state: State,
        operation: Any = None,
        delivered: frozenset[tuple[int, int]] = frozenset(),
    ) -> State:
        more = before.more
        if not more:
            behind = [
                (p, later, s)
                for p, s in sorted(delivered)
                for later, (of, _) in enumerate(self.instance.pubs)
                if later > p and of == self.instance.pubs[p][0] and (later, s) in before.delivered
            ]
            more = behind[0] if behind else ()
        return super().history(before, state, operation, delivered)._replace(more=more)

    # -- properties --

    def violations(self, state: State) -> Iterable[str]:
        clients = self.clients(state)
        waiting = {m[1] for client in clients.values() for m in client.held if m[0] == "Pub"}
        held_back = state._replace(queues=(*state.queues, tuple(("Pub", p) for p in waiting)))
        bad = list(super().violations(held_back))
        if state.more:
            bad.append("InOrder")
        if not all(self.stays_on_path(link, queue) for link, queue in zip(self.links, state.queues, strict=True)):
            bad.append("OnPath")
        return bad

    def stays_on_path(self, link: tuple[int, int], queue: tuple[Message, ...]) -> bool:
        own = [m for m in queue if m[0] in OWN]
        for m in own:
            on_a_path = any(set(link) <= set(path) for a, _, path in self.requests() if a == m[1])
            if not (on_a_path or self.client_of[m[1]] in link):
                return False
        return len(set(own)) == len(own)

    def at_rest(self, state: State, subs: frozenset[int], advs: frozenset[int]) -> Iterable[str]:
        clients = self.clients(state)
        brokers = state._replace(brokers=state.brokers[: len(self.brokers)])
        core = ("Agreement", "NoResidue", "NoStray")
        links, self.links = self.links, [(b, u) for b in self.brokers for u in self.near[b]]
        yield from (name for name in super().at_rest(brokers, subs, advs) if name in core)
        self.links = links
        if any(client.paused or client.held for client in clients.values()):
            yield "Released"
        tables = dict(zip(self.brokers, brokers.brokers, strict=True))
        homes = {a: clients[a].at if a in clients else self.instance.advs[a].home for a in advs}
        for a in set(homes) & set(clients):
            connected = [b for b, t in tables.items() if a in t.attached]
            lies = [b for b, t in tables.items() if (a, LOCAL) in t.advs]
            if connected != [homes[a]] or lies != [homes[a]]:
                yield "OnePlace"
        if not self.is_fresh(tables, homes, subs):
            yield "FreshTables"

    def is_fresh(self, tables: dict[int, MovingTables], homes: dict[int, int], subs: frozenset[int]) -> bool:
        for b, t in tables.items():
            if any(dict(t.advs).get(a) != self.hop(b, home) for a, home in homes.items()):
                return False
            if self.covering == "none":
                expected = set()
                for s in subs:
                    home = self.instance.subs[s].home
                    drawn = [self.path(home, homes[a]) for r, a in self.pairs if r == s and a in homes]
                    if b == home or any(b in way for way in drawn):
                        expected.add((s, self.hop(b, home)))
                if t.subs != expected:
                    return False
        return True

    def hop(self, b: int, home: int) -> int:
        """The neighbour of b on the way to a broker; `LOCAL` for b itself."""
        return LOCAL if b == home else self.path(b, home)[1]
