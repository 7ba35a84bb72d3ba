"""Ranges of strings in code point order, and what they are made of.

Strings are ordered by code point, a prefix before what it begins, over all code points U+0000 to U+10FFFF. No string
lies between s and s + U+0000, so every comparison with a constant, and every prefix, is a range that includes its low
end and excludes its high end. Two facts about ranges carry all of `string_set`:

* A range is finite exactly where its high end is its low end followed by U+0000 some times; it then holds the low end
  followed by U+0000 fewer times.
* Any other range is, but for finitely many strings, made of cylinders: all strings that begin with some stem.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from attrs import frozen

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
