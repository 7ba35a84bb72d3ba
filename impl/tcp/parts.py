"""A message in frames: in one, or cut into parts where one does not hold it.

What a client says is a frame at most. What a broker makes of it can be longer: a delivery names the subscription, 1e308
is written out, and a packed message (COV-7) has as many subscriptions as the broker's tables. It travels whole all the
same: its text is cut, and every piece has a frame of its own, with the number of the message.
"""

from __future__ import annotations

from collections.abc import Iterable

from routeproof.impl.tcp.frames import Body, frame, framed, parse

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
