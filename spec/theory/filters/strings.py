"""Strings, as the theory sees them (FLT-9, FLT-10): of any length, and up to a bound.

`StringTheory` is what the meaning of predicates is written against. `AllWords` is Z3's own theory of strings: any
length, but undecidable in general, and with characters up to U+2FFFF only.

`ShortWords` are strings up to a bound, over all code points: decidable, where Z3's own theory gives up. A word of at
most n characters is n integers: code points, then -1 where it is over. So the order is that of the integers, place by
place, and a string comes before all that it begins. Of literal text everything folds to plain truth values, whatever
its length.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import z3
from attrs import frozen

from routeproof.spec.theory import Amount, Truth, all_of, any_of, negation

Word: TypeAlias = Any
"""A string of the theory at hand."""

FIRST = "\0"
SECOND = "\1"


class AllWords:
    """Strings of any length in Z3's theory of sequences."""

    bound = ""
    """Which strings this is about; empty for all of them."""
    last = 0x2FFFF
    """Z3's last character. FLT-9 has more; docs/explanation/proofs.md says why that makes no difference."""

    @property
    def fields(self) -> Sequence[tuple[str, z3.SortRef]]:
        """Parts that represent a word in a Z3 datatype."""
        return (("text", z3.StringSort()),)

    def made_of(self, fields: Sequence[z3.ExprRef]) -> Word:
        return fields[0]

    def terms(self, word: Word) -> Sequence[z3.ExprRef]:
        """Terms that a model must give values to, so that `written` can spell the word."""
        return (word,)

    def written(self, values: Sequence[Any]) -> str:
        return str(values[0])

    def constant(self, name: str) -> Word:
        return z3.String(name)

    def proper(self, word: Word) -> Truth:
        """True if the terms of a symbolic word are a word at all."""
        return True

    def plain(self, word: Word) -> Truth:
        """True if it is short and made of letters: for counterexamples that can be read."""
        return z3.And(z3.InRe(word, z3.Star(z3.Range("a", "b"))), z3.Length(word) <= 2)

    def word(self, text: str) -> Word:
        return z3.StringVal(escaped(text))

    def equal(self, one: Word, other: Word) -> Truth:
        return one == other

    def before(self, one: Word, other: Word) -> Truth:
        """In code point order, a string before all that it begins (FLT-9)."""
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
        """True if every character is the first, U+0000."""
        return z3.InRe(word, z3.Star(z3.Re(self.word(FIRST))))

    def of_last(self, word: Word) -> Truth:
        """True if every character is the last."""
        return z3.InRe(word, z3.Star(z3.Re(self.word(chr(self.last)))))

    def witnesses(self, a: Word, b: Word) -> Sequence[Word]:
        """Among these is one that shows a difference, or something in common, where there is one."""
        first, second = self.word(FIRST), self.word(SECOND)
        made = [(a, b), (b, a), (a, first, b)]
        made += [(c, x) for x in (a, b) for c in (first, second)] + [(x, c) for x in (a, b) for c in (first, second)]
        return [self.word(""), first, second, a, b, *(self.joined(*parts) for parts in made)]


def escaped(text: str) -> str:
    """Escapes a text so that Z3 reads it back: Z3 takes a backslash in a string for the beginning of an escape."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\u{{{ord(c):x}}}" for c in text)


def unescaped(text: str) -> str:
    return re.sub(r"\\u\{([0-9a-fA-F]+)\}", lambda found: chr(int(found[1], 16)), text)


END = -1
LAST = chr(sys.maxunicode)


@frozen
class Short:
    """A word: code points, then only `END`."""

    places: tuple[Amount, ...]

    def at(self, place: int) -> Amount:
        return self.places[place] if place < len(self.places) else END

    def has_length(self, length: int) -> Truth:
        begun = length == 0 or negation(_equal(self.at(length - 1), END))
        return all_of(begun, _equal(self.at(length), END))

    def lengths(self) -> Iterator[tuple[int, Truth]]:
        return ((length, self.has_length(length)) for length in range(len(self.places) + 1))


@frozen
class ShortWords:
    """Constants of up to `constants` characters; values of up to `values`, so that every witness is one."""

    constants: int

    @property
    def values(self) -> int:
        return 2 * self.constants + 1

    @property
    def bound(self) -> str:
        return f"constants of up to {self.constants} characters, values of up to {self.values}"

    @property
    def fields(self) -> Sequence[tuple[str, z3.SortRef]]:
        return tuple((f"text{place}", z3.IntSort()) for place in range(self.values))

    def made_of(self, fields: Sequence[z3.ExprRef]) -> Short:
        return Short(tuple(fields))

    def terms(self, word: Short) -> Sequence[z3.ExprRef]:
        return [z3.IntVal(place) if isinstance(place, int) else place for place in word.places]

    def written(self, values: Sequence[Any]) -> str:
        return "".join(chr(value) for value in values if value != END)

    def constant(self, name: str) -> Short:
        return Short(tuple(z3.Int(f"{name}{place}") for place in range(self.constants)))

    def proper(self, word: Short) -> Truth:
        rest = zip(word.places, word.places[1:], strict=False)
        return all_of(
            *(all_of(place >= END, place <= sys.maxunicode) for place in word.places),
            *(any_of(negation(_equal(here, END)), _equal(there, END)) for here, there in rest),
        )

    def plain(self, word: Short) -> Truth:
        letters = [any_of(*(_equal(place, code) for code in (END, ord("a"), ord("b")))) for place in word.places]
        return all_of(*letters, _equal(word.at(2), END))

    def word(self, text: str) -> Short:
        return Short(tuple(map(ord, text)))

    def equal(self, one: Short, other: Short) -> Truth:
        return all_of(*(_equal(x, y) for x, y in _beside(one, other)))

    def before(self, one: Short, other: Short) -> Truth:
        answer: Truth = False
        for x, y in reversed(_beside(one, other)):
            answer = any_of(x < y, all_of(_equal(x, y), answer))
        return answer

    def begins(self, word: Short, prefix: Short) -> Truth:
        return self._stands_at(word, prefix, 0)

    def ends(self, word: Short, suffix: Short) -> Truth:
        return any_of(
            *(
                all_of(is_long, is_short, self._stands_at(word, suffix, long - short))
                for long, is_long in word.lengths()
                for short, is_short in suffix.lengths()
                if short <= long
            )
        )

    def has(self, word: Short, part: Short) -> Truth:
        return any_of(*(self._stands_at(word, part, start) for start in range(len(word.places) + 1)))

    def joined(self, *words: Short) -> Short:
        if not words:
            return Short(())
        head, rest = words[0], self.joined(*words[1:])
        places = []
        for place in range(len(head.places) + len(rest.places)):
            code: Amount = head.at(place)
            for length, is_it in head.lengths():
                if length <= place:
                    code = _choice(is_it, rest.at(place - length), code)
            places.append(code)
        return Short(tuple(places))

    def of_first(self, word: Short) -> Truth:
        return self._made_of(word, FIRST)

    def of_last(self, word: Short) -> Truth:
        return self._made_of(word, LAST)

    def forced(self, times: int) -> Short:
        """A constant above this is one above which `LAST` stands `times` in a row in every word.

        Words without that many in a row rise toward: `times` - 1 of them, the character before `LAST`, and the same
        again and again. One character longer than constants are, so that none of these equals it.
        """
        unit = LAST * (times - 1) + chr(sys.maxunicode - 1)
        return self.word((unit * (self.constants + 1))[: self.constants + 1])

    def witnesses(self, a: Short, b: Short) -> Sequence[Short]:
        first, second = self.word(FIRST), self.word(SECOND)
        low, high = self.word(FIRST * self.constants), self.word(LAST * (self.constants + 1))
        made = [(a, b), (b, a), (a, first, b)]
        made += [(c, x) for x in (a, b) for c in (first, second, low, high)]
        made += [(x, c) for x in (a, b) for c in (first, second)]
        near = [self.forced(times) for times in range(1, self.constants + 1)]
        return [self.word(""), first, second, high, *near, a, b, *(self.joined(*parts) for parts in made)]

    def _made_of(self, word: Short, character: str) -> Truth:
        return all_of(*(any_of(_equal(place, END), _equal(place, ord(character))) for place in word.places))

    def _stands_at(self, word: Short, part: Short, start: int) -> Truth:
        return all_of(
            *(any_of(_equal(code, END), _equal(code, word.at(start + place))) for place, code in enumerate(part.places))
        )


StringTheory: TypeAlias = AllWords | ShortWords


def _beside(one: Short, other: Short) -> list[tuple[Amount, Amount]]:
    return [(one.at(place), other.at(place)) for place in range(max(len(one.places), len(other.places)))]


def _equal(one: Amount, other: Amount) -> Truth:
    truth: Truth = one == other
    return truth


def _choice(condition: Truth, then: Amount, otherwise: Amount) -> Amount:
    if isinstance(condition, bool):
        return then if condition else otherwise
    return z3.If(condition, then, otherwise)
