"""Invariants of a move that speak of its phases and of tables: where update, completion and subscription are.

`Book` and its words are those of the routing core's invariants: a sentence about every state, with what its proof needs
of the state before a step. A moment is a setting and a state of a move.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from routeproof.spec.migration.theory.move import MoveSetting, MoveState
from routeproof.spec.theory import BROKER, Broker, Logic, Pub, Term, Truth
from routeproof.spec.theory.invariants.book import Book


@frozen
class Moved:
    """One moment of a move."""

    q: MoveSetting
    m: MoveState
    named: tuple[Term, ...] = ()
    """Brokers that a proof tries first where some broker is looked for. They change no meaning."""
    met: list[bool] | None = None
    """Filled where the condition of a sentence is met: a sentence whose condition never is says nothing."""

    @property
    def logic(self) -> Logic:
        return self.q.logic

    def if_(self, *conditions: Truth, then: Truth) -> Truth:
        condition = self.logic.all_of(*conditions)
        if self.met is not None and condition is True:
            self.met.append(True)
        return self.logic.implies(condition, then)

    def both(self, *parts: Truth) -> Truth:
        return self.logic.all_of(*parts)

    def either(self, *parts: Truth) -> Truth:
        return self.logic.any_of(*parts)

    def no(self, part: Truth) -> Truth:
        return self.logic.no(part)

    def apart(self, one: Term, other: Term) -> Truth:
        return self.logic.apart(one, other)

    def some_broker(self, holds: Callable[[Term], Truth]) -> Truth:
        return self.either(*map(holds, self.named), self.logic.some((BROKER,), holds))

    def on_both(self, b: Term) -> Truth:
        return self.both(self.q.on_old(b), self.q.on_new(b))

    def only_old(self, b: Term) -> Truth:
        return self.both(self.q.on_old(b), self.no(self.q.on_new(b)))

    def only_new(self, b: Term) -> Truth:
        return self.both(self.q.on_new(b), self.no(self.q.on_old(b)))

    def is_at_client(self, p: Term) -> Truth:
        return self.either(self.m.old(p), self.m.held(p), self.m.new(p))


PHASES = Book()
"""How far the update and the completion have come."""

TABLES = Book()
"""Where the subscription is."""


# -- the update and the completion -------------------------------------------------------------------------------------


@PHASES.conjunct(needs="an_update_comes_from_where_it_was_handled")
def what_is_updated_is_on_the_path(w: Moved, b: Broker) -> Truth:
    """The update goes from the target toward the source, and begins after the pause."""
    return w.if_(w.m.updated(b), then=w.both(w.q.on_path(b), w.m.paused()))


@PHASES.conjunct(needs="an_update_comes_from_where_it_was_handled what_is_updated_is_on_the_path")
def updates_begin_at_the_target(w: Moved, b: Broker, c: Broker) -> Truth:
    """Every broker from the target to one that is updated is updated."""
    return w.if_(w.m.updated(b), w.q.between(w.q.target, c, b), then=w.m.updated(c))


@PHASES.conjunct(needs="what_is_updated_is_on_the_path updates_begin_at_the_target")
def an_update_comes_from_where_it_was_handled(w: Moved, b: Broker) -> Truth:
    """An update on its way leads to the next broker of the path, which is not updated."""
    return w.if_(
        w.m.update(b),
        then=w.both(w.q.on_path(b), w.apart(b, w.q.target), w.m.updated(w.q.next_to_target(b)), w.no(w.m.updated(b))),
    )


@PHASES.conjunct(
    needs="phases_follow_each_other updates_begin_at_the_target a_completion_comes_from_where_it_was_handled "
    "what_is_updated_is_on_the_path flushed_after_the_pause"
)
def completion_follows_update_and_mark(w: Moved, b: Broker) -> Truth:
    """Where the completion has passed, the broker and the source are updated, and the mark has come."""
    return w.if_(w.m.done(b), then=w.both(w.q.on_path(b), w.m.updated(b), w.m.updated(w.q.source), w.m.flushed()))


@PHASES.conjunct(needs="a_completion_comes_from_where_it_was_handled completion_follows_update_and_mark")
def completions_begin_at_the_source(w: Moved, b: Broker, c: Broker) -> Truth:
    """The completion has passed every broker from the source to one that it has passed."""
    return w.if_(w.m.done(b), w.q.between(b, c, w.q.source), then=w.m.done(c))


@PHASES.conjunct(
    needs="completion_follows_update_and_mark completions_begin_at_the_source "
    "an_update_comes_from_where_it_was_handled updates_begin_at_the_target"
)
def a_completion_comes_from_where_it_was_handled(w: Moved, b: Broker) -> Truth:
    """A completion on its way leads to the next broker of the path, which it has not passed."""
    return w.if_(
        w.m.completion(b),
        then=w.both(w.q.on_path(b), w.apart(b, w.q.source), w.m.done(w.q.next_to_source(b)), w.no(w.m.done(b))),
    )


@PHASES.conjunct(needs="completion_follows_update_and_mark")
def phases_follow_each_other(w: Moved) -> Truth:
    """The mark comes after the pause, and the publisher resumes after the completion and the mark."""
    return w.both(
        w.if_(w.m.flushed(), then=w.m.paused()), w.if_(w.m.resumed(), then=w.both(w.m.done(w.q.target), w.m.paused()))
    )


@PHASES.conjunct(needs="phases_follow_each_other")
def flushed_after_the_pause(w: Moved, p: Pub) -> Truth:
    """Where the mark has come, no publication is on its way to the source."""
    return w.if_(w.m.flushed(), then=w.no(w.m.old(p)))


@PHASES.conjunct(needs="phases_follow_each_other")
def where_the_publisher_speaks(w: Moved, p: Pub) -> Truth:
    """The publisher holds publications back after the pause, and sends them to the target once it has resumed."""
    return w.both(
        w.if_(w.m.held(p), then=w.both(w.m.paused(), w.no(w.m.resumed()))), w.if_(w.m.new(p), then=w.m.resumed())
    )


# -- the subscription --------------------------------------------------------------------------------------------------


@TABLES.conjunct(needs="where_a_withdrawal_is a_completion_comes_from_where_it_was_handled")
def both_ways_keep_it(w: Moved, b: Broker) -> Truth:
    """A broker on the way from both places has the subscription throughout."""
    return w.if_(
        w.on_both(b), then=w.both(w.m.has(b), w.no(w.m.withdrawal(b)), w.either(w.q.equal(b, w.q.home), w.m.sent(b)))
    )


@TABLES.conjunct(needs="where_a_withdrawal_is completions_begin_at_the_source")
def the_old_way_keeps_it_until_the_completion(w: Moved, b: Broker) -> Truth:
    """A broker on the old way only has it at least until the completion has reached the next broker."""
    return w.if_(
        w.only_old(b), w.no(w.m.done(w.q.inward(b))), then=w.both(w.m.has(b), w.m.sent(b), w.no(w.m.withdrawal(b)))
    )


@TABLES.conjunct(needs="where_a_withdrawal_is an_addition_is_sent")
def what_is_sent_is_there_or_on_its_way(w: Moved, b: Broker) -> Truth:
    """A broker to which it was sent has the subscription, or is about to have it."""
    return w.if_(w.m.sent(b), then=w.either(w.m.has(b), w.m.addition(b)))


@TABLES.conjunct(
    needs="where_a_withdrawal_is what_is_sent_is_there_or_on_its_way who_has_it_was_sent "
    "additions_are_on_the_new_way a_completion_comes_from_where_it_was_handled "
    "an_update_comes_from_where_it_was_handled completion_follows_update_and_mark updates_begin_at_the_target"
)
def an_addition_is_sent(w: Moved, b: Broker) -> Truth:
    """A subscription on its way was recorded by its sender, and its receiver does not have it."""
    return w.if_(w.m.addition(b), then=w.both(w.m.sent(b), w.apart(b, w.q.home), w.no(w.m.has(b))))


@TABLES.conjunct(
    needs="what_is_sent_is_there_or_on_its_way where_a_withdrawal_is an_update_comes_from_where_it_was_handled "
    "completion_follows_update_and_mark a_completion_comes_from_where_it_was_handled an_addition_is_sent"
)
def the_new_way_passes_it_on(w: Moved, b: Broker) -> Truth:
    """On the new way only, an updated broker that has it has sent it to the next one."""
    inward = w.q.inward(b)
    return w.if_(w.only_new(b), w.m.updated(inward), w.m.has(inward), then=w.m.sent(b))


@TABLES.conjunct(
    needs="what_is_sent_is_there_or_on_its_way where_a_withdrawal_is the_new_way_passes_it_on both_ways_keep_it "
    "completion_follows_update_and_mark a_completion_comes_from_where_it_was_handled "
    "updates_begin_at_the_target"
)
def the_new_way_has_it_before_the_completion(w: Moved, b: Broker) -> Truth:
    """Where the completion has passed, the new way has the subscription: it was ahead."""
    return w.if_(w.q.on_new(b), w.m.done(b), then=w.m.has(b))


@TABLES.conjunct(needs="where_a_withdrawal_is")
def other_publishers_keep_it(w: Moved, b: Broker) -> Truth:
    """A broker to which another publisher draws the subscription keeps it."""
    return w.if_(
        w.q.other(b), then=w.both(w.m.has(b), w.no(w.m.withdrawal(b)), w.either(w.q.equal(b, w.q.home), w.m.sent(b)))
    )


@TABLES.conjunct(
    needs="where_it_was_sent who_has_it_was_sent what_is_sent_is_there_or_on_its_way "
    "a_completion_comes_from_where_it_was_handled completions_begin_at_the_source "
    "the_old_way_keeps_it_until_the_completion an_addition_is_sent additions_are_on_the_new_way"
)
def where_a_withdrawal_is(w: Moved, b: Broker) -> Truth:
    """A withdrawal is on the old way only, behind the completion, and nothing else draws the subscription there."""
    return w.if_(
        w.m.withdrawal(b),
        then=w.both(
            w.only_old(b), w.no(w.q.other(b)), w.no(w.m.sent(b)), w.m.has(b), w.m.done(b), w.m.done(w.q.inward(b))
        ),
    )


@TABLES.conjunct(
    needs="both_ways_keep_it an_addition_is_sent an_update_comes_from_where_it_was_handled other_publishers_keep_it "
    "completion_follows_update_and_mark where_it_is the_old_way_keeps_it_until_the_completion"
)
def where_it_was_sent(w: Moved, b: Broker) -> Truth:
    """It was sent to brokers on the old way, on the new way, or to which another publisher draws it."""
    return w.if_(w.m.sent(b), then=w.both(w.apart(b, w.q.home), w.either(w.q.on_old(b), w.q.on_new(b), w.q.other(b))))


@TABLES.conjunct(
    needs="an_addition_is_sent where_it_was_sent both_ways_keep_it other_publishers_keep_it where_it_is "
    "an_update_comes_from_where_it_was_handled the_old_way_keeps_it_until_the_completion "
    "completion_follows_update_and_mark"
)
def additions_are_on_the_new_way(w: Moved, b: Broker) -> Truth:
    """A subscription is on its way on the new way only."""
    return w.if_(w.m.addition(b), then=w.both(w.only_new(b), w.no(w.q.other(b))))


@TABLES.conjunct(needs="an_addition_is_sent where_it_was_sent")
def where_it_is(w: Moved, b: Broker) -> Truth:
    """Only brokers on the old way, on the new way, or that another publisher draws it to have the subscription."""
    return w.if_(w.m.has(b), then=w.either(w.q.on_old(b), w.q.on_new(b), w.q.other(b)))


@TABLES.conjunct(needs="an_addition_is_sent where_a_withdrawal_is")
def who_has_it_was_sent(w: Moved, b: Broker) -> Truth:
    """A broker that has it, and is not its home, is on record, unless a withdrawal is on its way."""
    return w.if_(w.m.has(b), w.apart(b, w.q.home), then=w.either(w.m.sent(b), w.m.withdrawal(b)))


@TABLES.conjunct(
    needs="additions_are_on_the_new_way a_completion_comes_from_where_it_was_handled "
    "an_update_comes_from_where_it_was_handled completion_follows_update_and_mark where_it_was_sent"
)
def the_old_way_is_withdrawn_from(w: Moved, b: Broker) -> Truth:
    """Behind the completion the old way is on record no more, unless another publisher draws it there."""
    return w.if_(w.only_old(b), w.no(w.q.other(b)), w.m.sent(b), then=w.no(w.m.done(w.q.inward(b))))
