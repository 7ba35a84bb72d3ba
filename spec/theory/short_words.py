"""Strings up to a bound, over all code points: decidable, where Z3's own theory of strings gives up.

A word of at most n characters is n integers: code points, then -1 where it is over. So the order is that of the
integers, place by place, and a string comes before all that it begins. Of literal text everything folds to plain truth
values, whatever its length.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import z3
from attrs import frozen

from routeproof.spec.theory.logic import Amount, Truth, all_of, any_of, negation
from routeproof.spec.theory.words import FIRST, SECOND

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


def _beside(one: Short, other: Short) -> list[tuple[Amount, Amount]]:
    return [(one.at(place), other.at(place)) for place in range(max(len(one.places), len(other.places)))]


def _equal(one: Amount, other: Amount) -> Truth:
    truth: Truth = one == other
    return truth


def _choice(condition: Truth, then: Amount, otherwise: Amount) -> Amount:
    if isinstance(condition, bool):
        return then if condition else otherwise
    return z3.If(condition, then, otherwise)
