"""What theorems are tried out on: trees, states that the model reaches, and states that Z3 is left to find."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import attrs
import networkx as nx
import z3

from routeproof.checker.prove.refine.worlds import Worded
from routeproof.model.overlay import Node, Overlay
from routeproof.model.world import State as ModelState
from routeproof.model.world import World
from routeproof.spec.theory import ADV, BROKER, SUB, Grounded, Relation
from routeproof.spec.theory.relation import Facts, Tree, WorldState, of_overlay
from routeproof.spec.theory.relation.quiet_states import Scene
from routeproof.spec.theory.relation.routing import HandlerStep


def labelled_trees(brokers: int) -> Iterator[Overlay]:
    """All of them."""
    if brokers < 3:
        yield Overlay.line(brokers)
        return
    for code in product(range(brokers), repeat=brokers - 2):
        yield _overlay(nx.from_prufer_sequence(list(code)))


def shapes_of_trees(brokers: int) -> Iterator[Overlay]:
    """One of each shape."""
    if brokers < 3:
        yield Overlay.line(brokers)
        return
    yield from map(_overlay, nx.nonisomorphic_trees(brokers))


def _overlay(graph: nx.Graph) -> Overlay:
    return Overlay.of((x + 1, y + 1) for x, y in graph.edges)


# -- states of the model -----------------------------------------------------------------------------------------------


def quiet_scenes(world: World, seed: int) -> Iterator[Scene]:
    """Where a walk through the model comes to rest, operations drawn at random: all queues are empty."""
    draw, state = random.Random(seed), world.initial()
    for _ in world.ledger.operations:
        state = _settled(world, _taken(world, state, draw, "operation"), draw)
        yield scene_of(world, state)


def scene_of(world: World, state: ModelState) -> Scene:
    worded = Worded(world)
    structure = worded.structure
    tree = of_overlay(world.instance.overlay)
    return Scene(structure.logic(), tree, structure.facts(), worded.state(state, ()), world.policy)


def _settled(world: World, state: ModelState, draw: random.Random) -> ModelState:
    while any(state.queues):
        state = _taken(world, state, draw, "deliver")
    return state


def _taken(world: World, state: ModelState, draw: random.Random, kind: str) -> ModelState:
    actions = [each for each in world.actions if each.kind == kind and world.enabled(state, each)]
    return world.step(state, draw.choice(actions)).state if actions else state


# -- states that are left open -----------------------------------------------------------------------------------------


def open_scene(
    tree: Tree, brokers: Sequence[Node], homes: Sequence[Node], sources: Sequence[Node], policy: str
) -> Scene:
    """Any state, and any filters, of subscriptions and advertisements that are at home there."""
    subs, advs = list(range(len(homes))), list(range(len(sources)))

    def never(*terms: object) -> bool:
        return False

    rest: dict[str, Any] = dict.fromkeys((each.name for each in attrs.fields(Facts)), never)
    facts = Facts(
        **{
            **rest,
            "link": tree.link,
            "covers": _open("covers"),
            "overlaps": _open("overlaps"),
            "lower": lambda s, t: s < t,
            "home_of_sub": lambda s: homes[s],
            "home_of_adv": lambda a: sources[a],
        }
    )
    known = ("advs", "subs", "sent", "advertised", "subscribed")
    state = WorldState(
        **{each.name: _open(each.name) if each.name in known else never for each in attrs.fields(WorldState)}
    )
    return Scene(Grounded({BROKER: brokers, SUB: subs, ADV: advs}), tree, facts, state, policy, HandlerStep)


def _open(name: str) -> Relation:
    return lambda *terms: z3.Bool(f"{name}{terms}")


def is_possible(scene: Scene, *parts: Callable[[Scene], object]) -> bool:
    solver = z3.Solver()
    solver.add(*(part(scene) for part in parts))
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.sat)
