"""Fuzzing of migration: the moves that are drawn in addition to clients, and a rule that requests them."""

from __future__ import annotations

from attrs import evolve
from hypothesis.stateful import rule

from routeproof.checker.fuzz.strategies import Draw, Fuzzing, pick
from routeproof.checker.fuzz.walk import NUMBER, Machine
from routeproof.model.instance import Instance, own_with
from routeproof.model.migration.vocabulary import MigrationParameters, PlannedMove, Relocate

MOVES = (1, 1, 2, 2, 3)
"""Numbers of moves to draw from. Any advertisement's publisher may move to any broker, also to where it is."""

BREAKING: dict[str, tuple[str, str]] = {
    "removal": ("at-once", "MIG-lossless"),
    "record": ("kept", "MIG-record"),
    "checked": ("any", "MIG-letter"),
    "enters": ("any-time", "MIG-outside"),
}
"""Readings that are not drawn, with the claim that fails under each. A given instance may have them."""


def moving(draw: Draw, instance: Instance, policy: str) -> Instance:
    """Adds moves of publishers, and now and then a broker that refuses them."""
    publishers, brokers = [a.advertisement.id for a in instance.advertisers], instance.overlay.brokers
    moves = tuple(PlannedMove(pick(draw, publishers), pick(draw, brokers)) for _ in range(pick(draw, MOVES)))
    refuses = tuple(pick(draw, brokers) for _ in range(pick(draw, (0, 0, 0, 1))))
    parameters = MigrationParameters(waits=pick(draw, ("buffer", "buffer", "pause")), refuses=refuses, moves=moves)
    return evolve(instance, protocol="migration", own=own_with(instance.own, "migration", parameters))


class MigrationMachine(Machine):
    """Machine for publishers that move."""

    @rule(number=NUMBER)
    def move(self, number: int) -> None:
        """The placement requests a move."""
        self._operate(number, Relocate)


FUZZING = Fuzzing(moving, MigrationMachine)
