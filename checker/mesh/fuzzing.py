"""Fuzzing of the mesh: strategies, soft links and candidates that are drawn, links that come and go, and moves."""

from __future__ import annotations

from collections import Counter

from attrs import evolve
from hypothesis.stateful import rule

from routeproof.checker.fuzz.strategies import Draw, Fuzzing, pick
from routeproof.checker.fuzz.walk import NUMBER, Machine
from routeproof.model.instance import Instance, own_with
from routeproof.model.mesh.messages import CallOff, CloseLink, Load, Measure, Move, OpenLink, Review
from routeproof.model.mesh.parameters import STRATEGY_NAMES, MeshParameters
from routeproof.model.overlay import Link

RADII = (2, 3, 2, 4)
FEW = (1, 0, 2, 3)
MOVES = (0, 1, 1, 2)
"""Radii, and numbers of links and of moves, to draw from."""

BREAKING: dict[str, tuple[str, ...]] = {
    "advance": ("subscriber",),
    "passed": ("visited",),
    "copies": ("together", "each"),
    "dropped": ("path", "mover"),
    "drained": ("closed-now", "ignored"),
    "control": ("sent",),
    "entering": ("by-tables",),
    "cut": ("confirmed", "switched"),
}
"""Readings that are not drawn, since a property fails under each. A given instance may have them."""


def meshed(draw: Draw, instance: Instance, policy: str) -> Instance:
    """Adds links, strategies, loads, rounds and moves."""
    overlay, radius = instance.overlay, pick(draw, RADII)
    brokers = overlay.brokers
    near = [(u, v) for u in brokers for v in brokers if 3 <= len(overlay.path(u, v)) <= radius + 1]

    def some(numbers: tuple[int, ...], of: list[Link]) -> tuple[Link, ...]:
        found = []
        for _ in range(pick(draw, numbers) if of else 0):
            begin = pick(draw, sorted({u for u, _ in of}))
            found.append(pick(draw, [link for link in of if link[0] == begin]))
        return tuple(dict.fromkeys(found))

    soft = some(FEW, near)
    candidates = some(FEW, [each for each in near if each not in soft])
    is_settled = pick(draw, (False, True))
    """Brokers choose their links, and no other links come."""
    opens = () if is_settled else some(FEW, [each for each in near if each not in soft])
    most = max(Counter([*(b for link in overlay.edges for b in link), *(u for u, _ in soft)]).values(), default=1)
    moves = () if is_settled else some(MOVES, [each for each in near if each not in opens])
    parameters = MeshParameters(
        radius=radius,
        strategies=tuple(pick(draw, STRATEGY_NAMES) for _ in brokers),
        soft=soft,
        candidates=candidates,
        opens=opens,
        closes=some(FEW, [*soft, *(each for each in candidates if each not in opens), *opens]),
        loaded=(pick(draw, brokers),) if pick(draw, (False, True)) else (),
        fanout=most + 1,
        maxlinks=most + 4,
        loads=((pick(draw, brokers), pick(draw, (90, 20, 50))),) if pick(draw, (False, True)) else (),
        rounds=tuple(pick(draw, brokers) for _ in range(pick(draw, (3, 5) if is_settled else (0, 1)))),
        factor=pick(draw, ("min", "max")),
        moves=moves,
        refuses=tuple({to for _, to in moves[:1] if pick(draw, (False, False, True))}),
        calls_off=tuple({mover for mover, _ in moves[:1] if pick(draw, (False, True))}),
    )
    own = own_with(instance.own, "mesh", parameters)
    return evolve(instance, protocol="mesh", policies=("none",), own=own)


class MeshMachine(Machine):
    """Machine for brokers whose links come and go, and that move."""

    @rule(number=NUMBER)
    def link(self, number: int) -> None:
        """A link opens or closes, or a broker goes through its links."""
        self._operate(number, OpenLink, CloseLink, Review)

    @rule(number=NUMBER)
    def load(self, number: int) -> None:
        self._operate(number, Load, Measure)

    @rule(number=NUMBER)
    def move(self, number: int) -> None:
        """A broker is to move, or a mover is called back."""
        self._operate(number, Move, CallOff)


FUZZING = Fuzzing(meshed, MeshMachine)
