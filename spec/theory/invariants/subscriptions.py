"""Invariants of subscriptions: where they came from, and which messages about them are in flight or were sent.

A link, seen from its receiver, is a row of tables: the one it has now, then the one it will have after each message
that is
queued, and in the end the one that the sender believes it has (`sent`). Where two of them differ about s, a message
between them is about s. That is all that is ever needed of a queue, whatever its length.
"""

from __future__ import annotations

from routeproof.spec.theory.invariants.book import Book, Moment
from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.readings import BROKER, ITEM, SUB, Term
from routeproof.spec.theory.relation.world import is_quiet

BOOK = Book()
conjunct = BOOK.conjunct


# -- queues ------------------------------------------------------------------------------------------------------------


@conjunct(ITEM, BROKER, BROKER, BROKER, BROKER)
def in_one_queue(m: Moment, i: Term, x: Term, y: Term, u: Term, v: Term) -> Truth:
    """A message is in one queue only."""
    logic, on = m.logic, m.state.on
    return logic.implies(logic.all_of(on(i, x, y), on(i, u, v)), logic.all_of(m.equal(x, u), m.equal(y, v)))


@conjunct(ITEM, BROKER, BROKER)
def queues_are_on_links(m: Moment, i: Term, x: Term, y: Term) -> Truth:
    """Messages are queued between neighbours only."""
    return m.logic.implies(m.state.on(i, x, y), m.tree.link(x, y))


@conjunct()
def quiet_is_without_control(m: Moment) -> Truth:
    """It is quiet exactly where no queue holds a control message."""
    return m.logic.iff(m.is_quiet(), is_quiet(m.logic, m.facts, m.state))


# -- paths (RTE-3): everything about s moves away from its home ----------------------------------------------------


@conjunct(BROKER, SUB, BROKER, needs="said_away_from_home")
def came_from_home(m: Moment, b: Term, s: Term, x: Term) -> Truth:
    """A subscription came from the neighbour on the way to its home, and at home from its client."""
    return m.logic.implies(m.state.subs(b, s, x), m.equal(x, m.toward(b, m.home(s))))


@conjunct(ITEM, BROKER, BROKER, SUB, needs="sent_away_from_home", then="sent_away_from_home")
def said_away_from_home(m: Moment, i: Term, x: Term, y: Term, s: Term) -> Truth:
    """A message about a subscription travels away from its home."""
    logic = m.logic
    return logic.implies(logic.all_of(m.state.on(i, x, y), m.says_of(i, s)), lambda: m.equal(x, m.toward(y, m.home(s))))


@conjunct(BROKER, BROKER, SUB, needs="came_from_home said_away_from_home queues_are_on_links")
def sent_away_from_home(m: Moment, x: Term, y: Term, s: Term) -> Truth:
    """A subscription is sent to neighbours only, and away from its home."""
    return m.logic.implies(m.state.sent(x, y, s), lambda: m.is_outward(x, y, m.home(s)))


# -- agreement: a row of tables, and what lies between any two of them ------------------------------------------------


@conjunct(ITEM, SUB, BROKER, BROKER)
def told_what_is_said(m: Moment, i: Term, s: Term, x: Term, y: Term) -> Truth:
    """After Sub(s) the receiver has s, after Unsub(s) it does not."""
    logic, told = m.logic, m.ghosts.told(i, s)
    return logic.implies(
        m.state.on(i, x, y),
        lambda: logic.all_of(
            logic.implies(m.facts.is_sub(i, s), told), logic.implies(m.facts.is_unsub(i, s), logic.no(told))
        ),
    )


ROW = "told_what_is_said has_or_will_be_told has_or_is_told told_in_between told_or_will_be_told in_one_queue"


@conjunct(BROKER, BROKER, SUB, needs=f"{ROW} queues_are_on_links came_from_home said_away_from_home")
def has_or_will_be_told(m: Moment, x: Term, y: Term, s: Term) -> Truth:
    """Where what y has from x is not what x sent it, a message about it is queued."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.tree.link(x, y), lambda: m.differ(m.state.subs(y, s, x), m.state.sent(x, y, s))),
        lambda: logic.some((ITEM,), lambda k: logic.all_of(m.state.on(k, x, y), m.says_of(k, s))),
    )


@conjunct(ITEM, BROKER, BROKER, SUB, needs=f"{ROW} queues_are_on_links came_from_home said_away_from_home")
def has_or_is_told(m: Moment, i: Term, x: Term, y: Term, s: Term) -> Truth:
    """Where what y has from x is not what it has after i, a message up to i is about it."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.state.on(i, x, y), lambda: m.differ(m.state.subs(y, s, x), m.ghosts.told(i, s))),
        lambda: logic.some(
            (ITEM,), lambda k: logic.all_of(m.state.on(k, x, y), m.says_of(k, s), lambda: m.no_later(k, i))
        ),
    )


@conjunct(ITEM, ITEM, BROKER, BROKER, SUB, needs="told_or_will_be_told in_one_queue queues_are_on_links")
def told_in_between(m: Moment, i: Term, j: Term, x: Term, y: Term, s: Term) -> Truth:
    """Where what y has after i is not what it has after j, a message after i and up to j is about it."""
    logic, on, told = m.logic, m.state.on, m.ghosts.told
    return logic.implies(
        logic.all_of(on(i, x, y), on(j, x, y), m.facts.before(i, j), lambda: m.differ(told(i, s), told(j, s))),
        lambda: logic.some(
            (ITEM,),
            lambda k: logic.all_of(on(k, x, y), m.says_of(k, s), m.facts.before(i, k), lambda: m.no_later(k, j)),
        ),
    )


@conjunct(ITEM, BROKER, BROKER, SUB, needs="in_one_queue queues_are_on_links")
def told_or_will_be_told(m: Moment, i: Term, x: Term, y: Term, s: Term) -> Truth:
    """Where what y has after i is not what x sent it, a message after i is about it."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.state.on(i, x, y), lambda: m.differ(m.ghosts.told(i, s), m.state.sent(x, y, s))),
        lambda: logic.some((ITEM,), lambda k: logic.all_of(m.state.on(k, x, y), m.says_of(k, s), m.facts.before(i, k))),
    )


# -- settled (RTE-3, COV-2): what was sent, between two bounds that every policy keeps ---------------------------

ADVS = "adv_came_from_origin adv_is_news unadv_is_news"


@conjunct(
    BROKER,
    BROKER,
    SUB,
    needs=f"sent_away_from_home came_from_home said_away_from_home queues_are_on_links {ADVS}",
)
def sent_is_candidate(m: Moment, x: Term, y: Term, s: Term) -> Truth:
    """A sent subscription came from elsewhere and intersects an advertisement from there."""
    return m.logic.implies(m.state.sent(x, y, s), lambda: m.candidate(x, y, s))


@conjunct(BROKER, BROKER, SUB, needs=f"came_from_home said_away_from_home queues_are_on_links {ADVS}")
def candidate_is_covered(m: Moment, x: Term, y: Term, s: Term) -> Truth:
    """For every candidate, something was sent that covers it."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.tree.link(x, y), lambda: m.candidate(x, y, s)),
        lambda: logic.some((SUB,), lambda t: logic.all_of(m.state.sent(x, y, t), m.facts.covers(t, s))),
    )


# -- clients -----------------------------------------------------------------------------------------------------------


@conjunct(SUB)
def withdrawn_was_made(m: Moment, s: Term) -> Truth:
    """Only what was subscribed is unsubscribed."""
    return m.logic.implies(m.state.unsubscribed(s), m.state.subscribed(s))


@conjunct(SUB, needs="withdrawn_was_made came_from_home said_away_from_home queues_are_on_links")
def home_has_what_is_active(m: Moment, s: Term) -> Truth:
    """The home of a subscription has it from its client exactly while it is active."""
    return m.logic.iff(m.state.subs(m.home(s), s, m.home(s)), m.is_active(s))
