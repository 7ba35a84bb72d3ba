"""Where what a broker sent to a neighbour parts from what the model sends there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from routeproof.checker.validate.said import Said
from routeproof.checker.validate.setting import Level

Place = tuple[int, int]
"""An event's seq and line."""


@frozen
class Difference:
    """Between a step and the model's. `line`: that of what is there and should not be; 0 where something is missing."""

    seq: int
    line: int
    rule: str
    wanted: str
    seen: str


@frozen
class Parting:
    """Where what was sent to a neighbour and what the model sends there part. `at`: the event's seq and line, or None
    where one is missing; `early`: does an addition come after a withdrawal?"""

    at: Place | None
    missing: Said | None
    extra: Said | None
    early: bool = False


def part(level: Level, wanted: Sequence[Said], seen: Sequence[tuple[Said, Place]]) -> Parting | None:
    """None where nothing counts at this level."""
    if level == "exact":
        for i in range(max(len(wanted), len(seen))):
            missing = wanted[i] if i < len(wanted) else None
            extra, at = seen[i] if i < len(seen) else (None, None)
            if missing != extra:
                return Parting(at, missing, extra)
    left, withdrawn = Counter(wanted), False
    for said, at in seen:
        if not left[said] or (withdrawn and said.adds):
            return Parting(at, None, said, left[said] > 0)
        left[said] -= 1
        withdrawn = withdrawn or said.withdraws
    return next((Parting(None, said, None) for said in wanted if left[said] > 0), None)
