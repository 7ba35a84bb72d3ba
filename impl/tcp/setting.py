"""Settings of a node's process, given before it starts, as values and as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, asdict, evolve, frozen

from routeproof.impl import Implementation, Own, implementation_of
from routeproof.impl.simulator import Handler
from routeproof.impl.tcp.codec import FRAME, Body, Wire
from routeproof.model.overlay import Node

LOOPBACK = "127.0.0.1"


@frozen
class Limits:
    """Limits of a broker (`docs/howto/run-over-tcp.md`)."""

    frame: int = FRAME
    """Bytes."""
    window: int = 128
    """Messages from one peer that wait for a broker."""
    high_water: int = 512
    """Messages that wait for one peer. Where it is reached, a broker handles nothing that might add to them."""
    strangers: int = 64
    """Largest number of connections without a greeting."""
    clients: int = 1024
    patience: float = 10.0
    """Seconds for a greeting, and for the rest of a frame."""
    stall: float = 30.0
    """Seconds that a client may keep a broker waiting without taking anything."""


@frozen
class NodeSetting:
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
    role: str = "broker"
    """The node's role in the topology."""
    protocol: str = ""
    """The first that has the policy, where it is left out."""
    own: Own = Factory(dict)
    """Values of the protocol's own."""
    on_circle: bool = False
    """True where channels close a circle: the node then waits for room before it handles what a client sends, and never
    before it handles what a neighbour sends."""
    names: Mapping[str, str] = Factory(dict)
    """The names of this node and its neighbours, where they are not b1, b2, ..."""

    @property
    def implementation(self) -> Implementation:
        return implementation_of(self.policy, self.protocol)

    @property
    def wire(self) -> Wire:
        return self.implementation.wire(self.policy, self.own)

    def make(self) -> Handler:
        return self.implementation.make(self.node, self.neighbours, self.policy, self.own)

    def name(self, node: Node) -> str:
        return self.names.get(str(node), f"b{node}")

    def to_json(self) -> Body:
        return asdict(self)

    @classmethod
    def of(cls, raw: Body) -> NodeSetting:
        """Reads a setting from the parent, over a pipe that no other process has."""
        limits, neighbours = raw.pop("limits"), raw.pop("neighbours")
        assert isinstance(limits, dict)
        assert isinstance(neighbours, list)
        return evolve(cls(neighbours=tuple(neighbours), **raw), limits=Limits(**limits))  # type: ignore[arg-type]  # JSON
