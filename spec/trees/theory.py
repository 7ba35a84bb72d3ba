"""The proof that a switch loses and doubles nothing, for networks of any size and any number of documents.

The theorem: no copy comes to a broker that lacks the table of its stamp, and no broker handles a document twice on one
tree. It is an induction over the steps of `relation`. `docs/explanation/proofs-trees.md` says what is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import z3

from routeproof.spec.theory import (
    BROKER,
    PUB,
    Clause,
    Relation,
    Sort,
    Symbolic,
    Term,
    Truth,
    declare,
    formula,
    is_strict_order,
    topmost,
)
from routeproof.spec.theory.proof import Obligation, Premise, Theorem, premise, proved_by
from routeproof.spec.trees.relation import EVENTS, TREE, SwitchState, TreeNetwork, due

KEEPS = "SwitchKeepsDocuments"
DRAINS = "SwitchDrains"

STEPS = "a step is one of the relation's: links are reliable and FIFO, and no node crashes"
TREES = "in each tree, brokers lie around the publisher's broker as in a tree, and entries name neighbours"
STAYS = "the subscriptions that match the document stay as they are while it is on its way"
ENDED = "every broker stamps by a newer strategy, and no marker is on its way"
FINITE = "a tree has finitely many brokers"
BEGINS = "the strategy is the first one, or nobody has its tables"


# -- sentences ---------------------------------------------------------------------------------------------------------


def trees_hold(n: TreeNetwork) -> Iterator[Clause]:
    """Facts about trees; rooted at a document's publisher, every tree has them."""
    logic, three = n.logic, (TREE, BROKER, BROKER)
    ways, both = (PUB, *three), logic.all_of

    def clause(name: str, sorts: tuple[Sort, ...], body: Callable[..., Truth]) -> Clause:
        return Clause(name, sorts, body, source=TREES)

    yield clause("links go both ways", three, lambda i, a, b: logic.implies(n.link(i, a, b), n.link(i, b, a)))
    yield clause("no link to oneself", (TREE, BROKER), lambda i, a: logic.no(n.link(i, a, a)))
    yield clause(
        "one publisher",
        (PUB, BROKER, BROKER),
        lambda p, a, b: logic.implies(both(n.publisher(p, a), n.publisher(p, b)), logic.equal(a, b)),
    )
    yield clause(
        "a link leads back, or back from there",
        ways,
        lambda p, i, a, b: logic.implies(n.link(i, a, b), logic.any_of(n.back(p, i, a, b), n.back(p, i, b, a))),
    )
    yield clause("back is a link", ways, lambda p, i, a, b: logic.implies(n.back(p, i, a, b), n.link(i, a, b)))
    yield clause(
        "one way back",
        (*ways, BROKER),
        lambda p, i, a, b, c: logic.implies(both(n.back(p, i, a, b), n.back(p, i, a, c)), logic.equal(b, c)),
    )
    yield clause(
        "no way back from both ends", ways, lambda p, i, a, b: logic.no(both(n.back(p, i, a, b), n.back(p, i, b, a)))
    )
    yield clause(
        "none from the publisher", ways, lambda p, i, a, b: logic.no(both(n.publisher(p, a), n.back(p, i, a, b)))
    )
    yield clause(
        "entries name neighbours", ways, lambda p, i, a, b: logic.implies(n.wants(p, i, a, b), n.link(i, a, b))
    )


def started(n: TreeNetwork, s: SwitchState) -> Iterator[Clause]:
    """The beginning: of the first strategy every broker has the tables, of another one none."""
    logic, link, way = n.logic, (TREE, BROKER, BROKER), (PUB, TREE, BROKER, BROKER)

    def begins(name: str, relation: Relation) -> Clause:
        return Clause(f"{name} at first", (BROKER,), lambda b: logic.iff(relation(b), n.first()), source=BEGINS)

    def none(name: str, sorts: tuple[Sort, ...], relation: Relation) -> Clause:
        return Clause(f"no {name} at first", sorts, lambda *row: logic.no(relation(*row)), source=BEGINS)

    yield begins("installed", s.installed)
    yield begins("acknowledged", s.acknowledged)
    yield begins("stamping", s.stamping)
    yield begins("tables", s.has)
    yield Clause("committed at first", (), lambda: logic.iff(s.committed(), n.first()), source=BEGINS)
    yield none("broker has left", (BROKER,), s.left)
    yield none("marker sent", link, s.sent)
    yield none("marker come", link, s.marked)
    yield none("document published", (PUB,), s.published)
    yield none("copy on its way", way, s.flying)
    yield none("copy sent", way, s.crossed)
    yield none("copy behind a marker", way, s.behind)
    yield none("document handled", (PUB, TREE, BROKER), s.handled)
    yield none("document lost", (PUB,), s.lost)
    yield none("document doubled", (PUB,), s.doubled)


def invariants(n: TreeNetwork, s: SwitchState) -> Iterator[Clause]:
    """The sentences that every step keeps; the last three are what the theorem is for."""
    logic, both = n.logic, n.logic.all_of
    link, way = (TREE, BROKER, BROKER), (PUB, TREE, BROKER, BROKER)

    def clause(name: str, sorts: tuple[Sort, ...], when: Callable[..., Truth], then: Callable[..., Truth]) -> Clause:
        return Clause(name, sorts, lambda *row: logic.implies(when(*row), lambda: then(*row)), source=proved_by(KEEPS))

    def lacks(b: Term) -> Truth:
        return both(s.installed(b), logic.no(s.has(b)))

    yield clause("committed behind all acknowledgements", (BROKER,), lambda b: s.committed(), s.acknowledged)
    yield clause("acknowledged behind the installation", (BROKER,), s.acknowledged, s.installed)
    yield clause("stamping behind the commit", (BROKER,), s.stamping, lambda b: s.committed())
    yield clause("left behind stamping", (BROKER,), s.left, s.stamping)
    yield clause("markers of brokers that have left", link, s.sent, lambda i, a, b: both(s.left(a), n.link(i, a, b)))
    yield clause(
        "markers behind those of all others",
        (*link, BROKER),
        lambda i, a, b, d: both(s.sent(i, a, b), n.link(i, d, a), logic.apart(d, b)),
        lambda i, a, b, d: s.marked(i, d, a),
    )
    yield clause("a marker that came was sent", link, s.marked, s.sent)
    yield clause("tables stay until the broker has left", (BROKER,), lacks, s.left)
    yield clause(
        "tables stay until all markers have come",
        link,
        lambda i, a, b: both(lacks(b), n.link(i, a, b)),
        s.marked,
    )
    yield clause("no copy behind a marker", way, lambda *row: True, lambda *row: logic.no(s.behind(*row)))
    yield clause("no copy where the marker has come", way, s.flying, lambda p, i, a, b: logic.no(s.marked(i, a, b)))
    yield clause("published behind the commit", (PUB,), s.published, lambda p: s.committed())
    yield clause("handled once published", (PUB, TREE, BROKER), s.handled, lambda p, i, b: s.published(p))
    yield clause("a copy was sent", way, s.flying, s.crossed)
    yield clause(
        "copies go away from the publisher",
        way,
        s.crossed,
        lambda p, i, a, b: both(s.handled(p, i, a), n.back(p, i, b, a)),
    )
    yield clause(
        "handled behind a copy",
        way,
        lambda p, i, a, b: both(s.handled(p, i, b), n.back(p, i, b, a)),
        s.crossed,
    )
    yield clause("a copy is for the first time", way, s.flying, lambda p, i, a, b: logic.no(s.handled(p, i, b)))
    yield clause(
        "a copy that was sent flies or is handled",
        way,
        s.crossed,
        lambda p, i, a, b: logic.any_of(s.flying(p, i, a, b), s.handled(p, i, b)),
    )
    yield clause(
        "a broker passes on what entries want",
        way,
        lambda p, i, a, b: both(s.handled(p, i, a), n.wants(p, i, a, b), n.back(p, i, b, a)),
        s.crossed,
    )
    yield clause(
        "the publisher's broker handles it",
        (PUB, TREE, BROKER),
        lambda p, i, b: both(s.published(p), n.publisher(p, b)),
        s.handled,
    )
    yield clause("nothing is lost", (PUB,), lambda p: True, lambda p: logic.no(s.lost(p)))
    yield clause("nothing is doubled", (PUB,), lambda p: True, lambda p: logic.no(s.doubled(p)))


# -- the theorem -------------------------------------------------------------------------------------------------------


def keeps_documents() -> list[Obligation]:
    """Every sentence is true at first, and after each event."""
    logic = Symbolic()
    n, s = TreeNetwork.any(logic), declare(SwitchState, logic)
    trees = [premise(logic, each) for each in trees_hold(n)]
    before = [premise(logic, each) for each in invariants(n, s)]
    found = []

    def asked(name: str, clause: Clause, given: list[Premise], stays: bool) -> Obligation:
        terms = [logic.constant(f"{sort.lower()}{place}", sort) for place, sort in enumerate(clause.sorts, 1)]
        supposes = frozenset({STAYS}) if stays else frozenset()
        return Obligation(
            f"{name} / {clause.name}",
            formula(clause.body(*terms)),
            given,
            {"it may be so": z3.BoolVal(True)},
            supposes=supposes,
        )

    at_first = [premise(logic, each) for each in started(n, s)]
    found += [asked("at first", each, at_first, False) for each in invariants(n, s)]
    for event in EVENTS:
        elements = [logic.constant(f"event_{sort.lower()}{place}", sort) for place, sort in enumerate(event.sorts, 1)]
        guard = Premise(formula(event.guard(n, s, *elements)), (STEPS,))
        for each in invariants(n, event.effect(n, s, *elements)):
            found.append(asked(event.name, each, [*before, *trees, guard], event.name in ("publish", "arrive")))
    return found


# -- the end of a switch -----------------------------------------------------------------------------------------------


def due_is_sent(n: TreeNetwork, s: SwitchState) -> Clause:
    """The sentence that no broker holds a marker back."""
    logic = n.logic

    def body(i: Term, a: Term, b: Term) -> Truth:
        return logic.implies(logic.all_of(s.left(a), lambda: due(n, s.marked, i, a, b)), lambda: s.sent(i, a, b))

    return Clause("a marker that is due is sent", (TREE, BROKER, BROKER), body, source=proved_by(DRAINS))


def drains() -> list[Obligation]:
    """No marker is held back; and then, in a finite tree, none is missing at the end."""
    logic = Symbolic()
    n, s = TreeNetwork.any(logic), declare(SwitchState, logic)
    i, a, b = (logic.constant(name, sort) for name, sort in (("tree1", TREE), ("broker2", BROKER), ("broker3", BROKER)))
    guard = {"it may be so": z3.BoolVal(True)}

    def asked(name: str, goal: Truth, *given: Premise) -> Obligation:
        return Obligation(name, formula(goal), given, guard)

    at_first = [premise(logic, each) for each in started(n, s)]
    sentence = due_is_sent(n, s)
    found = [asked(f"at first / {sentence.name}", sentence.at(i, a, b), *at_first)]
    for event in EVENTS:
        elements = [logic.constant(f"event_{sort.lower()}{place}", sort) for place, sort in enumerate(event.sorts, 1)]
        happens = Premise(formula(event.guard(n, s, *elements)), (STEPS,))
        goal = due_is_sent(n, event.effect(n, s, *elements)).at(i, a, b)
        found.append(asked(f"{event.name} / {sentence.name}", goal, premise(logic, sentence), happens))
    toward = logic.relation("toward", (BROKER, BROKER))
    beyond = logic.relation("beyond", (BROKER, BROKER))

    def is_missing(x: Term) -> Truth:
        """Its marker toward b has not come."""
        return logic.some((BROKER,), lambda y: logic.all_of(toward(x, y), logic.no(s.marked(i, x, y))))

    tree = (
        logic.every((BROKER, BROKER), lambda x, y: logic.implies(toward(x, y), n.link(i, x, y))),
        logic.every((BROKER, BROKER), lambda x, y: logic.iff(n.link(i, x, y), n.link(i, y, x))),
        logic.every(
            (BROKER, BROKER), lambda x, y: logic.implies(n.link(i, x, y), logic.any_of(toward(x, y), toward(y, x)))
        ),
        logic.every((BROKER, BROKER), lambda x, y: logic.implies(toward(y, x), beyond(y, x))),
        is_strict_order(logic, BROKER, beyond),
        logic.every((BROKER, BROKER, BROKER), lambda x, y, z: one_of(logic, toward, x, y, z)),
        logic.every((BROKER,), lambda y: logic.no(toward(b, y))),
    )
    rest = (
        logic.every((BROKER,), s.left),
        logic.every((TREE, BROKER, BROKER), lambda j, x, y: logic.implies(s.sent(j, x, y), s.marked(j, x, y))),
    )
    found.append(
        asked(
            "at the end every marker has come",
            logic.implies(n.link(i, a, b), s.marked(i, a, b)),
            premise(logic, sentence),
            *(Premise(formula(each), (TREES,)) for each in tree),
            *(Premise(formula(each), (ENDED,)) for each in rest),
            Premise(formula(topmost(logic, BROKER, is_missing, beyond)), (FINITE,)),
        )
    )
    return found


def one_of(logic: Symbolic, relation: Relation, x: Term, y: Term, z: Term) -> Truth:
    """The relation leads from x to one element at most."""
    return logic.implies(logic.all_of(relation(x, y), relation(x, z)), logic.equal(y, z))


THEOREMS = (
    Theorem(
        KEEPS,
        ("NET-3", "NET-4", "SWAP-1", "SWAP-2", "SWAP-3", "SWAP-4", "SWAP-5"),
        "While a strategy is installed, used, and drained, no copy comes to a broker that lacks its table, and no "
        "broker handles a document twice on one tree.",
        keeps_documents,
        (STEPS, TREES, STAYS, BEGINS),
    ),
    Theorem(
        DRAINS,
        ("SWAP-4", "SWAP-5"),
        "Once every broker has left a strategy and no marker of it is on its way, every broker has the markers of all "
        "its neighbours.",
        drains,
        (STEPS, TREES, BEGINS, ENDED, FINITE),
    ),
)
