"""Judging plain states: which properties one state breaks, and which it exercises.

`violations` and `exercised` put the catalogue to one `State`, each property to the part that its scope names. `Drains`
speaks of runs, not of states; `Monitor` judges it too, state after state along one run, and what compares runs. The
explorer does not come here: it judges columns of states at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from routeproof.checker.settled import Comparison
from routeproof.model.history import CONTROL
from routeproof.model.world import State, World
from routeproof.spec.properties import Answer, Property

Violation = tuple[Property, str]
"""A property that must always hold, and why it does not."""


def violations(world: World, state: State, properties: Iterable[Property]) -> list[Violation]:
    """What is wrong in this state, in the order of `properties`; each of them once."""
    wrong: dict[str, Violation] = {}
    for p, answer in answers(world, state, properties):
        if p.kind == "always" and answer:
            wrong.setdefault(p.id, (p, answer))
    return list(wrong.values())


def exercised(world: World, state: State, properties: Iterable[Property]) -> list[Property]:
    """Those that say something here: a `sometimes` among them has been reached."""
    said = {p.id: p for p, answer in answers(world, state, properties) if answer is not None}
    return list(said.values())


def answers(world: World, state: State, properties: Iterable[Property]) -> Iterator[tuple[Property, Answer]]:
    """Every property's answer on every part of the state that it reads (see `spec.properties.Scope`)."""
    ledger, history = world.ledger, state.history
    tags = world.in_flight(state)
    tables = dict(zip(world.nodes, state.locals, strict=True))
    for p in properties:
        match p.scope:
            case "history":
                yield p, p.evaluate(ledger, history)
            case "flight":
                yield p, p.evaluate(ledger, history, tags)
            case "queue":
                for link, queue in zip(world.links, state.queues, strict=True):
                    yield p, p.evaluate(ledger, link, queue)
            case "record" if not tags & CONTROL:
                for node in world.nodes:
                    yield p, p.evaluate(ledger, node, tables[node], history)
            case "node" if not tags & CONTROL:
                for node in world.nodes:
                    yield p, p.evaluate(ledger, node, tables[node], history.done)
            case "link" if not tags & CONTROL:
                for near, far in world.links:
                    yield p, p.evaluate(ledger, (near, far), tables[near], tables[far])


class Monitor:
    """Judges one run: `look` at its states one after another, the initial one first.

    A run shows that the world does not drain when it comes back to a state where it has been, since it can then go
    round for ever, and when it ends with a message left in a queue.
    """

    def __init__(self, world: World, properties: Sequence[Property]) -> None:
        self.world = world
        self.properties = tuple(properties)
        self.steps = -1
        self._drains = next((p for p in properties if p.scope == "graph"), None)
        self._first_seen: dict[State, int] = {}
        self._settled = next((p for p in properties if p.scope == "settled"), None)
        self._comparison = Comparison(world) if self._settled is not None else None

    def look(self, state: State) -> list[Violation]:
        """What is wrong here, given where this run has been."""
        self.steps += 1
        before = self._first_seen.setdefault(state, self.steps)
        wrong = violations(self.world, state, self.properties)
        if self._drains is not None and (why := self._does_not_drain(state, before)):
            wrong.append((self._drains, why))
        if self._settled is not None and self._comparison is not None and (why := self._comparison.look(state)):
            wrong.append((self._settled, why))
        return wrong

    def _does_not_drain(self, state: State, before: int) -> str:
        if before < self.steps:
            return f"the state after step {before} is reached again after step {self.steps}: this run never ends"
        if any(state.queues) and next(self.world.steps(state), None) is None:
            return "nothing can happen, but a queue is not empty"
        return ""
