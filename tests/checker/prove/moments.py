"""Runs of the model as moments, with our ghosts kept beside them by their definitions.

The ghosts are computed here from what the model does, not by the relation: nothing of the proof's steps is used.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from attrs import define, field

from routeproof.checker.prove.refine.answers import word
from routeproof.checker.prove.refine.worlds import Worded, items_of
from routeproof.model.messages import is_control
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.world import Action, State, Step, World
from routeproof.spec.theory import Clause, Grounded, Part, Sort, Term, Truth, holding
from routeproof.spec.theory.invariants.book import Ghosts, Moment
from routeproof.spec.theory.relation import of_overlay

Told = list[list[frozenset[int]]]
"""For each link, what its receiver has from its sender after each message that is queued."""


class Noticing(Grounded):
    """It notices whether a clause ever says something: whether the condition that it has is ever met."""

    def __init__(self, logic: Grounded) -> None:
        super().__init__(logic.elements)
        self._condition: Truth = True
        self._depth = 0

    def implies(self, condition: Truth, then: Part) -> Truth:
        self._depth += 1
        answer = super().implies(condition, then)
        self._depth -= 1
        if not self._depth:
            self._condition = condition
        return answer

    def judge(self, sorts: tuple[Sort, ...], clause: Clause) -> tuple[tuple[Term, ...] | None, bool]:
        """The first elements of which it is false, and whether it said something of any."""
        met = False
        for row in self.each(sorts):
            self._condition = True
            if clause.at(*row) is not True:
                return row, True
            met = met or self._condition is True
        return None, met


@define
class Watched:
    """A run as it goes on."""

    world: World
    state: State = field(init=False)
    worded: Worded = field(init=False)
    told: Told = field(init=False)
    heard: set[tuple[Node, int]] = field(init=False, factory=set)
    handled: set[tuple[Node, int]] = field(init=False, factory=set)
    pledged: set[tuple[int, int]] = field(init=False, factory=set)

    def __attrs_post_init__(self) -> None:
        self.state = self.world.initial()
        self.worded = Worded(self.world)
        self.told = [[] for _ in self.world.links]

    def take(self, step: Step) -> None:
        before, action = self.state, step.action
        here = action.node
        if action.link >= 0:
            self.told[action.link].pop(0)
        sent = dict(before.locals[self.world.nodes.index(here)].sent)  # type: ignore[attr-defined]  # tables of routing
        has = {u: {s.rank for s in sent.get(u, ())} for u in self.world.instance.overlay.neighbours(here)}
        for u, message in step.outcome.sends:
            if u != LOCAL:
                kind, subject = word(message)
                if kind in ("sub", "unsub"):
                    (has[u].add if kind == "sub" else has[u].discard)(subject)
                self.told[self.world.link_index[here, u]].append(frozenset(has[u]))
        kind, subject = word(step.message)
        if kind == "adv":
            self.heard.add((here, subject))
        if kind == "pub":
            self.handled.add((here, subject))
        self.state = step.state
        page = self.worded.history(step.state.history)
        gone, ready = page["unsubscribed"], page["ready"]
        subs, advs = len(self.world.instance.subscriptions), len(self.world.instance.advertisements)
        self.pledged = {(s, a) for s, a in self.pledged if not gone(s)}
        self.pledged |= {(s, a) for s in range(subs) for a in range(advs) if ready(s, a)}

    def moment(self) -> tuple[Noticing, Moment]:
        structure = self.worded.structure
        items, places = items_of(self.world, self.state)
        logic = Noticing(structure.logic(len(items)))
        rows = [has for link in self.told for has in link]
        quiet = not any(is_control(message) for queue in self.state.queues for message in queue)
        ghosts = Ghosts(
            told=holding([(i, s) for i, has in enumerate(rows) for s in has]),
            heard=holding(self.heard),
            handled=holding(self.handled),
            pledged=holding(self.pledged),
            quiet=lambda: quiet,
        )
        tree = of_overlay(self.world.instance.overlay)
        return logic, Moment(logic, structure.facts(items), tree, self.worded.state(self.state, places), ghosts)


def run(world: World, seed: int, steps: int) -> Iterator[Watched]:
    """A random run, at each of its moments. With an odd seed what is published travels last, behind withdrawals."""
    chance, watched = random.Random(seed), Watched(world)

    def turn(action: Action) -> int:
        if action.kind == "deliver":
            return 0 if is_control(watched.state.queues[action.link][0]) else 3
        return 1 if action.label.startswith("publish") else 2 if action.label.startswith("un") else 0

    yield watched
    for _ in range(steps):
        possible = [action for action in world.actions if world.enabled(watched.state, action)]
        if not possible:
            return
        first = min(map(turn, possible))
        if seed % 2:
            possible = [action for action in possible if turn(action) == first]
        watched.take(world.step(watched.state, chance.choice(possible)))
        yield watched
