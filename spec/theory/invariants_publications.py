"""Invariants of publications: each goes away from its source, and no broker handles it twice."""

from __future__ import annotations

from routeproof.spec.theory.invariants import Book, Moment
from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.readings import BROKER, ITEM, PUB, SUB, Term

BOOK = Book()
conjunct = BOOK.conjunct


@conjunct(
    ITEM,
    BROKER,
    BROKER,
    PUB,
    needs="handled_inward source_handled one_copy came_from_home in_one_queue queues_are_on_links",
)
def copy_is_news(m: Moment, i: Term, x: Term, y: Term, p: Term) -> Truth:
    """A copy travels away from the source, from a broker that has handled one to one that has not."""
    logic, handled = m.logic, m.ghosts.handled
    return logic.implies(
        m.queued("pub", i, x, y, p),
        lambda: logic.all_of(m.equal(x, m.toward(y, m.source(p))), handled(x, p), logic.no(handled(y, p))),
    )


@conjunct(BROKER, PUB, needs="copy_is_news source_handled queues_are_on_links")
def handled_inward(m: Moment, b: Term, p: Term) -> Truth:
    """What a broker has handled, the one before it on the way from the source has handled."""
    return m.logic.implies(m.ghosts.handled(b, p), m.ghosts.handled(m.toward(b, m.source(p)), p))


@conjunct(ITEM, ITEM, BROKER, BROKER, PUB, needs="copy_is_news source_handled")
def one_copy(m: Moment, i: Term, j: Term, x: Term, y: Term, p: Term) -> Truth:
    """On one link there is one copy of p at most."""
    queued = m.logic.all_of(m.queued("pub", i, x, y, p), m.queued("pub", j, x, y, p))
    return m.logic.implies(queued, m.equal(i, j))


@conjunct(PUB, needs="copy_is_news")
def source_handled(m: Moment, p: Term) -> Truth:
    """The source has handled exactly what was published."""
    return m.logic.iff(m.ghosts.handled(m.source(p), p), m.state.published(p))


@conjunct(BROKER, PUB, needs="copy_is_news source_handled")
def handled_was_published(m: Moment, b: Term, p: Term) -> Truth:
    """Only what was published is handled."""
    return m.logic.implies(m.ghosts.handled(b, p), m.state.published(p))


@conjunct(PUB, SUB, needs="came_from_home")
def delivered_at_home(m: Moment, p: Term, s: Term) -> Truth:
    """What was delivered to s, the home of s has handled."""
    return m.logic.implies(m.state.delivered(p, s), m.ghosts.handled(m.home(s), p))


@conjunct(needs="delivered_at_home copy_is_news source_handled came_from_home queues_are_on_links")
def no_duplicate(m: Moment) -> Truth:
    """Nothing is delivered twice for one subscription."""
    return m.logic.no(m.state.duplicate())


@conjunct(PUB, SUB)
def precise(m: Moment, p: Term, s: Term) -> Truth:
    """Every delivery matches."""
    return m.logic.implies(m.state.delivered(p, s), m.facts.matches(p, s))
