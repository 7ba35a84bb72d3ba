"""The one shape of a protocol: a pure handler over immutable values.

`Protocol` is what `world` composes and what every engine sees. A handler answers one question and nothing else: given
who I am, what I know, who says what, what do I know next and what do I say to whom?

The answer also names the rules it applied: a pure function has no other honest way to report them
(docs/decisions/0004).
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


@frozen
class Kept:
    """Messages that a local state holds back.

    While it keeps something that changes tables, the world is not quiet; a publication that it keeps is not lost.
    """

    control: bool = False
    publications: frozenset[str] = frozenset()
    """By id."""


NOTHING_KEPT = Kept()


class ProtocolError(ValueError):
    """A protocol does what its definition does not allow; the message says in one line which node, and what."""


class Protocol(Interface):
    """A node handler with its starting state."""

    name: str
    may_refuse: bool
    """False where `accepts` always says yes: it spares engines the question."""
    may_hold: bool
    """False where `kept` always answers with nothing."""

    def initial(self, node: Node) -> Local:
        """A node's state before anything happened, and after a crash."""
        ...

    def accepts(self, node: Node, local: Local, sender: Node, message: Hashable) -> bool:
        """Can the node handle this now? If not, it stays where it is, and all that is behind it on the link."""
        ...

    def kept(self, local: Local) -> Kept:
        """Messages that the node holds back: they count as on their way."""
        ...

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        """One atomic step of one node. Pure and deterministic: equal arguments, equal answers."""
        ...
