"""Rows that a part sets aside for similarity: deliveries, rows of databases, and the ends of withdrawals.

A publication and its rows go into the bucket of its id (`PUBLICATIONS`), a decision into that of the subscription that
is withdrawn (`SUBSCRIPTIONS`), so that one bucket after the other, or many at once, can be judged. Only steps that were
accepted are set aside: after a rejection the tables are unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import msgspec

from routeproof.checker.validate.clients.rows import bucket_of
from routeproof.checker.validate.judging import SHARED
from routeproof.checker.validate.store import packed, storable

PUBLICATIONS, SUBSCRIPTIONS = "publications", "subscriptions"
"""Where a block goes: the first two are followed by the number of a bucket."""

HELD = 2048
"""Rows that wait before they are put into blocks."""

ALWAYS = -1
"""PRN-2: no distance counts, since too little is triggered; the withdrawal goes on."""

Distances: TypeAlias = tuple[int | None, ...]


class At(NamedTuple):
    """A step: the seq with which it begins, how many events the broker had before it, its time or -1."""

    seq: int
    before: int
    time: int


class Made(NamedTuple):
    """A client published. `event`: attributes as they were written, or a number."""

    id: str
    of: str
    event: bytes | int
    at: At


class Copied(NamedTuple):
    """The broker took it from a neighbour."""

    id: str
    peer: str


class Noted(NamedTuple):
    """STA-6: a row of the database, as it came in."""

    id: str
    of: str
    subscription: str
    distance: int
    joins: int
    """The header's count."""
    at: At


class Toward(NamedTuple):
    """PRN-4, for one advertisement of a list: the distance that counted, and the list that went on. `onward`: the
    distances that were sent on; empty if the withdrawal ended here.
    """

    advertisement: str
    which: int
    onward: Distances


class Decided(NamedTuple):
    """A broker's decision on a withdrawal. `full`: the subscriber's broker wrote no list (STA-8)."""

    subscription: str
    at: At
    full: bool
    toward: tuple[Toward, ...]
    is_seen: bool = True
    """Does the trace tell what was sent?"""


class Signalled(NamedTuple):
    """PRN-6: the broker began to hold withdrawals, or went on with them."""

    congested: bool
    at: At


class OfPublications(NamedTuple):
    """A block: some of one broker's, in one bucket of publications."""

    broker: str
    made: tuple[Made, ...]
    copied: tuple[Copied, ...]
    noted: tuple[Noted, ...]


class OfSubscriptions(NamedTuple):
    broker: str
    decided: tuple[Decided, ...]


class OfSignals(NamedTuple):
    broker: str
    signalled: tuple[Signalled, ...]


class Notebook:
    """Rows of one part."""

    def __init__(self, broker: str) -> None:
        self.broker = broker
        self._made: list[Made] = []
        self._copied: list[Copied] = []
        self._noted: list[Noted] = []
        self._decided: list[Decided] = []
        self._signalled: list[Signalled] = []

    def made(self, each: Made) -> None:
        self._made.append(each)

    def copied(self, id: str, peer: str) -> None:
        self._copied.append(Copied(id, peer))

    def noted(self, each: Noted) -> None:
        self._noted.append(each)

    def decided(self, each: Decided) -> None:
        self._decided.append(each)

    def signalled(self, congested: bool, at: At) -> None:
        self._signalled.append(Signalled(congested, at))

    @property
    def is_full(self) -> bool:
        return len(self._copied) + len(self._noted) >= HELD

    def blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[str, bytes]]:
        """Blocks of the waiting rows, by destination: if there are many, or all."""
        if not (all_of_them or self.is_full):
            return
        buckets: dict[int, tuple[list[Made], list[Copied], list[Noted]]] = defaultdict(lambda: ([], [], []))
        for made in self._made:
            buckets[bucket_of(made.id)][0].append(made)
        for copied in self._copied:
            buckets[bucket_of(copied.id)][1].append(copied)
        for noted in self._noted:
            buckets[bucket_of(noted.id)][2].append(noted)
        for bucket, those in buckets.items():
            yield f"{PUBLICATIONS}/{bucket:02}", packed((self.broker, *those))
        decided: dict[int, list[Decided]] = {}
        for each in self._decided:
            decided.setdefault(bucket_of(storable(each.subscription)), []).append(each)
        for bucket, some in decided.items():
            yield f"{SUBSCRIPTIONS}/{bucket:02}", packed((self.broker, some))
        if self._signalled:
            yield SHARED, packed((self.broker, self._signalled))
        self._made, self._copied, self._noted, self._decided, self._signalled = [], [], [], [], []


def of_publications(block: bytes) -> OfPublications:
    return msgspec.msgpack.decode(block, type=OfPublications)


def of_subscriptions(block: bytes) -> OfSubscriptions:
    return msgspec.msgpack.decode(block, type=OfSubscriptions)


def of_signals(block: bytes) -> OfSignals:
    return msgspec.msgpack.decode(block, type=OfSignals)
