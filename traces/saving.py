"""Files that appear at once and whole, or not at all."""

from __future__ import annotations

import secrets
from pathlib import Path


def save(path: Path, text: str, *, replace: bool) -> bool:
    """Write a file so that nobody ever sees half of it; `False` where there is one already that may not be replaced."""
    temporary = beside(path)
    temporary.write_text(text, encoding="utf-8")
    try:
        return _put(temporary, path, replace)
    finally:
        temporary.unlink(missing_ok=True)


def beside(path: Path) -> Path:
    """A hidden name in the same folder that nobody else has."""
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
