"""Pairs of predicates: the conditions under which one covers, or overlaps, the other are exact.

There are two obligations for each pair and question. *Enough*: where the condition holds, so does the answer, for every
value. *Needed*: where it does not, one of a few values that are made of the constants shows it. Without that list, the
second would be a statement with a quantifier inside, on which Z3's theories of strings and numbers give up.

`UNDECIDED` lists the pairs on strings that Z3's theory of strings does not decide at any length. All of them are about
the order: Z3 reasons badly about what lies between two strings; and some need, to show a difference, a row of U+0000 as
long as a constant, or are stated for short strings only. Only the theorems on short strings are about these pairs.
Every pair that is not listed is proved, otherwise `StringsOverlap` and `StringsCover` are not.

The theorems about pairs say that the conditions fit the meaning. The facts about types, missing attributes and the
prose around the table say that the meaning fits the sentences of `spec/filters.md`, each of which could be true of a
table that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Literal

import z3
from attrs import evolve, frozen

from routeproof.spec.theory import Amount, Truth, all_of, any_of, formula, implication, negation, same, whole
from routeproof.spec.theory.filters import predicates
from routeproof.spec.theory.filters.conditions import covers_when, overlaps_when
from routeproof.spec.theory.filters.predicates import FORMS, Constant, Form, Value, Values, holds
from routeproof.spec.theory.filters.strings import FIRST, StringTheory
from routeproof.spec.theory.proof import DEFINITION, Obligation, Premise, ShownValue

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
            *((predicates.exists(self.words, form, constant), EXIST) for form, constant in both),
            (self.values.proper(self.v), DEFINITION),
        ]
        return [Premise(each, (source,)) for each, source in known if not isinstance(each, bool)]

    @property
    def supposes(self) -> frozenset[str]:
        """Strings of any length are Z3's, over fewer characters than ours."""
        strings = any(form.kind == "string" for form in (self.f, self.g))
        return frozenset([CHARACTERS] if strings and not self.words.bound else [])

    def witnesses(self) -> list[Value]:
        found = [
            predicates.boolean(False),
            predicates.boolean(True),
            predicates.number(0),
            predicates.string(self.words.word("")),
        ]
        both = ((self.f, self.a), (self.g, self.b))
        numbers = [constant for form, constant in both if form.kind == "number"]
        found += [predicates.number(amount) for amount in near(numbers)]
        texts = [constant for form, constant in both if form.kind == "string"]
        if len(texts) == 2 and not self.words.bound and (self.f.operator, self.g.operator) in ABOVE:
            return [predicates.string(self.words.joined(texts[0], self.words.word(FIRST), texts[1]))]
        if texts:
            found += [predicates.string(word) for word in self.words.witnesses(texts[0], texts[-1])]
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
        condition, answer = covers_when(s.words, f, s.a, g, s.b), implication(s.g_of(s.v), s.f_of(s.v))
        needed = any_of(*(all_of(s.g_of(w), negation(s.f_of(w))) for w in s.witnesses()))
        made += _both(s, f"{f} covers {g}", condition, answer, {"g holds": s.g_of(s.v)}, needed)
    return made


def overlapping(values: Values, pairs: Iterable[Pair]) -> list[Obligation]:
    """Here Z3 must find the value that shows it where the condition holds."""
    made: list[Obligation] = []
    for f, g in pairs:
        s = PairOfPredicates(values, f, g)
        apart = negation(overlaps_when(s.words, f, s.a, g, s.b))
        answer = negation(all_of(s.f_of(s.v), s.g_of(s.v)))
        needed = any_of(*(all_of(s.f_of(w), s.g_of(w)) for w in s.witnesses()))
        guards = {"f holds": s.f_of(s.v), "g holds": s.g_of(s.v)}
        made += _both(s, f"{f} apart from {g}", apart, answer, guards, needed)
    return made


def _both(
    s: PairOfPredicates, name: str, condition: Truth, answer: Truth, guards: Mapping[str, Truth], needed: Truth
) -> list[Obligation]:
    """A condition that never, or always, holds is no obligation in the one direction and all of it in the other."""
    made = []
    if condition is not False:
        possible = {key: all_of(condition, guard) for key, guard in guards.items()}
        made.append(_of(s, f"{name}, enough", implication(condition, answer), possible))
    if condition is not True:
        fails = negation(condition)
        asked = _of(s, f"{name}, needed", implication(fails, needed), {"the condition fails": fails})
        made.append(evolve(asked, shown={key: asked.shown[key] for key in ("f", "g")}))
    return made


def ordered(forms: Sequence[Form]) -> list[Pair]:
    return [(f, g) for f, g in product(forms, repeat=2)]


def unordered(forms: Sequence[Form]) -> list[Pair]:
    return list(combinations_with_replacement(forms, 2))


# -- types and missing attributes --------------------------------------------------------------------------------------


def apart(values: Values) -> list[Obligation]:
    """FLT-3, FLT-4: nothing holds of a missing attribute, and what holds of one type holds of no other."""
    made = []
    for form in FORMS:
        s = PairOfPredicates(values, form, form)
        known = {"missing": s.v.missing, "boolean": s.v.boolean, "number": s.v.number, "string": s.v.string}
        allowed = any_of(*(truth for kind, truth in known.items() if kind in (form.admits or set(known) - {"missing"})))
        name = f"{form} is of {form.admits or 'anything but missing'}"
        made.append(_of(s, name, implication(s.f_of(s.v), allowed), {"it holds": s.f_of(s.v)}))
    for one, other in product(FORMS, repeat=2):
        if one.admits and other.admits and one.admits < other.admits:
            s = PairOfPredicates(values, one, other)
            goal = negation(all_of(s.f_of(s.v), s.g_of(s.v)))
            made.append(_of(s, f"{one} apart from {other}", goal, {"f holds": s.f_of(s.v), "g holds": s.g_of(s.v)}))
    return made


def read_as_written(values: Values) -> list[Obligation]:
    """The sentences of FLT-2, FLT-8 to FLT-11, but for those about the order of strings."""
    made = []
    for kind in (predicates.NUMBER_FORMS, predicates.STRING_FORMS, predicates.BOOLEAN_FORMS):
        equal, unequal = kind[0], kind[1]
        s = PairOfPredicates(values, equal, unequal)
        of_kind = {"number": s.v.number, "string": s.v.string, "boolean": s.v.boolean}[equal.kind]
        one_of_two = implication(_same_constants(s), implication(of_kind, negation(same(s.f_of(s.v), s.g_of(s.v)))))
        guards = {
            "= holds": all_of(_same_constants(s), s.f_of(s.v)),
            "!= holds": all_of(_same_constants(s), s.g_of(s.v)),
        }
        made.append(_of(s, f"of a {equal.kind}, = or != and not both", one_of_two, guards))
    s = PairOfPredicates(values, Form("<", "number"), Form(">", "number"))
    between = (s.a + s.b) / 2
    room = implication(s.a < s.b, all_of(s.a < between, between < s.b))
    made.append(_of(s, "numbers are dense", room, {"two numbers": s.a < s.b}))
    s = PairOfPredicates(values, predicates.INTEGER, predicates.INTEGER)
    is_whole = same(s.f_of(s.v), all_of(s.v.number, whole(s.v.amount)))
    half = {"2.5": all_of(s.v.number, s.v.amount == z3.RealVal("5/2"), negation(s.f_of(s.v)))}
    made.append(_of(s, "integer is of whole numbers", is_whole, {"it holds": s.f_of(s.v), **half}))
    for operator in ("prefix", "suffix", "contains"):
        form = Form(operator, "string")
        s = PairOfPredicates(values, form, form)
        empty = s.words.equal(s.a, s.words.word(""))
        goal = implication(all_of(empty, s.v.string), s.f_of(s.v))
        made.append(_of(s, f"{operator} of nothing is of every string", goal, {"nothing": all_of(empty, s.v.string)}))
        if operator != "contains":
            part = PairOfPredicates(values, form, Form("contains", "string"))
            both = implication(_same_constants(part), implication(part.f_of(part.v), part.g_of(part.v)))
            guards = {"it holds": all_of(_same_constants(part), part.f_of(part.v))}
            made.append(_of(part, f"a {operator} is contained", both, guards))
    for form in FORMS:
        s = PairOfPredicates(values, predicates.PRESENT, form)
        made.append(
            _of(s, f"present where {form} holds", implication(s.g_of(s.v), s.f_of(s.v)), {"it holds": s.g_of(s.v)})
        )
    return made


def order_of_strings(values: Values) -> list[Obligation]:
    """FLT-9: a total order in which a string comes before all that it begins and just before itself with U+0000."""
    s = PairOfPredicates(values, Form("<", "string"), Form(">", "string"))
    w, a, b, x = s.words, s.a, s.b, s.v.text
    x_before_a, b_before_x = w.before(x, a), w.before(b, x)
    after = w.joined(a, w.word(FIRST))
    proper = (w.proper(a), w.proper(b), w.proper(x))
    known = [Premise(each, (DEFINITION,)) for each in proper if not isinstance(each, bool)]
    rows: list[tuple[str, Truth, Truth]] = [
        ("no string before itself", True, negation(w.before(x, x))),
        ("of two, one is before or they are equal", True, any_of(w.before(x, a), w.before(a, x), w.equal(x, a))),
        ("not each before the other", x_before_a, negation(w.before(a, x))),
        ("before what is before", all_of(b_before_x, x_before_a), w.before(b, a)),
        ("nothing before the empty string", True, negation(w.before(x, w.word("")))),
        ("before all that it begins", all_of(w.begins(x, a), negation(w.equal(x, a))), w.before(a, x)),
        ("nothing between it and itself with U+0000", w.before(a, x), negation(w.before(x, after))),
        ("itself with U+0000 comes after", True, w.before(a, after)),
        ("what it begins is in one piece", all_of(w.begins(x, a), w.before(a, b), w.before(b, x)), w.begins(b, a)),
    ]
    return [
        Obligation(name, implication(when, then), known, {"the case": when}, s.shown(), s.smaller())
        for name, when, then in rows
    ]


def _of(s: PairOfPredicates, name: str, goal: Truth, guards: Mapping[str, Truth]) -> Obligation:
    return Obligation(name, goal, s.given(), guards, s.shown(), s.smaller(), s.supposes)


def _same_constants(s: PairOfPredicates) -> Truth:
    match s.f.kind:
        case "string":
            return s.words.equal(s.a, s.b)
        case "boolean":
            return same(s.a, s.b)
    equal: Truth = s.a == s.b
    return equal
