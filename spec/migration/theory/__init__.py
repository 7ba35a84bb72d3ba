"""Migration as a first-order relation: one move of one publisher, seen by one subscription, on any tree of brokers.

The theorems are listed here: for all trees and any number of publications, and what small worlds show. Reading order:
`move` (the relation), `invariants`, `worlds` (small worlds, which show that no theorem is vacuous).
`docs/explanation/proofs-migration.md` says what is proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import z3
from attrs import evolve

from routeproof.spec.migration.theory import move, worlds
from routeproof.spec.migration.theory.publications import AFTERWARDS, BOOK, COPIES, ORDER
from routeproof.spec.migration.theory.tables import PHASES, TABLES, Moved
from routeproof.spec.migration.theory.worlds import LINE, SmallWorld, shortest, without
from routeproof.spec.theory import BROKER, PUB, Clause, Symbolic, Term, Truth, declare, empty, formula, implication
from routeproof.spec.theory.invariants.book import Book, Sentence
from routeproof.spec.theory.invariants.obligations import concerning
from routeproof.spec.theory.proof import Obligation, Premise, Theorem, premise, proved_by
from routeproof.spec.theory.relation import Tree
from routeproof.spec.theory.relation.ways import ROADS, WAYS, roads_hold, ways_hold

MOVES = (
    "a step is one of the relation's: channels are reliable and FIFO, brokers do not fail, the target does not refuse"
)
SETTLED = "the move begins where the subscription is settled, and nothing but publications of it is on its way"
STAYS = (
    "the subscription and the advertisement stay, and other publishers that draw the subscription neither come nor go"
)
ORDERED = "a publisher publishes in one order"
APART = "source and target are two brokers"

NAMES: Mapping[str, Book] = {
    "MovePhases": PHASES,
    "MoveTables": TABLES,
    "MoveCopies": COPIES,
    "MoveOrder": ORDER,
    "MoveEnds": AFTERWARDS,
}
"""By theorem, the sentences that it proves."""

PROVED_BY = {name: id for id, book in NAMES.items() for name in (*book.conjuncts, *book.lemmas)}


class MoveScene:
    """Any move, on any tree."""

    def __init__(self) -> None:
        self.logic = Symbolic()
        tree = declare(Tree, self.logic)
        source, target, home = (self.logic.constant(name, BROKER) for name in ("source", "target", "home"))
        other = self.logic.relation("other", (BROKER,))
        self.q = move.MoveSetting(
            self.logic, tree, source, target, home, other, self.logic.relation("earlier", (PUB, PUB))
        )
        self.m = declare(move.MoveState, self.logic)
        trees = (*ways_hold(self.logic, tree).every_one(), *roads_hold(self.logic, tree))
        self.trees = [premise(self.logic, each) for each in trees]
        self.rigid = [premise(self.logic, each) for each in self._rigid()]

    def _rigid(self) -> Iterator[Clause]:
        q, logic = self.q, self.logic
        yield Clause("source and target differ", (), lambda: logic.apart(q.source, q.target), source=APART)
        yield Clause(
            "others draw it over whole ways",
            (BROKER, BROKER),
            lambda b, c: logic.implies(logic.all_of(q.other(b), q.between(b, c, q.home)), q.other(c)),
            source=STAYS,
        )
        yield Clause(
            "no publication is earlier than itself", (PUB,), lambda p: logic.no(q.earlier(p, p)), source=ORDERED
        )
        yield Clause(
            "earlier is transitive",
            (PUB, PUB, PUB),
            lambda p, o, r: logic.implies(logic.all_of(q.earlier(p, o), q.earlier(o, r)), q.earlier(p, r)),
            source=ORDERED,
        )

    def terms(self, name: str) -> list[Term]:
        return self.logic.any_of_each(BOOK[name].sorts)

    def known(self, names: Iterable[str], m: move.MoveState | None = None) -> list[Premise]:
        """Sentences of the book about a state, as premises."""
        w = Moved(self.q, m or self.m)
        return [premise(self.logic, BOOK[n].clause(w), proved_by(PROVED_BY[n])) for n in names]

    def obligation(self, name: str, goal: Truth, given: Sequence[Premise], can_be: bool) -> Obligation:
        """The premises stand in the goal: Z3 would search long for a world of any size that makes them true."""
        used = [*given, *self.trees, *concerning(self.rigid, [formula(goal), *(each.formula for each in given)])]
        said = implication(z3.And(*(each.formula for each in used)), goal)
        sources = frozenset(source for each in used for source in each.sources)
        return Obligation(name, said, guards={"it says something": can_be}, supposes=sources)

    # -- induction -----------------------------------------------------------------------------------------------------

    def at_first(self, name: str) -> Obligation:
        given = [premise(self.logic, each, SETTLED) for each in move.started(self.q, self.m)]
        terms = self.terms(name)
        return self.obligation(f"at first / {name}", BOOK[name].body(Moved(self.q, self.m), *terms), given, True)

    def after(self, event: move.MoveEvent, name: str) -> Obligation:
        q, logic = self.q, self.logic
        elements = logic.any_of_each(event.sorts, "event_")
        brokers = [each for each, sort in zip(elements, event.sorts, strict=True) if sort == BROKER]
        named = (*brokers, *map(q.inward, brokers), q.source, q.target)
        goal = BOOK[name].body(Moved(q, event.effect(q, self.m, *elements), named), *self.terms(name))
        guard = Premise(event.guard(q, self.m, *elements), (MOVES,))
        can_be = event.name in worlds.happens() and name in worlds.speaks()
        return self.obligation(f"{event.name} / {name}", goal, [*self.known(BOOK[name].needs), guard], can_be)

    def lemma(self, name: str) -> Obligation:
        goal = BOOK[name].body(Moved(self.q, self.m), *self.terms(name))
        return self.obligation(name, goal, self.known(BOOK[name].needs), name in worlds.speaks())


IN_FLIGHT = (*COPIES.conjuncts, *ORDER.conjuncts)
"""The sentences about copies: true of a first move, since nothing is published, and of a later one since the last."""


def holds(book: Book) -> list[Obligation]:
    """All conjuncts of a book hold at first and after every event, and its lemmas follow."""
    s = MoveScene()
    return [
        *(s.at_first(name) for name in book.conjuncts if name not in IN_FLIGHT),
        *(s.after(event, name) for event in move.EVENTS for name in book.conjuncts),
        *(s.lemma(name) for name in book.lemmas),
    ]


def begins_again() -> list[Obligation]:
    """Where a move has ended and all is quiet, everything is as it must be where one begins."""
    s = MoveScene()
    q, m, logic = s.q, s.m, s.logic
    target = logic.constant("next_target", BROKER)
    then, beginning = move.next_move(q, m, target)
    quiet = Clause("quiet", (BROKER,), lambda b: logic.no(logic.any_of(m.addition(b), m.withdrawal(b))))
    over = Clause("over", (), m.resumed)
    given = [premise(logic, quiet, SETTLED), premise(logic, over, SETTLED)]
    needs = (*PHASES.conjuncts, *TABLES.conjuncts, *COPIES.conjuncts, *AFTERWARDS.lemmas)
    found = []
    for clause in move.started(then, beginning):
        goal = clause.at(*logic.any_of_each(clause.sorts))
        found.append(s.obligation(clause.name, goal, [*given, *s.known(needs)], True))
    for name in IN_FLIGHT:
        goal = BOOK[name].body(Moved(then, beginning), *s.terms(name))
        found.append(s.obligation(name, goal, [*given, *s.known((name, *needs, *ORDER.conjuncts))], True))
    return found


def nothing_published() -> list[Obligation]:
    """Where nothing is published yet, the sentences about copies hold."""
    s = MoveScene()
    names = ("published", "delivered", "old", "held", "new", "flying", "twice")
    given = [premise(s.logic, each) for each in empty(s.logic, s.m, *names, source=SETTLED)]
    return [
        s.obligation(f"at first / {name}", BOOK[name].body(Moved(s.q, s.m), *s.terms(name)), given, True)
        for name in IN_FLIGHT
    ]


# -- small worlds ------------------------------------------------------------------------------------------------------


def happens() -> list[Obligation]:
    """Every event happens, every sentence says something, and in small worlds every run ends with the move."""
    rows: dict[str, bool] = {
        **{f"it happens: {event.name}": event.name in worlds.happens() for event in move.EVENTS},
        **{f"it says something: {name}": name in worlds.speaks() for name in (*BOOK.conjuncts, *BOOK.lemmas)},
        **{f"a move ends: {world.name}": worlds.ends_well(world) for world in worlds.WORLDS},
    }
    begins = all(map(worlds.states, worlds.WORLDS))
    return [Obligation(name, found, guards={"worlds": begins}) for name, found in rows.items()]


PAIR = SmallWorld(((1, 2),), 1, 2, 2, 2)
LOSES, OVERTAKES = "nothing is lost", "deliveries are in order"


NEEDS: Mapping[str, tuple[SmallWorld, tuple[move.MoveEvent, ...], str]] = {
    "the update removes at once, as printed": (evolve(PAIR, removal=move.AT_ONCE), move.EVENTS, LOSES),
    "the completion does not wait for the mark": (
        PAIR,
        without("mark at the source", guard=lambda q, m: q.logic.all_of(m.paused(), q.logic.no(m.flushed()))),
        LOSES,
    ),
    "the publisher resumes before the completion": (
        PAIR,
        without("resume", guard=lambda q, m: q.logic.all_of(m.updated(q.target), q.logic.no(m.resumed()))),
        OVERTAKES,
    ),
    "the completion overtakes a subscription or a publication": (
        SmallWorld(LINE, 1, 3, 3, 1),
        without("completion", guard=lambda q, m, b: m.completion(b)),
        LOSES,
    ),
    "a later publication overtakes an earlier one": (
        PAIR,
        without("publication at the source", guard=lambda q, m, p: m.old(p)),
        OVERTAKES,
    ),
}
"""By what is left out: a small world, its events, and the sentence that is false after a run in it."""


def needed() -> list[Obligation]:
    found = []
    for what, (world, events, said) in NEEDS.items():
        is_true = shortest(evolve(world, removal=move.DRAINED), said) is None
        guards = {"with nothing left out it is true": is_true}
        goal = shortest(world, said, events) is not None
        found.append(Obligation(f"{what}: {said}", goal, guards=guards))
    return found


# -- the theorems ------------------------------------------------------------------------------------------------------


def _behind(book: Book, own: str) -> tuple[str, ...]:
    sentences: tuple[Sentence, ...] = (*book.conjuncts.values(), *book.lemmas.values())
    names = {name for each in sentences for name in each.needs}
    return tuple(id for id in NAMES if id != own and any(PROVED_BY[name] == id for name in names))


THEOREMS = (
    Theorem(
        "MovePhases",
        ("MIG-1", "MIG-2", "MIG-3", "MIG-4", "MIG-7", "MIG-8", "MIG-12"),
        "Always: update, mark, completion and resumption follow each other over the path of a move.",
        lambda: holds(PHASES),
        (MOVES, SETTLED, STAYS, ORDERED, APART),
        rests_on=(WAYS, ROADS),
        beside=("MoveHappens",),
    ),
    Theorem(
        "MoveTables",
        ("MIG-4", "MIG-6", "MIG-7", "MIG-13", "MIG-14"),
        "Always: the subscription stays on the old way until the completion, and is on the new way when it comes.",
        lambda: holds(TABLES),
        (MOVES, SETTLED, STAYS, ORDERED, APART),
        rests_on=(*_behind(TABLES, own="MoveTables"), WAYS, ROADS),
        beside=("MoveHappens",),
    ),
    Theorem(
        "MoveCopies",
        ("RTE-5", "MIG-1", "MIG-12", "MIG-13", "MIG-14"),
        "Always: a publication is delivered, on its way to where the subscription is, or held back: in one place.",
        lambda: [*holds(COPIES), *nothing_published()[: len(COPIES.conjuncts)]],
        (MOVES, SETTLED, ORDERED, APART),
        rests_on=(*_behind(COPIES, own="MoveCopies"), WAYS, ROADS),
        beside=("MoveHappens",),
    ),
    Theorem(
        "MoveOrder",
        ("RTE-5", "MIG-1", "MIG-8", "MIG-12"),
        "Always: publications go and are delivered in the order in which they were published, across a move.",
        lambda: [*holds(ORDER), *nothing_published()[len(COPIES.conjuncts) :]],
        (MOVES, SETTLED, ORDERED, APART),
        rests_on=(*_behind(ORDER, own="MoveOrder"), WAYS, ROADS),
        beside=("MoveHappens",),
    ),
    Theorem(
        "MoveEnds",
        ("MIG-4", "MIG-6", "MIG-7", "MIG-14"),
        "After a move, and quiet, tables are those of a fresh network; what is not on its way is delivered.",
        lambda: holds(AFTERWARDS),
        (STAYS, APART),
        rests_on=(*_behind(AFTERWARDS, own="MoveEnds"), WAYS, ROADS),
        beside=("MoveHappens",),
    ),
    Theorem(
        "MovesFollow",
        ("MIG-1", "MIG-16"),
        "Where a move is over and quiet, all is as a next one needs it: so any number of moves is safe.",
        begins_again,
        (SETTLED, STAYS, ORDERED, APART),
        rests_on=("MovePhases", "MoveTables", "MoveCopies", "MoveOrder", "MoveEnds", WAYS, ROADS),
    ),
    Theorem(
        "MoveHappens",
        ("MIG-1", "MIG-8"),
        "In small worlds every event of a move happens, every sentence says something, and every run ends well.",
        happens,
        bound=f"{len(worlds.WORLDS)} worlds of up to four brokers and two publications",
    ),
    Theorem(
        "MoveNeeds",
        ("MIG-5", "MIG-7", "MIG-8", "MIG-12", "MIG-13"),
        "As printed a move loses; and so without the mark, the order of channels, or the wait: a run each.",
        needed,
    ),
)
