"""When one predicate on numbers covers or overlaps another, as a formula over their constants a and b."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from routeproof.spec.theory.logic import Amount, Truth, negation, whole

Condition = Callable[[Amount, Amount], Truth]

COVERS: Mapping[tuple[str, str], Condition] = {
    ("<", "<"): lambda a, b: b <= a,
    ("<", "<="): lambda a, b: b < a,
    ("<=", "<"): lambda a, b: b <= a,
    ("<=", "<="): lambda a, b: b <= a,
    (">", ">"): lambda a, b: b >= a,
    (">", ">="): lambda a, b: b > a,
    (">=", ">"): lambda a, b: b >= a,
    (">=", ">="): lambda a, b: b >= a,
    ("!=", "!="): lambda a, b: a == b,
    ("!=", "<"): lambda a, b: b <= a,
    ("!=", "<="): lambda a, b: b < a,
    ("!=", ">"): lambda a, b: b >= a,
    ("!=", ">="): lambda a, b: b > a,
    ("!=", "integer"): lambda a, b: negation(whole(a)),
    ("integer", "integer"): lambda a, b: True,
}
"""Of (f, g): f, with a, covers g, with b. Pairs that are not here never do, but where g is `=` (see `conditions`)."""

OVERLAPS: Mapping[tuple[str, str], Condition] = {
    ("<", ">"): lambda a, b: b < a,
    ("<", ">="): lambda a, b: b < a,
    ("<=", ">"): lambda a, b: b < a,
    ("<=", ">="): lambda a, b: b <= a,
}
"""Pairs that are here in neither order always do, but where one is `=` (see `conditions`)."""
