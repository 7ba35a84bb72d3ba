"""Fuzzing of pruning: the parts that are drawn in addition to clients, and a run in which statistics are exact."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from attrs import evolve
from hypothesis.stateful import rule

from routeproof.checker.fuzz.strategies import Draw, Fuzzing, pick
from routeproof.checker.fuzz.walk import NUMBER, Machine
from routeproof.model.instance import Instance, Subscriber
from routeproof.model.messages import Advertise, Publish, Subscribe, Unsubscribe
from routeproof.model.overlay import Node
from routeproof.model.pruning.definition import coming_back, with_congestion, with_readings

THRESHOLDS: dict[str, tuple[tuple[int, ...], ...]] = {
    "incremental": ((60, 90), (60, 90), (30, 60), (100, 100)),
    "selective": ((90,), (90,), (50,), (100,)),
}
READINGS: dict[str, tuple[Any, ...]] = {
    "cuts": ((0, 1), (1, 2), (1, 3), (0, 0), (2, 2)),
    "triggered": ("broker", "neighbour"),
    "inclusive": (True, True, False),
    "without_history": ("remove", "zero", "absent"),
    "counts": ("elsewhere", "elsewhere", "all"),
    "rows": ("updated", "updated", "arrived"),
    "window": (1000, 1000, 2),
    "fewest": (1, 0, 2),
    "base": ("active", "active", "lazy"),
    "collects": (False, True),
    "identity": ("issue", "issue", "id"),
    "newcomers": ("keep", "keep", "withdraw"),
}
"""Readings that may be drawn in addition to thresholds: no property may break under them.

With `identity = "id"` clients come back to the broker that they left: elsewhere it breaks.
"""

BREAKING: dict[str, tuple[Any, str]] = {
    "sends": ("listed", "PRN-listed"),
    "remembers": (False, "PRN-forgets"),
    "overtakes": (True, "PRN-blocked"),
}
"""Readings that are not drawn, with the claim that fails under each (`spec.claims`). A given instance may have them."""


def pruned(draw: Draw, instance: Instance, policy: str) -> Instance:
    """Puts the clients under pruning: some come back, mostly elsewhere, and brokers may become congested."""
    choices = {"thresholds": THRESHOLDS[policy], **READINGS}
    readings = {key: pick(draw, values) for key, values in choices.items()}
    brokers = instance.overlay.brokers

    def places(s: Subscriber) -> Sequence[Node | None]:
        return (None, s.at) if readings["identity"] == "id" else (None, None, *brokers)

    chosen = [(key, value) for key, value in readings.items() if value != choices[key][0] or key == "cuts"]
    subscribers = [coming_back(s, pick(draw, places(s))) if s.unsubscribes else s for s in instance.subscribers]
    congested = sorted({pick(draw, brokers) for _ in range(pick(draw, (0, 0, 1, 2)))})
    drawn = evolve(instance, protocol="pruning", subscribers=tuple(subscribers))
    return with_congestion(with_readings(drawn, chosen), congested)


class PruningMachine(Machine):
    """Machine for brokers that learn from publications; their conclusions are exact in quiet times only."""

    @rule(number=NUMBER)
    def calm(self, number: int) -> None:
        """Runs the world anew: all join, all is published, a subscriber leaves, each when the network is at rest."""
        chance = Random(number)
        self.walk.drain("first")
        if not self.walk.over:
            self.walk = self.set_out(self.walk.world)
        for kind in (Advertise, Subscribe, Publish):
            while self._one_of(kind, chance):
                pass
        self._one_of(Unsubscribe, chance)

    def _one_of(self, kind: type, chance: Random) -> bool:
        """An operation of this kind, and all that it brings about; whether there was one."""
        possible = [] if self.walk.over else self.walk.possible_operations()
        wanted = [a for a in possible if a.operation and isinstance(a.operation.message, kind)]
        if wanted:
            self.walk.take(chance.choice(wanted))
            self.walk.drain("first")
        return bool(wanted)


FUZZING = Fuzzing(pruned, PruningMachine)
