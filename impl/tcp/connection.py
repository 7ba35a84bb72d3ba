"""Connections to peers, and the reliable links that outlive them.

A `Connection` is a socket that frames come from and go to, closed at the first thing that is no frame. A `Peer` is a
link to a neighbour or client, with its current connection if there is one. A `Dialer` keeps a peer connected to one
address, with pauses that grow as long as nothing comes of it.

A `Link` is one end of a reliable link: messages arrive once and in order, whatever happens to its connections. It has
no sockets, only numbers. Each message that is sent has one, from 1 up. It is kept until the other end has acknowledged
that number or a higher one, and an end acknowledges what it has *handled*; so at most `window` messages wait for the
other end's broker, and what comes beyond that waits here. After a connection was lost, `resumed` begins again behind
what is acknowledged, and the other end drops what it has already.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Set
from typing import Any, Generic, Protocol, TypeVar, cast

from attrs import define, field

from routeproof.impl.tcp.codec import (
    FRAME,
    GREETING_MOST,
    Body,
    FrameReader,
    Greeting,
    Refusal,
    frame,
    framed,
    hello,
    in_frames,
    joined,
    read_welcome,
)
from routeproof.model.filters.interface import shown

T = TypeVar("T")


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


# -- Peers -------------------------------------------------------------------------------------------------------------

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

    def flush(self) -> None:
        """Write what is due, as far as the connection takes it."""
        connection = self.connection
        while connection is not None and not connection.full and (data := self.link.due(CHUNK)):
            connection.write(data)


# -- Dialers -----------------------------------------------------------------------------------------------------------

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


NEVER = -1


@define(eq=False)
class Link(Generic[T]):
    window: int
    """Messages that may be on their way or in the other end's queue."""
    most: int = FRAME
    """Bytes in a frame."""
    queue: deque[T] = field(factory=deque)
    """Received and not taken yet. Who takes one counts it in `handled` when it is done."""
    sent: int = 0
    acknowledged: int = 0
    received: int = 0
    handled: int = 0
    waiting_most: int = 0
    """The most that ever waited here: written or not, and not acknowledged."""
    resent: int = 0
    repeated: int = 0
    """Messages that came again and were dropped."""
    _frames: deque[bytes] = field(factory=deque)
    """Frames of each message, from the first that is not acknowledged: one or, for a long message, several."""
    _written: int = 0
    """The last that went over this connection."""
    _ever_written: int = 0
    _told: int = NEVER
    """Number that was last acknowledged to the other end over this connection."""

    # -- sending -------------------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        return len(self._frames)

    def send(self, text: bytes) -> None:
        """A message, as JSON."""
        self.sent += 1
        self._frames.append(in_frames(self.sent, text, self.most))
        self.waiting_most = max(self.waiting_most, len(self._frames))

    def due(self, room: int) -> bytes:
        """Frames that may be written now: an acknowledgement, and messages until `room` bytes are full."""
        parts = []
        if self.handled != self._told and (
            not self.queue or self._told == NEVER or self.handled - self._told >= self.window // 4
        ):
            self._told = self.handled
            parts.append(framed(b'{"ack":%d}' % self.handled))
        while room > 0 and self._written < min(self.sent, self.acknowledged + self.window):
            parts.append(self._frames[self._written - self.acknowledged])
            room -= len(parts[-1])
            self._written += 1
            self.resent += self._written <= self._ever_written
        self._ever_written = max(self._ever_written, self._written)
        return b"".join(parts)

    def acknowledge(self, number: int) -> None:
        """The other end has handled all messages up to a number; an earlier connection may have acknowledged more."""
        if not 0 <= number <= self._ever_written:
            raise Refusal(f"message {number} is acknowledged; {self._ever_written} were sent")
        while self.acknowledged < number:
            self._frames.popleft()
            self.acknowledged += 1
        self._written = max(self._written, self.acknowledged)

    def resumed(self) -> None:
        """There is a new connection."""
        self._written = self.acknowledged
        self._told = NEVER

    # -- receiving -----------------------------------------------------------------------------------------------------

    def expects(self, number: int) -> bool:
        """Is it the next one? False: it came before. Anything else is a `Refusal`."""
        if 0 < number <= self.received:
            self.repeated += 1
            return False
        if number != self.received + 1:
            raise Refusal(f"message {number} where {self.received + 1} comes next")
        if self.received - self.handled >= self.window:
            raise Refusal(f"message {number} while {self.window} are unacknowledged, which is the window")
        return True

    def take(self, message: T) -> None:
        """The next one."""
        self.received += 1
        self.queue.append(message)
