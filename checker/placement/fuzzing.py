"""Fuzzing of placement: the algorithm and its numbers that are drawn, and a rule that tags publications."""

from __future__ import annotations

from attrs import evolve
from hypothesis.stateful import rule

from routeproof.checker.fuzz.strategies import Draw, Fuzzing, pick
from routeproof.checker.fuzz.walk import NUMBER, Machine
from routeproof.model.instance import Instance, own_with
from routeproof.model.placement.vocabulary import PlacementParameters, Tag

THRESHOLDS = (1, 1, 2, 3, 8, 8)
TAGS = (1, 2, 3)
WEIGHTS = (100, 100, 0, 50)
"""Numbers to draw from."""

BREAKING: dict[str, tuple[str, str]] = {
    "results": ("unnamed", "ProfilesTrue"),
    "counter": ("broker", "TracesTrue"),
}
"""Readings that are not drawn, with the property that fails under each. A given instance may have them."""


def placing(draw: Draw, instance: Instance, policy: str) -> Instance:
    """Adds an algorithm, its threshold, and how many publications may be traced."""
    parameters = PlacementParameters(
        algorithm=pick(draw, ("pop", "grape")),
        absent=pick(draw, ("zero", "skipped")),
        metric=pick(draw, ("load", "delay")),
        threshold=pick(draw, THRESHOLDS),
        tags=pick(draw, TAGS),
        weight=pick(draw, WEIGHTS),
    )
    return evolve(instance, protocol="placement", own=own_with(instance.own, "placement", parameters))


class PlacingMachine(Machine):
    """Machine for brokers that trace publications."""

    @rule(number=NUMBER)
    def tag(self, number: int) -> None:
        """A broker decides to trace the next publication of a publisher."""
        self._operate(number, Tag)


FUZZING = Fuzzing(placing, PlacingMachine)
