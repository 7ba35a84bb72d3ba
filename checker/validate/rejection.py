"""Where a trace leaves the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from attrs import field, frozen

from routeproof.checker.validate.packing import storable

WHOLE = 0
"""Any line that could not be read may be what is missing, wherever it stands."""

ALWAYS = -1
"""No line could explain it: what was read is wrong by itself."""

LAST_SHOWN = -2
"""The last of the lines of `shown_by`, which are still to be found out."""


def _places(raw: Iterable[Iterable[str | int]]) -> tuple[tuple[str, int], ...]:
    return cast(tuple[tuple[str, int], ...], tuple(map(tuple, raw)))


@frozen(order=True)
class Rejection:
    """The order decides which of several is the first."""

    run: str
    broker: str
    seq: int
    rule: str
    wanted: str = field(converter=storable)
    seen: str = field(converter=storable)
    accepted: int = 0
    """How many events of this broker were accepted before it: the longest accepted prefix."""
    line: int = field(default=WHOLE, order=False, eq=False)
    """The line that completes what shows it: only one before it could explain it. Or one of the three above."""
    time: int = field(default=-1, order=False)
    """When the step began in which it is; -1 where nobody says."""
    shown_by: tuple[tuple[str, int], ...] = field(default=(), order=False, eq=False, converter=_places)
    """Events elsewhere that show it, by broker and seq: of a link, what was sent and what was received."""


def few(names: tuple[str, ...]) -> str:
    """Some of many, for a sentence."""
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
