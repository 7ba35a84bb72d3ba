"""Judging plain states: which properties one state breaks, and which it exercises.

`violations` and `exercised` put properties to one `State` (`checker/scopes.py`). `Drains` speaks of runs, not of
states; `Monitor` judges it too, state after state along one run, and what compares runs. The explorer does not come
here: it judges columns of states at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from routeproof.checker.scopes import Group, answers, groups
from routeproof.checker.wings import wing_of
from routeproof.model.world import State, World
from routeproof.spec.properties import Property

Violation = tuple[Property, str]
"""A property that must always hold, and why it does not."""


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
