"""Invariants of a move that speak of publications: where their copies are, in which order they go, and how it ends.

`BOOK` has all invariants of a move. Lemmas follow from invariants of the same state.
"""

from __future__ import annotations

from routeproof.spec.migration.theory.tables import PHASES, TABLES, Moved
from routeproof.spec.theory import BROKER, Broker, Pub, Truth
from routeproof.spec.theory.invariants.book import Book

COPIES = Book()
"""Where publications are."""

ORDER = Book()
"""In which order publications go."""

AFTERWARDS = Book()
"""Consequences for the end of a move."""


# -- copies ------------------------------------------------------------------------------------------------------------


@COPIES.conjunct()
def copies_are_on_a_way(w: Moved, p: Pub, y: Broker) -> Truth:
    """A copy is on the way from the source or from the target, short of the subscriber."""
    return w.if_(w.m.flying(p, y), then=w.both(w.apart(y, w.q.home), w.either(w.q.on_old(y), w.q.on_new(y))))


@COPIES.conjunct(needs="where_the_publisher_speaks phases_follow_each_other")
def the_new_way_is_empty_before(w: Moved, p: Pub, y: Broker) -> Truth:
    """Before the publisher resumes, copies are on the old way."""
    return w.if_(w.m.flying(p, y), w.no(w.m.resumed()), then=w.q.on_old(y))


@COPIES.conjunct(
    needs="phases_follow_each_other copies_are_on_a_way the_new_way_is_empty_before completions_begin_at_the_source "
    "flushed_after_the_pause completion_follows_update_and_mark where_the_publisher_speaks"
)
def the_completion_is_behind(w: Moved, p: Pub, y: Broker) -> Truth:
    """The completion does not overtake a copy on the old way."""
    return w.if_(w.m.flying(p, y), w.only_old(y), then=w.no(w.m.done(w.q.inward(y))))


@COPIES.lemma(
    needs="phases_follow_each_other copies_are_on_a_way the_new_way_is_empty_before the_completion_is_behind "
    "both_ways_keep_it the_old_way_keeps_it_until_the_completion completions_begin_at_the_source "
    "where_the_publisher_speaks the_new_way_has_it_before_the_completion"
)
def the_next_broker_has_it(w: Moved, p: Pub, y: Broker) -> Truth:
    """The broker that a copy is going to has the subscription."""
    return w.if_(w.m.flying(p, y), then=w.m.has(w.q.inward(y)))


@COPIES.lemma(
    needs="phases_follow_each_other flushed_after_the_pause completion_follows_update_and_mark both_ways_keep_it "
    "where_the_publisher_speaks the_old_way_keeps_it_until_the_completion "
    "the_new_way_has_it_before_the_completion"
)
def its_first_broker_has_it(w: Moved, p: Pub) -> Truth:
    """A publication on its way from the publisher comes to a broker that has the subscription."""
    return w.both(w.if_(w.m.old(p), then=w.m.has(w.q.source)), w.if_(w.m.new(p), then=w.m.has(w.q.target)))


@COPIES.conjunct(needs="the_next_broker_has_it its_first_broker_has_it copies_are_on_a_way")
def nothing_is_lost(w: Moved, p: Pub) -> Truth:
    """A publication is delivered, or on its way, or held back by its publisher."""
    return w.if_(
        w.m.published(p), then=w.either(w.m.delivered(p), w.is_at_client(p), w.some_broker(lambda y: w.m.flying(p, y)))
    )


@COPIES.conjunct(needs="phases_follow_each_other a_copy_is_alone where_the_publisher_speaks one_copy")
def in_one_place(w: Moved, p: Pub) -> Truth:
    """A publication at its publisher, or between it and a broker, is so in one place, and is not delivered."""
    m = w.m
    return w.both(
        w.if_(w.is_at_client(p), then=w.both(m.published(p), w.no(m.delivered(p)))),
        w.if_(m.delivered(p), then=m.published(p)),
        w.no(w.both(m.old(p), m.held(p))),
        w.no(w.both(m.old(p), m.new(p))),
        w.no(w.both(m.held(p), m.new(p))),
        w.no(m.twice()),
    )


@COPIES.conjunct(needs="in_one_place one_copy")
def a_copy_is_alone(w: Moved, p: Pub, y: Broker) -> Truth:
    """A publication with a copy on its way is published, not delivered, and no longer at its publisher."""
    return w.if_(w.m.flying(p, y), then=w.both(w.m.published(p), w.no(w.m.delivered(p)), w.no(w.is_at_client(p))))


@COPIES.conjunct(needs="a_copy_is_alone")
def one_copy(w: Moved, p: Pub, y: Broker, z: Broker) -> Truth:
    """There is one copy at most."""
    return w.if_(w.m.flying(p, y), w.m.flying(p, z), then=w.q.equal(y, z))


# -- order -------------------------------------------------------------------------------------------------------------


@ORDER.conjunct(
    needs="phases_follow_each_other in_one_place flushed_after_the_pause where_the_publisher_speaks "
    "completion_follows_update_and_mark"
)
def the_publisher_keeps_the_order(w: Moved, p: Pub, o: Pub) -> Truth:
    """A later publication is not ahead of an earlier one between publisher and brokers."""
    m = w.m
    return w.if_(
        w.q.earlier(p, o),
        m.published(o),
        then=w.both(
            w.if_(m.old(o), then=w.no(w.either(m.held(p), m.new(p)))),
            w.if_(m.new(o), then=w.no(w.either(m.old(p), m.held(p)))),
        ),
    )


@ORDER.conjunct(
    needs="phases_follow_each_other the_publisher_keeps_the_order in_one_place a_copy_is_alone copies_are_on_a_way "
    "where_the_publisher_speaks"
)
def a_copy_is_ahead_of_the_publisher(w: Moved, p: Pub, o: Pub, y: Broker) -> Truth:
    """A publication that has left for the subscriber is no later than those still at the publisher."""
    return w.if_(w.q.earlier(p, o), w.m.flying(o, y), then=w.no(w.is_at_client(p)))


@ORDER.conjunct(
    needs="phases_follow_each_other a_copy_is_ahead_of_the_publisher a_copy_is_alone one_copy copies_are_on_a_way "
    "the_new_way_is_empty_before the_completion_is_behind flushed_after_the_pause "
    "completion_follows_update_and_mark where_the_publisher_speaks completions_begin_at_the_source "
    "in_one_place the_publisher_keeps_the_order"
)
def copies_keep_the_order(w: Moved, p: Pub, o: Pub, y: Broker, z: Broker) -> Truth:
    """The copy of the earlier publication is ahead."""
    return w.if_(w.q.earlier(p, o), w.m.flying(o, y), w.m.flying(p, z), then=w.q.between(y, z, w.q.home))


@ORDER.conjunct(
    needs="phases_follow_each_other copies_keep_the_order a_copy_is_ahead_of_the_publisher nothing_is_lost "
    "copies_are_on_a_way in_one_place the_publisher_keeps_the_order the_new_way_is_empty_before "
    "the_completion_is_behind where_the_publisher_speaks flushed_after_the_pause "
    "completion_follows_update_and_mark completions_begin_at_the_source"
)
def deliveries_are_in_order(w: Moved, p: Pub, o: Pub) -> Truth:
    """Every publication before a delivered one is delivered."""
    return w.if_(w.q.earlier(p, o), w.m.published(p), w.m.delivered(o), then=w.m.delivered(p))


# -- afterwards --------------------------------------------------------------------------------------------------------


@AFTERWARDS.lemma(
    needs="completions_begin_at_the_source the_new_way_has_it_before_the_completion both_ways_keep_it "
    "other_publishers_keep_it where_it_is who_has_it_was_sent the_old_way_is_withdrawn_from "
    "completion_follows_update_and_mark"
)
def tables_are_fresh(w: Moved, b: Broker) -> Truth:
    """After the move, and quiet, the tables are those of a network in which the publisher began at the target."""
    quiet = w.logic.every((BROKER,), lambda u: w.no(w.either(w.m.addition(u), w.m.withdrawal(u))))
    fresh = w.logic.iff(w.m.has(b), w.either(w.q.on_new(b), w.q.other(b)))
    lies = w.either(w.m.updated(b), w.q.equal(w.q.next_to_source(b), w.q.next_to_target(b)))
    return w.if_(w.m.done(w.q.target), quiet, then=w.both(fresh, lies))


@AFTERWARDS.lemma(needs="nothing_is_lost")
def everything_arrives(w: Moved, p: Pub) -> Truth:
    """Where no copy is on its way and the publisher holds nothing back, everything is delivered."""
    on_its_way = w.either(w.is_at_client(p), w.logic.some((BROKER,), lambda y: w.m.flying(p, y)))
    return w.if_(w.m.published(p), w.no(on_its_way), then=w.m.delivered(p))


BOOK = PHASES | TABLES | COPIES | ORDER | AFTERWARDS
