"""Shrinking of recorded traces: a shorter run that is still rejected for the same cause.

`shrink_recorded` judges a trace as `validate` does, and keeps its first rejection: the same rule, at the same event of
the same broker. Delta debugging then leaves out events, many at a time to begin with, and judges what is left each
time; `recording` says what else a cut must take with it.

Cuts are tried in this order, until none can be made: all that follows the fault, publications, brokers at the edge of
the overlay, subscriptions, advertisements, withdrawals, other events, and what each broker does last. Events keep their
`seq` and their times, so that each can be found in the trace that was recorded. Where all that its broker did after the
fault is left out, an empty snapshot in its place says that the step had ended.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import TypeAlias

from attrs import evolve, frozen

from routeproof.checker.counterexamples.recording import Recording, marker_of, recording_of, units_of, without_units
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.files import write_result
from routeproof.checker.system.terminal import count
from routeproof.checker.validate import Level, Rejection, setting_of
from routeproof.checker.validate.findings import ON_LINKS
from routeproof.checker.validate.local import validate_locally
from routeproof.traces import TraceError, read_trace
from routeproof.traces.files import called, named, temporary

Tell: TypeAlias = Callable[[str], None]


class NotRejected(Exception):
    """A recorded trace that no rule rejects; the message says what it is instead, in one line."""


def _silent(_: object) -> None:
    pass


@frozen
class Cause:
    """The rejection that is kept: its place, its rule, and the kinds of messages that were wanted and seen."""

    run: str
    broker: str
    seq: int
    rule: str
    kinds: tuple[str, str]

    @classmethod
    def of(cls, rejection: Rejection) -> Cause:
        wanted = "" if rejection.rule == ON_LINKS else _kind_of(rejection.wanted)  # of a link, it is what comes next
        kinds = wanted, _kind_of(rejection.seen)
        return cls(rejection.run, rejection.broker, rejection.seq, rejection.rule, kinds)

    def __str__(self) -> str:
        return f"{self.rule} at broker {self.broker}, seq {self.seq}"


def _kind_of(words: str) -> str:
    """The first words of a message, without what it is about: `sub`, `no message`."""
    found = re.match(r"[a-z ]+", words)
    return found[0].strip() if found else ""


# -- delta debugging ---------------------------------------------------------------------------------------------------


class _Late(Exception):
    """There is no time for more."""


class Shrinker:
    """Makes one recording shorter as long as `shows` finds the same cause. `smallest` is the shortest so far."""

    def __init__(
        self,
        whole: Recording,
        cause: Cause,
        shows: Callable[[Recording], bool],
        until: float = inf,
        tell: Tell = _silent,
    ) -> None:
        self.smallest = evolve(whole, cause=(cause.broker, cause.seq))
        after = whole.after(cause.broker, cause.seq)
        self._marker = marker_of(after[0]) if after else None
        self.tried = 0
        self._shows, self._until, self._tell = shows, until, tell

    def shrink(self) -> None:
        """Cuts until no single cut can be made any more, or the time has come."""
        try:
            while True:
                before = len(self.smallest.lines), len(self.smallest.brokers)
                if self._marker is not None and self._marker not in self.smallest.lines:
                    self._try(self.smallest.ended_by(self._marker))
                self._cut_what_follows()
                for kind in ("publish", "leaf", "subscribe", "advertise", "withdrawal", "other"):
                    self._cut(kind)
                self._cut_ends()
                if before == (len(self.smallest.lines), len(self.smallest.brokers)):
                    return
        except _Late:
            return

    def _try(self, candidate: Recording) -> bool:
        if time.monotonic() >= self._until:
            raise _Late
        mine = self.smallest
        if (len(candidate.lines), candidate.header) == (len(mine.lines), mine.header) and candidate.text == mine.text:
            return False
        self.tried += 1
        if not self._shows(candidate):
            return False
        self.smallest = candidate
        self._tell(f"{candidate.described()} left, {count(self.tried, 'cut')} tried")
        return True

    def _cut_what_follows(self) -> None:
        """The shortest beginning, in causal order, that shows the cause; found by bisection."""
        order = self.smallest.in_causal_order()
        whole = self.smallest
        low, high = 0, len(order)
        while high - low > 1:
            middle = (low + high) // 2
            kept = set(order[:middle])
            lines = tuple(line for line in whole.lines if line.number in kept)
            if self._try(evolve(whole, lines=lines)):
                high = middle
            else:
                low = middle

    def _cut(self, kind: str) -> None:
        """Leaves out what is of one kind: all of it at a time, then half of it, and so on to one."""
        those = units_of(self.smallest, kind)
        size = len(those)
        while size:
            at = 0
            while at < len(those):
                chunk = those[at : at + size]
                if any(self._try(without_units(self.smallest, chunk, more=more)) for more in (True, False)):
                    left = set(units_of(self.smallest, kind))
                    those = [*those[:at], *(each for each in those[at + size :] if each in left)]
                else:
                    at += size
            size //= 2

    def _cut_ends(self) -> None:
        """Leaves out what a broker does last: from the back, twice as much each time that it can be."""
        for broker in self.smallest.brokers:
            size = 1
            while size:
                mine = [line.number for line in self.smallest.lines if line.row["broker"] == broker]
                begins = [number for number in mine if self.smallest.step[number] == number]
                is_cut = bool(begins) and self._try(self.smallest.without(begins[-size:]))
                size = min(2 * size, len(begins)) if is_cut else size // 2


# -- files -------------------------------------------------------------------------------------------------------------


def shrink_recorded(
    source: Path,
    target: Path,
    level: Level = "equivalent",
    *,
    protocol: str | None = None,
    policy: str | None = None,
    seconds: float = inf,
    tell: Tell = _silent,
    stopped: Callable[[BaseException], object] = _silent,
) -> str:
    """Writes the shortest trace that was found, which has been judged, and returns the outcome in one line.

    A signal ends the search like the end of the time, and `stopped` is called with it. `NotRejected` where there is no
    cause to keep.
    """
    until = time.monotonic() + seconds
    try:
        trace = read_trace(source)
    except TraceError as error:
        raise UsageError(str(error)) from None
    report = validate_locally(source, setting_of(source, level, protocol, policy))
    if not report.rejections:
        raise NotRejected(f"{named(source)}: {report.verdict} at level {level}: there is no rejection to keep")
    cause = Cause.of(report.rejections[0])
    whole = recording_of(trace, cause.run)
    judge = _Judge(cause, frozenset((r.broker, r.rule) for r in report.rejections), level, protocol, policy)
    if not judge.shows(whole):
        what = f"{cause} cannot be shown without the other runs or the lines that cannot be read"
        raise NotRejected(f"{named(source)}: {what}")
    shrinker = Shrinker(whole, cause, judge.shows, until, tell)
    try:
        shrinker.shrink()
    except KeyboardInterrupt as interrupt:
        stopped(interrupt)
    small = shrinker.smallest
    write_result(target, small.text)
    before, after = whole.described(), small.described()
    what = f"already minimal, {after}" if small.text == whole.text else f"{before} -> {after}"
    return f"{cause}: {what}: {called(target)}"


@frozen
class _Judge:
    """Judges recordings as `validate` judges files. `known`: the brokers and rules that the whole trace breaks."""

    cause: Cause
    known: frozenset[tuple[str, str]]
    level: Level
    protocol: str | None
    policy: str | None

    def shows(self, recording: Recording) -> bool:
        """True if the same cause comes first, and nothing else is broken than before."""
        with temporary("a shorter trace") as path:
            path.write_text(recording.text, encoding="utf-8")
            try:
                report = validate_locally(path, setting_of(path, self.level, self.protocol, self.policy))
            except UsageError:  # what is left is no trace
                return False
        if not report.rejections or Cause.of(report.rejections[0]) != self.cause:
            return False
        return self.known.issuperset((r.broker, r.rule) for r in report.rejections)
