"""What clients did and got, as rows that can be set aside: operations, publications and deliveries.

Publications and their deliveries stand at different brokers. Both go into the bucket of the publication's id, so that
one bucket after the other, or many at once, can be judged (`obligations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
from attrs import frozen

from routeproof.checker.validate.meant import Meant
from routeproof.checker.validate.packing import packed

BUCKETS = 64
HELD = 1024
"""Rows that wait before they are put into blocks."""

OPERATIONS = -1
"""The bucket of what is not about a publication."""


class Place(NamedTuple):
    """An event of a client's: the broker, its seq, how many events the broker had before it, and its time or -1."""

    broker: str
    seq: int
    before: int
    time: int


@frozen
class Operation:
    """A client advertised, subscribed or withdrew. `filter`: as it was written."""

    kind: str
    id: str
    filter: bytes
    client: str
    at: Place


@frozen
class Published:
    """`event`: attributes as they were written, or a number. `digest` is that of the message on links. `spoke`: when
    the client did, or -1."""

    id: str
    of: str
    event: bytes | int
    digest: int
    spoke: int
    at: Place


class Delivered(NamedTuple):
    """`to`: the subscription or, behind an @, the client. There are many, so that its place is not apart."""

    to: str
    broker: str
    seq: int
    before: int
    time: int

    @property
    def at(self) -> Place:
        return Place(self.broker, self.seq, self.before, self.time)


class Block(NamedTuple):
    """What was set aside together. Of deliveries only the rows: a publication's id, to whom, seq, before, time."""

    broker: str
    operations: list[Operation]
    published: list[Published]
    delivered: list[tuple[str, str, int, int, int]]


class ClientRows:
    """Those of one part of a trace. Each waits as a tuple that ends with its seq, what came before it, and its time."""

    def __init__(self, broker: str) -> None:
        self._broker = broker
        self._operations: list[tuple[object, ...]] = []
        self._published: list[tuple[Any, ...]] = []
        self._delivered: list[tuple[str, str, int, int, int]] = []

    def delivered(self, id: str, to: str, seq: int, before: int, time: int) -> bool:
        """True when it is time to ask for `blocks`."""
        self._delivered.append((id, to, seq, before, time))
        return len(self._delivered) >= HELD

    def did(self, meant: Meant, client: str, seq: int, before: int, time: int, spoke: int) -> bool:
        """True when it is time to ask for `blocks`."""
        if meant.kind == "publish":
            self._published.append((meant.id, meant.of, meant.written, meant.digest, spoke, seq, before, time))
            return len(self._published) >= HELD
        for item in meant.items:
            written = meant.written if isinstance(meant.written, bytes) else b""
            self._operations.append((meant.kind, item.of or item.id, written, client, seq, before, time))
        return len(self._operations) >= HELD

    def blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[int, bytes]]:
        """What waits, by bucket: if it is much, or all."""
        if max(len(self._operations), len(self._published), len(self._delivered)) < (1 if all_of_them else HELD):
            return
        buckets: dict[int, tuple[str, list[Any], list[Any], list[Any]]] = {}
        if self._operations:
            buckets[OPERATIONS] = self._broker, self._operations, [], []
        for which, rows in ((2, self._published), (3, self._delivered)):
            for row in rows:
                bucket = crc32(row[0].encode("utf-8", "surrogatepass")) % BUCKETS
                if bucket not in buckets:
                    buckets[bucket] = self._broker, [], [], []
                buckets[bucket][which].append(row)  # type: ignore[union-attr]  # 2 and 3 are lists
        self._operations, self._published, self._delivered = [], [], []
        for bucket in sorted(buckets):
            yield bucket, packed(buckets[bucket])


def block_of(data: bytes) -> Block:
    broker, operations, published, delivered = msgspec.msgpack.decode(data)
    return Block(
        broker,
        [Operation(kind, id, wants, by, Place(broker, *at)) for kind, id, wants, by, *at in operations],
        [
            Published(id, of, event, digest, spoke, Place(broker, *at))
            for id, of, event, digest, spoke, *at in published
        ],
        delivered,
    )
