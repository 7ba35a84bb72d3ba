"""Each condition is the only one: a neighbour in its place is refuted, with constants that show it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.prove.solve import Settled, settle
from routeproof.spec import theory
from routeproof.spec.theory import negation
from routeproof.spec.theory.filters.conditions import NUMBERS_COVER, NUMBERS_OVERLAP, STRINGS_COVER, STRINGS_OVERLAP
from routeproof.spec.theory.filters.pairs import UNDECIDED, covering, ordered, overlapping, unordered
from routeproof.spec.theory.filters.predicates import INTEGER, NUMBER_FORMS, STRING_FORMS, Form, Values
from routeproof.spec.theory.filters.strings import AllWords, ShortWords
from tests.shown import recorded

VALUES = Values.over(ShortWords(2))
TABLES = {
    "numbers cover": (NUMBERS_COVER, covering, "number"),
    "numbers overlap": (NUMBERS_OVERLAP, overlapping, "number"),
    "strings cover": (STRINGS_COVER, covering, "string"),
    "strings overlap": (STRINGS_OVERLAP, overlapping, "string"),
}


def form(operator: str, kind: Any) -> Form:
    return INTEGER if operator == "integer" else Form(operator, kind)


def settled(table: str, pair: tuple[str, str]) -> list[Settled]:
    _, make, kind = TABLES[table]
    f, g = (form(operator, kind) for operator in pair)
    return [settle(each) for each in make(VALUES, [(f, g)])]


def contrary_to(condition: Any) -> Callable[..., Any]:
    return lambda *words: negation(condition(*words))


@recorded
@pytest.mark.parametrize("table", TABLES)
def test_no_condition_can_be_its_contrary(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That each condition itself is proved is what the theorems say."""
    conditions, _, _ = TABLES[table]
    for pair, condition in list(conditions.items()):
        monkeypatch.setitem(conditions, pair, contrary_to(condition))
        assert "refuted" in {each.verdict for each in settled(table, pair)}, pair
        monkeypatch.undo()


@recorded
@pytest.mark.parametrize("table", TABLES)
def test_no_condition_can_be_left_out(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conditions, _, _ = TABLES[table]
    for pair in list(conditions):
        monkeypatch.delitem(conditions, pair)
        assert "refuted" in {each.verdict for each in settled(table, pair)}, pair
        monkeypatch.undo()


@recorded
@pytest.mark.parametrize(
    ("table", "pair", "wrong"),
    [
        ("numbers cover", ("<", "<="), lambda a, b: b <= a),
        ("numbers cover", (">", ">="), lambda a, b: b >= a),
        ("numbers cover", ("<=", "<"), lambda a, b: b < a),
        ("numbers cover", ("!=", "integer"), lambda a, b: a > 0),
        ("numbers overlap", ("<", ">="), lambda a, b: b <= a),
        ("numbers overlap", ("<=", ">="), lambda a, b: b < a),
        ("numbers overlap", ("<", ">"), lambda a, b: b + 1 < a),
        ("strings overlap", ("<", ">"), lambda w, a, b: w.before(b, a)),
        ("strings overlap", (">", "prefix"), lambda w, a, b: w.before(a, b)),
        ("strings overlap", ("prefix", "prefix"), lambda w, a, b: w.begins(a, b)),
        ("strings overlap", ("<", "suffix"), lambda w, a, b: True),
        ("strings cover", ("<=", "<"), lambda w, a, b: negation(w.before(a, b))),
        ("strings cover", ("prefix", ">="), lambda w, a, b: w.equal(a, w.word(""))),
        ("strings cover", ("contains", ">="), lambda w, a, b: w.equal(a, w.word(""))),
        ("strings cover", (">=", "suffix"), lambda w, a, b: w.equal(a, w.word(""))),
        ("strings cover", (">=", "!="), lambda w, a, b: w.equal(a, w.word(""))),
        ("strings cover", ("<", "prefix"), lambda w, a, b: w.before(b, a)),
        ("strings cover", ("contains", "suffix"), lambda w, a, b: w.ends(b, a)),
    ],
)
def test_near_misses_are_refuted(
    table: str, pair: tuple[str, str], wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    conditions, _, _ = TABLES[table]
    monkeypatch.setitem(conditions, pair, wrong)
    refuted = [each for each in settled(table, pair) if each.verdict == "refuted"]
    assert refuted
    assert all({"f", "g"} <= set(each.shown) for each in refuted)


def test_counterexamples_are_small_and_say_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NUMBERS_COVER, ("<", "<="), lambda a, b: b <= a)
    refuted = next(each for each in settled("numbers cover", ("<", "<=")) if each.verdict == "refuted")
    assert refuted.name == "< number covers <= number, enough"
    assert refuted.shown in [{"f": f"v < {n}", "g": f"v <= {n}", "v": str(n)} for n in range(3)]


def test_the_theory_knows_nothing_of_the_model() -> None:
    """Or it would agree with the model by construction. What an overlay is, is vocabulary."""
    folder = Path(theory.__file__).parent
    files = [*folder.rglob("*.py"), *(folder.parent / "pruning" / "theory").rglob("*.py")]
    assert len(files) > 30, "the packages of the theory are among them"
    for file in files:
        said = file.read_text(encoding="utf-8").replace("from routeproof.model.overlay import", "")
        assert "routeproof.model" not in said, file.name


def test_every_pair_is_asked_about_exactly_once() -> None:
    for forms in (NUMBER_FORMS, STRING_FORMS):
        assert len(ordered(forms)) == len(forms) ** 2
        assert len(unordered(forms)) == len(forms) * (len(forms) + 1) // 2
    known = {(f.operator, g.operator) for f, g in ordered(STRING_FORMS)}
    assert UNDECIDED["covers"] < known
    assert UNDECIDED["overlaps"] < {(f.operator, g.operator) for f, g in unordered(STRING_FORMS)}


def test_conditions_are_about_pairs_that_there_are() -> None:
    for conditions, _, kind in TABLES.values():
        forms = (*NUMBER_FORMS, INTEGER) if kind == "number" else STRING_FORMS
        operators = {each.operator for each in forms}
        assert all(set(pair) <= operators for pair in conditions)


def test_values_over_several_theories_of_strings_do_not_replace_each_other() -> None:
    short = Values.over(ShortWords(2))
    Values.over(ShortWords(1))
    Values.over(AllWords())
    assert short.sort.constructor(3).arity() == ShortWords(2).values
    assert len(short.read(short.any("v")).text.places) == ShortWords(2).values
