"""A dialer: keeps a peer connected to one address, with pauses that grow as long as nothing comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from attrs import define, field

from routeproof.impl.tcp.codec import Greeting, hello, read_welcome
from routeproof.impl.tcp.connection import Connection
from routeproof.impl.tcp.frames import Body, frame
from routeproof.impl.tcp.peer import Peer

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 1.0
"""Seconds between two attempts."""

Address = tuple[str, int]


@define(eq=False)
class Dialer:
    """`stirred` is called whenever something came from the other end, and is to flush the peer; `lost_because` when a
    connection ended, with the reason where it was we who closed it."""

    peer: Peer[Any]
    address: Address
    token: str
    greeting: Greeting
    patience: float
    stirred: Callable[[], None]
    lost_because: Callable[[str], None]
    _connection: Connection | None = field(default=None, init=False)

    async def run(self) -> None:
        """Until it is cancelled."""
        pause = FIRST_PAUSE
        try:
            while True:
                before = self._progress()
                await self._connect()
                pause = FIRST_PAUSE if self._progress() > before else min(2 * pause, LONGEST_PAUSE)
                await asyncio.sleep(pause)
        finally:
            if self._connection is not None:
                self._connection.close()
                await self._connection.over

    def _progress(self) -> int:
        """A connection that is refused right after each welcome is no success."""
        return self.peer.link.acknowledged + self.peer.link.received

    async def _connect(self) -> None:
        """One connection, from its beginning to its end."""
        try:
            async with asyncio.timeout(self.patience):
                _, self._connection = await asyncio.get_running_loop().create_connection(
                    lambda: Connection(self, self.patience), *self.address
                )
        except OSError:  # no process listens; TimeoutError is an OSError too
            return
        await asyncio.shield(self._connection.over)
        self._connection = None

    # -- what a connection tells ---------------------------------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        connection.write(frame(hello(self.token, self.greeting)))

    def said(self, connection: Connection, body: Body) -> None:
        if connection.greeted:
            self.peer.said(body)
        else:
            read_welcome(body, self.greeting.to)
            self.peer.attach(connection)
        self.stirred()

    def writable(self, connection: Connection) -> None:
        self.peer.flush()

    def lost(self, connection: Connection, reason: str) -> None:
        self.peer.detach(connection)
        self.lost_because(reason)
