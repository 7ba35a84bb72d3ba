"""The routing core as a first-order relation: its signature, overlays as trees, and the facts that connect all names.

Reading order: the signature here, `routing` (one broker's step), `world` (queues, clients, ghosts), `ways` (where paths
lead), and `quiet_states` (states in which nothing moves, and examples of them).

An overlay is never written as edges here, but by the relations that protocols need (RTE-1): which broker lies between
which, and the next one on the way. The clauses of `tree_holds` are true of every finite tree, and every finite
structure of which they are true is one: `tests/spec/theory/test_trees.py` tries all up to five brokers. Some infinite
structures satisfy them too, so a proof that needs finiteness uses a schema, of one relation at a time, and names it as
a hypothesis: `path_induction` and `furthest`. Most proofs use the consequences in `ways`, which are easier for Z3 than
the axioms.

`Facts` never change: the overlay's links, how filters compare, where clients are, the content of each message.
`TableRelations` are what one broker knows, `Sends` what it sends in one step, `WorldState` the whole world with its
ghosts. Each is a record of relations, over terms of either reading (`routeproof.spec.theory`).

LOCAL, the sender of a client's operation and the last hop of a local subscription, is written as the broker itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

from attrs import evolve, frozen

from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.spec.theory import (
    ADV,
    BROKER,
    ITEM,
    PUB,
    SUB,
    Clause,
    Function,
    Logic,
    Relation,
    Sort,
    Term,
    Truth,
    over,
    topmost,
)

TREE = "the overlay is a tree (RTE-1)"
FINITE = "the overlay is finite: of the brokers that have a property, if any, one is furthest from a given broker"
"""The hypothesis behind `furthest`, of which `path_induction` is a case."""


@frozen
class Tree:
    """Relations and functions of an overlay. `declare(Tree, logic)` is any tree, `of_overlay` a given one."""

    between: Relation = over(BROKER, BROKER, BROKER)
    """`between(x, y, z)`: y is on the path from x to z, ends included."""
    link: Relation = over(BROKER, BROKER)
    toward: Function = over(BROKER, BROKER, result=BROKER)
    """`toward(x, z)`: the neighbour of x on the way to z; x itself where x is z."""
    median: Function = over(BROKER, BROKER, BROKER, result=BROKER)
    """The one broker on the paths between any two of the three."""


def of_overlay(overlay: Overlay) -> Tree:
    """This tree, as the model has it."""

    def toward(x: Node, y: Node) -> Node:
        hop = overlay.toward(x, y)
        return x if hop == LOCAL else hop

    def median(x: Node, y: Node, z: Node) -> Node:
        (met,) = {*overlay.path(x, y)} & {*overlay.path(y, z)} & {*overlay.path(x, z)}
        return met

    return Tree(lambda x, y, z: y in overlay.path(x, z), lambda x, y: y in overlay.neighbours(x), toward, median)


def tree_holds(logic: Logic, tree: Tree) -> list[Clause]:
    """The axioms. That three paths meet is what makes an overlay acyclic: the others are also true of a triangle."""
    between, toward, median = tree.between, tree.toward, tree.median
    implies, all_of, any_of, equal, iff = logic.implies, logic.all_of, logic.any_of, logic.equal, logic.iff
    two, three, four = ((BROKER,) * number for number in (2, 3, 4))
    axioms = [
        Clause("a path is the same both ways", three, lambda x, y, z: implies(between(x, y, z), between(z, y, x))),
        Clause(
            "a path is a line", three, lambda x, y, z: implies(all_of(between(x, y, z), between(x, z, y)), equal(y, z))
        ),
        Clause(
            "a broker on a path separates its ends",
            four,
            lambda x, y, z, w: implies(between(x, y, z), any_of(between(x, y, w), between(w, y, z))),
        ),
        Clause(
            "three paths meet in one broker",
            three,
            lambda x, y, z: all_of(*(between(a, median(x, y, z), b) for a, b in ((x, y), (y, z), (x, z)))),
        ),
        Clause(
            "the next one is another, unless one is there", two, lambda x, y: iff(equal(toward(x, y), x), equal(x, y))
        ),
        Clause("the next one is on the path", two, lambda x, y: between(x, toward(x, y), y)),
        Clause(
            "nothing comes before the next one",
            three,
            lambda x, y, z: implies(between(x, z, toward(x, y)), any_of(equal(z, x), equal(z, toward(x, y)))),
        ),
        Clause(
            "neighbours are next to each other",
            two,
            lambda x, y: iff(tree.link(x, y), all_of(logic.apart(x, y), equal(toward(x, y), y))),
        ),
    ]
    return [evolve(each, source=TREE) for each in axioms]


def at(clauses: Sequence[Clause], *terms: Term) -> list[Truth]:
    """Instances of clauses about brokers for these terms: enough where a proof speaks of them only, and quick."""
    return [clause.at(*row) for clause in clauses for row in product(terms, repeat=len(clause.sorts))]


# -- finiteness, of one relation at a time -----------------------------------------------------------------------------


def path_induction(logic: Logic, tree: Tree, holds: Callable[[Term], Truth], start: Term, end: Term) -> Truth:
    """If it holds at the start of this path and passes on along each link of it, it holds at the end."""

    def passes(x: Term) -> Truth:
        here = logic.all_of(tree.between(start, x, end), logic.apart(x, end), lambda: holds(x))
        return logic.implies(here, lambda: holds(tree.toward(x, end)))

    return logic.implies(logic.all_of(holds(start), lambda: logic.every((BROKER,), passes)), lambda: holds(end))


def furthest(logic: Logic, tree: Tree, holds: Callable[[Term], Truth], root: Term) -> Truth:
    """If it holds anywhere, it holds somewhere beyond which, seen from the root, it holds nowhere."""
    return topmost(logic, BROKER, holds, lambda y, x: logic.all_of(tree.between(root, x, y), lambda: logic.apart(x, y)))


# -- tables, messages, the world ---------------------------------------------------------------------------------------

ABOUT: dict[str, Sort] = {"adv": ADV, "unadv": ADV, "sub": SUB, "unsub": SUB, "pub": PUB}
"""The kinds of messages, and what each is about."""


@frozen
class Facts:
    """Relations that no step changes. An item is a place in a queue, once and for all; `before` is their order."""

    link: Relation = over(BROKER, BROKER)
    covers: Relation = over(SUB, SUB)
    overlaps: Relation = over(ADV, SUB)
    matches: Relation = over(PUB, SUB)
    lower: Relation = over(SUB, SUB)
    """The order of ids, as the instance lists them."""
    adv_of: Function = over(PUB, result=ADV)
    home_of_adv: Function = over(ADV, result=BROKER)
    home_of_sub: Function = over(SUB, result=BROKER)
    may_unadvertise: Relation = over(ADV)
    may_unsubscribe: Relation = over(SUB)
    is_adv: Relation = over(ITEM, ADV)
    is_unadv: Relation = over(ITEM, ADV)
    is_sub: Relation = over(ITEM, SUB)
    is_unsub: Relation = over(ITEM, SUB)
    is_pub: Relation = over(ITEM, PUB)
    before: Relation = over(ITEM, ITEM)

    def says(self, kind: str) -> Relation:
        """`says(kind)(i, m)`: the message at i is of this kind and about m."""
        relation: Relation = getattr(self, f"is_{kind}")
        return relation


@frozen
class TableRelations:
    """Tables of one broker: each entry with its last hop, and what was sent to whom."""

    advs: Relation = over(ADV, BROKER)
    subs: Relation = over(SUB, BROKER)
    sent: Relation = over(BROKER, SUB)


@frozen
class Sends:
    """Messages that one broker sends in a step: on links, and deliveries to its clients."""

    to: Relation = over(ITEM, BROKER)
    delivers: Relation = over(PUB, SUB)


@frozen
class WorldState:
    """The world: every broker's tables, every queue, what clients have done, and the ghosts."""

    advs: Relation = over(BROKER, ADV, BROKER)
    subs: Relation = over(BROKER, SUB, BROKER)
    sent: Relation = over(BROKER, BROKER, SUB)
    on: Relation = over(ITEM, BROKER, BROKER)
    """`on(i, x, y)`: i is queued from x to y."""
    advertised: Relation = over(ADV)
    unadvertised: Relation = over(ADV)
    subscribed: Relation = over(SUB)
    unsubscribed: Relation = over(SUB)
    published: Relation = over(PUB)
    delivered: Relation = over(PUB, SUB)
    duplicate: Relation = over()
    ready: Relation = over(SUB, ADV)
    owed: Relation = over(PUB, SUB)

    def tables(self, broker: Term) -> TableRelations:
        return TableRelations(*(partial(each, broker) for each in (self.advs, self.subs, self.sent)))


COVERING = "covering is reflexive and transitive, and what covers overlaps what is overlapped (COV-1)"
IDS = "ids are in a strict order (COV-10); that it is total is not needed"
DRAWN = "what matches a publication overlaps its advertisement"
MATCHING = "what covers a subscription matches all that it matches (COV-1)"
TOTAL = "of two ids, one comes before the other (COV-10)"
MESSAGES = "a queued item is one message, and items are in the order in which they were sent"


def facts_hold(logic: Logic, facts: Facts) -> list[Clause]:
    """Facts about all filters, ids and queues, each with the hypothesis that it is part of."""
    f = facts
    return [
        Clause("a filter covers itself", (SUB,), lambda s: f.covers(s, s), ("COV-1",), COVERING),
        Clause(
            "covering is transitive",
            (SUB, SUB, SUB),
            lambda r, s, t: logic.implies(logic.all_of(f.covers(r, s), f.covers(s, t)), f.covers(r, t)),
            ("COV-1",),
            COVERING,
        ),
        Clause(
            "what covers matches all that is matched",
            (SUB, SUB, PUB),
            lambda t, s, p: logic.implies(logic.all_of(f.covers(t, s), f.matches(p, s)), f.matches(p, t)),
            ("COV-1",),
            MATCHING,
        ),
        Clause(
            "what covers overlaps all that is overlapped",
            (SUB, SUB, ADV),
            lambda t, s, a: logic.implies(logic.all_of(f.covers(t, s), f.overlaps(a, s)), f.overlaps(a, t)),
            ("COV-1",),
            COVERING,
        ),
        Clause(
            "what matches a publication overlaps its advertisement",
            (PUB, SUB),
            lambda p, s: logic.implies(f.matches(p, s), f.overlaps(f.adv_of(p), s)),
            source=DRAWN,
        ),
        *_strict_total_order("ids are in order", SUB, logic, f.lower, IDS, TOTAL),
        *_strict_total_order("items are in order", ITEM, logic, f.before, MESSAGES, MESSAGES),
        Clause(
            "an item says something",
            (ITEM,),
            lambda i: logic.any_of(*(_says(logic, f, k, i) for k in ABOUT)),
            source=MESSAGES,
        ),
        *(
            Clause(
                f"an item says one {kind}",
                (ITEM, about, about),
                lambda i, m, n, kind=kind: logic.implies(
                    logic.all_of(f.says(kind)(i, m), f.says(kind)(i, n)), logic.equal(m, n)
                ),
                source=MESSAGES,
            )
            for kind, about in ABOUT.items()
        ),
        *(
            Clause(
                f"an item that says {one} does not say {other}",
                (ITEM, ABOUT[one], ABOUT[other]),
                lambda i, m, n, one=one, other=other: logic.no(logic.all_of(f.says(one)(i, m), f.says(other)(i, n))),
                source=MESSAGES,
            )
            for one in ABOUT
            for other in ABOUT
            if one < other
        ),
    ]


def _says(logic: Logic, facts: Facts, kind: str, item: Term) -> Truth:
    return logic.some((ABOUT[kind],), lambda m: facts.says(kind)(item, m))


def _strict_total_order(name: str, sort: Sort, logic: Logic, less: Relation, strict: str, total: str) -> list[Clause]:
    return [
        Clause(f"{name}: none before itself", (sort,), lambda x: logic.no(less(x, x)), source=strict),
        Clause(
            f"{name}: transitive",
            (sort, sort, sort),
            lambda x, y, z: logic.implies(logic.all_of(less(x, y), less(y, z)), less(x, z)),
            source=strict,
        ),
        Clause(
            f"{name}: total",
            (sort, sort),
            lambda x, y: logic.any_of(less(x, y), less(y, x), logic.equal(x, y)),
            source=total,
        ),
    ]
