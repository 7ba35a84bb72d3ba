"""Sets of strings: a range, a suffix, parts that must be contained, and holes.

Every conjunction of string predicates is such a set. Each predicate is a regular language, but no automaton is needed:
a set whose range is finite is a short list of words, and a set whose range is infinite holds, for some stem p, every
word p + x + (all the parts) + y + suffix that is no hole. Since x and y are free, such a set is never empty, and all of
its words end with (or contain) only what its range, suffix and parts force them to. `spec/filters.md` has the proof;
the tests compare with products of automata. `StringSet` is a normal form: equal sets are equal values.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from attrs import field, frozen

FIRST = "\0"
LAST = chr(sys.maxunicode)


@frozen
class StringRange:
    """All s with low <= s < high; no high end is None. Never empty."""

    low: str = ""
    high: str | None = None

    def __contains__(self, word: str) -> bool:
        return self.low <= word and (self.high is None or word < self.high)

    def intersect(self, other: StringRange) -> StringRange | None:
        return string_range(
            max(self.low, other.low),
            self.high if other.high is None else other.high if self.high is None else min(self.high, other.high),
        )

    @property
    def is_finite(self) -> bool:
        return self.high is not None and self.high.startswith(self.low) and not self.high[len(self.low) :].strip(FIRST)

    def words(self) -> list[str]:
        """Every string of a finite range, in order."""
        assert self.high is not None, "an endless range"
        return [self.low + FIRST * count for count in range(len(self.high) - len(self.low))]

    def points(self) -> Iterator[str]:
        """The finitely many strings that are in no cylinder of `cylinders`."""
        yield self.low
        if self.high is not None:
            for length in range(self._shared() + 1, len(self.high)):
                yield self.high[:length]

    def cylinders(self) -> Iterator[tuple[str, int, int]]:
        """The rest of an infinite range: (stem, first, last) is every stem + c + anything for c from first to last.

        A stem is where a string leaves one of the ends and is inside from there on. Some have no such c: first > last.
        """
        low, high, shared = self.low, self.high, self._shared()
        if shared < len(low):
            yield low, 0, sys.maxunicode
            for at in range(shared + 1, len(low)):
                yield low[:at], ord(low[at]) + 1, sys.maxunicode
        if high is not None:
            if shared < len(low):
                yield low[:shared], ord(low[shared]) + 1, ord(high[shared]) - 1
            for at in range(len(low) if shared == len(low) else shared + 1, len(high)):
                yield high[:at], 0, ord(high[at]) - 1

    def all_but_points_contain(self, part: str) -> bool:
        """Whether every cylinder's stem contains `part`, so that only points can lack it.

        Where one does not, infinitely many strings lack it: go on from there with characters that `part` has not.
        """
        for stem, first, last in self.cylinders():
            # Among more characters than `part` has, one is foreign to it and completes no occurrence.
            if part not in stem and (
                last - first >= len(part) or any(part not in stem + chr(code) for code in range(first, last + 1))
            ):
                return False
        return True

    def _shared(self) -> int:
        """How many characters both ends begin with; -1 without a high end: they differ before the first."""
        if self.high is None:
            return -1
        pairs = zip(self.low, self.high, strict=False)
        return next((at for at, (one, other) in enumerate(pairs) if one != other), len(self.low))


def string_range(low: str, high: str | None) -> StringRange | None:
    return StringRange(low, high) if high is None or low < high else None


def after(word: str) -> str:
    """The least string greater than `word`."""
    return word + FIRST


def beginning_with(prefix: str) -> StringRange:
    """The range of all strings with that prefix; it ends where its last character that can be raised is raised."""
    stem = prefix.rstrip(LAST)
    return StringRange(prefix, stem[:-1] + chr(ord(stem[-1]) + 1) if stem else None)


@frozen
class StringSet:
    """Build with the functions below and `intersect`: they keep the normal form. Never empty."""

    range: StringRange = StringRange()
    suffix: str = ""
    parts: frozenset[str] = frozenset()
    holes: frozenset[str] = frozenset()
    word: str | None = field(init=False, eq=False, repr=False)
    """The only word, if there is one: most sets of strings are of an equality."""

    @word.default
    def _only_word(self) -> str | None:
        low, high = self.range.low, self.range.high
        if high is None or len(high) != len(low) + 1 or high != after(low) or self.suffix or self.parts or self.holes:
            return None
        return low

    def __contains__(self, word: str) -> bool:
        if self.word is not None:
            return word == self.word
        return word in self.range and word not in self.holes and self._has_ending_and_parts(word)

    def _has_ending_and_parts(self, word: str) -> bool:
        return word.endswith(self.suffix) and all(part in word for part in self.parts)

    def within(self, other: StringSet) -> bool:
        """Whether this is a subset: whether every constraint of the other one's is forced here."""
        if self is other:
            return True
        if self.word is not None:
            return self.word in other
        if self.range.is_finite:
            return all(word in other for word in self.range.words() if word not in self.holes)
        return (
            self.suffix.endswith(other.suffix)
            and self._stays_above(other.range.low)
            and self._stays_below(other.range.high)
            and all(self._forces(part) for part in other.parts)
            and not any(hole in self for hole in other.holes)
        )

    def _stays_above(self, low: str) -> bool:
        if self.range.low >= low:
            return True
        skipped = StringRange(self.range.low, low)
        return skipped.is_finite and not any(word in self for word in skipped.words())

    def _stays_below(self, high: str | None) -> bool:
        # A normal high end follows a word of the set or a cylinder: beyond a lower one there is always something.
        return high is None or (self.range.high is not None and self.range.high <= high)

    def _forces(self, part: str) -> bool:
        """Whether every word of this set, whose range is infinite, contains `part`."""
        if part in self.suffix or any(part in mine for mine in self.parts):
            return True
        return self.range.all_but_points_contain(part) and all(
            part in point for point in self.range.points() if point in self
        )

    def overlaps(self, other: StringSet) -> bool:
        if self.word is not None:
            return self.word in other
        if other.word is not None:
            return other.word in self
        common = self.range.intersect(other.range)
        if common is None:
            return False
        if common.is_finite:
            return any(word in self and word in other for word in common.words())
        return self.suffix.endswith(other.suffix) or other.suffix.endswith(self.suffix)

    def intersect(self, other: StringSet) -> StringSet | None:
        common = self.range.intersect(other.range)
        longer, shorter = sorted((self.suffix, other.suffix), key=len, reverse=True)
        if common is None or not longer.endswith(shorter):
            return None
        return _normal(StringSet(common, longer, self.parts | other.parts, self.holes | other.holes))


ALL_STRINGS = StringSet()


def only(word: str) -> StringSet:
    return StringSet(StringRange(word, after(word)))


def all_but(word: str) -> StringSet:
    # Through `intersect`: a hole at the low end, the empty string, moves that end instead.
    beyond = ALL_STRINGS.intersect(StringSet(holes=frozenset((word,))))
    assert beyond is not None
    return beyond


def below(word: str, *, inclusive: bool) -> StringSet | None:
    bounded = string_range("", after(word) if inclusive else word)
    return None if bounded is None else StringSet(bounded)


def above(word: str, *, inclusive: bool) -> StringSet:
    return StringSet(StringRange(word if inclusive else after(word)))


def prefixed(prefix: str) -> StringSet:
    return StringSet(beginning_with(prefix))


def suffixed(suffix: str) -> StringSet:
    return StringSet(suffix=suffix)


def containing(part: str) -> StringSet:
    return StringSet(parts=frozenset((part,)) if part else frozenset())


def _normal(rough: StringSet) -> StringSet | None:
    if rough.range.is_finite:
        return _listed(rough)
    if not rough.suffix and not rough.parts and not rough.holes:
        return rough
    return _trimmed(_with_fewest_parts(rough))


def _listed(rough: StringSet) -> StringSet | None:
    """A finite set: the shortest range of its words, and nothing else but holes."""
    words = [word for word in rough.range.words() if word in rough]
    if not words:
        return None
    shortest = StringRange(words[0], after(words[-1]))
    return StringSet(shortest, holes=frozenset(shortest.words()).difference(words))


def _with_fewest_parts(rough: StringSet) -> StringSet:
    """Drop every part that all words, or all but finitely many, contain anyhow; those few words become holes.

    The second kind is real: from "\\0" + U+10FFFF to "\\1\\0\\1", excluded, every word but "\\1" contains "\\0".
    """
    parts = {part for part in rough.parts if part not in rough.suffix}
    parts = {part for part in parts if not any(part in other for other in parts if other != part)}
    nearly_always = {part for part in parts if rough.range.all_but_points_contain(part)}
    lacking = (point for part in nearly_always for point in rough.range.points() if part not in point)
    return StringSet(rough.range, rough.suffix, frozenset(parts - nearly_always), rough.holes.union(lacking))


def _trimmed(rough: StringSet) -> StringSet:
    """Move the ends of an infinite range over words that are not in the set, so that they end up in one place.

    Only finitely many steps of U+0000 can be taken, since every infinite stretch of the range holds words of the set.
    At the low end there may be no least word (U+0000 ... U+0000 "b" for suffix "b"), so words that the suffix and the
    parts exclude are taken in, as far down as they go; words that only a hole excludes are left out.
    """
    low, high = rough.range.low, rough.range.high
    holes = {hole for hole in rough.holes if hole in rough.range and rough._has_ending_and_parts(hole)}
    for hole in sorted(holes, key=len):
        stretch = string_range(low, after(hole))
        if stretch is not None and stretch.is_finite and not any(word in rough for word in stretch.words()):
            low = after(hole)
    while low.endswith(FIRST) and not rough._has_ending_and_parts(low[:-1]):
        low = low[:-1]
    while high is not None and high.endswith(FIRST) and high[:-1] not in rough:
        high = high[:-1]
    trimmed = StringRange(low, high)
    return StringSet(trimmed, rough.suffix, rough.parts, _inside(holes, trimmed))


def _inside(holes: Iterable[str], trimmed: StringRange) -> frozenset[str]:
    return frozenset(hole for hole in holes if hole in trimmed)
