"""Samples: the instances that are examined, and all questions that exploring them asks. A `Sample` is explored on first
use, once for all rows. Whole steps are taken in every state of an instance that is tiny, and along a few runs drawn
from a fixed seed in the others.

A subscription that is issued again is another one. In the model both issues have one rank, by which the ledger
knows them; in the relation each is an element of its own, so `apart` and `in_issues` separate them.

`arbitrary_questions` are questions that no run asks: any tables at all, and any message from anybody. On a tree no
broker ever hears of one subscription from two sides, so runs would not show whether model and relation agree there.
Proofs speak of such tables before they exclude them. In an instance as small as `tiny` these are all the tables that a
broker can have; elsewhere some are drawn, from a fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import Any, TypeVar

import attrs
from attrs import evolve, frozen

from routeproof.checker.explore.questions import Questions
from routeproof.checker.explore.search import Search
from routeproof.checker.instances import find, shipped
from routeproof.checker.prove.refine.answers import Question, Structure
from routeproof.checker.prove.refine.worlds import PackedWorded, Worded
from routeproof.checker.prove.solve import CodeTheorem
from routeproof.checker.wings import wings
from routeproof.model.instance import Instance, Subscriber
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocols import MUTANTS, world
from routeproof.model.tables import Tables
from routeproof.model.world import State, Step, World
from routeproof.spec.theory.relation.routing import HandlerStep

USUAL = ("tiny", "line3", "unadv3", "equal3", "wide3", "reorder2", "crash3")

BEYOND_LINES = ("star4", "cross3")
"""A hub, and two advertisers, for the first theorem: on a line it is right to forward to the first neighbour alone."""

TINY = 400
"""An instance under a policy with no more states than this is tiny: every step of it is taken."""

SMALL = 1_200
"""Largest size of a small instance: there, Z3 also decides what else the relation allows in the examined steps."""

SEED = 2006

STATES_OF_A_MUTANT = 20_000
"""A fault may make an instance endless."""


def subscribers_of(instance: Instance) -> Sequence[Subscriber]:
    return instance.subscribers


def breaks_none(instance: Instance) -> bool:
    return False


@frozen
class Refinement:
    """How a protocol is held to its relation. The defaults are the routing core's."""

    theorems: Callable[[Sample, Sample], Sequence[CodeTheorem]]
    """The theorems about a sample, and about a wider one for the theorem that asks the least of each instance."""
    usual: tuple[str, ...]
    """The default sample of `routeproof prove`: small instances in which everything occurs."""
    wider: tuple[str, ...]
    """Instances of the wider sample in addition to the default one."""
    handler: type[HandlerStep] = HandlerStep
    """The relation that a broker's answers are held to."""
    runs: int = 2
    """Number of runs that are drawn in an instance that is not tiny."""
    breaks_a_promise: Callable[[Instance], bool] = breaks_none
    """True if the instance has a parameter that no relation allows."""
    issues: Callable[[Instance], Sequence[Subscriber]] = subscribers_of
    """Each issue of a subscription as a subscriber of its own."""


def refinements() -> dict[str, Refinement]:
    """Returns the refinements by protocol, of the protocols that have a relation."""
    return {name: wing.refinement() for name, wing in wings().items() if wing.refinement is not None}


def refinement_of(instance: Instance) -> Refinement:
    return refinements()[instance.protocol]


@frozen
class Explored:
    """One instance under one policy, with every question of its exploration."""

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
        """Structure of the elements that the questions mention: each issue of a subscription is one of its own."""
        return Structure(apart(self.world.instance))

    @cached_property
    def arbitrary(self) -> tuple[Question, ...]:
        return tuple(arbitrary_questions(self.world))

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
        for _ in range(refinement_of(self.world.instance).runs):
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
    return Worded(world, handler=refinement_of(world.instance).handler)


@frozen
class Sample:
    """Instances by name. `whole`: all must come up in it, each kind of message under each policy and each rule."""

    names: tuple[str, ...]
    bound: str
    whole: bool = False
    mutant: str | None = None

    @classmethod
    def usual(cls, names: tuple[str, ...]) -> Sample:
        """Default sample of `routeproof prove`: small instances in which everything occurs."""
        return cls(names, _bound(names), whole=True)

    @classmethod
    def everything(cls, protocol: str, mutant: str | None = None) -> Sample:
        """Every instance that ships, but for those whose readings break a promise."""
        ships = [each for each in shipped() if each.protocol == protocol]
        without = [each.name for each in ships if refinement_of(each).breaks_a_promise(each)]
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


def _bound(names: tuple[str, ...]) -> str:
    return f"what happens in {', '.join(names)}"


def apart(instance: Instance) -> Instance:
    """With each issue as a subscriber, in the order of ids; the same where none has an id of its own."""
    issues = refinement_of(instance).issues(instance)
    ranks = _ranks(issues)
    return evolve(instance, subscribers=tuple(evolve(each, subscription=ranks[each.subscription]) for each in issues))


def in_issues(instance: Instance, questions: Iterable[Question]) -> list[Question]:
    """Rewrites questions to speak of the subscriptions of `apart`."""
    ranks = _ranks(refinement_of(instance).issues(instance))
    if all(old == new for old, new in ranks.items()):
        return list(questions)
    return [
        evolve(each, **{name: _renamed(getattr(each, name), ranks) for name in ("local", "message", "answer")})
        for each in questions
    ]


def _ranks(issues: Iterable[Subscriber]) -> dict[Subscription, Subscription]:
    return {each.subscription: evolve(each.subscription, rank=rank) for rank, each in enumerate(issues)}


def _renamed(value: Any, ranks: dict[Subscription, Subscription]) -> Any:
    """Returns the value with its subscriptions exchanged."""
    if isinstance(value, Subscription):
        return ranks[value]
    if isinstance(value, tuple):
        return tuple(_renamed(each, ranks) for each in value)
    if attrs.has(type(value)) and not isinstance(value, Advertisement | Publication):
        names = [each.name for each in attrs.fields(type(value)) if each.init]
        return evolve(value, **{name: _renamed(getattr(value, name), ranks) for name in names})
    return value


MOST = 200
"""Largest number of tables of one broker of two that are all examined."""

ARBITRARY = 100
"""Number of questions that are drawn for each broker that can have more."""

T = TypeVar("T")


def arbitrary_questions(world: World) -> Iterator[Question]:
    draw = random.Random(SEED)
    for node in world.nodes:
        hops = (LOCAL, *world.instance.overlay.neighbours(node))
        asked = list(product(messages(world.instance), hops))
        if len(world.nodes) <= 2 and how_many(world.instance, hops) <= MOST:
            every = ((tables, *each) for tables in all_tables(world.instance, hops) for each in asked)
        else:
            every = ((some_tables(world.instance, hops, draw), *draw.choice(asked)) for _ in range(ARBITRARY))
        for tables, message, sender in every:
            answer = world.protocol.handle(node, tables, sender, message)
            yield Question(world.policy, node, tables, sender, message, answer)


def messages(instance: Instance) -> list[Hashable]:
    found: list[Hashable] = []
    for a in instance.advertisements:
        found += [Advertise(a), Unadvertise(a)]
    for s in instance.subscriptions:
        found += [Subscribe(s), Unsubscribe(s)]
    return [*found, *map(Publish, instance.publications)]


def how_many(instance: Instance, hops: Sequence[Node]) -> int:
    subs, advs = len(instance.subscriptions), len(instance.advertisements)
    return int((len(hops) + 1) ** (subs + advs) * 2 ** (subs * (len(hops) - 1)))


def all_tables(instance: Instance, hops: Sequence[Node]) -> Iterator[Tables]:
    subs = instance.subscriptions
    told = [each for n in range(len(subs) + 1) for each in combinations(subs, n)]
    for advs, known in product(_all_entries(instance.advertisements, hops), _all_entries(subs, hops)):
        for sent in product(told, repeat=len(hops) - 1):
            yield Tables(advs, known, tuple((u, each) for u, each in zip(hops[1:], sent, strict=True) if each))


def some_tables(instance: Instance, hops: Sequence[Node], draw: random.Random) -> Tables:
    def entries(items: Sequence[T]) -> tuple[tuple[T, Node], ...]:
        return tuple((item, draw.choice(hops)) for item in items if draw.random() < 0.7)

    subs = instance.subscriptions
    told = ((u, tuple(s for s in subs if draw.random() < 0.5)) for u in hops[1:])
    return Tables(entries(instance.advertisements), entries(subs), tuple((u, each) for u, each in told if each))


def _all_entries(items: Sequence[T], hops: Sequence[Node]) -> Iterator[tuple[tuple[T, Node], ...]]:
    for chosen in product((None, *hops), repeat=len(items)):
        yield tuple((item, x) for item, x in zip(items, chosen, strict=True) if x is not None)
