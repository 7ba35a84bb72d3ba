"""Verdicts, and the decision of one obligation by Z3.

There are five verdicts, from the best to the worst in this order:

proved   for all sizes
bounded  proved up to a stated bound
unknown  the resource limit came first
vacuous  proved of nothing: an assumption, or a guard, is impossible
refuted  false, with a counterexample

The outcome is the same on every run: each question gets a fresh context, so nothing depends on earlier questions or
declarations; the seed is fixed; and the limit is on resources, which Z3 counts, never on time.

If an obligation names nothing to show, Z3's own counterexample is described (`in_words`): every relation that occurs,
over as few elements as possible. It satisfies what the obligation takes for granted and need satisfy nothing else that
is true of every state.

`examine` decides an examination of the model's code, case by case: is each answer the one that was proved right? An
examination that never sees both answers cannot tell the code from a constant. Both must come up, otherwise the verdict
is vacuous.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, Literal

import z3
from attrs import Factory, field, frozen

from routeproof.checker.prove.ground import LETTERS
from routeproof.model.filters import FilterError
from routeproof.spec.theory import SORTS
from routeproof.spec.theory.filters.strings import unescaped
from routeproof.spec.theory.invariants.step import AFTER
from routeproof.spec.theory.proof import Obligation

Verdict = Literal["proved", "bounded", "unknown", "vacuous", "refuted"]
VERDICTS: tuple[Verdict, ...] = ("proved", "bounded", "unknown", "vacuous", "refuted")

WORDS: dict[Verdict, str] = {
    "proved": "proved for all sizes",
    "bounded": "proved up to a bound",
    "unknown": "unknown",
    "vacuous": "vacuous",
    "refuted": "refuted",
}


@frozen
class Settled:
    """One obligation. `why` says what is wrong, or which limit came first; `shown` is the counterexample."""

    name: str
    verdict: Verdict
    why: str = ""
    shown: dict[str, str] = Factory(dict)
    cases: int | None = None
    """How many were tried out; None where it was not tried out but solved."""
    seconds: float = field(default=0.0, eq=False)
    trace: str = field(default="", eq=False, repr=False)
    """The counterexample as a trace, where there is a world to show."""


@frozen
class Judged:
    """One theorem with its obligations, in their order."""

    id: str
    verdict: Verdict
    bound: str
    obligations: tuple[Settled, ...]
    why: str = ""
    """Where it fails for a reason of its own."""
    seconds: float = field(default=0.0, eq=False)
    given: tuple[str, ...] = ()
    """The theorems that it rests on and that were not judged."""

    def with_verdict(self, *verdicts: Verdict) -> list[Settled]:
        return [each for each in self.obligations if each.verdict in verdicts]


# -- one obligation ----------------------------------------------------------------------------------------------------


RLIMIT = 40_000_000
"""Limit for each question, in Z3's units of resource: a few seconds. Today's theorems need half of it at most."""

SEED = 0

BOUND = re.compile(rf"\b({'|'.join(sort.lower() for sort in SORTS)})\.\d+\b")
"""Variables as `readings.Symbolic` names them."""


def settle(obligation: Obligation, rlimit: int | None = None) -> Settled:
    start = time.monotonic()
    verdict, why, shown = _decide(obligation, RLIMIT if rlimit is None else rlimit)
    return Settled(obligation.name, verdict, why, shown, seconds=time.monotonic() - start)


def _decide(obligation: Obligation, rlimit: int) -> tuple[Verdict, str, dict[str, str]]:
    denied = z3.Not(obligation.goal)
    answer, why = ask([*obligation.formulas, denied], rlimit)
    if answer == z3.sat:
        return "refuted", "it is false", _counterexample(obligation, denied, rlimit)
    if answer == z3.unknown:
        return "unknown", f"Z3 gives up: {why}", {}
    guards = obligation.guards or {"what is given": z3.BoolVal(True)}
    for name, guard in guards.items():
        answer, why = ask([*obligation.formulas, guard], rlimit)
        if answer == z3.unsat:
            return "vacuous", f"impossible: {name}", {}
        if answer == z3.unknown:
            return "unknown", f"whether it is vacuous; Z3 gives up on '{name}': {why}", {}
    return "proved", "", {}


def ask(formulas: Sequence[z3.BoolRef], rlimit: int, models: bool = True) -> tuple[z3.CheckSatResult, str]:
    """Asks in a context of its own whether these can be true together; quicker without models of quantified ones."""
    context = z3.Context()
    solver = _solver(alone(formulas, context), context, rlimit, models)
    answer = solver.check()
    return answer, solver.reason_unknown() if answer == z3.unknown else ""


def _solver(formulas: Iterable[z3.BoolRef], context: z3.Context, rlimit: int, models: bool = True) -> z3.Solver:
    solver = z3.Solver(ctx=context)
    if not models:
        solver.set(auto_config=False, mbqi=False)
    # Without ctrl_c=False an interrupt would make this one question unknown, and the next would be tried.
    solver.set(rlimit=rlimit, random_seed=SEED, ctrl_c=False)
    solver.add(*formulas)
    return solver


def alone(formulas: Sequence[z3.BoolRef], context: z3.Context) -> list[z3.BoolRef]:
    """Copies the formulas into a fresh Z3 context.

    Formulas with declared sorts go through SMT-LIB text: `translate` would keep the sorts' numbers, which depend on
    everything declared earlier in the process, and Z3's search order depends on them. Parsing uses a third context.
    """
    writer = z3.Solver()
    writer.add(*formulas)
    text = writer.to_smt2()
    if "(declare-sort " in text:
        formulas = z3.parse_smt2_string(_renamed(text), ctx=z3.Context())
    return [each.translate(context) for each in formulas]


def _renamed(text: str) -> str:
    """With bound variables counted from 1 on: their names rise through all that a theory has written so far."""
    known: dict[str, str] = {}
    return BOUND.sub(lambda found: known.setdefault(found[0], f"{found[1]}.{len(known) + 1}"), text)


def _counterexample(obligation: Obligation, denied: z3.BoolRef, rlimit: int) -> dict[str, str]:
    """Finds as small a counterexample as there is, with the further wishes of the obligation if they can be met."""
    if not obligation.shown:
        return _of_any_size([*obligation.formulas, denied], rlimit)
    terms = [term for shown in obligation.shown.values() for term in shown.terms]
    for beside in [*([each] for each in obligation.smaller), []]:
        context = z3.Context()
        question = [*obligation.formulas, denied, *beside]
        written = alone([*question, *(term == term for term in terms)], context)
        asked, told = written[: len(question)], iter(written[len(question) :])
        solver = _solver(asked, context, rlimit)
        if solver.check() == z3.sat:
            model = solver.model()
            return {
                name: shown.write([plain(model.eval(next(told).arg(0), model_completion=True)) for _ in shown.terms])
                for name, shown in obligation.shown.items()
            }
    raise AssertionError("the question had an answer a moment ago, and is asked in the same words")


def _of_any_size(formulas: Sequence[z3.BoolRef], rlimit: int) -> dict[str, str]:
    """Where the obligation has nothing of its own to show: all that Z3 found, of as few elements as it finds any."""
    context = z3.Context()
    asked = alone(formulas, context)
    solver = _solver(asked, context, rlimit)
    solver.check()
    model = solver.model()
    for size in range(1, MOST + 1):
        smaller = _solver([*asked, *at_most(model.sorts(), size)], context, rlimit)
        if smaller.check() == z3.sat:
            return in_words(smaller.model())
    return in_words(model)


def plain(value: z3.ExprRef) -> Any:
    """A literal of Z3 as a value of Python; text where Python has none like it."""
    if z3.is_true(value) or z3.is_false(value):
        return z3.is_true(value)
    if z3.is_int_value(value) or z3.is_bv_value(value):
        return value.as_long()
    if z3.is_rational_value(value):
        number = Fraction(value.numerator_as_long(), value.denominator_as_long())
        return number.numerator if number.denominator == 1 else number
    if z3.is_string_value(value):
        return unescaped(value.as_string())
    return str(value)


MOST = 4
"""Elements of each sort, up to which a smallest counterexample is looked for."""

MANY = 12
"""Elements of a sort; of a world with more, which is shown where no small one was found, only those with a name."""

Elements = dict[str, list[tuple[str, z3.ExprRef]]]
"""By sort: its elements, with their names."""


def at_most(sorts: Sequence[z3.SortRef], size: int) -> list[z3.BoolRef]:
    """No sort has more elements than this."""
    bounds = []
    for sort in sorts:
        each = z3.Const(f"any {sort.name()}", sort)
        bounds.append(z3.ForAll([each], z3.Or([each == z3.Const(f"!{sort.name()} {k}", sort) for k in range(size)])))
    return bounds


def in_words(model: z3.ModelRef) -> dict[str, str]:
    """Describes a model of Z3: its elements, their names in the obligation, and every relation."""
    universes = {sort.name(): model.get_universe(sort) or [] for sort in model.sorts()}
    declared = sorted((each for each in model.decls() if "!" not in each.name()), key=lambda each: each.name())
    constants = [each for each in declared if each.arity() == 0]
    values = [model.eval(each(), model_completion=True) for each in constants]
    elements: Elements = {}
    more = []
    for sort in sorted(universes, key=(*SORTS, *universes).index):
        shown = universes[sort]
        if len(shown) > MANY:
            shown = [each for each in shown if any(each.eq(value) for value in values)]
            more.append(f"{len(universes[sort]) - len(shown)} more of {sort} of which nothing is shown")
        elements[sort] = _named(sort, shown)
    there = [*(name for each in elements.values() for name, _ in each), *more]
    rows = {"there are": ", ".join(there)} if there else {}
    rows["of"] = ", ".join(f"{each.name()} is {_value(model, elements, each())}" for each in constants) or "nothing"
    for each in declared:
        if each.arity() and all(each.domain(k).name() in elements for k in range(each.arity())):
            rows[_title(each.name())] = ", ".join(_rows(model, elements, each)) or "nothing"
    return rows


def _rows(model: z3.ModelRef, elements: Elements, relation: z3.FuncDeclRef) -> Iterator[str]:
    """The elements of which it holds; of a function, its values."""
    domains = [elements[relation.domain(k).name()] for k in range(relation.arity())]
    for row in product(*domains):
        said, value = " ".join(name for name, _ in row), relation(*(element for _, element in row))
        if relation.range().kind() != z3.Z3_BOOL_SORT:
            yield f"{said}: {_value(model, elements, value)}"
        elif z3.is_true(model.eval(value, model_completion=True)):
            yield said


def _value(model: z3.ModelRef, elements: Elements, term: z3.ExprRef) -> str:
    value = model.eval(term, model_completion=True)
    if (named := elements.get(value.sort().name())) is None:
        return str(value)
    return next((name for name, each in named if each.eq(value)), "one of the others")


def _named(sort: str, universe: Sequence[z3.ExprRef]) -> list[tuple[str, z3.ExprRef]]:
    return [(f"{LETTERS.get(sort, sort.lower())}{place}", each) for place, each in enumerate(universe, 1)]


def _title(relation: str) -> str:
    """Title of a relation; the one of the second moment is named after that of the first."""
    return f"{relation.removesuffix(AFTER)} then" if relation.endswith(AFTER) else relation


class GaveUp(Exception):
    """Z3 came to its limit."""


@frozen
class Case:
    """One answer of the code, and the expected one. `about` is called only if the two differ."""

    expected: bool
    found: bool
    about: Callable[[], dict[str, str]]


@frozen
class Examination:
    name: str
    cases: Callable[[], Iterable[Case]]
    both: bool = True
    """Whether the question has two answers in these cases."""
    says: str = "the model"
    """Whose answer it is."""


@frozen
class CodeTheorem:
    """Like `Theorem`, of the model's code."""

    id: str
    rules: tuple[str, ...]
    about: str
    obligations: Callable[[], Sequence[Examination]]
    bound: str
    hypotheses: tuple[str, ...] = ()


def examine(examination: Examination) -> Settled:
    start = time.monotonic()
    seen: set[bool] = set()
    count = 0

    def settled(verdict: Verdict, why: str = "", shown: dict[str, str] | None = None) -> Settled:
        return Settled(examination.name, verdict, why, shown or {}, count, time.monotonic() - start)

    try:
        for case in examination.cases():
            count += 1
            if case.found != case.expected:
                return settled("refuted", f"{examination.says} says {_said(case.found)}", case.about())
            seen.add(case.expected)
    except FilterError as error:  # no case asks for what must be refused, but as a question
        return settled("refuted", "the model refuses what there is", {"it says": str(error)})
    except GaveUp as limit:
        return settled("unknown", f"Z3 gives up: {limit}")
    if len(seen) < (2 if examination.both else 1):
        return settled("vacuous", f"the answer is never {_said(True not in seen)}" if seen else "no case was tried")
    return settled("bounded")


def _said(answer: bool) -> str:
    return "yes" if answer else "no"
