"""Meaning of each predicate of the dialect `strict`: the table of `spec/filters.md`, cell by cell.

A `Form` is a predicate without its constant: an operator, and the kind of constant that it is written with.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from attrs import frozen

from routeproof.spec.theory.filters.strings import StringTheory, Word
from routeproof.spec.theory.filters.values import Value
from routeproof.spec.theory.logic.formulas import Amount, Truth, all_of, any_of, negation, same, whole

Kind = Literal["number", "string", "boolean", ""]
Constant: TypeAlias = Any
"""An amount, a word or a truth, as the form's kind says; None where there is none."""


@frozen
class Form:
    """`kind` is that of the constant; without a constant it is empty."""

    operator: str
    kind: Kind = ""

    def __str__(self) -> str:
        return f"{self.operator} {self.kind}".rstrip()

    @property
    def admits(self) -> Kind:
        """The kind of value that it can hold of; empty where it can hold of any."""
        return "number" if self.operator == "integer" else self.kind


NUMBER_FORMS = tuple(Form(operator, "number") for operator in ("=", "!=", "<", "<=", ">", ">="))
STRING_FORMS = tuple(
    Form(operator, "string") for operator in ("=", "!=", "<", "<=", ">", ">=", "prefix", "suffix", "contains")
)
BOOLEAN_FORMS = tuple(Form(operator, "boolean") for operator in ("=", "!="))
PRESENT, INTEGER = Form("present"), Form("integer")
FORMS = (*NUMBER_FORMS, INTEGER, *STRING_FORMS, *BOOLEAN_FORMS, PRESENT)


def holds(words: StringTheory, form: Form, constant: Constant, value: Value) -> Truth:
    """FLT-3 and FLT-4 are the first conjunct: of a value of another kind, or of none, nothing holds."""
    match form.kind:
        case "number":
            return all_of(value.number, _compares(form.operator, value.amount, constant))
        case "boolean":
            equal = same(value.truth, constant)
            return all_of(value.boolean, equal if form.operator == "=" else negation(equal))
        case "string" if value.string is False:
            return False  # it has no text to look at
        case "string":
            return all_of(value.string, _holds_of_text(words, form.operator, value.text, constant))
    if form.operator == "integer":
        return all_of(value.number, whole(value.amount))
    return negation(value.missing)


def exists(words: StringTheory, form: Form, constant: Constant) -> Truth:
    """Whether it holds of anything (FLT-5): only of no string is there one before."""
    if form == Form("<", "string"):
        return negation(words.equal(constant, words.word("")))
    return True


def _compares(operator: str, amount: Amount, constant: Amount) -> Truth:
    """FLT-8."""
    answer: Truth
    match operator:
        case "=":
            answer = amount == constant
        case "!=":
            answer = amount != constant
        case "<":
            answer = amount < constant
        case "<=":
            answer = amount <= constant
        case ">":
            answer = amount > constant
        case _:
            answer = amount >= constant
    return answer


def _holds_of_text(words: StringTheory, operator: str, text: Word, constant: Word) -> Truth:
    """FLT-9 and FLT-10."""
    match operator:
        case "=":
            return words.equal(text, constant)
        case "!=":
            return negation(words.equal(text, constant))
        case "<":
            return words.before(text, constant)
        case "<=":
            return any_of(words.before(text, constant), words.equal(text, constant))
        case ">":
            return words.before(constant, text)
        case ">=":
            return any_of(words.before(constant, text), words.equal(text, constant))
        case "prefix":
            return words.begins(text, constant)
        case "suffix":
            return words.ends(text, constant)
        case _:
            return words.has(text, constant)
