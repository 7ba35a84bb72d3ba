"""Small worlds of a move, explored: every state that the relation reaches in them.

They show that no invariant and no event of the proofs is vacuous, and what goes wrong where a part of the protocol is
left out. A proof for all sizes rests on none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import attrs
from attrs import evolve, frozen

from routeproof.model.overlay import Node, Overlay
from routeproof.spec.migration.theory.move import DRAINED, EVENTS, MoveEvent, MoveSetting, MoveState
from routeproof.spec.migration.theory.publications import BOOK
from routeproof.spec.migration.theory.tables import Moved
from routeproof.spec.theory import BROKER, PUB, Grounded, Term, holding
from routeproof.spec.theory.relation import of_overlay

Values = tuple[frozenset[tuple[Term, ...]], ...]
"""A state, field by field, as the rows that are in it."""

Run = tuple[tuple[str, tuple[Term, ...]], ...]
"""Events with their elements."""


@frozen
class SmallWorld:
    """A tree, where a publisher moves from and to, where the subscription is, and how many publications there are."""

    edges: tuple[tuple[Node, Node], ...]
    source: Node
    target: Node
    home: Node
    publications: int = 1
    other: frozenset[Node] = frozenset()
    removal: str = DRAINED

    @property
    def name(self) -> str:
        links = ", ".join(f"{u}-{v}" for u, v in self.edges)
        drawn = f", drawn to {', '.join(map(str, sorted(self.other)))} by others" if self.other else ""
        return f"{links}: from {self.source} to {self.target}, subscription at {self.home}{drawn}"

    def setting(self) -> MoveSetting:
        overlay = Overlay.of(self.edges)
        logic = Grounded({BROKER: overlay.brokers, PUB: range(1, self.publications + 1)})
        others = holding([(b,) for b in self.other])
        ends = (self.source, self.target, self.home)
        return MoveSetting(logic, _tree(self.edges), *ends, others, lambda p, o: p < o, self.removal)


@cache
def _tree(edges: tuple[tuple[Node, Node], ...]) -> Any:
    tree = of_overlay(Overlay.of(edges))
    return evolve(tree, **{each.name: cache(getattr(tree, each.name)) for each in attrs.fields(type(tree))})


LINE, FORK = ((1, 2), (2, 3)), ((1, 2), (2, 3), (2, 4))

WORLDS = (
    SmallWorld(((1, 2),), 1, 2, 2, 2),
    SmallWorld(((1, 2),), 1, 2, 1, 2),
    SmallWorld(LINE, 1, 3, 2, 1),
    SmallWorld(LINE, 1, 3, 3, 1),
    SmallWorld(LINE, 3, 1, 3, 1),
    SmallWorld(LINE, 1, 2, 3, 1),
    SmallWorld(LINE, 1, 3, 3, 1, frozenset({3, 2})),
    SmallWorld(FORK, 1, 3, 4, 1),
)
"""The subscription at both ends, between, beyond and off the path; drawn by another publisher too; two publications."""


# -- states ------------------------------------------------------------------------------------------------------------

FIELDS = attrs.fields(MoveState)


def state_of(values: Values) -> MoveState:
    return MoveState(*map(holding, values))


def values_of(q: MoveSetting, m: MoveState) -> Values:
    """The rows of each field. In a grounded reading every answer is True or False."""
    logic = q.logic
    assert isinstance(logic, Grounded)
    return tuple(
        frozenset(row for row in logic.each(field.metadata["sorts"]) if getattr(m, field.name)(*row) is True)
        for field in FIELDS
    )


def beginning(q: MoveSetting) -> Values:
    """The state at the beginning: settled, and nothing published."""
    known = [(b,) for (b,) in q.logic.each((BROKER,)) if q.on_old(b) or q.other(b)]  # type: ignore[attr-defined]
    rows = {"has": known, "sent": [(b,) for (b,) in known if b != q.home]}
    return tuple(frozenset(rows.get(field.name, ())) for field in FIELDS)


def successors(
    q: MoveSetting, values: Values, events: Sequence[MoveEvent] = EVENTS
) -> Iterator[tuple[MoveEvent, Any, Values]]:
    logic, m = q.logic, state_of(values)
    assert isinstance(logic, Grounded)
    for event in events:
        for terms in logic.each(event.sorts):
            if event.guard(q, m, *terms) is True:
                yield event, terms, values_of(q, event.effect(q, m, *terms))


def explored(q: MoveSetting, events: Sequence[MoveEvent] = EVENTS) -> dict[Values, Run]:
    """Every reachable state, with a shortest run to it."""
    first = beginning(q)
    runs: dict[Values, Run] = {first: ()}
    waiting = [first]
    for values in waiting:
        for event, terms, then in successors(q, values, events):
            if then not in runs:
                runs[then] = (*runs[values], (event.name, terms))
                waiting.append(then)
    return runs


def violated(q: MoveSetting, values: Values, names: Iterable[str] = ()) -> list[str]:
    """The sentences of the book that are false in a state."""
    w = Moved(q, state_of(values))
    return [name for name in names or (*BOOK.conjuncts, *BOOK.lemmas) if not _holds(w, name)]


def _holds(w: Moved, name: str) -> bool:
    each = BOOK[name]
    return all(each.body(w, *terms) is True for terms in w.logic.each(each.sorts))  # type: ignore[attr-defined]


# -- what is shown by them ---------------------------------------------------------------------------------------------


@cache
def states(world: SmallWorld) -> Mapping[Values, Run]:
    return explored(world.setting())


@cache
def happens() -> frozenset[str]:
    """The events that happen in some small world."""
    found: set[str] = set()
    for world in WORLDS:
        q = world.setting()
        found |= {event.name for values in states(world) for event, _, _ in successors(q, values)}
    return frozenset(found)


@cache
def speaks() -> frozenset[str]:
    """The sentences whose conditions are met somewhere in some small world."""
    found: set[str] = set()
    for world, name in product(WORLDS, (*BOOK.conjuncts, *BOOK.lemmas)):
        if name not in found and any(_says_something(world.setting(), values, name) for values in states(world)):
            found.add(name)
    return frozenset(found)


def _says_something(q: MoveSetting, values: Values, name: str) -> bool:
    w, each = Moved(q, state_of(values), met=[]), BOOK[name]
    for terms in w.logic.each(each.sorts):  # type: ignore[attr-defined]
        each.body(w, *terms)
    return bool(w.met)


def is_over(q: MoveSetting, values: Values) -> bool:
    """True if the publisher speaks at the target, and everything is published and delivered."""
    m, logic = state_of(values), q.logic
    return bool(
        logic.all_of(
            m.resumed(),
            logic.every((PUB,), lambda p: logic.iff(m.published(p), m.delivered(p))),
            logic.every((BROKER,), lambda b: logic.no(logic.any_of(m.addition(b), m.withdrawal(b)))),
        )
    )


def ends_well(world: SmallWorld) -> bool:
    """True if the runs of this world are finite, and every one of them can only end where the move is over."""
    q = world.setting()
    ends = [values for values in states(world) if not list(successors(q, values))]
    return bool(ends) and all(is_over(q, values) for values in ends)


def shortest(world: SmallWorld, sentence: str, events: Sequence[MoveEvent] = EVENTS) -> Run | None:
    """A shortest run after which the sentence is false; None if there is none."""
    q = world.setting()
    runs = explored(q, events)
    false = (run for values, run in runs.items() if violated(q, values, (sentence,)))
    return min(false, key=len, default=None)


def without(name: str, **changed: Any) -> tuple[MoveEvent, ...]:
    """The events, one of them with another guard or effect."""
    return tuple(evolve(event, **changed) if event.name == name else event for event in EVENTS)
