"""Conditions on the constants under which one predicate covers or overlaps another, for any two forms.

These are the conditions that the theorems prove exact, and that the model's code is held to. Two rules come before the
tables: a predicate covers, and overlaps, `= b` exactly where it holds of b; and `!= a` covers what does not hold of a.

That a filter exists (FLT-5) is taken for granted: the constant of `<` is not empty. Formulas about strings that are
made of the first, or of the last, character only comes from the ends of the order: below U+0000 U+0000 there is nothing
but "" and U+0000, and what is not below a string of last characters begins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from routeproof.spec.theory import Amount, Truth, all_of, any_of, negation, same, whole
from routeproof.spec.theory.filters.predicates import PRESENT, Constant, Form, Value, boolean, holds, number, string
from routeproof.spec.theory.filters.strings import FIRST, LAST, ShortWords, StringTheory, Word


def covers_when(words: StringTheory, f: Form, a: Constant, g: Form, b: Constant) -> Truth:
    """When f, with a, covers g, with b; both exist."""
    if f == PRESENT:
        return True  # FLT-11
    if g == PRESENT or f.admits != g.admits:
        return False
    if g.operator == "=":
        return holds(words, f, a, value_of(g, b))
    pair = (f.operator, g.operator)
    match f.admits:
        case "boolean":
            return same(a, b) if f.operator == "!=" else negation(same(a, b))
        case "number" if pair in NUMBERS_COVER:
            return NUMBERS_COVER[pair](a, b)
        case "string" if pair in STRINGS_COVER:
            return STRINGS_COVER[pair](words, a, b)
    return False


def overlaps_when(words: StringTheory, f: Form, a: Constant, g: Form, b: Constant) -> Truth:
    """When something meets both f, with a, and g, with b; both exist."""
    if PRESENT in (f, g):
        return True
    if f.admits != g.admits:
        return False
    if g.operator == "=":
        return holds(words, f, a, value_of(g, b))
    if f.operator == "=":
        return holds(words, g, b, value_of(f, a))
    pair, turned = (f.operator, g.operator), (g.operator, f.operator)
    match f.admits:
        case "boolean":
            return same(a, b)
        case "number" if pair in NUMBERS_OVERLAP:
            return NUMBERS_OVERLAP[pair](a, b)
        case "number" if turned in NUMBERS_OVERLAP:
            return NUMBERS_OVERLAP[turned](b, a)
        case "string" if pair in STRINGS_OVERLAP:
            return STRINGS_OVERLAP[pair](words, a, b)
        case "string" if turned in STRINGS_OVERLAP:
            return STRINGS_OVERLAP[turned](words, b, a)
    return True


def value_of(form: Form, constant: Constant) -> Value:
    """The one value of which `=` with that constant holds."""
    assert form.operator == "=", f"{form} may hold of many values"
    return {"number": number, "string": string, "boolean": boolean}[form.kind](constant)


NumberCondition = Callable[[Amount, Amount], Truth]

NUMBERS_COVER: Mapping[tuple[str, str], NumberCondition] = {
    ("<", "<"): lambda a, b: b <= a,
    ("<", "<="): lambda a, b: b < a,
    ("<=", "<"): lambda a, b: b <= a,
    ("<=", "<="): lambda a, b: b <= a,
    (">", ">"): lambda a, b: b >= a,
    (">", ">="): lambda a, b: b > a,
    (">=", ">"): lambda a, b: b >= a,
    (">=", ">="): lambda a, b: b >= a,
    ("!=", "!="): lambda a, b: a == b,
    ("!=", "<"): lambda a, b: b <= a,
    ("!=", "<="): lambda a, b: b < a,
    ("!=", ">"): lambda a, b: b >= a,
    ("!=", ">="): lambda a, b: b > a,
    ("!=", "integer"): lambda a, b: negation(whole(a)),
    ("integer", "integer"): lambda a, b: True,
}
"""Conditions under which f, with a, covers g, with b; other pairs never do, but where g is `=` (`covers_when`)."""

NUMBERS_OVERLAP: Mapping[tuple[str, str], NumberCondition] = {
    ("<", ">"): lambda a, b: b < a,
    ("<", ">="): lambda a, b: b < a,
    ("<=", ">"): lambda a, b: b < a,
    ("<=", ">="): lambda a, b: b <= a,
}
"""Pairs that are here in neither order always do, but where one is `=` (see `overlaps_when`)."""


StringCondition = Callable[[StringTheory, Word, Word], Truth]


def _after(w: StringTheory, word: Word) -> Word:
    return w.joined(word, w.word(FIRST))


def _empty(w: StringTheory, word: Word) -> Truth:
    return w.equal(word, w.word(""))


def _up_to(w: StringTheory, low: Word, high: Word) -> Truth:
    return negation(w.before(high, low))


def _a_is_empty(w: StringTheory, a: Word, b: Word) -> Truth:
    return _empty(w, a)


def _both_are_empty(w: StringTheory, a: Word, b: Word) -> Truth:
    return all_of(_empty(w, a), _empty(w, b))


def _none_before(w: StringTheory, a: Word, b: Word) -> Truth:
    """No word before a ends with b, or has it: with enough of U+0000 in front, b comes before all but U+0000 ..."""
    return all_of(w.of_first(a), negation(all_of(w.of_first(b), w.before(b, a))))


def _none_up_to(w: StringTheory, a: Word, b: Word) -> Truth:
    return all_of(w.of_first(a), negation(all_of(w.of_first(b), _up_to(w, b, a))))


def _on_from_last(w: StringTheory, a: Word, b: Word) -> Truth:
    """Every word from b on has a in it: only a row of last characters can be forced, and only from high enough."""
    assert isinstance(w, ShortWords), "whether a row of characters is forced is stated for short strings only"
    rows = [(w.word(LAST * times), w.forced(times)) for times in range(1, w.constants + 1)]
    return any_of(_empty(w, a), *(all_of(w.equal(a, row), w.before(near, b)) for row, near in rows))


STRINGS_COVER: Mapping[tuple[str, str], StringCondition] = {
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
    (">=", ">"): lambda w, a, b: _up_to(w, a, _after(w, b)),
    (">=", ">="): _up_to,
    (">=", "prefix"): _up_to,
    (">=", "suffix"): _none_before,
    (">=", "contains"): _none_before,
    ("prefix", ">"): lambda w, a, b: all_of(w.of_last(a), _up_to(w, a, b)),
    ("prefix", ">="): lambda w, a, b: all_of(w.of_last(a), _up_to(w, a, b)),
    ("prefix", "prefix"): lambda w, a, b: w.begins(b, a),
    ("suffix", "suffix"): lambda w, a, b: w.ends(b, a),
    ("contains", ">"): _on_from_last,
    ("contains", ">="): _on_from_last,
    ("contains", "prefix"): lambda w, a, b: w.has(b, a),
    ("contains", "suffix"): lambda w, a, b: w.has(b, a),
    ("contains", "contains"): lambda w, a, b: w.has(b, a),
    **dict.fromkeys(product((">=",), ("<", "<=")), _a_is_empty),
    **dict.fromkeys(product(("prefix", "suffix", "contains"), ("!=", "<", "<=")), _a_is_empty),
    **dict.fromkeys(product(("prefix",), ("suffix", "contains")), _a_is_empty),
    **dict.fromkeys(product(("suffix",), (">", ">=", "prefix", "contains")), _a_is_empty),
}
"""Conditions under which f, with a, covers g, with b; other pairs never do, but where g is `=` (`covers_when`)."""

STRINGS_OVERLAP: Mapping[tuple[str, str], StringCondition] = {
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
"""Pairs that are here in neither order always do, but where one is `=` (see `overlaps_when`)."""
