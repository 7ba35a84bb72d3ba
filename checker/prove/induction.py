"""An obligation of an inductive proof, decided: proved for all sizes by Z3, refuted by a small world, or unknown.

Z3 is asked without looking for models of what is given, then with them, and proves nearly everything quickly. What it
does not prove so is looked for in small worlds, the smallest first. Where there is none, Z3 is asked at more length.
"""

from __future__ import annotations

import time

import z3
from attrs import evolve

from routeproof.checker.prove.counterexample import find
from routeproof.checker.prove.outcome import Settled
from routeproof.checker.prove.possible import impossible
from routeproof.checker.prove.small import SIZES, GaveUp
from routeproof.checker.prove.solve import RLIMIT, SEED, alone
from routeproof.checker.prove.told import shown
from routeproof.checker.prove.trace import trace
from routeproof.spec.theory.invariants_obligations import Inductive

QUICK = 8
"""The part of the limit that is spent before small worlds are looked at: nearly every proof is found with it."""

LARGEST = f"no counterexample with up to {SIZES[-1].brokers} brokers"


def settle_inductive(asked: Inductive, rlimit: int | None = None) -> Settled:
    start = time.monotonic()
    settled = _decide(asked, RLIMIT if rlimit is None else rlimit)
    return evolve(settled, seconds=time.monotonic() - start)


def _decide(asked: Inductive, rlimit: int) -> Settled:
    answer, why = _ask_twice(asked, rlimit // QUICK)
    if answer != z3.unsat:
        searched = LARGEST
        try:
            found = find(asked)
        except GaveUp as limit:
            found, searched = None, f"nor is there a counterexample yet: Z3 gives up: {limit}"
        if found is not None:
            return Settled(asked.name, "refuted", _sentence(asked), shown(found), trace=trace(found))
        answer, why = _ask_twice(asked, rlimit)
    if answer != z3.unsat:
        said = f"Z3 gives up: {why}" if answer == z3.unknown else "Z3 says that it is false of a larger world"
        return Settled(asked.name, "unknown", f"{said}; {searched}")
    try:
        vacuous = impossible(asked)
    except GaveUp as limit:
        return Settled(asked.name, "unknown", f"whether it is vacuous; Z3 gives up: {limit}")
    return Settled(asked.name, *(("vacuous", f"impossible: {vacuous}") if vacuous else ("proved",)))


def _sentence(asked: Inductive) -> str:
    if asked.first:
        return "it is false at first"
    return f"it need not hold after this step: {asked.event.name}" if asked.event else "it does not follow"


def _ask_twice(asked: Inductive, rlimit: int) -> tuple[z3.CheckSatResult, str]:
    """Without models, and with them."""
    answer, why = _ask(asked, rlimit, models=False)
    return (answer, why) if answer == z3.unsat else _ask(asked, rlimit, models=True)


def _ask(asked: Inductive, rlimit: int, models: bool) -> tuple[z3.CheckSatResult, str]:
    """In a context of its own."""
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set(rlimit=rlimit, random_seed=SEED, ctrl_c=False)
    if not models:
        solver.set(auto_config=False, mbqi=False)
    solver.add(*alone([*asked.given, *asked.case, z3.Not(asked.goal)], context))
    answer = solver.check()
    return answer, solver.reason_unknown() if answer == z3.unknown else ""
