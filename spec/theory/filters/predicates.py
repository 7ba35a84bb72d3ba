"""Values and predicates of the dialect `strict`: the table of `spec/filters.md`, cell by cell.

The value of an attribute in an event is missing, or a boolean, a number or a string (FLT-1, FLT-3, FLT-4). A `Value` is
read either off a term of a Z3 datatype, and is then any value at all, or off a value of Python. Numbers are Z3's reals,
of which some are whole: exact and dense (FLT-2).

A `Form` is a predicate without its constant: an operator, and the kind of constant that it is written with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Literal, TypeAlias

import z3
from attrs import frozen

from routeproof.spec.theory import Amount, Truth, all_of, any_of, implication, negation, same, whole
from routeproof.spec.theory.filters.strings import StringTheory, Word

# -- values ------------------------------------------------------------------------------------------------------------


@frozen
class Value:
    """Exactly one of the four is so; the rest means something only where its kind is."""

    missing: Truth = False
    boolean: Truth = False
    number: Truth = False
    string: Truth = False
    truth: Truth = False
    amount: Amount = 0
    text: Word = None


MISSING = Value(missing=True)


def boolean(truth: Truth) -> Value:
    return Value(boolean=True, truth=truth)


def number(amount: Amount) -> Value:
    return Value(number=True, amount=amount)


def string(text: Word) -> Value:
    return Value(string=True, text=text)


def literal(words: StringTheory, value: object) -> Value:
    """A value as an event has it; None is missing."""
    match value:
        case None:
            return MISSING
        case bool():
            return boolean(value)
        case int() | Fraction():
            return number(value)
        case str():
            return string(words.word(value))
    raise TypeError(f"{value!r} is no value of an event")


@frozen
class Values:
    """The datatype of values over one theory of strings."""

    words: StringTheory
    sort: z3.DatatypeSortRef

    @classmethod
    def over(cls, words: StringTheory) -> Values:
        """Returns the values over a theory of strings.

        Each theory has a datatype of its own name: where two datatypes of a Z3 context share a name, the later one
        replaces the earlier one, whose accessors then fail.
        """
        made = z3.Datatype(f"Value {words.bound}".strip())
        made.declare("missing")
        made.declare("boolean", ("truth", z3.BoolSort()))
        made.declare("number", ("amount", z3.RealSort()))
        made.declare("string", *words.fields)
        return cls(words, made.create())

    def any(self, name: str) -> z3.DatatypeRef:
        return z3.Const(name, self.sort)

    def read(self, term: z3.DatatypeRef) -> Value:
        s = self.sort
        fields = [s.accessor(3, place)(term) for place in range(len(self.words.fields))]
        return Value(
            missing=s.recognizer(0)(term),
            boolean=s.recognizer(1)(term),
            number=s.recognizer(2)(term),
            string=s.recognizer(3)(term),
            truth=s.accessor(1, 0)(term),
            amount=s.accessor(2, 0)(term),
            text=self.words.made_of(fields),
        )

    def proper(self, value: Value) -> Truth:
        return implication(value.string, self.words.proper(value.text))

    def terms(self, value: Value) -> Sequence[z3.ExprRef]:
        return [value.missing, value.boolean, value.truth, value.number, value.amount, *self.words.terms(value.text)]

    def written(self, values: Sequence[Any]) -> object:
        missing, is_boolean, truth, is_number, amount, *text = values
        if missing:
            return None
        return truth if is_boolean else amount if is_number else self.words.written(text)


# -- predicates --------------------------------------------------------------------------------------------------------


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
ON_NUMBERS = (*NUMBER_FORMS, INTEGER, PRESENT)
ON_STRINGS, ON_BOOLEANS = (*STRING_FORMS, PRESENT), (*BOOLEAN_FORMS, PRESENT)


def holds(words: StringTheory, form: Form, constant: Constant, value: Value) -> Truth:
    """FLT-3 and FLT-4 are the first conjunct: of a value of another kind, or of none, nothing holds."""
    match form.kind:
        case "number":
            return all_of(value.number, COMPARISONS[form.operator](value.amount, constant))
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


COMPARISONS: Mapping[str, Callable[[Amount, Amount], Truth]] = dict(
    zip(("=", "!=", "<", "<=", ">", ">="), (eq, ne, lt, le, gt, ge), strict=True)
)
"""FLT-8."""


def _holds_of_text(words: StringTheory, operator: str, text: Word, constant: Word) -> Truth:
    """FLT-9 and FLT-10."""
    match operator:
        case "=" | "!=":
            equal = words.equal(text, constant)
            return equal if operator == "=" else negation(equal)
        case "<" | "<=":
            before = words.before(text, constant)
            return before if operator == "<" else any_of(before, words.equal(text, constant))
        case ">" | ">=":
            after = words.before(constant, text)
            return after if operator == ">" else any_of(after, words.equal(text, constant))
    return {"prefix": words.begins, "suffix": words.ends, "contains": words.has}[operator](text, constant)
