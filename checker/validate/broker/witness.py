"""Witnesses: a publication that some filters match and others do not, to show why a message was needed.

`witness` tries values at and between the constants of the filters, attribute by attribute. What it finds is right,
since it asks the filters; that it finds nothing proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise, product
from math import floor

from routeproof.model.filters import Attributes, Event, EventSet, Filter, Float, Number, PredicateFilter, Value
from routeproof.model.filters.interface import exact
from routeproof.model.filters.sets import ANYTHING, NumberSet, ValueSet
from routeproof.model.filters.string_set import after

TRIED = 4096
"""Events that are tried at most."""

VALUES = 12
"""Values that are tried of one attribute."""


def witness(inside: Sequence[Filter], outside: Sequence[Filter] = ()) -> Event | None:
    """Returns an event that all of the first filters match, and none of the others."""
    sets = [each for each in inside if isinstance(each, EventSet)]
    if sets:
        left = sets[0].mask
        for one in sets:
            left &= one.mask
        for other in outside:
            left &= ~other.mask if isinstance(other, EventSet) else left
        return (left & -left).bit_length() - 1 if left else None
    predicates = [each for each in inside if isinstance(each, PredicateFilter)]
    others = [each for each in outside if isinstance(each, PredicateFilter)]
    for event in islice(_events(predicates, others), TRIED):
        if all(f.matches(event) for f in predicates) and not any(f.matches(event) for f in others):
            return event
    return None


def _events(inside: Sequence[PredicateFilter], outside: Sequence[PredicateFilter]) -> Iterator[Attributes]:
    """Events with values that matter. Attributes that only the others constrain are left out first."""
    needed = list(dict.fromkeys(name for f in inside for name, _ in f.constraints))
    further = [name for name in dict.fromkeys(n for f in outside for n, _ in f.constraints) if name not in needed]
    for names in [needed, needed + further] if further else [needed]:
        choices = [_values(name, inside, outside) for name in names]
        for chosen in islice(product(*choices), TRIED // 2):
            pairs = zip(names, chosen, strict=True)
            yield Attributes.of({name: value for name, value in pairs if value is not None})


def _values(name: str, inside: Sequence[PredicateFilter], outside: Sequence[PredicateFilter]) -> list[Value | None]:
    """Values of an attribute that the first filters let through, of which the others refuse as many as can be."""
    sets = [f.by_name.get(name, f.rest) for f in inside]
    refused = [f.by_name[name] for f in outside if name in f.by_name]
    typed = dict.fromkeys((type(value), value) for each in (*sets, *refused) for value in _of_set(each))
    found: list[Value | None] = [value for _, value in typed if all(value in each for each in sets)]
    if all(each.missing for each in sets):
        found.append(None)
    found.sort(key=lambda value: sum(each.missing if value is None else value in each for each in refused))
    return found[:VALUES]


def _of_set(values: ValueSet) -> Iterator[Value]:
    """Values at the ends of a set, next to them, and between them."""
    if values == ANYTHING:
        return
    if values.strings is not None:
        low, high = values.strings.range.low, values.strings.range.high
        words = [low, low + "a", after(low), *([] if high is None else [high, high + "a"])]
        middle = "".join(sorted(values.strings.parts))
        yield from dict.fromkeys([*words, *(f"{word}{middle}{values.strings.suffix}" for word in words)])
        yield from sorted(values.strings.holes)[:2]
    for numbers, is_float in ((values.numbers, False), (values.floats, True)):
        for number in _numbers(numbers) if numbers is not None else ():
            yield Float(number) if is_float else number
    yield from sorted(values.booleans)


def _numbers(numbers: NumberSet) -> Iterator[Number]:
    ends = sorted({end for end in (numbers.low, numbers.high, *sorted(numbers.holes)[:3]) if end is not None}) or [0]
    for end in ends:
        yield from (end, end + 1, end - 1)
    for one, other in pairwise(ends):
        middle = exact(Fraction(one + other) / 2)
        yield from (floor(middle), middle)
