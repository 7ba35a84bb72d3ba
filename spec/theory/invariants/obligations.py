"""Proof obligations of the invariants: one for each conjunct and each event.

Each is small on purpose. Z3 is given only the part of a step that concerns the conjunct (`relevant`), and of the moment
before it only what the conjunct names. Leaving a premise out can make a proof fail, and never lets a falsehood pass.

A clause that defines a relation after the step is relevant where that relation is mentioned, and then so is all that
the clause mentions. Any other clause about the step is relevant where all that it mentions is mentioned anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product

import attrs
import z3
from attrs import evolve, field, frozen

from routeproof.spec.theory import BROKER, ITEM, Clause, Sort, Symbolic, Term, Truth, empty, formula
from routeproof.spec.theory.invariants.book import AlongPath, Book, Conjunct, Ghosts, Lemma, Moment, Sentence
from routeproof.spec.theory.invariants.facts import FACTS, Basis, StepFact, facts_of
from routeproof.spec.theory.invariants.step import AFTER, CANDIDATES, COVERED, EVENTS, PROMISES, StepEvent, StepView
from routeproof.spec.theory.proof import DEFINITION, Obligation, Premise, premise, proved_by
from routeproof.spec.theory.relation import facts_hold, path_induction
from routeproof.spec.theory.relation.routing import HandlerStep
from routeproof.spec.theory.relation.ways import WAYS, roads, roads_hold
from routeproof.spec.theory.relation.world import WorldStep, initially

FAITHFUL = "the beginning and every step are the relation's: links are reliable and FIFO, brokers do not forget"
ONCE = "a client does each thing at most once, under an id of its own"

HIDDEN = frozenset(["ready", "quiet"])
"""The clauses of a step that are used by way of a step fact only: they look into every queue."""


@frozen(kw_only=True)
class Inductive(Obligation):
    """`sentence` is what it is about, of the elements `of`, and `event` the step after which it must hold.

    It has no guards: small worlds show that its assumptions can hold, because Z3 seldom finds worlds of any size.
    """

    proof: Induction = field(repr=False, eq=False)
    sentence: Sentence
    of: Sequence[z3.ExprRef] = field(repr=False)
    event: StepEvent | None = None
    first: bool = False
    """It is about the moment at which nothing has happened yet."""
    case: Sequence[z3.BoolRef] = ()
    """Which of several cases it is, that make up all: given too, but a case need not be possible."""


@frozen(eq=False)
class Induction:
    """The proof that all conjuncts of a book hold always; with another step or handler, under another protocol."""

    book: Book
    policy: str = ""
    """Without one it is about any policy that keeps its promises."""
    step: type[WorldStep] = WorldStep
    handler: type[HandlerStep] = HandlerStep
    basis: Basis | None = None
    """Which theorem proves each sentence of the book; without it a sentence is a source under its own name."""
    stage: StepView = field(init=False, eq=False, repr=False)
    _written: dict[tuple[str, bool], Premise] = field(init=False, factory=dict, repr=False)

    def __attrs_post_init__(self) -> None:
        self.book.in_order()
        for fact in FACTS.values():
            self.book.refuse_unknown(fact.name, fact.needs)

    @stage.default
    def _any(self) -> StepView:
        return StepView.any(Symbolic())

    @property
    def logic(self) -> Symbolic:
        logic = self.stage.now.logic
        assert isinstance(logic, Symbolic)
        return logic

    @cached_property
    def world(self) -> list[Premise]:
        """Premises that are true of every world: facts, and roads."""
        facts = facts_hold(self.logic, self.stage.now.facts)
        return self._closed([*facts, *roads_hold(self.logic, self.stage.now.tree)])

    # -- obligations -------------------------------------------------------------------------------------------------

    def of_conjuncts(self, names: Iterable[str]) -> Iterator[Inductive]:
        """Obligations that the conjuncts hold at first, and after every step."""
        chosen = [self.book.conjuncts[name] for name in names]
        for conjunct in chosen:
            yield self.at_first(conjunct)
        for event in EVENTS:
            for conjunct in chosen:
                yield from self.after(event, conjunct)

    def at_first(self, conjunct: Conjunct) -> Inductive:
        given = [premise(self.logic, each, FAITHFUL) for each in self.beginning(self.stage.now)]
        goal = formula(conjunct.clause(self.stage.now).at(*self.logic.any_of_each(conjunct.sorts)))
        return self._made(f"at first / {conjunct.name}", goal, given, conjunct, first=True)

    def beginning(self, moment: Moment) -> list[Clause]:
        """The facts about the moment at which nothing has happened yet."""
        return [*initially(moment.logic, moment.state), *nothing_happened(moment)]

    def after(self, event: StepEvent, conjunct: Conjunct) -> Iterator[Inductive]:
        g, terms = self.stage, self.logic.any_of_each(conjunct.sorts)
        goal = formula(conjunct.clause(g.then).at(*terms))
        then, before = self._said(conjunct.then, g.then), self._said(conjunct.needs, g.now)
        known = [row for row in self._step[event] if row[0] not in HIDDEN]
        step = relevant([*known, *self._facts[event]], [goal, *(each.formula for each in then)])
        for said, case in self._cases(conjunct.sorts, terms):
            name = f"{event.name} / {conjunct.name}{said}"
            yield self._made(name, goal, [*before, *step, *then], conjunct, event, case=case)

    def _cases(self, sorts: Sequence[Sort], terms: Sequence[Term]) -> Iterator[tuple[str, list[z3.BoolRef]]]:
        """Cases by which of two messages are new; without them Z3 has too much to try."""
        items = [term for sort, term in zip(sorts, terms, strict=True) if sort == ITEM]
        if len(items) < 2:
            yield "", []
            return
        is_new = [formula(self.logic.some((BROKER,), lambda u, i=i: self.stage.sends.to(i, u))) for i in items]
        for choice in product((False, True), repeat=len(items)):
            words = " and ".join("new" if new else "old" for new in choice)
            yield f" ({words})", [each if new else z3.Not(each) for each, new in zip(is_new, choice, strict=True)]

    def of_facts(self) -> Iterator[Inductive]:
        """Obligations for the facts about every step."""
        for event in EVENTS:
            yield from self.facts_after(event)

    def facts_after(self, event: StepEvent) -> Iterator[Inductive]:
        for fact in self.facts(event):
            goal = formula(fact.clause(self.stage, self.stage.named(event)).at(*self.logic.any_of_each(fact.sorts)))
            before = self._said(fact.needs, self.stage.now)
            known = [row for row in self._step[event] if row[0] not in (CANDIDATES, COVERED)]
            step = relevant([*known, *self._told[event]], [goal])
            yield self._made(f"{event.name} / {fact.name}", goal, [*before, *step], fact, event)

    def of_roads(self) -> Iterator[Inductive]:
        """Obligations for the facts about the tree that all others are given; they follow from the ways."""
        for place, (road, ways) in enumerate(roads(self.logic, self.stage.now.tree)):
            terms = self.logic.any_of_each(road.sorts)
            yield Inductive(
                road.name, road.at(*terms), self._closed(ways), proof=self, sentence=_as_lemma(road, place), of=terms
            )

    def of_lemmas(self, names: Iterable[str]) -> Iterator[Inductive]:
        for lemma in (self.book.lemmas[name] for name in names):
            terms = self.logic.any_of_each(lemma.sorts)
            goal = formula(lemma.clause(self.stage.now).at(*terms))
            given = self._said(lemma.needs, self.stage.now)
            if lemma.induction is not None:
                given.append(self._along(lemma.induction(self.stage.now, *terms)))
            yield self._made(lemma.name, goal, given, lemma)

    def _along(self, path: AlongPath) -> Premise:
        m = self.stage.now
        said = path_induction(m.logic, m.tree, path.holds, path.start, path.end)
        return Premise(said, (proved_by(WAYS),))

    def _made(
        self,
        name: str,
        goal: z3.BoolRef,
        given: Sequence[Premise],
        sentence: Sentence,
        event: StepEvent | None = None,
        first: bool = False,
        case: Sequence[z3.BoolRef] = (),
    ) -> Inductive:
        """With what of the world concerns it."""
        known = [*given, *concerning(self.world, [goal, *(each.formula for each in given), *case])]
        of = self.logic.any_of_each(sentence.sorts)
        return Inductive(name, goal, known, proof=self, sentence=sentence, of=of, event=event, first=first, case=case)

    # -- steps -------------------------------------------------------------------------------------------------------

    @cached_property
    def _step(self) -> _PerEvent:
        g = self.stage

        def clauses(event: StepEvent) -> list[Clause]:
            by = g.named(event)
            step = [self._sourced(each, event) for each in g.step(by, self.policy, self.step, self.handler)]
            return [*step, *_all_from(DEFINITION, g.ghosts(by))]

        return _PerEvent(self.logic, clauses)

    def _sourced(self, clause: Clause, event: StepEvent) -> Clause:
        """With the hypothesis about steps that it is a part of, or the theorem of the promises."""
        if clause.source == PROMISES:
            return evolve(clause, source=proved_by(self.basis.promises)) if self.basis else clause
        return evolve(clause, source=ONCE if event.operation and clause.name in ALWAYS else FAITHFUL)

    @cached_property
    def _told(self) -> _PerEvent:
        def told(event: StepEvent) -> list[Clause]:
            return _all_from(DEFINITION, self.stage.told(self.stage.named(event).here))

        return _PerEvent(self.logic, told)

    @cached_property
    def _facts(self) -> _PerEvent:
        g, source = self.stage, proved_by(self.basis.facts) if self.basis else "the facts about steps"

        def facts(event: StepEvent) -> list[Clause]:
            return _all_from(source, (fact.clause(g, g.named(event)) for fact in self.facts(event)))

        return _PerEvent(self.logic, facts)

    def facts(self, event: StepEvent) -> list[StepFact]:
        """Facts that are proved of the step, and then given of it."""
        return facts_of(event)

    def _said(self, names: Sequence[str], moment: Moment) -> list[Premise]:
        """These sentences of the book, each written out once: hundreds of obligations share them."""
        keys = {name: (name, moment is self.stage.then) for name in names}
        for name, key in keys.items():
            if key not in self._written:
                source = proved_by(self.basis.theorem_of[name]) if self.basis else name
                self._written[key] = premise(self.logic, self.book[name].clause(moment), source)
        return [self._written[key] for key in keys.values()]

    def _closed(self, clauses: Iterable[Clause]) -> list[Premise]:
        return [premise(self.logic, clause) for clause in clauses]


def _all_from(source: str, clauses: Iterable[Clause]) -> list[Clause]:
    return [evolve(each, source=source) for each in clauses]


@frozen
class _PerEvent:
    """The clauses of each event with their names, written out once."""

    logic: Symbolic
    clauses: Callable[[StepEvent], list[Clause]]
    written: dict[StepEvent, list[tuple[str, Premise]]] = field(init=False, factory=dict)

    def __getitem__(self, event: StepEvent) -> list[tuple[str, Premise]]:
        if event not in self.written:
            closed = ((clause, clause.closed(self.logic)) for clause in self.clauses(event))
            self.written[event] = [
                (clause.name, Premise(each, (clause.source,))) for clause, each in closed if each is not True
            ]
        return self.written[event]


def _as_lemma(road: Clause, place: int) -> Lemma:
    """A sentence of any moment's tree."""

    def body(m: Moment, *terms: Term) -> Truth:
        clause, _ = list(roads(m.logic, m.tree))[place]
        return clause.at(*terms)

    return Lemma(road.name, f"{road.name[0].upper()}{road.name[1:]}.", road.sorts, body, ())


def nothing_happened(moment: Moment) -> list[Clause]:
    """Our ghosts at first: it is quiet, and there is no history."""
    history = [each.name for each in attrs.fields(Ghosts) if each.name != "quiet"]
    return [Clause("it is quiet", (), moment.is_quiet), *empty(moment.logic, moment.ghosts, *history)]


ORDERS = frozenset(["before", "lower"])
"""The orders of items and of ids count like relations after the step: few conjuncts are about them."""

CONCLUDES = {CANDIDATES: f"sent{AFTER}", COVERED: f"sent{AFTER}", "ready before or quiet": f"ready{AFTER}"}
"""Clauses that constrain a relation without defining it: for one, what is wanted is what is sent."""

ALWAYS = frozenset(["it can happen"])


def relevant(clauses: Sequence[tuple[str, Premise]], about: Iterable[z3.BoolRef]) -> list[Premise]:
    """Returns the named clauses that concern what the formulas are about."""
    spoken = set().union(*map(_after, about))
    rows = [
        (CONCLUDES.get(name) or _defines(each.formula), set() if name in ALWAYS else _after(each.formula))
        for name, each in clauses
    ]
    chosen: set[int] = set()
    while True:
        more = [
            place
            for place, (defines, speaks) in enumerate(rows)
            if place not in chosen and (defines in spoken if defines else speaks <= spoken)
        ]
        if not more:
            return [each for place, (_, each) in enumerate(clauses) if place in chosen]
        chosen.update(more)
        spoken = spoken.union(*(rows[place][1] for place in more))


def concerning(world: Iterable[Premise], said: Iterable[z3.BoolRef]) -> list[Premise]:
    """Returns the premises about the world that mention nothing but what the formulas mention."""
    spoken = set().union(*map(_names, said))
    return [each for each in world if _names(each.formula) <= spoken]


def _after(formula: z3.ExprRef) -> set[str]:
    """The relations after the step that it speaks of, and the order of items."""
    return {name for name in _names(formula) if name.endswith(AFTER) or name in ORDERS}


_KNOWN: dict[tuple[int, int], tuple[z3.ExprRef, frozenset[str]]] = {}
"""By context and number of a formula, which is kept as well: as long as it is there, no other has that number."""


def _names(formula: z3.ExprRef) -> frozenset[str]:
    """The relations and functions that it speaks of. One formula occurs in hundreds of obligations."""
    number = formula.ctx.ref().value, formula.get_id()
    if number not in _KNOWN:
        _KNOWN[number] = (formula, frozenset(_found(formula)))
    return _KNOWN[number][1]


def _found(formula: z3.ExprRef) -> set[str]:
    found: set[str] = set()
    seen: set[int] = set()
    waiting = [formula]
    while waiting:
        each = waiting.pop()
        if each.get_id() in seen:
            continue
        seen.add(each.get_id())
        if z3.is_quantifier(each):
            waiting.append(each.body())
        elif z3.is_app(each):
            if each.decl().kind() == z3.Z3_OP_UNINTERPRETED and (each.num_args() or z3.is_bool(each)):
                found.add(each.decl().name())
            waiting.extend(each.children())
    return found


def _defines(formula: z3.ExprRef) -> str:
    """The relation after the step that it says all about, if any: one side of an equivalence, on some condition."""
    body = formula
    while z3.is_quantifier(body):
        body = body.body()
    parts = body.children() if z3.is_or(body) else [body]
    for part in parts:
        if z3.is_eq(part) and z3.is_app(part.arg(0)) and part.arg(0).decl().name().endswith(AFTER):
            name: str = part.arg(0).decl().name()
            return name
    return ""
