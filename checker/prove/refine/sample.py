"""Which instances are looked at, and all that exploring them asks.

A `Sample` is explored when it is first asked for something, once for all rows. Whole steps are taken in every state of
an instance that is tiny, and along a few runs drawn from a fixed seed in the others.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cached_property

from attrs import frozen

from routeproof.checker.explore.questions import Questions
from routeproof.checker.explore.search import Search
from routeproof.checker.instances import find, shipped
from routeproof.checker.prove.refine.answers import Question
from routeproof.checker.prove.refine.invented import invented
from routeproof.checker.prove.refine.issues import apart, in_issues
from routeproof.checker.prove.refine.structure import Structure
from routeproof.checker.prove.refine.worlds import PackedWorded, Worded
from routeproof.model.instance import Instance
from routeproof.model.mutants import MUTANTS
from routeproof.model.protocols import world
from routeproof.model.world import State, Step, World
from routeproof.spec.theory.pruning import Pruning, answering
from routeproof.spec.theory.routing import Handler

USUAL = ("tiny", "line3", "unadv3", "equal3", "wide3", "reorder2", "crash3")

USUAL_OF_PRUNING = ("back2", "collects3", "hold3", "return3", "moves3", "larger3", "adverts3", "newcomer3")

TINY = 400
"""An instance under a policy with no more states than this is tiny: every step of it is taken."""

SMALL = 1_200
"""With no more than this it is small: of the steps that are looked at, it is asked what else the relation allows."""

RUNS, SEED = {"routing": 2, "pruning": 8}, 2006
"""By protocol: little happens in most runs of pruning."""

STATES_OF_A_MUTANT = 20_000
"""A fault may make an instance endless."""


@frozen
class Explored:
    """One instance under one policy, with every question that exploring it asked."""

    worded: Worded
    questions: tuple[Question, ...]
    parts: Questions
    states: int
    transitions: int

    @property
    def world(self) -> World:
        return self.worded.world

    @classmethod
    def of(cls, world: World) -> Explored:
        search = Search(world, ())
        asked: list[Question] = []
        search.questions.watch = lambda node, local, sender, message, answer: asked.append(
            Question(world.policy, node, local, sender, message, answer)
        )
        search.run(STATES_OF_A_MUTANT if world.mutant else None)
        questions = in_issues(world.instance, asked)
        return cls(worded(world), tuple(questions), search.questions, search.states, search.transitions)

    @cached_property
    def structure(self) -> Structure:
        """Of what its questions speak of: each issue of a subscription is one of its own (PRN-15)."""
        return Structure(apart(self.world.instance))

    @cached_property
    def invented(self) -> tuple[Question, ...]:
        return tuple(invented(self.world))

    @property
    def is_tiny(self) -> bool:
        return self.states <= TINY

    @property
    def is_small(self) -> bool:
        return self.states <= SMALL

    @cached_property
    def reached(self) -> tuple[State, ...]:
        """Every state of a tiny one, as the world's own steps reach them; those along the runs of another."""
        return tuple(dict.fromkeys(self._everywhere() if self.is_tiny else self._along_runs()))

    def steps(self) -> Iterator[tuple[State, Step]]:
        """Every step from each of these states, but for faults."""
        for state in self.reached:
            for action in self.world.actions:
                if action.kind in ("operation", "deliver") and self.world.enabled(state, action):
                    yield state, self.world.step(state, action)

    def _everywhere(self) -> Iterator[State]:
        start = self.world.initial()
        seen, waiting = {start}, [start]
        while waiting:
            state = waiting.pop()
            yield state
            for step in self.world.steps(state):
                if step.state not in seen:
                    seen.add(step.state)
                    waiting.append(step.state)

    def _along_runs(self) -> Iterator[State]:
        draw = random.Random(SEED)
        for _ in range(RUNS[self.world.instance.protocol]):
            state = self.world.initial()
            while True:
                yield state
                possible = [a for a in self.world.actions if self.world.enabled(state, a)]
                if not possible:
                    break
                state = self.world.step(state, draw.choice(possible)).state


def worded(world: World) -> Worded:
    """With the relation that the broker of this world is held to."""
    if world.policy == "packing":
        return PackedWorded(world)
    return Worded(world, handler=answering(Pruning) if world.instance.protocol == "pruning" else Handler)


@frozen
class Sample:
    """Instances by name. `whole`: all must come up in it, each kind of message under each policy and each rule."""

    names: tuple[str, ...]
    bound: str
    whole: bool = False
    mutant: str | None = None

    @classmethod
    def usual(cls, names: tuple[str, ...] = USUAL) -> Sample:
        """What `routeproof prove` looks at where nothing is said: small instances in which everything comes up."""
        return cls(names, _bound(names), whole=True)

    @classmethod
    def everything(cls, protocol: str = "routing", mutant: str | None = None) -> Sample:
        """Every instance that ships, but for those whose readings break a promise."""
        ships = [each for each in shipped() if each.protocol == protocol]
        without = [each.name for each in ships if breaks_a_promise(each)]
        bound = "what happens in the instances that ship" + (f", without {', '.join(without)}" if without else "")
        return cls(tuple(each.name for each in ships if each.name not in without), bound, mutant is None, mutant)

    @classmethod
    def of(cls, names: tuple[str, ...], mutant: str | None = None) -> Sample:
        return cls(names, _bound(names), mutant=mutant)

    @cached_property
    def explored(self) -> tuple[Explored, ...]:
        return tuple(
            Explored.of(world(instance, policy, self.mutant))
            for instance in map(find, self.names)
            for policy in instance.policies
            if self.mutant is None or policy in MUTANTS[self.mutant].policies
        )


def breaks_a_promise(instance: Instance) -> bool:
    """It has a reading that no relation allows: the explorer's claims say what is lost."""
    read = dict(instance.readings)
    return read.get("sends") == "listed" or read.get("remembers") is False or read.get("overtakes") is True


def _bound(names: tuple[str, ...]) -> str:
    return f"what happens in {', '.join(names)}"
