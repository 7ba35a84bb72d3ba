"""Links: everything received was sent, once, in order (TRC-3).

What a broker sends to a neighbour and what that neighbour receives from it are two lists that must be one, but for what
is still on the way at the end. They stand far apart in a trace, so both are kept as rows of four integers, and compared
when all has been read, block by block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field

from routeproof.checker.validate.rejection import LAST_SHOWN, WHOLE, Rejection

ON_LINKS = "TRC-3"

COLUMNS = 4
"""The digest of what was said; the event's seq; how many events its broker had before it; and the moment: twice the
time, and one more where the message changes tables. The time is that of the step; without one it is -1."""
DIGEST, SEQ, BEFORE, MOMENT = range(COLUMNS)

LATEST = (1 << 62) - 1
"""Times are clipped to this, so that a moment fits into 64 bits."""

Rows: TypeAlias = Any
"""An array of int64, four columns wide."""


def rows(block: bytes) -> Rows:
    return np.frombuffer(block, np.int64).reshape(-1, COLUMNS)


@define
class Comparison:
    """What came of one link."""

    rejection: Rejection | None = None
    on_the_way: set[int] = field(factory=set)
    """Digests of the publications that were sent and not received."""


def compare(
    run: str, link: tuple[str, str], sent: Iterable[bytes], taken: Iterable[bytes]
) -> Iterator[Comparison | tuple[Rows, Rows, Rows]]:
    """When messages left, when they were taken, and which are control, block by block; in the end the comparison.

    One that was not taken, or has no time, was on the way until the end.
    """
    near, far = link
    result = Comparison()
    said, heard = _Stream(sent), _Stream(taken)
    while True:
        count = min(said.fill(), heard.fill())
        if count == 0:
            break
        ours, theirs = said.take(count), heard.take(count)
        if result.rejection is None:
            (wrong,) = np.nonzero(ours[:, DIGEST] != theirs[:, DIGEST])
            if len(wrong):
                at = wrong[0]
                seq = int(ours[at, SEQ])
                wanted = f"what {near} sent next, at its seq {seq}"
                seen = "another message, or the same one altered"
                result.rejection = _rejection(run, far, theirs[at], wanted, seen, ((near, seq),))
        yield _spans(ours[:, MOMENT], theirs[:, MOMENT])
    if result.rejection is None and heard.fill():
        wanted = f"nothing from {near}: all that it sent was received"
        result.rejection = _rejection(run, far, heard.take(1)[0], wanted, "one more")
    while count := said.fill():
        left = said.take(count)
        result.on_the_way.update(left[left[:, MOMENT] & 1 == 0, DIGEST].tolist())
        yield _spans(left[:, MOMENT], np.full(len(left), -1, np.int64))
    yield result


def _rejection(
    run: str, broker: str, row: Rows, wanted: str, seen: str, sent: tuple[tuple[str, int], ...] = ()
) -> Rejection:
    """What was sent may stand anywhere in a file: that something was not sent is certain only where all can be read. Of
    two messages that differ, only a line before one of them could explain it."""
    seq = int(row[SEQ])
    return Rejection(
        run,
        broker,
        seq,
        ON_LINKS,
        wanted,
        seen,
        accepted=int(row[BEFORE]),
        line=LAST_SHOWN if sent else WHOLE,
        time=int(row[MOMENT]) >> 1,
        shown_by=(*sent, (broker, seq)),
    )


def _spans(left: Rows, taken: Rows) -> tuple[Rows, Rows, Rows]:
    begin = np.where(left < 0, 0, left >> 1)
    end = np.where((taken < 0) | (left < 0), LATEST, taken >> 1)
    return begin, np.maximum(begin, end), (left & 1).astype(bool)


class _Stream:
    """Rows that come in blocks, and go out in any number."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._rows: Rows = np.empty((0, COLUMNS), np.int64)

    def fill(self) -> int:
        """How many there are; 0 at the end only."""
        while not len(self._rows):
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rows = rows(block)
        return len(self._rows)

    def take(self, count: int) -> Rows:
        taken, self._rows = self._rows[:count], self._rows[count:]
        return taken
