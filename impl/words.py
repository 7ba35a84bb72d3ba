"""Words: profiles by a word of each, to find those of which a set of strings may hold every word.

What a set covers has its word in the set: within the range, with the ending, and with all the parts. For ranges words
are kept in order, for endings backwards and in order, for parts by three characters in a row. The latter costs
much, so that it begins with the first part that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from routeproof.impl.ladder import Ladder
from routeproof.impl.profile import Profile
from routeproof.model.filters.string_range import StringRange, beginning_with
from routeproof.model.filters.string_set import StringSet

GRAM = 3

Listed: TypeAlias = tuple[int, Callable[[], Iterator[Profile]]]
"""Profiles, and about how many."""


class Words:
    __slots__ = ("_backwards", "_by_gram", "_forwards")

    def __init__(self) -> None:
        self._forwards: Ladder[str] = Ladder()
        self._backwards: Ladder[str] = Ladder()
        self._by_gram: dict[str, dict[str, None]] | None = None

    def __len__(self) -> int:
        return len(self._forwards)

    def __iter__(self) -> Iterator[Profile]:
        return iter(self._forwards)

    def add(self, word: str, profile: Profile) -> None:
        self._backwards.add(word[::-1], profile)
        if self._forwards.add(word, profile) and self._by_gram is not None:
            self._learn(word, self._by_gram)

    def remove(self, word: str, profile: Profile) -> None:
        self._backwards.remove(word[::-1], profile)
        if self._forwards.remove(word, profile) and self._by_gram is not None:
            for gram in _grams(word):
                del self._by_gram[gram][word]
                if not self._by_gram[gram]:
                    del self._by_gram[gram]

    def within(self, strings: StringSet) -> Iterator[Listed]:
        """Lists, each of which holds all profiles whose word is in this set."""
        if strings.range != StringRange():
            yield _between(self._forwards, strings.range)
        if strings.suffix:
            yield _between(self._backwards, beginning_with(strings.suffix[::-1]))
        for part in strings.parts:
            if len(part) >= GRAM:
                words = self._with(part)
                yield self._forwards.about_so_many(len(words)), partial(self._forwards.at, words)
        yield len(self._forwards), self._forwards.__iter__

    def _with(self, part: str) -> dict[str, None]:
        """Words that have the rarest three characters of a part, and maybe the others."""
        if self._by_gram is None:
            self._by_gram = {}
            for word in self._forwards.rungs:
                self._learn(word, self._by_gram)
        return min((self._by_gram.get(gram, {}) for gram in _grams(part)), key=len)

    @staticmethod
    def _learn(word: str, by_gram: dict[str, dict[str, None]]) -> None:
        for gram in _grams(word):
            by_gram.setdefault(gram, {})[word] = None


def _between(ladder: Ladder[str], strings: StringRange) -> Listed:
    low, high = strings.low, strings.high
    return ladder.about(low, high), partial(ladder.between, low, high)


def _grams(word: str) -> set[str]:
    return {word[at : at + GRAM] for at in range(len(word) - GRAM + 1)}
