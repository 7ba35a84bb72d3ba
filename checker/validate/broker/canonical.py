"""Canonical messages. A trace's message and a model's message are equal here if and only if they mean the same.

A withdrawal is its id, or the original one where an implementation made its own (`of`); a filter is the set of events
that it matches, however it was written. `digest` is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from itertools import takewhile
from typing import Any, NamedTuple

from attrs import field, frozen
from msgspec.msgpack import Encoder

from routeproof.model.filters import Attributes, Constant, Event, EventSet, Filter, PredicateFilter, Value
from routeproof.model.filters.interface import exact
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
"""Characters of details that are shown; `BEFORE` of them precede the place at which two begin to differ."""
BEFORE = 40


IN_ORDER = Encoder(order="sorted")

OF_BITS = 16
OF = (1 << OF_BITS) - 1
"""The bits of a publication's digest that stand for its advertisement; 0 where the message leaves it out."""


class MessageWords(NamedTuple):
    """For people: a message by its kind and ids, and what these do not say. `of`: a publication's advertisement."""

    said: str
    details: str
    of: str = ""


def distinguished(wanted: MessageWords, seen: MessageWords) -> tuple[str, str]:
    """Two messages that differ, in words that differ."""
    if wanted.said != seen.said:
        return wanted.said, seen.said
    if wanted.details == seen.details and wanted.of != seen.of:
        return f"{wanted.said} under {wanted.of or 'nothing'}", f"{seen.said} under {seen.of or 'nothing'}"
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(wanted.details, seen.details, strict=False)))
    begin = max(0, common - BEFORE) if max(len(wanted.details), len(seen.details)) > SHOWN else 0
    one, other = (f"{each.said} with {_from(each.details, begin)}" for each in (wanted, seen))
    return one, other


def _from(details: str, begin: int) -> str:
    shown = details[begin : begin + SHOWN]
    return f"{'...' if begin else ''}{shown}{'...' if begin + SHOWN < len(details) else ''}"


@frozen(cache_hash=True)
class CanonicalMessage:
    """A message's kind, what it is about, and of a publication the event where it is known."""

    kind: str
    about: tuple[tuple[str, Filter | None], ...]
    event: Event | None = None
    of: str = field(default="", eq=False, kw_only=True)
    """A publication's advertisement, which not every message says."""
    several: tuple[tuple[str, ...], ...] = field(default=(), eq=False, kw_only=True)
    """By entry, the subscriptions for which it stands, where a broker names them."""

    @property
    def adds(self) -> bool:
        return self.kind in ADDS

    @property
    def withdraws(self) -> bool:
        return self.kind in WITHDRAWS

    @property
    def words(self) -> MessageWords:
        return MessageWords(str(self), self.details(), self.of)

    def details(self) -> str:
        """Details beyond the ids."""
        if self.kind == "publish":
            return "no event" if self.event is None else f"event {self.event}"
        filters = ["no filter" if wanted is None else str(wanted) for _, wanted in self.about]
        if len(filters) == 1:
            return filters[0]
        return "; ".join(f"{id}: {wanted}" for (id, _), wanted in zip(self.about, filters, strict=True))

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(id for id, _ in self.about)})"


def canonical_control(kind: str, items: tuple[Item, ...]) -> CanonicalMessage:
    """Canonical form of a control message."""
    has_filters = kind in ("advertise", *ADDS)
    about = tuple((item.of or item.id, item.filter if has_filters else None) for item in items)
    return CanonicalMessage(kind, about, several=tuple(item.several for item in items))


def canonical_in_trace(message: TraceMessage) -> CanonicalMessage:
    """Canonical form of a trace's message; `TraceError` if its filter or event cannot be read."""
    if message.kind == "publish":
        return CanonicalMessage("publish", ((message.id, None),), message.event, of=message.of)
    return canonical_control(message.kind, message.items)


def canonical_in_model(message: Hashable) -> CanonicalMessage:
    """Canonical form of one of the model's messages."""
    match message:
        case Advertise(a):
            return CanonicalMessage("advertise", ((a.id, a.filter),))
        case Unadvertise(a):
            return CanonicalMessage("unadvertise", ((a.id, None),))
        case Subscribe(s):
            return CanonicalMessage("subscribe", ((s.id, s.filter),))
        case Unsubscribe(s):
            return CanonicalMessage("unsubscribe", ((s.id, None),))
        case PackedSubscribe(many):
            return CanonicalMessage("subscribe-many", tuple((s.id, s.filter) for s in many))
        case PackedUnsubscribe(many):
            return CanonicalMessage("unsubscribe-many", tuple((s.id, None) for s in many))
        case Publish(p):
            return CanonicalMessage("publish", ((p.id, None),), p.event)
    raise TypeError(f"{message!r} does not travel on links")


def digest(message: CanonicalMessage) -> int:
    """A digest of a message in eight bytes: equal for equal messages, on every machine and in every process."""
    hashed = blake2b(message.kind.encode("utf-8", "surrogatepass"), digest_size=8)
    for id, wanted in message.about:
        hashed.update(b"\0")
        hashed.update(id.encode("utf-8", "surrogatepass"))
        if wanted is not None:
            hashed.update(b"\1" + _filter_bytes(wanted))
    if message.event is not None:
        hashed.update(b"\2" + _event_bytes(message.event))
    found = int.from_bytes(hashed.digest(), "big", signed=True)
    return found if message.kind != "publish" else found & ~OF | _of_bits(message.of)


def publication_digest(id: str, of: str, values: Mapping[str, Constant]) -> int:
    """The digest of a publication with plain attributes (`Meanings.plain`)."""
    written = b"publish\0%b\2%b" % (id.encode("utf-8", "surrogatepass"), _table_bytes(values))
    hashed = blake2b(written, digest_size=8)
    return int.from_bytes(hashed.digest(), "big", signed=True) & ~OF | _of_bits(of)


@lru_cache(1 << 12)
def _of_bits(of: str) -> int:
    if not of:
        return 0
    hashed = blake2b(of.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return 1 + int.from_bytes(hashed, "big") % OF


def are_same(one: int, other: int) -> bool:
    """True if two digests of publications contradict each other in nothing. One may leave out the advertisement."""
    return one == other or ((one ^ other) & ~OF == 0 and not (one & OF and other & OF))


def differ_many(ones: Any, others: Any, are_publications: Any) -> Any:
    """Which of these digests stand for messages that differ."""
    distinguished = ones != others
    excused = are_publications & ((ones ^ others) & ~OF == 0) & ((ones & OF == 0) | (others & OF == 0))
    return distinguished & ~excused


@lru_cache(1 << 12)
def _filter_bytes(wanted: Filter) -> bytes:
    """By normal form, which equal filters share (FLT-6)."""
    if isinstance(wanted, EventSet):
        return b"%x" % wanted.mask
    assert isinstance(wanted, PredicateFilter)
    return repr((wanted.constraints, *(() if wanted.is_open else (wanted.rest,)))).encode("utf-8", "surrogatepass")


def _event_bytes(event: Event) -> bytes:
    """Fractions as the floats that stand for them, which `publication_digest` has too."""
    if isinstance(event, Attributes):
        return _table_bytes({name: _as_written(value) for name, value in event.pairs})
    return repr(event).encode("utf-8", "surrogatepass")


def _table_bytes(values: Mapping[str, object]) -> bytes:
    """MessagePack of attributes; Python's words for values that it does not have, like 2**64."""
    try:
        return IN_ORDER.encode(values)
    except (OverflowError, TypeError, UnicodeEncodeError):
        return repr(sorted(values.items())).encode("utf-8", "surrogatepass")


def _as_written(value: Value) -> Value | float:
    if type(value) is not Fraction:
        return value
    with suppress(OverflowError):
        nearest = value.numerator / value.denominator
        return nearest if exact(nearest) == value else value
    return value
