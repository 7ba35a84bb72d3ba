"""The readings of the pruning protocol: what the papers leave open, each a parameter with a default.

`spec/pruning.md` has the table with the reasons. `PruningParameters.of(policy)` has the defaults of a policy.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

PRUNING = ("incremental", "selective")
"""The policies of the protocol."""

THRESHOLDS = {"incremental": (60, 90), "selective": (90,)}


@frozen
class PruningParameters:
    """See spec/pruning.md, Readings."""

    thresholds: tuple[int, ...]
    cuts: tuple[int, int] = (10, 5012)
    triggered: Literal["broker", "neighbour"] = "broker"
    inclusive: bool = True
    without_history: Literal["remove", "zero", "absent"] = "remove"
    counts: Literal["elsewhere", "all"] = "elsewhere"
    rows: Literal["updated", "arrived"] = "updated"
    window: int = 1000
    fewest: int = 1
    sends: Literal["all", "listed"] = "all"
    base: Literal["active", "lazy"] = "active"
    remembers: bool = True
    collects: bool = False
    newcomers: Literal["keep", "withdraw"] = "keep"
    overtakes: bool = False
    identity: Literal["issue", "id"] = "issue"

    @classmethod
    def of(cls, policy: str) -> PruningParameters:
        return cls(THRESHOLDS[policy])
