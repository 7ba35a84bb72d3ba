"""Consequences of the invariants where no control message is queued, by induction along a path.

A lemma speaks of one moment. Each path induction is an instance of the schema in `trees`, for a relation that is
named here.

Every quiet state that can be reached is one of those of which Properties 1 to 3 speak (`quiet_states`). The hypotheses
of those proofs are lemmas here, under their own names: what is taken for granted there is proved here.
"""

from __future__ import annotations

from routeproof.spec.theory import ADV, BROKER, ITEM, SUB, Adv, Broker, Item, Pub, Sub, Term, Truth
from routeproof.spec.theory.invariants.book import AlongPath, Book, Lemma, Moment, names
from routeproof.spec.theory.relation import quiet_states as quiet
from routeproof.spec.theory.relation.quiet_states import Scene, quiet_holds

BOOK = Book()
lemma = BOOK.lemma


@lemma(
    needs="quiet_is_without_control origin_heard heard_or_queued",
    induction=lambda m, a, b: AlongPath(lambda z: m.ghosts.heard(z, a), m.origin(a), b),
)
def heard_everywhere_when_quiet(m: Moment, a: Adv, b: Broker) -> Truth:
    """When it is quiet, every broker has heard of what was advertised."""
    return m.logic.implies(m.logic.all_of(m.is_quiet(), m.state.advertised(a)), m.ghosts.heard(b, a))


@lemma(
    needs="heard_everywhere_when_quiet origin_knows_what_is_active forgotten_inward",
    induction=lambda m, a, b: AlongPath(lambda z: m.knows(z, a), m.origin(a), b),
)
def known_everywhere_when_quiet(m: Moment, a: Adv, b: Broker) -> Truth:
    """When it is quiet, every broker knows what is advertised."""
    return m.logic.implies(m.logic.all_of(m.is_quiet(), m.is_advertised(a)), m.knows(b, a))


def _has_cover(m: Moment, s: Term, x: Term) -> Truth:
    """x has something that covers s, from the side of the home of s."""
    here = m.toward(x, m.home(s))
    return m.logic.some((SUB,), lambda t: m.logic.all_of(m.facts.covers(t, s), m.state.subs(x, t, here)))


@lemma(
    needs="known_everywhere_when_quiet home_has_what_is_active candidate_is_covered agreement",
    induction=lambda m, s, a, x: AlongPath(lambda z: _has_cover(m, s, z), m.home(s), x),
)
def cover_on_the_path_when_quiet(m: Moment, s: Sub, a: Adv, x: Broker) -> Truth:
    """When it is quiet, every broker between two that overlap has something that covers s, from the side of s."""
    logic = m.logic
    return logic.implies(
        logic.all_of(
            m.is_quiet(),
            m.is_active(s),
            m.is_advertised(a),
            m.facts.overlaps(a, s),
            m.tree.between(m.home(s), x, m.origin(a)),
        ),
        lambda: _has_cover(m, s, x),
    )


def _pair(m: Moment, s: Term, a: Term, x: Term) -> Truth:
    return m.logic.all_of(
        m.is_quiet(), m.is_active(s), m.is_advertised(a), m.facts.overlaps(a, s), m.is_between(s, x, a)
    )


@lemma(needs="cover_on_the_path_when_quiet")
def covered_everywhere_when_quiet(m: Moment, s: Sub, a: Adv, x: Broker) -> Truth:
    """When it is quiet, the next broker toward the origin has from x something that covers s."""
    logic, y = m.logic, m.toward(x, m.origin(a))
    return logic.implies(
        _pair(m, s, a, x),
        lambda: logic.some((SUB,), lambda t: logic.all_of(m.facts.covers(t, s), m.state.subs(y, t, x))),
    )


@lemma(needs="covered_everywhere_when_quiet quiet_is_without_control has_or_is_told")
def covered_for_good_when_quiet(m: Moment, s: Sub, a: Adv, x: Broker, i: Item) -> Truth:
    """When it is quiet, the same once any of the publications that are queued there has been handled."""
    logic, y = m.logic, m.toward(x, m.origin(a))
    return logic.implies(
        logic.all_of(_pair(m, s, a, x), m.state.on(i, x, y)),
        lambda: logic.some((SUB,), lambda t: logic.all_of(m.facts.covers(t, s), m.ghosts.told(i, t))),
    )


@lemma(needs="covered_now home_has_what_is_active pledged_is_active pledged_is_heard forgotten_inward")
def covered_here(m: Moment, s: Sub, a: Adv, x: Broker) -> Truth:
    """Where x knows a that is pledged to s, x has something that covers s, from the side of s: at every moment."""
    logic = m.logic
    return logic.implies(
        logic.all_of(m.ghosts.pledged(s, a), m.is_between(s, x, a), m.knows(x, a)), lambda: _has_cover(m, s, x)
    )


@lemma(needs="covered_here candidate_is_covered pledged_is_active queues_are_on_links")
def covered_as_sent(m: Moment, s: Sub, a: Adv, x: Broker) -> Truth:
    """Where x knows a that is pledged to s, x has sent toward the origin something that covers s: at every moment."""
    logic, y = m.logic, m.toward(x, m.origin(a))
    return logic.implies(
        logic.all_of(m.ghosts.pledged(s, a), m.is_between(s, x, a), m.knows(x, a)),
        lambda: logic.some((SUB,), lambda t: logic.all_of(m.facts.covers(t, s), m.state.sent(x, y, t))),
    )


# -- the safety properties -----------------------------------------------------------------------------------------


@lemma(needs="came_from_home")
def last_hops_lead_home(m: Moment, b: Broker, s: Sub, x: Broker) -> Truth:
    """A last hop is the next broker on the way home, and the way does not come back: the hops are a simple path."""
    logic, between, home = m.logic, m.tree.between, m.home(s)
    return logic.implies(
        logic.all_of(m.state.subs(b, s, x), logic.apart(x, b)),
        lambda: logic.all_of(m.tree.link(b, x), between(b, x, home), logic.no(between(x, b, home))),
    )


@lemma(needs="adv_came_from_origin")
def last_hops_lead_to_origin(m: Moment, b: Broker, a: Adv, x: Broker) -> Truth:
    """Last hops of advertisements lead to their origins."""
    logic, between, root = m.logic, m.tree.between, m.origin(a)
    return logic.implies(
        logic.all_of(m.state.advs(b, a, x), logic.apart(x, b)),
        lambda: logic.all_of(m.tree.link(b, x), between(b, x, root), logic.no(between(x, b, root))),
    )


@lemma(needs="adv_came_from_origin")
def one_last_hop_of_an_advertisement(m: Moment, b: Broker, a: Adv, x: Broker, y: Broker) -> Truth:
    """An advertisement is in a broker's table once."""
    advs = m.state.advs
    return m.logic.implies(m.logic.all_of(advs(b, a, x), advs(b, a, y)), m.equal(x, y))


@lemma(needs="quiet_is_without_control has_or_will_be_told")
def agreement(m: Moment, x: Broker, y: Broker, s: Sub) -> Truth:
    """When it is quiet, s is in sent_x[y] exactly where subs_y[s] = x."""
    return m.logic.implies(
        m.logic.all_of(m.is_quiet(), m.tree.link(x, y)),
        lambda: m.logic.iff(m.state.sent(x, y, s), m.state.subs(y, s, x)),
    )


@lemma(needs="sent_is_candidate")
def no_stray(m: Moment, x: Broker, y: Broker, s: Sub) -> Truth:
    """A sent subscription intersects an advertisement from there: at every moment, quiet or not."""
    logic = m.logic
    return logic.implies(
        m.state.sent(x, y, s),
        lambda: logic.some((ADV,), lambda a: logic.all_of(m.state.advs(x, a, y), m.facts.overlaps(a, s))),
    )


def has_back(m: Moment, b: Term, s: Term, x: Term) -> AlongPath:
    """Along the path from b to the home of s: each has s from the next."""
    return AlongPath(lambda z: m.state.subs(z, s, m.toward(z, m.home(s))), b, m.home(s))


@lemma(needs="agreement came_from_home sent_is_candidate home_has_what_is_active", induction=has_back)
def no_residue_of_subscriptions(m: Moment, b: Broker, s: Sub, x: Broker) -> Truth:
    """When it is quiet, no broker has an inactive subscription."""
    return m.logic.implies(m.logic.all_of(m.is_quiet(), m.state.subs(b, s, x)), m.is_active(s))


@lemma(
    needs="adv_came_from_origin quiet_is_without_control heard_inward forgotten_or_queued origin_knows_what_is_active",
    induction=lambda m, b, a, x: AlongPath(lambda z: m.knows(z, a), b, m.origin(a)),
)
def no_residue_of_advertisements(m: Moment, b: Broker, a: Adv, x: Broker) -> Truth:
    """When it is quiet, no broker has an inactive advertisement."""
    return m.logic.implies(m.logic.all_of(m.is_quiet(), m.state.advs(b, a, x)), m.is_advertised(a))


@lemma(
    needs="owed_was_pledged copy_ahead owed_is_delivered_at_home",
    induction=lambda m, p, s: AlongPath(lambda z: m.ghosts.handled(z, p), m.source(p), m.home(s)),
)
def no_lost_delivery(m: Moment, p: Pub, s: Sub) -> Truth:
    """An owed publication is delivered by the time that no copy of it is left."""
    logic = m.logic
    gone = logic.every((ITEM, BROKER, BROKER), lambda i, x, y: logic.no(m.queued("pub", i, x, y, p)))
    return logic.implies(logic.all_of(m.state.owed(p, s), gone), m.state.delivered(p, s))


@lemma(needs="no_duplicate")
def delivered_once(m: Moment) -> Truth:
    """Nothing was delivered twice for one subscription."""
    return m.logic.no(m.state.duplicate())


@lemma(needs="precise")
def delivered_where_it_matches(m: Moment, p: Pub, s: Sub) -> Truth:
    """Every delivery matches."""
    return m.logic.implies(m.state.delivered(p, s), m.facts.matches(p, s))


SETTLED = {
    "none": "sent_is_candidate candidates_are_sent",
    "active": "sent_is_candidate candidate_is_covered nothing_sent_covers_another",
    "lazy": "sent_is_candidate candidate_is_covered",
}
"""By policy, what makes everything that is wanted sent: with more a broker is settled only once."""


def quiet_states(policy: str) -> Book:
    """The hypotheses on quiet states under a policy."""
    needs = {
        quiet.AGREEMENT: "agreement came_from_home sent_away_from_home",
        quiet.SETTLED: SETTLED[policy],
        quiet.FLOODED: "known_everywhere_when_quiet",
        quiet.NO_STALE_ADVERTISEMENT: "no_residue_of_advertisements adv_came_from_origin",
        quiet.SUBSCRIBED: "home_has_what_is_active",
        quiet.NO_STALE_SUBSCRIPTION: "home_has_what_is_active came_from_home queues_are_on_links",
    }
    book = Book()
    for hypothesis in quiet.QUIET:
        short = hypothesis.partition(":")[0]
        book.lemmas[f"{policy} / {short}"] = _lemma(policy, hypothesis, f"{policy} / {short}", needs[hypothesis])
    return book


def _lemma(policy: str, hypothesis: str, name: str, needs: str) -> Lemma:
    def clause_at(m: Moment, *terms: Term) -> Truth:
        scene = Scene(m.logic, m.tree, m.facts, m.state, policy)
        clause = quiet_holds(scene)[hypothesis]
        return m.logic.implies(m.is_quiet(), lambda: clause.at(*terms))

    sorts = _SORTS[hypothesis]
    return Lemma(name, f"When it is quiet: {hypothesis}.", sorts, clause_at, names(needs))


_SORTS = {name: clause.sorts for name, clause in quiet_holds(quiet.any_scene("none")).items()}
