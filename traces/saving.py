"""Files that appear at once and whole, or not at all."""

from __future__ import annotations

import secrets
import stat
from pathlib import Path

from routeproof.traces.fields import TraceError
from routeproof.traces.source import named


def save(path: Path, text: str, *, replace: bool) -> bool:
    """Writes a file that appears whole or not at all; returns false where there is one that may not be replaced."""
    temporary = beside(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        return _put(temporary, path, replace)
    finally:
        temporary.unlink(missing_ok=True)


def beside(path: Path) -> Path:
    """A hidden name in the same folder that no other file has.

    `TraceError` if the path is a device or a pipe, whose place a file would take.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        mode = stat.S_IFREG  # there is none yet
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise TraceError(f"{named(path)}: is no regular file; a trace would take its place")
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")


def _put(temporary: Path, path: Path, replace: bool) -> bool:
    if not replace:
        try:
            path.hardlink_to(temporary)  # unlike a rename, this fails where the name is taken
            return True
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            if path.exists():
                return False
    temporary.replace(path)
    return True
