"""Beyond what is proved: whole filters and events at random, answered by the model and by Z3 from the theory alone.

Z3 is given the concrete filters as conjunctions of predicates, one value for each attribute, and asked whether some
event is in both (`overlaps`), or in one and not in the other (`covers`). It decides that by itself; no condition is
involved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.model.filters import STRICT, FilterError, PredicateFilter
from routeproof.spec.theory import all_of, formula, negation
from routeproof.spec.theory.filters.conditions import covers_when, overlaps_when
from routeproof.spec.theory.filters.predicates import (
    BOOLEAN_FORMS,
    INTEGER,
    NUMBER_FORMS,
    PRESENT,
    STRING_FORMS,
    Form,
    Values,
    exists,
    holds,
    literal,
)
from routeproof.spec.theory.filters.strings import AllWords, ShortWords, StringTheory, escaped, unescaped
from tests.campaigns import drawn
from tests.spec.theory.draws import FEW_NUMBERS, NUMBERS, meant, predicates, texts, written

NO_STRINGS = (*NUMBER_FORMS, INTEGER, *BOOLEAN_FORMS, PRESENT)
ON_STRINGS = (*STRING_FORMS, PRESENT)
ATTRIBUTES = "xyz"
SHORT = ShortWords(4)

Written = tuple[str, Form, Any]


def wholes(forms: Sequence[Form], most: int, longest: int = 1) -> st.SearchStrategy[list[Written]]:
    """Filters, predicate by predicate, over three attributes."""
    one = predicates(FEW_NUMBERS, texts(longest), forms)
    return st.lists(st.tuples(st.sampled_from(ATTRIBUTES), one).map(lambda p: (p[0], *p[1])), max_size=most)


def constant(words: StringTheory, form: Form, written: object) -> Any:
    """What Z3 gets for a constant."""
    if form.kind == "string":
        return words.word(str(written))
    return z3.RealVal(str(meant(written))) if form.kind == "number" else written


def meaning(words: StringTheory, values: Values, rows: list[Written]) -> z3.BoolRef:
    read = {name: values.read(values.any(name)) for name in ATTRIBUTES}
    return formula(all_of(*(holds(words, form, constant(words, form, c), read[name]) for name, form, c in rows)))


def satisfiable(values: Values, *formulas: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.set(rlimit=40_000_000, random_seed=0)
    solver.add(*formulas, *(formula(values.proper(values.read(values.any(name)))) for name in ATTRIBUTES))
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.sat)


def parsed(rows: list[Written]) -> PredicateFilter | None:
    try:
        return STRICT.parse([written(form, c, name) for name, form, c in rows])
    except FilterError:
        return None


def compare(words: StringTheory, f: list[Written], g: list[Written]) -> None:
    values = Values.over(words)
    one, other = parsed(f), parsed(g)
    in_f, in_g = meaning(words, values, f), meaning(words, values, g)
    assert (one is None, other is None) == (not satisfiable(values, in_f), not satisfiable(values, in_g))  # FLT-5
    if one is not None and other is not None:
        assert one.overlaps(other) == other.overlaps(one) == satisfiable(values, in_f, in_g)
        assert one.covers(other) == (not satisfiable(values, in_g, z3.Not(in_f)))
        assert other.covers(one) == (not satisfiable(values, in_f, z3.Not(in_g)))


@settings(deadline=None, max_examples=150)
@given(wholes(NO_STRINGS, 5), wholes(NO_STRINGS, 5))
def test_filters_without_strings(f: list[Written], g: list[Written]) -> None:
    compare(AllWords(), f, g)


@drawn(0.2)
def test_filters_on_strings(share: float) -> None:
    """Up to 9 characters, which is more than three constants of one character can force apart."""
    one = predicates(FEW_NUMBERS, texts(1), ON_STRINGS)

    @settings(deadline=None, max_examples=round(60 * share))
    @given(st.lists(one, max_size=2), one)
    def run(f: list[tuple[Form, Any]], g: tuple[Form, Any]) -> None:
        compare(SHORT, [("x", *each) for each in f], [("x", *g)])

    run()


PLAIN = st.one_of(st.none(), st.booleans(), NUMBERS, texts(6))


@settings(deadline=None, max_examples=300)
@given(predicates(NUMBERS, texts(3)), PLAIN)
def test_matches_as_the_theory_says(predicate: tuple[Form, Any], value: Any) -> None:
    form, c = predicate
    read = parsed([("x", form, c)])
    meant_by_c = SHORT.word(c) if form.kind == "string" else meant(c)
    expected = holds(SHORT, form, meant_by_c, literal(SHORT, meant(value)))
    assert (read is not None) == exists(SHORT, form, meant_by_c)
    if read is not None:
        assert read.matches(STRICT.event({} if value is None else {"x": value})) is expected


Z3_ALPHABET = '\0\1ab\\u{}"\U0002ffff'


@settings(deadline=None, max_examples=200)
@given(predicates(NUMBERS, texts(3, Z3_ALPHABET)), st.one_of(st.none(), st.booleans(), NUMBERS, texts(6, Z3_ALPHABET)))
def test_matches_as_z3_evaluates_it(predicate: tuple[Form, Any], value: Any) -> None:
    """Z3's own numbers and strings, not ours: the two readings of the table are one."""
    form, c = predicate
    words = AllWords()
    values = Values.over(words)
    read = parsed([("x", form, c)])
    if read is None:
        return
    sort, plain = values.sort, meant(value)
    term = sort.constructor(0)()
    if isinstance(plain, bool):
        term = sort.constructor(1)(z3.BoolVal(plain))
    elif isinstance(plain, str):
        term = sort.constructor(3)(words.word(plain))
    elif plain is not None:
        term = sort.constructor(2)(z3.RealVal(str(plain)))
    answer = evaluated(formula(holds(words, form, constant(words, form, c), values.read(term))))
    assert read.matches(STRICT.event({} if value is None else {"x": value})) is answer


def evaluated(closed: z3.BoolRef) -> bool:
    """A formula without symbols; one step of simplifying does not always do."""
    solver = z3.Solver()
    solver.add(closed)
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.sat)


@settings(deadline=None, max_examples=400)
@given(predicates(NUMBERS, texts(3)), predicates(NUMBERS, texts(3)))
def test_pairs_as_the_conditions_say(one: tuple[Form, Any], other: tuple[Form, Any]) -> None:
    """The conditions beyond the constants that `routeproof prove` tries."""
    (f, a), (g, b) = one, other
    words = ShortWords(3)
    first, second = parsed([("x", f, a)]), parsed([("x", g, b)])
    if first is None or second is None:
        return
    x = words.word(a) if f.kind == "string" else meant(a)
    y = words.word(b) if g.kind == "string" else meant(b)
    assert first.covers(second) is covers_when(words, f, x, g, y)
    assert first.overlaps(second) is overlaps_when(words, f, x, g, y)
    assert (parsed([("x", f, a), ("x", g, b)]) is not None) is overlaps_when(words, f, x, g, y)


@settings(deadline=None)
@given(st.text(max_size=12), st.text(max_size=12))
def test_short_words_fold_like_python(one: str, other: str) -> None:
    w = ShortWords(3)
    x, y = w.word(one), w.word(other)
    assert (w.before(x, y), w.equal(x, y)) == (one < other, one == other)
    assert (w.begins(x, y), w.ends(x, y), w.has(x, y)) == (one.startswith(other), one.endswith(other), other in one)
    assert w.written(w.joined(x, y).places) == one + other


@settings(deadline=None)
@given(st.text(alphabet=Z3_ALPHABET, max_size=4), st.text(alphabet=Z3_ALPHABET, max_size=4))
def test_z3_orders_strings_by_code_point(one: str, other: str) -> None:
    w = AllWords()
    x, y = w.word(one), w.word(other)
    assert unescaped(escaped(one)) == one
    for answer, expected in (
        (w.before(x, y), one < other),
        (w.begins(x, y), one.startswith(other)),
        (w.ends(x, y), one.endswith(other)),
        (w.has(x, y), other in one),
        (w.of_first(x), not one.strip("\0")),
        (w.equal(x, y), one == other),
        (w.equal(w.joined(x, y), w.word(one + other)), True),
    ):
        assert evaluated(formula(answer)) is expected


@pytest.mark.parametrize("form", [*NUMBER_FORMS, *STRING_FORMS, *BOOLEAN_FORMS, INTEGER, PRESENT], ids=str)
def test_there_is_no_other_predicate(form: Form) -> None:
    """Every form is one that the model reads; what it reads beside them is none."""
    operators = {each.operator for each in (*STRING_FORMS, INTEGER, PRESENT)}
    sample = {"number": 1, "string": "a", "boolean": True, "": None}
    assert parsed([("x", form, sample[form.kind])]) is not None
    for kind, value in sample.items():
        known = any(each == Form(form.operator, kind) for each in (*NUMBER_FORMS, *ON_STRINGS, *NO_STRINGS))  # type: ignore[arg-type]
        assert (parsed([("x", form, value)]) is not None) is known
    with pytest.raises(FilterError) as refused:
        STRICT.parse([["x", "none such", 1]])
    assert set(str(refused.value).split("one of ")[1].split()) == operators


def test_negation_of_a_filter_is_no_filter() -> None:
    """`!=` is false of a missing attribute, as everything is (FLT-3)."""
    w, values = SHORT, Values.over(SHORT)
    v = values.read(values.any("x"))
    equal, unequal = Form("=", "number"), Form("!=", "number")
    neither = all_of(negation(holds(w, equal, 1, v)), negation(holds(w, unequal, 1, v)))
    assert satisfiable(values, formula(all_of(neither, v.missing)))
    assert not satisfiable(values, formula(all_of(neither, v.number)))
