"""Evaluation of a formula for Z3 in a small world: the formula about all sizes is tried word for word.

Quantifiers are spelled out over the elements that there are. Over a world of which all is known the answer is True or
False; over any world of a size it is a formula over its truth values, as in `ground`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeAlias

import z3

from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.readings import Logic, Term

Bound: TypeAlias = tuple[Term, ...]
Said: TypeAlias = Callable[["Interpretation", Bound], Any]
"""A truth or a term, in a world, of the elements that the quantifiers around it are about."""


class Interpretation(Protocol):
    """Interpretation of the symbols of a formula."""

    @property
    def logic(self) -> Logic: ...

    def meaning(self, symbol: str) -> Callable[..., Any]:
        """Meaning of a relation or a function; a constant is a function without arguments."""


_READ: dict[tuple[int, int], tuple[z3.ExprRef, Said]] = {}
"""By context and number of a formula, which is kept as well: as long as it is there, no other has that number."""


def read(formula: z3.BoolRef, world: Interpretation) -> Truth:
    key = formula.ctx.ref().value, formula.get_id()
    if key not in _READ:
        _READ[key] = (formula, _said(formula))
    truth: Truth = _READ[key][1](world, ())
    return truth


def _said(e: z3.ExprRef) -> Said:
    if z3.is_var(e):
        back = -1 - z3.get_var_index(e)  # the innermost is 0
        return lambda world, bound: bound[back]
    if z3.is_quantifier(e):
        return _quantified(e)
    kind, parts = e.decl().kind(), [_said(part) for part in e.children()]
    match kind:
        case z3.Z3_OP_TRUE | z3.Z3_OP_FALSE:
            answer = kind == z3.Z3_OP_TRUE
            return lambda world, bound: answer
        case z3.Z3_OP_AND:
            return lambda world, bound: world.logic.all_of(*(partial(part, world, bound) for part in parts))
        case z3.Z3_OP_OR:
            return lambda world, bound: world.logic.any_of(*(partial(part, world, bound) for part in parts))
        case z3.Z3_OP_NOT:
            return lambda world, bound: world.logic.no(parts[0](world, bound))
        case z3.Z3_OP_EQ:
            one, other = parts
            if z3.is_bool(e.arg(0)):
                return lambda world, bound: world.logic.iff(one(world, bound), other(world, bound))
            return lambda world, bound: world.logic.equal(one(world, bound), other(world, bound))
        case z3.Z3_OP_UNINTERPRETED:
            name = e.decl().name()
            return lambda world, bound: world.meaning(name)(*(part(world, bound) for part in parts))
    raise ValueError(f"this is not to be read in a small world: {e.decl().name()}")


def _quantified(e: z3.QuantifierRef) -> Said:
    sorts, body, every = [e.var_sort(place).name() for place in range(e.num_vars())], _said(e.body()), e.is_forall()

    def said(world: Interpretation, bound: Bound) -> Truth:
        of = world.logic.every if every else world.logic.some
        return of(sorts, lambda *terms: body(world, (*bound, *terms)))

    return said
