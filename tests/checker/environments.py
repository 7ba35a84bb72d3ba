"""Every reading of pruning in every environment: small instances, generated, for attacks on what papers and we claim.

A `Setting` is one value of one reading, one kind of environment and a policy. The environments are what the papers say
little of: clients that move, advertisements that come late, go, or come back, congestion, equal and nested filters,
several subscriptions kept at once, several publishers. A `Composed` setting has a value of each of `FEATURES`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from random import Random
from typing import Any

from attrs import frozen

from routeproof.model.instance import Instance
from routeproof.model.instance_file import parse_instance
from routeproof.model.pruning.vocabulary import PRUNING

READINGS: Mapping[str, tuple[Any, ...]] = {
    "thresholds": ((50,), (50, 100)),
    "triggered": ("neighbour",),
    "inclusive": (False,),
    "without_history": ("zero", "absent"),
    "counts": ("all",),
    "rows": ("arrived",),
    "window": (1,),
    "fewest": (0, 2),
    "sends": ("listed",),
    "base": ("lazy",),
    "remembers": (False,),
    "collects": (True,),
    "newcomers": ("withdraw",),
    "overtakes": (True,),
    "identity": ("id",),
}
"""The values that are not the default."""

LINE, STAR = [[1, 2], [2, 3]], [[1, 2], [1, 3]]


def _a(id: str, at: int, *events: int, goes: bool = False) -> dict[str, Any]:
    return {"id": id, "at": at, "events": list(events), "unadvertises": goes}


def _s(id: str, at: int, *events: int, goes: bool = True, again: int | None = None) -> dict[str, Any]:
    found = {"id": id, "at": at, "events": list(events), "unsubscribes": goes}
    return found if again is None else found | {"again": again}


def _world(
    overlay: list[list[int]],
    advertisements: list[dict[str, Any]],
    subscriptions: list[dict[str, Any]],
    publications: list[tuple[str, str, int]],
    congested: int | None = None,
) -> dict[str, Any]:
    return {
        "overlay": overlay,
        "advertisement": advertisements,
        "subscription": subscriptions,
        "publication": [{"id": p, "of": a, "event": event} for p, a, event in publications],
        "congestion": [] if congested is None else [{"at": congested}],
    }


ONE = [("p", "a", 0)]
TWO = [("p", "a", 0), ("q", "a", 1)]
THREE = [*TWO, ("r", "a", 2)]
WIDE, NARROW = _s("S", 1, 0, 1), _s("s", 1, 0, goes=False)

ENVIRONMENTS: Mapping[str, dict[str, Any]] = {
    "nested": _world(LINE, [_a("a", 3, 0, 1)], [WIDE, NARROW], TWO),
    "equal": _world(LINE, [_a("a", 3, 0)], [_s("S", 1, 0), _s("s", 1, 0)], ONE),
    "equal elsewhere": _world(LINE, [_a("a", 3, 0)], [_s("S", 1, 0), _s("s", 2, 0)], ONE),
    "moves away": _world(LINE, [_a("a", 3, 0)], [_s("S", 1, 0, again=2), _s("s", 1, 0, goes=False)], ONE),
    "moves past": _world(STAR, [_a("a", 3, 0)], [_s("S", 1, 0, again=2), _s("s", 2, 0, goes=False)], ONE),
    "comes back": _world([[1, 2]], [_a("a", 2, 0, 1)], [_s("S", 1, 0, 1, again=1), NARROW], TWO),
    "advertisement goes": _world([[1, 2]], [_a("a", 2, 0, 1, goes=True)], [WIDE, NARROW], TWO),
    "advertisement comes late": _world(
        LINE, [_a("a", 3, 0), _a("b", 2, 1)], [WIDE, NARROW], [("p", "a", 0), ("q", "b", 1)]
    ),
    "advertisement comes back": _world(
        [[1, 2]], [_a("a", 2, 0, goes=True), _a("b", 2, 0)], [_s("S", 1, 0), NARROW], [("p", "a", 0), ("q", "b", 0)]
    ),
    "congested": _world([[1, 2]], [_a("a", 2, 0, 1)], [WIDE, NARROW], TWO, congested=1),
    "congested on the way": _world(LINE, [_a("a", 3, 0)], [_s("S", 1, 0), _s("s", 1, 0, goes=False)], ONE, congested=2),
    "congested and back": _world([[1, 2]], [_a("a", 2, 0)], [_s("S", 1, 0, again=1), NARROW], ONE, congested=1),
    "several are kept": _world(
        [[1, 2]], [_a("a", 2, 0, 1, 2)], [_s("s", 1, 0, 1), _s("t", 1, 0, 2), _s("u", 1, 0, goes=False)], THREE
    ),
    "several publishers": _world(STAR, [_a("a", 2, 0), _a("b", 3, 1)], [WIDE, NARROW], [("p", "a", 0), ("q", "b", 1)]),
    "publishers on one side": _world(
        LINE, [_a("a", 2, 0), _a("b", 3, 0)], [_s("S", 1, 0), NARROW], [("p", "a", 0), ("q", "b", 0)]
    ),
}


def _instance(name: str, policy: str, reading: tuple[str, Any] | None, world: Mapping[str, Any]) -> Instance:
    """With lists that matter: one triggered subscription is a burst, and half of the publications are enough."""
    table: dict[str, Any] = {"cuts": [0, 1], "thresholds": [50, 100] if policy == "incremental" else [50]}
    if reading is not None:
        parameter, value = reading
        table[parameter] = list(value) if isinstance(value, tuple) else value
    own = {"name": name, "protocol": "pruning", "policy": policy, "pruning": table}
    return parse_instance({**own, **world}, name)


@frozen
class Setting:
    environment: str
    policy: str
    reading: tuple[str, Any] | None = None

    def __str__(self) -> str:
        read = "" if self.reading is None else ", {}={}".format(*self.reading)
        return f"{self.environment}, {self.policy}{read}"

    @property
    def instance(self) -> Instance:
        name = f"attack-{self.environment}".replace(" ", "-")
        return _instance(name, self.policy, self.reading, ENVIRONMENTS[self.environment])


def settings() -> Iterator[Setting]:
    """Each environment under each policy with each reading, one at a time, and with none."""
    for environment in ENVIRONMENTS:
        for policy in PRUNING:
            yield Setting(environment, policy)
            for name, values in READINGS.items():
                for value in values:
                    if name != "thresholds" or len(value) == (2 if policy == "incremental" else 1):
                        yield Setting(environment, policy, (name, value))


FEATURES: Mapping[str, tuple[Any, ...]] = {
    "overlay": ("pair", "line", "star"),
    "filters": ("equal", "nested", "overlapping", "apart"),
    "first": ("stays", "goes", "comes back", "moves"),
    "second": ("stays", "goes", "elsewhere"),
    "third": ("absent", "narrow", "wide"),
    "advertised": ("together", "then no more", "then anew", "from two brokers"),
    "congested": (None, 1, 2),
    "policy": tuple(PRUNING),
    "reading": (
        None,
        *((name, value) for name, values in READINGS.items() if name != "thresholds" for value in values),
    ),
}
"""What a composed environment is made of."""

Triple = tuple[tuple[int, int], ...]

MANY = 2_000
"""So many triples are left while drawn rows still have enough of them."""

EVENTS = {"equal": ((0,), (0,)), "nested": ((0, 1), (0,)), "overlapping": ((0, 1), (0, 2)), "apart": ((0,), (1,))}
"""The events that the first and the second subscription match."""


@frozen
class Composed:
    """A setting composed of one value of each feature."""

    features: tuple[Any, ...]

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in zip(FEATURES, self.features, strict=True))

    @property
    def reading(self) -> tuple[str, Any] | None:
        found: tuple[str, Any] | None = self.features[-1]
        return found

    @property
    def policy(self) -> str:
        return str(self.features[-2])

    @property
    def instance(self) -> Instance:
        overlay, filters, first, second, third, advertised, congested, policy, reading = self.features
        edges = {"pair": [[1, 2]], "line": LINE, "star": STAR}[overlay]
        source = 2 if overlay == "pair" else 3
        (wide, narrow), every = EVENTS[filters], sorted({e for events in EVENTS[filters] for e in events})
        again = {"comes back": 1, "moves": 2}.get(first)
        subscriptions = [
            _s("S", 1, *wide, goes=first != "stays", again=again),
            _s("s", 2 if second == "elsewhere" else 1, *narrow, goes=second == "goes"),
        ]
        if third != "absent":
            subscriptions.append(_s("u", 1, *(narrow if third == "narrow" else wide), goes=False))
        advertisements = [_a("a", source, *every, goes=advertised in ("then no more", "then anew"))]
        if advertised in ("then anew", "from two brokers"):
            advertisements.append(_a("b", source if advertised == "then anew" else 2, *narrow))
        publications = [("p", "a", every[0])]
        if advertised in ("then anew", "from two brokers"):
            publications.append(("q", "b", narrow[0]))
        world = _world(edges, advertisements, subscriptions, publications, congested)
        return _instance("composed", policy, reading, world)


@cache
def composed() -> tuple[Composed, ...]:
    """Settings in which each three values of different features come together at least once. Always the same ones."""
    drawn = Random(0)
    columns = list(FEATURES.values())
    left = {
        tuple(zip(places, values, strict=True))
        for places in combinations(range(len(columns)), 3)
        for values in product(*(range(len(columns[place])) for place in places))
    }
    found = []
    while left:
        few = sorted(left) if len(left) < MANY else ()
        best = max((_candidate(drawn, columns, few) for _ in range(12)), key=lambda row: _gain(row, left))
        left.difference_update(combinations(enumerate(best), 3))
        found.append(Composed(tuple(column[value] for column, value in zip(columns, best, strict=True))))
    return tuple(found)


def _candidate(drawn: Random, columns: Sequence[Sequence[Any]], few: Sequence[Triple]) -> tuple[int, ...]:
    """A row that has one of the few triples that are left, and else what is drawn."""
    row = [drawn.randrange(len(column)) for column in columns]
    for place, value in drawn.choice(few) if few else ():
        row[place] = value
    return tuple(row)


def _gain(row: Sequence[int], left: Collection[Triple]) -> int:
    return sum(triple in left for triple in combinations(enumerate(row), 3))
