"""Seeded faults in the model's filters: each is refuted by a theorem about the code, with filters that show it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from routeproof.checker.prove.theorems import THEOREMS, judge
from routeproof.model.filters import predicate_dialect, predicate_filter, sets, string_set
from routeproof.model.filters.interface import Constant
from routeproof.model.filters.predicate_filter import PredicateFilter
from routeproof.model.filters.sets import ANYTHING, EventSet, NumberSet, ValueSet
from routeproof.model.filters.string_set import LAST, StringRange, StringSet
from tests.shown import recorded

Patch = pytest.MonkeyPatch
Mutant = Callable[[Patch], None]

MUTANTS: dict[str, tuple[Mutant, str]] = {}


def mutant(theorem: str) -> Callable[[Mutant], Mutant]:
    def add(seed: Mutant) -> Mutant:
        MUTANTS[seed.__name__.replace("_", "-")] = (seed, theorem)
        return seed

    return add


# -- numbers -----------------------------------------------------------------------------------------------------------


@mutant("ModelMatches")
def less_is_not_greater(patch: Patch) -> None:
    patch.setitem(predicate_dialect.ON_NUMBERS, "<", lambda number: sets.below(number, inclusive=True))


@mutant("ModelMatches")
def floats_as_they_are_stored(patch: Patch) -> None:
    """0.1 is not one tenth any more (FLT-2)."""

    def exact(number: Any) -> int | Fraction:
        fraction = Fraction(number)
        return fraction.numerator if fraction.denominator == 1 else fraction

    for module in (predicate_dialect, predicate_filter, sets):
        patch.setattr(module, "exact", exact)


@mutant("ModelMatches")
def large_integers_as_floats(patch: Patch) -> None:
    """2^53 + 1 is 2^53 (FLT-2)."""
    real = predicate_filter.read_value
    read: Callable[[object, int], Constant] = lambda raw, longest: (  # noqa: E731
        int(float(raw)) if type(raw) is int else real(raw, longest)
    )
    patch.setattr(predicate_filter, "read_value", read)


@mutant("ModelCovers")
def open_bounds_cover_closed_ones(patch: Patch) -> None:
    def within(self: NumberSet, other: NumberSet) -> bool:
        low = other.low is None or (self.low is not None and self.low >= other.low)
        high = other.high is None or (self.high is not None and self.high <= other.high)
        whole = self.whole or not other.whole
        return low and high and whole and not any(hole in self for hole in other.holes)

    patch.setattr(NumberSet, "within", within)


@mutant("ModelCovers")
def holes_are_forgotten(patch: Patch) -> None:
    real = NumberSet.within
    patch.setattr(
        NumberSet,
        "within",
        lambda self, other: real(self, NumberSet(other.low, other.low_open, other.high, other.high_open, other.whole)),
    )


@mutant("ModelCovers")
def whole_numbers_are_forgotten(patch: Patch) -> None:
    real = NumberSet.within
    patch.setattr(
        NumberSet,
        "within",
        lambda self, other: real(
            self, NumberSet(other.low, other.low_open, other.high, other.high_open, False, other.holes)
        ),
    )


@mutant("ModelOverlaps")
def touching_is_overlapping(patch: Patch) -> None:
    def overlaps(self: NumberSet, other: NumberSet) -> bool:
        apart = any(
            one.high is not None and two.low is not None and one.high < two.low
            for one, two in ((self, other), (other, self))
        )
        return not apart

    patch.setattr(NumberSet, "overlaps", overlaps)


@mutant("ModelReads")
def contradictions_between_numbers_are_read(patch: Patch) -> None:
    real = NumberSet.intersect
    patch.setattr(NumberSet, "intersect", lambda self, other: real(self, other) or self)


# -- types and attributes ----------------------------------------------------------------------------------------------


@mutant("ModelMatches")
def true_is_one(patch: Patch) -> None:
    real = ValueSet.__contains__
    patch.setattr(ValueSet, "__contains__", lambda self, value: real(self, int(value) if value is True else value))


@mutant("ModelMatches")
def missing_is_not_equal(patch: Patch) -> None:
    real = PredicateFilter.matches

    def matches(self: PredicateFilter, event: Any) -> bool:
        return real(self, event) or all(
            each.operator == "!=" and each.attribute not in event.by_name for each in self.written
        )

    patch.setattr(PredicateFilter, "matches", matches)


@mutant("ModelAttributes")
def a_free_attribute_is_covered(patch: Patch) -> None:
    def covers(self: PredicateFilter, other: PredicateFilter) -> bool:
        return all(other.by_name[name].within(mine) for name, mine in self.constraints if name in other.by_name)

    patch.setattr(PredicateFilter, "covers", covers)


@mutant("ModelAttributes")
def a_free_attribute_is_apart(patch: Patch) -> None:
    def overlaps(self: PredicateFilter, other: PredicateFilter) -> bool:
        return all(other.by_name.get(name, ValueSet()).overlaps(mine) for name, mine in self.constraints)

    patch.setattr(PredicateFilter, "overlaps", overlaps)


@mutant("ModelAttributes")
def one_attribute_is_enough(patch: Patch) -> None:
    def covers(self: PredicateFilter, other: PredicateFilter) -> bool:
        mine = self.constraints
        return not mine or any(other.by_name.get(name, ANYTHING).within(allowed) for name, allowed in mine)

    patch.setattr(PredicateFilter, "covers", covers)


@mutant("ModelEquals")
def equal_as_written(patch: Patch) -> None:
    patch.setattr(PredicateFilter, "__eq__", lambda self, other: self.written == other.written)


# -- strings -----------------------------------------------------------------------------------------------------------


@mutant("ModelMatches")
def up_to_is_before(patch: Patch) -> None:
    patch.setitem(predicate_dialect.ON_STRINGS, "<=", lambda word: string_set.below(word, inclusive=False))


@mutant("ModelOverlaps")
def suffixes_never_clash(patch: Patch) -> None:
    patch.setattr(
        StringSet,
        "overlaps",
        lambda self, other: (
            (common := self.range.intersect(other.range)) is not None
            and (not common.is_finite or any(word in self and word in other for word in common.words()))
        ),
    )


@mutant("ModelOverlaps")
def there_is_always_a_string_between(patch: Patch) -> None:
    """Nothing lies between "a" and "a" with U+0000 (FLT-9)."""
    real = StringSet.overlaps

    def overlaps(self: StringSet, other: StringSet) -> bool:
        common = self.range.intersect(other.range)
        many = common is not None and common.low != (common.high or "")[:-1]
        return real(self, other) or (many and not self.suffix and not other.suffix)

    patch.setattr(StringSet, "overlaps", overlaps)


@mutant("ModelCovers")
def parts_are_not_looked_for_in_suffixes(patch: Patch) -> None:
    def forces(self: StringSet, part: str) -> bool:
        return any(part in mine for mine in self.parts) or (
            self.range.all_but_points_contain(part)
            and all(part in point for point in self.range.points() if point in self)
        )

    patch.setattr(StringSet, "_forces", forces)


@mutant("ModelCovers")
def the_last_character_forces_nothing(patch: Patch) -> None:
    """What is not below U+10FFFF begins with it."""
    real = StringRange.all_but_points_contain
    patch.setattr(StringRange, "all_but_points_contain", lambda self, part: part.strip(LAST) != "" and real(self, part))


@mutant("ModelCovers")
def every_range_goes_on_without_end(patch: Patch) -> None:
    patch.setattr(StringRange, "is_finite", property(lambda self: self.high == self.low + "\0"))


@mutant("ModelCovers")
def suffix_for_prefix(patch: Patch) -> None:
    real = StringSet.within
    patch.setattr(
        StringSet,
        "within",
        lambda self, other: (
            real(self, other)
            or (
                not self.range.is_finite
                and self.suffix != ""
                and self.suffix.startswith(other.suffix)
                and real(self, StringSet(other.range, "", other.parts, other.holes))
            )
        ),
    )


# -- event sets --------------------------------------------------------------------------------------------------------


@mutant("ModelEventSets")
def covering_the_other_way_around(patch: Patch) -> None:
    patch.setattr(EventSet, "covers", lambda self, other: not self.mask & ~other.mask)


@mutant("ModelEventSets")
def only_sixty_four_events(patch: Patch) -> None:
    patch.setattr(EventSet, "overlaps", lambda self, other: bool(self.mask & other.mask & (1 << 64) - 1))


@recorded
@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_in_the_filters_is_refuted(name: str, monkeypatch: Patch) -> None:
    seed, theorem = MUTANTS[name]
    seed(monkeypatch)
    judged = judge(THEOREMS[theorem])
    assert judged.verdict == "refuted"
    assert all(each.shown and each.why for each in judged.with_verdict("refuted"))


def test_the_list_is_long_enough() -> None:
    assert len(MUTANTS) >= 20
