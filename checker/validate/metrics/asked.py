"""`Measured`: a setting with which metrics are asked for too, and how far apart their samples are.

Samples are taken at the multiples of `every` by the trace's clock, from the first after the earliest event on, and once
more when everything is done: so does the simulator, whose clock begins at 0.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from attrs import fields, frozen

from routeproof.checker.errors import UsageError
from routeproof.checker.validate.setting import LONGEST, Setting
from routeproof.model.filters.wording import shown
from routeproof.traces import Event, Header, TraceError, open_trace

SECOND = 1_000_000_000
SHORTEST = 1_000
"""Nanoseconds between two samples, at least."""

MOST_ROWS = 1 << 22
"""A row is a broker at a moment: 60 brokers have so many in 19 hours."""

BEGINNING = 1_000
"""Lines that are looked at before all are read, to tell at once that a trace has no times."""

UNTIMED = 'metrics: an event of the trace has no "time", nor what it came of; write it, or leave out --metrics'


@frozen(kw_only=True)
class Measured(Setting):
    """`latency`: nanoseconds that a message is on a link. `target`: the directory that gets the files."""

    every: int
    latency: int
    target: Path

    @property
    def brokers(self) -> list[str]:
        """As the files call them, in the order of rows: b2 before b10."""
        return sorted(map(plain, self.names), key=lambda name: (len(name), name))

    @property
    def most_moments(self) -> int:
        return MOST_ROWS // max(1, len(self.names))


def measured(path: Path, setting: Setting, target: Path) -> Measured:
    """The same judgement of the same trace, and its metrics; `UsageError` where its header or its beginning says that
    there cannot be any."""
    try:
        with open_trace(path) as (header, lines):
            every, latency = _nanoseconds(header, "looks", SECOND, SHORTEST), _nanoseconds(header, "latency", 0, 0)
            for line in islice(lines, BEGINNING):
                if isinstance(line, Event) and line.event in ("receive", "client") and line.time is None:
                    raise UsageError(UNTIMED)
    except TraceError as error:
        raise UsageError(str(error)) from None
    same = {each.name: getattr(setting, each.name) for each in fields(Setting) if each.init}
    return Measured(**same, every=every, latency=latency, target=target)


def plain(name: str) -> str:
    """As a file can hold it: JSON has a way to write half a character, Parquet has none."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def too_many(every: int) -> UsageError:
    """Rows. The text is the same whichever part of a trace found it out."""
    return UsageError(
        f"metrics: a sample every {every} ns would be more than {MOST_ROWS:,} rows; "
        '"looks" in the header says how far apart samples are'
    )


def _nanoseconds(header: Header, key: str, default: int, least: int) -> int:
    value = header.more.get(key, default)
    if type(value) is not int or not least <= value <= LONGEST:
        raise UsageError(
            f'the header has "{key}": {shown(value)}; expected nanoseconds, at least {least} and at most {LONGEST}'
        )
    return value
