"""What was said, comparably: a message of a trace and one of the model are the same `Said` when they mean the same.

A withdrawal is its id, or the original one where an implementation made its own (`of`); a filter is the set of events
that it matches, however it was written. `digest` is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from hashlib import blake2b
from itertools import takewhile
from typing import NamedTuple

from attrs import frozen

from routeproof.model.filters import Attributes, Event, EventSet, Filter, PredicateFilter
from routeproof.model.messages import (
    Advertise,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from routeproof.traces import Item, TraceMessage

ADDS = ("subscribe", "subscribe-many")
WITHDRAWS = ("unsubscribe", "unsubscribe-many")


SHOWN = 120
"""Of details, so many characters are shown, and so many of them before those at which two begin to differ."""
BEFORE = 40


class Words(NamedTuple):
    """For people: a message by its kind and ids, and what these do not say."""

    said: str
    details: str


def apart(wanted: Words, seen: Words) -> tuple[str, str]:
    """Two messages that differ, in words that differ."""
    if wanted.said != seen.said:
        return wanted.said, seen.said
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(wanted.details, seen.details, strict=False)))
    begin = max(0, common - BEFORE) if max(len(wanted.details), len(seen.details)) > SHOWN else 0
    one, other = (f"{each.said} with {_from(each.details, begin)}" for each in (wanted, seen))
    return one, other


def _from(details: str, begin: int) -> str:
    shown = details[begin : begin + SHOWN]
    return f"{'...' if begin else ''}{shown}{'...' if begin + SHOWN < len(details) else ''}"


@frozen(cache_hash=True)
class Said:
    """A message's kind, what it is about, and of a publication the event where it is known."""

    kind: str
    about: tuple[tuple[str, Filter | None], ...]
    event: Event | None = None

    @property
    def adds(self) -> bool:
        return self.kind in ADDS

    @property
    def withdraws(self) -> bool:
        return self.kind in WITHDRAWS

    @property
    def words(self) -> Words:
        return Words(str(self), self.details())

    def details(self) -> str:
        """What ids do not say."""
        if self.kind == "publish":
            return "no event" if self.event is None else f"event {self.event}"
        filters = ["no filter" if wanted is None else str(wanted) for _, wanted in self.about]
        if len(filters) == 1:
            return filters[0]
        return "; ".join(f"{id}: {wanted}" for (id, _), wanted in zip(self.about, filters, strict=True))

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(id for id, _ in self.about)})"


def said_in_trace(message: TraceMessage) -> Said:
    """What a trace's message says; `TraceError` where its filter or event cannot be read."""
    if message.kind == "publish":
        return Said("publish", ((message.id, None),), message.event)
    return Said(message.kind, said_about(message.kind, message.items))


def said_about(kind: str, items: tuple[Item, ...]) -> tuple[tuple[str, Filter | None], ...]:
    """What a control message is about, comparably."""
    if kind in ("advertise", *ADDS):
        return tuple((item.id, item.filter) for item in items)
    return tuple((item.of or item.id, None) for item in items)


def said_by_model(message: Hashable) -> Said:
    """What one of the model's messages says."""
    match message:
        case Advertise(a):
            return Said("advertise", ((a.id, a.filter),))
        case Unadvertise(a):
            return Said("unadvertise", ((a.id, None),))
        case Subscribe(s):
            return Said("subscribe", ((s.id, s.filter),))
        case Unsubscribe(s):
            return Said("unsubscribe", ((s.id, None),))
        case PackedSubscribe(many):
            return Said("subscribe-many", tuple((s.id, s.filter) for s in many))
        case PackedUnsubscribe(many):
            return Said("unsubscribe-many", tuple((s.id, None) for s in many))
        case Publish(p):
            return Said("publish", ((p.id, None),), p.event)
    raise TypeError(f"{message!r} does not travel on links")


def digest(message: Said) -> int:
    """Eight bytes that stand for what was said: equal for equal messages, on every machine and in every process."""
    hashed = blake2b(message.kind.encode("utf-8", "surrogatepass"), digest_size=8)
    for id, wanted in message.about:
        hashed.update(b"\0")
        hashed.update(id.encode("utf-8", "surrogatepass"))
        if wanted is not None:
            hashed.update(b"\1" + _filter_bytes(wanted))
    if message.event is not None:
        hashed.update(b"\2" + _event_bytes(message.event))
    return int.from_bytes(hashed.digest(), "big", signed=True)


@lru_cache(1 << 12)
def _filter_bytes(wanted: Filter) -> bytes:
    """By normal form, which equal filters share (FLT-6)."""
    if isinstance(wanted, EventSet):
        return b"%x" % wanted.mask
    assert isinstance(wanted, PredicateFilter)
    return repr(wanted.constraints).encode("utf-8", "surrogatepass")


def _event_bytes(event: Event) -> bytes:
    return repr(event.pairs if isinstance(event, Attributes) else event).encode("utf-8", "surrogatepass")
