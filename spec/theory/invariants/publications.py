"""Invariants of publications: no broker handles one twice, and one that is owed always has a copy on its way.

`PUBLICATIONS`: each publication goes away from its source.

`DELIVERY` is for no lost delivery. A pair (s, a) that was ready once is *pledged* until s is withdrawn. From then on,
wherever a is known on the path from the home of s to the origin of a, the neighbour toward the origin has something
from there that covers s; and it will still have after each message that is queued (COV-8 is what keeps this true). A
withdrawn a is forgotten from its origin on, behind whatever was published before. So a publication that is owed finds
its way ahead unbroken.
"""

from __future__ import annotations

from routeproof.spec.theory import ITEM, SUB, Adv, Broker, Item, Pub, Sub, Truth
from routeproof.spec.theory.invariants.book import Book, Moment

PUBLICATIONS = Book()


@PUBLICATIONS.conjunct(needs="handled_inward source_handled one_copy came_from_home in_one_queue queues_are_on_links")
def copy_is_news(m: Moment, i: Item, x: Broker, y: Broker, p: Pub) -> Truth:
    """A copy travels away from the source, from a broker that has handled one to one that has not."""
    logic, handled = m.logic, m.ghosts.handled
    return logic.implies(
        m.queued("pub", i, x, y, p),
        lambda: logic.all_of(m.equal(x, m.toward(y, m.source(p))), handled(x, p), logic.no(handled(y, p))),
    )


@PUBLICATIONS.conjunct(needs="copy_is_news source_handled queues_are_on_links")
def handled_inward(m: Moment, b: Broker, p: Pub) -> Truth:
    """If a broker has handled a publication, so has the broker before it on the way from the source."""
    return m.logic.implies(m.ghosts.handled(b, p), m.ghosts.handled(m.toward(b, m.source(p)), p))


@PUBLICATIONS.conjunct(needs="copy_is_news source_handled")
def one_copy(m: Moment, i: Item, j: Item, x: Broker, y: Broker, p: Pub) -> Truth:
    """On one link there is one copy of p at most."""
    queued = m.logic.all_of(m.queued("pub", i, x, y, p), m.queued("pub", j, x, y, p))
    return m.logic.implies(queued, m.equal(i, j))


@PUBLICATIONS.conjunct(needs="copy_is_news")
def source_handled(m: Moment, p: Pub) -> Truth:
    """The source has handled exactly what was published."""
    return m.logic.iff(m.ghosts.handled(m.source(p), p), m.state.published(p))


@PUBLICATIONS.conjunct(needs="copy_is_news source_handled")
def handled_was_published(m: Moment, b: Broker, p: Pub) -> Truth:
    """Only what was published is handled."""
    return m.logic.implies(m.ghosts.handled(b, p), m.state.published(p))


@PUBLICATIONS.conjunct(needs="came_from_home")
def delivered_at_home(m: Moment, p: Pub, s: Sub) -> Truth:
    """A publication that was delivered to s was handled by the home of s."""
    return m.logic.implies(m.state.delivered(p, s), m.ghosts.handled(m.home(s), p))


@PUBLICATIONS.conjunct(needs="delivered_at_home copy_is_news source_handled came_from_home queues_are_on_links")
def no_duplicate(m: Moment) -> Truth:
    """Nothing is delivered twice for one subscription."""
    return m.logic.no(m.state.duplicate())


@PUBLICATIONS.conjunct()
def precise(m: Moment, p: Pub, s: Sub) -> Truth:
    """Every delivery matches."""
    return m.logic.implies(m.state.delivered(p, s), m.facts.matches(p, s))


DELIVERY = Book()


# -- pledged and ready pairs -------------------------------------------------------------------------------------------


@DELIVERY.conjunct(needs="ready_is_pledged")
def pledged_is_active(m: Moment, s: Sub, a: Adv) -> Truth:
    """A pledged pair overlaps, and its subscription is active."""
    return m.logic.implies(m.ghosts.pledged(s, a), lambda: m.logic.all_of(m.is_active(s), m.facts.overlaps(a, s)))


@DELIVERY.conjunct()
def ready_is_pledged(m: Moment, s: Sub, a: Adv) -> Truth:
    """A ready pair is pledged, and its advertisement is active."""
    return m.logic.implies(m.state.ready(s, a), lambda: m.logic.all_of(m.ghosts.pledged(s, a), m.is_advertised(a)))


@DELIVERY.conjunct(needs="ready_is_pledged", then="heard_everywhere_when_quiet")
def pledged_is_heard(m: Moment, s: Sub, a: Adv, b: Broker) -> Truth:
    """Every broker has heard of a pledged advertisement."""
    return m.logic.implies(m.ghosts.pledged(s, a), m.ghosts.heard(b, a))


@DELIVERY.conjunct(
    needs="ready_is_pledged pledged_is_heard adv_came_from_origin adv_is_news unadv_is_news",
    then="known_everywhere_when_quiet",
)
def ready_is_known(m: Moment, s: Sub, a: Adv, b: Broker) -> Truth:
    """Every broker knows a ready advertisement."""
    return m.logic.implies(m.state.ready(s, a), lambda: m.knows(b, a))


# -- something that covers s lies ahead ------------------------------------------------------------------------------

ROAD = (
    "covered_now covered_after_each pledged_is_active pledged_is_heard ready_is_pledged ready_is_known "
    "adv_came_from_origin adv_is_news unadv_is_news "
    "forgotten_inward came_from_home said_away_from_home told_what_is_said has_or_will_be_told has_or_is_told "
    "in_one_queue queues_are_on_links candidate_is_covered home_has_what_is_active"
)


@DELIVERY.conjunct(needs=ROAD, then="covered_everywhere_when_quiet")
def covered_now(m: Moment, s: Sub, a: Adv, x: Broker) -> Truth:
    """Where x knows a, the next broker toward the origin has from x something that covers s."""
    logic, y = m.logic, m.toward(x, m.origin(a))
    return logic.implies(
        logic.all_of(m.ghosts.pledged(s, a), m.is_between(s, x, a), m.knows(x, a)),
        lambda: logic.some((SUB,), lambda t: logic.all_of(m.facts.covers(t, s), m.state.subs(y, t, x))),
    )


@DELIVERY.conjunct(needs=f"covered_as_sent {ROAD}", then="covered_as_sent covered_for_good_when_quiet")
def covered_after_each(m: Moment, s: Sub, a: Adv, x: Broker, i: Item) -> Truth:
    """`covered_now` still holds once the message i has been handled, for every message i that is queued there."""
    logic, y = m.logic, m.toward(x, m.origin(a))
    return logic.implies(
        logic.all_of(m.ghosts.pledged(s, a), m.is_between(s, x, a), m.knows(x, a), m.state.on(i, x, y)),
        lambda: logic.some((SUB,), lambda t: logic.all_of(m.facts.covers(t, s), m.ghosts.told(i, t))),
    )


# -- what is owed --------------------------------------------------------------------------------------------------


@DELIVERY.conjunct(needs="pledged_is_active pledged_is_heard ready_is_pledged ready_is_known source_handled")
def owed_was_pledged(m: Moment, p: Pub, s: Sub) -> Truth:
    """An owed publication was published, matches, and was published under an advertisement that is pledged."""
    logic = m.logic
    return logic.implies(
        m.state.owed(p, s),
        lambda: logic.all_of(
            m.ghosts.pledged(s, m.facts.adv_of(p)), m.facts.matches(p, s), m.ghosts.handled(m.source(p), p)
        ),
    )


OWED = (
    "owed_was_pledged known_ahead copy_ahead copy_then_unadv pledged_is_active pledged_is_heard ready_is_pledged "
    "ready_is_known source_handled"
)


@DELIVERY.conjunct(needs=f"{OWED} unadv_is_news adv_came_from_origin adv_is_news copy_is_news")
def known_ahead(m: Moment, p: Pub, s: Sub, x: Broker) -> Truth:
    """A broker that an owed publication has yet to come to knows its advertisement."""
    logic, a = m.logic, m.facts.adv_of(p)
    return logic.implies(
        logic.all_of(m.state.owed(p, s), m.is_between(s, x, a), logic.no(m.ghosts.handled(x, p))), m.knows(x, a)
    )


@DELIVERY.conjunct(
    needs=f"{OWED} covered_now copy_is_news handled_inward one_copy handled_was_published adv_came_from_origin "
    "forgotten_inward came_from_home in_one_queue"
)
def copy_ahead(m: Moment, p: Pub, s: Sub, x: Broker) -> Truth:
    """Where an owed publication was handled on the way to s, it was at the next broker too, or a copy is queued to
    it.
    """
    logic, handled = m.logic, m.ghosts.handled
    y = m.toward(x, m.source(p))
    return logic.implies(
        logic.all_of(m.state.owed(p, s), m.is_between(s, x, m.facts.adv_of(p)), handled(y, p), logic.no(handled(x, p))),
        lambda: logic.some((ITEM,), lambda i: m.queued("pub", i, y, x, p)),
    )


@DELIVERY.conjunct(
    needs="owed_was_pledged known_ahead unadv_is_news copy_is_news handled_inward source_handled pledged_is_active "
    "pledged_is_heard ready_is_pledged ready_is_known adv_came_from_origin"
)
def copy_then_unadv(m: Moment, i: Item, j: Item, x: Broker, p: Pub, s: Sub) -> Truth:
    """A copy that is owed is queued before the withdrawal of its advertisement."""
    logic, a = m.logic, m.facts.adv_of(p)
    y = m.toward(x, m.source(p))
    return logic.implies(
        logic.all_of(
            m.state.owed(p, s), m.is_between(s, x, a), m.queued("pub", i, y, x, p), m.queued("unadv", j, y, x, a)
        ),
        m.facts.before(i, j),
    )


@DELIVERY.conjunct(
    needs="owed_was_pledged pledged_is_active pledged_is_heard ready_is_pledged ready_is_known "
    "home_has_what_is_active source_handled delivered_at_home copy_is_news came_from_home "
    "handled_was_published"
)
def owed_is_delivered_at_home(m: Moment, p: Pub, s: Sub) -> Truth:
    """A publication that is owed to s is delivered once the home of s has handled it."""
    return m.logic.implies(m.logic.all_of(m.state.owed(p, s), m.ghosts.handled(m.home(s), p)), m.state.delivered(p, s))
