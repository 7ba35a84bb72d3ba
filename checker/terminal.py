"""What reaches a person: text on standard output, colour and a progress line where there is a terminal.

`say` prints, and takes a reader who has gone (`| head`) as no reason to fail: the exit code still carries the verdict.
`ProgressLine` is silent unless standard error is a terminal.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import Protocol, TextIO

from attrs import define, field

COLOURS = {"good": "32", "bad": "31", "doubt": "33", "faint": "2", "head": "1"}
REDRAW_SECONDS = 0.1


class Searching(Protocol):
    """How far a search has come."""

    @property
    def states(self) -> int: ...
    @property
    def frontier(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def seconds(self) -> float: ...


def say(text: str = "", file: TextIO | None = None) -> None:
    """Print a line or several."""
    try:
        print(text, file=file)
    except BrokenPipeError:
        silence_stdout()


def silence_stdout() -> None:
    """Nobody reads any more: what is still to come goes nowhere, and Python finds nothing to complain of at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def paint(text: str, colour: str) -> str:
    """`text` in a colour, where standard output is a terminal that wants it (https://no-color.org)."""
    wanted = sys.stdout is not None and sys.stdout.isatty()
    if not wanted or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or colour not in COLOURS:
        return text
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


@define
class ProgressLine:
    """One line on standard error, drawn over and over; `clear` takes it away."""

    total: int
    done: int = 0
    _shown: int = 0
    _last: float = field(default=-1.0)

    @property
    def wanted(self) -> bool:
        return sys.stderr is not None and sys.stderr.isatty()

    def draw(self, what: str, progress: Searching) -> None:
        """At most ten times a second."""
        now = time.monotonic()
        if not self.wanted or now - self._last < REDRAW_SECONDS:
            return
        self._last = now
        rate = progress.states / progress.seconds if progress.seconds else 0.0
        self._write(
            f"[{self.done}/{self.total}] {what}: {progress.states:,} states, frontier {progress.frontier:,},"
            f" depth {progress.depth}, {rate:,.0f}/s, {progress.seconds:.1f} s"
        )

    def clear(self) -> None:
        if self._shown:
            self._write("")
            print("\r", end="", file=sys.stderr, flush=True)

    def _write(self, text: str) -> None:
        # Blanks instead of an escape sequence for "erase": every terminal knows blanks.
        text = text[: shutil.get_terminal_size().columns - 1]
        print(f"\r{text.ljust(self._shown)}", end="", file=sys.stderr, flush=True)
        self._shown = len(text)
