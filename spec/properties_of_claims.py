"""What papers claim and what does not hold: properties of no policy, each with a counterexample that shows it.

They differ from what does hold (`properties_of_pruning`) in one hypothesis each. No check asks them; the registry of
claims (`claims`) names them, and replay puts them to its traces.
"""

from __future__ import annotations

from typing import Any

from routeproof.model.history import History, Ledger
from routeproof.model.messages import Publication, Subscription
from routeproof.model.overlay import LOCAL, Link, Node
from routeproof.model.pruning_state import PruningTables
from routeproof.spec.properties_of_pruning import wrong_row
from routeproof.spec.property import OK, Answer, Property
from routeproof.spec.similarity import Past


def similarity_in_tables(ledger: Ledger, link: Link, near: PruningTables, far: PruningTables) -> Answer:
    """Property 3 where "something else" is what is in a broker's table: it does not decrease over a link."""
    exercised = False
    for s, x in near.subs:
        for a in (a for a, y in near.advs if y == link[1] and x != link[1] and s in near.sent_to(link[1])):
            mine = [p for p in ledger.instance.publications if p.of == a.id and s.filter.matches(p.event)]
            here, there = (sum(_is_matched(tables, s, p) for p in mine) for tables in (near, far))
            exercised = exercised or bool(mine)
            if here > there:
                return f"of {len(mine)} publications of {a} that {s} matches, {link} have {here} and {there} similar"
    return OK if exercised else None


def _is_matched(tables: PruningTables, s: Subscription, p: Publication) -> bool:
    return any(t.filter.matches(p.event) for t, _ in tables.subs if t != s)


def statistics_at_publisher(ledger: Ledger, node: Node, tables: PruningTables, history: History) -> Answer:
    """Equation 3 at the publisher's broker too."""
    return wrong_row(ledger, node, tables, history, to_publisher=True)


def statistics_while_changing(ledger: Ledger, node: Node, tables: PruningTables, history: History) -> Answer:
    """Equation 3 of all rows, whatever has changed since they were noted."""
    return wrong_row(ledger, node, tables, history, fair=False)


def statistics_of_all_entries(ledger: Ledger, node: Node, tables: PruningTables, history: History) -> Answer:
    """Equation 3 whichever entries of a table are counted."""
    return wrong_row(ledger, node, tables, history)


def statistics_beside_retained(ledger: Ledger, node: Node, tables: PruningTables, history: History) -> Answer:
    """Equation 3 where something that matches was withdrawn before."""
    return wrong_row(ledger, node, tables, history, beside_withdrawn=True)


def false_positives_always(ledger: Ledger, node: Node, tables: PruningTables, history: History) -> Answer:
    """The least threshold bounds false positives for as long as a subscription is kept, not only at its withdrawal."""
    least = min(ledger.instance.parameters(ledger.policy).thresholds)
    exercised = False
    for s, x in tables.subs:
        if x == LOCAL or ledger.issue(s.rank, history.done) is not None:
            continue
        subscriber = ledger.instance.subscribers[s.rank]
        for advertiser in ledger.instance.advertisers:
            past = Past(ledger, history, s.rank, advertiser, subscriber.at)
            if past.matched and node in past.path:
                exercised = True
                if not past.reaches(past.path.index(node), least):
                    return f"{node} keeps {s}, of whose {len(past.matched)} publications others match too few now"
    return OK if exercised else None


def triggered_at_most_active(*_: Any) -> Answer:
    """Where all settles after each operation, withdrawals trigger no more subscriptions than under active covering."""
    raise AssertionError("TriggeredAtMostActive is a property of a whole run: `checker.settled` decides it")


CLAIMED = (
    Property.of("SimilarityInTables", "always", "link", (), similarity_in_tables),
    Property.of("StatisticsAtPublisher", "always", "record", (), statistics_at_publisher),
    Property.of("StatisticsWhileChanging", "always", "record", (), statistics_while_changing),
    Property.of("StatisticsOfAllEntries", "always", "record", (), statistics_of_all_entries),
    Property.of("StatisticsBesideRetained", "always", "record", (), statistics_beside_retained),
    Property.of("FalsePositivesAlways", "always", "record", (), false_positives_always),
    Property.of("TriggeredAtMostActive", "always", "settled", (), triggered_at_most_active),
)
