"""Every reading of pruning in every environment: small instances, generated, for attacks on what papers and we claim.

A `Setting` is one value of one reading, one kind of environment and a policy. The environments are what the papers say
little of: clients that move, advertisements that come late, go, or come back, congestion, equal and nested filters,
several subscriptions kept at once, several publishers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
        """With lists that matter: one triggered subscription is a burst, and half of the publications are enough."""
        table: dict[str, Any] = {"cuts": [0, 1], "thresholds": [50, 100] if self.policy == "incremental" else [50]}
        if self.reading is not None:
            name, value = self.reading
            table[name] = list(value) if isinstance(value, tuple) else value
        world = ENVIRONMENTS[self.environment]
        name = f"attack-{self.environment}".replace(" ", "-")
        own = {"name": name, "protocol": "pruning", "policy": self.policy, "pruning": table}
        return parse_instance({**own, **world}, name)


def settings() -> Iterator[Setting]:
    """Each environment under each policy with each reading, one at a time, and with none."""
    for environment in ENVIRONMENTS:
        for policy in PRUNING:
            yield Setting(environment, policy)
            for name, values in READINGS.items():
                for value in values:
                    if name != "thresholds" or len(value) == (2 if policy == "incremental" else 1):
                        yield Setting(environment, policy, (name, value))
