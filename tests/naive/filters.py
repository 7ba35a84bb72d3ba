"""Predicate filters as sets of sample events, by the text of `spec/filters.md`: covering is then inclusion.

Only the operators that shipped instances use. For each attribute, samples are taken so that whatever a conjunction of
their predicates can tell apart is told apart by two samples (FLT-13 allows going attribute by attribute):

- the attribute is missing (FLT-3), or is a boolean, which none of these operators admits but `present` (FLT-4, FLT-11);
- numbers (FLT-8): each constant, one number between neighbouring constants, one below and one above them all;
- strings (FLT-10; no operator here compares them): each constant, each constant followed by a character that no
  constant contains, and that character alone. A string that is no constant satisfies the same predicates as the
  longest constant that it begins with, followed by that character.
"""

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

MISSING = None
OTHER = "~"  # no constant contains it


def exact(value: Any) -> Any:
    """A number as the decimal that was written (FLT-2); a string or a boolean as it is."""
    return Fraction(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


def holds(operator: str, constant: Any, value: Any) -> bool:
    if value is MISSING or operator == "present":
        return value is not MISSING
    if type(value) is not type(constant):
        return False
    match operator:
        case "=":
            return bool(value == constant)
        case ">":
            return bool(value > constant)
        case ">=":
            return bool(value >= constant)
        case "prefix":
            return bool(value.startswith(constant))
    raise NotImplementedError(operator)


def samples(constants: list[Any]) -> list[Any]:
    numbers = sorted({c for c in constants if isinstance(c, Fraction)})
    words = sorted({c for c in constants if isinstance(c, str)})
    assert len(numbers) + len(words) == len(set(constants)), "a boolean constant"
    assert not any(OTHER in word for word in words)
    between = [(low + high) / 2 for low, high in pairwise(numbers)]
    outside = [numbers[0] - 1, numbers[-1] + 1] if numbers else [Fraction(0)]
    return [MISSING, True, *numbers, *between, *outside, *words, *(w + OTHER for w in words), OTHER]


def as_event_sets(
    filters: list[list[list[Any]]], events: list[dict[str, Any]]
) -> tuple[list[frozenset[int]], list[int]]:
    """Returns the samples that each filter matches, and the sample that each of the events is."""
    read = [[(p[0], p[1], exact(p[2]) if len(p) == 3 else None) for p in f] for f in filters]
    names = sorted({name for f in read for name, _, _ in f})
    constants = {n: [c for f in read for name, _, c in f if name == n and c is not None] for n in names}
    population: list[dict[str, Any]] = [
        dict(zip(names, values, strict=True)) for values in product(*(samples(constants[n]) for n in names))
    ]
    first = len(population)
    population += [{n: exact(event.get(n)) for n in names} for event in events]
    sets = [
        frozenset(i for i, event in enumerate(population) if all(holds(op, c, event[name]) for name, op, c in f))
        for f in read
    ]
    return sets, [first + i for i in range(len(events))]
