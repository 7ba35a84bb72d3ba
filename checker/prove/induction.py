"""Decision of an obligation of an inductive proof: proved for all sizes by Z3, refuted by a small world, or unknown.

Z3 first tries without models of the assumptions, then with them, and proves nearly everything quickly. Otherwise small
worlds are searched for a counterexample, the smallest first. If there is none, Z3 tries again with a larger limit.

A counterexample to induction (`find`) is a moment of which all invariants are true, and a step after which one is not.
The moment need not be reachable: either the protocol is wrong, or an invariant is missing that rules it out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import z3
from attrs import evolve

from routeproof.checker.prove.counterexample.run import FoundRun
from routeproof.checker.prove.counterexample.text import shown
from routeproof.checker.prove.counterexample.trace import trace
from routeproof.checker.prove.solver import solve
from routeproof.checker.prove.solver.outcome import Settled
from routeproof.checker.prove.solver.small import SIZES, GaveUp, Runs, Small, Solver, small_worlds
from routeproof.checker.prove.solver.solve import RLIMIT, SEED, alone
from routeproof.checker.prove.vacuity import Possibilities
from routeproof.spec.theory.invariants.bounded import Size
from routeproof.spec.theory.invariants.facts import StepFact
from routeproof.spec.theory.invariants.obligations import Inductive
from routeproof.spec.theory.invariants.step import StepEvent

QUICK = 8
"""The part of the limit that is spent before small worlds are looked at: nearly every proof is found with it."""

LARGEST = f"no counterexample with up to {SIZES[-1].brokers} brokers"


def settle_inductive(
    asked: Inductive, rlimit: int | None = None, possibilities: Possibilities | None = None
) -> Settled:
    """Decides one obligation. `possibilities` are shared by the obligations of one theorem, and by no others."""
    start = time.monotonic()
    settled = _decide(asked, RLIMIT if rlimit is None else rlimit, possibilities or Possibilities())
    return evolve(settled, seconds=time.monotonic() - start)


def _decide(asked: Inductive, rlimit: int, possibilities: Possibilities) -> Settled:
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
        vacuous = possibilities.impossible(asked)
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
    solver.add(*alone([*asked.formulas, *asked.case, z3.Not(asked.goal)], context))
    answer = solver.check()
    return answer, solver.reason_unknown() if answer == z3.unknown else ""


def find(asked: Inductive, sizes: Sequence[Size] = SIZES) -> FoundRun | None:
    """A counterexample in the smallest world that has one. Where there is none in those that Z3 saw to the end, and it
    gave up on others, it raises GaveUp."""
    limits = []
    for small in (small for size in sizes for small in small_worlds(asked.proof, size)):
        try:
            found = _against(asked, small)
        except GaveUp as limit:
            limits.append(GaveUp(f"{limit}, of worlds of {small.size}"))
            continue
        if found is not None:
            return found
    if limits:
        raise limits[0]
    return None


def _against(asked: Inductive, small: Small) -> FoundRun | None:
    """A moment, and a step where there is one, that speaks against it."""
    runs, sentence, g = Runs(small), asked.sentence, small.stage
    events = [asked.event] if asked.event else []
    if isinstance(sentence, StepFact):
        assert asked.event is not None
        clause = sentence.clause(g, g.named(asked.event))
        goal = runs.of_step(1, clause.closed(small.logic))
    else:
        goal = runs.at(len(events), small.true(sentence))
    model = _model(runs, small.at_first if asked.first else small.invariants, events, z3.Not(goal))
    return None if model is None else FoundRun(asked.name, runs, model, len(events), sentence, asked.first)


def _model(runs: Runs, begin: z3.BoolRef, events: Sequence[StepEvent], *beside: z3.BoolRef) -> z3.ModelRef | None:
    solver = Solver(solve.RLIMIT)
    solver.add(*runs.begin(begin))
    for event in events:
        solver.add(*runs.step(1, [event]))
    return solver.find(*beside)
