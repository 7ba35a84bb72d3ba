"""Rows of links: the messages that one end of a link sent or received, as they wait, come back and are aligned.

A message is a row of five integers. Rows are set aside in blocks (`LinkRows`), and come back as streams (`RowStream`).
Where a recording begins amid the run, the two ends of a link begin with different messages: `shift_of` finds where they
meet.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from struct import Struct
from typing import Any, TypeAlias

import numpy as np

from routeproof.checker.validate.broker.canonical import OF, differ_many

COLUMNS = 5
"""The digest of the message; the event's seq; the place, which is how many events the broker had before the one with
which the step began; the moment, which is twice the time of that event, and one more where the message changes tables;
and the time of the event itself. Without a time both are below 0.
"""
DIGEST, SEQ, PLACE, MOMENT, TOLD = range(COLUMNS)

HELD = 512
"""Rows of a link that wait before they become a block; and the number of latest messages of a link among which a
doubled one is looked for."""

PACKED = Struct(f"={COLUMNS}q").pack
"""The bytes of one row."""

FULL = HELD * COLUMNS * 8
"""Bytes of the rows of a link that become a block."""

ALIGNED = 1 << 20
"""Rows of each end of a link among which its beginning is looked for, where recordings begin amid a run."""

ANCHORS = 16
"""The first messages of one end of a link that are looked for at the other, and the places where they are tried."""

LATEST = (1 << 62) - 1
"""Times are clipped to this, so that a moment fits into 64 bits."""

Rows: TypeAlias = Any
"""An array of int64, `COLUMNS` wide."""


LinkKey: TypeAlias = tuple[str, str, str]
"""From whom, to whom, and which end saw it: `sent` or `taken`."""


def rows(block: bytes) -> Rows:
    return np.frombuffer(block, np.int64).reshape(-1, COLUMNS)


class LinkRows:
    """Messages on the links of one broker, which wait to be set aside."""

    def __init__(self, broker: str, neighbours: Container[str]) -> None:
        self._broker, self._neighbours = broker, neighbours
        self._links: dict[tuple[str, bool], bytearray] = {}
        """By the neighbour, and whether the broker sent the messages."""
        self._full: list[tuple[str, bool]] = []

    @property
    def is_full(self) -> bool:
        """Is it time to ask for `blocks`?"""
        return bool(self._full)

    def add(
        self, key: tuple[str, bool], digest: int, is_control: bool, seq: int, place: int, time: int, told: int
    ) -> bool:
        """Takes a message. `place` and `time`: of what is sent, those of the event with which the step began. True when
        it is time to ask for `blocks`."""
        known = self._links.get(key)
        if known is None:
            if key[0] not in self._neighbours:
                return False  # TRC-2
            known = self._links[key] = bytearray()
        known += PACKED(digest, seq, place, min(LATEST, time) * 2 + is_control, told)
        if len(known) < FULL:
            return False
        self._full.append(key)
        return True

    def add_many(self, key: tuple[str, bool], rows: bytes) -> None:
        """Takes rows of messages to or from a neighbour."""
        known = self._links.setdefault(key, bytearray())
        known += rows
        if len(known) >= FULL:
            self._full.append(key)

    def blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[LinkKey, bytes]]:
        """Blocks of the waiting rows: of the links with many, or of all."""
        for key in sorted(self._links) if all_of_them else dict.fromkeys(self._full):
            peer, sent = key
            link = (self._broker, peer, "sent") if sent else (peer, self._broker, "taken")
            yield link, bytes(self._links.pop(key))
        self._full = []


class RowStream:
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

    def gathered(self) -> Rows:
        """The next rows, in one block; `ALIGNED` of them, or some more."""
        some, count = [self._rows], len(self._rows)
        for block in self._blocks:
            some.append(rows(block))
            count += len(some[-1])
            if count >= ALIGNED:
                break
        self._rows = np.concatenate(some)
        return self._rows

    def ahead(self, count: int) -> Rows:
        """The next rows, as many as this if there are so many."""
        while len(self._rows) < count and (block := next(self._blocks, None)) is not None:
            self._rows = np.concatenate([self._rows, rows(block)])
        return self._rows[:count]

    def first(self) -> Rows:
        """The next row, where there is one."""
        return self._rows[0]

    def take(self, count: int) -> Rows:
        taken, self._rows = self._rows[:count], self._rows[count:]
        return taken


# -- alignment ---------------------------------------------------------------------------------------------------------


def shift_of(ours: Rows, theirs: Rows, amid: tuple[bool, bool]) -> tuple[int, int]:
    """Returns how many messages of either end to leave out, so that most of the rest agree."""
    if not len(ours) or not len(theirs):
        return 0, len(theirs) if amid[0] else 0
    shifts = [(0, 0)]
    shifts += [(0, n) for n in _meeting(theirs, ours)] if amid[0] else []
    shifts += [(n, 0) for n in _meeting(ours, theirs)] if amid[1] else []
    best, found = 0, (0, len(theirs) if amid[0] else 0)
    for only_sent, only_taken in shifts:
        both = min(len(ours) - only_sent, len(theirs) - only_taken, HELD)
        one, other = ours[only_sent : only_sent + both], theirs[only_taken : only_taken + both]
        differ = differing(one, other)
        agree = int(differ[0]) if len(differ) else both
        if agree > best:
            best, found = agree, (only_sent, only_taken)
    return found


def _meeting(longer: Rows, shorter: Rows) -> Iterator[int]:
    """Yields how many rows of one end may come before the first row of the other."""
    digests = longer[:, DIGEST] & ~OF
    for number, digest in enumerate((shorter[:ANCHORS, DIGEST] & ~OF).tolist()):
        places = np.flatnonzero(digests == digest) - number
        yield from places[places > 0][:ANCHORS].tolist()


def differing(ours: Rows, theirs: Rows) -> Any:
    """Returns the places at which rows differ, of as many as both have."""
    both = min(len(ours), len(theirs))
    ours, theirs = ours[:both], theirs[:both]
    are_publications = (ours[:, MOMENT] & 1 == 0) & (theirs[:, MOMENT] & 1 == 0)
    return np.flatnonzero(differ_many(ours[:, DIGEST], theirs[:, DIGEST], are_publications))


GAPS = 64
"""So many times messages that only one end has are passed over."""

GAP, AGREEING = 32, 3
"""Longest run of messages that one end lacks, and the messages after it that must agree, or all that there are."""


def gap_at(said: RowStream, heard: RowStream, at: int) -> tuple[int, int] | None:
    """Returns how many messages to leave out of either end at this place, so that what follows agrees. None if it
    agrees without, so that one message is altered, or if nothing helps."""
    ours, theirs = (each.ahead(at + GAP + AGREEING)[at:] for each in (said, heard))
    if _agree(ours[1:], theirs[1:]):
        return None
    for count in range(1, GAP + 1):
        if _agree(ours[count:], theirs):
            return count, 0
        if _agree(ours, theirs[count:]):
            return 0, count
    return None


def overtaking(near: str, row: Rows, said: RowStream) -> str:
    """Says that a message which was received is one of the next that a broker sent; empty if it is not."""
    ahead = said.ahead(GAP)
    (found,) = np.nonzero(ahead[:, DIGEST] == row[DIGEST])
    if not len(found):
        return ""
    return f"{near} sent it later, at seq {ahead[found[0], SEQ]}: this link does not keep the order of messages"


def _agree(ours: Rows, theirs: Rows) -> bool:
    both = min(len(ours), len(theirs), AGREEING)
    return both > 0 and not len(differing(ours[:both], theirs[:both]))


def latest_of(rows: Rows, *, is_core: bool) -> frozenset[int]:
    """Digests that come again only if a message comes twice: of publications, and in the core of the last message."""
    chosen = rows[-HELD:, MOMENT] & 1 == 0
    chosen[-1] |= is_core
    return frozenset(rows[-HELD:][chosen, DIGEST].tolist())
