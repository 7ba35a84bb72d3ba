"""Dissemination on trees as a first-order relation: one strategy from its installation to its end, on any network.

Brokers install the tables of the strategy, acknowledge, stamp by it, stamp by a newer one, send markers, and drop the
tables; documents are published meanwhile, on any number of trees. A relation is one text with two readings (`Logic`):
Z3 proves that every step keeps the invariants (`theory`), and tests play it along with the model.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, fields, frozen

from routeproof.spec.theory import BROKER, PUB, Logic, Relation, Sort, Symbolic, Term, Truth, over

TREE: Sort = "Tree"
"""A tree of the strategy."""


@frozen
class TreeNetwork:
    """The parts that do not change: trees, publishers, and where entries lead."""

    logic: Logic
    first: Relation = over()
    """The strategy is the one at the beginning."""
    link: Relation = over(TREE, BROKER, BROKER)
    publisher: Relation = over(PUB, BROKER)
    back: Relation = over(PUB, TREE, BROKER, BROKER)
    """(p, i, b, a): in tree i, a is the neighbour of b toward the publisher of p."""
    wants: Relation = over(PUB, TREE, BROKER, BROKER)
    """(p, i, b, c): an entry of b's table that matches p names c."""

    @classmethod
    def any(cls, logic: Symbolic) -> TreeNetwork:
        """A network of which nothing is known."""
        symbols = {
            each.name: logic.relation(each.name, each.metadata["sorts"]) for each in fields(cls) if each.name != "logic"
        }
        return cls(logic, **symbols)


@frozen
class SwitchState:
    """The strategy at one moment. Channels carry copies (`flying`) and markers (`sent` and not `marked`)."""

    installed: Relation = over(BROKER)
    acknowledged: Relation = over(BROKER)
    committed: Relation = over()
    """The coordinator has committed it."""
    stamping: Relation = over(BROKER)
    """The broker stamps by it, or has done so."""
    left: Relation = over(BROKER)
    """The broker stamps by a newer strategy."""
    has: Relation = over(BROKER)
    """The broker has the tables of all its trees."""
    sent: Relation = over(TREE, BROKER, BROKER)
    marked: Relation = over(TREE, BROKER, BROKER)
    """(i, a, b): the marker of a has come to b."""
    published: Relation = over(PUB)
    flying: Relation = over(PUB, TREE, BROKER, BROKER)
    crossed: Relation = over(PUB, TREE, BROKER, BROKER)
    """A copy was sent there once."""
    behind: Relation = over(PUB, TREE, BROKER, BROKER)
    """The copy was sent behind the marker."""
    handled: Relation = over(PUB, TREE, BROKER)
    lost: Relation = over(PUB)
    """A broker had no table for it."""
    doubled: Relation = over(PUB)
    """A broker handled it a second time on one tree."""


# -- events ------------------------------------------------------------------------------------------------------------


@frozen
class SwitchEvent:
    """A step: its elements, when it may happen, and the state after it."""

    name: str
    sorts: tuple[Sort, ...]
    guard: Callable[..., Truth]
    effect: Callable[..., SwitchState]
    rules: tuple[str, ...]


def _with(n: TreeNetwork, old: Relation, *new: Term) -> Relation:
    """The relation that holds of this row too."""
    logic = n.logic
    return lambda *row: logic.any_of(
        logic.all_of(*(logic.equal(x, y) for x, y in zip(row, new, strict=True))), lambda: old(*row)
    )


def due(n: TreeNetwork, marked: Relation, i: Term, b: Term, c: Term) -> Truth:
    """SWAP-4: the markers of all other neighbours have come."""
    logic = n.logic

    def has_come(d: Term) -> Truth:
        return logic.implies(logic.all_of(n.link(i, d, b), logic.apart(d, c)), lambda: marked(i, d, b))

    return logic.all_of(n.link(i, b, c), lambda: logic.every((BROKER,), has_come))


def _leave(n: TreeNetwork, s: SwitchState, b: Term) -> SwitchState:
    logic = n.logic

    def sent(i: Term, a: Term, c: Term) -> Truth:
        return logic.any_of(s.sent(i, a, c), lambda: logic.all_of(logic.equal(a, b), lambda: due(n, s.marked, i, a, c)))

    return evolve(s, left=_with(n, s.left, b), sent=sent)


def _may_mark(n: TreeNetwork, s: SwitchState, i: Term, a: Term, b: Term) -> Truth:
    """Links are FIFO: copies that were sent before the marker have come."""
    logic = n.logic

    def is_behind(p: Term) -> Truth:
        return logic.implies(s.flying(p, i, a, b), lambda: s.behind(p, i, a, b))

    return logic.all_of(s.sent(i, a, b), logic.no(s.marked(i, a, b)), lambda: logic.every((PUB,), is_behind))


def _mark(n: TreeNetwork, s: SwitchState, i: Term, a: Term, b: Term) -> SwitchState:
    logic, marked = n.logic, _with(n, s.marked, i, a, b)

    def sent(j: Term, x: Term, c: Term) -> Truth:
        here = logic.all_of(logic.equal(j, i), logic.equal(x, b), lambda: s.left(b))
        return logic.any_of(s.sent(j, x, c), lambda: logic.all_of(here, lambda: due(n, marked, j, x, c)))

    return evolve(s, marked=marked, sent=sent)


def _may_drop(n: TreeNetwork, s: SwitchState, b: Term) -> Truth:
    """SWAP-5."""
    logic = n.logic

    def has_come(i: Term, c: Term) -> Truth:
        return logic.implies(n.link(i, c, b), lambda: s.marked(i, c, b))

    return logic.all_of(s.left(b), lambda: logic.every((TREE, BROKER), has_come))


def _drop(n: TreeNetwork, s: SwitchState, b: Term) -> SwitchState:
    return evolve(s, has=lambda x: n.logic.all_of(s.has(x), n.logic.apart(x, b)))


def _sends(n: TreeNetwork, s: SwitchState, is_new: Callable[..., Truth]) -> SwitchState:
    """With the copies that are new; each is behind the marker if that has gone before."""
    logic = n.logic

    def new(old: Relation, besides: Callable[..., Truth]) -> Relation:
        return lambda q, j, x, c: logic.any_of(
            old(q, j, x, c), lambda: logic.all_of(is_new(q, j, x, c), lambda: besides(j, x, c))
        )

    return evolve(
        s,
        flying=new(s.flying, lambda j, x, c: True),
        crossed=new(s.crossed, lambda j, x, c: True),
        behind=new(s.behind, s.sent),
    )


def _may_publish(n: TreeNetwork, s: SwitchState, p: Term, b: Term) -> Truth:
    """SWAP-1, SWAP-3."""
    return n.logic.all_of(n.publisher(p, b), s.stamping(b), n.logic.no(s.left(b)), n.logic.no(s.published(p)))


def _publish(n: TreeNetwork, s: SwitchState, p: Term, b: Term) -> SwitchState:
    logic = n.logic

    def is_new(q: Term, j: Term, x: Term, c: Term) -> Truth:
        return logic.all_of(logic.equal(q, p), logic.equal(x, b), s.has(b), lambda: n.wants(p, j, b, c))

    def handled(q: Term, j: Term, x: Term) -> Truth:
        return logic.any_of(s.handled(q, j, x), logic.all_of(logic.equal(q, p), logic.equal(x, b)))

    def lost(q: Term) -> Truth:
        return logic.any_of(s.lost(q), logic.all_of(logic.equal(q, p), logic.no(s.has(b))))

    after = _sends(n, s, is_new)
    return evolve(after, published=_with(n, s.published, p), handled=handled, lost=lost)


def _arrive(n: TreeNetwork, s: SwitchState, p: Term, i: Term, a: Term, b: Term) -> SwitchState:
    """NET-4, SWAP-1."""
    logic = n.logic

    def is_this(q: Term, j: Term, x: Term) -> Truth:
        return logic.all_of(logic.equal(q, p), logic.equal(j, i), logic.equal(x, b))

    def is_new(q: Term, j: Term, x: Term, c: Term) -> Truth:
        return logic.all_of(is_this(q, j, x), s.has(b), logic.apart(c, a), lambda: n.wants(p, i, b, c))

    def stays(q: Term, j: Term, x: Term, c: Term) -> Truth:
        came = logic.all_of(logic.equal(q, p), logic.equal(j, i), logic.equal(x, a), logic.equal(c, b))
        return logic.all_of(s.flying(q, j, x, c), logic.no(came))

    def flagged(flag: Relation, now: Truth) -> Relation:
        return lambda q: logic.any_of(flag(q), logic.all_of(logic.equal(q, p), now))

    return evolve(
        _sends(n, evolve(s, flying=stays), is_new),
        handled=_with(n, s.handled, p, i, b),
        lost=flagged(s.lost, logic.no(s.has(b))),
        doubled=flagged(s.doubled, s.handled(p, i, b)),
    )


EVENTS = (
    SwitchEvent(
        "install",
        (BROKER,),
        lambda n, s, b: n.logic.no(s.installed(b)),
        lambda n, s, b: evolve(s, installed=_with(n, s.installed, b), has=_with(n, s.has, b)),
        ("SWAP-2",),
    ),
    SwitchEvent(
        "acknowledge",
        (BROKER,),
        lambda n, s, b: s.installed(b),
        lambda n, s, b: evolve(s, acknowledged=_with(n, s.acknowledged, b)),
        ("SWAP-2",),
    ),
    SwitchEvent(
        "commit",
        (),
        lambda n, s: n.logic.every((BROKER,), s.acknowledged),
        lambda n, s: evolve(s, committed=lambda: True),
        ("SWAP-3",),
    ),
    SwitchEvent(
        "stamp",
        (BROKER,),
        lambda n, s, b: s.committed(),
        lambda n, s, b: evolve(s, stamping=_with(n, s.stamping, b)),
        ("SWAP-3",),
    ),
    SwitchEvent(
        "leave", (BROKER,), lambda n, s, b: n.logic.all_of(s.stamping(b), n.logic.no(s.left(b))), _leave, ("SWAP-4",)
    ),
    SwitchEvent("mark", (TREE, BROKER, BROKER), _may_mark, _mark, ("SWAP-4",)),
    SwitchEvent("drop", (BROKER,), _may_drop, _drop, ("SWAP-5",)),
    SwitchEvent("publish", (PUB, BROKER), _may_publish, _publish, ("NET-3", "SWAP-1")),
    SwitchEvent(
        "arrive",
        (PUB, TREE, BROKER, BROKER),
        lambda n, s, p, i, a, b: s.flying(p, i, a, b),
        _arrive,
        ("NET-4", "SWAP-1"),
    ),
)
"""The steps. The lemma about each channel is `_may_mark`: what FIFO means here."""
