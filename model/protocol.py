"""The one shape of a protocol: a pure handler over immutable values.

`Protocol` is what `world` composes and what every engine sees. A handler answers one question and nothing else: given
who I am, what I know, who says what, what do I know next and what do I say to whom?

The answer also names the rules it applied. House.md gives a handler's answer as (local', sends); the rules are part of
it here, because a pure function has no other honest way to report them (docs/decisions/0004).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol as Interface

from attrs import frozen

from routeproof.model.overlay import Node

Local = Hashable
"""A node's state: an immutable value."""

Sends = tuple[tuple[Node, Hashable], ...]
"""(receiver, message), in the order sent; the receiver `LOCAL` is the node's own clients."""


@frozen
class Outcome:
    """A handler's answer."""

    local: Local
    sends: Sends = ()
    rules: frozenset[str] = frozenset()


class Protocol(Interface):
    """A node handler with its starting state."""

    name: str
    may_refuse: bool
    """False where `accepts` always says yes: it spares engines the question."""
    may_hold: bool
    """False where `pending` always says no."""

    def initial(self, node: Node) -> Local:
        """A node's state before anything happened, and after a crash."""
        ...

    def accepts(self, node: Node, local: Local, sender: Node, message: Hashable) -> bool:
        """Can the node handle this now? If not, it stays where it is, and all that is behind it on the link."""
        ...

    def pending(self, local: Local) -> bool:
        """Does the node hold back something that will change tables? While it does, the world is not quiet."""
        ...

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        """One atomic step of one node. Pure and deterministic: equal arguments, equal answers."""
        ...
