"""Pairs of predicates on strings of which Z3's theory of strings does not decide what is asked, at any length.

They all speak of the order: Z3 reasons badly about what lies between two strings; and some need, to show a difference,
a row of U+0000 as long as a constant, or are stated for short strings only. Of these pairs only the theorems on short
strings speak. Every pair that is not here is proved, or `StringsOverlap` and `StringsCover` are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from routeproof.spec.theory.predicates import Form

Question = Literal["covers", "overlaps"]

UNDECIDED: Mapping[Question, frozenset[tuple[str, str]]] = {
    "covers": frozenset(
        [("=", ">"), ("=", ">="), ("<", ">"), ("<=", ">"), ("<=", "<"), (">=", ">")]
        + [("<", "prefix"), ("<=", "prefix"), (">", "prefix")]
        + [(part, high) for part in ("prefix", "suffix", "contains") for high in (">", ">=")]
        + [(high, part) for high in (">", ">=") for part in ("suffix", "contains")]
    ),
    "overlaps": frozenset(
        [("!=", ">"), ("!=", ">="), ("<", ">"), (">", ">"), (">", ">=")]
        + [(order, "prefix") for order in ("<", "<=", ">", ">=")]
        + [(low, part) for low in ("<", "<=") for part in ("suffix", "contains")]
    ),
}
"""Of (f, g): f covers g; of two that may overlap, in the order of the operators in `predicates`."""


def decided(question: Question, pairs: Iterable[tuple[Form, Form]]) -> list[tuple[Form, Form]]:
    return [(f, g) for f, g in pairs if (f.operator, g.operator) not in UNDECIDED[question]]
