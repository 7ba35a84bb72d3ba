"""Critical distances: how far toward a publisher a withdrawn subscription still differs from what it covered.

A row is what one delivered publication said of its way; a threshold is a share in percent. Whole numbers throughout: a
share that is exactly the threshold must not depend on rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def critical_distance(distances: Sequence[int], threshold: int, inclusive: bool = True) -> int | None:
    """CRD-2: the least distance whose share reaches the threshold; None where no distance does."""
    if _reaches(share(distances, inf, inclusive), len(distances), threshold, inclusive):
        return next(mu for mu in range(max(distances) + 2) if _satisfies(distances, mu, threshold, inclusive))
    return None


def share(distances: Sequence[int], mu: float, inclusive: bool = True) -> int:
    """CRD-1: of so many rows the distance is at most mu (or less: CRD-3)."""
    return sum(d <= mu if inclusive else d < mu for d in distances)


def _satisfies(distances: Sequence[int], mu: int, threshold: int, inclusive: bool) -> bool:
    return _reaches(share(distances, mu, inclusive), len(distances), threshold, inclusive)


def _reaches(part: int, whole: int, threshold: int, inclusive: bool) -> bool:
    """CRD-3"""
    return part * 100 >= threshold * whole if inclusive else part * 100 > threshold * whole
