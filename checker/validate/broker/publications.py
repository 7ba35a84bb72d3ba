"""Cache of publications: of each, what it takes some fifty microseconds to find out, in some hundred bytes.

At every broker a publication has the same digest and is for the same subscriptions. To find that out takes some fifty
microseconds, so it is remembered; but the cache must not grow with the trace. Where brokers are mixed, a publication is
soon done with, and only a few are kept, to see whether that is so. Where brokers stand one after the other, each comes
up again when all the others have. So an entry is small. When the cache is full, new entries are not kept: publications
recur in a fixed cycle, and evicting the oldest would always evict the next one needed. Another process can be given all
entries, if all subscriptions have the same slots there.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from msgspec import Struct
from numpy.typing import ArrayLike

from routeproof.checker.validate.fast import Universe
from routeproof.checker.validate.fast.universe import Answer

MOST = 1 << 15
"""Publications, of some 200 bytes each."""

SOME = 16
"""One publication in this many is kept, until one of them is requested again."""

OLDEST = 16
"""One evicted entry in this many is the oldest: in the end, entries that never come up again are gone."""

DIGEST = 8
"""Bytes of an entry; the rest are the slots of the subscriptions that match."""

SHORT, LONG = "H", "I"
"""How slots are written: in two bytes while all are below `WIDEST`."""

WIDEST = 1 << 16

Entry: TypeAlias = bytes

NOTHING: Entry = bytes(DIGEST)
"""Entry of a publication that cannot be read."""

Written = tuple[str, str, bytes | int]
"""A publication as it was written: its id, its advertisement's, and its event."""


class SharedEntries(Struct, frozen=True, array_like=True):
    """Entries on their way, and as of when."""

    moment: int
    entries: dict[int, Entry]


@frozen
class Unpacked:
    """Many entries. Those who match the n-th are `counts[n]` of the `slots`, from `firsts[n]` on."""

    digests: Any
    counts: Any
    firsts: Any
    slots: Any


def key_of(id: str, of: str, event: bytes | int) -> int:
    """A hash of a publication as it was written, made of three that can be found for many at once.

    The three differ for equal texts: an id may be the name of an advertisement, or what is published.
    """
    return id_hash(id) ^ of_hash(of) ^ hash(event)


def id_hash(id: str) -> int:
    return hash(("id", id))


def of_hash(of: str) -> int:
    return hash(("of", of))


class Publications:
    """Entries by `key_of`, which is as good as the digests by which links are compared."""

    def __init__(self, universe: Universe) -> None:
        self._subscriptions = universe.subscriptions
        self._entries: dict[int, Entry] = {}
        self._width = SHORT
        self._moment = -1
        """Moment of the entries: the matching subscriptions change with every newcomer."""
        self._gone = 0
        self.come_round = False
        """Do publications come up again after all the others have?"""

    def find(self, written: Written) -> Entry | None:
        return self.find_all((key_of(*written),))[0]

    def find_all(self, keys: Iterable[int]) -> list[Entry | None]:
        if self._moment != self._subscriptions.moment:
            return [None for _ in keys]
        found = list(map(self._entries.get, keys))
        self.come_round |= any(entry is not None for entry in found)
        return found

    def keep(self, key: int, digest: int, slots: ArrayLike) -> Entry:
        """`slots`: of those who match, as of now."""
        self._renew()
        entry = digest.to_bytes(DIGEST, "little", signed=True) + np.asarray(slots, self._width).tobytes()
        if self.come_round or key % SOME == 0:
            if len(self._entries) >= MOST:
                self._make_room()
            self._entries[key] = entry
        return entry

    def _renew(self) -> None:
        if self._moment != self._subscriptions.moment:
            self._entries.clear()
            self._moment = self._subscriptions.moment
            self._width = SHORT if self._subscriptions.highest < WIDEST else LONG

    def told(self) -> SharedEntries:
        """Entries for other processes."""
        self._renew()
        return SharedEntries(self._moment, self._entries)

    def believe(self, told: SharedEntries) -> None:
        """Takes over others' entries about the same subscriptions; useless where text is hashed otherwise."""
        self._renew()
        if told.moment == self._moment:
            self._entries |= islice(told.entries.items(), max(0, MOST - len(self._entries)))

    def _make_room(self) -> None:
        self._gone += 1
        if self._gone % OLDEST:
            self._entries.popitem()
        else:
            del self._entries[next(iter(self._entries))]

    def digest(self, entry: Entry) -> int:
        return int.from_bytes(entry[:DIGEST], "little", signed=True)

    def answer(self, entry: Entry) -> Answer:
        return Answer(array(self._width, entry[DIGEST:]).tolist(), self._moment)

    def unpacked(self, entries: Sequence[Entry]) -> Unpacked:
        size = array(self._width).itemsize
        words = np.frombuffer(b"".join(entries), np.dtype(self._width))
        lengths = np.fromiter(map(len, entries), np.int64, len(entries)) // size
        head = DIGEST // size
        begins = np.cumsum(lengths) - lengths
        heads = begins[:, None] + np.arange(head)
        is_slot = np.ones(len(words), np.bool_)
        is_slot[heads] = False
        counts = lengths - head
        digests = words[heads].view(np.int64)[:, 0]
        return Unpacked(digests, counts, np.cumsum(counts) - counts, words[is_slot])
