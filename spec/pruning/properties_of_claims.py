"""Statements of papers that do not hold: properties of no policy, each with a counterexample that shows it.

They differ from what does hold (`properties`) in one hypothesis each. No check asks them; the claims of the package
name them, and replay puts them to its traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from routeproof.model.history import Ledger
from routeproof.model.messages import Publication, Publish, Subscription
from routeproof.model.overlay import LOCAL, Link, Node
from routeproof.model.pruning.vocabulary import PruningTables
from routeproof.spec.pruning.properties import in_scope, uncovered_without, wrong_row
from routeproof.spec.pruning.similarity import Past, pasts
from routeproof.spec.specification import OK, Answer, Property, Seen, strictly_covers

# -- similarity --------------------------------------------------------------------------------------------------------


def equation_one(ledger: Ledger, history: Seen) -> Answer:
    """Equation 1: a publication that a root and others match is matched by one that the root covers or only
    overlaps.
    """
    return _equation_one(ledger, history, of_roots=True)


def equation_one_of_all(ledger: Ledger, history: Seen) -> Answer:
    """Equation 1 of every subscription, covered or not."""
    return _equation_one(ledger, history, of_roots=False)


def _equation_one(ledger: Ledger, history: Seen, of_roots: bool) -> Answer:
    """Both sides, each as it is written: what any other matches, and what is in P(Sbar) or P(R)."""
    exercised = False
    live = ledger.active_subscriptions(history.done)
    for past in pasts(ledger, history):
        s = ledger.instance.subscriptions[past.rank]
        others = [t for t in ledger.instance.subscriptions if live[t.rank] and t != s]
        if of_roots and any(strictly_covers(t, s) for t in others):
            continue
        covered = [t for t in others if s.filter.covers(t.filter)]
        crossing = [t for t in others if t.filter.overlaps(s.filter) and not t.filter.covers(s.filter)]
        for p in past.matched:
            ranks = ledger.matching(p)
            matched, by_one = (any(t.rank in ranks for t in some) for some in (others, [*covered, *crossing]))
            exercised = exercised or matched
            if matched != by_one:
                return f"of what {s} matches something else matches {p}, and nothing that it covers or only intersects"
    return OK if exercised else None


def similarity_in_tables(ledger: Ledger, link: Link, near: PruningTables, far: PruningTables) -> Answer:
    """Property 3, where "another subscription" is one in a broker's table: similarity does not decrease over a link."""
    name = ledger.name
    exercised = False
    for s, x in near.subs:
        for a in (a for a, y in near.advs if y == link[1] and x != link[1] and s in near.sent_to(link[1])):
            mine = [p for p in ledger.instance.publications if p.of == a.id and s.filter.matches(p.event)]
            here, there = (sum(_is_matched(tables, s, p) for p in mine) for tables in (near, far))
            exercised = exercised or bool(mine)
            if here > there:
                found = f"{name(link[0])} and {name(link[1])} have {here} and {there} similar"
                return f"of {len(mine)} publications of {a} that {s} matches, {found}"
    return OK if exercised else None


def _is_matched(tables: PruningTables, s: Subscription, p: Publication) -> bool:
    return any(t.filter.matches(p.event) for t, _ in tables.subs if t != s)


# -- statistics --------------------------------------------------------------------------------------------------------


def count_of_others(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """The count of a row is the number of other matches that join below the publisher's broker."""
    exercised = False
    for row, p, past in in_scope(ledger, node, tables, history):
        others = sum(joins < len(past.path) - 1 for joins in past.joins_at(p))
        exercised = exercised or others > 0
        if row.count != others:
            s = ledger.instance.subscriptions[past.rank]
            return f"{ledger.name(node)} noted {p} for {s} with the count {row.count}; {others} others match"
    return OK if exercised else None


def few_where_counts_are_small(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """STA-8: if all counts are below `fewest`, fewer than `fewest` subscriptions are triggered. Only subscriptions that
    past publications matched are counted: counts cannot show others.
    """
    name = ledger.name
    fewest, exercised = ledger.parameters.fewest, False
    seen = list(in_scope(ledger, node, tables, history))
    for s in dict.fromkeys(s for s, _, _ in tables.rows):
        mine = [(row, p) for row, p, past in seen if past.rank == s.rank]
        if mine and max(row.count for row, _ in mine) < fewest:
            told = [n for n, sent in tables.sent if s in sent]
            triggered = {t for n in told for t in uncovered_without(tables, n, s)}
            known = [t for t in triggered if any(t.filter.matches(p.event) for _, p in mine)]
            exercised = exercised or bool(triggered)
            if len(known) >= fewest:
                return f"no count of {s} reaches {fewest}, and its withdrawal from {name(node)} triggers {len(known)}"
    return OK if exercised else None


# -- where a withdrawal ends -------------------------------------------------------------------------------------------


def critical_broker_exists(ledger: Ledger, history: Seen) -> Answer:
    """On the way to each publisher there is a broker at which the similarity reaches the greatest threshold."""
    most = max(ledger.parameters.thresholds)
    exercised = False
    for past in pasts(ledger, history):
        exercised = True
        if not past.reaches(len(past.path) - 1, most):
            s, a = ledger.instance.subscriptions[past.rank], past.advertiser.advertisement
            return (
                f"others match {len(past.similar(len(past.path) - 1))} of {len(past.matched)} of {a} that {s} matches"
            )
    return OK if exercised else None


def _kept(ledger: Ledger, tables: PruningTables, history: Seen) -> Iterator[tuple[Subscription, Past]]:
    """Subscriptions that are kept although they are not active, with their pasts, per advertiser."""
    for s, x in tables.subs:
        if x != LOCAL and ledger.issue(s.rank, history.done) is None:
            for advertiser in ledger.instance.advertisers:
                yield s, Past(ledger, history, s.rank, advertiser, ledger.instance.subscribers[s.rank].at)


def false_positives_always(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """The least threshold bounds false positives as long as a subscription is retained, not only at its withdrawal."""
    least, exercised = min(ledger.parameters.thresholds), False
    for s, past in _kept(ledger, tables, history):
        if past.matched and node in past.path:
            exercised = True
            if not past.reaches(past.path.index(node), least):
                many = len(past.matched)
                return f"{ledger.name(node)} keeps {s}, of whose {many} publications others match too few now"
    return OK if exercised else None


def false_positives_in_sum(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """The least threshold bounds false positives of all that is retained together, where it bounds those of each."""
    least, exercised = min(ledger.parameters.thresholds), False
    kept = [s for s, x in tables.subs if x != LOCAL and ledger.issue(s.rank, history.done) is None]
    for advertiser in ledger.instance.advertisers:
        pasts = [Past(ledger, history, s.rank, advertiser, ledger.instance.subscribers[s.rank].at) for s in kept]
        each = [
            past for past in pasts if past.matched and node in past.path and past.reaches(past.path.index(node), least)
        ]
        exercised = exercised or len(each) > 1
        matched = {p for past in each for p in past.matched}
        wanted = {p for past in each for p in past.similar(past.path.index(node))}
        if 100 * len(wanted) < least * len(matched):
            names = " and ".join(str(ledger.instance.subscriptions[past.rank]) for past in each)
            return (
                f"{ledger.name(node)} keeps {names}: of {len(matched)} publications of {advertiser.advertisement} that"
                f" they matched others match {len(wanted)}"
            )
    return OK if exercised else None


def false_positives_of_new(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """The least threshold also bounds false positives of advertisements that never published to the retained
    subscription.
    """
    least, exercised = min(ledger.parameters.thresholds), False
    for s, past in _kept(ledger, tables, history):
        a = past.advertiser.advertisement
        came = [p for p in _published(ledger, history, a.id) if s.filter.matches(p.event)]
        exercised = exercised or node in past.path
        if came and not past.matched and node in past.path:
            wanted = [p for p in came if any(node in way for way in past.ways(p))]
            if 100 * len(wanted) < least * len(came):
                return f"{ledger.name(node)} keeps {s}: of {len(came)} publications of {a} others match {len(wanted)}"
    return OK if exercised else None


def _published(ledger: Ledger, history: Seen, advertisement: str) -> list[Publication]:
    done = [o.message for o in ledger.operations if history.done & o.bit]
    return [m.publication for m in done if isinstance(m, Publish) and m.publication.of == advertisement]


def triggered_at_most_active(*_: Any) -> Answer:
    """If the network settles after each operation, withdrawals trigger no more subscriptions than under active
    covering.
    """
    raise AssertionError("TriggeredAtMostActive is a property of a whole run: `checker.settled` decides it")


PAST = ("local", "done", "delivered")
FAIR = (*PAST, "fair")


def _equation_3(id: str, about: str, reads: tuple[str, ...], **asked: Any) -> Property:
    """Equation 3, row by row, asked with less than its scope grants (`wrong_row`)."""
    return Property(id, "always", "node", (), about, partial(wrong_row, **asked), reads, quiet=True)


CLAIMED = (
    Property.of("EquationOneOfAll", "always", "world", (), equation_one_of_all, ("done", "delivered")),
    Property.of("SimilarityInTables", "always", "link", (), similarity_in_tables, ("local",)),
    _equation_3("StatisticsAtPublisher", "Equation 3 at the publisher's broker too.", FAIR, to_publisher=True),
    _equation_3(
        "StatisticsWhileChanging",
        "Equation 3 for all rows, whatever has changed since they were recorded.",
        PAST,
        fair=False,
    ),
    _equation_3(
        "StatisticsOfOtherBrokers",
        "Equation 3 for all rows of publications that nothing else at the subscriber's broker matches, now or then.",
        PAST,
        fair=False,
        others_only=True,
    ),
    Property.of("FalsePositivesInSum", "always", "node", (), false_positives_in_sum, PAST),
    _equation_3("StatisticsOfAllEntries", "Equation 3, whichever entries of a table are counted.", FAIR),
    _equation_3(
        "StatisticsBesideRetained",
        "Equation 3, although a matching subscription was withdrawn earlier.",
        FAIR,
        beside_withdrawn=True,
    ),
    Property.of("CountOfOthers", "always", "node", (), count_of_others, FAIR),
    Property.of("FewWhereCountsAreSmall", "always", "node", (), few_where_counts_are_small, FAIR),
    Property.of("CriticalBrokerExists", "always", "world", (), critical_broker_exists, ("done", "delivered")),
    Property.of("FalsePositivesOfNew", "always", "node", (), false_positives_of_new, PAST),
    Property.of("FalsePositivesAlways", "always", "node", (), false_positives_always, PAST),
    Property.of("TriggeredAtMostActive", "always", "settled", (), triggered_at_most_active),
)
