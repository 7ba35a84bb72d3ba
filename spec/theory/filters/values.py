"""Values of an attribute in an event: missing, or a boolean, a number or a string (FLT-1, FLT-3, FLT-4).

A `Value` is read either off a term of a Z3 datatype, and is then any value at all, or off a value of Python. Numbers
are Z3's reals, of which some are whole: exact and dense (FLT-2).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import z3
from attrs import frozen

from routeproof.spec.theory.filters.strings import StringTheory, Word
from routeproof.spec.theory.logic.formulas import Amount, Truth, implication


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
