"""When one predicate on strings covers or overlaps another, as a formula over their constants a and b.

That a filter exists (FLT-5) is taken for granted: the constant of `<` is not empty. What is said of strings that are
made of the first, or of the last, character only comes from the ends of the order: below U+0000 U+0000 there is nothing
but "" and U+0000, and what is not below a string of last characters begins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from routeproof.spec.theory.logic import Truth, all_of, any_of, negation
from routeproof.spec.theory.short_words import LAST, ShortWords
from routeproof.spec.theory.words import FIRST, Word, Words

Condition = Callable[[Words, Word, Word], Truth]


def _after(w: Words, word: Word) -> Word:
    return w.joined(word, w.word(FIRST))


def _empty(w: Words, word: Word) -> Truth:
    return w.equal(word, w.word(""))


def _up_to(w: Words, low: Word, high: Word) -> Truth:
    return negation(w.before(high, low))


def _a_is_empty(w: Words, a: Word, b: Word) -> Truth:
    return _empty(w, a)


def _both_are_empty(w: Words, a: Word, b: Word) -> Truth:
    return all_of(_empty(w, a), _empty(w, b))


def _none_before(w: Words, a: Word, b: Word) -> Truth:
    """No word before a ends with b, or has it: with enough of U+0000 in front, b comes before all but U+0000 ..."""
    return all_of(w.of_first(a), negation(all_of(w.of_first(b), w.before(b, a))))


def _none_up_to(w: Words, a: Word, b: Word) -> Truth:
    return all_of(w.of_first(a), negation(all_of(w.of_first(b), _up_to(w, b, a))))


def _on_from_last(w: Words, a: Word, b: Word) -> Truth:
    """Every word from b on has a in it: only a row of last characters can be forced, and only from high enough."""
    assert isinstance(w, ShortWords), "whether a row of characters is forced is stated for short strings only"
    rows = [(w.word(LAST * times), w.forced(times)) for times in range(1, w.constants + 1)]
    return any_of(_empty(w, a), *(all_of(w.equal(a, row), w.before(near, b)) for row, near in rows))


COVERS: Mapping[tuple[str, str], Condition] = {
    ("=", "<"): lambda w, a, b: all_of(_empty(w, a), w.equal(b, w.word(FIRST))),
    ("=", "<="): _both_are_empty,
    ("!=", "!="): lambda w, a, b: w.equal(a, b),
    ("!=", "<"): lambda w, a, b: _up_to(w, b, a),
    ("!=", "<="): lambda w, a, b: w.before(b, a),
    ("!=", ">"): _up_to,
    ("!=", ">="): lambda w, a, b: w.before(a, b),
    ("!=", "prefix"): lambda w, a, b: negation(w.begins(a, b)),
    ("!=", "suffix"): lambda w, a, b: negation(w.ends(a, b)),
    ("!=", "contains"): lambda w, a, b: negation(w.has(a, b)),
    ("<", "<"): lambda w, a, b: _up_to(w, b, a),
    ("<", "<="): lambda w, a, b: w.before(b, a),
    ("<", "prefix"): lambda w, a, b: all_of(w.before(b, a), negation(w.begins(a, b))),
    ("<=", "<"): lambda w, a, b: _up_to(w, b, _after(w, a)),
    ("<=", "<="): lambda w, a, b: _up_to(w, b, a),
    ("<=", "prefix"): lambda w, a, b: all_of(w.before(b, a), negation(w.begins(a, b))),
    (">", "!="): _both_are_empty,
    (">", ">"): _up_to,
    (">", ">="): lambda w, a, b: w.before(a, b),
    (">", "prefix"): lambda w, a, b: w.before(a, b),
    (">", "suffix"): _none_up_to,
    (">", "contains"): _none_up_to,
    (">=", "!="): lambda w, a, b: any_of(_empty(w, a), all_of(w.equal(a, w.word(FIRST)), _empty(w, b))),
    (">=", "<"): _a_is_empty,
    (">=", "<="): _a_is_empty,
    (">=", ">"): lambda w, a, b: _up_to(w, a, _after(w, b)),
    (">=", ">="): _up_to,
    (">=", "prefix"): _up_to,
    (">=", "suffix"): _none_before,
    (">=", "contains"): _none_before,
    ("prefix", "!="): _a_is_empty,
    ("prefix", "<"): _a_is_empty,
    ("prefix", "<="): _a_is_empty,
    ("prefix", ">"): lambda w, a, b: all_of(w.of_last(a), _up_to(w, a, b)),
    ("prefix", ">="): lambda w, a, b: all_of(w.of_last(a), _up_to(w, a, b)),
    ("prefix", "prefix"): lambda w, a, b: w.begins(b, a),
    ("prefix", "suffix"): _a_is_empty,
    ("prefix", "contains"): _a_is_empty,
    ("suffix", "!="): _a_is_empty,
    ("suffix", "<"): _a_is_empty,
    ("suffix", "<="): _a_is_empty,
    ("suffix", ">"): _a_is_empty,
    ("suffix", ">="): _a_is_empty,
    ("suffix", "prefix"): _a_is_empty,
    ("suffix", "suffix"): lambda w, a, b: w.ends(b, a),
    ("suffix", "contains"): _a_is_empty,
    ("contains", "!="): _a_is_empty,
    ("contains", "<"): _a_is_empty,
    ("contains", "<="): _a_is_empty,
    ("contains", ">"): _on_from_last,
    ("contains", ">="): _on_from_last,
    ("contains", "prefix"): lambda w, a, b: w.has(b, a),
    ("contains", "suffix"): lambda w, a, b: w.has(b, a),
    ("contains", "contains"): lambda w, a, b: w.has(b, a),
}
"""Of (f, g): f, with a, covers g, with b. Pairs that are not here never do, but where g is `=` (see `conditions`)."""

OVERLAPS: Mapping[tuple[str, str], Condition] = {
    ("!=", "<"): lambda w, a, b: negation(all_of(_empty(w, a), w.equal(b, w.word(FIRST)))),
    ("!=", "<="): lambda w, a, b: negation(all_of(_empty(w, a), _empty(w, b))),
    ("<", ">"): lambda w, a, b: w.before(_after(w, b), a),
    ("<", ">="): lambda w, a, b: w.before(b, a),
    ("<", "prefix"): lambda w, a, b: w.before(b, a),
    ("<", "suffix"): lambda w, a, b: negation(_none_before(w, a, b)),
    ("<", "contains"): lambda w, a, b: negation(_none_before(w, a, b)),
    ("<=", ">"): lambda w, a, b: w.before(b, a),
    ("<=", ">="): lambda w, a, b: _up_to(w, b, a),
    ("<=", "prefix"): lambda w, a, b: _up_to(w, b, a),
    ("<=", "suffix"): lambda w, a, b: negation(_none_up_to(w, a, b)),
    ("<=", "contains"): lambda w, a, b: negation(_none_up_to(w, a, b)),
    (">", "prefix"): lambda w, a, b: any_of(w.before(a, b), w.begins(a, b)),
    (">=", "prefix"): lambda w, a, b: any_of(w.before(a, b), w.begins(a, b)),
    ("prefix", "prefix"): lambda w, a, b: any_of(w.begins(a, b), w.begins(b, a)),
    ("suffix", "suffix"): lambda w, a, b: any_of(w.ends(a, b), w.ends(b, a)),
}
"""Pairs that are here in neither order always do, but where one is `=` (see `conditions`)."""
