"""Evaluation of properties: where a property is evaluated, the parts that it reads there, and what an engine answers.

`PropertyGroup` holds the properties that read the same parts of a state at the same places; `EvaluationPlace` is one of
these places.
The explorer asks by columns of numbers (`explore/judge.py`), everything else by plain states: `answers` puts properties
to one state, `Changes` to the states of a run, each where something that it reads has changed. `violations` and
`exercised` judge one state; `Monitor` judges a run state after state, with `Drains`, which speaks of runs, and with the
properties that compare runs.

An engine answers with a `Result`, which has one `Finding` for each property. Three values: holds, fails, unknown. A
limit that was reached is never "holds", and the verdict comes with its bounds.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from attrs import Factory, field, frozen

from routeproof.checker.wings import wing_of
from routeproof.model.history import CONTROL, PARTS, RESERVED, Reading
from routeproof.model.overlay import Link, Node
from routeproof.model.protocol import ProtocolError
from routeproof.model.world import State, World
from routeproof.spec.specification import Answer, Over, Property

Values = tuple[Any, ...]
"""Parts of a state that are read at a place."""

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
class EvaluationPlace:
    """One place where a group is evaluated. `locals` and `queues` are positions in a state."""

    over: Over
    at: Node | Link | None
    locals: tuple[int, ...]
    queues: tuple[int, ...]
    reading: Reading
    flight: bool

    def own(self, state: State) -> Values:
        """The states of nodes and the queues that are read here."""
        locals_, queues = state.locals, state.queues
        return (
            (locals_[self.locals[0]],) if len(self.locals) == 1 else tuple(locals_[i] for i in self.locals),
            tuple(queues[i] for i in self.queues) if self.queues else (),
        )


@frozen
class PropertyGroup:
    """Properties with the same places that read the same."""

    properties: tuple[Property, ...]
    places: tuple[EvaluationPlace, ...]
    quiet: bool
    reading: Reading | None = field(init=False)
    """The parts of the history and the ghosts that its properties read: the same at every place."""

    @reading.default
    def _reading(self) -> Reading | None:
        return self.places[0].reading if self.places and self.places[0].reading else None

    def common(self, state: State, tags: int) -> Values:
        """The parts that are read at every place: of the history, of the ghosts, and the tags in flight."""
        reading = self.reading
        flight = tags if self.places and self.places[0].flight else 0
        if reading is None:
            return (), (), flight
        return reading.page_of(state.history), reading.values_of(state.ghosts), flight

    def shown(self, common: Values) -> Any:
        """The common parts by name, as properties see them; None where they read none."""
        return None if self.reading is None else self.reading.shown(common[0], common[1])

    def asked(
        self, world: World, place: EvaluationPlace, own: Values, shown: Any, tags: int
    ) -> Callable[[Property], Answer]:
        nodes, queues = own
        given: list[Any] = [] if place.at is None else [place.at]
        if place.over == "world":
            if place.locals:
                given.append({world.nodes[i]: local for i, local in zip(place.locals, nodes, strict=True)})
            if "queues" in self.properties[0].reads:  # none where there is one broker
                given.append({world.links[i]: queue for i, queue in zip(place.queues, queues, strict=True)})
        else:
            given += [*nodes, *queues]
        if place.reading:
            given.append(shown)
        if place.flight:
            given.append(tags)
        return lambda p: p.evaluate(world.ledger, *given)


def groups(world: World, properties: Iterable[Property]) -> tuple[PropertyGroup, ...]:
    """The properties in groups, each group where its first property is."""
    together: dict[tuple[Over, str, frozenset[str], bool], list[Property]] = {}
    for p in properties:
        if p.over in ALLOWED:
            together.setdefault((p.over, p.role, frozenset(p.reads), p.quiet), []).append(p)
    return tuple(
        PropertyGroup(tuple(same), tuple(_places(world, same[0])), same[0].quiet) for same in together.values()
    )


def _places(world: World, p: Property) -> Iterator[EvaluationPlace]:
    """The places of a property; `ProtocolError` where it reads what cannot be read there."""
    wrong = [name for name in p.reads if name in RESERVED and name not in ALLOWED[p.over]]
    if wrong:
        raise ProtocolError(
            f"property {p.id} is over each {p.over} and reads {wrong[0]};"
            f" expected {', '.join(ALLOWED[p.over])}, or names of ghosts"
        )
    reading = world.reading([name for name in p.reads if name not in RESERVED], f"property {p.id}")
    index = {node: i for i, node in enumerate(world.nodes)}

    def place(at: Node | Link | None, locals_: Sequence[Node], links: Sequence[Link]) -> EvaluationPlace:
        nodes = tuple(index[node] for node in locals_) if {"local", "locals"} & set(p.reads) else ()
        queues = tuple(world.link_index[link] for link in links) if {"queue", "queues"} & set(p.reads) else ()
        return EvaluationPlace(p.over, at, nodes, queues, reading, "flight" in p.reads)

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


def answers(world: World, among: Iterable[PropertyGroup], state: State, tags: int) -> Iterator[tuple[Property, Answer]]:
    """The answers of all properties at all their places in one state."""
    for group in among:
        if not (group.quiet and tags & CONTROL):
            shown = group.shown(group.common(state, tags))
            for place in group.places:
                ask = group.asked(world, place, place.own(state), shown, tags)
                for p in group.properties:
                    yield p, ask(p)


class Changes:
    """The properties of one world along a run: each is evaluated where a part that it reads has changed."""

    def __init__(self, world: World, properties: Iterable[Property]) -> None:
        self.world = world
        self.groups = groups(world, properties)
        self._last: list[list[Values | None]] = [[None] * len(group.places) for group in self.groups]
        self._state: State | None = None
        self._tags = 0
        self._touched = [set(range(len(group.places))) for group in self.groups]
        """Per group, the places that read a part which a step since their last evaluation has replaced."""
        self._readers: dict[tuple[str, int | str], list[tuple[int, int]]] = {}
        """Per part (its kind, and its position or name), the places that read it."""
        for g, group in enumerate(self.groups):
            for i, place in enumerate(group.places):
                for part in _parts(place):
                    self._readers.setdefault(part, []).append((g, i))

    def answers(self, state: State, tags: int) -> Iterator[tuple[Property, Answer]]:
        """The answers that may differ from those in the states before."""
        self._compare(state, tags)
        for g, group in enumerate(self.groups):
            touched = self._touched[g]
            if not touched or (group.quiet and tags & CONTROL):
                continue
            common, shown, last = group.common(state, tags), None, self._last[g]
            for i in sorted(touched):
                place = group.places[i]
                own = place.own(state)
                if last[i] != (own, common):
                    last[i] = own, common
                    shown = shown or group.shown(common)
                    ask = group.asked(self.world, place, own, shown, tags)
                    for p in group.properties:
                        yield p, ask(p)
            touched.clear()

    def _compare(self, state: State, tags: int) -> None:
        """Finds the parts that this step has replaced. A step hands on the parts that it leaves alone as they are."""
        before, self._state = self._state, state
        if before is None:
            self._tags = tags
            return
        if tags != self._tags:
            self._tags = tags
            self._touch("flight", 0)
        for kind, old, new in (
            ("local", before.locals, state.locals),
            ("queue", before.queues, state.queues),
            ("ghost", before.ghosts, state.ghosts),
        ):
            if old is not new:
                for i, (was, now) in enumerate(zip(old, new, strict=True)):
                    if was is not now:
                        self._touch(kind, i)
        if before.history is not state.history:
            for name in PARTS:
                if getattr(before.history, name) != getattr(state.history, name):
                    self._touch("part", name)

    def _touch(self, kind: str, which: int | str) -> None:
        for g, i in self._readers.get((kind, which), ()):
            self._touched[g].add(i)


def _parts(place: EvaluationPlace) -> Iterator[tuple[str, int | str]]:
    yield from (("local", i) for i in place.locals)
    yield from (("queue", i) for i in place.queues)
    yield from (("part", name) for name in place.reading.parts)
    yield from (("ghost", i) for _, _, i in place.reading.ghosts)
    if place.flight:
        yield "flight", 0


def violations(
    world: World, state: State, properties: Sequence[Property], grouped: Sequence[PropertyGroup] | None = None
) -> list[Violation]:
    """Violations in this state, in the order of `properties`; each of them once. `grouped`: their groups, if known."""
    wrong: dict[str, str] = {}
    among = groups(world, properties) if grouped is None else grouped
    for p, answer in answers(world, among, state, world.in_flight(state)):
        if p.kind == "always" and answer:
            wrong.setdefault(p.id, answer)
    return [(p, wrong[p.id]) for p in properties if p.id in wrong]


def exercised(world: World, state: State, properties: Iterable[Property]) -> list[Property]:
    """Properties that this state puts to the test; a `sometimes` among them has been reached."""
    found = answers(world, groups(world, properties), state, world.in_flight(state))
    return list({p.id: p for p, answer in found if answer is not None}.values())


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
        wrong = violations(self.world, state, self.properties, self._groups)
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


Verdict = Literal["holds", "fails", "unknown"]


@frozen
class Finding:
    """The verdict on one property. `run` is a shortest run to a violation (or, of a `sometimes`, to a witness)."""

    property: str
    kind: Literal["always", "sometimes"]
    verdict: Verdict
    exercised: int = 0
    run: tuple[str, ...] | None = None
    """Labels of the actions from the initial state: a replay token."""
    why: str = ""
    """Description of the violation at the end of the run."""
    trace: Path | None = None
    """Where the run is written. Only the fuzzer says so: only it knows the instance that it drew."""
    unwritten: str = ""
    """Why the fuzzer could not write the run."""

    @builtins.property  # `property` is a field here
    def failed(self) -> bool:
        return self.verdict == "fails"


@frozen
class Result:
    """One instance under one policy, by one engine."""

    instance: str
    protocol: str
    policy: str
    mutant: str | None
    engine: str
    states: int
    transitions: int
    depth: int
    complete: bool
    seconds: float
    findings: dict[str, Finding]
    rules: dict[str, int] = Factory(dict)
    """How often each rule fired, by transitions (explorer) or steps (fuzzer)."""
    stored: int = 0
    """States kept; fewer than `states` under a symmetry reduction."""
    reduction: tuple[str, ...] = ()
    examples: int = 0
    """How many runs the fuzzer drew."""
    limit: str = ""
    """Which limit was reached first; empty when complete."""
    unsaved: str = ""
    """The reason for which the requested checkpoint could not be written, if any."""
