"""What a broker's process is told before it starts, as values and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import Factory, asdict, evolve, frozen

from routeproof.impl.tcp import frames
from routeproof.impl.tcp.frames import Body
from routeproof.model.overlay import Node
from routeproof.model.pruning_parameters import PRUNING, PruningParameters

LOOPBACK = "127.0.0.1"


@frozen
class Limits:
    """What is bounded, and by how much (`docs/tcp.md`)."""

    frame: int = frames.MOST
    """Bytes."""
    window: int = 128
    """Messages from one peer that wait for a broker."""
    high_water: int = 512
    """Messages that wait for one peer. Where it is reached, a broker handles nothing that might add to them."""
    strangers: int = 64
    """Connections that have not said who they are."""
    clients: int = 1024
    patience: float = 10.0
    """Seconds for a greeting, and for the rest of a frame."""
    stall: float = 30.0
    """Seconds that a client may keep a broker waiting without taking anything."""


@frozen
class Setting:
    node: Node
    neighbours: tuple[Node, ...]
    policy: str
    token: str
    dialect: str = "strict"
    host: str = LOOPBACK
    trace: str = ""
    """The file that its events go to."""
    snapshots: int = 0
    limits: Limits = Limits()
    readings: Mapping[str, object] = Factory(dict)
    """Of a policy that prunes: the parameters that do not have their default."""

    @property
    def parameters(self) -> PruningParameters | None:
        """None where the policy does not prune."""
        if self.policy not in PRUNING:
            return None
        # A list has come from JSON; the parameters are tuples.
        read: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in self.readings.items()
        }
        return evolve(PruningParameters.of(self.policy), **read)

    def to_json(self) -> Body:
        return asdict(self)

    @classmethod
    def of(cls, raw: Body) -> Setting:
        """From our own parent, over a pipe that nobody else has."""
        limits, neighbours = raw.pop("limits"), raw.pop("neighbours")
        assert isinstance(limits, dict)
        assert isinstance(neighbours, list)
        return evolve(cls(neighbours=tuple(neighbours), **raw), limits=Limits(**limits))  # type: ignore[arg-type]  # JSON
