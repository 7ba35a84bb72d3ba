"""Strings, as the theory sees them (FLT-9, FLT-10), and the theory of those of any length.

`Words` is what the meaning of predicates is written against. `AllWords` is Z3's own theory of strings: any length, but
undecidable in general, and with characters up to U+2FFFF only. `short_words` has the other one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import z3

from routeproof.spec.theory.logic import Truth

Word: TypeAlias = Any
"""A string of the theory at hand."""

FIRST = "\0"
SECOND = "\1"


class Words(Protocol):
    """A theory of strings. A word is represented by `fields`, so that it can stand in a Z3 datatype."""

    @property
    def bound(self) -> str:
        """Which strings this is about; empty for all of them."""

    @property
    def fields(self) -> Sequence[tuple[str, z3.SortRef]]: ...

    def made_of(self, fields: Sequence[z3.ExprRef]) -> Word: ...

    def terms(self, word: Word) -> Sequence[z3.ExprRef]:
        """What a model must give values to, for `written` to tell the word."""

    def written(self, values: Sequence[Any]) -> str: ...

    def constant(self, name: str) -> Word: ...

    def proper(self, word: Word) -> Truth:
        """Whether the terms of a symbolic word are a word at all."""

    def plain(self, word: Word) -> Truth:
        """Whether it is short and made of letters: for counterexamples that can be read."""

    def word(self, text: str) -> Word: ...

    def equal(self, one: Word, other: Word) -> Truth: ...

    def before(self, one: Word, other: Word) -> Truth:
        """In code point order, a string before all that it begins (FLT-9)."""

    def begins(self, word: Word, prefix: Word) -> Truth: ...

    def ends(self, word: Word, suffix: Word) -> Truth: ...

    def has(self, word: Word, part: Word) -> Truth: ...

    def joined(self, *words: Word) -> Word: ...

    def of_first(self, word: Word) -> Truth:
        """Whether every character is the first, U+0000."""

    def of_last(self, word: Word) -> Truth:
        """Whether every character is the last."""

    def witnesses(self, a: Word, b: Word) -> Sequence[Word]:
        """Among these is one that shows a difference, or something in common, where there is one."""


class AllWords:
    """Strings of any length in Z3's theory of sequences."""

    bound = ""
    last = 0x2FFFF
    """Z3's last character. FLT-9 has more of them; docs/proofs.md says why that makes no difference here."""

    @property
    def fields(self) -> Sequence[tuple[str, z3.SortRef]]:
        return (("text", z3.StringSort()),)

    def made_of(self, fields: Sequence[z3.ExprRef]) -> Word:
        return fields[0]

    def terms(self, word: Word) -> Sequence[z3.ExprRef]:
        return (word,)

    def written(self, values: Sequence[Any]) -> str:
        return str(values[0])

    def constant(self, name: str) -> Word:
        return z3.String(name)

    def proper(self, word: Word) -> Truth:
        return True

    def plain(self, word: Word) -> Truth:
        return z3.And(z3.InRe(word, z3.Star(z3.Range("a", "b"))), z3.Length(word) <= 2)

    def word(self, text: str) -> Word:
        return z3.StringVal(escaped(text))

    def equal(self, one: Word, other: Word) -> Truth:
        return one == other

    def before(self, one: Word, other: Word) -> Truth:
        return one < other

    def begins(self, word: Word, prefix: Word) -> Truth:
        return z3.PrefixOf(prefix, word)

    def ends(self, word: Word, suffix: Word) -> Truth:
        return z3.SuffixOf(suffix, word)

    def has(self, word: Word, part: Word) -> Truth:
        return z3.Contains(word, part)

    def joined(self, *words: Word) -> Word:
        return z3.Concat(*words)

    def of_first(self, word: Word) -> Truth:
        return z3.InRe(word, z3.Star(z3.Re(self.word(FIRST))))

    def of_last(self, word: Word) -> Truth:
        return z3.InRe(word, z3.Star(z3.Re(self.word(chr(self.last)))))

    def witnesses(self, a: Word, b: Word) -> Sequence[Word]:
        first, second = self.word(FIRST), self.word(SECOND)
        made = [(a, b), (b, a), (a, first, b)]
        made += [(c, x) for x in (a, b) for c in (first, second)] + [(x, c) for x in (a, b) for c in (first, second)]
        return [self.word(""), first, second, a, b, *(self.joined(*parts) for parts in made)]


def escaped(text: str) -> str:
    """As Z3 reads it back: it takes a backslash in a string for the beginning of an escape."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\u{{{ord(c):x}}}" for c in text)


def unescaped(text: str) -> str:
    return re.sub(r"\\u\{([0-9a-fA-F]+)\}", lambda found: chr(int(found[1], 16)), text)
