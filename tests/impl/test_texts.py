"""The indexes by text, and by numbers in order, beside lists of what they hold, while it comes and goes."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Literal

import pytest

from routeproof.impl.index.filter_index import CoveredIndex
from routeproof.impl.index.profile import FilterProfile, profile_of
from routeproof.impl.index.texts import Ladder, Texts, Trait, WordSet, traits_of
from routeproof.model.filters import STRICT, EventSet, string_set
from routeproof.model.filters.string_set import StringRange, StringSet, beginning_with, string_range

PROFILES = [profile_of(EventSet.of([n])) for n in range(40)]
KINDS: tuple[Literal["beginning", "ending", "part"], ...] = ("beginning", "ending", "part")
WORDS = ("", "a", "ab", "abc", "abca", "bca", "cab", "bcabc", "abcabc", "c", "cc", "aab")


def in_all(*sets: StringSet) -> StringSet:
    found = string_set.ALL_STRINGS
    for each in sets:
        both = found.intersect(each)
        assert both is not None
        found = both
    return found


@pytest.mark.parametrize(
    ("strings", "traits"),
    [
        (string_set.ALL_STRINGS, []),
        (string_set.prefixed("abc"), [("beginning", "abc")]),
        (StringSet(StringRange("a" * 40 + "b", "a" * 40 + "d")), [("beginning", "a" * 32)]),
        (StringSet(StringRange("ab", "b")), []),
        (string_set.above("ab", inclusive=True), []),
        (string_set.suffixed("xyz"), [("ending", "xyz")]),
        (string_set.containing("b"), [("part", "b")]),
        (string_set.containing("12345678"), [("part", "12345678")]),
        (string_set.containing("123456789"), [("part", "12345678"), ("part", "23456789")]),
        (string_set.containing("12345678abcdefgh"), [("part", "12345678"), ("part", "abcdefgh")]),
        (
            in_all(*map(string_set.containing, ("z", "b", "y")), string_set.suffixed("k"), string_set.prefixed("a")),
            [("beginning", "a"), ("ending", "k"), ("part", "b"), ("part", "y"), ("part", "z")],
        ),
    ],
)
def test_traits(strings: StringSet, traits: list[Trait]) -> None:
    assert list(traits_of(strings)) == traits


def test_texts_find_what_fits_a_word_and_nothing_else() -> None:
    draw, index, held = Random(1), Texts(), list[tuple[Trait, FilterProfile]]()
    fits = {"beginning": str.startswith, "ending": str.endswith, "part": str.__contains__}
    for step in range(300):
        if held and (step >= 200 or draw.random() < 0.3):
            index.remove(*held.pop(draw.randrange(len(held))))
        elif step < 200:
            kind = draw.choice(KINDS)
            free = [each for each in PROFILES if each not in {profile for _, profile in held}]
            if free:
                held.append(((kind, draw.choice(WORDS[1:])), draw.choice(free)))
                index.add(*held[-1])
        assert bool(index) == bool(held)
        word = draw.choice(WORDS)
        found = list(index.allowing(word))
        assert sorted(map(id, found)) == sorted(id(each) for (kind, text), each in held if fits[kind](word, text))
        for trait, _ in held[:3]:
            assert index.filed_under(trait) == sum(other == trait for other, _ in held)
    assert not held
    assert index._shelves == {"beginning": {}, "ending": {}, "part": {}}


def test_a_ladder_is_in_order() -> None:
    draw, ladder, held = Random(2), Ladder[int](), list[tuple[int, FilterProfile]]()
    for step in range(300):
        if held and (step >= 200 or draw.random() < 0.3):
            number, profile = held.pop(draw.randrange(len(held)))
            assert ladder.remove(number, profile) == all(other != number for other, _ in held)
        elif step < 200:
            number, free = draw.randrange(12), [each for each in PROFILES if each not in {p for _, p in held}]
            if free:
                assert ladder.add(number, free[0]) == all(other != number for other, _ in held)
                held.append((number, free[0]))
        at = {profile: number for number, profile in held}
        rungs = sorted({number for number, _ in held})
        assert list(ladder.rungs) == rungs
        assert len(ladder) == len(held)
        low, high = draw.randrange(-1, 13), draw.choice((None, *range(-1, 13)))

        def numbers(found: Iterable[FilterProfile], at: dict[FilterProfile, int] = at) -> list[int]:
            return [at[profile] for profile in found]

        between = [n for n in sorted(at.values()) if low <= n and (high is None or n <= high)]
        assert numbers(ladder) == sorted(at.values())
        assert numbers(ladder.upto(low)) == [n for n in sorted(at.values()) if n <= low]
        assert numbers(ladder.onward(low)) == [n for n in sorted(at.values(), reverse=True) if n >= low]
        assert numbers(ladder.between(low, high)) == between
        assert numbers(ladder.at(rungs[::2])) == [n for rung in rungs[::2] for n in sorted(at.values()) if n == rung]
        many = len(set(between))
        assert (
            ladder.about(low, high) == ladder.about_so_many(many) == (-(-many * len(held) // len(rungs)) if many else 0)
        )
    assert not held
    assert (ladder._rungs, ladder._at, len(ladder)) == ([], {}, 0)


def test_a_set_of_words_misses_nothing() -> None:
    """Every list holds all that are asked for; one by range or ending holds nothing else, and the last one all."""
    draw, index, held = Random(3), WordSet(), dict[FilterProfile, str]()
    parts = [string_set.containing(text) for text in ("a", "bc", "abc", "cab", "abca", "bcabc")]
    ranges = [found for low, high in (("a", "b"), ("ab", "c"), ("b", None)) if (found := string_range(low, high))]
    asked = [string_set.ALL_STRINGS, *map(StringSet, ranges), *parts, in_all(parts[2], parts[3])]
    asked += [string_set.suffixed(text) for text in ("a", "bc", "cab")]
    asked += [in_all(string_set.suffixed("c"), string_set.prefixed("a"), parts[2])]
    for step in range(200):
        if held and (step >= 140 or draw.random() < 0.3):
            profile = draw.choice(list(held))
            index.remove(held.pop(profile), profile)
        elif step < 140:
            free = [each for each in PROFILES if each not in held]
            if free:
                held[free[0]] = draw.choice(WORDS)
                index.add(held[free[0]], free[0])
        assert len(index) == len(held)
        assert list(index) == sorted(held, key=lambda profile: (held[profile], list(index).index(profile)))
        strings = asked[step % len(asked)]
        lists = [(about, list(make())) for about, make in index.within(strings)]
        wanted = {profile for profile, word in held.items() if word in strings}
        assert all(wanted <= set(found) for _, found in lists)
        assert lists[-1] == (len(held), list(index))
        long = [part for part in strings.parts if len(part) >= 3]
        limits = [strings.range != StringRange(), bool(strings.suffix)]
        assert len(lists) == sum(limits) + len(long) + 1
        exact = [{p for p, word in held.items() if word in strings.range or word == strings.range.high}] * limits[0]
        ends = beginning_with(strings.suffix[::-1])
        exact += [{p for p, word in held.items() if word[::-1] in ends or word[::-1] == ends.high}] * limits[1]
        assert [set(found) for _, found in lists[: len(exact)]] == exact
        for _, some in lists[len(exact) : -1]:
            assert any(all(part[at : at + 3] in held[p] for p in some) for part in long for at in range(len(part) - 2))
        words = {word for word in held.values() if len(word) >= 3}
        if index._by_gram is not None:
            assert {word for by_word in index._by_gram.values() for word in by_word} == words
    assert not held
    assert index._by_gram == {}
    assert len(index._backwards) == 0


def test_what_was_removed_is_covered_no_more() -> None:
    """Each list of an attribute is asked: by lower and by upper bounds, by values, and by words."""
    raws: list[list[object]] = [["x", ">", n] for n in range(4)] + [["x", "<", n] for n in range(4)]
    raws += [["x", "=", 5], ["x", "=", 6], ["x", "prefix", "ab"], ["x", "suffix", "c"], ["x", "=", "abc"]]
    held = [profile_of(STRICT.parse([raw, ["y", "=", y]])) for raw in raws for y in (1, 2)]
    wide = [profile_of(STRICT.parse([raw])) for raw in (*raws, ["x", "<=", 9], ["x", ">=", -9], ["x", "present"])]
    index = CoveredIndex()
    for profile in held:
        index.add(profile)
    for gone in (held[::3], held[1::3], held[2::3]):
        for profile in gone:
            index.remove(profile)
        held = [profile for profile in held if profile not in gone]
        for each in wide:
            assert set(index.covered(each)) == {profile for profile in held if each.covers(profile)}
