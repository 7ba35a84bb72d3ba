"""When was nothing on the way? The spans of messages, merged; made for clocks that brokers share.

Time is cut into slots, about four million of them from the first event to the last, so that what is kept is bounded
and does not depend on the order in which spans come. A quiet moment shorter than a slot is overlooked: then less is
owed than could be, never more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

SLOTS = 1 << 22
BATCH = 1 << 14
"""Spans that wait to be merged; or a quarter of what there is, which takes as much again while it is merged."""


def slot_width(earliest: int, latest: int) -> int:
    """A power of two, in nanoseconds."""
    return 1 << max(0, (max(0, latest - earliest) // SLOTS).bit_length())


class Busy:
    """The union of spans, in slots; both ends of a span belong to it."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._begins: Any = np.empty(0, np.int64)
        self._ends: Any = np.empty(0, np.int64)
        self._waiting: list[tuple[Any, Any]] = []
        self._count = 0

    def add(self, begins: Any, ends: Any) -> None:
        """Spans in nanoseconds."""
        self.add_slots(begins // self.width, ends // self.width)

    def add_slots(self, begins: Any, ends: Any) -> None:
        if len(begins):
            self._waiting.append((begins, ends))
            self._count += len(begins)
            if self._count >= max(BATCH, len(self._begins) >> 2):
                self._merge()

    def spans(self) -> tuple[Any, Any]:
        """Apart from each other, and in order."""
        self._merge()
        return self._begins, self._ends

    def over(self, time: int) -> int:
        """The last nanosecond of the slot in which what goes on now is over; the time itself where nothing goes on."""
        slot = time // self.width
        self._merge()
        at = int(np.searchsorted(self._begins, slot, "right")) - 1
        if at < 0 or self._ends[at] < slot:
            return time
        return (int(self._ends[at]) + 1) * self.width - 1

    def _merge(self) -> None:
        if not self._waiting:
            return
        begins = np.concatenate([self._begins, *(b for b, _ in self._waiting)])
        ends = np.concatenate([self._ends, *(e for _, e in self._waiting)])
        self._waiting, self._count = [], 0
        order = np.argsort(begins, kind="stable")
        begins, ends = begins[order], np.maximum.accumulate(ends[order])
        first = np.ones(len(begins), bool)
        first[1:] = begins[1:] > ends[:-1]
        (starts,) = np.nonzero(first)
        self._begins = begins[starts]
        self._ends = ends[np.append(starts[1:] - 1, len(ends) - 1)]


def union(width: int, parts: Iterable[tuple[Any, Any]]) -> Busy:
    """Of spans that are in slots already."""
    busy = Busy(width)
    for begins, ends in parts:
        busy.add_slots(begins, ends)
    return busy
