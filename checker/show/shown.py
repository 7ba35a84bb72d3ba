"""What a format is given, and what every format does with strings that somebody else wrote."""

from __future__ import annotations

from attrs import frozen

from routeproof.checker.replay import Replay
from routeproof.traces import Trace


@frozen
class Shown:
    """A trace, and, if it is a counterexample, its replay."""

    trace: Trace
    replay: Replay | None = None


def clean(line: str) -> str:
    """The line without anything that a terminal would act on: control characters, escapes, changes of direction."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode("ascii") for c in line)


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
