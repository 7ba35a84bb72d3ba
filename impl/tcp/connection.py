"""A connection: a socket that frames come from and go to, and that is closed at the first thing that is no frame."""

from __future__ import annotations

import asyncio
from typing import Protocol, cast

from routeproof.impl.tcp.frames import GREETING_MOST, Body, FrameReader, Refusal


class Owner(Protocol):
    """Observer of a connection. A `Refusal` raised by `said` closes the connection."""

    def opened(self, connection: Connection) -> None: ...
    def said(self, connection: Connection, body: Body) -> None: ...
    def writable(self, connection: Connection) -> None: ...
    def lost(self, connection: Connection, reason: str) -> None:
        """Once, at the end. `reason` is empty where the other side closed it, or we did without a reason."""


class Connection(asyncio.Protocol):
    """`patience`: seconds for a greeting, and for the rest of a frame that has begun. Bytes that come singly gain no
    time: only a whole frame does."""

    def __init__(self, owner: Owner, patience: float) -> None:
        self._owner = owner
        self._patience = patience
        self._frames = FrameReader(GREETING_MOST)
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self._reason = ""
        self._closed = False
        self.full = False
        """True while more is buffered than the system takes; further writes make the buffer longer."""
        self.greeted = False
        self.other_end = "?"
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def greet(self, most: int) -> None:
        """The other side is who it should be; from here on frames may have `most` bytes."""
        self.greeted = True
        self._frames.most = most

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._closed:
            self._transport.write(data)

    def close(self, reason: str = "") -> None:
        """At once: what was not written is not written any more. Links send it again."""
        if not self._closed:
            self._closed = True
            self._reason = reason
            self._stop_timer()
            if self._transport is not None:
                self._transport.abort()

    # -- what asyncio calls --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        address = transport.get_extra_info("peername")
        self.other_end = f"{address[0]}:{address[1]}" if isinstance(address, tuple) else "?"
        self._start_timer("sent no greeting for {:g} s")
        self._owner.opened(self)

    def data_received(self, data: bytes) -> None:
        try:
            for body in self._frames.feed(data):
                if self._closed:
                    return
                self._stop_timer()
                self._owner.said(self, body)
        except Refusal as refusal:
            self.close(str(refusal))
            return
        if self._frames.partial and self._timer is None and not self._closed:
            self._start_timer("half a frame, and then nothing for {:g} s")

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        self._owner.writable(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._closed = True
        self._stop_timer()
        if not self.over.done():
            self.over.set_result(None)
        self._owner.lost(self, self._reason)

    # -- patience ------------------------------------------------------------------------------------------------------

    def _start_timer(self, reason: str) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._patience, self.close, reason.format(self._patience))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
