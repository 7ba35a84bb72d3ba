"""The theorems about filters, and the proof of the dialect `events`.

In the dialect `events` a filter is a set of event numbers, kept as a mask; an event is a number. The masks have all the
bits that there can be, so `event_sets` is about every set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from routeproof.spec.theory.filters import attributes, pairs, types
from routeproof.spec.theory.filters.pairs import CHARACTERS, EXIST, decided, ordered, unordered
from routeproof.spec.theory.filters.predicates import BOOLEAN_FORMS, INTEGER, NUMBER_FORMS, PRESENT, STRING_FORMS
from routeproof.spec.theory.filters.strings import AllWords, ShortWords
from routeproof.spec.theory.filters.values import Values
from routeproof.spec.theory.logic.proof import Obligation, Premise, ShownValue, Theorem

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
ON_NUMBERS = (*NUMBER_FORMS, INTEGER, PRESENT)
ON_BOOLEANS = (*BOOLEAN_FORMS, PRESENT)
ON_STRINGS = (*STRING_FORMS, PRESENT)


OVERLAPPING_PAIRS = decided("overlaps", unordered(ON_STRINGS))
COVERING_PAIRS = decided("covers", ordered(ON_STRINGS))


def _all() -> Values:
    return Values.over(AllWords())


def _short() -> Values:
    return Values.over(SHORT)


FILTER_THEOREMS = (
    Theorem(
        "TypesApart",
        ("FLT-3", "FLT-4", "FLT-11"),
        "No predicate holds of a missing attribute, and none with a constant, nor integer, of two types.",
        lambda: types.apart(_all()),
        (EXIST, CHARACTERS),
    ),
    Theorem(
        "MeaningAsWritten",
        ("FLT-2", "FLT-8", "FLT-10", "FLT-11"),
        "!= is the rest of its type, numbers are dense, integer is of whole ones, prefix and suffix are contained.",
        lambda: types.read_as_written(_all()),
        (EXIST, CHARACTERS),
    ),
    Theorem(
        "StringOrder",
        ("FLT-9",),
        "Strings are in a total order; s comes before all that it begins, and just before s with U+0000.",
        lambda: types.order_of_strings(_short()),
        bound=SHORT.bound,
    ),
    Theorem(
        "NumbersOverlap",
        ("FLT-2", "FLT-8", "FLT-11"),
        "Two predicates on numbers have a value in common exactly where the condition on their constants holds.",
        lambda: pairs.overlapping(_all(), unordered(ON_NUMBERS)),
    ),
    Theorem(
        "NumbersCover",
        ("FLT-2", "FLT-8", "FLT-11"),
        "One predicate on numbers covers another exactly where the condition on their constants holds.",
        lambda: pairs.covering(_all(), ordered(ON_NUMBERS)),
    ),
    Theorem(
        "BooleansOverlap",
        ("FLT-11",),
        "Two predicates on booleans have a value in common exactly where the condition on their constants holds.",
        lambda: pairs.overlapping(_all(), unordered(ON_BOOLEANS)),
    ),
    Theorem(
        "BooleansCover",
        ("FLT-11",),
        "One predicate on booleans covers another exactly where the condition on their constants holds.",
        lambda: pairs.covering(_all(), ordered(ON_BOOLEANS)),
    ),
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
        attributes.covering,
        (EXIST,),
    ),
    Theorem(
        "AttributesOverlap",
        ("FLT-5", "FLT-7", "FLT-13"),
        "f and g overlap exactly where they share a value of every attribute.",
        attributes.overlapping,
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
