"""A run that Z3 found in a small world: what is true at each moment, what each step does, and both in words.

Brokers are called b1, b2, ..., subscriptions s1, s2, ... in the order of their ids, and so on. `shown` describes a
counterexample: a moment of a small world, the steps from there on, and the sentence that is false after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import z3
from attrs import evolve, field, frozen

from routeproof.checker.prove.ground import Element, possible
from routeproof.checker.prove.small import Runs
from routeproof.spec.theory import ADV, BROKER, ITEM, PUB, SUB, Clause, Relation, Sort, Term, Truth
from routeproof.spec.theory.invariants.book import Moment, Sentence
from routeproof.spec.theory.invariants.facts import StepFact
from routeproof.spec.theory.invariants.step import EVENTS, StepEvent, StepView
from routeproof.spec.theory.relation import ABOUT, Facts
from routeproof.spec.theory.relation.world import Happening

Row = tuple[Element, ...]


@frozen
class SeenMoment:
    """One moment of a run, and the step after it if there is one: formulas about a stage are read there."""

    runs: Runs
    model: z3.ModelRef = field(repr=False)
    number: int

    @property
    def stage(self) -> StepView:
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
    def by(self) -> Happening:
        """The step's event, with elements for terms."""
        by = self.stage.named(self.event)
        item = None if by.item is None else self.element(by.item)
        here, sender = self.element(by.here), self.element(by.sender)
        return evolve(by, subject=self.element(by.subject), here=here, sender=sender, item=item)

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
    sentence: Sentence
    first: bool
    """It begins where nothing has happened yet; else at any moment of which `given` is true."""
    given: str = "the invariants"

    def seen(self, moment: int) -> SeenMoment:
        return SeenMoment(self.runs, self.model, moment)

    @property
    def moments(self) -> list[SeenMoment]:
        return [self.seen(number) for number in range(self.steps + 1)]

    @property
    def taken(self) -> Sequence[SeenMoment]:
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


# -- in words ----------------------------------------------------------------------------------------------------------


def shown(found: FoundRun) -> dict[str, str]:
    begin, end = found.seen(0), found.seen(found.steps)
    rows = {"overlay": ", ".join(f"{x} -- {y}" for x, y in begin.links())}
    rows["homes"] = listed(_homes(begin))
    rows["filters"] = listed(_filters(begin))
    if found.first:
        rows["at first"] = "nothing has happened yet"
    else:
        rows["at first"] = f"any moment of which {found.given} are true; it need not be reachable"
        for b in begin.brokers:
            rows[f"{b} knows"] = listed(_tables(begin, b))
        rows |= {f"queued {x} to {y}": words for (x, y), words in queued(begin).items()}
        rows["ghosts"] = listed(ghosts(begin))
    for number, seen in enumerate(found.taken, 1):
        rows["step" if found.steps == 1 else f"step {number}"] = _step(seen)
    for b in dict.fromkeys(seen.by.here for seen in found.taken):
        rows[f"{b} knows then"] = listed(_tables(end, b))
    if found.steps:
        rows |= {f"queued then {x} to {y}": words for (x, y), words in queued(end).items()}
    rows["fails"] = found.sentence.about
    rows["of"] = listed(said_of(found))
    return rows


def said_of(found: FoundRun) -> Iterator[str]:
    """The elements of which the sentence is false."""
    for sort, each in zip(found.sentence.sorts, found.of(), strict=True):
        yield f"the message {word(found.seen(0), each)}" if sort == ITEM else str(each)


def queued(seen: SeenMoment) -> dict[tuple[Element, ...], str]:
    """Queued messages, for each link that has any."""
    return {link: ", ".join(word(seen, item) for item in items) for link, items in seen.queues().items()}


def ghosts(seen: SeenMoment) -> list[str]:
    """The clients' operations and the ghosts, in words."""
    state, ours = seen.now.state, seen.now.ghosts
    named: tuple[tuple[str, Relation, tuple[Sort, ...]], ...] = (
        ("subscribed", state.subscribed, (SUB,)),
        ("unsubscribed", state.unsubscribed, (SUB,)),
        ("advertised", state.advertised, (ADV,)),
        ("unadvertised", state.unadvertised, (ADV,)),
        ("published", state.published, (PUB,)),
        ("ready", state.ready, (SUB, ADV)),
        ("pledged", ours.pledged, (SUB, ADV)),
        ("owed", state.owed, (PUB, SUB)),
        ("delivered", state.delivered, (PUB, SUB)),
        ("heard", ours.heard, (BROKER, ADV)),
        ("handled", ours.handled, (BROKER, PUB)),
    )
    rows = [
        f"{name}({', '.join(map(str, row))})" for name, relation, sorts in named for row in seen.rows(relation, *sorts)
    ]
    on = {item for items in seen.queues().values() for item in items}
    return rows + [f"told({word(seen, i)}, {s})" for i, s in seen.rows(ours.told, ITEM, SUB) if i in on]


def word(seen: SeenMoment, item: Element) -> str:
    kind, about = seen.says(item)
    return f"{kind}({about})"


def listed(rows: Iterable[str]) -> str:
    return ", ".join(rows) or "nothing"


def _step(seen: SeenMoment) -> str:
    event, by = seen.event, seen.by
    if event.operation:
        happens = f"{event.operation}({by.subject}) at {by.here}"
    else:
        happens = f"{by.here} handles {event.kind}({by.subject}) from {by.sender}"
    said = [f"{word(seen, item)} to {u}" for item, u in seen.sends()]
    return f"{happens}; says {listed(said)}" + "".join(f"; delivers {p} for {s}" for p, s in seen.delivers())


def _homes(seen: SeenMoment) -> Iterator[str]:
    now = seen.now
    yield from (f"{s} at {seen.element(now.home(s))}" for s in seen.elements(SUB))
    yield from (f"{a} at {seen.element(now.origin(a))}" for a in seen.elements(ADV))
    yield from (f"{p} of {seen.element(now.facts.adv_of(p))}" for p in seen.elements(PUB))


def _filters(seen: SeenMoment) -> Iterator[str]:
    f = seen.facts
    yield from (f"{t} covers {s}" for t, s in seen.rows(f.covers, SUB, SUB) if t is not s)
    yield from (f"{a} overlaps {s}" for a, s in seen.rows(f.overlaps, ADV, SUB))
    yield from (f"{p} matches {s}" for p, s in seen.rows(f.matches, PUB, SUB))


def _tables(seen: SeenMoment, b: Element) -> Iterator[str]:
    yield from (f"{m} from {'a client' if x is b else x}" for m, x in (*seen.advs(b), *seen.subs(b)))
    yield from (f"sent {s} to {u}" for u, s in seen.sent(b))
