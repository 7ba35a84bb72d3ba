"""Whether what an obligation takes for granted can be so: or it would be proved of nothing.

Looked for is a small world, and in it a step of the kind that the obligation is about: all invariants are true before
it, the sentence has something to say after it, and all that Z3 was given is true, word for word. What does for one
obligation mostly does for the next, so that what was found is tried first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import z3
from attrs import field, frozen

from routeproof.checker.prove import solve
from routeproof.checker.prove.ground import Element, Interpretation, possible, read
from routeproof.checker.prove.small import Small, Solver, small_worlds
from routeproof.checker.prove.solve import GaveUp
from routeproof.spec.theory import Grounded, Logic, Truth, all_of, any_of, formula
from routeproof.spec.theory.invariants.book import Sentence
from routeproof.spec.theory.invariants.bounded import Size
from routeproof.spec.theory.invariants.facts import StepFact
from routeproof.spec.theory.invariants.obligations import Induction, Inductive
from routeproof.spec.theory.invariants.step import EVENTS, StepEvent

SIZES = (Size(2, 1, 1, 1, 1), Size(2, 1, 1, 1, 2), Size(2, 2, 1, 1, 3), Size(2, 2, 2, 2, 3))
"""Sizes of the worlds that are searched. No invariant speaks of more messages and advertisements than the last has."""

Row: TypeAlias = tuple[Element, ...]


@frozen(eq=False)
class Possibilities:
    """The small worlds of one theorem's obligations, built as needed, with what was found there.

    Each theorem has its own: a verdict depends on no other theorem that the process has judged.
    """

    _small: dict[tuple[Induction, Size], tuple[Small, ...]] = field(init=False, factory=dict)
    _worlds: dict[tuple[Induction, StepEvent | None, bool, Size], tuple[Worlds, ...]] = field(init=False, factory=dict)
    _says: dict[tuple[Induction, StepFact], bool] = field(init=False, factory=dict)

    def impossible(self, asked: Inductive) -> str:
        """Returns what the obligation takes for granted that no small world allows; "" if one allows all of it.

        A step fact must say something in some kind of step, not in every kind. Where Z3 gives up, raises GaveUp.
        """
        sentence, worlds = asked.sentence, list(self.worlds(asked.proof, asked.event, asked.first))
        speaks = f"what it speaks of: {sentence.about}"
        if isinstance(sentence, StepFact) and not self._says_something(asked.proof, sentence):
            return speaks
        if any(each.is_known_for(asked) for each in worlds) or _any_of_them(worlds, lambda each: each.has(asked)):
            return ""
        if not _any_of_them(worlds, lambda each: each.find(True) is not None):
            return f"this step: {asked.event.name}" if asked.event else "a moment of which the invariants are true"
        if not _any_of_them(worlds, lambda each: each.says_something(asked)):
            return speaks
        return "what is given"

    def worlds(self, proof: Induction, event: StepEvent | None, first: bool) -> Iterator[Worlds]:
        """The smallest first."""
        return (each for size in SIZES for each in self._of_size(proof, event, first, size))

    def _of_size(self, proof: Induction, event: StepEvent | None, first: bool, size: Size) -> tuple[Worlds, ...]:
        if (proof, size) not in self._small:
            self._small[proof, size] = small_worlds(proof, size)
        key = proof, event, first, size
        if key not in self._worlds:
            self._worlds[key] = tuple(Worlds(small, event, first) for small in self._small[proof, size])
        return self._worlds[key]

    def _says_something(self, proof: Induction, fact: StepFact) -> bool:
        if (proof, fact) not in self._says:
            events = (event for event in EVENTS if fact in proof.facts(event))
            worlds = (each for event in events for each in self.worlds(proof, event, False))
            self._says[proof, fact] = _any_of_them(
                worlds, lambda each: each.find(any_of(*each.says(fact).values())) is not None
            )
        return self._says[proof, fact]


@frozen(eq=False)
class Worlds:
    """All worlds of one size on one tree, and a step of one kind in them; or none, and where nothing ever happened."""

    small: Small
    event: StepEvent | None
    first: bool
    found: list[WitnessSearch] = field(init=False, factory=list)
    _said: dict[str, dict[Row, Truth]] = field(init=False, factory=dict)
    _solver: list[Solver] = field(init=False, factory=list)

    @property
    def logic(self) -> Logic:
        return self.small.logic

    def meaning(self, symbol: str) -> Callable[..., Any]:
        logic, now = self.small.logic, self.small.stage.now
        if symbol in logic.relations:
            return logic.relations[symbol]
        if symbol in logic.constants:
            return lambda: logic.constants[symbol]
        meaning: Callable[..., Any] = getattr(now.tree if hasattr(now.tree, symbol) else now.facts, symbol)
        return meaning

    def says(self, sentence: Sentence) -> dict[Row, Truth]:
        """On which condition it says something of these elements: of the step, of the moment after it, or of one."""
        if sentence.name not in self._said:
            g = self.small.stage
            if isinstance(sentence, StepFact):
                assert self.event is not None, "a fact about a step"
                clause = sentence.clause(g, g.named(self.event))
            else:
                clause = sentence.clause(g.then if self.event else g.now)
            each = {row: self.small.logic.condition_of(clause, row) for row in self.small.logic.each(clause.sorts)}
            self._said[sentence.name] = {row: said for row, said in each.items() if said is not False}
        return self._said[sentence.name]

    def _rows(self, asked: Inductive) -> dict[Row, Truth]:
        if self.first or isinstance(asked.sentence, StepFact):  # it need say nothing here
            return {next(self.small.logic.each(asked.sentence.sorts)): True}
        return self.says(asked.sentence)

    def is_known_for(self, asked: Inductive) -> bool:
        return any(
            scene.holds(said) and not scene.against(asked, row)
            for scene in self.found
            for row, said in self._rows(asked).items()
        )

    def says_something(self, asked: Inductive) -> bool:
        return self.find(any_of(*self._rows(asked).values())) is not None

    def has(self, asked: Inductive) -> bool:
        """True if some world makes all premises true. What is false in a world that was found is asked of the next."""
        rows, wanted = self._rows(asked), list[z3.BoolRef]()
        while True:
            scene = self.find(any_of(*rows.values()))
            if scene is None:
                return False
            row = next(row for row, said in rows.items() if scene.holds(said))
            more = scene.against(asked, row)
            if not more:
                self.found.append(scene)
                return True
            wanted += more
            rows = {
                row: all_of(said, *(read(each, _Of(self, asked, row)) for each in more)) for row, said in rows.items()
            }

    def find(self, said: Truth) -> WitnessSearch | None:
        """Finds a world. If Z3 gives up because of earlier questions, it gets the question again in a fresh context."""
        if not self._solver:
            self._solver.append(self._fresh())
        try:
            model = self._solver[0].find(formula(said))
        except GaveUp:
            model = self._fresh().find(formula(said))
        return None if model is None else WitnessSearch(self, model)

    def _fresh(self) -> Solver:
        solver, small = Solver(solve.RLIMIT), self.small
        invariants = small.invariants  # always included: they name the further tables of a protocol
        solver.add(small.world, small.at_first if self.first else invariants)
        if self.event is not None:
            solver.add(small.of_event(self.event))
        solver.add(*small.logic.picks)
        return solver


@frozen(eq=False)
class WitnessSearch:
    """One of these worlds."""

    worlds: Worlds
    model: z3.ModelRef = field(repr=False)
    logic: Grounded = field(init=False)
    _known: dict[tuple[object, ...], Any] = field(init=False, factory=dict)

    @logic.default
    def _elements(self) -> Grounded:
        return Grounded(self.worlds.small.logic.elements)

    def holds(self, said: Truth) -> bool:
        if isinstance(said, bool):
            return said
        return bool(z3.is_true(self.model.eval(said.translate(self.model.ctx), model_completion=True)))

    def meaning(self, symbol: str) -> Callable[..., Any]:
        return partial(self._value, symbol)

    def _value(self, symbol: str, *row: Element) -> Any:
        if (symbol, row) not in self._known:
            value = self.worlds.meaning(symbol)(*row)
            is_truth = isinstance(value, bool | z3.BoolRef)
            self._known[symbol, row] = self.holds(value) if is_truth else self._element(value)
        return self._known[symbol, row]

    def _element(self, term: Any) -> Element:
        return next(each for each, truth in possible(term).items() if self.holds(truth))

    def against(self, asked: Inductive, row: Row) -> list[z3.BoolRef]:
        """Returns the premises that are false here, for these elements."""
        world = _Of(self, asked, row)
        return [each for each in asked.formulas if read(each, world) is not True]


class _Of:
    """A world, and the elements that an obligation is about."""

    def __init__(self, world: Interpretation, asked: Inductive, row: Row) -> None:
        self.world, self.logic = world, world.logic
        self.terms = {str(term): element for term, element in zip(asked.of, row, strict=True)}

    def meaning(self, symbol: str) -> Callable[..., Any]:
        if symbol in self.terms:
            return lambda: self.terms[symbol]
        return self.world.meaning(symbol)


def _any_of_them(worlds: Iterator[Worlds] | Sequence[Worlds], holds: Callable[[Worlds], bool]) -> bool:
    """Where Z3 gives up on one of them, another may still do."""
    limits = []
    for each in worlds:
        try:
            if holds(each):
                return True
        except GaveUp as limit:
            limits.append(limit)
    if limits:
        raise limits[0]
    return False
