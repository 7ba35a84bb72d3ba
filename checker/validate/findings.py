"""Findings: rejections, lines that cannot be read, and what a part of a trace hands on (`PartResult`).

A `Rejection` says where a trace leaves the model. Of several the first is the one that counts, the cause before its
effects (`in_order`). Runs are independent. In one run, what clients saw comes after what brokers and links did,
whatever the time: a publication is made before it reaches the broker that loses it. Among brokers and links the shared
clock decides. Without one, brokers that took a wrong step by themselves come before brokers that first received what
was not sent: a wrong step is what feeds such a link. At one broker its own order rules.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from itertools import groupby
from typing import Any, TypeAlias, cast

import msgspec
from attrs import Factory, asdict, define, evolve, field, frozen
from msgspec import Struct

from routeproof.checker.validate.clock import ClockRecord
from routeproof.checker.validate.store import natural, packed, storable
from routeproof.model.protocol import Kept
from routeproof.traces import BadLine

WHOLE = 0
"""Any line that could not be read may be what is missing, wherever it stands."""

ALWAYS = -1
"""No line could explain it: what was read is wrong by itself."""

LAST_SHOWN = -2
"""The last of the lines of `shown_by`, which are still to be found out."""


def _places(raw: Iterable[Iterable[str | int]]) -> tuple[tuple[str, int], ...]:
    return cast(tuple[tuple[str, int], ...], tuple(map(tuple, raw)))


def _texts(raw: Iterable[str]) -> tuple[str, ...]:
    return tuple(raw)


@frozen(order=True)
class Rejection:
    """The order decides which of several is the first."""

    run: str
    broker: str
    seq: int
    rule: str
    wanted: str = field(converter=storable)
    seen: str = field(converter=storable)
    accepted: int = 0
    """How many events of this broker were accepted before it: the longest accepted prefix."""
    line: int = field(default=WHOLE, order=False, eq=False)
    """The line that completes what shows it: only one before it could explain it. Or one of the three above."""
    time: int = field(default=-1, order=False)
    """Time of the beginning of its step; -1 if unknown."""
    shown_by: tuple[tuple[str, int], ...] = field(default=(), order=False, eq=False, converter=_places)
    """Events elsewhere that show it, by broker and seq: of a link, what was sent and what was received."""
    at: int = field(default=0, order=False)
    """The line of its event, or of the beginning of its step; 0 if unknown."""
    handling: str = field(default="", order=False, converter=storable)
    """The message that the broker was handling, in words; empty where that does not matter."""
    reason: str = field(default="", order=False, converter=storable)
    """Why the rule asks for it here: the filters and the neighbours involved."""
    lost: tuple[str, ...] = field(default=(), order=False, converter=_texts)
    """A lost delivery: the publication, the subscription and the brokers of its clients."""
    peer: str = field(default="", order=False)
    """The broker at the other end, if a link is wrong."""
    since: int = field(default=-1, order=False)
    """The seq after which it may have begun, if that is earlier than the event that shows it."""
    expected: int = field(default=0, order=False, eq=False)
    """The digest of the message that the model sends, where sends are not observed; 0 elsewhere."""
    is_consequence: bool = field(default=False, order=False, eq=False)
    """True if another rejection, or a crash, explains it."""
    losses: str = field(default="", order=False, converter=storable)
    """The deliveries that were lost after it, in words."""
    cause: str = field(default="", order=False, converter=storable)
    """The cause behind it in words, if later steps show one."""


def few(names: tuple[str, ...]) -> str:
    """Some of many, for a sentence."""
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


# -- order -------------------------------------------------------------------------------------------------------------

LAST_SEQ = (1 << 63) - 1

ON_LINKS, ON_CLOCKS, ON_PROMISES = "TRC-3", "TRC-10", "TRC-11"

PROMISE = "`settles` in the header promises that no message comes later"

SEEN_BY_CLIENTS = ("TRC-7", "TRC-8", "TRC-9")

OF_RECORDERS = ("TRC-1", "TRC-2", "TRC-5")
"""Rules that a wrong recorder breaks: then the receptions of its broker may be wrong as well."""

_Key: TypeAlias = tuple[object, ...]


def in_order(rejections: Iterable[Rejection], *, shared_clock: bool) -> tuple[Rejection, ...]:
    found: list[Rejection] = []
    by_run = sorted(rejections, key=lambda r: natural(r.run))
    for _, mine in groupby(by_run, key=lambda r: r.run):
        found += _of_run(list(mine), shared_clock)
    return tuple(found)


def _of_run(mine: list[Rejection], shared_clock: bool) -> list[Rejection]:
    causes = [r for r in mine if r.rule not in SEEN_BY_CLIENTS and not r.is_consequence]
    by_clock = shared_clock and all(r.time >= 0 for r in mine)
    first: dict[str, Rejection] = {}
    for each in causes:
        known = first.get(each.broker)
        if known is None or _within_broker(each) < _within_broker(known):
            first[each.broker] = each
    fed = {broker for broker, each in first.items() if each.rule == ON_LINKS}

    def key(r: Rejection) -> _Key:
        is_effect = int(r.is_consequence) + 2 * (r.rule in SEEN_BY_CLIENTS)
        return is_effect, r.time if by_clock else 0, r.broker in fed, natural(r.broker), _within_broker(r)

    return sorted(mine, key=key)


def _within_broker(r: Rejection) -> _Key:
    """Sort key: a message that was received wrongly is then handled wrongly."""
    return r.seq if r.since < 0 else r.since, r.rule != ON_LINKS, r


def explained(rejections: Sequence[Rejection], parts: Iterable[PartResult]) -> list[Rejection]:
    """Marks what is wrong on a link as a consequence if its sender had taken a wrong step before, if the receiver's
    events are in disorder, or if one of both had crashed."""
    causes: dict[tuple[str, str], Rejection] = {}
    for each in rejections:
        key = each.run, each.broker
        if not each.peer and each.rule not in SEEN_BY_CLIENTS and (key not in causes or each.seq < causes[key].seq):
            causes[key] = each
    crashed = {(part.run, part.broker): part.faulted for part in parts if part.faults}

    def is_explained(r: Rejection) -> bool:
        sender = r.shown_by[0][0] if len(r.shown_by) > 1 else r.peer
        for broker in (r.broker, r.peer) if r.rule == ON_LINKS else ():
            cause, seqs = causes.get((r.run, broker)), [seq for where, seq in r.shown_by if where == broker]
            is_cause = cause is not None and (broker == sender or cause.rule in OF_RECORDERS)
            if is_cause and cause is not None and min(seqs, default=cause.seq) >= cause.seq:
                return True
            if max(seqs, default=r.seq) >= crashed.get((r.run, broker), LAST_SEQ):
                return True
        return False

    return [evolve(r, is_consequence=True) if is_explained(r) else r for r in rejections]


def foremost(rejections: Iterable[Rejection]) -> list[Rejection]:
    """The first of each rule at each broker; where it is not known yet which of them are certain, one of each kind."""
    first: dict[tuple[object, ...], Rejection] = {}
    for each in rejections:
        kind = min(each.line, 1), tuple(broker for broker, _ in each.shown_by)
        key = each.run, each.broker, each.rule, kind
        if key not in first or each < first[key]:
            first[key] = each
    return list(first.values())


# -- lines that could not be read --------------------------------------------------------------------------------------

KEPT = 20
"""Number of lines that are shown."""


@define
class BadLines:
    """Lines that could not be read. Adding those of several parts gives the same in any order."""

    count: int = 0
    first: list[BadLine] = field(factory=list)
    """By number."""

    def add(self, line: BadLine) -> None:
        self.count += 1
        self._keep(line)

    def merge(self, other: BadLines) -> None:
        self.count += other.count
        for line in other.first:
            self._keep(line)

    def renumbered(self, number_of: Callable[[int], int]) -> BadLines:
        """With other numbers, in the same order."""
        return BadLines(self.count, [BadLine(number_of(line.number), line.reason) for line in self.first])

    @property
    def first_number(self) -> int:
        """0 if there is none, and for unreadable rows whose lines are unknown."""
        return self.first[0].number if self.first else 0

    def _keep(self, line: BadLine) -> None:
        if len(self.first) < KEPT or _place(line) < _place(self.first[-1]):
            insort(self.first, BadLine(line.number, storable(line.reason)), key=_place)
            del self.first[KEPT:]


def _place(line: BadLine) -> tuple[int, str]:
    return line.number, line.reason


# -- parts -------------------------------------------------------------------------------------------------------------


class KeptRecord(Struct):
    """When a broker's model held messages back: from when until when, -1 for the end of the trace, and whether they
    change tables. `ids`: the publications that it held at the end."""

    spans: list[tuple[int, int, bool]] = msgspec.field(default_factory=list)
    ids: list[str] = msgspec.field(default_factory=list)


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


class Beginning(IntEnum):
    """Beginning of a broker's recording: its first message, or the tables of a snapshot amid the run. `UNKNOWN`:
    a snapshot that does not tell all of them."""

    NOTHING = 0
    TABLES = 1
    UNKNOWN = 2


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
    begins_with: int = Beginning.NOTHING
    metered: bytes = b""
    """Counts of `metrics`, if metrics were asked for."""

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


def encode_rejection(rejection: Rejection) -> bytes:
    return packed(asdict(rejection))


def decode_rejection(data: bytes) -> Rejection:
    return Rejection(**msgspec.msgpack.decode(data))
