"""A run that Z3 found in a small world, read back: what is true at each of its moments, and what each step does.

Brokers are called b1, b2, ..., subscriptions s1, s2, ... in the order of their ids, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import z3
from attrs import field, frozen

from routeproof.checker.prove.solver.ground import Element, possible
from routeproof.checker.prove.solver.small import Runs
from routeproof.spec.theory.invariants.book import Conjunct, Lemma, Moment
from routeproof.spec.theory.invariants.facts import StepFact
from routeproof.spec.theory.invariants.step import EVENTS, Named, Stage, StepEvent
from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.readings import ADV, BROKER, ITEM, PUB, SUB, Clause, Relation, Sort, Term
from routeproof.spec.theory.relation.signature import ABOUT, Facts

Row = tuple[Element, ...]


@frozen
class Seen:
    """One moment of a run, and the step after it if there is one: formulas about a stage are read there."""

    runs: Runs
    model: z3.ModelRef = field(repr=False)
    number: int

    @property
    def stage(self) -> Stage:
        return self.runs.small.stage

    @property
    def now(self) -> Moment:
        return self.stage.now

    @property
    def facts(self) -> Facts:
        return self.now.facts

    def holds(self, said: Truth) -> bool:
        return self._is(self.runs.at(self.number, said))

    def _is(self, renamed: z3.BoolRef) -> bool:
        return bool(z3.is_true(self.model.eval(renamed.translate(self.model.ctx), model_completion=True)))

    def element(self, term: Term) -> Element:
        """The element that a term is."""
        return next(each for each, truth in possible(term).items() if self.holds(truth))

    def rows(self, relation: Relation, *sorts: Sort) -> Iterator[Row]:
        """The elements of which it holds."""
        return (row for row in self.runs.small.logic.each(sorts) if self.holds(relation(*row)))

    def against(self, clause: Clause) -> Row | None:
        """The first elements of which it is false."""
        return next(self.rows(lambda *row: self.now.logic.no(clause.at(*row)), *clause.sorts), None)

    def elements(self, sort: Sort) -> tuple[Element, ...]:
        return self.runs.small.logic.elements[sort]

    @property
    def brokers(self) -> tuple[Element, ...]:
        return self.elements(BROKER)

    # -- the moment ----------------------------------------------------------------------------------------------------

    def links(self) -> list[Row]:
        return [(x, y) for x, y in self.rows(self.now.tree.link, BROKER, BROKER) if x.place < y.place]

    def queues(self) -> dict[Row, list[Element]]:
        """The messages on each link that has any, in their order."""
        found: dict[Row, list[Element]] = {}
        for i, *link in self.rows(self.now.state.on, ITEM, BROKER, BROKER):
            found.setdefault(tuple(link), []).append(i)
        return found

    def says(self, item: Element) -> tuple[str, Element]:
        """The kind of a message, and what it is about."""
        return next(
            (kind, m)
            for kind, sort in ABOUT.items()
            for i, m in self.rows(self.facts.says(kind), ITEM, sort)
            if i is item
        )

    def advs(self, b: Element) -> list[Row]:
        return list(self.rows(lambda a, x: self.now.state.advs(b, a, x), ADV, BROKER))

    def subs(self, b: Element) -> list[Row]:
        return list(self.rows(lambda s, x: self.now.state.subs(b, s, x), SUB, BROKER))

    def sent(self, b: Element) -> list[Row]:
        """To whom, and what."""
        return list(self.rows(lambda u, s: self.now.state.sent(b, u, s), BROKER, SUB))

    # -- the step ------------------------------------------------------------------------------------------------------

    @property
    def event(self) -> StepEvent:
        return next(event for event in EVENTS if self._is(self.runs.is_of(self.number + 1, event)))

    @property
    def by(self) -> Named:
        """The step's event, with elements for terms."""
        by = self.stage.named(self.event)
        item = None if by.item is None else self.element(by.item)
        return Named(self.element(by.subject), self.element(by.here), self.element(by.sender), item)

    def sends(self) -> list[Row]:
        """Returns the messages that are sent, in their order, with their receivers."""
        return list(self.rows(self.stage.sends.to, ITEM, BROKER))

    def delivers(self) -> list[Row]:
        return list(self.rows(self.stage.sends.delivers, PUB, SUB))


@frozen
class FoundRun:
    """A run in a small world: after its last step the sentence is false."""

    name: str
    """Name of the obligation that was decided."""
    runs: Runs
    model: z3.ModelRef = field(repr=False)
    steps: int
    sentence: Conjunct | Lemma | StepFact
    first: bool
    """It begins where nothing has happened yet; else at any moment of which `given` is true."""
    given: str = "the invariants"

    def seen(self, moment: int) -> Seen:
        return Seen(self.runs, self.model, moment)

    @property
    def moments(self) -> list[Seen]:
        return [self.seen(number) for number in range(self.steps + 1)]

    @property
    def taken(self) -> Sequence[Seen]:
        """The moments after which there is a step."""
        return self.moments[: self.steps]

    def of(self) -> Row:
        """The elements of which the sentence is false."""
        if isinstance(self.sentence, StepFact):
            last = self.seen(self.steps - 1)
            against = last.against(self.sentence.clause(last.stage, last.stage.named(last.event)))
        else:
            last = self.seen(self.steps)
            against = last.against(self.sentence.clause(last.now))
        assert against is not None, "what was found speaks against it"
        return against
