"""What validation answers: accepted, rejected or unknown, with all that this rests on."""

from __future__ import annotations

from typing import Literal

from attrs import Factory, field, frozen

from routeproof.checker.validate.rejection import Rejection
from routeproof.traces import BadLine

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
    """What could not be judged because the trace does not observe it."""
    trace: str = field(default="", eq=False)
    seconds: float = field(default=0.0, eq=False)

    @property
    def remarks(self) -> list[str]:
        """What a protocol has to say beside, for people."""
        return []

    @property
    def verdict(self) -> Verdict:
        """A line that could not be read, or something that was not observed, makes it unknown at best."""
        if self.rejections:
            return "rejected"
        return "unknown" if self.bad_lines or self.unjudged or not self.events else "accepted"
