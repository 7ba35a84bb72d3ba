"""A deliberately naive breadth-first search of the routing core.

Written from the normative text of the routing core alone and sharing no code with the rest of routeproof, so that equal
numbers of states are evidence about both. Nothing here is clever: a state is a tuple of tuples and frozensets, the
visited ones sit in a dict, and the queue of the search is a deque.

An instance is a plain tuple `(n, edges, advs, subs, pubs)` with `advs` of `(id, home, events, may_unadvertise)`, `subs`
of `(id, home, events, may_unsubscribe)` and `pubs` of `(id, advertisement id, event)`. Inside, an id is its position.

A message is `(kind, ids)`. Under every policy but `packing` it has one id. Under `packing` (wanted as under `active`)
a received message has its ids handled one after the other in one step; then everything the step sent to one neighbour
goes out as one `Sub` with all subscriptions in the order sent, then one `Unsub` with all withdrawals in that order.
"""

import json
import sys
import time
from array import array
from collections import Counter, deque
from typing import Any

Instance = tuple[int, tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]
Client = tuple[int, frozenset[int], bool]  # home, filter, may be undone
State = tuple[Any, ...]  # done, brokers, queues, delivered, duplicate, ready, owed
LOCAL = 0  # brokers are 1..n
POLICIES = ("none", "active", "lazy", "packing")
PROPERTIES = ("NoLostDelivery", "NoDuplicate", "Precise", "Agreement", "NoResidue", "Compact", "Drains", "Acyclic")
OPERATIONS = {"advertise": "Adv", "unadvertise": "Unadv", "subscribe": "Sub", "unsubscribe": "Unsub", "publish": "Pub"}

_LINE2, _LINE3, _LINE4, _STAR4 = ((1, 2),), ((1, 2), (2, 3)), ((1, 2), (2, 3), (3, 4)), ((1, 2), (1, 3), (1, 4))
_STAR5 = (*_STAR4, (1, 5))
_U, _K = True, False  # may be undone, is kept
# fmt: off
INSTANCES: dict[str, Instance] = {
    "tiny": (2, _LINE2, (("a", 2, (0, 1), _K),), (("S", 1, (0, 1), _U), ("s", 1, (0,), _K)), (("p", "a", 0),)),
    "line3": (3, _LINE3, (("a", 3, (0, 1, 2), _K),),
              (("S", 1, (0, 1), _U), ("s1", 1, (0,), _K), ("s2", 2, (1,), _K)), (("p", "a", 0),)),
    "cross3": (3, _LINE3, (("a", 3, (0, 1), _K), ("b", 1, (0, 1), _K)),
               (("S", 2, (0, 1), _U), ("s1", 1, (0,), _K), ("s2", 3, (1,), _K)), (("p", "a", 0), ("q", "b", 1))),
    "star4": (4, _STAR4, (("a", 2, (0, 1, 2), _K),),
              (("S", 3, (0, 1, 2), _U), ("s1", 3, (0,), _U), ("s2", 4, (1,), _K)), (("p", "a", 0), ("q", "a", 1))),
    "line4": (4, _LINE4, (("a", 4, (0, 1, 2), _K),),
              (("S", 1, (0, 1, 2), _U), ("s1", 1, (0,), _K), ("s2", 2, (1,), _K), ("s3", 3, (2,), _K)),
              (("p", "a", 0), ("q", "a", 2))),
    "equal3": (3, _LINE3, (("a", 3, (0,), _K),),
               (("s1", 1, (0,), _U), ("s2", 1, (0,), _U), ("s3", 2, (0,), _K)), (("p", "a", 0),)),
    "two4": (4, _LINE4, (("a", 1, (0, 1), _K), ("b", 4, (0, 1), _K)),
             (("S", 2, (0, 1), _U), ("s1", 3, (0,), _U), ("s2", 2, (1,), _K)), (("p", "a", 0), ("q", "b", 1))),
    "unadv3": (3, _LINE3, (("a", 3, (0, 1), _U),), (("S", 1, (0, 1), _U), ("s", 2, (0,), _K)), (("p", "a", 0),)),
    "pair3": (3, _LINE3, (("a", 3, (0, 1), _K), ("b", 1, (1, 2), _U)),
              (("s1", 1, (0, 1), _U), ("s2", 2, (1,), _K), ("s3", 3, (1, 2), _U)), (("p", "a", 1), ("q", "b", 1))),
    "wide3": (3, _LINE3, (("a", 3, (0, 1), _K), ("b", 1, (1, 2), _K)),
              (("S", 2, (0, 2), _U), ("s1", 1, (0,), _K), ("s2", 3, (2, 3), _K)), (("p", "a", 0), ("q", "b", 2))),
    "star5": (5, _STAR5, (("a", 2, (0, 1, 2), _K),),
              (("S", 3, (0, 1), _U), ("T", 4, (0, 1), _U), ("U", 5, (0, 1), _U)), (("p", "a", 0), ("q", "a", 1))),
    "leave5": (5, _STAR5, (("a", 2, (0, 1), _U), ("b", 3, (0, 1), _U)),
               (("S", 4, (0, 1), _U), ("T", 5, (0, 1), _K)), (("p", "a", 0),)),
}
# fmt: on


class World:
    def __init__(self, instance: Instance, policy: str) -> None:
        n, edges, advs, subs, pubs = instance
        assert policy in POLICIES
        self.policy = policy
        self.brokers = range(1, n + 1)
        self.near = {b: sorted({y for e in edges for x, y in (e, e[::-1]) if x == b}) for b in self.brokers}
        self.links = [(b, u) for b in self.brokers for u in self.near[b]]
        self.advs: list[Client] = [(home, frozenset(events), undo) for _, home, events, undo in advs]
        self.subs: list[Client] = [(home, frozenset(events), undo) for _, home, events, undo in subs]
        self.pubs = [([a[0] for a in advs].index(adv), event) for _, adv, event in pubs]
        self.pairs = [(s, a) for s in range(len(subs)) for a in range(len(advs)) if self.subs[s][1] & self.advs[a][1]]

    def initial(self) -> State:
        nothing: frozenset[Any] = frozenset()
        brokers = tuple((nothing, nothing, nothing) for _ in self.brokers)
        return (nothing, brokers, tuple(() for _ in self.links), nothing, False, nothing, nothing)

    def matches(self, s: int, p: int) -> bool:
        return self.pubs[p][1] in self.subs[s][1]

    def wanted(self, u: int, advs: dict[int, int], subs: dict[int, int], sent: set[int]) -> set[int]:
        candidates = {
            s for s in subs if subs[s] != u and any(advs[a] == u for t, a in self.pairs if t == s and a in advs)
        }
        filters = {s: self.subs[s][1] for s in candidates}

        def quenches(t: int, s: int) -> bool:
            return filters[s] < filters[t] or (filters[s] == filters[t] and (t not in sent, t) < (s not in sent, s))

        if self.policy == "none":
            return candidates
        kept = sent & candidates if self.policy == "lazy" else set()
        rest = {s for s in candidates if not any(filters[s] <= filters[k] for k in kept)}
        return kept | {s for s in rest if not any(quenches(t, s) for t in rest if t != s)}

    def settle(self, u: int, advs: dict[int, int], subs: dict[int, int], sent: dict[int, set[int]]) -> list[Any]:
        wanted = self.wanted(u, advs, subs, sent[u])
        out = [(u, "Sub", s) for s in sorted(wanted - sent[u])] + [(u, "Unsub", s) for s in sorted(sent[u] - wanted)]
        sent[u] = wanted
        return out

    def handle(
        self, b: int, x: int, message: tuple[str, tuple[int, ...]], broker: Any
    ) -> tuple[Any, list[Any], set[Any]]:
        """Broker b handles the message from x: its new state, what it sends (to, kind, id), what it delivers (p, s)."""
        kind, ids = message
        advs, subs = dict(broker[0]), dict(broker[1])
        sent = {u: {s for v, s in broker[2] if v == u} for u in self.near[b]}
        out: list[Any] = []
        delivered: set[Any] = set()
        for i in ids:
            if kind == "Pub":
                hit = {origin for s, origin in subs.items() if self.matches(s, i)}
                out += [(u, "Pub", i) for u in self.near[b] if u != x and u in hit]
                delivered |= {(i, s) for s, origin in subs.items() if origin == LOCAL and self.matches(s, i)}
            elif kind in ("Adv", "Unadv"):
                if (kind == "Adv" and i in advs) or (kind == "Unadv" and advs.get(i) != x):
                    continue
                if kind == "Adv":
                    advs[i] = x
                else:
                    del advs[i]
                out += [(u, kind, i) for u in self.near[b] if u != x]
                if x != LOCAL:
                    out += self.settle(x, advs, subs, sent)
            else:
                if kind == "Unsub" and subs.get(i) != x:
                    continue
                if kind == "Sub":
                    subs[i] = x
                else:
                    del subs[i]
                for u in self.near[b]:
                    out += self.settle(u, advs, subs, sent)
        new = (frozenset(advs.items()), frozenset(subs.items()), frozenset((u, s) for u in sent for s in sent[u]))
        return new, out, delivered

    def post(self, out: list[Any], u: int) -> tuple[Any, ...]:
        """The messages that a step which sent `out` appends to its queue to u."""
        mine = [(kind, i) for v, kind, i in out if v == u]
        if self.policy != "packing":
            return tuple((kind, (i,)) for kind, i in mine)
        plain = tuple((kind, (i,)) for kind, i in mine if kind not in ("Sub", "Unsub"))
        packs = [(kind, tuple(i for k, i in mine if k == kind)) for kind in ("Sub", "Unsub")]
        assert not plain or len(plain) == len(mine), "a step mixes packed and plain messages to one neighbour"
        for at, (kind, i) in enumerate(mine):
            assert kind != "Unsub" or ("Sub", i) not in mine[at:], "packing reorders an Unsub and a later Sub"
        return plain + tuple(pack for pack in packs if pack[1])

    def enabled(self, done: frozenset[Any]) -> list[tuple[str, int]]:
        steps = []
        for table, do, undo in ((self.advs, "advertise", "unadvertise"), (self.subs, "subscribe", "unsubscribe")):
            for i, (_, _, may_undo) in enumerate(table):
                if (do, i) not in done:
                    steps.append((do, i))
                elif may_undo and (undo, i) not in done:
                    steps.append((undo, i))
        for p, (a, _) in enumerate(self.pubs):
            if ("publish", p) not in done and ("advertise", a) in done and ("unadvertise", a) not in done:
                steps.append(("publish", p))
        return steps

    def home(self, operation: str, i: int) -> int:
        if operation == "publish":
            return self.advs[self.pubs[i][0]][0]
        return (self.subs if "subscribe" in operation else self.advs)[i][0]

    def active(self, done: frozenset[Any]) -> tuple[set[int], set[int]]:
        subs = {i for op, i in done if op == "subscribe" and ("unsubscribe", i) not in done}
        return subs, {i for op, i in done if op == "advertise" and ("unadvertise", i) not in done}

    def successors(self, state: State) -> list[State]:
        done, queues = state[0], state[2]
        result = [self.after(state, done | {op}, self.home(*op), LOCAL, op, queues) for op in self.enabled(done)]
        for k, (x, b) in enumerate(self.links):
            if queues[k]:
                rest = (*queues[:k], queues[k][1:], *queues[k + 1 :])
                result.append(self.after(state, done, b, x, queues[k][0], rest))
        return result

    def after(self, state: State, done: frozenset[Any], b: int, x: int, what: Any, queues: tuple[Any, ...]) -> State:
        _, brokers, _, delivered, duplicate, ready, owed = state
        message = (OPERATIONS[what[0]], (what[1],)) if x == LOCAL else what
        new, out, fresh = self.handle(b, x, message, brokers[b - 1])
        brokers = (*brokers[: b - 1], new, *brokers[b:])
        queues = tuple(q + self.post(out, u) if v == b else q for (v, u), q in zip(self.links, queues, strict=True))
        if x == LOCAL and what[0] == "publish":
            p = what[1]
            owed = owed | {(p, s) for s, a in ready if a == self.pubs[p][0] and self.matches(s, p)}
        if x == LOCAL and what[0] == "unsubscribe":
            owed = frozenset((p, s) for p, s in owed if s != what[1])
        subs, advs = self.active(done)
        source = ready if has_control(queues) else self.pairs
        ready = frozenset((s, a) for s, a in source if s in subs and a in advs)
        return (done, brokers, queues, delivered | fresh, duplicate or bool(delivered & fresh), ready, owed)

    def violations(self, state: State) -> list[str]:
        done, brokers, queues, delivered, duplicate, _, owed = state
        flying = {ids[0] for q in queues for kind, ids in q if kind == "Pub"}
        bad = ["NoLostDelivery"] if any(p not in flying and (p, s) not in delivered for p, s in owed) else []
        bad += ["NoDuplicate"] * duplicate
        bad += ["Precise"] if not all(self.matches(s, p) for p, s in delivered) else []
        if has_control(queues):
            return bad
        heard = {(b, u): {s for s, origin in brokers[u - 1][1] if origin == b} for b, u in self.links}
        said = {(b, u): {s for v, s in brokers[b - 1][2] if v == u} for b, u in self.links}
        subs, advs = self.active(done)
        residue = any({a for a, _ in b[0]} - advs or {s for s, _ in b[1]} - subs for b in brokers)
        nested = any(self.subs[s][1] < self.subs[t][1] for table in heard.values() for s in table for t in table)
        bad += ["Agreement"] * (heard != said) + ["NoResidue"] * residue
        return bad + ["Compact"] * (nested and self.policy in ("active", "packing"))


def has_control(queues: tuple[Any, ...]) -> bool:
    return any(message[0] != "Pub" for queue in queues for message in queue)


def explore(instance: Instance, policy: str) -> tuple[tuple[int, int, int], dict[str, int]]:
    """(states, transitions, depth), and for each property the number of states that violate it."""
    world = World(instance, policy)
    seen = {world.initial(): 0}
    todo = deque([(world.initial(), 0)])
    bad: Counter[str] = Counter(dict.fromkeys(PROPERTIES, 0))
    ends, starts, depth = array("I"), array("Q", [0]), 0  # the targets of state i: ends[starts[i]:starts[i + 1]]
    while todo:
        state, depth = todo.popleft()
        bad.update(world.violations(state))
        following = world.successors(state)
        bad["Drains"] += not following and any(state[2])
        for successor in following:
            if successor not in seen:
                seen[successor] = len(seen)
                todo.append((successor, depth + 1))
            ends.append(seen[successor])
        starts.append(len(ends))
    indegree = array("I", bytes(4 * len(seen)))
    for end in ends:
        indegree[end] += 1
    free = [i for i, into in enumerate(indegree) if not into]
    left = len(seen)
    while free:  # Kahn: take away states that nothing leads to; what is left over lies on or behind a cycle
        left -= 1
        i = free.pop()
        for end in ends[starts[i] : starts[i + 1]]:
            indegree[end] -= 1
            if not indegree[end]:
                free.append(end)
    bad["Acyclic"] += left
    return (len(seen), len(ends), depth), dict(bad)


def search(instance: Instance, policy: str) -> tuple[int, int, int]:
    """(distinct states, pairs of a state and a step enabled in it, greatest distance from the initial state)."""
    numbers, bad = explore(instance, policy)
    assert not any(bad.values()), bad
    return numbers


if __name__ == "__main__":
    for job in sys.argv[1:]:  # for instance: tiny/none line3/lazy
        begin = time.monotonic()
        measured, broken = explore(INSTANCES[job.split("/")[0]], job.split("/")[1])
        broken = {name: count for name, count in broken.items() if count}
        print(json.dumps([job, measured, broken, round(time.monotonic() - begin, 1)]), flush=True)
