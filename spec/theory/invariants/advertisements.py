"""Invariants of advertisements: each is flooded away from its origin once, and forgotten once, in that order.

A client advertises at most once, so that there are three stages of a at a broker: not heard, known, forgotten. Along
a link that leads away from the origin the farther broker is never ahead, and where it is behind, the message is
queued.
"""

from __future__ import annotations

from routeproof.spec.theory.invariants.book import Book, Moment
from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.readings import ADV, BROKER, ITEM, Term

BOOK = Book()
conjunct = BOOK.conjunct


@conjunct(BROKER, ADV, BROKER, needs="adv_is_news queues_are_on_links")
def adv_came_from_origin(m: Moment, b: Term, a: Term, x: Term) -> Truth:
    """A known advertisement came from the neighbour on the way to its origin, there from its client, and was heard."""
    return m.logic.implies(
        m.state.advs(b, a, x),
        lambda: m.logic.all_of(m.equal(x, m.toward(b, m.origin(a))), m.ghosts.heard(b, a)),
    )


@conjunct(
    ITEM,
    BROKER,
    BROKER,
    ADV,
    needs="adv_came_from_origin unadv_is_news one_adv origin_heard heard_inward in_one_queue queues_are_on_links",
)
def adv_is_news(m: Moment, i: Term, x: Term, y: Term, a: Term) -> Truth:
    """Adv(a) travels away from the origin of a, from a broker that has heard it to one that has not."""
    logic, heard = m.logic, m.ghosts.heard
    return logic.implies(
        m.queued("adv", i, x, y, a),
        lambda: logic.all_of(m.equal(x, m.toward(y, m.origin(a))), heard(x, a), logic.no(heard(y, a))),
    )


@conjunct(
    ITEM,
    BROKER,
    BROKER,
    ADV,
    needs="adv_came_from_origin adv_is_news one_unadv adv_then_unadv heard_inward forgotten_inward heard_or_queued "
    "origin_heard in_one_queue queues_are_on_links",
)
def unadv_is_news(m: Moment, i: Term, x: Term, y: Term, a: Term) -> Truth:
    """Unadv(a) travels away from the origin of a, from a broker that has forgotten it to one that has not."""
    logic, heard = m.logic, m.ghosts.heard
    return logic.implies(
        m.queued("unadv", i, x, y, a),
        lambda: logic.all_of(
            m.equal(x, m.toward(y, m.origin(a))),
            heard(x, a),
            logic.no(m.knows(x, a)),
            logic.implies(heard(y, a), m.knows(y, a)),
        ),
    )


@conjunct(ITEM, ITEM, BROKER, BROKER, ADV, needs="adv_is_news adv_came_from_origin origin_heard in_one_queue")
def one_adv(m: Moment, i: Term, j: Term, x: Term, y: Term, a: Term) -> Truth:
    """On one link there is one Adv(a) at most."""
    queued = m.logic.all_of(m.queued("adv", i, x, y, a), m.queued("adv", j, x, y, a))
    return m.logic.implies(queued, m.equal(i, j))


@conjunct(ITEM, ITEM, BROKER, BROKER, ADV, needs="unadv_is_news adv_came_from_origin adv_is_news")
def one_unadv(m: Moment, i: Term, j: Term, x: Term, y: Term, a: Term) -> Truth:
    """On one link there is one Unadv(a) at most."""
    queued = m.logic.all_of(m.queued("unadv", i, x, y, a), m.queued("unadv", j, x, y, a))
    return m.logic.implies(queued, m.equal(i, j))


@conjunct(
    ITEM, ITEM, BROKER, BROKER, ADV, needs="adv_is_news unadv_is_news adv_came_from_origin origin_heard in_one_queue"
)
def adv_then_unadv(m: Moment, i: Term, j: Term, x: Term, y: Term, a: Term) -> Truth:
    """On one link Adv(a) is before Unadv(a)."""
    queued = m.logic.all_of(m.queued("adv", i, x, y, a), m.queued("unadv", j, x, y, a))
    return m.logic.implies(queued, m.facts.before(i, j))


@conjunct(BROKER, BROKER, ADV, needs="adv_is_news unadv_is_news origin_heard")
def heard_inward(m: Moment, x: Term, y: Term, a: Term) -> Truth:
    """If a broker has heard an advertisement, so has the broker before it on the way from the origin."""
    heard = m.ghosts.heard
    return m.logic.implies(m.logic.all_of(m.is_outward(x, y, m.origin(a)), heard(y, a)), heard(x, a))


@conjunct(BROKER, BROKER, ADV, needs="heard_inward adv_came_from_origin adv_is_news unadv_is_news origin_heard")
def forgotten_inward(m: Moment, x: Term, y: Term, a: Term) -> Truth:
    """If a broker has forgotten an advertisement, so has the broker before it on the way from the origin."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.is_outward(x, y, m.origin(a)), m.ghosts.heard(y, a), m.knows(x, a)), m.knows(y, a)
    )


@conjunct(
    BROKER,
    BROKER,
    ADV,
    needs="one_adv adv_came_from_origin adv_is_news unadv_is_news origin_heard in_one_queue queues_are_on_links",
)
def heard_or_queued(m: Moment, x: Term, y: Term, a: Term) -> Truth:
    """If a broker has heard an advertisement, the next one away from the origin has too, or Adv(a) is queued."""
    logic, heard = m.logic, m.ghosts.heard
    return logic.implies(
        logic.all_of(m.is_outward(x, y, m.origin(a)), heard(x, a), logic.no(heard(y, a))),
        lambda: logic.some((ITEM,), lambda i: m.queued("adv", i, x, y, a)),
    )


@conjunct(
    BROKER,
    BROKER,
    ADV,
    needs="never_known_or_queued adv_came_from_origin adv_is_news unadv_is_news one_unadv heard_or_queued "
    "adv_then_unadv origin_heard in_one_queue queues_are_on_links",
)
def forgotten_or_queued(m: Moment, x: Term, y: Term, a: Term) -> Truth:
    """If a broker has forgotten an advertisement, the next one away from the origin does not know it, or Unadv(a) is
    queued.
    """
    logic = m.logic
    return logic.implies(
        logic.all_of(m.is_outward(x, y, m.origin(a)), m.ghosts.heard(x, a), logic.no(m.knows(x, a)), m.knows(y, a)),
        lambda: logic.some((ITEM,), lambda i: m.queued("unadv", i, x, y, a)),
    )


@conjunct(
    BROKER,
    BROKER,
    ADV,
    needs="forgotten_or_queued heard_or_queued adv_then_unadv unadv_is_news adv_is_news adv_came_from_origin "
    "in_one_queue queues_are_on_links",
)
def never_known_or_queued(m: Moment, x: Term, y: Term, a: Term) -> Truth:
    """If a broker forgot an advertisement before the next broker has heard of it, it withdraws it there too."""
    logic, heard = m.logic, m.ghosts.heard
    forgotten = logic.all_of(heard(x, a), logic.no(m.knows(x, a)))
    return logic.implies(
        logic.all_of(m.is_outward(x, y, m.origin(a)), forgotten, logic.no(heard(y, a))),
        lambda: logic.some((ITEM,), lambda i: m.queued("unadv", i, x, y, a)),
    )


# -- clients -----------------------------------------------------------------------------------------------------------


@conjunct(ADV, needs="adv_is_news")
def origin_heard(m: Moment, a: Term) -> Truth:
    """The origin has heard exactly what was advertised."""
    return m.logic.iff(m.ghosts.heard(m.origin(a), a), m.state.advertised(a))


@conjunct(BROKER, ADV, needs="adv_is_news")
def heard_was_advertised(m: Moment, b: Term, a: Term) -> Truth:
    """Only what was advertised is heard."""
    return m.logic.implies(m.ghosts.heard(b, a), m.state.advertised(a))


@conjunct(ADV)
def unadvertised_was_advertised(m: Moment, a: Term) -> Truth:
    """Only what was advertised is unadvertised."""
    return m.logic.implies(m.state.unadvertised(a), m.state.advertised(a))


@conjunct(
    ADV,
    needs="adv_came_from_origin adv_is_news unadv_is_news origin_heard heard_was_advertised "
    "unadvertised_was_advertised queues_are_on_links",
)
def origin_knows_what_is_active(m: Moment, a: Term) -> Truth:
    """The origin of an advertisement knows it exactly while it is active."""
    return m.logic.iff(m.knows(m.origin(a), a), m.is_advertised(a))
