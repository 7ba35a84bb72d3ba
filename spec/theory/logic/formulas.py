"""Formulas that are built once and used twice: over symbols by Z3, over constants as plain truth values.

Each connective folds what is known already. A condition over symbolic constants is therefore a formula to prove, and
the very same code over concrete constants is True or False.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import z3

Truth: TypeAlias = bool | z3.BoolRef
Amount: TypeAlias = int | Fraction | z3.ArithRef


def all_of(*parts: Truth) -> Truth:
    open_ = [part for part in parts if not isinstance(part, bool)]
    if any(part is False for part in parts):
        return False
    return z3.And(*open_) if len(open_) > 1 else open_[0] if open_ else True


def any_of(*parts: Truth) -> Truth:
    open_ = [part for part in parts if not isinstance(part, bool)]
    if any(part is True for part in parts):
        return True
    return z3.Or(*open_) if len(open_) > 1 else open_[0] if open_ else False


def negation(part: Truth) -> Truth:
    return not part if isinstance(part, bool) else z3.Not(part)


def implication(condition: Truth, then: Truth) -> Truth:
    return any_of(negation(condition), then)


def same(one: Truth, other: Truth) -> Truth:
    """Both or neither."""
    if isinstance(one, bool):
        return other if one else negation(other)
    return (one if other else negation(one)) if isinstance(other, bool) else one == other


def whole(number: Amount) -> Truth:
    return z3.IsInt(number) if isinstance(number, z3.ArithRef) else Fraction(number).denominator == 1


def formula(part: Truth) -> z3.BoolRef:
    return z3.BoolVal(part) if isinstance(part, bool) else part
