"""What a user can get wrong, in one line each.

`UsageError` is the only exception that the command line turns into exit code 2 besides those of the vocabulary
(`InstanceError`, `FilterError`, `OverlayError`) and of the operating system. Its message is complete: what is wrong,
where, what was expected, what to do next. It never holds a line break.
"""

from __future__ import annotations

from collections.abc import Iterable

from routeproof.model.reading import LISTED
from routeproof.model.suggest import did_you_mean, quoted


class UsageError(ValueError):
    """The question cannot be read or cannot be asked; the message says why in one line."""


class Undetermined(Exception):
    """The question was understood and could not be answered: out of memory, or a worker that died. Exit code 3."""


def unknown(kind: str, word: str, known: Iterable[str]) -> UsageError:
    """A name that does not exist, with the nearest that does, or where to see all of them."""
    names = sorted(known)
    near = did_you_mean(word, names)
    listing = f"there are: {', '.join(names)}" if len(names) <= LISTED else f"see: routeproof list {plural(kind)}"
    return UsageError(f"no {kind} is called {quoted(word)}{near or '; ' + listing}")


def plural(kind: str) -> str:
    return kind[:-1] + "ies" if kind.endswith("y") else kind + "s"
