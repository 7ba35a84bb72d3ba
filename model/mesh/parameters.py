"""Parameters of the mesh, and the readings: places that paper 002 leaves open, each with a default.

They are the keys of the table `[mesh]` of instances; `spec/mesh.md` says what the other values of readings break.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from routeproof.model.fields import choices_of
from routeproof.model.instance import Instance
from routeproof.model.overlay import Link, Node

STRATEGY_NAMES = ("S0", "S1", "S2", "SH")
RADIUS = 16
"""Largest radius that instances may ask for."""


@frozen
class MeshParameters:
    """The radius, the strategy and the links of each broker, what happens to links, and a choice of readings."""

    radius: int = 4
    """Size of neighbourhoods, in links: the paper's Delta."""
    strategies: tuple[str, ...] = ("S2",)
    """One for all brokers, or one a broker."""
    soft: tuple[Link, ...] = ()
    """Soft links that are open at the beginning: from, to. `candidates` likewise."""
    candidates: tuple[Link, ...] = ()
    opens: tuple[Link, ...] = ()
    """Soft links that are opened once, at any moment; `closes` are links that are closed once."""
    closes: tuple[Link, ...] = ()
    loaded: tuple[Node, ...] = ()
    """Brokers whose uplink becomes loaded, and recovers."""
    fanout: int = 35
    """The most real connections of a broker."""
    maxlinks: int = 40
    """The most links of a broker, candidates included."""
    weak: int = 0
    """LINK-5: gains up to this are low."""
    threshold: int = 50
    """LINK-3: the load, in percent, from which on a broker counts as loaded."""
    loads: tuple[Link, ...] = ()
    """LINK-4: brokers with the loads, in percent, that they have from some moment on."""
    rounds: tuple[Node, ...] = ()
    """LINK-5: the brokers that go through their links, one round for each entry."""
    moves: tuple[Link, ...] = ()
    """The moves: which broker, and to which one."""
    refuses: tuple[Node, ...] = ()
    """MOVE-9: the brokers that take no mover."""
    calls_off: tuple[Node, ...] = ()
    """MOVE-9: the brokers whose move may be called off, once."""
    distance: Literal["primary", "contracted"] = "primary"
    """MESH-4: the distance by which working maps sort brokers."""
    advance: Literal["receiver", "subscriber"] = "receiver"
    """SUB-3: an anchor that is too far goes one hop toward the receiver; by the letter, toward the subscriber."""
    passed: Literal["primary", "visited"] = "primary"
    """FWD-3: a soft hop counts as passing the brokers of the primary path under it, or only the visited ones do."""
    copies: Literal["nearest", "together", "each"] = "nearest"
    """FWD-9: a link that carries for a candidate carries all for what lies beyond it; or one copy; or one an end."""
    factor: Literal["min", "max"] = "min"
    """LINK-3: the formula as it is printed, or as the text around it promises: a boost."""
    seeds: Literal["traffic", "gain"] = "traffic"
    """LINK-6: new candidates are near the ends with the most traffic, or by the letter with the highest gain."""
    dropped: Literal["ring", "path", "mover"] = "ring"
    """MOVE-2: the links that are closed for a move pass over a link of the ring; or of the ring as it was before the
    move, without the mover's new link; or over the mover."""
    drained: Literal["awaited", "closed-now", "ignored"] = "awaited"
    """MOVE-2: that closed links are empty is waited for; or that those are which the wave closes; or it is not."""
    control: Literal["withheld", "sent"] = "withheld"
    """MOVE-7: the mover sends no subscriptions over its old link once the move has begun, or goes on."""
    entering: Literal["inward", "by-tables"] = "inward"
    """MOVE-8: the mover forwards what comes over its old link to its own side only, or by its tables."""
    cut: Literal["drained", "confirmed", "switched"] = "drained"
    """MOVE-4: the old link is cut where `Last` comes over it; when the update is confirmed; or when an end switches."""

    def strategy(self, broker: Node) -> str:
        """The strategy of a broker."""
        return self.strategies[0] if len(self.strategies) == 1 else self.strategies[broker - 1]


READINGS = choices_of(MeshParameters)
"""Per reading its values, the default first."""


DEFAULT = MeshParameters()


def parameters_of(instance: Instance) -> MeshParameters:
    """The parameters that an instance chooses."""
    found: MeshParameters = instance.section("mesh", DEFAULT)
    return found
