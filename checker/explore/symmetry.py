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
from typing import Any

import numpy as np
from attrs import evolve, frozen

from routeproof.checker.explore.columns import Ints, Keys
from routeproof.checker.explore.interned import AnswerTable
from routeproof.checker.explore.search import Search, refuse_unargued
from routeproof.checker.system.errors import UsageError
from routeproof.model.fields import rename
from routeproof.model.filters import Event, EventSet, Filter
from routeproof.model.history import History, Ledger
from routeproof.model.instance import Instance
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Outcome
from routeproof.model.world import State, World
from routeproof.spec.properties import Property

MOST_EVENTS = 6
"""Event renamings are found by trying all of them; beyond this many events only brokers and ids are renamed."""

MOST_TRIED = 5_040
"""Bijections of brokers and events that are tried. A star of 64 brokers has 63 factorial of brokers alone."""


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
    """Returns all renamings of an instance, the identity first. Refuses an instance with too many to try."""
    found: set[Renaming] = set()
    events = _events(instance)
    images = list(permutations(events)) if len(events) <= MOST_EVENTS else [tuple(events)]
    candidates = ((mapping, image) for mapping in instance.overlay.automorphisms() for image in images)
    for tried, (mapping, image) in enumerate(candidates):
        if tried == MOST_TRIED:
            raise UsageError(
                f"--reduction symmetry: found more than {MOST_TRIED:,} ways to rename brokers and"
                " events; expected fewer: check it without, or with --reduction por"
            )
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
        self._operation = [place[self.renamed(o.message)] for o in ledger.operations]

    def node(self, node: Node) -> Node:
        return self.nodes[node]

    def advertisement(self, item: Advertisement) -> Advertisement:
        return self._advs[self.renaming.adv[item.rank]]

    def subscription(self, item: Subscription) -> Subscription:
        return self._subs[self.renaming.sub[item.rank]]

    def publication(self, item: Publication) -> Publication:
        return self._pubs[self.renaming.pub[item.rank]]

    def id(self, kind: str, id: str) -> str:
        """An id that stands for an item of this kind."""
        renamed: dict[str, Callable[[], Advertisement | Subscription | Publication]] = {
            "advertisement": lambda: self.advertisement(next(a for a in self._advs if a.id == id)),
            "subscription": lambda: self.subscription(next(s for s in self._subs if s.id == id)),
            "publication": lambda: self.publication(next(p for p in self._pubs if p.id == id)),
        }
        return renamed[kind]().id

    def renamed(self, value: Hashable) -> Hashable:
        """A message or a local state."""
        return rename(value, self)

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
        renamed = [(self.nodes[n], self.renamed(m)) for n, m in here.sends]
        receivers = {n for n, _ in (*renamed, *there.sends)}
        return self.renamed(here.local) == there.local and all(
            _to(n, renamed) == _to(n, there.sends) for n in receivers
        )


def _to(receiver: Node, sends: Sequence[tuple[Node, Hashable]]) -> Sequence[Hashable]:
    messages = [m for n, m in sends if n == receiver]
    return sorted(messages, key=repr) if receiver == LOCAL else messages


class _Broken(ValueError):
    """A renaming under which a handler answers differently."""

    def __init__(self, which: int) -> None:
        self.which = which


class SymmetricSearch(Search):
    """A search of one state an orbit."""

    def __init__(self, world: World, properties: Sequence[Property], group: Sequence[Renaming] | None = None) -> None:
        super().__init__(world, properties)
        refuse_unargued("symmetry", world)
        self.group = list(renamings(world.instance) if group is None else group)
        self.refused: set[Renaming] = set()
        self.renamers = [Renamer(world.ledger, r) for r in self.group if not r.is_identity]
        q, nodes, links = self.questions, len(world.nodes), len(world.links)
        self._target: list[list[int]] = []  # per renaming, per column: the column that it becomes
        self._renamed: list[list[AnswerTable]] = []  # per renaming, per column: id -> id in the target column
        for g, renamer in enumerate(self.renamers):
            target = [q.node_index[renamer.nodes[n]] for n in world.nodes]
            target += [nodes + world.link_index[renamer.nodes[u], renamer.nodes[v]] for u, v in world.links]
            self._target.append([*target, nodes + links])
            width = len(target) + 1
            self._renamed.append([AnswerTable(self._rename(g, c, g * width + c)) for c in range(width)])
        q.extra = tuple(answers for per_column in self._renamed for answers in per_column)
        q.watch = self._check if self.renamers else None
        self.full = 0

    @property
    def full_states(self) -> int:
        return self.full

    def go_on(self, max_states: int | None, report: Callable[[], None], until: Callable[[Search], bool]) -> None:
        while True:
            try:
                super().go_on(max_states, report, until)
                return
            except _Broken as broken:
                self._begin_without({*self.refused, self.renamers[broken.which].renaming})

    def _begin_without(self, refused: set[Renaming]) -> None:
        SymmetricSearch.__init__(self, self.world, self.properties, _subgroup_without(self.group, refused))
        self.refused = refused

    def extra(self) -> object:
        everything = renamings(self.world.instance)
        return {"group": [everything.index(r) for r in self.group], "full": self.full}

    def take_up(self, extra: Any) -> None:
        everything = renamings(self.world.instance)
        group, full = extra["group"], extra["full"]
        if not all(type(i) is int and 0 <= i < len(everything) for i in (*group, 0)) or group[:1] != [0]:
            raise ValueError("no group of renamings")
        kept = [everything[i] for i in group]
        if type(full) is not int or full < 0 or set(_closure(kept)) != set(kept) or len(set(kept)) < len(kept):
            raise ValueError("no group of renamings")
        SymmetricSearch.__init__(self, self.world, self.properties, kept)
        self.full = full

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

    def look(self, first: int, columns: Sequence[Ints]) -> None:
        fixed = np.ones(len(columns[0]), np.int64)
        for g in range(len(self.renamers)):
            image = self._image(g, columns)
            fixed += np.logical_and.reduce([a == b for a, b in zip(image, columns, strict=True)])
        super().look(first, columns)
        self.full += int((len(self.group) // fixed).sum())

    def _image(self, g: int, columns: Sequence[Ints]) -> list[Ints]:
        image: list[Ints] = list(columns)
        for c, column in enumerate(columns):
            image[self._target[g][c]] = self._renamed[g][c](column, np.zeros_like(column))
        return image

    def _least(self, columns: list[Ints]) -> list[Ints]:
        """The least of each row's images by component ids, which never change: the same one for all of an orbit."""
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
                return q.number_local(target, renamer.renamed(q.locals[column].values[id]))
            if column < nodes + len(q.queues):
                return q.number_queue(target - nodes, tuple(map(renamer.renamed, q.queues[column - nodes].values[id])))
            return q.number_history(renamer.history(q.histories.values[id]))

        return q.logged(5, which, ask)

    def _check(self, node: Node, local: Hashable, sender: Node, message: Hashable, answer: Outcome) -> None:
        """Ask the same under every renaming; an answer that differs breaks the symmetry."""
        for g, r in enumerate(self.renamers):
            there = self.world.protocol.handle(r.nodes[node], r.renamed(local), r.nodes[sender], r.renamed(message))
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
    found = dict.fromkeys(generators)
    waiting = list(found)
    for a in waiting:
        for b in generators:
            c = a.then(b)
            if c not in found:
                found[c] = None
                waiting.append(c)
    return waiting
