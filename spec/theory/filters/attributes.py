"""FLT-13: filters over any number of attributes are compared attribute by attribute.

A filter is a set of values for each name, here any relation between names and values at all; it is never empty
(FLT-5), and every value is in it, the missing one too, where the filter does not constrain the name. Events are maps
from names to values. What is shown of them is exact for events of finitely many attributes too: the event that shows a
difference is missing every name but one that neither filter constrains.
"""

from __future__ import annotations

import z3

from routeproof.spec.theory.filters.pairs import EXIST
from routeproof.spec.theory.logic.proof import DEFINITION, Obligation, Premise

NAME, VALUE = z3.DeclareSort("Name"), z3.DeclareSort("AnyValue")
EVENT = z3.ArraySort(NAME, VALUE)
ABSENT = z3.Const("missing", VALUE)


class _Filter:
    """`admits(name, value)`, and `chosen[name]`: one of the values, missing where there is no constraint."""

    def __init__(self, letter: str) -> None:
        self.admits = z3.Function(f"{letter}_admits", NAME, VALUE, z3.BoolSort())
        self.constrains = z3.Function(f"{letter}_constrains", NAME, z3.BoolSort())
        self.chosen = z3.Const(f"{letter}_chosen", EVENT)
        n, v = z3.Const("n", NAME), z3.Const("v", VALUE)
        self.given = (
            Premise(z3.ForAll([n], self.admits(n, self.chosen[n])), (EXIST,)),
            Premise(z3.ForAll([n, v], z3.Implies(z3.Not(self.constrains(n)), self.admits(n, v))), (DEFINITION,)),
            Premise(z3.ForAll([n], z3.Implies(z3.Not(self.constrains(n)), self.chosen[n] == ABSENT)), (DEFINITION,)),
        )

    def matches(self, event: z3.ArrayRef) -> z3.BoolRef:
        n = z3.Const("n", NAME)
        return z3.ForAll([n], self.admits(n, event[n]))


def covering() -> list[Obligation]:
    f, g = _Filter("f"), _Filter("g")
    n, v, e = z3.Const("n", NAME), z3.Const("v", VALUE), z3.Const("e", EVENT)
    name, value = z3.Const("name", NAME), z3.Const("value", VALUE)
    included = z3.ForAll([n, v], z3.Implies(g.admits(n, v), f.admits(n, v)))
    difference = z3.And(g.admits(name, value), z3.Not(f.admits(name, value)))
    shows = z3.Store(g.chosen, name, value)
    nowhere = z3.And(z3.Not(f.constrains(n)), z3.Not(g.constrains(n)))
    given = (*f.given, *g.given)
    return [
        Obligation(
            "included everywhere, enough",
            z3.Implies(z3.And(included, g.matches(e)), f.matches(e)),
            given,
            {"f excludes something": z3.And(included, g.matches(e), z3.Not(f.admits(name, value)))},
        ),
        Obligation(
            "included everywhere, needed",
            z3.Implies(difference, z3.And(g.matches(shows), z3.Not(f.matches(shows)))),
            given,
            {"a difference": difference},
        ),
        Obligation(
            "an event of finitely many attributes shows it",
            z3.Implies(difference, z3.ForAll([n], z3.Implies(z3.And(nowhere, n != name), shows[n] == ABSENT))),
            given,
            {"a difference": difference},
        ),
        Obligation(
            "where f constrains nothing there is no difference",
            z3.Implies(difference, f.constrains(name)),
            given,
            {"a difference": difference},
        ),
    ]


def overlapping() -> list[Obligation]:
    f, g = _Filter("f"), _Filter("g")
    n, e, name = z3.Const("n", NAME), z3.Const("e", EVENT), z3.Const("name", NAME)
    common, v = z3.Const("common", EVENT), z3.Const("v", VALUE)
    nowhere = z3.And(z3.Not(f.constrains(n)), z3.Not(g.constrains(n)))
    shares = z3.ForAll([n], z3.And(f.admits(n, common[n]), g.admits(n, common[n])))
    nothing = z3.ForAll([v], z3.Not(z3.And(f.admits(name, v), g.admits(name, v))))
    given = (*f.given, *g.given)
    alone = z3.And(f.constrains(name), z3.Not(g.constrains(name)))
    return [
        Obligation(
            "something in common everywhere, enough",
            z3.Implies(shares, z3.And(f.matches(common), g.matches(common))),
            given,
            {"something in common": shares},
        ),
        Obligation(
            "something in common everywhere, needed",
            z3.Implies(nothing, z3.Not(z3.And(f.matches(e), g.matches(e)))),
            given,
            {"nothing in common": z3.And(nothing, f.matches(e))},
        ),
        Obligation(
            "what one of them constrains alone is in common",
            z3.Implies(alone, z3.And(f.admits(name, f.chosen[name]), g.admits(name, f.chosen[name]))),
            given,
            {"constrained alone": alone},
        ),
        Obligation(
            "an event of finitely many attributes shows it",
            z3.Implies(z3.And(shares, nowhere), z3.And(f.admits(n, ABSENT), g.admits(n, ABSENT))),
            given,
            {"something in common": z3.And(shares, nowhere)},
        ),
    ]
