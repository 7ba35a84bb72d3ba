"""The theorems, in the order in which they are reported: about filters, then about routing."""

from __future__ import annotations

from routeproof.spec.theory import attributes, pairs, types
from routeproof.spec.theory.event_sets import event_sets
from routeproof.spec.theory.invariants_theorems import ROUTING_THEOREMS
from routeproof.spec.theory.pairs import ordered, unordered
from routeproof.spec.theory.predicates import BOOLEAN_FORMS, INTEGER, NUMBER_FORMS, PRESENT, STRING_FORMS
from routeproof.spec.theory.propagation_theorems import PROPAGATION_THEOREMS
from routeproof.spec.theory.pruning_theorems import PRUNING_THEOREMS
from routeproof.spec.theory.short_words import ShortWords
from routeproof.spec.theory.theorem import Theorem
from routeproof.spec.theory.undecided import decided
from routeproof.spec.theory.values import Values
from routeproof.spec.theory.words import AllWords

SHORT = ShortWords(3)
ON_NUMBERS = (*NUMBER_FORMS, INTEGER, PRESENT)
ON_BOOLEANS = (*BOOLEAN_FORMS, PRESENT)
ON_STRINGS = (*STRING_FORMS, PRESENT)

EXIST = "both filters match something (FLT-5: others are refused)"
CHARACTERS = "a string has at most 196,608 different characters, as many as Z3 knows (docs/proofs.md)"


OVERLAPPING_PAIRS = decided("overlaps", unordered(ON_STRINGS))
COVERING_PAIRS = decided("covers", ordered(ON_STRINGS))


def _all() -> Values:
    return Values.over(AllWords())


def _short() -> Values:
    return Values.over(SHORT)


_ROWS = (
    Theorem(
        "TypesApart",
        ("FLT-3", "FLT-4", "FLT-11"),
        "No predicate holds of a missing attribute, and none with a constant, nor integer, of two types.",
        lambda: types.apart(_all()),
        (CHARACTERS,),
    ),
    Theorem(
        "MeaningAsWritten",
        ("FLT-2", "FLT-8", "FLT-10", "FLT-11"),
        "!= is the rest of its type, numbers are dense, integer is of whole ones, prefix and suffix are contained.",
        lambda: types.read_as_written(_all()),
        (CHARACTERS,),
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
        (EXIST,),
    ),
    Theorem(
        "NumbersCover",
        ("FLT-2", "FLT-8", "FLT-11"),
        "One predicate on numbers covers another exactly where the condition on their constants holds.",
        lambda: pairs.covering(_all(), ordered(ON_NUMBERS)),
        (EXIST,),
    ),
    Theorem(
        "BooleansOverlap",
        ("FLT-11",),
        "Two predicates on booleans have a value in common exactly where the condition on their constants holds.",
        lambda: pairs.overlapping(_all(), unordered(ON_BOOLEANS)),
        (EXIST,),
    ),
    Theorem(
        "BooleansCover",
        ("FLT-11",),
        "One predicate on booleans covers another exactly where the condition on their constants holds.",
        lambda: pairs.covering(_all(), ordered(ON_BOOLEANS)),
        (EXIST,),
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
        ("no set is empty, and no event number is above 4095",),
    ),
)

THEOREMS: dict[str, Theorem] = {
    theorem.id: theorem for theorem in (*_ROWS, *ROUTING_THEOREMS, *PROPAGATION_THEOREMS, *PRUNING_THEOREMS)
}
