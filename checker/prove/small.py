"""Small worlds, in which questions about invariants have answers: is there such a moment, or such a step?

All worlds of one size are looked at at once: every tree of so many brokers, every way in which so many filters cover
each other, every place of a message. `Spelled` leaves no quantifier, so that Z3 always decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, cached_property

import z3
from attrs import field, frozen

from routeproof.checker.prove.solve import RLIMIT, SEED
from routeproof.checker.prove.spelled import Spelled
from routeproof.spec.theory.invariants import Conjunct, Lemma
from routeproof.spec.theory.invariants_facts import StepFact
from routeproof.spec.theory.invariants_obligations import Induction, Inductive, nothing_happened
from routeproof.spec.theory.invariants_steps import Event, Stage, declared
from routeproof.spec.theory.logic import Truth, formula
from routeproof.spec.theory.readings import ADV, BROKER, ITEM, PUB, SUB, Clause, Part, Sort, Term
from routeproof.spec.theory.signature import facts_hold
from routeproof.spec.theory.trees import tree_holds
from routeproof.spec.theory.world_relation import initially

Size = tuple[int, int, int, int, int]
"""How many brokers, subscriptions, advertisements, publications and messages."""

SIZES: tuple[Size, ...] = (
    (2, 1, 1, 1, 1),
    (2, 1, 1, 1, 2),
    (2, 2, 1, 1, 2),
    (3, 1, 1, 1, 2),
    (3, 2, 1, 1, 3),
    (3, 3, 2, 1, 3),
)
"""Those that are searched, from the smallest on."""


class Noticing(Spelled):
    """It notices on which condition a clause says something."""

    def __init__(self, size: Size) -> None:
        super().__init__(dict(zip((BROKER, SUB, ADV, PUB, ITEM), size, strict=True)))
        self._said: tuple[Truth, Truth] = (True, True)

    def implies(self, condition: Truth, then: Part) -> Truth:
        answer = super().implies(condition, then)
        self._said = (condition, answer)
        return answer

    def condition_of(self, clause: Clause, terms: Sequence[Term]) -> Truth:
        """Of the implication that the clause is; where it is none it always says something."""
        said = clause.at(*terms)
        condition, answer = self._said
        return condition if answer is said else True


@frozen(eq=False)
class Small:
    """All worlds of one size, in which a proof's invariants hold."""

    proof: Induction
    size: Size
    logic: Noticing = field(init=False)
    stage: Stage = field(init=False)

    @logic.default
    def _spelled(self) -> Noticing:
        return Noticing(self.size)

    @stage.default
    def _any(self) -> Stage:
        return declared(self.logic)

    @cached_property
    def world(self) -> list[z3.BoolRef]:
        return self._closed(
            [*facts_hold(self.logic, self.stage.now.facts), *tree_holds(self.logic, self.stage.now.tree)]
        )

    @cached_property
    def invariants(self) -> list[z3.BoolRef]:
        return self._closed(each.clause(self.stage.now) for each in self.proof.book.conjuncts.values())

    @cached_property
    def at_first(self) -> list[z3.BoolRef]:
        now = self.stage.now
        return self._closed([*initially(self.logic, now.state), *nothing_happened(now)])

    def steps(self, event: Event) -> list[z3.BoolRef]:
        g, by = self.stage, self.stage.named(event)
        step = g.step(event, by, self.proof.policy, self.proof.step, self.proof.handler)
        return self._closed([*step, *g.ghosts(event, by), *g.told(by.here)])

    # -- questions ---------------------------------------------------------------------------------------------------

    def can_happen(self, event: Event) -> bool:
        """From a moment of which the invariants are true."""
        return self._model([*self.invariants, *self.steps(event)]) is not None

    def can_be_asked(self, sentence: Conjunct | Lemma) -> bool:
        """Its condition can be so, at a moment of which the invariants are true."""
        terms = self.terms(sentence.sorts)
        condition = self.logic.condition_of(sentence.clause(self.stage.now), terms)
        return self._model([*self.invariants, formula(condition)]) is not None

    def against(self, asked: Inductive) -> z3.ModelRef | None:
        """A moment, and a step where there is one, that speaks against it."""
        sentence, terms, g = asked.sentence, self.terms(asked.sentence.sorts), self.stage
        before = self.at_first if asked.first else self.invariants
        step = self.steps(asked.event) if asked.event else []
        if isinstance(sentence, StepFact):
            assert asked.event is not None
            clause = sentence.clause(g, g.named(asked.event))
        else:
            clause = sentence.clause(g.then if asked.event else g.now)
        return self._model([*before, *step, z3.Not(formula(clause.at(*terms)))])

    def terms(self, sorts: Sequence[Sort]) -> list[Term]:
        return [self.logic.constant(f"{sort.lower()}{place}", sort) for place, sort in enumerate(sorts, 1)]

    def _model(self, formulas: Sequence[z3.BoolRef]) -> z3.ModelRef | None:
        solver = z3.Solver()
        solver.set(rlimit=RLIMIT, random_seed=SEED, ctrl_c=False)
        solver.add(*self.world, *formulas)
        return solver.model() if solver.check() == z3.sat else None

    def _closed(self, clauses: Iterable[Clause]) -> list[z3.BoolRef]:
        return [formula(clause.closed(self.logic)) for clause in clauses]


@cache
def small_world(proof: Induction, size: Size) -> Small:
    return Small(proof, size)


@cache
def can_happen(proof: Induction, event: Event) -> bool:
    """In one of the small worlds."""
    return any(small_world(proof, size).can_happen(event) for size in SIZES)


@cache
def can_be_asked(proof: Induction, sentence: Conjunct | Lemma) -> bool:
    """In one of the small worlds."""
    return any(small_world(proof, size).can_be_asked(sentence) for size in SIZES)
