"""Decision of the obligations about invariants: by induction for all sizes, and by bounded checking.

Inductive obligations are proved for all sizes by Z3, refuted by a small world, or unknown. Z3 first tries without
models of the assumptions, then with them, and proves nearly everything quickly. Otherwise small worlds are searched for
a counterexample, the smallest first. If there is none, Z3 tries again with a larger limit. A counterexample to
induction (`find`) is a moment at which all invariants are true, and a step after which one is false. The moment need
not be reachable: either the protocol is wrong, or an invariant is missing that excludes it.

Bounded checking searches for a run of a fixed number of steps after which a sentence is false. All runs in all worlds
of one size are one question without quantifiers, so there is always an answer. A check that cannot fail proves nothing:
Z3 also decides that so many steps can be taken, that each kind of event occurs among them, and that each sentence
applies to some of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import z3
from attrs import evolve

from routeproof.checker.prove import solve
from routeproof.checker.prove.counterexample import FoundRun, shown
from routeproof.checker.prove.small import SIZES, Runs, Small, Solver, small_worlds
from routeproof.checker.prove.solve import RLIMIT, GaveUp, Settled
from routeproof.checker.prove.trace import trace
from routeproof.checker.prove.vacuity import Possibilities
from routeproof.spec.theory.invariants.bounded import Bounded, Reached, Size
from routeproof.spec.theory.invariants.facts import StepFact
from routeproof.spec.theory.invariants.obligations import Inductive
from routeproof.spec.theory.invariants.step import EVENTS, StepEvent

# -- induction ---------------------------------------------------------------------------------------------------------

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
    formulas = [*asked.formulas, *asked.case, z3.Not(asked.goal)]
    answer, why = solve.ask(formulas, rlimit, models=False)
    return (answer, why) if answer == z3.unsat else solve.ask(formulas, rlimit)


def find(asked: Inductive, sizes: Sequence[Size] = SIZES) -> FoundRun | None:
    """A counterexample in the smallest world that has one; GaveUp where none was found and Z3 gave up on a world."""
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


# -- bounded checking --------------------------------------------------------------------------------------------------

LIMIT = 4 * RLIMIT
"""Limit for each question, in Z3's units of resource. Today's theorems need a third of it at most."""


def settle_bounded(asked: Bounded | Reached, rlimit: int | None = None) -> Settled:
    start = time.monotonic()
    try:
        decide = partial(_witness, asked) if isinstance(asked, Reached) else partial(_decide_bounded, asked)
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


def _decide_bounded(asked: Bounded, rlimit: int) -> Settled:
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
