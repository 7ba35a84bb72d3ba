"""The attack on the move of a broker in a settled network: whatever may be in flight meanwhile, once each.

Every broker has subscribed before. A *scene* is a tree, a move, a radius and a set of soft links, up to the names of
brokers. One search plays a scene with everything of a kind that may be in flight, of which one thing happens, at any
moment before, during or after the move:

- `publication`: a publication from any broker, that matches the subscriptions of any set of brokers;
- `control`: a new subscription or a withdrawal anywhere, a soft link that opens or closes, or the move called off;
- `both`: one of each.

    python -m tests.mesh.settled SECONDS BROKERS KIND LINKS [STRATEGY [refused]]

searches the scenes with at most so many soft links that are not in the record (`attacked.json`), and adds them to it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, permutations, product
from pathlib import Path
from random import Random
from typing import Any, Literal

from attrs import evolve, frozen

from routeproof.checker.explore import explore
from routeproof.model.history import Operation
from routeproof.model.instance_file import parse_instance
from routeproof.model.mesh.messages import CallOff, CloseLink, OpenLink
from routeproof.model.messages import Publish, Unsubscribe
from routeproof.model.overlay import Link, Node, Overlay
from routeproof.model.protocols import world
from routeproof.model.world import State, World
from routeproof.spec.properties import properties_for
from tests.mesh.attack import TREES, moves

RECORD = Path(__file__).with_name("attacked.json")
"""By scene the number of states, whether these are all of them, and the properties that fail."""
MOST = 6_000_000
"""States of one search."""

Kind = Literal["publication", "control", "both"]
OF_PUBLICATIONS = ("NoLostDelivery", "NoDuplicate", "Precise", "Drains")
"""The properties that are asked where something is published: maps and anchors do not depend on that."""
BEFORE = ("advertise(a", "subscribe(s")
"""The beginnings of the operations that have settled before a search begins."""


@frozen
class SettledWorld(World):
    """A world that begins when everything is settled. Of the publications that there may be one is made, and of the
    control messages of clients and drivers one is sent.
    """

    def __attrs_post_init__(self) -> None:
        kinds: dict[str, list[Operation]] = {}
        for each in self.ledger.operations:
            kinds.setdefault(_kind(each), []).append(each)
        bits = {kind: sum(each.bit for each in those) for kind, those in kinds.items() if kind}
        operations = tuple(evolve(o, until=bits.get(_kind(o), o.until)) for o in self.ledger.operations)
        object.__setattr__(self.ledger, "operations", operations)

    def initial(self) -> State:
        state = super().initial()
        for action in self.actions:
            if action.label.startswith(BEFORE):
                state = self.step(state, action).state
                while waiting := [each for each in self.actions if each.link >= 0 and self.enabled(state, each)]:
                    state = self.step(state, waiting[0]).state
        return state


def _kind(operation: Operation) -> str:
    if isinstance(operation.message, Publish):
        return "publication"
    is_control = isinstance(operation.message, Unsubscribe | OpenLink | CloseLink | CallOff)
    return "control" if is_control or operation.label.startswith("subscribe(t") else ""


@frozen
class Scene:
    """One scene, with what may be in flight. `refuses`: the new neighbour takes no mover."""

    tree: tuple[Link, ...]
    move: Link
    radius: int
    soft: tuple[Link, ...]
    kind: Kind
    refuses: bool = False
    strategy: str = "S2"
    readings: tuple[tuple[str, str], ...] = ()
    together: int = 99
    """The most brokers that one publication matches."""

    def __str__(self) -> str:
        parts = [" ".join(f"{u}-{v}" for u, v in self.tree), "move {}>{}".format(*self.move), f"radius {self.radius}"]
        parts += ["soft " + " ".join(f"{u}>{v}" for u, v in self.soft)] if self.soft else []
        parts += ["refused"] if self.refuses else []
        parts += [self.strategy] if self.strategy != "S2" else []
        return ", ".join((*parts, *(value for _, value in self.readings), self.kind))

    @property
    def world(self) -> SettledWorld:
        made = world(parse_instance(self.table, "scene"), "none")
        return SettledWorld(made.instance, made.protocol, made.policy, made.mutant, made.definition)

    @property
    def table(self) -> dict[str, Any]:
        """The table of the instance. An event is a set of brokers: it matches the subscriptions there."""
        brokers = Overlay.of(self.tree).brokers
        events = list(enumerate(those for those in subsets(brokers, least=1) if len(those) <= self.together))
        has_control, has_publication = self.kind != "publication", self.kind != "control"
        homes = [("s", b) for b in brokers] + [("t", b) for b in brokers if has_control]
        mesh: dict[str, Any] = dict(self.readings)
        mesh |= {"radius": self.radius, "strategies": [self.strategy], "refuses": [self.move[1]] * self.refuses}
        mesh |= {"moves": listed([self.move]), "soft": listed(self.soft)}
        if has_control:
            opens = [link for link in near(self.tree, self.radius) if link not in self.soft]
            mesh |= {"opens": listed(opens), "closes": mesh["soft"], "calls_off": [self.move[0]]}
        return {
            "name": "scene",
            "protocol": "mesh",
            "policy": ["none"],
            "overlay": listed(self.tree),
            "advertisement": [{"id": f"a{b}", "at": b, "events": [n for n, _ in events]} for b in brokers],
            "subscription": [
                {
                    "id": f"{name}{b}",
                    "at": b,
                    "events": [n for n, those in events if b in those],
                    "unsubscribes": has_control and name == "s",
                }
                for name, b in homes
            ],
            "publication": [
                {"id": f"p{b}-{n}", "of": f"a{b}", "event": n}
                for b, (n, _) in product(brokers, events * has_publication)
            ],
            "mesh": mesh,
        }

    def search(self, most: int = MOST) -> list[Any]:
        """The number of states, whether these are all of them, and the properties that fail."""
        every = properties_for("mesh", "none")
        asked = every if self.kind == "control" else tuple(p for p in every if p.id in OF_PUBLICATIONS)
        result = explore(self.world, properties=asked, max_states=most)
        failed = sorted(f.property for f in result.findings.values() if f.kind == "always" and f.failed)
        return [result.states, result.complete, failed]


def listed(links: Iterable[Link]) -> list[list[Node]]:
    return [[u, v] for u, v in links]


def subsets(items: Sequence[Any], least: int = 0) -> Iterator[tuple[Any, ...]]:
    return chain.from_iterable(combinations(items, n) for n in range(least, len(items) + 1))


def near(tree: tuple[Link, ...], radius: int) -> list[Link]:
    """The soft links that are possible."""
    return [link for link, hops in moves(tree) if hops <= radius]


def symmetries(tree: tuple[Link, ...]) -> list[dict[Node, Node]]:
    """The renamings of brokers that leave a tree as it is."""
    brokers, links = Overlay.of(tree).brokers, {frozenset(link) for link in tree}
    renamings = (dict(zip(brokers, order, strict=True)) for order in permutations(brokers))
    return [names for names in renamings if {frozenset(names[b] for b in link) for link in links} == links]


def scenes(size: int, kind: Kind, links: int = 99, *, refuses: bool = False, strategy: str = "S2") -> list[Scene]:
    """One scene of each shape with at most so many soft links, those with few of them first."""
    found = []
    for tree in TREES[size]:
        seen, same = set[Any](), symmetries(tree)
        for (move, hops), radius in product(moves(tree), range(2, size)):
            for soft in subsets(near(tree, radius)) if hops <= radius else ():
                if len(soft) <= links and (radius, move, frozenset(soft)) not in seen:
                    found.append(Scene(tree, move, radius, soft, kind, refuses, strategy))
                    for names in same:
                        renamed = frozenset((names[u], names[v]) for u, v in soft)
                        seen.add((radius, (names[move[0]], names[move[1]]), renamed))
    return sorted(found, key=lambda each: len(each.soft))


def drawn(draw: Random, size: int) -> Scene:
    """A scene at random, with at most three soft links; with six brokers publications match at most two of them."""
    tree = tuple((draw.randint(1, b - 1), b) for b in range(2, size + 1))
    move, hops = draw.choice(list(moves(tree)))
    radius = draw.randint(hops, size - 1)
    those = near(tree, radius)
    soft = draw.sample(those, min(len(those), draw.randint(0, 3)))
    kind: Kind = draw.choice(("publication", "control"))
    refuses, strategy, together = draw.random() < 0.25, draw.choice(("S1", "S2")), 2 if size > 5 else size
    return Scene(tree, move, radius, tuple(soft), kind, refuses, strategy, together=together)


def recorded() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def search_all(those: Iterable[Scene], ends: float) -> None:
    """Adds the scenes to the record that are not in it, until the time is up."""
    for scene in those:
        if time.monotonic() < ends and str(scene) not in recorded():
            found = scene.search()
            rows = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in {**recorded(), str(scene): found}.items())
            RECORD.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def main(seconds: str, size: str, kind: Kind, links: str, strategy: str = "S2", refuses: str = "") -> None:
    those = scenes(int(size), kind, int(links), refuses=bool(refuses), strategy=strategy)
    search_all(those, time.monotonic() + float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])  # type: ignore[arg-type]  # as the docstring has it
