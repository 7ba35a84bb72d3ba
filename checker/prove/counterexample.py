"""A counterexample to induction: a moment of which all invariants are true, and a step after which one is not.

Nobody says that the moment can be reached: either the protocol is wrong, or an invariant is missing that rules it out.
That it can be at all, and that a step can, is asked of small worlds too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import z3

from routeproof.checker.prove.found import Found
from routeproof.checker.prove.small import SIZES, GaveUp, Runs, Small, Solver, small_worlds
from routeproof.checker.prove.solve import RLIMIT
from routeproof.spec.theory.bounded import Size
from routeproof.spec.theory.invariants import Conjunct, Lemma
from routeproof.spec.theory.invariants_facts import StepFact
from routeproof.spec.theory.invariants_obligations import Induction, Inductive
from routeproof.spec.theory.invariants_steps import Event


def find(asked: Inductive, sizes: Sequence[Size] = SIZES) -> Found | None:
    """A counterexample in the smallest world that has one."""
    smalls = (small for size in sizes for small in small_worlds(asked.proof, size))
    return next((found for small in smalls if (found := _against(asked, small)) is not None), None)


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


@cache
def can_happen(proof: Induction, event: Event) -> bool:
    """At a moment of a small world of which the invariants are true."""
    return any(_model(Runs(small), small.invariants, [event]) is not None for small in _smalls(proof))


@cache
def can_be_asked(proof: Induction, sentence: Conjunct | Lemma) -> bool:
    """Its condition can be so, at a moment of a small world of which the invariants are true."""

    def says_something(small: Small) -> bool:
        runs = Runs(small)
        return _model(runs, small.invariants, [], runs.at(0, small.some(sentence))) is not None

    return any(map(says_something, _smalls(proof)))


def _smalls(proof: Induction) -> Iterator[Small]:
    return (small for size in SIZES for small in small_worlds(proof, size))


def _model(runs: Runs, begin: z3.BoolRef, events: Sequence[Event], *beside: z3.BoolRef) -> z3.ModelRef | None:
    solver = Solver(RLIMIT)
    solver.add(*runs.begin(begin))
    for event in events:
        solver.add(*runs.step(1, [event]))
    try:
        return solver.find(*beside)
    except GaveUp:
        return None
