"""A peer: the link to somebody, and the connection that it has at the moment, if it has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from attrs import define, field

from routeproof.impl.tcp.connection import Connection
from routeproof.impl.tcp.frames import HEAD, Body, Refusal
from routeproof.impl.tcp.link import Link
from routeproof.model.filters.wording import shown

T = TypeVar("T")

CHUNK = 1 << 16
"""Bytes that are written at a time."""

ENVELOPE = 64
"""Bytes of a frame that are not the message."""


class TooLong(Exception):
    """A message that no frame holds. It is not the other side's fault, and there is no going on without it."""


@define(eq=False)
class Peer(Generic[T]):
    name: str
    link: Link[T]
    decode: Callable[[object], T]
    most: int
    """Bytes in a frame."""
    connection: Connection | None = field(default=None, init=False)
    connections: int = field(default=0, init=False)
    """So far."""

    def attach(self, connection: Connection) -> None:
        """The newer connection is the one that lives: of the older one, this side may not know yet that it is dead."""
        former, self.connection = self.connection, connection
        if former is not None:
            former.close()
        self.connections += 1
        connection.greet(self.most)
        self.link.resumed()

    def detach(self, connection: Connection) -> None:
        if self.connection is connection:
            self.connection = None

    def said(self, body: Body) -> None:
        match body:
            case {"ack": int(number), **rest} if not rest and type(number) is int:
                self.link.acknowledge(number)
            case {"n": int(number), "m": raw, **rest} if not rest and type(number) is int:
                if self.link.expects(number):
                    self.link.take(self.decode(raw))
            case _:
                raise Refusal(f"a frame with the keys {', '.join(map(shown, body))[:80]}; expected n and m, or ack")

    def send(self, text: bytes) -> None:
        """A message, as JSON. `flush` writes it."""
        if HEAD + len(text) + ENVELOPE > self.most:
            raise TooLong(f"a message of {len(text):,} bytes to {self.name}; a frame holds {self.most:,}")
        self.link.send(text)

    def flush(self) -> None:
        """Write what is due, as far as the connection takes it."""
        connection = self.connection
        while connection is not None and not connection.full and (data := self.link.due(CHUNK)):
            connection.write(data)
