"""Reports of validation: how much of a trace was judged (`Extent`), and the verdict.

An *obligation* is a publication and a subscription that it matches and that stood when it was made. It is judged where
rule TRC-7 owes the delivery. Where it does not, or where the trace does not say enough, `Why` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Literal, NamedTuple

import msgspec
from attrs import Factory, field, frozen
from msgspec import Struct

from routeproof.checker.validate.findings import Rejection
from routeproof.checker.validate.store import packed
from routeproof.traces import BadLine


class Why(IntEnum):
    """The reasons for which an obligation is not judged. If there are several, the report gives the greatest."""

    CRASHED = 0
    UNSETTLED = 1
    WITHDRAWN = 2
    IN_FLIGHT = 3
    OUTSIDE = 4
    UNADVERTISED = 5
    UNANNOUNCED = 6
    UNTIMED = 7
    DOUBTFUL = 8
    ALTERED = 9
    UNFINISHED = 10
    UNNAMED = 11


WORDS: Mapping[Why, str] = {
    Why.CRASHED: "the subscriber's broker had crashed or restarted, its recording had ended, or it is not observed",
    Why.UNSETTLED: "published before the subscription and the advertisement had reached every broker",
    Why.WITHDRAWN: "withdrawn before the publication had reached its last broker",
    Why.IN_FLIGHT: "a copy was still in flight when the trace ended",
    Why.OUTSIDE: "its advertisement does not match the publication, which is the publisher's fault",
    Why.UNADVERTISED: "its advertisement did not stand at that broker then, which is the publisher's fault",
    Why.UNANNOUNCED: "published under an advertisement that no client made in this trace",
    Why.UNTIMED: "the publication or the subscription has no credible time",
    Why.DOUBTFUL: "messages without credible times may have been in flight",
    Why.ALTERED: "the messages received over a link of its run are not the messages sent",
    Why.UNNAMED: "the publication names no advertisement (`of`), and the brokers share no clock",
    Why.UNFINISHED: "the recording of a broker ends while that broker handles the publication",
}

DAMAGED = (Why.CRASHED, Why.UNANNOUNCED, Why.UNTIMED, Why.DOUBTFUL, Why.ALTERED, Why.UNFINISHED, Why.UNNAMED)
"""The reasons that are a fault of the trace or of a broker: a delivery may be missing there without a rejection."""

First = tuple[int, str, int, str, str]
"""A publication: its time, its broker, its seq there, its id and its run."""


class OpenObligations(Struct):
    """Obligations that were not judged for one reason: how many, and the first of their publications."""

    count: int
    first: First

    def add(self, other: OpenObligations) -> None:
        self.count += other.count
        self.first = min(self.first, other.first)


SHOWN_LOST = 3
"""Number of lost deliveries that a report names."""

KEPT_LOST = 200
"""Number of lost deliveries of which it is found out where the last copy was."""


class Lost(NamedTuple):
    """A lost delivery: its publication's time, broker, seq and id, the subscription, and the run. `home`: the broker at
    which the subscription was made; empty if there are several."""

    time: int
    broker: str
    seq: int
    id: str
    to: str
    run: str
    home: str = ""


COUNTS = ("steps", "links", "messages", "in_flight", "deliveries", "obligations", "owed", "lost", "doubled", "repeated")


class Extent(Struct):
    """The amount that was judged. Adding the extents of parts gives the same sum in any order."""

    steps: int = 0
    links: int = 0
    messages: int = 0
    """Messages received, and compared with the messages sent."""
    in_flight: int = 0
    """Messages that were sent and not received when the trace ended."""
    first_in_flight: tuple[str, str, str, int] | None = None
    """First link with messages in flight: its run, from where, to where, and the seq of the first message."""
    deliveries: int = 0
    obligations: int = 0
    """Pairs of a publication and an active subscription that matches it."""
    owed: int = 0
    """Obligations that were judged."""
    lost: int = 0
    first_lost: list[Lost] = msgspec.field(default_factory=list)
    """The first lost deliveries."""
    doubled: int = 0
    repeated: int = 0
    """Publications under an id that was used before."""
    open: dict[int, OpenObligations] = msgspec.field(default_factory=dict)
    unfinished: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """Last steps that lack something, which may have come after the last event: the run, and words."""
    ended: list[str] = msgspec.field(default_factory=list)
    """Brokers whose recordings end before those of their neighbours, once for each link that shows it."""
    least: list[tuple[str, str, int]] = msgspec.field(default_factory=list)
    """The links of a run, each with the least time from a sending to its reception."""
    most: int = -1
    """The longest such time."""
    waiting: list[tuple[int, str, str, int]] = msgspec.field(default_factory=list)
    """The first message in flight of each link: its time, from where, to where, and its seq."""
    damages: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """Faults of times and links, one by one: the run, and words."""
    clocks: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """Clocks that are wrong: the run, and words for the shift that mends one."""
    notes: list[str] = msgspec.field(default_factory=list)
    """Signs that the recorder, and not a broker, is wrong."""
    mishaps: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """Crashes, restarts and drops: the run, and words."""
    unowed: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """Runs of which it is unknown what was owed: the run, and the reason."""
    unread: list[str] = msgspec.field(default_factory=list)
    """Keys of the header that no rule knows."""
    caveats: list[str] = msgspec.field(default_factory=list)
    """Restrictions of the verdict, for its first line."""
    runs: int = 1
    """How many runs there are; where there are several, remarks name theirs."""

    def add(self, other: Extent) -> None:
        """Adds the extent of another part."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        firsts = [each.first_in_flight for each in (self, other) if each.first_in_flight is not None]
        self.first_in_flight = min(firsts, default=None)
        for why, each in other.open.items():
            self.leave(Why(why), each.count, each.first)
        self.damages += other.damages
        self.clocks += other.clocks
        self.least += other.least
        self.most = max(self.most, other.most)
        self.waiting += other.waiting
        self.note_lost(*other.first_lost)
        self.unfinished += other.unfinished
        self.ended = sorted({*self.ended, *other.ended})
        self.note_unowed(*other.unowed)

    def note_unowed(self, *unowed: tuple[str, str]) -> None:
        """Takes runs of which it is unknown what was owed. Every worker finds that out for itself."""
        self.unowed = sorted({*self.unowed, *unowed})

    def note_lost(self, *lost: Lost) -> None:
        """Keeps the first lost deliveries."""
        self.first_lost = sorted([*self.first_lost, *lost])[:KEPT_LOST]

    def leave(self, why: Why, count: int, first: First) -> None:
        """Counts obligations that are not judged."""
        known = self.open.get(int(why))
        if known is None:
            self.open[int(why)] = OpenObligations(count, first)
        else:
            known.add(OpenObligations(count, first))

    @property
    def judged(self) -> str:
        """Summary of what was judged, in one line."""
        found = []
        if self.steps:
            found.append(_many(self.steps, "step"))
        if self.links:
            found.append(f"{_many(self.messages, 'message')} over {_many(self.links, 'one-way link')}")
        if self.deliveries:
            found.append(_many(self.deliveries, "delivery", "deliveries"))
        if self.obligations:
            found.append(f"{self.owed:,} of {_many(self.obligations, 'obligation')}")
        else:
            found.append("no obligation")
        return f"judged: {', '.join(found)}"

    def as_json(self) -> dict[str, object]:
        """Returns the counts of what was judged, and by reason the obligations that were not."""
        found: dict[str, object] = {name: getattr(self, name) for name in COUNTS}
        return found | {"not_judged": {why.name.lower(): self.open[why].count for why in Why if why in self.open}}

    def remarks(self) -> list[str]:
        """Remarks on what was not judged and why, and what clients lost."""
        found = [self._open_line(why) for why in sorted(map(Why, self.open)) if why not in DAMAGED]
        if self.in_flight and self.first_in_flight is not None:
            run, near, far, seq = self.first_in_flight
            verb = "was" if self.in_flight == 1 else "were"
            found.append(
                f"{_many(self.in_flight, 'message')} {verb} in flight when the trace ended; "
                f"the first: from {near} to {far}, sent at seq {seq}{self._in_run(run)}"
            )
        if self.lost:
            those = ", ".join(
                f"{each.id} to {each.to}{self._in_run(each.run)}" for each in self.first_lost[:SHOWN_LOST]
            )
            more = ", ..." if self.lost > SHOWN_LOST else ""
            found.append(f"{_many(self.lost, 'delivery', 'deliveries')} lost in all: {those}{more}")
        if self.doubled:
            found.append(f"{_many(self.doubled, 'delivery', 'deliveries')} doubled in all")
        if self.repeated:
            found.append(f"{_many(self.repeated, 'publication')} under an id that was used before")
        if self.unread:
            found.append(
                f"not read in the header: {', '.join(self.unread[:8])}{', ...' if len(self.unread) > 8 else ''}"
            )
        return found

    def unjudged(self) -> list[str]:
        """Remarks on what could not be judged because the trace does not say enough, or is damaged."""
        unowed = self._of_runs([(run, f"owed deliveries: {why}") for run, why in self.unowed])
        return unowed + [self._open_line(why) for why in sorted(map(Why, self.open)) if why in DAMAGED]

    def _open_line(self, why: Why) -> str:
        each = self.open[int(why)]
        _, broker, seq, id, run = each.first
        first = f"publication {id}, published at {broker}, seq {seq}{self._in_run(run)}"
        return f"{_many(each.count, 'obligation')} not judged: {WORDS[why]}; the first: {first}"

    def damaged(self) -> list[str]:
        """Faults of times and links, one by one."""
        return self._of_runs(sorted(self.clocks) + self.damages)

    def faults(self) -> list[str]:
        """Crashes, restarts and dropped messages, as the trace has them; and signs of a wrong recorder."""
        return [*self._of_runs(self.mishaps), *self.notes]

    def open_steps(self) -> list[str]:
        """Last steps that may be unfinished."""
        return self._of_runs(sorted(self.unfinished))

    def _of_runs(self, words: list[tuple[str, str]]) -> list[str]:
        return [f"run {run}: {said}" if self.runs > 1 else said for run, said in words]

    def _in_run(self, run: str) -> str:
        return f", in run {run}" if self.runs > 1 else ""


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def encode_extent(extent: Extent) -> bytes:
    return packed(msgspec.to_builtins(extent))


def decode_extent(data: bytes) -> Extent:
    return msgspec.msgpack.decode(data, type=Extent)


# -- reports -----------------------------------------------------------------------------------------------------------

Verdict = Literal["accepted", "rejected", "unknown"]


@frozen
class Report:
    """The judgement of one trace. `rejections`: the first of each broker and rule, in order; the first one counts.

    `doubtful` are those that a line that could not be read may explain: it may be what seems to be missing.
    """

    level: str
    events: int
    brokers: int
    rejections: tuple[Rejection, ...]
    bad_lines: int
    bad: tuple[BadLine, ...]
    """The first of the lines that could not be read."""
    doubtful: tuple[Rejection, ...] = ()
    unjudged: tuple[str, ...] = Factory(tuple)
    """Parts that could not be judged because the trace does not observe them, or because it is damaged."""
    extent: Extent = Factory(Extent)
    """How much was judged."""
    other_policies: tuple[str, ...] = field(default=(), eq=False)
    """Policies that allow a run which is rejected under its own."""
    trace: str = field(default="", eq=False)
    seconds: float = field(default=0.0, eq=False)

    @property
    def remarks(self) -> list[str]:
        """Remarks: what was not judged and why; what was in flight at the end; odd times; and what a protocol adds."""
        more = [] if self.level == "observable" else self.extent.unjudged()
        return [*self.extent.damaged(), *more, *self.extent.remarks()]

    @property
    def verdict(self) -> Verdict:
        """A line that could not be read, or something that was not observed, makes it unknown at best."""
        if self.rejections:
            return "rejected"
        return "unknown" if self.bad_lines or self.unjudged or not self.events else "accepted"
