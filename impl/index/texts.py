"""Indexes of profiles by text: `Texts` finds those that may let a word through, `WordSet` those with a word in a set.

A set of strings may have a beginning (`prefix`), an ending (`suffix`) and parts (`contains`), and each of these is a
trait. `Texts` files a profile under one of its traits, the one that fewest others are filed under. A look-up takes, for
each length of a beginning or an ending that there is, what the word begins or ends with; for each length of a part, all
that the word has of that length. Of long parts a piece is looked for, so that there are few lengths.

`WordSet` files a profile under one word of it. What a set covers has its word in the set: within the range, with the
ending, and with all the parts. For ranges words are kept in order, for endings backwards and in order, for parts by
three characters in a row. The latter is expensive, so the index builds it when a part is first looked up.

A `Ladder` has profiles by a number or a word, in order. Profiles with one number share a rung, so that numbers met
again and again (a popular bound) cost a dictionary's entry, and only new ones move the list of rungs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Generic, Literal, TypeAlias, TypeVar

from routeproof.impl.index.profile import CHARACTERS, FilterProfile
from routeproof.model.filters.string_set import StringRange, StringSet, beginning_with

PIECE = 8
"""Characters of a part that are looked for."""

Trait: TypeAlias = tuple[Literal["beginning", "ending", "part"], str]

_Shelf: TypeAlias = dict[int, dict[str, dict[FilterProfile, None]]]
"""Profiles by text, and those by its length."""


def traits_of(strings: StringSet) -> Iterator[Trait]:
    if beginning := _beginning_of(strings.range):
        yield "beginning", beginning
    if strings.suffix:
        yield "ending", strings.suffix
    for part in sorted(strings.parts):
        for at in range(0, len(part), PIECE):
            yield "part", part[at : at + PIECE] if at + PIECE <= len(part) else part[-PIECE:]


def _beginning_of(strings: StringRange) -> str:
    """Beginning of the strings in a range. Spans say more about ranges that are no prefix, if they reach far enough."""
    low, high = strings.low, strings.high
    if low and high == beginning_with(low).high:
        return low
    return low[:CHARACTERS] if high is not None and low[:CHARACTERS] == high[:CHARACTERS] else ""


class Texts:
    __slots__ = ("_shelves",)

    def __init__(self) -> None:
        self._shelves: dict[str, _Shelf] = {"beginning": {}, "ending": {}, "part": {}}

    def __bool__(self) -> bool:
        return any(self._shelves.values())

    def filed_under(self, trait: Trait) -> int:
        """How many."""
        kind, text = trait
        return len(self._shelves[kind].get(len(text), {}).get(text, ()))

    def add(self, trait: Trait, profile: FilterProfile) -> None:
        kind, text = trait
        self._shelves[kind].setdefault(len(text), {}).setdefault(text, {})[profile] = None

    def remove(self, trait: Trait, profile: FilterProfile) -> None:
        kind, text = trait
        shelf = self._shelves[kind]
        by_text = shelf[len(text)]
        del by_text[text][profile]
        if not by_text[text]:
            del by_text[text]
            if not by_text:
                del shelf[len(text)]

    def allowing(self, word: str) -> Iterator[FilterProfile]:
        """All that let the word through, and others that share a trait with it."""
        for length, by_text in self._shelves["beginning"].items():
            if found := by_text.get(word[:length]):
                yield from found
        for length, by_text in self._shelves["ending"].items():
            if found := by_text.get(word[-length:]):
                yield from found
        for length, by_text in self._shelves["part"].items():
            if len(word) - length < len(by_text):
                for part in {word[at : at + length] for at in range(len(word) - length + 1)}:
                    if found := by_text.get(part):
                        yield from found
            else:
                for part, found in by_text.items():
                    if part in word:
                        yield from found


# -- Profiles by one of their words ------------------------------------------------------------------------------------

K = TypeVar("K", int, str)


class Ladder(Generic[K]):
    """`upto`, `onward` and `between` include what is given. No high end is None."""

    __slots__ = ("_at", "_rungs", "_size")

    def __init__(self) -> None:
        self._rungs: list[K] = []
        self._at: dict[K, dict[FilterProfile, None]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, number: K, profile: FilterProfile) -> bool:
        """Whether that is a new rung."""
        rung = self._at.get(number)
        is_new = rung is None
        if rung is None:
            insort(self._rungs, number)
            rung = self._at[number] = {}
        rung[profile] = None
        self._size += 1
        return is_new

    def remove(self, number: K, profile: FilterProfile) -> bool:
        """Whether its rung is gone."""
        rung = self._at[number]
        del rung[profile]
        self._size -= 1
        if not rung:
            del self._at[number]
            del self._rungs[bisect_left(self._rungs, number)]
        return not rung

    def upto(self, number: K) -> Iterator[FilterProfile]:
        """From the lowest on."""
        for rung in islice(self._rungs, bisect_right(self._rungs, number)):
            yield from self._at[rung]

    def onward(self, number: K) -> Iterator[FilterProfile]:
        """From the highest down."""
        for position in range(len(self._rungs) - 1, bisect_left(self._rungs, number) - 1, -1):
            yield from self._at[self._rungs[position]]

    def between(self, low: K, high: K | None) -> Iterator[FilterProfile]:
        for position in self._positions(low, high):
            yield from self._at[self._rungs[position]]

    def about(self, low: K, high: K | None) -> int:
        """How many are between, were all rungs of one width."""
        return self.about_so_many(len(self._positions(low, high)))

    def about_so_many(self, rungs: int) -> int:
        """How many are on so many rungs."""
        return -(-rungs * self._size // len(self._rungs)) if rungs else 0

    def at(self, rungs: Iterable[K]) -> Iterator[FilterProfile]:
        """On each of these, which are rungs."""
        for rung in rungs:
            yield from self._at[rung]

    @property
    def rungs(self) -> Sequence[K]:
        return self._rungs

    def _positions(self, low: K, high: K | None) -> range:
        return range(
            bisect_left(self._rungs, low), len(self._rungs) if high is None else bisect_right(self._rungs, high)
        )

    def __iter__(self) -> Iterator[FilterProfile]:
        for rung in self._rungs:
            yield from self._at[rung]


GRAM = 3

Listed: TypeAlias = tuple[int, Callable[[], Iterator[FilterProfile]]]
"""Profiles, and about how many."""


class WordSet:
    __slots__ = ("_backwards", "_by_gram", "_forwards")

    def __init__(self) -> None:
        self._forwards: Ladder[str] = Ladder()
        self._backwards: Ladder[str] = Ladder()
        self._by_gram: dict[str, dict[str, None]] | None = None

    def __len__(self) -> int:
        return len(self._forwards)

    def __iter__(self) -> Iterator[FilterProfile]:
        return iter(self._forwards)

    def add(self, word: str, profile: FilterProfile) -> None:
        self._backwards.add(word[::-1], profile)
        if self._forwards.add(word, profile) and self._by_gram is not None:
            self._learn(word, self._by_gram)

    def remove(self, word: str, profile: FilterProfile) -> None:
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
