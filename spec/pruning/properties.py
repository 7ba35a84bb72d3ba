"""Properties of pruning in addition to those of all routing; `properties` lists it with the rest.

Two kinds. Retained entries must hang together: an entry in a table that no client wishes for hangs on a broker
that retains it. And the conclusions of brokers from statistics must agree with the history (`similarity`), in the scope
in which they can: statistics that were taken while nothing changed (the ghosts `fair` and `cut`), and nothing that was
withdrawn before and matches, since it may still be in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import SimpleNamespace

from routeproof.model.history import Ledger
from routeproof.model.messages import Publication, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Link, Node
from routeproof.model.pruning.vocabulary import PruningTables, Row, cuts_of
from routeproof.model.tables import by_id
from routeproof.spec.pruning.similarity import Hop, Past, last_withdrawal, pasts, was_withdrawn
from routeproof.spec.specification import OK, Answer, Seen

# -- clients -----------------------------------------------------------------------------------------------------------


def client_exact(ledger: Ledger, history: Seen) -> Answer:
    """Nothing is delivered to a client that no longer has the subscription."""
    if history.astray:
        return "a publication was delivered to a client that has withdrawn its subscription"
    return OK if history.delivered else None


# -- what is retained --------------------------------------------------------------------------------------------------


def anchored(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """A broker has every subscription that it has sent, or retains it; every one from its own clients is active."""
    name = ledger.name
    advs = ledger.active_advertisements(history.done)
    for a, _ in tables.advs:
        if not advs[a.rank]:
            return f"{name(node)} still has advertisement {a}, which is not active"
    for s, x in tables.subs:
        if x == LOCAL and ledger.issue(s.rank, history.done) != s:
            return f"{name(node)} still has {s} from a client, which is not active"
    for neighbour, told in tables.sent:
        mine = {s for s, x in tables.subs if x != neighbour} | set(tables.retained_for(neighbour))
        for s in told:
            if s not in mine:
                return f"{name(node)} has sent {s} to {name(neighbour)}, does not have it and does not retain it"
    for neighbour, kept in tables.retained:
        for s in sorted(set(kept) - set(tables.sent_to(neighbour)), key=by_id):
            return f"{name(node)} retains {s} for {name(neighbour)}, which was not sent it"
        for s in drawn(tables, neighbour):
            if s in kept:
                return f"{name(node)} retains {s} for {name(neighbour)} and has it to send there at the same time"
    return OK if tables.sent else None


def purged(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """Statistics are about subscriptions of the broker's own clients only, about publications that were delivered to
    them since they were issued, and have no more rows than the window."""
    window = ledger.parameters.window
    rank_of = {p.id: p.rank for p in ledger.instance.publications}
    for s, a, rows in tables.rows:
        if tables.sub_from(s) != LOCAL:
            return f"{ledger.name(node)} has statistics of {s} with {a}, which is no subscription of its clients"
        if len(rows) > window:
            return f"{ledger.name(node)} has {len(rows)} rows of {s} with {a}; the window is {window}"
        for row in rows:
            if not history.delivered & ledger.pair(rank_of[row.publication], s.rank):
                return (
                    f"{ledger.name(node)} has statistics of {s} with {row.publication}, which was not delivered to it"
                )
    return OK if tables.rows else None


def some_pruning(ledger: Ledger, node: Node, tables: PruningTables) -> Answer:
    """A broker retains a subscription that was withdrawn."""
    return OK if tables.retained else None


def some_retained_quenching(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """A retained subscription holds back an active one."""
    for neighbour, kept in tables.retained:
        told = tables.sent_to(neighbour)
        for s, x in tables.subs:
            if x != neighbour and s not in told and any(t.filter.covers(s.filter) for t in kept):
                return OK if ledger.issue(s.rank, history.done) == s else None
    return None


# -- lists in withdrawals ----------------------------------------------------------------------------------------------


def monotone_distances(ledger: Ledger, link: Link, queue: Iterable[object]) -> Answer:
    """CRD-4: distances rise with the thresholds, and none leads beyond the publisher's broker."""
    exercised = False
    strict = 0 if ledger.parameters.inclusive else 1  # CRD-3: "less than" is one more
    at = {a.advertisement.id: a.at for a in ledger.instance.advertisers}
    for message in (m for m in queue if isinstance(m, Unsubscribe)):
        for cut in cuts_of(message) or ():
            exercised = True
            finite = [d for d in cut.distances if d is not None]
            if finite != sorted(finite) or any(d is not None for d in cut.distances[len(finite) :]):
                return f"{message.subscription} is withdrawn from {cut.advertisement} at {cut.distances}: not ascending"
            left = len(ledger.instance.overlay.path(link[1], at[cut.advertisement])) - 1 + strict
            if any(d > left for d in finite):
                return (
                    f"{message.subscription} has {max(finite)} hops left to {cut.advertisement}, which is {left} away"
                )
    return OK if exercised else None


# -- similarity --------------------------------------------------------------------------------------------------------


def similarity(ledger: Ledger, history: Seen) -> Answer:
    """Property 3: similarity does not decrease on the way to the publisher (cumulatively: SIM-6)."""
    exercised = False
    for past in pasts(ledger, history):
        shares = [len(past.similar(mu)) for mu in range(len(past.path))]
        exercised = exercised or shares[0] < shares[-1]
        if shares != sorted(shares):
            s, a = ledger.instance.subscriptions[past.rank], past.advertiser.advertisement
            return f"of {len(past.matched)} publications of {a} that {s} matches others match {shares} on the way"
    return OK if exercised else None


def statistics_exact(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """Equation 3, row by row: a distance is at most mu if and only if another match joins at B(mu) or before."""
    ahead = ledger.parameters.counts == "elsewhere"
    return wrong_row(ledger, node, tables, history) if ahead else None


def wrong_row(
    ledger: Ledger,
    node: Node,
    tables: PruningTables,
    history: Seen,
    fair: bool = True,
    beside_withdrawn: bool = False,
    to_publisher: bool = False,
    others_only: bool = False,
) -> Answer:
    """The first row that says something else than the history; a claim asks with less than the scope grants."""
    name = ledger.name
    exercised = False
    for row, p, past in in_scope(ledger, node, tables, history, fair, beside_withdrawn):
        last = len(past.path) - 1
        first = past.first_join(p)
        expected = last + 1 if first is None else first
        if others_only and (expected == 0 or row.distance == 0):
            continue
        if not to_publisher:  # STA-1: nothing is reset at the publisher's own broker
            expected = min(expected, last)
        exercised = exercised or expected < last
        if row.distance != expected or (row.count > 0) != (expected < last):
            s, found = ledger.instance.subscriptions[past.rank], f"{row.distance} hops and {row.count} brokers"
            return f"{name(node)} noted {p} for {s} with {found}; something else comes in after {expected} of {last}"
    return OK if exercised else None


def in_scope(
    ledger: Ledger, node: Node, tables: PruningTables, history: Seen, fair: bool = True, beside_withdrawn: bool = False
) -> Iterator[tuple[Row, Publication, Past]]:
    """Returns the rows in scope: recorded since the last change, and without a withdrawn subscription that matches."""
    for s, a, rows in tables.rows:
        advertiser = next(x for x in ledger.instance.advertisers if x.advertisement.id == a)
        past = Past(ledger, history, s.rank, advertiser, node)
        for row in rows:
            p = next(p for p in ledger.instance.publications if p.id == row.publication)
            if fair and not history.fair >> p.rank & 1:
                continue
            if beside_withdrawn or not was_withdrawn(ledger, history, s, [p]):
                yield as_read(ledger, tables, row), p, past


def as_read(ledger: Ledger, tables: PruningTables, row: Row) -> Row:
    """STA-9: a row whose header was noted as it arrived, updated by all that the broker has now."""
    if row.came is None:
        return row
    event, hop = row.came
    far = hop if ledger.parameters.counts == "elsewhere" else None
    if sum(s.filter.matches(event) for s, x in tables.subs if x != far) > 1:
        return Row(row.publication, 0, row.count + 1)
    return Row(row.publication, row.distance + 1, row.count)


def false_positive_bound(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """The bound of a threshold: others match at least that share of the publications that a retained subscription
    matched."""
    name = ledger.name
    exercised, withdrawal = False, last_withdrawal(ledger, history)
    for s, x in tables.subs:
        if withdrawal is None or s != withdrawal.s or x == LOCAL:
            continue
        for a, y in tables.advs:
            past = withdrawal.past_of.get(a.id)
            if past is None or y == x or node not in past.path:
                continue
            exercised = True
            mu, least = past.path.index(node), min(_thresholds(ledger))
            if not past.reaches(mu, least):
                return (
                    f"{name(node)} keeps {s}: of {len(past.matched)} publications of {a} that it matched others match"
                    f" {len(past.similar(mu))}, under {least} percent"
                )
    return OK if exercised else None


def critical_broker(ledger: Ledger, node: Node, tables: PruningTables, history: Seen) -> Answer:
    """A withdrawal goes on if and only if the threshold that counts is not reached for a publisher beyond."""
    name = ledger.name
    way = _way(ledger, node, history)
    if not way:
        return None
    s, last = ledger.instance.subscriptions[history.cut - 1], way[-1]
    kept = tables.sub_from(s) is not None
    if kept == (not last.goes_on) or (not kept and ledger.parameters.collects):
        return OK  # PRN-12: what is retained may have gone by itself
    least = "no distance counts" if last.threshold is None else f"{last.threshold} percent count"
    others = " and ".join(f"{len(past.similar(last.mu))} of {len(past.matched)}" for past in last.beyond) or "nothing"
    return (
        f"{name(node)} {'still has' if kept else 'lost'} {s}, whose withdrawal has to {'go on' if kept else 'end'} at"
        f" {name(last.link[0])}: {last.triggered} triggered, so {least}, and others match {others}"
    )


def some_below_cuts(ledger: Ledger, node: Node, history: Seen) -> Answer:
    """So few are triggered that no distance counts: a withdrawal goes on where a threshold would end it."""
    _, greater = _thresholds(ledger)
    return _some_hop(ledger, node, history, lambda hop: hop.threshold is None and _would_end(ledger, hop, greater))


def some_between_cuts(ledger: Ledger, node: Node, history: Seen) -> Answer:
    """So many are triggered that the second distance counts: a withdrawal goes on where the first would end it."""
    lesser, greater = _thresholds(ledger)
    return _some_hop(
        ledger, node, history, lambda hop: hop.threshold == greater and hop.goes_on and _would_end(ledger, hop, lesser)
    )


def some_beyond_cuts(ledger: Ledger, node: Node, history: Seen) -> Answer:
    """So many are triggered that the first distance counts: a withdrawal ends where the second would lead on."""
    lesser, greater = _thresholds(ledger)
    return _some_hop(
        ledger,
        node,
        history,
        lambda hop: hop.threshold == lesser and not hop.goes_on and not _would_end(ledger, hop, greater),
    )


def some_share(ledger: Ledger, node: Node, history: Seen) -> Answer:
    """A withdrawal ends where others match as much as the threshold requires, and not all."""
    return _some_hop(ledger, node, history, lambda hop: not hop.goes_on and not _would_end(ledger, hop, 100))


def _some_hop(ledger: Ledger, node: Node, history: Seen, wanted: Callable[[Hop], bool]) -> Answer:
    """The last hop of the way to this broker, where there was one that publications say something about."""
    way = _way(ledger, node, history)
    return OK if way and way[-1].beyond and wanted(way[-1]) else None


def _way(ledger: Ledger, node: Node, history: Seen) -> tuple[Hop, ...]:
    """Way of the withdrawal that was the last change, toward a broker that had what is withdrawn."""
    return _known_way(ledger, node, history.done, history.delivered, history.cut) if history.cut else ()


@lru_cache(maxsize=1 << 12)
def _known_way(ledger: Ledger, node: Node, done: int, delivered: int, cut: int) -> tuple[Hop, ...]:
    """Returns the result by value, cached: five properties need it one after another."""
    withdrawal = last_withdrawal(ledger, SimpleNamespace(done=done, delivered=delivered, cut=cut))
    known = withdrawal is not None and withdrawal.was_at(node) and withdrawal.is_known()
    return tuple(withdrawal.way(node)) if withdrawal is not None and known else ()


def _would_end(ledger: Ledger, hop: Hop, threshold: int) -> bool:
    return hop.would_end(threshold, ledger.parameters.inclusive)


def uncovered_without(tables: PruningTables, neighbour: Node, s: Subscription) -> list[Subscription]:
    """SIM-8: what would have to be sent there if s were withdrawn from there."""
    sent = tables.sent_to(neighbour)
    pool = {*drawn(tables, neighbour), *tables.retained_for(neighbour)} - {s}

    def goes_first(t: Subscription, u: Subscription) -> bool:
        return (t not in sent, by_id(t)) < (u not in sent, by_id(u))

    def quenches(t: Subscription, u: Subscription) -> bool:
        return t.filter.covers(u.filter) and (not u.filter.covers(t.filter) or goes_first(t, u))

    return [u for u in pool if u not in sent and not any(quenches(t, u) for t in pool if t != u)]


def drawn(tables: PruningTables, neighbour: Node) -> list[Subscription]:
    """RTE-3: the candidates for a neighbour."""
    there = [a.filter for a, x in tables.advs if x == neighbour]
    return [s for s, x in tables.subs if x != neighbour and any(f.overlaps(s.filter) for f in there)]


def _thresholds(ledger: Ledger) -> tuple[int, ...]:
    found: tuple[int, ...] = ledger.parameters.thresholds
    return found
