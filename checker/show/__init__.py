"""Showing a trace to people: `show(path, format)`; the formats are the keys of `FORMATS`.

A counterexample is replayed first, so that what is shown is what happens, with the rules that fired and what changed.
Any other trace is shown as the events it has. To add a format, write a function from `Shown` to text and list it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from routeproof.checker.counterexample import is_counterexample
from routeproof.checker.errors import UsageError, unknown
from routeproof.checker.replay import replay_trace
from routeproof.checker.show.mermaid import mermaid
from routeproof.checker.show.shown import Shown
from routeproof.checker.show.text import text
from routeproof.traces import TraceError, read_trace

__all__ = ["FORMATS", "Shown", "show"]

FORMATS: dict[str, Callable[[Shown], str]] = {"text": text, "mermaid": mermaid}


def show(path: Path, format: str) -> str:  # noqa: A002 - the word of the command line
    """The trace in this file, ending in a line break."""
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    try:
        trace = read_trace(path)
    except TraceError as error:
        raise UsageError(str(error)) from None
    replayed = replay_trace(trace, str(path)) if is_counterexample(trace.header) else None
    return FORMATS[format](Shown(trace, replayed))
