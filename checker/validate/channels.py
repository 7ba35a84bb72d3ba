"""Links: everything received was sent, once, in order.

What a broker sends to a neighbour and what that neighbour receives from it are two lists that must be one, but for what
is still on the way at the end. They stand far apart in a trace, so both are kept as (digest, seq), 16 bytes a message,
in files that nobody sees, and compared when all has been read.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from typing import IO

from routeproof.checker.validate.steps import Rejection

BATCH = 1 << 12


class Spool:
    """A list of (digest, seq) that lives on disk once it is long."""

    def __init__(self) -> None:
        self._buffer = array("Q")
        self._file: IO[bytes] | None = None

    def append(self, digest: int, seq: int) -> None:
        self._buffer.append(digest)
        self._buffer.append(seq)
        if len(self._buffer) >= 2 * BATCH:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the spool
            self._file.write(self._buffer.tobytes())
            del self._buffer[:]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        if self._file is not None:
            self._file.seek(0)
            while block := self._file.read(16 * BATCH):
                yield from _pairs(array("Q", block))
        yield from _pairs(self._buffer)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _pairs(flat: array[int]) -> Iterator[tuple[int, int]]:
    return zip(flat[::2], flat[1::2], strict=True)


def compare(
    run: str, link: tuple[str, str], sent: Iterator[tuple[int, int]], taken: Iterator[tuple[int, int]]
) -> Rejection | None:
    """The first message that was received and not sent, or not then. What was sent and never received is on the way."""
    near, far = link
    for digest, seq in taken:
        told = next(sent, None)
        if told is None:
            return Rejection(run, far, seq, "TRC-3", f"nothing from {near}: all that it sent was received", "one more")
        if told[0] != digest:
            wanted = f"what {near} sent next, at its seq {told[1]}"
            return Rejection(run, far, seq, "TRC-3", wanted, "another message, or the same one altered")
    return None
