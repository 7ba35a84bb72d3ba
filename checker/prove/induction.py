"""An obligation of an inductive proof, decided: proved for all sizes by Z3, refuted by a small world, or unknown.

First without looking for models of what is given, which is quick and decides nearly everything; then with all that Z3
has. Where it gives up, or says that the obligation is false of some world, the smallest such world is looked for.
"""

from __future__ import annotations

import time

import z3

from routeproof.checker.prove.counterexample import find
from routeproof.checker.prove.outcome import Settled, Verdict
from routeproof.checker.prove.small import SIZES, can_be_asked, can_happen
from routeproof.checker.prove.solve import RLIMIT, SEED
from routeproof.spec.theory.invariants_facts import StepFact
from routeproof.spec.theory.invariants_obligations import Inductive

LARGEST = f"no counterexample with up to {SIZES[-1][0]} brokers"


def settle_inductive(asked: Inductive, rlimit: int | None = None) -> Settled:
    start = time.monotonic()
    verdict, why, shown = _decide(asked, RLIMIT if rlimit is None else rlimit)
    return Settled(asked.name, verdict, why, shown, seconds=time.monotonic() - start)


def _decide(asked: Inductive, rlimit: int) -> tuple[Verdict, str, dict[str, str]]:
    answer, why = _ask(asked, rlimit)
    if answer == z3.unsat:
        impossible = _impossible(asked)
        return ("vacuous", f"impossible: {impossible}", {}) if impossible else ("proved", "", {})
    found = find(asked)
    if found is not None:
        return "refuted", _sentence(asked), found.shown()
    said = f"Z3 gives up: {why}" if answer == z3.unknown else "Z3 says that it is false of a larger world"
    return "unknown", f"{said}; {LARGEST}", {}


def _sentence(asked: Inductive) -> str:
    if asked.first:
        return "it is false at first"
    return f"it need not hold after this step: {asked.event.name}" if asked.event else "it does not follow"


def _ask(asked: Inductive, rlimit: int) -> tuple[z3.CheckSatResult, str]:
    """Twice, in a context of its own each time."""
    for models in (False, True):
        context = z3.Context()
        solver = z3.Solver(ctx=context)
        solver.set(rlimit=rlimit, random_seed=SEED, ctrl_c=False)
        if not models:
            solver.set(auto_config=False, mbqi=False)
        solver.add(*(each.translate(context) for each in asked.given), z3.Not(asked.goal).translate(context))
        answer = solver.check()
        if answer == z3.unsat or (models and answer == z3.sat):
            break
    return answer, solver.reason_unknown() if answer == z3.unknown else ""


def _impossible(asked: Inductive) -> str:
    """What it takes for granted and cannot be, in any small world."""
    if asked.event is not None and not can_happen(asked.proof, asked.event):
        return f"this step: {asked.event.name}"
    if asked.first or isinstance(asked.sentence, StepFact) or can_be_asked(asked.proof, asked.sentence):
        return ""
    return f"what it speaks of: {asked.sentence.about}"
