"""Files that a command is asked to write: refused before any work starts, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from routeproof.checker.errors import UsageError
from routeproof.checker.terminal import say

STDOUT = "-"


def refuse_unwritable(target: str | Path | None) -> None:
    """Two minutes of searching are not to end in "no such directory"."""
    if target is None or str(target) == STDOUT:
        return
    path = Path(target)
    if path.is_dir():
        raise UsageError(f"{path}: is a directory; expected a file to write")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no directory {path.parent}; create it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{path}: may not be written")


def refuse_no_directory(target: Path | None) -> None:
    """A directory that is still to be made is fine; something else in its place is not."""
    if target is None:
        return
    there = next((p for p in (target, *target.parents) if p.exists()), None)
    if there is not None and not there.is_dir():
        raise UsageError(f"{there}: is no directory; expected one to write traces into")


def write_text(target: str | Path, text: str) -> None:
    """To a file, or to standard output for `-`."""
    if str(target) == STDOUT:
        say(text.removesuffix("\n"))
        return
    path = Path(target)
    if path.exists() and not path.is_file():  # a device or a pipe: there is nothing to replace
        path.write_text(text, encoding="utf-8")
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", errors="surrogateescape")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
