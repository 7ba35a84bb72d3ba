"""Results that could not be written: reported after the report, on standard error, and by the exit code.

A full disk or a directory that vanishes must not lose a verdict. So a command that fails to write a result notes it
here and goes on; `settled` then tells of each in one line and gives the exit code.
"""

from __future__ import annotations

from pathlib import Path

from routeproof.checker.system.terminal import complain

CODE = 2
"""The exit code of a command that succeeded or stayed undetermined, but could not write a result."""

_lines: list[str] = []


def note(target: str | Path, error: OSError | str) -> None:
    """Notes that a result is missing, and why."""
    why = error if isinstance(error, str) else error.strerror or str(error)
    line = f"{target}: cannot be written: {why}"
    if line not in _lines:
        _lines.append(line)


def code(verdict: int) -> int:
    """The exit code, given the verdict's. A failure that was found (1), and a signal (above 128), keep their own."""
    return CODE if _lines and verdict in (0, 3) else verdict


def settled(verdict: int) -> int:
    """Tells what was noted, and returns the exit code."""
    settled = code(verdict)
    for line in _lines:
        complain(line, settled)
    _lines.clear()
    return settled
