"""Names in the order in which people count: b2 before b10."""

from __future__ import annotations

import re

_NUMBER = re.compile("([0-9]+)")

Natural = tuple[tuple[str | int, ...], str]


def natural(name: str) -> Natural:
    """A key to sort by. Words and numbers alternate, so that two keys can always be compared."""
    parts = _NUMBER.split(name)
    return tuple(int(part) if at % 2 else part for at, part in enumerate(parts)), name
