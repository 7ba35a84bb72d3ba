"""Filters as formulas, and the theorems about them, with proofs over several attributes and of the dialect `events`.

Reading order: `strings` (of any length, and up to a bound), `predicates` (values, and what each predicate holds of),
`conditions` (when one covers or overlaps another, as a formula over the constants), and the proofs: `pairs`, listed
here with those about several attributes.

FLT-13: filters over any number of attributes are compared attribute by attribute. A filter is a set of values for each
name, here any relation between names and values at all; it is never empty (FLT-5), and every value is in it, the
missing one too, where the filter does not constrain the name. Events are maps from names to values. The proofs are
exact for events of finitely many attributes too: the event that shows a difference is missing every name but one that
neither filter constrains.

In the dialect `events` a filter is a set of event numbers, kept as a mask; an event is a number. The masks have all the
bits that there can be, so `event_sets` is about every set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import z3

from routeproof.spec.theory.filters import pairs
from routeproof.spec.theory.filters.pairs import CHARACTERS, EXIST, decided, ordered, unordered
from routeproof.spec.theory.filters.predicates import ON_BOOLEANS, ON_NUMBERS, ON_STRINGS, Form, Values
from routeproof.spec.theory.filters.strings import AllWords, ShortWords
from routeproof.spec.theory.proof import DEFINITION, Obligation, Premise, ShownValue, Theorem

# -- attribute by attribute --------------------------------------------------------------------------------------------

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


# -- the theorems ------------------------------------------------------------------------------------------------------


EVENTS = 4096
"""Event numbers are 0 to 4095."""
SETS = "no set is empty, and no event number is above 4095"


def event_sets(events: int = EVENTS) -> list[Obligation]:
    f, g, e = z3.BitVec("f", events), z3.BitVec("g", events), z3.BitVec("e", events)
    covers, overlaps = g & ~f == 0, g & f != 0
    in_f, in_g = _bit(f, e), _bit(g, e)
    given = [Premise(each, (SETS,)) for each in (f != 0, g != 0, z3.ULT(e, events))]
    shown = {name: ShownValue((each,), _members) for name, each in (("f", f), ("g", g))}
    shown["e"] = ShownValue((e,), lambda values: str(values[0]))
    places = [(z3.Extract(place, place, f) == 1, z3.Extract(place, place, g) == 1) for place in range(events)]
    difference = z3.Or(*(z3.And(there, z3.Not(here)) for here, there in places))
    common = z3.Or(*(z3.And(there, here) for here, there in places))
    return [
        Obligation(
            "covers, enough",
            z3.Implies(z3.And(covers, in_g), in_f),
            given,
            {"a member of g": z3.And(covers, in_g), "g is smaller": z3.And(covers, in_f, z3.Not(in_g))},
            shown,
        ),
        Obligation(
            "covers, needed", z3.Implies(z3.Not(covers), difference), given, {"it fails": z3.Not(covers)}, shown
        ),
        Obligation("overlaps, enough", z3.Implies(overlaps, common), given, {"it holds": overlaps}, shown),
        Obligation(
            "overlaps, needed",
            z3.Implies(z3.And(in_f, in_g), overlaps),
            given,
            {"a member of both": z3.And(in_f, in_g)},
            shown,
        ),
    ]


def _bit(mask: z3.BitVecRef, place: z3.BitVecRef) -> z3.BoolRef:
    return z3.LShR(mask, place) & 1 == 1


def _members(values: Sequence[Any]) -> str:
    return "{" + ",".join(str(place) for place in range(EVENTS) if values[0] >> place & 1) + "}"


SHORT = ShortWords(3)


OVERLAPPING_PAIRS = decided("overlaps", unordered(ON_STRINGS))
COVERING_PAIRS = decided("covers", ordered(ON_STRINGS))


def _all() -> Values:
    return Values.over(AllWords())


def _short() -> Values:
    return Values.over(SHORT)


def _decidable(kind: str, rules: tuple[str, ...], forms: Sequence[Form]) -> Iterator[Theorem]:
    """Theorems about a kind of values of which Z3 decides everything."""
    overlap = "have a value in common exactly where the condition on their constants holds"
    cover = "covers another exactly where the condition on their constants holds"
    on, both, each = kind.lower(), unordered(forms), ordered(forms)
    yield Theorem(
        f"{kind}Overlap", rules, f"Two predicates on {on} {overlap}.", lambda: pairs.overlapping(_all(), both)
    )
    yield Theorem(f"{kind}Cover", rules, f"One predicate on {on} {cover}.", lambda: pairs.covering(_all(), each))


FILTER_THEOREMS = (
    Theorem(
        "TypesApart",
        ("FLT-3", "FLT-4", "FLT-11"),
        "No predicate holds of a missing attribute, and none with a constant, nor integer, of two types.",
        lambda: pairs.apart(_all()),
        (EXIST, CHARACTERS),
    ),
    Theorem(
        "MeaningAsWritten",
        ("FLT-2", "FLT-8", "FLT-10", "FLT-11"),
        "!= is the rest of its type, numbers are dense, integer is of whole ones, prefix and suffix are contained.",
        lambda: pairs.read_as_written(_all()),
        (EXIST, CHARACTERS),
    ),
    Theorem(
        "StringOrder",
        ("FLT-9",),
        "Strings are in a total order; s comes before all that it begins, and just before s with U+0000.",
        lambda: pairs.order_of_strings(_short()),
        bound=SHORT.bound,
    ),
    *_decidable("Numbers", ("FLT-2", "FLT-8", "FLT-11"), ON_NUMBERS),
    *_decidable("Booleans", ("FLT-11",), ON_BOOLEANS),
    Theorem(
        "StringsOverlap",
        ("FLT-9", "FLT-10"),
        "Two predicates on strings of any length: the same, for the "
        f"{len(OVERLAPPING_PAIRS)} pairs of {len(unordered(ON_STRINGS))} that Z3 decides.",
        lambda: pairs.overlapping(_all(), OVERLAPPING_PAIRS),
        (EXIST, CHARACTERS),
    ),
    Theorem(
        "StringsCover",
        ("FLT-9", "FLT-10"),
        "One predicate covers another on strings of any length: the same, for the "
        f"{len(COVERING_PAIRS)} pairs of {len(ordered(ON_STRINGS))} that Z3 decides.",
        lambda: pairs.covering(_all(), COVERING_PAIRS),
        (EXIST, CHARACTERS),
    ),
    Theorem(
        "ShortStringsOverlap",
        ("FLT-9", "FLT-10"),
        "Every two predicates on strings, up to a length and over all code points: the same.",
        lambda: pairs.overlapping(_short(), unordered(ON_STRINGS)),
        (EXIST,),
        SHORT.bound,
    ),
    Theorem(
        "ShortStringsCover",
        ("FLT-9", "FLT-10"),
        "Every two predicates on strings, up to a length and over all code points: the same of covering.",
        lambda: pairs.covering(_short(), ordered(ON_STRINGS)),
        (EXIST,),
        SHORT.bound,
    ),
    Theorem(
        "AttributesCover",
        ("FLT-5", "FLT-7", "FLT-13"),
        "f covers g exactly where, for every attribute, g's values are among f's.",
        covering,
        (EXIST,),
    ),
    Theorem(
        "AttributesOverlap",
        ("FLT-5", "FLT-7", "FLT-13"),
        "f and g overlap exactly where they share a value of every attribute.",
        overlapping,
        (EXIST,),
    ),
    Theorem(
        "EventSets",
        ("COV-1",),
        "Sets of event numbers, as masks of 4096 bits: covers and overlaps are exact.",
        event_sets,
        (SETS,),
    ),
)
