"""When one predicate covers or overlaps another: a formula over the constants, for any two forms.

These are the conditions that the theorems prove exact, and that the model's code is held to. Two rules come before the
tables: a predicate covers, and overlaps, `= b` exactly where it holds of b; and `!= a` covers what does not hold of a.
"""

from __future__ import annotations

from routeproof.spec.theory import number_conditions, string_conditions
from routeproof.spec.theory.logic import Truth, negation, same
from routeproof.spec.theory.predicates import PRESENT, Constant, Form, holds
from routeproof.spec.theory.values import Value, boolean, number, string
from routeproof.spec.theory.words import Words


def covers_when(words: Words, f: Form, a: Constant, g: Form, b: Constant) -> Truth:
    """When f, with a, covers g, with b; both exist."""
    if f == PRESENT:
        return True  # FLT-11
    if g == PRESENT or f.admits != g.admits:
        return False
    if g.operator == "=":
        return holds(words, f, a, value_of(g, b))
    pair = (f.operator, g.operator)
    match f.admits:
        case "boolean":
            return same(a, b) if f.operator == "!=" else negation(same(a, b))
        case "number" if pair in number_conditions.COVERS:
            return number_conditions.COVERS[pair](a, b)
        case "string" if pair in string_conditions.COVERS:
            return string_conditions.COVERS[pair](words, a, b)
    return False


def overlaps_when(words: Words, f: Form, a: Constant, g: Form, b: Constant) -> Truth:
    """When something meets both f, with a, and g, with b; both exist."""
    if PRESENT in (f, g):
        return True
    if f.admits != g.admits:
        return False
    if g.operator == "=":
        return holds(words, f, a, value_of(g, b))
    if f.operator == "=":
        return holds(words, g, b, value_of(f, a))
    pair, turned = (f.operator, g.operator), (g.operator, f.operator)
    match f.admits:
        case "boolean":
            return same(a, b)
        case "number" if pair in number_conditions.OVERLAPS:
            return number_conditions.OVERLAPS[pair](a, b)
        case "number" if turned in number_conditions.OVERLAPS:
            return number_conditions.OVERLAPS[turned](b, a)
        case "string" if pair in string_conditions.OVERLAPS:
            return string_conditions.OVERLAPS[pair](words, a, b)
        case "string" if turned in string_conditions.OVERLAPS:
            return string_conditions.OVERLAPS[turned](words, b, a)
    return True


def value_of(form: Form, constant: Constant) -> Value:
    """The one value of which `=` with that constant holds."""
    assert form.operator == "=", f"{form} may hold of many values"
    return {"number": number, "string": string, "boolean": boolean}[form.kind](constant)
