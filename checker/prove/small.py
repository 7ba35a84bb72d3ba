"""Small worlds, in which questions about invariants have answers: is there such a moment, or such a run?

All worlds of one size on one tree are one question: every way in which the filters cover each other, every place of a
message. `Spelled` leaves no quantifier, so there is always an answer. There is one tree of each shape (`shapes`),
elements are listed in the order of ids and messages in the order of sending: any other world of the size is one of
these under other names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from itertools import combinations, product

import attrs
import z3
from attrs import field, frozen

from routeproof.checker.prove.ground import Spelled
from routeproof.checker.prove.solve import SEED, GaveUp
from routeproof.model.overlay import Node, Overlay
from routeproof.spec.theory import BROKER, SORTS, Clause, Function, Part, Relation, Sort, Term, Truth, any_of, formula
from routeproof.spec.theory.invariants.book import Sentence
from routeproof.spec.theory.invariants.bounded import Size
from routeproof.spec.theory.invariants.obligations import Induction
from routeproof.spec.theory.invariants.step import AFTER, EVENTS, StepEvent, StepView
from routeproof.spec.theory.relation import Facts, Sends, Tree, facts_hold, of_overlay, tree_holds

SIZES = (
    Size(2, 1, 1, 1, 1),
    Size(2, 1, 1, 1, 2),
    Size(2, 2, 1, 1, 2),
    Size(3, 1, 1, 1, 2),
    Size(3, 2, 1, 1, 3),
    Size(3, 3, 2, 1, 3),
)
"""Sizes of the worlds that are searched, from the smallest on."""

FACTS = frozenset(each.name for each in attrs.fields(Facts))
"""Relations that no step changes."""

SAID = frozenset(["wants", *(each.name for each in attrs.fields(Sends))])
"""Relations about a step, and about no single moment."""


class Noticing(Spelled):
    """The spelled reading that also knows under which condition a clause says something.

    Each connective notes whether it was an implication. Its parts are evaluated before it or within it, so the note
    that is left when a clause has been read is about the outermost connective.
    """

    def __init__(self, size: Size) -> None:
        super().__init__(dict(zip(SORTS, size, strict=True)))
        self._condition: Truth = True

    def condition_of(self, clause: Clause, terms: Sequence[Term]) -> Truth:
        """The condition of the implication that a clause is; True for any other, which always says something."""
        self._condition = True
        clause.at(*terms)
        return self._condition

    def implies(self, condition: Truth, then: Part) -> Truth:
        return self._noted(super().implies(condition, then), condition)

    def all_of(self, *parts: Part) -> Truth:
        return self._noted(super().all_of(*parts))

    def any_of(self, *parts: Part) -> Truth:
        return self._noted(super().any_of(*parts))

    def no(self, part: Truth) -> Truth:
        return self._noted(super().no(part))

    def iff(self, one: Truth, other: Truth) -> Truth:
        return self._noted(super().iff(one, other))

    def cases(self, condition: Truth, then: Part, otherwise: Part) -> Truth:
        return self._noted(super().cases(condition, then, otherwise))

    def every(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return self._noted(super().every(sorts, body))

    def some(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return self._noted(super().some(sorts, body))

    def equal(self, one: Term, other: Term) -> Truth:
        return self._noted(super().equal(one, other))

    def _noted(self, answer: Truth, condition: Truth = True) -> Truth:
        self._condition = condition
        return answer


@frozen(eq=False)
class Small:
    """All worlds of one size on this tree."""

    proof: Induction
    size: Size
    overlay: Overlay
    logic: Noticing = field(init=False)
    stage: StepView = field(init=False)
    _steps: dict[StepEvent, z3.BoolRef] = field(init=False, factory=dict)

    @logic.default
    def _spelled(self) -> Noticing:
        return Noticing(self.size)

    @stage.default
    def _any(self) -> StepView:
        logic, known = self.logic, of_overlay(self.overlay)
        brokers = logic.elements[BROKER]

        def relation(holds: Relation) -> Relation:
            return logic.known(lambda *row: bool(holds(*(each.place for each in row))))

        def function(value: Function) -> Function:
            return logic.known_function(lambda *row: brokers[value(*(each.place for each in row)) - 1])

        tree = Tree(relation(known.between), relation(known.link), function(known.toward), function(known.median))
        in_order = logic.known(lambda x, y: x.place < y.place)
        stage = StepView.any(logic, tree, {"lower": in_order, "before": in_order})
        for event in EVENTS:
            stage.named(event)  # so that all there is has its name
        return stage

    @cached_property
    def world(self) -> z3.BoolRef:
        """Formulas that are true of every world; statements about trees are true of this one."""
        return self._closed(
            [*facts_hold(self.logic, self.stage.now.facts), *tree_holds(self.logic, self.stage.now.tree)]
        )

    def given(self, names: Iterable[str]) -> z3.BoolRef:
        """These conjuncts are true of the first moment."""
        return self._closed(self.proof.book[name].clause(self.stage.now) for name in names)

    @cached_property
    def invariants(self) -> z3.BoolRef:
        return self.given(self.proof.book.conjuncts)

    @cached_property
    def at_first(self) -> z3.BoolRef:
        return self._closed(self.proof.beginning(self.stage.now))

    def of_event(self, event: StepEvent) -> z3.BoolRef:
        """Formulas that relate the two moments of the stage when this event happens."""
        if event not in self._steps:
            g, by = self.stage, self.stage.named(event)
            step = g.step(by, self.proof.policy, self.proof.step, self.proof.handler)
            self._steps[event] = self._closed([*step, *g.ghosts(by), *g.told(by.here)])
        return self._steps[event]

    def some(self, sentence: Sentence) -> z3.BoolRef:
        """The condition on which it says something is met, at the first moment of the stage."""
        clause = sentence.clause(self.stage.now)
        return formula(any_of(*(self.logic.condition_of(clause, row) for row in self.logic.each(clause.sorts))))

    def true(self, sentence: Sentence) -> z3.BoolRef:
        return self._closed([sentence.clause(self.stage.now)])

    def _closed(self, clauses: Iterable[Clause]) -> z3.BoolRef:
        return z3.And(*(formula(clause.closed(self.logic)) for clause in clauses))


@frozen(eq=False)
class Runs:
    """All runs in small worlds: moments from 0 on, and the steps that lead from each to the next, from 1 on.

    Formulas about a stage become formulas about any step by renaming: of its two moments to those before and after the
    step, and of its messages to names of their own.
    """

    small: Small
    _names: dict[tuple[int, int], list[tuple[z3.BoolRef, z3.BoolRef]]] = field(init=False, factory=dict)

    def begin(self, *said: z3.BoolRef) -> list[z3.BoolRef]:
        """It is a world, and this is true of its moment 0."""
        return [*(self.at(0, each) for each in (self.small.world, *said)), *self.picks(0)]

    def at(self, moment: int, said: Truth) -> z3.BoolRef:
        """Rewrites a sentence about the first moment of a stage to speak of this moment."""
        return self.of_step(moment + 1, said)

    def of_step(self, number: int, said: Truth) -> z3.BoolRef:
        known = number, len(self.small.logic.atoms)  # a protocol may name more as it goes on
        if known not in self._names:
            self._names[known] = list(self._renamed(number))
        renamed = z3.substitute(formula(said), *self._names[known])
        assert isinstance(renamed, z3.BoolRef)
        return renamed

    def step(self, number: int, events: Sequence[StepEvent]) -> list[z3.BoolRef]:
        """One of these happens."""
        chosen = [self.is_of(number, event) for event in events]
        each = [
            z3.Implies(self.is_of(number, event), self.of_step(number, self.small.of_event(event))) for event in events
        ]
        one = [z3.Not(z3.And(this, that)) for this, that in combinations(chosen, 2)]
        return [*each, z3.Or(*chosen), *one, *self.picks(number)]

    def is_of(self, number: int, event: StepEvent) -> z3.BoolRef:
        return z3.Bool(f"step {number}: {event.name}")

    def picks(self, number: int) -> list[z3.BoolRef]:
        return [self.of_step(number, each) for each in self.small.logic.picks]

    def _renamed(self, number: int) -> Iterable[tuple[z3.BoolRef, z3.BoolRef]]:
        for name, atoms in self.small.logic.atoms.items():
            if name in FACTS:
                continue
            base = name.removesuffix(AFTER)
            if name in SAID or name in self.small.logic.constants:
                place = f"in step {number}"
            else:
                place = f"at {number if name != base else number - 1}"
            for atom in atoms:
                yield atom, z3.Bool(f"{place}: {atom.decl().name().replace(name, base, 1)}")


@frozen(eq=False)
class Solver:
    """Questions to Z3, one after the other, in a context of their own, so that no answer depends on other questions."""

    rlimit: int
    context: z3.Context = field(factory=z3.Context)
    _solver: z3.Solver = field(init=False)

    @_solver.default
    def _fresh(self) -> z3.Solver:
        solver = z3.SolverFor("QF_FD", ctx=self.context)
        solver.set(rlimit=self.rlimit, random_seed=SEED, ctrl_c=False)
        return solver

    def add(self, *formulas: z3.BoolRef) -> None:
        self._solver.add(*(each.translate(self._solver.ctx) for each in formulas))

    def find(self, *formulas: z3.BoolRef) -> z3.ModelRef | None:
        """A world of which these are true too."""
        self._solver.push()
        self.add(*formulas)
        answer = self._solver.check()
        found = self._solver.model() if answer == z3.sat else None
        why = self._solver.reason_unknown() if answer == z3.unknown else ""
        self._solver.pop()
        if why:
            raise GaveUp(why)
        return found


def small_worlds(proof: Induction, size: Size) -> tuple[Small, ...]:
    """All worlds of one size, by the shapes of trees; built anew on each call, since each collects names in use."""
    return tuple(Small(proof, size, overlay) for overlay in shapes(size.brokers))


Nested = tuple["Nested", ...]
"""A tree below a broker: those below its neighbours, in order."""


@cache
def shapes(brokers: int) -> tuple[Overlay, ...]:
    """Each broker but the first has a neighbour of a lower number: every tree can be numbered so."""
    parents = product(*(range(1, broker) for broker in range(2, brokers + 1)))
    trees = [Overlay.of(zip(choice, range(2, brokers + 1), strict=True)) for choice in parents]
    return tuple({_shape(tree): tree for tree in reversed(trees)}.values())[::-1]


def _shape(tree: Overlay) -> Nested:
    """Returns an equal value for trees that differ by the names of their brokers only."""

    def below(broker: Node, above: Node | None) -> Nested:
        return tuple(sorted(below(near, broker) for near in tree.neighbours(broker) if near != above))

    return min(below(broker, None) for broker in tree.brokers)
