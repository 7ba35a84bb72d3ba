"""The nearest name to one that was mistyped, and names as messages show them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from routeproof.model.filters.interface import quoted

__all__ = ["did_you_mean", "quoted"]

PREFIX = 3
"""Length from which a word counts as the beginning of a name, in characters."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns ` (did you mean x?)`, or nothing if no name is near. A prefix is completed; case does not count."""
    by_folded = {name.casefold(): name for name in sorted(known, reverse=True)}
    begun = [name for name in by_folded if len(word) >= PREFIX and name.startswith(word.casefold())]
    if begun:
        return f" (did you mean {by_folded[min(begun, key=lambda name: (len(name), name))]}?)"
    near = get_close_matches(word[:64].casefold(), sorted(by_folded), n=1, cutoff=0.6)
    return f" (did you mean {by_folded[near[0]]}?)" if near else ""
