"""Findings of a part of a trace (`PartResult`), and their bytes on the way to where the verdict is made."""

from __future__ import annotations

from typing import Any

import msgspec
from attrs import Factory, asdict, frozen
from msgspec import Struct, field

from routeproof.checker.validate.clock import ClockRecord
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.report import BadLines, Extent
from routeproof.checker.validate.store import packed
from routeproof.model.protocol import Kept
from routeproof.traces import BadLine


class KeptRecord(Struct):
    """When a broker's model held messages back: from when until when, -1 for the end of the trace, and whether they
    change tables. `ids`: the publications that it held at the end."""

    spans: list[tuple[int, int, bool]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


class Keeping:
    """Listens to what a model keeps after each step."""

    def __init__(self) -> None:
        self._record = KeptRecord()
        self._since: dict[str, int] = {}
        """By publication, and under the empty name for messages that change tables."""

    def take(self, kept: Kept, time: int) -> None:
        """Takes what the model keeps after a step at this time."""
        now = {*kept.publications, *([""] if kept.control else [])}
        for id in self._since.keys() - now:
            self._record.spans.append((self._since.pop(id), time, not id))
        for id in now - self._since.keys():
            self._since[id] = time

    def result(self) -> KeptRecord:
        """Returns the record, after the last step."""
        self._record.spans += [(since, -1, not id) for id, since in sorted(self._since.items())]
        self._record.ids = sorted(id for id in self._since if id)
        return self._record


@frozen
class PartResult:
    """Findings of a part. `earliest` and `latest`: of the times that its events have; -1 if none has one. `steps`: the
    messages that were handled. `clock`: the times, where brokers share a clock.
    """

    run: str
    broker: str
    events: int
    rejection: Rejection | None
    bad: BadLines
    earliest: int
    latest: int
    steps: int = 0
    clock: ClockRecord = Factory(ClockRecord)
    drops: int = 0
    dropped: int = -1
    """How many messages were dropped, and the seq of the first."""
    crashes: int = 0
    restarts: int = 0
    faulted: int = -1
    """How often the broker crashed and restarted, and the seq of the first time."""
    unharmed_until: int = -1
    """When the last step before that began; -1 if that is not known."""
    kept: KeptRecord = Factory(KeptRecord)
    """Messages that the model of the broker held back, where its protocol does so."""
    unfinished: Rejection | None = None
    """The rejection of the part's last step if that is over; None if nothing is missing of it."""
    last_publication: str = ""
    """The publication of the last step, if something may be missing of it."""
    unknown: int = 0
    first_unknown: str = ""
    """Withdrawals by clients of ids that the broker did not know, and the first of them."""
    kinds: tuple[str, ...] = ()
    """Kinds of the events, of those that a header may declare."""
    deviations: int = 0
    deviated: str = ""
    """At the level `safe`: harmless deviations, and where the first one was."""
    metered: bytes = b""
    """Counts of `metrics.meter`, if metrics were asked for."""

    @property
    def faults(self) -> bool:
        """True if the broker crashed or restarted."""
        return self.crashes + self.restarts > 0


def encode_found(found: PartResult) -> bytes:
    return packed(asdict(found))


def decode_found(data: bytes) -> PartResult:
    raw = msgspec.msgpack.decode(data)
    return PartResult(
        **{
            **raw,
            "rejection": None if raw["rejection"] is None else Rejection(**raw["rejection"]),
            "unfinished": None if raw["unfinished"] is None else Rejection(**raw["unfinished"]),
            "bad": _bad_lines(**raw["bad"]),
            "kept": msgspec.convert(raw["kept"], KeptRecord),
            "clock": msgspec.convert(raw["clock"], ClockRecord),
        }
    )


def encode_bad(bad: BadLines) -> bytes:
    return packed(asdict(bad))


def decode_bad(data: bytes) -> BadLines:
    return _bad_lines(**msgspec.msgpack.decode(data))


def _bad_lines(count: int, first: list[dict[str, Any]]) -> BadLines:
    return BadLines(count, [BadLine(**each) for each in first])


def encode_extent(extent: Extent) -> bytes:
    return packed(msgspec.to_builtins(extent))


def decode_extent(data: bytes) -> Extent:
    return msgspec.msgpack.decode(data, type=Extent)


def encode_rejection(rejection: Rejection) -> bytes:
    return packed(asdict(rejection))


def decode_rejection(data: bytes) -> Rejection:
    return Rejection(**msgspec.msgpack.decode(data))
