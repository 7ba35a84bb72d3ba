"""The proof that a switch loses and doubles nothing, for networks of any size and any number of documents.

The theorem: no copy comes to a broker that lacks the table of its stamp, and no broker handles a document twice on one
tree. It is an induction over the steps of `relation`. `docs/explanation/proofs-trees.md` says what is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import z3

from routeproof.spec.theory import BROKER, PUB, Clause, Relation, Sort, Symbolic, Term, Truth, declare, formula
from routeproof.spec.theory.proof import Obligation, Premise, Theorem, premise, proved_by
from routeproof.spec.trees.relation import EVENTS, TREE, SwitchState, TreeNetwork

KEEPS = "SwitchKeepsDocuments"

STEPS = "a step is one of the relation's: links are reliable and FIFO, and no node crashes"
TREES = "in each tree, brokers lie around the publisher's broker as in a tree, and entries name neighbours"
STAYS = "the subscriptions that match the document stay as they are while it is on its way"
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


THEOREMS = (
    Theorem(
        KEEPS,
        ("NET-3", "NET-4", "SWAP-1", "SWAP-2", "SWAP-3", "SWAP-4", "SWAP-5"),
        "While a strategy is installed, used, and drained, no copy comes to a broker that lacks its table, and no "
        "broker handles a document twice on one tree.",
        keeps_documents,
        (STEPS, TREES, STAYS, BEGINS),
    ),
)
