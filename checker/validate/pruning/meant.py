"""What a message of a trace means under pruning: what it does in the core, and the header or the cuts that it has."""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import blake2b

from attrs import frozen
from msgspec import UNSET

from routeproof.checker.validate.meant import Meant
from routeproof.checker.validate.said import Said, said_by_model, said_in_trace
from routeproof.model.messages import Cut, Publish, Unsubscribe
from routeproof.traces import TraceMessage
from routeproof.traces.cuts import cuts_of

Cuts = tuple[Cut, ...]

SIGNALS = ("congest", "relieve")


@frozen(cache_hash=True)
class Told(Said):
    """`Said`, with what pruning adds. Every message of such a trace is compared as one."""

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


class MeantHere(Meant):
    """`base` is what it means in the core: the same for all copies of a publication."""

    __slots__ = ("base", "count", "cuts", "distance")

    def __init__(self, base: Meant, message: TraceMessage) -> None:
        for name in Meant.__slots__:
            setattr(self, name, getattr(base, name))
        self.base = base
        self.distance: int = message.distance or 0
        self.count: int = message.count or 0
        self.cuts: Cuts | None = None if message.cuts is UNSET else cuts_of(message.cuts)
        if base.kind in SIGNALS:
            self.items = ()
        if self.distance or self.count or self.cuts is not None:
            self.digest = _digest(base.digest, self.distance, self.count, self.cuts)

    @property
    def said(self) -> Said:
        said = super().said
        return Told(said.kind, said.about, said.event, self.distance, self.count, self.cuts)


def _digest(base: int, *more: object) -> int:
    hashed = blake2b(base.to_bytes(8, "big", signed=True), digest_size=8)
    hashed.update(repr(more).encode("utf-8", "surrogatepass"))
    return int.from_bytes(hashed.digest(), "big", signed=True)


def told_in_trace(message: TraceMessage) -> Told:
    """What a trace's message says; `TraceError` where its filter or event cannot be read."""
    said = said_in_trace(message)
    cuts = None if message.cuts is UNSET else cuts_of(message.cuts)
    return Told(said.kind, said.about, said.event, message.distance or 0, message.count or 0, cuts)


def told_by_model(message: Hashable) -> Said:
    """What one of the model's messages says."""
    said = said_by_model(message)
    match message:
        case Publish(_, distance, count):
            return Told(said.kind, said.about, said.event, distance, count)
        case Unsubscribe(_, cuts):
            return Told(said.kind, said.about, said.event, cuts=cuts)
    return Told(said.kind, said.about, said.event)
