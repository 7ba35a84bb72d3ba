"""Finiteness, which the first order cannot say, as a schema: used of one property and one order at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.readings import Logic, Sort, Term

Property: TypeAlias = Callable[[Term], Truth]
Order: TypeAlias = Callable[[Term, Term], Truth]


def topmost(logic: Logic, sort: Sort, holds: Property, above: Order) -> Truth:
    """If it holds of some element, it holds of one of which it holds of none above.

    True of finitely many elements where `above` is a strict order, which is for its users to say.
    """

    def is_topmost(x: Term) -> Truth:
        return logic.every((sort,), lambda y: logic.implies(above(y, x), lambda: logic.no(holds(y))))

    found = logic.some((sort,), lambda x: logic.all_of(holds(x), lambda: is_topmost(x)))
    return logic.implies(logic.some((sort,), holds), lambda: found)


def topmost_from(logic: Logic, sort: Sort, x: Term, among: Property, above: Order) -> Truth:
    """Of x and what is above it, as far as it is among these, one has none of them above it, if there is any."""

    def in_question(y: Term) -> Truth:
        return logic.all_of(among(y), lambda: logic.any_of(logic.equal(y, x), lambda: above(y, x)))

    return topmost(logic, sort, in_question, above)


def is_strict_order(logic: Logic, sort: Sort, above: Order) -> Truth:
    return logic.every(
        (sort, sort, sort),
        lambda x, y, z: logic.all_of(
            logic.no(above(x, x)), lambda: logic.implies(logic.all_of(above(x, y), above(y, z)), lambda: above(x, z))
        ),
    )
