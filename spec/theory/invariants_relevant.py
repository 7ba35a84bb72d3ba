"""What of a step concerns a conjunct: the less Z3 is given, the surer it finds the proof.

A clause that says what a relation is after the step is relevant where that relation is spoken of, and then so is all
that the clause speaks of. What else is said of the step is relevant where all of it is spoken of anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3

from routeproof.spec.theory.invariants_steps import AFTER, CANDIDATES, COVERED

ORDERS = frozenset(["before", "lower"])
"""The orders of items and of ids count like relations after the step: few conjuncts speak of them, and much is said."""

CONCLUDES = {CANDIDATES: f"sent{AFTER}", COVERED: f"sent{AFTER}", "ready before or quiet": f"ready{AFTER}"}
"""What is said of a relation, though not by a definition: what is wanted is what is sent, for one."""

ALWAYS = frozenset(["it can happen"])


def relevant(clauses: Sequence[tuple[str, z3.BoolRef]], about: Iterable[z3.BoolRef]) -> list[z3.BoolRef]:
    """Those of the clauses, each with its name, that concern what the formulas are about."""
    spoken = set().union(*map(_after, about))
    rows = [
        (CONCLUDES.get(name) or _defines(each), set() if name in ALWAYS else _after(each)) for name, each in clauses
    ]
    chosen: set[int] = set()
    while True:
        more = [
            place
            for place, (defines, speaks) in enumerate(rows)
            if place not in chosen and (defines in spoken if defines else speaks <= spoken)
        ]
        if not more:
            return [each for place, (_, each) in enumerate(clauses) if place in chosen]
        chosen.update(more)
        spoken = spoken.union(*(rows[place][1] for place in more))


def concerning(world: Iterable[z3.BoolRef], said: Iterable[z3.BoolRef]) -> list[z3.BoolRef]:
    """What of the world speaks of nothing but what the rest speaks of."""
    spoken = set().union(*map(_names, said))
    return [each for each in world if _names(each) <= spoken]


def _after(formula: z3.ExprRef) -> set[str]:
    """The relations after the step that it speaks of, and the order of items."""
    return {name for name in _names(formula) if name.endswith(AFTER) or name in ORDERS}


_KNOWN: dict[tuple[int, int], tuple[z3.ExprRef, frozenset[str]]] = {}
"""By context and number of a formula, which is kept beside: as long as it is there, no other has that number."""


def _names(formula: z3.ExprRef) -> frozenset[str]:
    """The relations and functions that it speaks of. One formula is asked for in hundreds of obligations."""
    number = formula.ctx.ref().value, formula.get_id()
    if number not in _KNOWN:
        _KNOWN[number] = (formula, frozenset(_found(formula)))
    return _KNOWN[number][1]


def _found(formula: z3.ExprRef) -> set[str]:
    found: set[str] = set()
    seen: set[int] = set()
    waiting = [formula]
    while waiting:
        each = waiting.pop()
        if each.get_id() in seen:
            continue
        seen.add(each.get_id())
        if z3.is_quantifier(each):
            waiting.append(each.body())
        elif z3.is_app(each):
            if each.decl().kind() == z3.Z3_OP_UNINTERPRETED and (each.num_args() or z3.is_bool(each)):
                found.add(each.decl().name())
            waiting.extend(each.children())
    return found


def _defines(formula: z3.ExprRef) -> str:
    """The relation after the step that it says all about, if any: it is one side of an equivalence, on some
    condition.
    """
    body = formula
    while z3.is_quantifier(body):
        body = body.body()
    parts = body.children() if z3.is_or(body) else [body]
    for part in parts:
        if z3.is_eq(part) and z3.is_app(part.arg(0)) and part.arg(0).decl().name().endswith(AFTER):
            name: str = part.arg(0).decl().name()
            return name
    return ""
