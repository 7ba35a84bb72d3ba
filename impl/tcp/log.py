"""Log lines: one a matter, short, and nothing in it that a terminal would act on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

Log: TypeAlias = Callable[[str], None]

LONGEST = 240


def one_line(text: str) -> str:
    """Whatever it holds: what is not printable, or not ASCII, is written as an escape."""
    plain = "".join(c if c.isascii() and c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return plain if len(plain) <= LONGEST else plain[:LONGEST] + "..."


def to_stderr(name: str) -> Log:
    """In one write: brokers share a file, and lines must not mix."""

    def log(text: str) -> None:
        sys.stderr.write(f"{name}: {one_line(text)}\n")
        sys.stderr.flush()

    return log
