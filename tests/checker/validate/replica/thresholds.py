"""The replica with every threshold so low that few filters are enough to get beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from routeproof.checker.validate.fast import bits, buckets, universe

SIZES = ("as they are", "low")


@contextmanager
def thresholds(size: str) -> Iterator[None]:
    """`low`: columns, masks, forgetting, and numbers given again, in universes of a dozen."""
    if size == "as they are":
        yield
        return
    with (
        patch.object(bits, "FEW", 1),
        patch.object(buckets, "FEW", 2),
        patch.object(bits, "LOOPED", 3),
        patch.object(universe, "RECENT", 3),
        patch.object(universe, "FEWEST", 4),
    ):
        yield
