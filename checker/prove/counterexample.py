"""A counterexample to induction: a moment of which all invariants are true, and a step after which one is not.

Nobody says that the moment can be reached: either the protocol is wrong, or an invariant is missing that rules it out.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from routeproof.checker.prove import solve
from routeproof.checker.prove.found import Found
from routeproof.checker.prove.small import SIZES, GaveUp, Runs, Small, Solver, small_worlds
from routeproof.spec.theory.bounded import Size
from routeproof.spec.theory.invariants_facts import StepFact
from routeproof.spec.theory.invariants_obligations import Inductive
from routeproof.spec.theory.invariants_steps import Event


def find(asked: Inductive, sizes: Sequence[Size] = SIZES) -> Found | None:
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


def _against(asked: Inductive, small: Small) -> Found | None:
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
    return None if model is None else Found(asked.name, runs, model, len(events), sentence, asked.first)


def _model(runs: Runs, begin: z3.BoolRef, events: Sequence[Event], *beside: z3.BoolRef) -> z3.ModelRef | None:
    solver = Solver(solve.RLIMIT)
    solver.add(*runs.begin(begin))
    for event in events:
        solver.add(*runs.step(1, [event]))
    return solver.find(*beside)
