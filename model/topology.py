"""The topology: which nodes there are, and between which of them a message may ever travel.

`Topology` holds the nodes with their roles and names, and every directed FIFO channel that there may be. Which of them
are in use at a moment is the protocol's state: a channel that is opened carries a message that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from attrs import evolve, frozen

from routeproof.model.overlay import LOCAL, Link, Node, Overlay

Role = Literal["broker", "client", "coordinator"]


@frozen
class Topology:
    """Nodes are numbered 1..n, brokers first. `channels` are in ascending order: engines number them so."""

    roles: tuple[tuple[Node, Role], ...]
    channels: tuple[Link, ...]
    names: tuple[tuple[Node, str], ...] = ()
    """Names of the nodes; brokers without one are b1, b2, ..."""

    @classmethod
    def of(
        cls,
        overlay: Overlay,
        others: Mapping[str, Role] | None = None,
        channels: Iterable[tuple[Node | str, Node | str]] = (),
    ) -> Topology:
        """The brokers and links of the overlay, the other nodes by name, and channels both ways between the pairs."""
        others = others or {}
        number = {name: len(overlay.brokers) + i for i, name in enumerate(others, 1)}

        def node(end: Node | str) -> Node:
            return number[end] if isinstance(end, str) else end

        more = [(node(u), node(v)) for u, v in channels]
        both = {*overlay.links, *more, *((v, u) for u, v in more)}
        brokers: list[tuple[Node, Role]] = [(b, "broker") for b in overlay.brokers]
        return cls(
            (*brokers, *((number[name], role) for name, role in others.items())),
            tuple(sorted(both)),
            tuple((n, name) for name, n in number.items()),
        )

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(node for node, _ in self.roles)

    @cached_property
    def role(self) -> Mapping[Node, Role]:
        return dict(self.roles)

    @cached_property
    def _names(self) -> Mapping[Node, str]:
        return dict(self.names)

    def name(self, node: Node) -> str:
        """Name of a node in traces, `show` and errors."""
        return self._names.get(node, f"b{node}") if node != LOCAL else "a client"

    def with_brokers(self, names: Sequence[str]) -> Topology:
        """A topology with names for the brokers 1, 2, ..."""
        return evolve(self, names=(*enumerate(names, 1), *self.names)) if names else self

    def neighbours(self, node: Node) -> tuple[Node, ...]:
        """The nodes to which a node has a channel."""
        return tuple(far for near, far in self.channels if near == node)

    def numbered(self, name: str) -> Node:
        """The node of this name."""
        return next(node for node in self.nodes if self.name(node) == name)

    def having(self, role: Role) -> tuple[Node, ...]:
        """The nodes of a role."""
        return tuple(node for node, own in self.roles if own == role)
