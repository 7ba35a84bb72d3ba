"""Where a trace leaves the model."""

from __future__ import annotations

from attrs import field, frozen

from routeproof.checker.validate.packing import storable


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
    line: int = field(default=0, order=False, eq=False)
    """The line at which it showed; 0 where only the whole trace shows it."""


def few(names: tuple[str, ...]) -> str:
    """Some of many, for a sentence."""
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
