"""The pieces that dialects build from: what their constructors return is in normal form at once."""

import sys
from itertools import product

import pytest

from routeproof.model.filters import string_set
from routeproof.model.filters.string_set import (
    ALL_STRINGS,
    FIRST,
    LAST,
    StringRange,
    StringSet,
    beginning_with,
    string_range,
)

WORDS = ["".join(word) for size in range(4) for word in product("\0a" + LAST, repeat=size)]
BESIDE = ["".join(word) for size in range(3) for word in product("\0\1ab" + chr(sys.maxunicode - 1), repeat=size)]
"""Words of the characters next to those, too: where a cylinder ends by one too early or too late, one of them shows."""
RANGES = [
    found for low, high in product(WORDS[:13], [None, *WORDS[:13]]) if (found := string_range(low, high)) is not None
]


@pytest.mark.parametrize("found", RANGES, ids=str)
def test_a_range_is_its_points_and_its_cylinders(found: StringRange) -> None:
    if found.is_finite:
        assert [word for word in WORDS if word in found] == [word for word in WORDS if word in found.words()]
        return
    points, cylinders = list(found.points()), list(found.cylinders())

    def pieces(word: str) -> int:
        starts = sum(
            word.startswith(stem) and len(word) > len(stem) and first <= ord(word[len(stem)]) <= last
            for stem, first, last in cylinders
        )
        return points.count(word) + starts

    assert all(pieces(word) == (word in found) for word in [*WORDS, *BESIDE])
    assert any(first <= last for _, first, last in cylinders)


@pytest.mark.parametrize("word", WORDS)
def test_constructors_say_what_they_mean(word: str) -> None:
    sets: list[tuple[StringSet | None, set[str]]] = [
        (string_set.only(word), {word}),
        (string_set.all_but(word), {other for other in WORDS if other != word}),
        (string_set.below(word, inclusive=False), {other for other in WORDS if other < word}),
        (string_set.below(word, inclusive=True), {other for other in WORDS if other <= word}),
        (string_set.above(word, inclusive=False), {other for other in WORDS if other > word}),
        (string_set.above(word, inclusive=True), {other for other in WORDS if other >= word}),
        (string_set.prefixed(word), {other for other in WORDS if other.startswith(word)}),
        (string_set.suffixed(word), {other for other in WORDS if other.endswith(word)}),
        (string_set.containing(word), {other for other in WORDS if word in other}),
    ]
    for found, expected in sets:
        if found is None:
            assert not expected
        else:
            assert {other for other in WORDS if other in found} == expected
            assert found.intersect(ALL_STRINGS) == found


def test_finite_sets_are_asked_word_by_word() -> None:
    """What a finite set is within, and what it overlaps, follows from its words, whatever the other one is made of."""
    words = WORDS[:13]
    others = [make(word) for word in words for make in (string_set.suffixed, string_set.containing, string_set.all_but)]
    others += [string_set.above(word, inclusive=True) for word in words]
    others += [found for word in words if (found := string_set.below(word, inclusive=True)) is not None]
    finite = [StringSet(each) for each in RANGES if each.is_finite]
    finite += [StringSet(StringRange(low, low + FIRST * n)) for low in ("", "a", "a" + FIRST) for n in (2, 3, 4)]
    finite += [found for each, hole in product(finite, words) if (found := each.intersect(string_set.all_but(hole)))]
    for mine, other in product(finite, [*others, *finite]):
        listed = [word for word in mine.range.words() if word in mine]
        assert mine.within(other) == all(word in other for word in listed)
        assert mine.overlaps(other) == other.overlaps(mine) == any(word in other for word in listed)


def test_the_same_range_by_other_names() -> None:
    assert string_set.containing("b").intersect(string_set.suffixed("ab")) == string_set.suffixed("ab")
    holed = string_set.above("a", inclusive=True).intersect(string_set.all_but("a\0"))
    assert holed is not None
    assert not holed.within(string_set.above("a\0\0", inclusive=True))
    for low in ("a", "a\0", "a\0\0", "a\0\0\0"):
        above = string_set.above(low, inclusive=True)
        assert above.intersect(string_set.suffixed("b")) == string_set.above("a", inclusive=True).intersect(
            string_set.suffixed("b")
        )
    assert string_set.all_but("") == string_set.above("", inclusive=False)
    assert beginning_with("a" + LAST) == StringRange("a" + LAST, "b")
    assert beginning_with(LAST + LAST) == StringRange(LAST + LAST)
    assert beginning_with("") == StringRange()
    assert ("\0", chr(sys.maxunicode)) == (FIRST, LAST)
