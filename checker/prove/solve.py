"""One obligation, decided by Z3.

The outcome is the same on every run: a context of its own for each question, so that nothing depends on what was asked
or declared before; a fixed seed; and a limit on resources, which Z3 counts, never on time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import z3

from routeproof.checker.prove.model_words import MOST, at_most, in_words
from routeproof.checker.prove.outcome import Settled, Verdict
from routeproof.spec.theory.readings import SORTS
from routeproof.spec.theory.theorem import Obligation
from routeproof.spec.theory.words import unescaped

RLIMIT = 40_000_000
"""Of Z3's units of resource, for each question: a few seconds. What is proved today needs half of it at most."""

SEED = 0

BOUND = re.compile(rf"\b({'|'.join(sort.lower() for sort in SORTS)})\.\d+\b")
"""Variables as `readings.Symbolic` names them."""


def settle(obligation: Obligation, rlimit: int | None = None) -> Settled:
    start = time.monotonic()
    verdict, why, shown = _decide(obligation, RLIMIT if rlimit is None else rlimit)
    return Settled(obligation.name, verdict, why, shown, seconds=time.monotonic() - start)


def _decide(obligation: Obligation, rlimit: int) -> tuple[Verdict, str, dict[str, str]]:
    denied = z3.Not(obligation.goal)
    answer, why = _ask([*obligation.given, denied], rlimit)
    if answer == z3.sat:
        return "refuted", "it is false", _counterexample(obligation, denied, rlimit)
    if answer == z3.unknown:
        return "unknown", f"Z3 gives up: {why}", {}
    guards = obligation.guards or {"what is given": z3.BoolVal(True)}
    for name, guard in guards.items():
        answer, why = _ask([*obligation.given, guard], rlimit)
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
    # Without ctrl_c=False an interrupt would make this one question unknown, and the next would be asked.
    solver.set(rlimit=rlimit, random_seed=SEED, ctrl_c=False)
    solver.add(*formulas)
    return solver


def alone(formulas: Sequence[z3.BoolRef], context: z3.Context) -> list[z3.BoolRef]:
    """They in a new context; where a theory declares sorts, by their text. For translated as they are, sorts bring the
    numbers that they have from the order in which all that there are were declared, and on these hangs where Z3 looks
    first. What reading takes stays in a third context."""
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
    """As small a one as there is: with what the obligation asks of it beside, if that can be had."""
    if not obligation.shown:
        return _of_any_size([*obligation.given, denied], rlimit)
    terms = [term for shown in obligation.shown.values() for term in shown.terms]
    for beside in [*([each] for each in obligation.smaller), []]:
        context = z3.Context()
        question = [*obligation.given, denied, *beside]
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
