"""The interpreter of scopes: where a property is evaluated, the parts that it reads there, and its arguments.

`Group` holds the properties that read the same parts of a state at the same places, and `Place` one of these places.
The explorer asks by columns of numbers (`explore/judge.py`), everything else by plain states: `answers` puts properties
to one state, `Changes` to the states of a run, each where something that it reads has changed. `violations` and
`exercised` judge one state; `Monitor` judges a run state after state, with `Drains`, which speaks of runs, and with the
properties that compare runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from attrs import frozen

from routeproof.checker.wings import wing_of
from routeproof.model.history import CONTROL, RESERVED, Reading
from routeproof.model.overlay import Link, Node
from routeproof.model.protocol import ProtocolError
from routeproof.model.world import State, World
from routeproof.spec.property import Answer, Over, Property

Values = tuple[Any, ...]
"""The parts that are read at a place: states of nodes, queues, parts of the history, ghosts, the tags in flight."""

ALLOWED = {
    "world": ("locals", "queues", "flight"),
    "node": ("local", "flight"),
    "link": ("local", "queue", "flight"),
    "channel": ("queue", "flight"),
}
"""The parts that properties over each place may read in addition to ghosts."""

Violation = tuple[Property, str]
"""A property that must always hold, and why it does not."""


@frozen
class Place:
    """One place where a group is evaluated. `locals` and `queues` are positions in a state."""

    over: Over
    at: Node | Link | None
    locals: tuple[int, ...]
    queues: tuple[int, ...]
    reading: Reading
    flight: bool

    def values(self, state: State, tags: int) -> Values:
        """Returns the parts that are read here in a state."""
        return (
            tuple(state.locals[i] for i in self.locals),
            tuple(state.queues[i] for i in self.queues),
            self.reading.page_of(state.history),
            self.reading.values_of(state.ghosts),
            tags if self.flight else 0,
        )


@frozen
class Group:
    """Properties with the same places that read the same."""

    properties: tuple[Property, ...]
    places: tuple[Place, ...]
    quiet: bool

    def asked(self, world: World, place: Place, values: Values) -> Callable[[Property], Answer]:
        """How to ask a property of this group here."""
        nodes, queues, page, ghosts, tags = values
        given: list[Any] = [] if place.at is None else [place.at]
        if place.over == "world":
            if place.locals:
                given.append({world.nodes[i]: local for i, local in zip(place.locals, nodes, strict=True)})
            if place.queues:
                given.append({world.links[i]: queue for i, queue in zip(place.queues, queues, strict=True)})
        else:
            given += [*nodes, *queues]
        if place.reading:
            given.append(place.reading.shown(page, ghosts))
        if place.flight:
            given.append(tags)
        return lambda p: p.evaluate(world.ledger, *given)


def groups(world: World, properties: Iterable[Property]) -> tuple[Group, ...]:
    """The properties in groups, each group where its first property is."""
    together: dict[tuple[Over, str, frozenset[str], bool], list[Property]] = {}
    for p in properties:
        if p.over in ALLOWED:
            together.setdefault((p.over, p.role, frozenset(p.reads), p.quiet), []).append(p)
    return tuple(Group(tuple(same), tuple(_places(world, same[0])), same[0].quiet) for same in together.values())


def _places(world: World, p: Property) -> Iterator[Place]:
    """The places of a property; `ProtocolError` where it reads what cannot be read there."""
    wrong = [name for name in p.reads if name in RESERVED and name not in ALLOWED[p.over]]
    if wrong:
        raise ProtocolError(
            f"property {p.id} is over each {p.over} and reads {wrong[0]};"
            f" expected {', '.join(ALLOWED[p.over])}, or names of ghosts"
        )
    reading = world.reading([name for name in p.reads if name not in RESERVED], f"property {p.id}")
    index = {node: i for i, node in enumerate(world.nodes)}

    def place(at: Node | Link | None, locals_: Sequence[Node], links: Sequence[Link]) -> Place:
        nodes = tuple(index[node] for node in locals_) if {"local", "locals"} & set(p.reads) else ()
        queues = tuple(world.link_index[link] for link in links) if {"queue", "queues"} & set(p.reads) else ()
        return Place(p.over, at, nodes, queues, reading, "flight" in p.reads)

    match p.over:
        case "world":
            yield place(None, world.nodes, world.links)
        case "node":
            for node in world.nodes:
                if p.role in ("any", world.topology.role[node]):
                    yield place(node, (node,), ())
        case "link":
            for link in world.overlay_links:
                yield place(link, link, (link,))
        case "channel":
            for link in world.links:
                yield place(link, (), (link,))


def answers(world: World, among: Iterable[Group], state: State, tags: int) -> Iterator[tuple[Property, Answer]]:
    """The answers of all properties at all their places in one state."""
    for group in among:
        if not (group.quiet and tags & CONTROL):
            for place in group.places:
                ask = group.asked(world, place, place.values(state, tags))
                for p in group.properties:
                    yield p, ask(p)


class Changes:
    """The properties of one world along a run: each is evaluated where a part that it reads has changed."""

    def __init__(self, world: World, properties: Iterable[Property]) -> None:
        self.world = world
        self.groups = groups(world, properties)
        self._last: dict[tuple[int, int], Values] = {}

    def answers(self, state: State, tags: int) -> Iterator[tuple[Property, Answer]]:
        """The answers that may differ from those in the states before."""
        for g, group in enumerate(self.groups):
            if group.quiet and tags & CONTROL:
                continue
            for i, place in enumerate(group.places):
                values = place.values(state, tags)
                if self._last.get((g, i)) != values:
                    self._last[g, i] = values
                    ask = group.asked(self.world, place, values)
                    for p in group.properties:
                        yield p, ask(p)


def violations(world: World, state: State, properties: Sequence[Property]) -> list[Violation]:
    """Violations in this state, in the order of `properties`; each of them once."""
    return _violations(world, state, properties, groups(world, properties))


def exercised(world: World, state: State, properties: Iterable[Property]) -> list[Property]:
    """Properties that this state puts to the test; a `sometimes` among them has been reached."""
    found = answers(world, groups(world, properties), state, world.in_flight(state))
    return list({p.id: p for p, answer in found if answer is not None}.values())


def _violations(world: World, state: State, properties: Sequence[Property], among: Sequence[Group]) -> list[Violation]:
    wrong: dict[str, str] = {}
    for p, answer in answers(world, among, state, world.in_flight(state)):
        if p.kind == "always" and answer:
            wrong.setdefault(p.id, answer)
    return [(p, wrong[p.id]) for p in properties if p.id in wrong]


class Monitor:
    """Judges one run: `look` at its states one after another, the initial one first.

    A run shows that the world does not drain when it comes back to a state where it has been, since it can then go
    round for ever, and when it ends with a message left in a queue.
    """

    def __init__(self, world: World, properties: Sequence[Property]) -> None:
        self.world = world
        self.properties = tuple(properties)
        self.steps = -1
        self._groups = groups(world, self.properties)
        self._drains = next((p for p in properties if p.over == "graph"), None)
        self._first_seen: dict[State, int] = {}
        self._settled = next((p for p in properties if p.over == "settled"), None)
        made = wing_of(world).settled if self._settled is not None else None
        self._judge = None if made is None else made(world)

    def look(self, state: State) -> list[Violation]:
        """Violations in this state, given where this run has been."""
        self.steps += 1
        before = self._first_seen.setdefault(state, self.steps)
        wrong = _violations(self.world, state, self.properties, self._groups)
        if self._drains is not None and (why := self._does_not_drain(state, before)):
            wrong.append((self._drains, why))
        if self._settled is not None and self._judge is not None and (why := self._judge.look(state)):
            wrong.append((self._settled, why))
        return wrong

    def _does_not_drain(self, state: State, before: int) -> str:
        if before < self.steps:
            return f"the state after step {before} is reached again after step {self.steps}: this run never ends"
        if any(state.queues) and next(self.world.steps(state), None) is None:
            return "nothing can happen, but a queue is not empty"
        return ""
