"""Invariants of advertisements and of subscriptions: where they came from, and which messages are in flight.

An advertisement is flooded away from its origin once, and forgotten once, in that order. A client advertises at most
once, so there are three stages of an advertisement at a broker: not heard, known, forgotten. Along a link that leads
away from the origin the farther broker is never ahead, and where it is behind, the message is queued.

Of a subscription a link, seen from its receiver, is a row of tables: the receiver's present one, then the one after
each queued message, and in the end the one that the sender believes the receiver has (`sent`). Where two of them differ
about s, a message between them is about s. The proofs need nothing else of a queue, whatever its length.
"""

from __future__ import annotations

from routeproof.spec.theory import ITEM, SUB, Adv, Broker, Item, Sub, Truth
from routeproof.spec.theory.invariants.book import Book, Moment
from routeproof.spec.theory.relation.world import is_quiet

# -- advertisements ----------------------------------------------------------------------------------------------------

ADVERTISEMENTS = Book()


@ADVERTISEMENTS.conjunct(needs="adv_is_news queues_are_on_links")
def adv_came_from_origin(m: Moment, b: Broker, a: Adv, x: Broker) -> Truth:
    """A known advertisement came from the neighbour on the way to its origin, there from its client, and was heard."""
    return m.logic.implies(
        m.state.advs(b, a, x), lambda: m.logic.all_of(m.equal(x, m.toward(b, m.origin(a))), m.ghosts.heard(b, a))
    )


@ADVERTISEMENTS.conjunct(
    needs="adv_came_from_origin unadv_is_news one_adv origin_heard heard_inward in_one_queue queues_are_on_links"
)
def adv_is_news(m: Moment, i: Item, x: Broker, y: Broker, a: Adv) -> Truth:
    """Adv(a) travels away from the origin of a, from a broker that has heard it to one that has not."""
    logic, heard = m.logic, m.ghosts.heard
    return logic.implies(
        m.queued("adv", i, x, y, a),
        lambda: logic.all_of(m.equal(x, m.toward(y, m.origin(a))), heard(x, a), logic.no(heard(y, a))),
    )


@ADVERTISEMENTS.conjunct(
    needs="adv_came_from_origin adv_is_news one_unadv adv_then_unadv heard_inward forgotten_inward heard_or_queued "
    "origin_heard in_one_queue queues_are_on_links"
)
def unadv_is_news(m: Moment, i: Item, x: Broker, y: Broker, a: Adv) -> Truth:
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


@ADVERTISEMENTS.conjunct(needs="adv_is_news adv_came_from_origin origin_heard in_one_queue")
def one_adv(m: Moment, i: Item, j: Item, x: Broker, y: Broker, a: Adv) -> Truth:
    """On one link there is one Adv(a) at most."""
    queued = m.logic.all_of(m.queued("adv", i, x, y, a), m.queued("adv", j, x, y, a))
    return m.logic.implies(queued, m.equal(i, j))


@ADVERTISEMENTS.conjunct(needs="unadv_is_news adv_came_from_origin adv_is_news")
def one_unadv(m: Moment, i: Item, j: Item, x: Broker, y: Broker, a: Adv) -> Truth:
    """On one link there is one Unadv(a) at most."""
    queued = m.logic.all_of(m.queued("unadv", i, x, y, a), m.queued("unadv", j, x, y, a))
    return m.logic.implies(queued, m.equal(i, j))


@ADVERTISEMENTS.conjunct(needs="adv_is_news unadv_is_news adv_came_from_origin origin_heard in_one_queue")
def adv_then_unadv(m: Moment, i: Item, j: Item, x: Broker, y: Broker, a: Adv) -> Truth:
    """On one link Adv(a) is before Unadv(a)."""
    queued = m.logic.all_of(m.queued("adv", i, x, y, a), m.queued("unadv", j, x, y, a))
    return m.logic.implies(queued, m.facts.before(i, j))


@ADVERTISEMENTS.conjunct(needs="adv_is_news unadv_is_news origin_heard")
def heard_inward(m: Moment, x: Broker, y: Broker, a: Adv) -> Truth:
    """If a broker has heard an advertisement, so has the broker before it on the way from the origin."""
    heard = m.ghosts.heard
    return m.logic.implies(m.logic.all_of(m.is_outward(x, y, m.origin(a)), heard(y, a)), heard(x, a))


@ADVERTISEMENTS.conjunct(needs="heard_inward adv_came_from_origin adv_is_news unadv_is_news origin_heard")
def forgotten_inward(m: Moment, x: Broker, y: Broker, a: Adv) -> Truth:
    """If a broker has forgotten an advertisement, so has the broker before it on the way from the origin."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.is_outward(x, y, m.origin(a)), m.ghosts.heard(y, a), m.knows(x, a)), m.knows(y, a)
    )


@ADVERTISEMENTS.conjunct(
    needs="one_adv adv_came_from_origin adv_is_news unadv_is_news origin_heard in_one_queue queues_are_on_links"
)
def heard_or_queued(m: Moment, x: Broker, y: Broker, a: Adv) -> Truth:
    """If a broker has heard an advertisement, the next one away from the origin has too, or Adv(a) is queued."""
    logic, heard = m.logic, m.ghosts.heard
    return logic.implies(
        logic.all_of(m.is_outward(x, y, m.origin(a)), heard(x, a), logic.no(heard(y, a))),
        lambda: logic.some((ITEM,), lambda i: m.queued("adv", i, x, y, a)),
    )


@ADVERTISEMENTS.conjunct(
    needs="never_known_or_queued adv_came_from_origin adv_is_news unadv_is_news one_unadv heard_or_queued "
    "adv_then_unadv origin_heard in_one_queue queues_are_on_links"
)
def forgotten_or_queued(m: Moment, x: Broker, y: Broker, a: Adv) -> Truth:
    """If a broker has forgotten an advertisement, the next one away from the origin does not know it, or Unadv(a) is
    queued.
    """
    logic = m.logic
    return logic.implies(
        logic.all_of(m.is_outward(x, y, m.origin(a)), m.ghosts.heard(x, a), logic.no(m.knows(x, a)), m.knows(y, a)),
        lambda: logic.some((ITEM,), lambda i: m.queued("unadv", i, x, y, a)),
    )


@ADVERTISEMENTS.conjunct(
    needs="forgotten_or_queued heard_or_queued adv_then_unadv unadv_is_news adv_is_news adv_came_from_origin "
    "in_one_queue queues_are_on_links"
)
def never_known_or_queued(m: Moment, x: Broker, y: Broker, a: Adv) -> Truth:
    """If a broker forgot an advertisement before the next broker has heard of it, it withdraws it there too."""
    logic, heard = m.logic, m.ghosts.heard
    forgotten = logic.all_of(heard(x, a), logic.no(m.knows(x, a)))
    return logic.implies(
        logic.all_of(m.is_outward(x, y, m.origin(a)), forgotten, logic.no(heard(y, a))),
        lambda: logic.some((ITEM,), lambda i: m.queued("unadv", i, x, y, a)),
    )


# -- clients -----------------------------------------------------------------------------------------------------------


@ADVERTISEMENTS.conjunct(needs="adv_is_news")
def origin_heard(m: Moment, a: Adv) -> Truth:
    """The origin has heard exactly what was advertised."""
    return m.logic.iff(m.ghosts.heard(m.origin(a), a), m.state.advertised(a))


@ADVERTISEMENTS.conjunct(needs="adv_is_news")
def heard_was_advertised(m: Moment, b: Broker, a: Adv) -> Truth:
    """Only what was advertised is heard."""
    return m.logic.implies(m.ghosts.heard(b, a), m.state.advertised(a))


@ADVERTISEMENTS.conjunct()
def unadvertised_was_advertised(m: Moment, a: Adv) -> Truth:
    """Only what was advertised is unadvertised."""
    return m.logic.implies(m.state.unadvertised(a), m.state.advertised(a))


@ADVERTISEMENTS.conjunct(
    needs="adv_came_from_origin adv_is_news unadv_is_news origin_heard heard_was_advertised "
    "unadvertised_was_advertised queues_are_on_links"
)
def origin_knows_what_is_active(m: Moment, a: Adv) -> Truth:
    """The origin of an advertisement knows it exactly while it is active."""
    return m.logic.iff(m.knows(m.origin(a), a), m.is_advertised(a))


# -- subscriptions -----------------------------------------------------------------------------------------------------

SUBSCRIPTIONS = Book()


# -- queues ------------------------------------------------------------------------------------------------------------


@SUBSCRIPTIONS.conjunct()
def in_one_queue(m: Moment, i: Item, x: Broker, y: Broker, u: Broker, v: Broker) -> Truth:
    """A message is in one queue only."""
    logic, on = m.logic, m.state.on
    return logic.implies(logic.all_of(on(i, x, y), on(i, u, v)), logic.all_of(m.equal(x, u), m.equal(y, v)))


@SUBSCRIPTIONS.conjunct()
def queues_are_on_links(m: Moment, i: Item, x: Broker, y: Broker) -> Truth:
    """Messages are queued between neighbours only."""
    return m.logic.implies(m.state.on(i, x, y), m.tree.link(x, y))


@SUBSCRIPTIONS.conjunct()
def quiet_is_without_control(m: Moment) -> Truth:
    """It is quiet exactly where no queue holds a control message."""
    return m.logic.iff(m.is_quiet(), is_quiet(m.logic, m.facts, m.state))


# -- paths (RTE-3): everything about s moves away from its home ----------------------------------------------------


@SUBSCRIPTIONS.conjunct(needs="said_away_from_home")
def came_from_home(m: Moment, b: Broker, s: Sub, x: Broker) -> Truth:
    """A subscription came from the neighbour on the way to its home, and at home from its client."""
    return m.logic.implies(m.state.subs(b, s, x), m.equal(x, m.toward(b, m.home(s))))


@SUBSCRIPTIONS.conjunct(needs="sent_away_from_home", then="sent_away_from_home")
def said_away_from_home(m: Moment, i: Item, x: Broker, y: Broker, s: Sub) -> Truth:
    """A message about a subscription travels away from its home."""
    logic = m.logic
    return logic.implies(logic.all_of(m.state.on(i, x, y), m.says_of(i, s)), lambda: m.equal(x, m.toward(y, m.home(s))))


@SUBSCRIPTIONS.conjunct(needs="came_from_home said_away_from_home queues_are_on_links")
def sent_away_from_home(m: Moment, x: Broker, y: Broker, s: Sub) -> Truth:
    """A subscription is sent to neighbours only, and away from its home."""
    return m.logic.implies(m.state.sent(x, y, s), lambda: m.is_outward(x, y, m.home(s)))


# -- agreement: a row of tables, and what lies between any two of them ------------------------------------------------


@SUBSCRIPTIONS.conjunct()
def told_what_is_said(m: Moment, i: Item, s: Sub, x: Broker, y: Broker) -> Truth:
    """After Sub(s) the receiver has s, after Unsub(s) it does not."""
    logic, told = m.logic, m.ghosts.told(i, s)
    return logic.implies(
        m.state.on(i, x, y),
        lambda: logic.all_of(
            logic.implies(m.facts.is_sub(i, s), told), logic.implies(m.facts.is_unsub(i, s), logic.no(told))
        ),
    )


ROW = "told_what_is_said has_or_will_be_told has_or_is_told told_in_between told_or_will_be_told in_one_queue"


@SUBSCRIPTIONS.conjunct(needs=f"{ROW} queues_are_on_links came_from_home said_away_from_home")
def has_or_will_be_told(m: Moment, x: Broker, y: Broker, s: Sub) -> Truth:
    """Where what y has from x is not what x sent it, a message about it is queued."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.tree.link(x, y), lambda: m.differ(m.state.subs(y, s, x), m.state.sent(x, y, s))),
        lambda: logic.some((ITEM,), lambda k: logic.all_of(m.state.on(k, x, y), m.says_of(k, s))),
    )


@SUBSCRIPTIONS.conjunct(needs=f"{ROW} queues_are_on_links came_from_home said_away_from_home")
def has_or_is_told(m: Moment, i: Item, x: Broker, y: Broker, s: Sub) -> Truth:
    """Where what y has from x is not what it has after i, a message up to i is about it."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.state.on(i, x, y), lambda: m.differ(m.state.subs(y, s, x), m.ghosts.told(i, s))),
        lambda: logic.some(
            (ITEM,), lambda k: logic.all_of(m.state.on(k, x, y), m.says_of(k, s), lambda: m.no_later(k, i))
        ),
    )


@SUBSCRIPTIONS.conjunct(needs="told_or_will_be_told in_one_queue queues_are_on_links")
def told_in_between(m: Moment, i: Item, j: Item, x: Broker, y: Broker, s: Sub) -> Truth:
    """Where what y has after i is not what it has after j, a message after i and up to j is about it."""
    logic, on, told = m.logic, m.state.on, m.ghosts.told
    return logic.implies(
        logic.all_of(on(i, x, y), on(j, x, y), m.facts.before(i, j), lambda: m.differ(told(i, s), told(j, s))),
        lambda: logic.some(
            (ITEM,),
            lambda k: logic.all_of(on(k, x, y), m.says_of(k, s), m.facts.before(i, k), lambda: m.no_later(k, j)),
        ),
    )


@SUBSCRIPTIONS.conjunct(needs="in_one_queue queues_are_on_links")
def told_or_will_be_told(m: Moment, i: Item, x: Broker, y: Broker, s: Sub) -> Truth:
    """Where what y has after i is not what x sent it, a message after i is about it."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.state.on(i, x, y), lambda: m.differ(m.ghosts.told(i, s), m.state.sent(x, y, s))),
        lambda: logic.some((ITEM,), lambda k: logic.all_of(m.state.on(k, x, y), m.says_of(k, s), m.facts.before(i, k))),
    )


# -- settled (RTE-3, COV-2): what was sent, between two bounds that every policy keeps ---------------------------

ADVS = "adv_came_from_origin adv_is_news unadv_is_news"


@SUBSCRIPTIONS.conjunct(needs=f"sent_away_from_home came_from_home said_away_from_home queues_are_on_links {ADVS}")
def sent_is_candidate(m: Moment, x: Broker, y: Broker, s: Sub) -> Truth:
    """A sent subscription came from elsewhere and intersects an advertisement from there."""
    return m.logic.implies(m.state.sent(x, y, s), lambda: m.candidate(x, y, s))


@SUBSCRIPTIONS.conjunct(needs=f"came_from_home said_away_from_home queues_are_on_links {ADVS}")
def candidate_is_covered(m: Moment, x: Broker, y: Broker, s: Sub) -> Truth:
    """For every candidate, something was sent that covers it."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.tree.link(x, y), lambda: m.candidate(x, y, s)),
        lambda: logic.some((SUB,), lambda t: logic.all_of(m.state.sent(x, y, t), m.facts.covers(t, s))),
    )


# -- clients -----------------------------------------------------------------------------------------------------------


@SUBSCRIPTIONS.conjunct()
def withdrawn_was_made(m: Moment, s: Sub) -> Truth:
    """Only what was subscribed is unsubscribed."""
    return m.logic.implies(m.state.unsubscribed(s), m.state.subscribed(s))


@SUBSCRIPTIONS.conjunct(needs="withdrawn_was_made came_from_home said_away_from_home queues_are_on_links")
def home_has_what_is_active(m: Moment, s: Sub) -> Truth:
    """The home of a subscription has it from its client exactly while it is active."""
    return m.logic.iff(m.state.subs(m.home(s), s, m.home(s)), m.is_active(s))
