"""Frames: a length of four bytes, the most significant first, and as many bytes of JSON, which is one object.

`frame` makes one, `FrameReader` finds them in bytes that come in any pieces. What is no frame is a `Refusal`.

A message in frames: in one, or cut into parts where one does not hold it.

What a client says is a frame at most. What a broker makes of it can be longer: a delivery names the subscription, 1e308
is written out, and a packed message (COV-7) has as many subscriptions as the broker's tables. It travels whole all the
same: its text is cut, and every piece has a frame of its own, with the number of the message.
"""

from __future__ import annotations

import json
from asyncio import StreamReader
from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn, TypeAlias

Body: TypeAlias = dict[str, object]

HEAD = 4
MOST = 1 << 20
"""Largest frame in bytes, by default."""

GREETING_MOST = 4096
"""Largest frame in bytes before the greeting."""


class Refusal(ValueError):
    """A message that cannot be accepted, in one line. It ends the connection that it came over, and nothing else."""


def frame(body: Mapping[str, object]) -> bytes:
    return framed(json.dumps(body, separators=(",", ":"), allow_nan=False).encode("ascii"))


def framed(text: bytes) -> bytes:
    return len(text).to_bytes(HEAD, "big") + text


class FrameReader:
    """`most` may be changed from one frame to the next."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._bytes = bytearray()

    @property
    def partial(self) -> bool:
        """A frame has begun and not ended."""
        return bool(self._bytes)

    def feed(self, data: bytes) -> Iterator[Body]:
        """The frames that are complete now. It holds no more than one that is not, and what came with it."""
        self._bytes += data
        while len(self._bytes) >= HEAD:
            end = HEAD + _length(self._bytes[:HEAD], self.most)
            if len(self._bytes) < end:
                return
            text = bytes(self._bytes[HEAD:end])
            del self._bytes[:end]
            yield parse(text)


async def read_frame(reader: StreamReader, most: int = MOST) -> Body:
    """The next one of a stream; `IncompleteReadError` where the stream ends."""
    return parse(await reader.readexactly(_length(await reader.readexactly(HEAD), most)))


def _length(head: bytes | bytearray, most: int) -> int:
    length = int.from_bytes(head, "big")
    if length > most:
        raise Refusal(f"a frame of {length:,} bytes; expected at most {most:,}")
    return length


def parse(text: bytes) -> Body:
    """The caller bounds the nesting; the parser itself stops at Python's limit."""
    try:
        body = json.loads(text.decode("utf-8"), parse_constant=_no_number)
    except RecursionError:
        raise Refusal("a frame that is nested too deeply") from None
    except Refusal:
        raise
    except ValueError as error:  # no UTF-8, no JSON, or a number of some thousand digits
        raise Refusal(f"a frame that is not JSON: {error}") from None
    if type(body) is not dict:
        raise Refusal("a frame that is no JSON object")
    return body


def _no_number(constant: str) -> NoReturn:
    raise Refusal(f"a frame that is not JSON: {constant} is no number")


ENVELOPE = 64
"""Bytes of a frame that are not the message."""


def fits(text: bytes, most: int) -> bool:
    """Does a frame of `most` bytes hold this message, which is JSON?"""
    return len(text) + ENVELOPE <= most


def in_frames(number: int, text: bytes, most: int) -> bytes:
    """The message of this number, which is JSON in ASCII, in frames of at most `most` bytes."""
    if fits(text, most):
        return framed(b'{"n":%d,"m":%b}' % (number, text))
    length = (most - ENVELOPE) // 2  # in a string, a quotation mark takes two bytes
    *parts, rest = (text[at : at + length].decode("ascii") for at in range(0, len(text), length))
    return b"".join(frame({"n": number, "part": each}) for each in parts) + frame({"n": number, "rest": rest})


def joined(parts: Iterable[str]) -> Body:
    return parse("".join(parts).encode("utf-8", "replace"))
