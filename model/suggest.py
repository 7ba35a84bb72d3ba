"""The nearest name to one that was mistyped, and names as messages show them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from routeproof.model.filters.wording import quoted

__all__ = ["did_you_mean", "quoted"]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean x?)`, or nothing where nothing is near. Case is a common slip, so it does not count."""
    by_folded = {name.casefold(): name for name in sorted(known, reverse=True)}
    near = get_close_matches(word[:64].casefold(), sorted(by_folded), n=1, cutoff=0.6)
    return f" (did you mean {by_folded[near[0]]}?)" if near else ""
