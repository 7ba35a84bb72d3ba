"""One end of a reliable link: messages arrive once and in order, whatever happens to its connections.

No sockets here, only numbers. Each message that is sent has one, from 1 up. It is kept until the other end has
acknowledged that number or a higher one, and an end acknowledges what it has *handled*; so at most `window` messages
wait for the other end's broker, and what comes beyond that waits here. After a connection was lost, `resumed` begins
again behind what is acknowledged, and the other end drops what it has already.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

from attrs import define, field

from routeproof.impl.tcp.frames import MOST, Refusal, framed, in_frames

T = TypeVar("T")

NEVER = -1


@define(eq=False)
class Link(Generic[T]):
    window: int
    """Messages that may be on their way or in the other end's queue."""
    most: int = MOST
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
        """Records that the other end has handled all messages up to a number. An earlier connection may have
        acknowledged more.
        """
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
