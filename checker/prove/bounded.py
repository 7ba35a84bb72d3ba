"""Decision of an obligation of bounded checking: Z3 looks for a run of so many steps after which a sentence is false.

All runs in all worlds of one size are one question without quantifiers, so that there is always an answer. A check that
cannot fail proves nothing: Z3 also decides that so many steps can be taken, that each kind of event occurs among them,
and that each sentence applies to some of them.
"""

from __future__ import annotations

import time
from functools import partial

import z3
from attrs import evolve

from routeproof.checker.prove.counterexample.run import FoundRun
from routeproof.checker.prove.counterexample.text import shown
from routeproof.checker.prove.counterexample.trace import trace
from routeproof.checker.prove.solver.outcome import Settled
from routeproof.checker.prove.solver.small import GaveUp, Runs, Small, Solver, small_worlds
from routeproof.checker.prove.solver.solve import RLIMIT
from routeproof.spec.theory.invariants.bounded import Bounded, Reached
from routeproof.spec.theory.invariants.step import EVENTS, StepEvent

LIMIT = 4 * RLIMIT
"""Limit for each question, in Z3's units of resource. Today's theorems need a third of it at most."""


def settle_bounded(asked: Bounded | Reached, rlimit: int | None = None) -> Settled:
    start = time.monotonic()
    try:
        decide = partial(_witness, asked) if isinstance(asked, Reached) else partial(_decide, asked)
        settled = decide(LIMIT if rlimit is None else rlimit)
    except GaveUp as limit:
        settled = Settled(asked.name, "unknown", f"Z3 gives up: {limit}")
    return evolve(settled, seconds=time.monotonic() - start)


def _witness(asked: Reached, rlimit: int) -> Settled:
    """Proved by a witness, which is kept as a trace; refuted where no run of so many steps is one."""
    for small in small_worlds(asked.proof, asked.size):
        runs, solver = Runs(small), Solver(rlimit)
        solver.add(*runs.begin(small.at_first))
        for number in range(1, asked.steps + 1):
            solver.add(*runs.step(number, EVENTS))
        model = solver.find(z3.Not(runs.at(asked.steps, small.true(asked.never))))
        if model is not None:
            found = FoundRun(asked.name, runs, model, asked.steps, asked.never, True)
            return Settled(asked.name, "proved", trace=trace(found))
    return Settled(asked.name, "refuted", f"no run of {_steps(asked.steps)} leads there, of {asked.size}")


def _decide(asked: Bounded, rlimit: int) -> Settled:
    """Refuted on one tree it is refuted; what must be possible must be so on one of them."""
    impossible = "a world"
    for small in small_worlds(asked.proof, asked.size):
        question = _Question(asked, small, rlimit)
        solver = question.solver(asked.steps)
        if solver.find(z3.Or(*(z3.Not(question.true(moment)) for moment in asked.asked_at))) is not None:
            found = question.shortest()
            why = f"it is false after {_steps(found.steps)}"
            return Settled(asked.name, "refuted", why, shown(found), trace=trace(found))
        if impossible:
            impossible = question.impossible(solver)
    return Settled(asked.name, *(("vacuous", f"impossible: {impossible}") if impossible else ("bounded",)))


class _Question:
    """On one tree."""

    def __init__(self, asked: Bounded, small: Small, rlimit: int) -> None:
        self.asked, self.small, self.rlimit = asked, small, rlimit
        self.runs = Runs(small)

    def solver(self, steps: int) -> Solver:
        """Returns a solver for all runs of this many steps."""
        asked, solver = self.asked, Solver(self.rlimit)
        solver.add(*self.runs.begin(self.small.at_first if asked.first else self.small.given(asked.given)))
        for number in range(1, steps + 1):
            solver.add(*self.runs.step(number, asked.events))
        if asked.supposed:
            solver.add(*(self.true(moment) for moment in range(steps)))
        return solver

    def true(self, moment: int) -> z3.BoolRef:
        """The sentences are, at this moment."""
        return z3.And(*(self.runs.at(moment, self.small.true(each)) for each in self.asked.sentences))

    def shortest(self) -> FoundRun:
        """A run of as few steps as there is, and the first sentence that is false after it."""
        asked = self.asked
        for moment in asked.asked_at:
            solver = self.solver(moment)
            for sentence in asked.sentences:
                model = solver.find(z3.Not(self.runs.at(moment, self.small.true(sentence))))
                if model is not None:
                    return FoundRun(asked.name, self.runs, model, moment, sentence, asked.first, self.given())
        raise AssertionError("there was a run a moment ago")

    def given(self) -> str:
        """Premises about the state where a run begins, in words."""
        if set(self.asked.given) == set(self.asked.proof.book.conjuncts):
            return "the invariants"
        return ", ".join([*self.asked.given, "the facts of every world"])

    def impossible(self, solver: Solver) -> str:
        """Returns what should be possible and is not, in words; empty if everything is."""
        asked = self.asked
        if solver.find() is None:
            return f"a run of {_steps(asked.steps)}"
        if asked.base:
            return ""
        for event in asked.events:
            if not self.occurs(event, solver):
                return f"this step: {event.name}"
        for sentence in asked.sentences:
            some = self.small.some(sentence)
            if solver.find(z3.Or(*(self.runs.at(moment, some) for moment in asked.asked_at))) is None:
                return f"what it speaks of: {sentence.about}"
        return ""

    def occurs(self, event: StepEvent, solver: Solver) -> bool:
        """In a run of so many steps, or of fewer."""
        numbers = range(1, self.asked.steps + 1)
        if solver.find(z3.Or(*(self.runs.is_of(number, event) for number in numbers))) is not None:
            return True
        return any(self.solver(number).find(self.runs.is_of(number, event)) is not None for number in numbers[:-1])


def _steps(count: int) -> str:
    return f"{count} step{'' if count == 1 else 's'}"
