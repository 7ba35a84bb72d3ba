"""Text from outside (arguments, file names, ids, contents of traces), made printable.

Every exit uses it: the terminal, annotations of GitHub, XML, and JSON, whose writer leaves half a character as it is.
"""

from __future__ import annotations

import json
import re

COLOURS = {"good": "32", "bad": "31", "doubt": "33", "faint": "2", "head": "1"}
"""The colours of reports, as terminals number them."""

PAINT = re.compile(rf"\x1b\[(?:0|{'|'.join(COLOURS.values())})m")
"""The only sequences that a report sends to a terminal to be acted on."""


def printable(text: str, keep: str = "") -> str:
    """The text with everything escaped that a terminal would act on, or that has no bytes in UTF-8.

    Control characters, escape sequences, line breaks, marks that change the direction of writing, lone surrogates
    (bytes of a file name that are no UTF-8). The characters in `keep` stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escaped(c) for c in text)


def lines(text: str) -> str:
    """A report of several lines, painted or not, with everything else in it made printable."""
    parts, painted = PAINT.split(text), PAINT.findall(text)
    shown = [printable(part, keep="\n") for part in parts]
    return "".join(a + b for a, b in zip(shown, [*painted, ""], strict=True))


_HALVES = re.compile(r"(\\\\|\\ud[89ab]..\\ud[c-f]..)|(\\ud[89a-f]..)")
"""In a JSON text: backslashes and pairs of surrogates, which are well, and lone surrogates, which readers refuse."""


def json_text(report: object) -> str:
    """The report as a JSON text of several lines; each lone surrogate is shown by its number, as `printable` does."""
    text = json.dumps(report, indent=2)
    return _HALVES.sub(lambda found: found[1] or f"\\{found[2]}", text) + "\n"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "replace").decode("ascii")


def count(number: int, one: str, many: str = "") -> str:
    """Returns a number with its noun: "1 step", "2,086 steps"; `many` is the plural where it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
