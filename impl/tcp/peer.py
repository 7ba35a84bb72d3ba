"""Peers: a link to a neighbour or client, with its current connection if there is one."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Generic, TypeVar

from attrs import define, field

from routeproof.impl.tcp.connection import Connection
from routeproof.impl.tcp.frames import Body, Refusal, joined
from routeproof.impl.tcp.link import Link
from routeproof.model.filters.interface import shown

T = TypeVar("T")

CHUNK = 1 << 16
"""Bytes that are written at a time."""

WHOLE = frozenset(("m",))
IN_PARTS = WHOLE | {"part", "rest"}
"""The ways in which a broker's messages come; a client's are whole, so that it cannot have a broker keep more."""


@define(eq=False)
class Peer(Generic[T]):
    name: str
    link: Link[T]
    decode: Callable[[object], T]
    ways: Set[str]
    """In which messages come from there."""
    connection: Connection | None = field(default=None, init=False)
    connections: int = field(default=0, init=False)
    """So far."""
    _parts: list[str] = field(factory=list, init=False)
    """Parts of the message that comes next."""

    def attach(self, connection: Connection) -> None:
        """The newer connection is the one that lives: of the older one, this side may not know yet that it is dead."""
        former, self.connection = self.connection, connection
        if former is not None:
            former.close()
        self.connections += 1
        connection.greet(self.link.most)
        self._parts.clear()
        self.link.resumed()

    def detach(self, connection: Connection) -> None:
        if self.connection is connection:
            self.connection = None

    def said(self, body: Body) -> None:
        match body:
            case {"ack": int(number), **rest} if not rest and type(number) is int:
                self.link.acknowledge(number)
            case {"n": int(number), **rest} if type(number) is int and len(rest) == 1 and rest.keys() <= self.ways:
                if self.link.expects(number):
                    self._hear(rest)
            case _:
                raise Refusal(f"a frame with the keys {', '.join(map(shown, body))[:80]}; expected n and m, or ack")

    def _hear(self, said: Body) -> None:
        """Takes a frame of the message that comes next."""
        match said:
            case {"m": raw} if not self._parts:
                self.link.take(self.decode(raw))
            case {"part": str(text)} if text:
                self._parts.append(text)
            case {"rest": str(text)} if self._parts:
                whole = joined((*self._parts, text))
                self._parts.clear()
                self.link.take(self.decode(whole))
            case _:
                raise Refusal("parts that make no message")

    def send(self, text: bytes) -> None:
        """A message, as JSON. `flush` writes it."""
        self.link.send(text)

    def flush(self) -> None:
        """Write what is due, as far as the connection takes it."""
        connection = self.connection
        while connection is not None and not connection.full and (data := self.link.due(CHUNK)):
            connection.write(data)
