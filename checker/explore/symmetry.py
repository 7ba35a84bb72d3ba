"""Symmetry reduction: of states that differ only in names, one is explored.

A `Renaming` maps brokers, ids and events of an instance onto one another so that the instance stays the same.
`renamings` finds them; `SymmetricSearch` stores, of each orbit, the state with the least component ids.

A renaming is a symmetry only where the protocol treats names alike, and the routing core does not quite: ids have an
order (COV-10, and the order of messages within a step). So nothing is taken on trust: each question that is put to a
handler is put under every renaming too, and one whose answer differs is dropped, with all that it generates, and the
search begins again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import permutations

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from routeproof.checker.errors import UsageError
from routeproof.checker.explore.keyindex import Ints, Keys
from routeproof.checker.explore.questions import Answers
from routeproof.checker.explore.search import Progress, Search
from routeproof.model.filters import Event, EventSet, Filter
from routeproof.model.history import History, Ledger
from routeproof.model.instance import Instance
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Outcome
from routeproof.model.tables import Tables, by_id
from routeproof.model.world import State, World
from routeproof.spec.properties import Property

MOST_EVENTS = 6
"""Event renamings are found by trying all of them; beyond this many events only brokers and ids are renamed."""


@frozen
class Renaming:
    """A bijection of an instance onto itself."""

    node: tuple[tuple[Node, Node], ...]
    adv: tuple[int, ...]  # by rank
    sub: tuple[int, ...]
    pub: tuple[int, ...]

    def then(self, other: Renaming) -> Renaming:
        onward = dict(other.node)
        return Renaming(
            tuple((n, onward[m]) for n, m in self.node),
            tuple(other.adv[i] for i in self.adv),
            tuple(other.sub[i] for i in self.sub),
            tuple(other.pub[i] for i in self.pub),
        )

    @property
    def is_identity(self) -> bool:
        return all(n == m for n, m in self.node) and all(
            ranks == tuple(range(len(ranks))) for ranks in (self.adv, self.sub, self.pub)
        )


def renamings(instance: Instance) -> list[Renaming]:
    """All of them, the identity first."""
    found: set[Renaming] = set()
    events = _events(instance)
    for mapping in instance.overlay.automorphisms():
        for image in permutations(events) if len(events) <= MOST_EVENTS else [tuple(events)]:
            renaming = _complete(instance, mapping, dict(zip(events, image, strict=True)))
            if renaming is not None:
                found.add(renaming)
    return sorted(found, key=lambda r: (not r.is_identity, r.node, r.adv, r.sub, r.pub))


def _events(instance: Instance) -> list[int]:
    filters = [a.filter for a in instance.advertisements] + [s.filter for s in instance.subscriptions]
    sets = [f for f in filters if isinstance(f, EventSet)]
    return sorted({e for f in sets for e in f.events}) if len(sets) == len(filters) else []


def _complete(instance: Instance, node: dict[Node, Node], event: dict[int, int]) -> Renaming | None:
    """The renaming of ids that goes with these brokers and events; equal ones keep their order."""

    def filter_of(f: Filter) -> Filter:
        return EventSet.of([event[e] for e in f.events]) if isinstance(f, EventSet) else f

    def event_of(e: Event) -> Event:
        return event[e] if isinstance(e, int) and event else e

    adv = _match(
        [(a.at, a.advertisement.filter, a.unadvertises) for a in instance.advertisers],
        [(node[a.at], filter_of(a.advertisement.filter), a.unadvertises) for a in instance.advertisers],
    )
    sub = _match(
        [(s.at, s.subscription.filter, s.unsubscribes) for s in instance.subscribers],
        [(node[s.at], filter_of(s.subscription.filter), s.unsubscribes) for s in instance.subscribers],
    )
    if adv is None or sub is None:
        return None
    rank = {a.id: a.rank for a in instance.advertisements}
    pub = _match(
        [(rank[p.of], p.event) for p in instance.publications],
        [(adv[rank[p.of]], event_of(p.event)) for p in instance.publications],
    )
    return None if pub is None else Renaming(tuple(sorted(node.items())), adv, sub, pub)


def _match(have: Sequence[Hashable], image: Sequence[Hashable]) -> tuple[int, ...] | None:
    """For each position, the position of an equal item in `have`: the k-th equal one for the k-th."""
    places: dict[Hashable, list[int]] = {}
    for i, item in enumerate(have):
        places.setdefault(item, []).append(i)
    try:
        return tuple(places[item].pop(0) for item in image)
    except (KeyError, IndexError):
        return None


class Renamer:
    """A renaming applied to the values that states are made of."""

    def __init__(self, ledger: Ledger, renaming: Renaming) -> None:
        self.ledger = ledger
        self.nodes = {**dict(renaming.node), LOCAL: LOCAL}
        self.renaming = renaming
        instance = ledger.instance
        self._advs = instance.advertisements
        self._subs = instance.subscriptions
        self._pubs = instance.publications
        place = {o.message: o.index for o in ledger.operations}
        self._operation = [place[self.message(o.message)] for o in ledger.operations]

    def adv(self, a: Advertisement) -> Advertisement:
        return self._advs[self.renaming.adv[a.rank]]

    def sub(self, s: Subscription) -> Subscription:
        return self._subs[self.renaming.sub[s.rank]]

    def pub(self, p: Publication) -> Publication:
        return self._pubs[self.renaming.pub[p.rank]]

    def message(self, message: Hashable) -> Hashable:
        match message:
            case Advertise(a):
                return Advertise(self.adv(a))
            case Unadvertise(a):
                return Unadvertise(self.adv(a))
            case Subscribe(s):
                return Subscribe(self.sub(s))
            case Unsubscribe(s):
                return Unsubscribe(self.sub(s))
            case PackedSubscribe(many):
                return PackedSubscribe(tuple(map(self.sub, many)))
            case PackedUnsubscribe(many):
                return PackedUnsubscribe(tuple(map(self.sub, many)))
            case Publish(p):
                return Publish(self.pub(p))
            case Deliver(p, s):
                return Deliver(self.pub(p), self.sub(s))
        raise TypeError(f"no renaming of {message!r}")

    def queue(self, queue: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        return tuple(map(self.message, queue))

    def local(self, tables: Hashable) -> Tables:
        assert isinstance(tables, Tables)
        return Tables(
            tuple(sorted(((self.adv(a), self.nodes[x]) for a, x in tables.advs), key=lambda e: by_id(e[0]))),
            tuple(sorted(((self.sub(s), self.nodes[x]) for s, x in tables.subs), key=lambda e: by_id(e[0]))),
            tuple(sorted((self.nodes[n], tuple(sorted(map(self.sub, told), key=by_id))) for n, told in tables.sent)),
        )

    def history(self, history: History) -> History:
        ledger, width = self.ledger, len(self._advs)
        pairs = [
            sum(ledger.pair(self.renaming.pub[p], self.renaming.sub[s]) for p, s in ledger.pairs(mask))
            for mask in (history.delivered, history.owed)
        ]
        ready = [divmod(i, width) for i in range(history.ready.bit_length()) if history.ready >> i & 1]
        return evolve(
            history,
            done=sum(1 << self._operation[i] for i in range(len(self._operation)) if history.done >> i & 1),
            delivered=pairs[0],
            owed=pairs[1],
            ready=sum(1 << (self.renaming.sub[s] * width + self.renaming.adv[a]) for s, a in ready),
        )

    def same_answer(self, here: Outcome, there: Outcome) -> bool:
        """Is `there` what `here` becomes? Order counts per receiver, as on links."""
        renamed = [(self.nodes[n], self.message(m)) for n, m in here.sends]
        receivers = {n for n, _ in (*renamed, *there.sends)}
        return self.local(here.local) == there.local and all(_to(n, renamed) == _to(n, there.sends) for n in receivers)


def _to(receiver: Node, sends: Sequence[tuple[Node, Hashable]]) -> Sequence[Hashable]:
    messages = [m for n, m in sends if n == receiver]
    return sorted(messages, key=repr) if receiver == LOCAL else messages


class _Broken(Exception):
    """A renaming under which a handler answers differently."""

    def __init__(self, which: int) -> None:
        self.which = which


class SymmetricSearch(Search):
    """A search of one state an orbit."""

    def __init__(self, world: World, properties: Sequence[Property], group: Sequence[Renaming] | None = None) -> None:
        super().__init__(world, properties)
        if world.instance.protocol != "routing":
            found = world.instance.protocol
            raise UsageError(f"--reduction symmetry knows the routing core only; found protocol {found}")
        self.group = list(renamings(world.instance) if group is None else group)
        self.refused: set[Renaming] = set()
        self.renamers = [Renamer(world.ledger, r) for r in self.group if not r.is_identity]
        q, nodes, links = self.questions, len(world.nodes), len(world.links)
        self._target: list[list[int]] = []  # per renaming, per column: the column that it becomes
        self._renamed: list[list[Answers]] = []  # per renaming, per column: id -> id in the target column
        for g, renamer in enumerate(self.renamers):
            target = [q.node_index[renamer.nodes[n]] for n in world.nodes]
            target += [nodes + world.link_index[renamer.nodes[u], renamer.nodes[v]] for u, v in world.links]
            self._target.append([*target, nodes + links])
            width = len(target) + 1
            self._renamed.append([Answers(self._rename(g, c, g * width + c)) for c in range(width)])
        q.extra = tuple(answers for per_column in self._renamed for answers in per_column)
        q.watch = self._check if self.renamers else None
        self.full = 0

    @property
    def full_states(self) -> int:
        return self.full

    def run(
        self,
        max_states: int | None = None,
        seconds: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        until: Callable[[Search], bool] = lambda _: False,
    ) -> str:
        while True:
            try:
                return super().run(max_states, seconds, progress, until)
            except _Broken as broken:
                self.refused.add(self.renamers[broken.which].renaming)
                refused, group = self.refused, _subgroup_without(self.group, self.refused)
                SymmetricSearch.__init__(self, self.world, self.properties, group)
                self.refused = refused

    def keys_of(self, words: list[Keys]) -> Keys:
        if not self.renamers:
            return super().keys_of(words)
        return self.columns.encode(self.columns.pack(self._least(self.columns.unpack(words))))

    def is_stored_as(self, state: State, id: int) -> bool:
        q = self.questions
        row = [q.number_local(i, x) for i, x in enumerate(state.locals)]
        row += [q.number_queue(i, x) for i, x in enumerate(state.queues)]
        row.append(q.number_history(state.history))
        least = self._least([np.array([x]) for x in row])
        return all(int(a[0]) == int(b[0]) for a, b in zip(least, self.columns_of(id, id + 1)[0], strict=True))

    def _keep(self, parents: Ints, actions: NDArray[np.uint16], known: int) -> None:
        super()._keep(parents, actions, known)
        if self.states > known:
            columns, _ = self.columns_of(known, self.states)
            fixed = np.ones(self.states - known, np.int64)
            for g in range(len(self.renamers)):
                image = self._image(g, columns)
                fixed += np.logical_and.reduce([a == b for a, b in zip(image, columns, strict=True)])
            self.full += int((len(self.group) // fixed).sum())

    def _image(self, g: int, columns: Sequence[Ints]) -> list[Ints]:
        image: list[Ints] = list(columns)
        for c, column in enumerate(columns):
            image[self._target[g][c]] = self._renamed[g][c](column, np.zeros_like(column))
        return image

    def _least(self, columns: list[Ints]) -> list[Ints]:
        """Of each row's images, the least by component ids: ids never change, so every member finds the same one."""
        if not len(columns[0]):
            return columns
        best = list(columns)
        for g in range(len(self.renamers)):
            image = self._image(g, columns)
            less = np.zeros(len(columns[0]), np.bool_)
            tied = ~less
            for a, b in zip(image, best, strict=True):
                less |= tied & (a < b)
                tied &= a == b
            best = [np.where(less, a, b) for a, b in zip(image, best, strict=True)]
        return best

    def _rename(self, g: int, column: int, which: int) -> Callable[[int, int], int]:
        q, nodes = self.questions, len(self.world.nodes)

        def ask(_: int, id: int, __: int) -> int:
            renamer, target = self.renamers[g], self._target[g][column]
            if column < nodes:
                return q.number_local(target, renamer.local(q.locals[column].values[id]))
            if column < nodes + len(q.queues):
                return q.number_queue(target - nodes, renamer.queue(q.queues[column - nodes].values[id]))
            return q.number_history(renamer.history(q.histories.values[id]))

        return q.logged(5, which, ask)

    def _check(self, node: Node, local: Hashable, sender: Node, message: Hashable, answer: Outcome) -> None:
        """Ask the same under every renaming; an answer that differs breaks the symmetry."""
        for g, r in enumerate(self.renamers):
            there = self.world.protocol.handle(r.nodes[node], r.local(local), r.nodes[sender], r.message(message))
            if not r.same_answer(answer, there):
                raise _Broken(g)


def _subgroup_without(group: Sequence[Renaming], refused: set[Renaming]) -> list[Renaming]:
    """A subgroup that avoids what was refused, grown greedily from the identity."""
    kept = [r for r in group if r.is_identity]
    for candidate in group:
        if candidate not in kept and candidate not in refused:
            grown = _closure([*kept, candidate])
            if not refused & set(grown):
                kept = grown
    return kept


def _closure(generators: Sequence[Renaming]) -> list[Renaming]:
    found = list(generators)
    for a in found:
        for b in generators:
            c = a.then(b)
            if c not in found:
                found.append(c)
    return found
