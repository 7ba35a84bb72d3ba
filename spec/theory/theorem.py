"""What a theorem is: a sentence, what it takes for granted, and the obligations that make it one.

An obligation that is proved from assumptions nobody can meet says nothing. So each names its guards: formulas that must
be satisfiable together with what is given, or the theorem fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3
from attrs import Factory, frozen


@frozen
class Shown:
    """Something that a counterexample tells: what `write` makes of the values that its terms have."""

    terms: Sequence[z3.ExprRef]
    write: Callable[[Sequence[Any]], str]


@frozen
class Obligation:
    """One formula that must be valid: `goal`, given all of `given`."""

    name: str
    goal: z3.BoolRef
    given: Sequence[z3.BoolRef] = ()
    guards: Mapping[str, z3.BoolRef] = Factory(dict)
    """By what they say: each must be possible. What is given is, in any case."""
    shown: Mapping[str, Shown] = Factory(dict)
    smaller: Sequence[z3.BoolRef] = ()
    """What to ask of a counterexample beside, from the most wanted on: the first that there is one with."""


@frozen
class Theorem:
    """`bound` is empty where it is about everything; otherwise it says about what."""

    id: str
    rules: tuple[str, ...]
    about: str
    obligations: Callable[[], Sequence[Obligation]]
    hypotheses: tuple[str, ...] = ()
    bound: str = ""
    rests_on: tuple[str, ...] = ()
    """The theorems that prove what its own proof is given, by id: hypotheses that are no assumptions."""
