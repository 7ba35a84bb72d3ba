"""Output for people: printable text on standard output, colour and a progress line where there is a terminal.

`say` prints, and a reader who has gone (`| head`) is no reason to fail: the exit code still carries the verdict.
`complain` is the one line on standard error. Neither lets anything through that a terminal would act on: text from
outside (arguments, file names, ids, contents of traces) is made `printable`, here and for annotations, XML and JSON.
`StatusLine`, `ProgressLine` and `Ticker` are silent unless standard error is a terminal.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TextIO, TypeVar

from attrs import define, field, frozen

T = TypeVar("T")

REDRAW_SECONDS = 0.1
TICK_SECONDS = 0.5

COLOURS = {"good": "32", "bad": "31", "doubt": "33", "faint": "2", "head": "1"}
"""The colours of reports, as terminals number them."""

PAINT = re.compile(rf"\x1b\[(?:0|{'|'.join(COLOURS.values())})m")
"""The only sequences that a report sends to a terminal to be acted on."""

_HALVES = re.compile(r"(\\\\|\\ud[89ab]..\\ud[c-f]..)|(\\ud[89a-f]..)")
"""In a JSON text: backslashes and pairs of surrogates, which are well, and lone surrogates, which readers refuse."""


def printable(text: str, keep: str = "") -> str:
    """The text with everything escaped that a terminal would act on, or that has no bytes in UTF-8.

    Control characters, escape sequences, line breaks, marks that change the direction of writing, lone surrogates
    (bytes of a file name that are no UTF-8). The characters in `keep` stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape", "replace").decode("ascii") for c in text
    )


def lines(text: str) -> str:
    """A report of several lines, painted or not, with everything else in it made printable."""
    parts, painted = PAINT.split(text), PAINT.findall(text)
    shown = [printable(part, keep="\n") for part in parts]
    return "".join(a + b for a, b in zip(shown, [*painted, ""], strict=True))


def json_text(report: object) -> str:
    """The report as a JSON text of several lines; each lone surrogate is shown by its number, as `printable` does."""
    text = json.dumps(report, indent=2)
    return _HALVES.sub(lambda found: found[1] or f"\\{found[2]}", text) + "\n"


def count(number: int, one: str, many: str = "") -> str:
    """Returns a number with its noun: "1 step", "2,086 steps"; `many` is the plural where it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@frozen
class Progress:
    """How far a search has come."""

    states: int
    frontier: int
    depth: int
    seconds: float


def say(text: str = "", file: TextIO | None = None) -> None:
    try:
        print(lines(text), file=file, flush=True)
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:
        from routeproof.checker.system.files import note_unwritten

        silence_stdout()
        note_unwritten("standard output", error)


def complain(text: str, code: int) -> int:
    """Prints one line on standard error, whatever the text holds, and returns the exit code that goes with it."""
    with suppress(OSError, ValueError):  # standard error is closed or full: the exit code is left
        print(f"routeproof: {printable(' '.join(text.split()))}", file=sys.stderr, flush=True)
    return code


def silence_stdout() -> None:
    """Standard output has no reader, or no room: the rest goes nowhere, and Python does not complain of it at exit."""
    if sys.stdout is not None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def paint(text: str, colour: str) -> str:
    """`text` in a colour, where standard output is a terminal that wants it (https://no-color.org)."""
    wanted = sys.stdout is not None and sys.stdout.isatty()
    if not wanted or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or colour not in COLOURS:
        return text
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


@define
class StatusLine:
    """One line on standard error, drawn over and over where that is a terminal; `clear` takes it away."""

    _shown: int = field(default=0, init=False)
    _last: float = field(default=-1.0, init=False)

    @property
    def wanted(self) -> bool:
        return sys.stderr is not None and sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Draws the line with this text, at most ten times a second."""
        now = time.monotonic()
        if self.wanted and now - self._last >= REDRAW_SECONDS:
            self._last = now
            self._write(text)

    def clear(self) -> None:
        if self._shown:
            self._write("")
            print("\r", end="", file=sys.stderr, flush=True)

    def _write(self, text: str) -> None:
        # Blanks instead of an escape sequence for "erase": every terminal knows blanks.
        text = printable(text)[: shutil.get_terminal_size().columns - 1]
        print(f"\r{text.ljust(self._shown)}", end="", file=sys.stderr, flush=True)
        self._shown = len(text)


@define
class ProgressLine(StatusLine):
    total: int
    done: int = field(default=0, kw_only=True)

    def draw(self, what: str, progress: Progress) -> None:
        """Draws how far the search called `what` has come."""
        if self.wanted:
            rate = progress.states / progress.seconds if progress.seconds else 0.0
            self.show(
                f"[{self.done}/{self.total}] {what}: {count(progress.states, 'state')}, frontier {progress.frontier:,},"
                f" depth {progress.depth}, {rate:,.0f}/s, {progress.seconds:.1f} s"
            )


class Ticker:
    """A status line that goes on by itself while a command works: what it does now, and for how long already.

        with Ticker() as ticker:
            ticker.doing = "bench explore"

    It is hidden while `say` of the ticker prints.
    """

    def __init__(self) -> None:
        self.doing = ""
        self._line = StatusLine()
        self._began = time.monotonic()
        self._over = threading.Event()
        self._drawing = threading.Lock()
        self._thread = threading.Thread(target=self._tick, daemon=True) if self._line.wanted else None

    def __enter__(self) -> Ticker:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._line.clear()

    def say(self, text: str) -> None:
        with self._drawing:
            self._line.clear()
            say(text)

    def each(self, names: Sequence[str], results: Iterable[T]) -> Iterator[T]:
        """Yields the results, and shows the name of the one that is awaited."""
        awaited = enumerate((*names[1:], ""), 2)
        self.doing = f"[1/{len(names)}] {names[0]}"
        for result, (number, name) in zip(results, awaited, strict=True):
            yield result
            if name:
                self.doing = f"[{number}/{len(names)}] {name}"

    def _tick(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            with self._drawing, suppress(OSError, ValueError):
                self._line.show(f"{self.doing}: {time.monotonic() - self._began:.0f} s")


# -- tables ------------------------------------------------------------------------------------------------------------

WIDTH = 100
GAP = "  "
LONGEST = 24
"""Width of the longest cell, in characters, unless its column may take the remaining room."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: str, colours: Sequence[str] = ()) -> list[str]:
    """`right` has one letter a column: l(eft), r(ight), or w(ide) for the one that takes what room there is.

    `colours` has one a row, for its wide cell.
    """
    shorten = [None if side == "w" else LONGEST for side in right]
    cells = [[_cut(c, most) for c, most in zip(row, shorten, strict=True)] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    if "w" in right:
        wide = right.index("w")
        room = WIDTH - sum(widths) - len(GAP) * (len(head) - 1) + widths[wide]
        widths[wide] = max(min(widths[wide], room), len(head[wide]))
    painted = ["head", *(colours or [""] * len(rows))]
    lines = []
    for number, (row, colour) in enumerate(zip(cells, painted, strict=True)):
        parts = []
        for cell, width, side in zip(row, widths, right, strict=True):
            text = cell.rjust(width) if side == "r" else _cut(cell, width).ljust(width)
            parts.append(paint(text, colour) if number == 0 or side == "w" else text)
        lines.append(GAP.join(parts).rstrip())
    return lines


def _cut(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else text[: most - 2] + ".."


def wrapped(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of words, and a last one of prose, wrapped below itself."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = []
    for *words, prose in rows:
        start = "".join(word.ljust(width) + GAP for word, width in zip(words, widths, strict=True))
        lines += textwrap.wrap(f"{start}{prose}", WIDTH, subsequent_indent=" " * len(start), drop_whitespace=True)
    return lines
