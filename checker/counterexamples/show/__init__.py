"""Showing a trace to people: `read(path)`, then `shown_as(shown, format)`; the formats are the keys of `FORMATS`.

A counterexample is replayed first: the steps shown are those that happen, with the rules that fired and what changed.
If it does not reproduce, the first line says so in every format. Any other trace is a recorded run, shown as its
events. To add a format, write a function from `Shown` to text and list it; it begins with `Shown.title`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from routeproof.checker.counterexamples.replay import is_counterexample, read_named, replay_trace
from routeproof.checker.counterexamples.show.mermaid import mermaid
from routeproof.checker.counterexamples.show.shown import Shown
from routeproof.checker.counterexamples.show.text import text
from routeproof.checker.system.errors import UsageError, unknown
from routeproof.traces import TraceError

__all__ = ["FORMATS", "Shown", "read", "refuse_unknown", "show", "shown_as"]

FORMATS: dict[str, Callable[[Shown], str]] = {"text": text, "mermaid": mermaid}


def show(path: Path, format: str) -> str:  # noqa: A002 - the word of the command line
    """The trace in this file, ending in a line break."""
    refuse_unknown(format)
    return shown_as(read(path), format)


def refuse_unknown(format: str) -> None:  # noqa: A002
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)


def read(path: Path) -> Shown:
    """The trace in a file, with its replay if it is a counterexample."""
    try:
        trace, where = read_named(path)
    except TraceError as error:
        raise UsageError(str(error)) from None
    return Shown(trace, replay_trace(trace, where) if is_counterexample(trace.header) else None)


def shown_as(shown: Shown, format: str) -> str:  # noqa: A002
    """The trace in one of the formats, ending in a line break."""
    return FORMATS[format](shown)
