"""Decision of one obligation by Z3. The outcome is the same on every run: a context of its own for each question, so
that nothing depends on earlier questions or declarations; a fixed seed; and a limit on resources, which Z3 counts,
never on time.

Z3's own counterexample is put in words (`in_words`): every relation that occurs, over as few elements as possible. This
is for an obligation over sorts of any size that says nothing of its own to show, as a lemma or a promise of one broker.
It shows a world, or a broker, of which no more is so than what the obligation takes for granted: all that the lemma
names, and not all that is true of every state.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import z3

from routeproof.checker.prove.solver.ground import LETTERS
from routeproof.checker.prove.solver.outcome import Settled, Verdict
from routeproof.spec.theory.filters.strings import unescaped
from routeproof.spec.theory.invariants.step import AFTER
from routeproof.spec.theory.logic.proof import Obligation
from routeproof.spec.theory.logic.readings import SORTS

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
    answer, why = _ask([*obligation.formulas, denied], rlimit)
    if answer == z3.sat:
        return "refuted", "it is false", _counterexample(obligation, denied, rlimit)
    if answer == z3.unknown:
        return "unknown", f"Z3 gives up: {why}", {}
    guards = obligation.guards or {"what is given": z3.BoolVal(True)}
    for name, guard in guards.items():
        answer, why = _ask([*obligation.formulas, guard], rlimit)
        if answer == z3.unsat:
            return "vacuous", f"impossible: {name}", {}
        if answer == z3.unknown:
            return "unknown", f"whether it is vacuous; Z3 gives up on '{name}': {why}", {}
    return "proved", "", {}


def _ask(formulas: Sequence[z3.BoolRef], rlimit: int) -> tuple[z3.CheckSatResult, str]:
    context = z3.Context()
    solver = _solver(alone(formulas, context), context, rlimit)
    answer = solver.check()
    return answer, solver.reason_unknown() if answer == z3.unknown else ""


def _solver(formulas: Iterable[z3.BoolRef], context: z3.Context, rlimit: int) -> z3.Solver:
    solver = z3.Solver(ctx=context)
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
