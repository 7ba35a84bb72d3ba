"""Questions that no run asks: any tables at all, and any message from anybody.

On a tree no broker ever hears of one subscription from two sides, so runs would not show whether model and relation
agree there. Proofs speak of such tables before they exclude them. In an instance as small as `tiny` these are all the
tables that a broker can have; elsewhere some are drawn, from a fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, product
from typing import TypeVar

from routeproof.checker.prove.refine.answers import Question
from routeproof.model.instance import Instance
from routeproof.model.messages import Advertise, Publish, Subscribe, Unadvertise, Unsubscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables
from routeproof.model.world import World

MOST = 200
"""Tables of one broker of two that are all gone through."""

DRAWN, SEED = 100, 2006
"""Questions that are drawn for each broker that can have more."""

T = TypeVar("T")


def invented(world: World) -> Iterator[Question]:
    draw = random.Random(SEED)
    for node in world.nodes:
        hops = (LOCAL, *world.instance.overlay.neighbours(node))
        asked = list(product(messages(world.instance), hops))
        if len(world.nodes) <= 2 and how_many(world.instance, hops) <= MOST:
            every = ((tables, *each) for tables in all_tables(world.instance, hops) for each in asked)
        else:
            every = ((some_tables(world.instance, hops, draw), *draw.choice(asked)) for _ in range(DRAWN))
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
