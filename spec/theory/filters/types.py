"""Facts about any predicate, whatever its constant: types, missing attributes, the prose around the table.

The theorems about pairs say that the conditions fit the meaning. These say that the meaning fits the sentences of
`spec/filters.md`, each of which could be true of a table that is wrong.
"""

from __future__ import annotations

from itertools import product

import z3

from routeproof.spec.theory.filters.pairs import PairOfPredicates
from routeproof.spec.theory.filters.predicates import (
    BOOLEAN_FORMS,
    FORMS,
    INTEGER,
    NUMBER_FORMS,
    PRESENT,
    STRING_FORMS,
    Form,
)
from routeproof.spec.theory.filters.strings import FIRST
from routeproof.spec.theory.filters.values import Values
from routeproof.spec.theory.logic.formulas import Truth, all_of, any_of, formula, implication, negation, same, whole
from routeproof.spec.theory.logic.proof import DEFINITION, Obligation, Premise


def apart(values: Values) -> list[Obligation]:
    """FLT-3, FLT-4: nothing holds of a missing attribute, and what holds of one type holds of no other."""
    made = []
    for form in FORMS:
        s = PairOfPredicates(values, form, form)
        known = {"missing": s.v.missing, "boolean": s.v.boolean, "number": s.v.number, "string": s.v.string}
        allowed = any_of(*(truth for kind, truth in known.items() if kind in (form.admits or set(known) - {"missing"})))
        name = f"{form} is of {form.admits or 'anything but missing'}"
        made.append(_of(s, name, implication(s.f_of(s.v), allowed), {"it holds": s.f_of(s.v)}))
    for one, other in product(FORMS, repeat=2):
        if one.admits and other.admits and one.admits < other.admits:
            s = PairOfPredicates(values, one, other)
            goal = negation(all_of(s.f_of(s.v), s.g_of(s.v)))
            made.append(_of(s, f"{one} apart from {other}", goal, {"f holds": s.f_of(s.v), "g holds": s.g_of(s.v)}))
    return made


def read_as_written(values: Values) -> list[Obligation]:
    """The sentences of FLT-2, FLT-8 to FLT-11, but for those about the order of strings."""
    made = []
    for kind in (NUMBER_FORMS, STRING_FORMS, BOOLEAN_FORMS):
        equal, unequal = kind[0], kind[1]
        s = PairOfPredicates(values, equal, unequal)
        of_kind = {"number": s.v.number, "string": s.v.string, "boolean": s.v.boolean}[equal.kind]
        one_of_two = implication(_same_constants(s), implication(of_kind, negation(same(s.f_of(s.v), s.g_of(s.v)))))
        guards = {
            "= holds": all_of(_same_constants(s), s.f_of(s.v)),
            "!= holds": all_of(_same_constants(s), s.g_of(s.v)),
        }
        made.append(_of(s, f"of a {equal.kind}, = or != and not both", one_of_two, guards))
    s = PairOfPredicates(values, Form("<", "number"), Form(">", "number"))
    between = (s.a + s.b) / 2
    room = implication(s.a < s.b, all_of(s.a < between, between < s.b))
    made.append(_of(s, "numbers are dense", room, {"two numbers": s.a < s.b}))
    s = PairOfPredicates(values, INTEGER, INTEGER)
    is_whole = same(s.f_of(s.v), all_of(s.v.number, whole(s.v.amount)))
    half = {"2.5": all_of(s.v.number, s.v.amount == z3.RealVal("5/2"), negation(s.f_of(s.v)))}
    made.append(_of(s, "integer is of whole numbers", is_whole, {"it holds": s.f_of(s.v), **half}))
    for operator in ("prefix", "suffix", "contains"):
        form = Form(operator, "string")
        s = PairOfPredicates(values, form, form)
        empty = s.words.equal(s.a, s.words.word(""))
        goal = implication(all_of(empty, s.v.string), s.f_of(s.v))
        made.append(_of(s, f"{operator} of nothing is of every string", goal, {"nothing": all_of(empty, s.v.string)}))
        if operator != "contains":
            part = PairOfPredicates(values, form, Form("contains", "string"))
            both = implication(_same_constants(part), implication(part.f_of(part.v), part.g_of(part.v)))
            guards = {"it holds": all_of(_same_constants(part), part.f_of(part.v))}
            made.append(_of(part, f"a {operator} is contained", both, guards))
    for form in FORMS:
        s = PairOfPredicates(values, PRESENT, form)
        made.append(
            _of(s, f"present where {form} holds", implication(s.g_of(s.v), s.f_of(s.v)), {"it holds": s.g_of(s.v)})
        )
    return made


def order_of_strings(values: Values) -> list[Obligation]:
    """FLT-9: a total order in which a string comes before all that it begins and just before itself with U+0000."""
    s = PairOfPredicates(values, Form("<", "string"), Form(">", "string"))
    w, a, b, x = s.words, s.a, s.b, s.v.text
    x_before_a, b_before_x = w.before(x, a), w.before(b, x)
    after = w.joined(a, w.word(FIRST))
    proper = (w.proper(a), w.proper(b), w.proper(x))
    known = [Premise(each, (DEFINITION,)) for each in proper if not isinstance(each, bool)]
    rows: list[tuple[str, Truth, Truth]] = [
        ("no string before itself", True, negation(w.before(x, x))),
        ("of two, one is before or they are equal", True, any_of(w.before(x, a), w.before(a, x), w.equal(x, a))),
        ("not each before the other", x_before_a, negation(w.before(a, x))),
        ("before what is before", all_of(b_before_x, x_before_a), w.before(b, a)),
        ("nothing before the empty string", True, negation(w.before(x, w.word("")))),
        ("before all that it begins", all_of(w.begins(x, a), negation(w.equal(x, a))), w.before(a, x)),
        ("nothing between it and itself with U+0000", w.before(a, x), negation(w.before(x, after))),
        ("itself with U+0000 comes after", True, w.before(a, after)),
        ("what it begins is in one piece", all_of(w.begins(x, a), w.before(a, b), w.before(b, x)), w.begins(b, a)),
    ]
    return [
        Obligation(name, formula(implication(when, then)), known, {"the case": formula(when)}, s.shown(), s.smaller())
        for name, when, then in rows
    ]


def _of(s: PairOfPredicates, name: str, goal: Truth, guards: dict[str, Truth]) -> Obligation:
    possible = {key: formula(guard) for key, guard in guards.items()}
    return Obligation(name, formula(goal), s.given(), possible, s.shown(), s.smaller(), s.supposes)


def _same_constants(s: PairOfPredicates) -> Truth:
    match s.f.kind:
        case "string":
            return s.words.equal(s.a, s.b)
        case "boolean":
            return same(s.a, s.b)
    equal: Truth = s.a == s.b
    return equal
