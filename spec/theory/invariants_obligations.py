"""What must be proved for the invariants to hold always: one obligation for each conjunct and each event.

Each is small on purpose. Of a step Z3 is given only what concerns the conjunct (`relevant`), and of the moment before
it only what the conjunct names: to leave something out can make a proof fail, and never lets a falsehood pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product

import attrs
import z3
from attrs import field, frozen

from routeproof.spec.theory.invariants import Book, Conjunct, Ghosts, Lemma, Moment
from routeproof.spec.theory.invariants_facts import FACTS, StepFact, facts_of
from routeproof.spec.theory.invariants_relevant import concerning, relevant
from routeproof.spec.theory.invariants_roads import roads, roads_hold
from routeproof.spec.theory.invariants_steps import CANDIDATES, COVERED, EVENTS, Event, Stage, declared
from routeproof.spec.theory.logic import Truth, formula
from routeproof.spec.theory.readings import BROKER, ITEM, Clause, Sort, Symbolic, Term
from routeproof.spec.theory.routing import Handler
from routeproof.spec.theory.signature import facts_hold
from routeproof.spec.theory.theorem import Obligation
from routeproof.spec.theory.world_relation import Step, initially

HIDDEN = frozenset(["ready", "quiet"])
"""The clauses of a step that are used by way of a step fact only: they look into every queue."""

Sentence = Conjunct | Lemma | StepFact


@frozen(kw_only=True)
class Inductive(Obligation):
    """`sentence` is what it is about, of the elements `of`, and `event` the step after which it must hold.

    It has no guards: that what is given can be so is not asked of Z3, which seldom finds worlds of any size, but of
    small worlds.
    """

    proof: Induction = field(repr=False, eq=False)
    sentence: Sentence
    of: Sequence[z3.ExprRef] = field(repr=False)
    event: Event | None = None
    first: bool = False
    """It is about the moment at which nothing has happened yet."""
    case: Sequence[z3.BoolRef] = ()
    """Which of several cases it is, that make up all: given too, but a case need not be possible."""


@frozen(eq=False)
class Induction:
    """The proof that all conjuncts of a book hold always. With another step or handler, it is about another
    protocol. A book that goes in a circle is refused."""

    book: Book
    policy: str = ""
    """Without one it is about any policy that keeps its promises."""
    step: type[Step] = Step
    handler: type[Handler] = Handler
    stage: Stage = field(init=False, eq=False, repr=False)
    _written: dict[tuple[str, bool], z3.BoolRef] = field(init=False, factory=dict, repr=False)

    def __attrs_post_init__(self) -> None:
        self.book.in_order()
        for fact in FACTS.values():
            self.book.refuse_unknown(fact.name, fact.needs)

    @stage.default
    def _any(self) -> Stage:
        return declared(Symbolic())

    @property
    def logic(self) -> Symbolic:
        logic = self.stage.now.logic
        assert isinstance(logic, Symbolic)
        return logic

    @cached_property
    def world(self) -> list[z3.BoolRef]:
        """What is true of every world: facts, and roads."""
        facts = facts_hold(self.logic, self.stage.now.facts)
        return self._closed([*facts, *roads_hold(self.logic, self.stage.now.tree)])

    # -- obligations -------------------------------------------------------------------------------------------------

    def of_conjuncts(self, names: Iterable[str]) -> Iterator[Inductive]:
        """That they hold at first, and after every step."""
        chosen = [self.book.conjuncts[name] for name in names]
        for conjunct in chosen:
            yield self.at_first(conjunct)
        for event in EVENTS:
            for conjunct in chosen:
                yield from self.after(event, conjunct)

    def at_first(self, conjunct: Conjunct) -> Inductive:
        given = self._closed([*initially(self.logic, self.stage.now.state), *nothing_happened(self.stage.now)])
        goal = formula(conjunct.clause(self.stage.now).at(*self._terms(conjunct.sorts)))
        return self._made(f"at first / {conjunct.name}", goal, given, conjunct, first=True)

    def after(self, event: Event, conjunct: Conjunct) -> Iterator[Inductive]:
        g, terms = self.stage, self._terms(conjunct.sorts)
        goal = formula(conjunct.clause(g.then).at(*terms))
        then, before = self._said(conjunct.then, g.then), self._said(conjunct.needs, g.now)
        known = [row for row in self._step[event] if row[0] not in HIDDEN]
        step = relevant([*known, *self._facts[event]], [goal, *then])
        for said, case in self._cases(conjunct.sorts, terms):
            name = f"{event.name} / {conjunct.name}{said}"
            yield self._made(name, goal, [*before, *step, *then], conjunct, event, case=case)

    def _cases(self, sorts: Sequence[Sort], terms: Sequence[Term]) -> Iterator[tuple[str, list[z3.BoolRef]]]:
        """Of two messages, which are new: else there is too much to try."""
        items = [term for sort, term in zip(sorts, terms, strict=True) if sort == ITEM]
        if len(items) < 2:
            yield "", []
            return
        is_new = [formula(self.logic.some((BROKER,), lambda u, i=i: self.stage.sends.to(i, u))) for i in items]
        for choice in product((False, True), repeat=len(items)):
            words = " and ".join("new" if new else "old" for new in choice)
            yield f" ({words})", [each if new else z3.Not(each) for each, new in zip(is_new, choice, strict=True)]

    def of_facts(self) -> Iterator[Inductive]:
        """What is true of every step."""
        for event in EVENTS:
            yield from self.facts_after(event)

    def facts_after(self, event: Event) -> Iterator[Inductive]:
        for fact in self.facts(event):
            goal = formula(fact.clause(self.stage, self.stage.named(event)).at(*self._terms(fact.sorts)))
            before = self._said(fact.needs, self.stage.now)
            known = [row for row in self._step[event] if row[0] not in (CANDIDATES, COVERED)]
            step = relevant([*known, *self._told[event]], [goal])
            yield self._made(f"{event.name} / {fact.name}", goal, [*before, *step], fact, event)

    def of_roads(self) -> Iterator[Inductive]:
        """What of the tree is given to all others, from the ways."""
        for place, (road, ways) in enumerate(roads(self.logic, self.stage.now.tree)):
            terms = self._terms(road.sorts)
            yield Inductive(
                road.name,
                formula(road.at(*terms)),
                self._closed(ways),
                proof=self,
                sentence=_as_lemma(road, place),
                of=terms,
            )

    def of_lemmas(self, names: Iterable[str]) -> Iterator[Inductive]:
        for lemma in (self.book.lemmas[name] for name in names):
            terms = self._terms(lemma.sorts)
            goal = formula(lemma.clause(self.stage.now).at(*terms))
            given = self._said(lemma.needs, self.stage.now)
            if lemma.induction is not None:
                given.append(formula(lemma.induction(self.stage.now, *terms)))
            yield self._made(lemma.name, goal, given, lemma)

    def _made(
        self,
        name: str,
        goal: z3.BoolRef,
        given: Sequence[z3.BoolRef],
        sentence: Sentence,
        event: Event | None = None,
        first: bool = False,
        case: Sequence[z3.BoolRef] = (),
    ) -> Inductive:
        """With what of the world concerns it."""
        known = [*given, *concerning(self.world, [goal, *given, *case])]
        of = self._terms(sentence.sorts)
        return Inductive(name, goal, known, proof=self, sentence=sentence, of=of, event=event, first=first, case=case)

    # -- steps -------------------------------------------------------------------------------------------------------

    @cached_property
    def _step(self) -> _PerEvent:
        g = self.stage

        def clauses(event: Event) -> list[Clause]:
            by = g.named(event)
            return [*g.step(event, by, self.policy, self.step, self.handler), *g.ghosts(event, by)]

        return _PerEvent(self.logic, clauses)

    @cached_property
    def _told(self) -> _PerEvent:
        return _PerEvent(self.logic, lambda event: self.stage.told(self.stage.named(event).here))

    @cached_property
    def _facts(self) -> _PerEvent:
        g = self.stage
        return _PerEvent(self.logic, lambda event: [fact.clause(g, g.named(event)) for fact in self.facts(event)])

    def facts(self, event: Event) -> list[StepFact]:
        """What is proved of the step, and given of it."""
        return facts_of(event)

    def _said(self, names: Sequence[str], moment: Moment) -> list[z3.BoolRef]:
        """These sentences of the book, each written out once: hundreds of obligations share them."""
        keys = {name: (name, moment is self.stage.then) for name in names}
        for name, key in keys.items():
            if key not in self._written:
                self._written[key] = formula(self.book[name].clause(moment).closed(self.logic))
        return [self._written[key] for key in keys.values()]

    def _terms(self, sorts: Sequence[Sort]) -> list[Term]:
        """Any elements, each with a name of its own."""
        return [self.logic.constant(f"{sort.lower()}{place}", sort) for place, sort in enumerate(sorts, 1)]

    def _closed(self, clauses: Iterable[Clause]) -> list[z3.BoolRef]:
        return [formula(clause.closed(self.logic)) for clause in clauses]


@frozen
class _PerEvent:
    """The clauses of each event with their names, written out once."""

    logic: Symbolic
    clauses: Callable[[Event], list[Clause]]
    written: dict[Event, list[tuple[str, z3.BoolRef]]] = field(init=False, factory=dict)

    def __getitem__(self, event: Event) -> list[tuple[str, z3.BoolRef]]:
        if event not in self.written:
            closed = ((clause.name, clause.closed(self.logic)) for clause in self.clauses(event))
            self.written[event] = [(name, formula(each)) for name, each in closed if each is not True]
        return self.written[event]


def _as_lemma(road: Clause, place: int) -> Lemma:
    """A sentence of any moment's tree."""

    def body(m: Moment, *terms: Term) -> Truth:
        clause, _ = list(roads(m.logic, m.tree))[place]
        return clause.at(*terms)

    return Lemma(road.name, f"{road.name[0].upper()}{road.name[1:]}.", road.sorts, body, ())


def nothing_happened(moment: Moment) -> list[Clause]:
    """Our ghosts at first: it is quiet, and there is no history."""
    empty = [each for each in attrs.fields(Ghosts) if each.name != "quiet"]
    return [
        Clause("it is quiet", (), moment.is_quiet),
        *(
            Clause(
                f"{each.name} is empty",
                each.metadata["sorts"],
                lambda *terms, each=each: moment.logic.no(getattr(moment.ghosts, each.name)(*terms)),
            )
            for each in empty
        ),
    ]
