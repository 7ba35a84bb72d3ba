"""Texts: profiles by what all their strings have in common, to find those that may let a word through.

A set of strings may have a beginning (`prefix`), an ending (`suffix`) and parts (`contains`), and each of these is a
trait. A profile is filed under one of its traits, the one that fewest others are filed under. A look-up takes, for each
length of a beginning or an ending that there is, what the word begins or ends with; for each length of a part, all that
the word has of that length. Of long parts a piece is looked for, so that there are few lengths.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from routeproof.impl.index.profile import Profile
from routeproof.impl.index.sketch import CHARACTERS
from routeproof.model.filters.string_range import StringRange, beginning_with
from routeproof.model.filters.string_set import StringSet

PIECE = 8
"""Characters of a part that are looked for."""

Trait: TypeAlias = tuple[Literal["beginning", "ending", "part"], str]

_Shelf: TypeAlias = dict[int, dict[str, dict[Profile, None]]]
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

    def add(self, trait: Trait, profile: Profile) -> None:
        kind, text = trait
        self._shelves[kind].setdefault(len(text), {}).setdefault(text, {})[profile] = None

    def remove(self, trait: Trait, profile: Profile) -> None:
        kind, text = trait
        shelf = self._shelves[kind]
        by_text = shelf[len(text)]
        del by_text[text][profile]
        if not by_text[text]:
            del by_text[text]
            if not by_text:
                del shelf[len(text)]

    def allowing(self, word: str) -> Iterator[Profile]:
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
