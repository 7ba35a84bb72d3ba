"""Pairs of predicates: the conditions under which one covers, or overlaps, the other are exact.

For each pair there are two obligations in either question. *Enough*: where the condition holds, so does the answer, for
every value. *Needed*: where it does not, one of a few values that are made of the constants shows it. Without that
list, the second would be a statement with a quantifier inside, on which Z3's theories of strings and numbers give up.

`UNDECIDED` lists the pairs on strings of which Z3's theory of strings does not decide what is asked, at any length.
They all speak of the order: Z3 reasons badly about what lies between two strings; and some need, to show a difference,
a row of U+0000 as long as a constant, or are stated for short strings only. Of these pairs only the theorems on short
strings speak. Every pair that is not listed is proved, or `StringsOverlap` and `StringsCover` are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Any, Literal

import z3
from attrs import frozen

from routeproof.spec.theory.filters.conditions import covers_when, overlaps_when
from routeproof.spec.theory.filters.predicates import Constant, Form, exists, holds
from routeproof.spec.theory.filters.strings import FIRST, StringTheory
from routeproof.spec.theory.filters.values import Value, Values, boolean, number, string
from routeproof.spec.theory.logic.formulas import Amount, Truth, all_of, any_of, formula, implication, negation
from routeproof.spec.theory.logic.proof import DEFINITION, Obligation, Premise, ShownValue

Question = Literal["covers", "overlaps"]

UNDECIDED: Mapping[Question, frozenset[tuple[str, str]]] = {
    "covers": frozenset(
        [("=", ">"), ("=", ">="), ("<", ">"), ("<=", ">"), ("<=", "<"), (">=", ">")]
        + [("<", "prefix"), ("<=", "prefix"), (">", "prefix")]
        + [(part, high) for part in ("prefix", "suffix", "contains") for high in (">", ">=")]
        + [(high, part) for high in (">", ">=") for part in ("suffix", "contains")]
    ),
    "overlaps": frozenset(
        [("!=", ">"), ("!=", ">="), ("<", ">"), (">", ">"), (">", ">=")]
        + [(order, "prefix") for order in ("<", "<=", ">", ">=")]
        + [(low, part) for low in ("<", "<=") for part in ("suffix", "contains")]
    ),
}
"""Pairs (f, g) that Z3 does not decide: f covers g; for overlap, in the order of the operators in `predicates`."""


def decided(question: Question, pairs: Iterable[tuple[Form, Form]]) -> list[tuple[Form, Form]]:
    return [(f, g) for f, g in pairs if (f.operator, g.operator) not in UNDECIDED[question]]


Pair = tuple[Form, Form]

CHARACTERS = "a string has at most 196,608 different characters, as many as Z3 knows (docs/explanation/proofs.md)"
EXIST = "both filters match something (FLT-5: others are refused)"

ABOVE = frozenset(
    [(low, g) for low in ("<", "<=") for g in ("!=", "suffix", "contains")]
    + [(high, g) for high in (">", ">=") for g in ("suffix", "contains")]
)
"""Pairs on strings for which a, U+0000 and b show it whatever the constants are. Offered alone, Z3 can tell."""


@frozen
class PairOfPredicates:
    """Two predicates with symbolic constants, and any value v, over one theory of strings."""

    values: Values
    f: Form
    g: Form

    @property
    def words(self) -> StringTheory:
        return self.values.words

    @property
    def a(self) -> Constant:
        return self._constant(self.f, "a")

    @property
    def b(self) -> Constant:
        return self._constant(self.g, "b")

    @property
    def v(self) -> Value:
        return self.values.read(self.values.any("v"))

    def _constant(self, form: Form, name: str) -> Constant:
        match form.kind:
            case "number":
                return z3.Real(name)
            case "string":
                return self.words.constant(name)
            case "boolean":
                return z3.Bool(name)
        return None

    def f_of(self, value: Value) -> Truth:
        return holds(self.words, self.f, self.a, value)

    def g_of(self, value: Value) -> Truth:
        return holds(self.words, self.g, self.b, value)

    def given(self) -> list[Premise]:
        """Constants and values are what they should be, by definition, and both filters exist (FLT-5)."""
        both = ((self.f, self.a), (self.g, self.b))
        proper = [self.words.proper(constant) for form, constant in both if form.kind == "string"]
        known = [
            *((each, DEFINITION) for each in proper),
            *((exists(self.words, form, constant), EXIST) for form, constant in both),
            (self.values.proper(self.v), DEFINITION),
        ]
        return [Premise(each, (source,)) for each, source in known if not isinstance(each, bool)]

    @property
    def supposes(self) -> frozenset[str]:
        """Strings of any length are Z3's, over fewer characters than ours."""
        strings = any(form.kind == "string" for form in (self.f, self.g))
        return frozenset([CHARACTERS] if strings and not self.words.bound else [])

    def witnesses(self) -> list[Value]:
        found = [boolean(False), boolean(True), number(0), string(self.words.word(""))]
        both = ((self.f, self.a), (self.g, self.b))
        numbers = [constant for form, constant in both if form.kind == "number"]
        found += [number(amount) for amount in near(numbers)]
        texts = [constant for form, constant in both if form.kind == "string"]
        if len(texts) == 2 and not self.words.bound and (self.f.operator, self.g.operator) in ABOVE:
            return [string(self.words.joined(texts[0], self.words.word(FIRST), texts[1]))]
        if texts:
            found += [string(word) for word in self.words.witnesses(texts[0], texts[-1])]
        return found

    def shown(self) -> dict[str, ShownValue]:
        shown = {"f": self._written(self.f, self.a), "g": self._written(self.g, self.b)}
        shown["v"] = ShownValue(self.values.terms(self.v), lambda values: repr(self.values.written(values)))
        return shown

    def _written(self, form: Form, constant: Constant) -> ShownValue:
        match form.kind:
            case "":
                return ShownValue((), lambda values: f"v {form.operator}")
            case "string":
                terms = self.words.terms(constant)
                return ShownValue(terms, lambda values: f"v {form.operator} {self.words.written(values)!r}")
        return ShownValue((constant,), lambda values: f"v {form.operator} {values[0]}")

    def smaller(self) -> list[z3.BoolRef]:
        """Counterexamples that can be read: small numbers, short strings of letters."""
        wanted: list[Truth] = []
        for form, constant in ((self.f, self.a), (self.g, self.b)):
            if form.kind == "number":
                wanted.append(any_of(*(constant == few for few in range(3))))
            if form.kind == "string":
                wanted.append(self.words.plain(constant))
        return [formula(all_of(*wanted))] if wanted else []


def near(numbers: Sequence[Amount]) -> list[Amount]:
    """The numbers themselves, between and beyond them, whole ones and others: one of these shows any difference."""
    found: list[Amount] = [*numbers]
    if not numbers:
        return [z3.RealVal("1/2"), z3.RealVal(1)]
    for amount in numbers:
        floor = z3.ToReal(z3.ToInt(amount))
        found += [floor - 1, floor + 1, floor + 2, floor + z3.RealVal("1/2"), floor - z3.RealVal("1/2")]
        found += [amount - 1, amount + 1]
    return [*found, (numbers[0] + numbers[-1]) / 2]


# -- the obligations ---------------------------------------------------------------------------------------------------


def covering(values: Values, pairs: Iterable[Pair]) -> list[Obligation]:
    made: list[Obligation] = []
    for f, g in pairs:
        s = PairOfPredicates(values, f, g)
        condition = covers_when(s.words, f, s.a, g, s.b)
        made += _both(
            s,
            f"{f} covers {g}",
            condition,
            enough=_obligation(s, implication(s.g_of(s.v), s.f_of(s.v)), g_holds=s.g_of(s.v)),
            needed=any_of(*(all_of(s.g_of(w), negation(s.f_of(w))) for w in s.witnesses())),
        )
    return made


def overlapping(values: Values, pairs: Iterable[Pair]) -> list[Obligation]:
    """Here Z3 must find the value that shows it where the condition holds."""
    made: list[Obligation] = []
    for f, g in pairs:
        s = PairOfPredicates(values, f, g)
        condition = overlaps_when(s.words, f, s.a, g, s.b)
        met = all_of(s.f_of(s.v), s.g_of(s.v))
        made += _both(
            s,
            f"{f} apart from {g}",
            negation(condition),
            enough=_obligation(s, negation(met), f_holds=s.f_of(s.v), g_holds=s.g_of(s.v)),
            needed=any_of(*(all_of(s.f_of(w), s.g_of(w)) for w in s.witnesses())),
        )
    return made


def _both(
    s: PairOfPredicates, name: str, condition: Truth, enough: Callable[[str, Truth], Obligation], needed: Truth
) -> list[Obligation]:
    """A condition that never, or always, holds is no obligation in the one direction and all of it in the other."""
    made = []
    if condition is not False:
        made.append(enough(f"{name}, enough", condition))
    if condition is not True:
        fails = negation(condition)
        goal, guards = formula(implication(fails, needed)), {"the condition fails": formula(fails)}
        made.append(Obligation(f"{name}, needed", goal, s.given(), guards, _constants(s), s.smaller(), s.supposes))
    return made


def _obligation(s: PairOfPredicates, answer: Truth, **guards: Truth) -> Callable[[str, Truth], Obligation]:
    """Makes an obligation: the answer holds wherever the condition does, and each guard is possible there."""

    def make(name: str, condition: Truth) -> Obligation:
        possible = {key.replace("_", " "): formula(all_of(condition, guard)) for key, guard in guards.items()}
        goal = formula(implication(condition, answer))
        return Obligation(name, goal, s.given(), possible, s.shown(), s.smaller(), s.supposes)

    return make


def _constants(s: PairOfPredicates) -> dict[str, ShownValue]:
    shown: dict[str, Any] = s.shown()
    return {key: shown[key] for key in ("f", "g")}


def ordered(forms: Sequence[Form]) -> list[Pair]:
    return [(f, g) for f, g in product(forms, repeat=2)]


def unordered(forms: Sequence[Form]) -> list[Pair]:
    return list(combinations_with_replacement(forms, 2))
