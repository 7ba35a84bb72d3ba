"""Meanings of messages under pruning: the core's meaning, and the header or the cuts."""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import blake2b

from attrs import frozen
from msgspec import UNSET

from routeproof.checker.validate.broker.canonical import CanonicalMessage, canonical_in_model, canonical_in_trace
from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.model.messages import Publish, Unsubscribe
from routeproof.model.pruning.messages import Cut, cuts_of, met
from routeproof.traces import TraceMessage
from routeproof.traces.pruning import cuts_of as cuts_of_lines

Cuts = tuple[Cut, ...]

SIGNALS = ("congest", "relieve")


@frozen(cache_hash=True)
class CanonicalPruning(CanonicalMessage):
    """`CanonicalMessage` with what pruning adds. Every message of such a trace is compared as one."""

    distance: int = 0
    count: int = 0
    cuts: Cuts | None = None

    def __str__(self) -> str:
        if self.kind == "publish":
            return f"{super().__str__()} with the header {self.distance}, {self.count}"
        if self.cuts is None:
            return super().__str__()
        return f"{super().__str__()} with {', '.join(map(_shown, self.cuts)) or 'an empty list'}"


def _shown(cut: Cut) -> str:
    return f"{cut.advertisement}: {' '.join('no end' if d is None else str(d) for d in cut.distances)}"


class PruningMeaning(MessageMeaning):
    """`base` is what it means in the core: the same for all copies of a publication."""

    __slots__ = ("base", "count", "cuts", "distance")

    def __init__(self, base: MessageMeaning, message: TraceMessage) -> None:
        for name in MessageMeaning.__slots__:
            setattr(self, name, getattr(base, name))
        self.base = base
        self.distance: int = message.distance or 0
        self.count: int = message.count or 0
        self.cuts: Cuts | None = None if message.cuts is UNSET else cuts_of_lines(message.cuts)
        if base.kind in SIGNALS:
            self.items = ()
        if self.distance or self.count or self.cuts is not None:
            self.digest = _digest(base.digest, self.distance, self.count, self.cuts)

    @property
    def content(self) -> int:
        """Digest of the content without the header."""
        return self.base.content

    @property
    def said(self) -> CanonicalMessage:
        said = super().said
        return CanonicalPruning(said.kind, said.about, said.event, self.distance, self.count, self.cuts)


def _digest(base: int, *more: object) -> int:
    hashed = blake2b(base.to_bytes(8, "big", signed=True), digest_size=8)
    hashed.update(repr(more).encode("utf-8", "surrogatepass"))
    return int.from_bytes(hashed.digest(), "big", signed=True)


def pruning_in_trace(message: TraceMessage) -> CanonicalPruning:
    """Canonical form of a trace's message; `TraceError` if its filter or event cannot be read."""
    said = canonical_in_trace(message)
    cuts = None if message.cuts is UNSET else cuts_of_lines(message.cuts)
    return CanonicalPruning(said.kind, said.about, said.event, message.distance or 0, message.count or 0, cuts)


def pruning_in_model(message: Hashable) -> CanonicalMessage:
    """Canonical form of one of the model's messages."""
    said = canonical_in_model(message)
    match message:
        case Publish():
            return CanonicalPruning(said.kind, said.about, said.event, met(message).distance, met(message).count)
        case Unsubscribe():
            return CanonicalPruning(said.kind, said.about, said.event, cuts=cuts_of(message))
    return CanonicalPruning(said.kind, said.about, said.event)
