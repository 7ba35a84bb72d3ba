"""Tables of text: columns as wide as they need to be, within a width that every terminal has."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from routeproof.checker.terminal import paint

WIDTH = 100
GAP = "  "
LONGEST = 24
"""Of a cell, unless its column may take what is left."""


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
