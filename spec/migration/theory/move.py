"""The relation: one move of a publisher from its source to its target, as one subscription sees it.

The subscription s stays at its home all the time, and everything was settled when the move began. Covering is left
out: this is policy `none`, where subscriptions do not depend on each other. So a state needs little: what each broker
knows of s and of the move, and where copies of publications are. A table has s from the neighbour on the way to its
home, if at all; a message about s on a link is therefore indexed by the broker at the end of the link that lies farther
from the home, and a copy of a publication by the broker that sent it toward the home.

An event has a guard and gives every part of the state a new value, in the language of `formulas`. Z3 reads it over
trees of any size. Over listed brokers it computes the next state, which is how the model is held to it.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen

from routeproof.spec.theory import BROKER, PUB, Clause, Logic, Relation, Sort, Term, Truth, always, empty, never, over
from routeproof.spec.theory.relation import Tree

DRAINED, AT_ONCE = "drained", "at-once"


@frozen
class MoveSetting:
    """Facts that do not change during a move."""

    logic: Logic
    tree: Tree
    source: Term
    target: Term
    home: Term
    """The broker of the subscription."""
    other: Relation
    """The brokers that have the subscription because of publishers that stay."""
    earlier: Relation
    """The order in which the publisher publishes."""
    removal: str = DRAINED

    def between(self, x: Term, y: Term, z: Term) -> Truth:
        return self.tree.between(x, y, z)

    def toward(self, x: Term, z: Term) -> Term:
        return self.tree.toward(x, z)

    def equal(self, one: Term, other: Term) -> Truth:
        return self.logic.equal(one, other)

    def on_path(self, b: Term) -> Truth:
        return self.between(self.target, b, self.source)

    def on_old(self, b: Term) -> Truth:
        """b is on the way from the source to the subscription."""
        return self.between(self.source, b, self.home)

    def on_new(self, b: Term) -> Truth:
        """b is on the way from the target to the subscription."""
        return self.between(self.target, b, self.home)

    def inward(self, b: Term) -> Term:
        """The neighbour of b on the way to the subscription."""
        return self.toward(b, self.home)

    def next_to_target(self, b: Term) -> Term:
        return self.toward(b, self.target)

    def next_to_source(self, b: Term) -> Term:
        return self.toward(b, self.source)


@frozen
class MoveState:
    """One state of a move."""

    updated: Relation = over(BROKER)
    """The broker has handled the update: for it, the advertisement lies toward the target (MIG-4)."""
    done: Relation = over(BROKER)
    """The completion has passed: the advertisement no longer lies toward the source (MIG-13)."""
    update: Relation = over(BROKER)
    """An update is on its way to this broker."""
    completion: Relation = over(BROKER)
    has: Relation = over(BROKER)
    """The broker has the subscription in its table."""
    sent: Relation = over(BROKER)
    """The broker's neighbour toward the subscription has it in `sent` for this broker."""
    addition: Relation = over(BROKER)
    """`Sub` is on its way to this broker."""
    withdrawal: Relation = over(BROKER)
    """`Unsub` is on its way to this broker."""
    flying: Relation = over(PUB, BROKER)
    """A copy is on its way from this broker to the next one toward the subscription."""
    old: Relation = over(PUB)
    """It is on its way from the publisher to the source."""
    held: Relation = over(PUB)
    new: Relation = over(PUB)
    """It is on its way from the publisher to the target."""
    published: Relation = over(PUB)
    delivered: Relation = over(PUB)
    twice: Relation = over()
    """Some publication was delivered a second time."""
    paused: Relation = over()
    """The publisher has been asked to stop, and has sent its mark to the source and itself to the target."""
    flushed: Relation = over()
    """The mark has come to the source (MIG-12)."""
    resumed: Relation = over()


@frozen
class MoveEvent:
    """One kind of step. `guard` and `effect` are given the setting, the state before, and the event's elements."""

    name: str
    sorts: tuple[Sort, ...]
    guard: Callable[..., Truth]
    effect: Callable[..., MoveState]
    rules: tuple[str, ...] = ()


def started(q: MoveSetting, m: MoveState) -> list[Clause]:
    """The conditions at the beginning: everything is settled, no move has begun, and copies are on the old way."""
    logic = q.logic

    def known(b: Term) -> Truth:
        return logic.any_of(q.on_old(b), q.other(b))

    nowhere = ("updated", "done", "update", "completion", "addition", "withdrawal", "held", "new")
    return [
        *empty(logic, m, *nowhere, says="nothing is in {}"),
        *empty(logic, m, "paused", "flushed", "resumed", says="not {}"),
        Clause("the old way has it, and where others draw it", (BROKER,), lambda b: logic.iff(m.has(b), known(b))),
        Clause(
            "and it was sent there",
            (BROKER,),
            lambda b: logic.iff(m.sent(b), logic.all_of(logic.apart(b, q.home), known(b))),
        ),
        Clause(
            "copies are on the old way", (PUB, BROKER), lambda p, y: logic.implies(m.flying(p, y), lambda: q.on_old(y))
        ),
    ]


def next_move(q: MoveSetting, m: MoveState, target: Term) -> tuple[MoveSetting, MoveState]:
    """The setting and the beginning of the move that follows: it begins at the target of this one."""
    empty: dict[str, Relation] = dict.fromkeys(
        ("updated", "done", "held", "new", "paused", "flushed", "resumed"), never
    )
    return evolve(q, source=q.target, target=target), evolve(m, **empty, old=m.new)


# -- parts of events ---------------------------------------------------------------------------------------------------


def plus(q: MoveSetting, relation: Relation, *terms: Term, given: Truth = True) -> Relation:
    """The relation with one row more, on a condition."""
    logic = q.logic
    return lambda *row: logic.any_of(relation(*row), logic.all_of(given, _same(q, row, terms)))


def minus(q: MoveSetting, relation: Relation, *terms: Term, given: Truth = True) -> Relation:
    """The relation without one row, on a condition."""
    logic = q.logic
    return lambda *row: logic.all_of(relation(*row), logic.no(logic.all_of(given, _same(q, row, terms))))


def _same(q: MoveSetting, row: tuple[Term, ...], terms: tuple[Term, ...]) -> Truth:
    return q.logic.all_of(*(q.equal(one, other) for one, other in zip(row, terms, strict=True)))


def handled(q: MoveSetting, m: MoveState, b: Term, p: Term) -> MoveState:
    """RTE-5: a broker that has the subscription delivers the publication, or sends it on; any other drops it."""
    logic = q.logic
    at_home = q.equal(b, q.home)
    delivers = logic.all_of(at_home, m.has(b))
    goes = logic.all_of(logic.no(at_home), m.has(b))
    again = logic.all_of(delivers, m.delivered(p))
    twice = m.twice
    return evolve(
        m,
        flying=plus(q, m.flying, p, b, given=goes),
        delivered=plus(q, m.delivered, p, given=delivers),
        twice=lambda: logic.any_of(twice(), again),
    )


def first_of(q: MoveSetting, among: Callable[[Term], Truth], p: Term) -> Truth:
    """A channel is FIFO: p is there, and nothing that was published before it."""
    logic = q.logic
    ahead = logic.every((PUB,), lambda o: logic.implies(q.earlier(o, p), lambda: logic.no(among(o))))
    return logic.all_of(among(p), ahead)


def ended(q: MoveSetting, m: MoveState, given: Truth) -> MoveState:
    """MIG-7, MIG-12: the source sends the completion."""
    return evolve(
        m,
        done=plus(q, m.done, q.source, given=given),
        completion=plus(q, m.completion, q.next_to_target(q.source), given=given),
    )


def lies_toward(q: MoveSetting, m: MoveState, b: Term, u: Term) -> Truth:
    """MIG-13: for b, the moving advertisement lies toward the neighbour u, or still lies there as well."""
    logic = q.logic
    new = logic.all_of(m.updated(b), q.equal(q.next_to_target(b), u))
    old = logic.all_of(logic.no(m.done(b)), q.equal(q.next_to_source(b), u))
    return logic.any_of(new, old) if q.removal == DRAINED else _lies_once(q, m, b, u)


def _lies_once(q: MoveSetting, m: MoveState, b: Term, u: Term) -> Truth:
    return q.logic.cases(m.updated(b), q.equal(q.next_to_target(b), u), q.equal(q.next_to_source(b), u))


# -- events ------------------------------------------------------------------------------------------------------------


def _publish_guard(q: MoveSetting, m: MoveState, p: Term) -> Truth:
    logic = q.logic
    in_order = logic.every((PUB,), lambda o: logic.implies(m.published(o), lambda: q.earlier(o, p)))
    return logic.all_of(logic.no(m.published(p)), in_order)


def _publish(q: MoveSetting, m: MoveState, p: Term) -> MoveState:
    logic = q.logic
    return evolve(
        m,
        published=plus(q, m.published, p),
        old=plus(q, m.old, p, given=logic.no(m.paused())),
        held=plus(q, m.held, p, given=logic.all_of(m.paused(), logic.no(m.resumed()))),
        new=plus(q, m.new, p, given=m.resumed()),
    )


def _at_source(q: MoveSetting, m: MoveState, p: Term) -> MoveState:
    return handled(q, evolve(m, old=minus(q, m.old, p)), q.source, p)


def _at_target(q: MoveSetting, m: MoveState, p: Term) -> MoveState:
    return handled(q, evolve(m, new=minus(q, m.new, p)), q.target, p)


def _onward(q: MoveSetting, m: MoveState, p: Term, y: Term) -> MoveState:
    return handled(q, evolve(m, flying=minus(q, m.flying, p, y)), q.inward(y), p)


def _pause(q: MoveSetting, m: MoveState) -> MoveState:
    return evolve(m, paused=always)


def _flush_guard(q: MoveSetting, m: MoveState) -> Truth:
    logic = q.logic
    is_behind = logic.every((PUB,), lambda p: logic.no(m.old(p)))
    return logic.all_of(m.paused(), logic.no(m.flushed()), is_behind)


def _flush(q: MoveSetting, m: MoveState) -> MoveState:
    return ended(q, evolve(m, flushed=always), m.updated(q.source))


def _take_in_guard(q: MoveSetting, m: MoveState) -> Truth:
    return q.logic.all_of(m.paused(), q.logic.no(m.updated(q.target)))


def _take_in(q: MoveSetting, m: MoveState) -> MoveState:
    return evolve(m, updated=plus(q, m.updated, q.target), update=plus(q, m.update, q.next_to_source(q.target)))


def _update(q: MoveSetting, m: MoveState, b: Term) -> MoveState:
    """MIG-3: from x. s goes to x, unless it comes from there (MIG-6)."""
    logic, x = q.logic, q.next_to_target(b)
    at_source = q.equal(b, q.source)
    if q.removal == AT_ONCE:  # MIG-5
        m = evolve(m, has=minus(q, m.has, b, given=logic.all_of(q.equal(q.inward(b), x), logic.no(q.other(b)))))
    new = logic.all_of(m.has(b), q.equal(q.inward(x), b), logic.no(m.sent(x)))
    after = evolve(
        m,
        update=plus(q, minus(q, m.update, b), q.next_to_source(b), given=logic.no(at_source)),
        updated=plus(q, m.updated, b),
        sent=plus(q, m.sent, x, given=new),
        addition=plus(q, m.addition, x, given=new),
    )
    return ended(q, after, logic.all_of(at_source, m.flushed() if q.removal == DRAINED else True))


def _complete_guard(q: MoveSetting, m: MoveState, b: Term) -> Truth:
    """Links are FIFO: the completion is behind the subscription, and behind publications from the source."""
    logic, x = q.logic, q.next_to_source(b)
    no_addition = logic.no(logic.all_of(m.addition(b), q.equal(q.inward(b), x)))
    no_copy = logic.every((PUB,), lambda p: logic.no(logic.all_of(m.flying(p, x), q.equal(q.inward(x), b))))
    return logic.all_of(m.completion(b), no_addition, no_copy)


def _complete(q: MoveSetting, m: MoveState, b: Term) -> MoveState:
    """MIG-14: what only the moving advertisement drew toward the source is withdrawn from there."""
    logic, x = q.logic, q.next_to_source(b)
    gone = logic.all_of(q.removal == DRAINED, q.equal(q.inward(x), b), m.sent(x), logic.no(q.other(x)))
    return evolve(
        m,
        completion=plus(q, minus(q, m.completion, b), q.next_to_target(b), given=logic.apart(b, q.target)),
        done=plus(q, m.done, b),
        sent=minus(q, m.sent, x, given=gone),
        withdrawal=plus(q, m.withdrawal, x, given=gone),
    )


def _resume_guard(q: MoveSetting, m: MoveState) -> Truth:
    return q.logic.all_of(m.done(q.target), q.logic.no(m.resumed()))


def _resume(q: MoveSetting, m: MoveState) -> MoveState:
    logic = q.logic
    return evolve(m, resumed=always, held=never, new=lambda p: logic.any_of(m.new(p), m.held(p)))


def _add(q: MoveSetting, m: MoveState, b: Term) -> MoveState:
    """RTE-3: s goes to every neighbour that an advertisement lies toward."""
    logic = q.logic

    def new(u: Term) -> Truth:
        return logic.all_of(
            q.tree.link(b, u),
            q.equal(q.inward(u), b),
            logic.no(m.sent(u)),
            lambda: logic.any_of(q.other(u), lambda: lies_toward(q, m, b, u)),
        )

    return evolve(
        m,
        has=plus(q, m.has, b),
        sent=lambda u: logic.any_of(m.sent(u), new(u)),
        addition=lambda u: logic.any_of(logic.all_of(m.addition(u), logic.apart(u, b)), new(u)),
    )


def _withdraw(q: MoveSetting, m: MoveState, b: Term) -> MoveState:
    """RTE-6: s is withdrawn from the neighbours to which it was sent."""
    logic = q.logic

    def gone(u: Term) -> Truth:
        return logic.all_of(q.tree.link(b, u), q.equal(q.inward(u), b), m.sent(u))

    return evolve(
        m,
        has=minus(q, m.has, b),
        sent=lambda u: logic.all_of(m.sent(u), logic.no(gone(u))),
        withdrawal=lambda u: logic.any_of(logic.all_of(m.withdrawal(u), logic.apart(u, b)), gone(u)),
    )


EVENTS = (
    MoveEvent("publish", (PUB,), _publish_guard, _publish, ("MIG-1",)),
    MoveEvent("publication at the source", (PUB,), lambda q, m, p: first_of(q, m.old, p), _at_source, ("RTE-5",)),
    MoveEvent("publication at the target", (PUB,), lambda q, m, p: first_of(q, m.new, p), _at_target, ("RTE-5",)),
    MoveEvent(
        "publication on its way",
        (PUB, BROKER),
        lambda q, m, p, y: first_of(q, lambda o: m.flying(o, y), p),
        _onward,
        ("RTE-5",),
    ),
    MoveEvent("pause", (), lambda q, m: q.logic.no(m.paused()), _pause, ("MIG-1", "MIG-12")),
    MoveEvent("mark at the source", (), _flush_guard, _flush, ("MIG-7", "MIG-12")),
    MoveEvent("publisher at the target", (), _take_in_guard, _take_in, ("MIG-2", "MIG-4", "MIG-15")),
    MoveEvent(
        "update", (BROKER,), lambda q, m, b: m.update(b), _update, ("MIG-3", "MIG-4", "MIG-6", "MIG-7", "MIG-13")
    ),
    MoveEvent("completion", (BROKER,), _complete_guard, _complete, ("MIG-7", "MIG-13", "MIG-14")),
    MoveEvent("resume", (), _resume_guard, _resume, ("MIG-8",)),
    MoveEvent("subscription", (BROKER,), lambda q, m, b: m.addition(b), _add, ("RTE-3",)),
    MoveEvent("withdrawal", (BROKER,), lambda q, m, b: m.withdrawal(b), _withdraw, ("RTE-6",)),
)
