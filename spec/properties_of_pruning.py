"""What must hold of pruning beside what must hold of all routing; `properties` lists it with the rest.

Two kinds. Retained entries must hang together: whatever is in a table without being anybody's wish hangs on a broker
that retains it. And what brokers conclude from statistics must be what the history says (`similarity`), in the scope in
which it can be: statistics that were taken while nothing changed (the ghosts `fair` and `cut`), and nothing that was
withdrawn before and matches, since it may still be in a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from routeproof.model.history import History, Ledger
from routeproof.model.messages import Publication, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Link, Node
from routeproof.model.pruning_state import PruningTables, Row
from routeproof.model.tables import by_id
from routeproof.spec.property import OK, Answer
from routeproof.spec.similarity import Past, pasts

# -- clients -----------------------------------------------------------------------------------------------------------


def client_exact(ledger: Ledger, history: History) -> Answer:
    """Nothing is delivered to a client that has no such subscription any more."""
    if history.astray:
        return "something was delivered to a client that has withdrawn its subscription"
    return OK if history.delivered else None


# -- what is retained --------------------------------------------------------------------------------------------------


def anchored(ledger: Ledger, node: Node, tables: PruningTables, done: int) -> Answer:
    """What a broker has sent it has itself, or retains; what it has from its own clients is active."""
    advs = ledger.active_advertisements(done)
    for a, _ in tables.advs:
        if not advs[a.rank]:
            return f"{node} still has advertisement {a}, which is not active"
    for s, x in tables.subs:
        if x == LOCAL and ledger.issue(s.rank, done) != s:
            return f"{node} still has {s} from a client, which is not active"
    for neighbour, told in tables.sent:
        mine = {s for s, x in tables.subs if x != neighbour} | set(tables.retained_for(neighbour))
        for s in told:
            if s not in mine:
                return f"{node} has sent {s} to {neighbour}, does not have it and does not retain it"
    for neighbour, kept in tables.retained:
        for s in sorted(set(kept) - set(tables.sent_to(neighbour)), key=by_id):
            return f"{node} retains {s} for {neighbour}, which was not sent it"
        for s in drawn(tables, neighbour):
            if s in kept:
                return f"{node} retains {s} for {neighbour} and has it to send there at the same time"
    return OK if tables.sent else None


def purged(ledger: Ledger, node: Node, tables: PruningTables, done: int) -> Answer:
    """There are statistics of subscriptions of the broker's own clients only, and none from before they were issued."""
    for s, a, _ in tables.rows:
        if tables.sub_from(s) != LOCAL:
            return f"{node} has statistics of {s} with {a}, which is no subscription of its clients"
    return OK if tables.rows else None


def some_pruning(ledger: Ledger, node: Node, tables: PruningTables, done: int) -> Answer:
    """A broker retains what was withdrawn."""
    return OK if tables.retained else None


def some_retained_quenching(ledger: Ledger, node: Node, tables: PruningTables, done: int) -> Answer:
    """What is retained holds back an active subscription."""
    for neighbour, kept in tables.retained:
        told = tables.sent_to(neighbour)
        for s, x in tables.subs:
            if x != neighbour and s not in told and any(t.filter.covers(s.filter) for t in kept):
                return OK if ledger.issue(s.rank, done) == s else None
    return None


# -- lists in withdrawals ----------------------------------------------------------------------------------------------


def monotone_distances(ledger: Ledger, link: Link, queue: Iterable[object]) -> Answer:
    """CRD-4: distances rise with the thresholds, and none leads beyond the publisher's broker."""
    exercised = False
    strict = 0 if ledger.instance.parameters(ledger.policy).inclusive else 1  # CRD-3: "less than" is one more
    at = {a.advertisement.id: a.at for a in ledger.instance.advertisers}
    for message in (m for m in queue if isinstance(m, Unsubscribe)):
        for cut in message.cuts or ():
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


def similarity(ledger: Ledger, history: History) -> Answer:
    """Property 3: similarity does not decrease on the way to the publisher (cumulatively: SIM-6)."""
    exercised = False
    for past in pasts(ledger, history):
        shares = [len(past.similar(mu)) for mu in range(len(past.path))]
        exercised = exercised or shares[0] < shares[-1]
        if shares != sorted(shares):
            s, a = ledger.instance.subscriptions[past.rank], past.advertiser.advertisement
            return f"of {len(past.matched)} publications of {a} that {s} matches others match {shares} on the way"
    return OK if exercised else None


def statistics_exact(ledger: Ledger, node: Node, tables: PruningTables, history: History) -> Answer:
    """Equation 3, row by row: a distance is at most mu exactly where something else comes in at B(mu) or before."""
    return wrong_row(ledger, node, tables, history) if _counts_ahead(ledger) else None


def wrong_row(
    ledger: Ledger,
    node: Node,
    tables: PruningTables,
    history: History,
    fair: bool = True,
    beside_withdrawn: bool = False,
    to_publisher: bool = False,
) -> Answer:
    """The first row that says something else than the history; a claim asks with less than the scope grants."""
    exercised = False
    for row, p, past in in_scope(ledger, node, tables, history, fair, beside_withdrawn):
        last = len(past.path) - 1
        first = past.first_join(p)
        expected = last + 1 if first is None else first
        if not to_publisher:  # STA-1: nothing is reset at the publisher's own broker
            expected = min(expected, last)
        exercised = exercised or expected < last
        if row.distance != expected or (row.count > 0) != (expected < last):
            s, found = ledger.instance.subscriptions[past.rank], f"{row.distance} hops and {row.count} brokers"
            return f"{node} noted {p} for {s} with {found}; something else comes in after {expected} of {last}"
    return OK if exercised else None


def in_scope(
    ledger: Ledger,
    node: Node,
    tables: PruningTables,
    history: History,
    fair: bool = True,
    beside_withdrawn: bool = False,
) -> Iterator[tuple[Row, Publication, Past]]:
    """The rows of which something can be said: noted since the last change, and beside nothing that was withdrawn."""
    for s, a, rows in tables.rows:
        advertiser = next(x for x in ledger.instance.advertisers if x.advertisement.id == a)
        past = Past(ledger, history, s.rank, advertiser, node)
        for row in rows:
            p = next(p for p in ledger.instance.publications if p.id == row.publication)
            if fair and not history.fair >> p.rank & 1:
                continue
            if beside_withdrawn or not _was_withdrawn(ledger, history, s, [p]):
                yield row, p, past


def false_positive_bound(ledger: Ledger, node: Node, tables: PruningTables, history: History) -> Answer:
    """What a threshold promises: of what a kept subscription matched, no more than the rest was for nothing."""
    exercised = False
    for s, x in tables.subs:
        past_of = _cut_short(ledger, history, s)
        if past_of is None or x == LOCAL:
            continue
        for a, y in tables.advs:
            past = past_of.get(a.id)
            if past is None or y == x or node not in past.path:
                continue
            exercised = True
            mu, least = past.path.index(node), min(_thresholds(ledger))
            if not past.reaches(mu, least):
                return (
                    f"{node} keeps {s}: of {len(past.matched)} publications of {a} that it matched others match"
                    f" {len(past.similar(mu))}, under {least} percent"
                )
    return OK if exercised else None


def critical_broker(ledger: Ledger, node: Node, tables: PruningTables, history: History) -> Answer:
    """A withdrawal ends at the first broker at which the similarity to every publisher beyond reaches the threshold."""
    exercised = False
    for neighbour, kept in tables.retained:
        for s in kept:
            beyond = _beyond(ledger, tables, history, neighbour, s)
            if beyond:
                exercised = True
                mu = beyond[0].path.index(node)
                least = _threshold(ledger, node, tables, neighbour, s)
                if least is None or not all(past.reaches(mu, least) for past in beyond):
                    wanted = (
                        "ends nowhere" if least is None else f"goes on while the similarity is under {least} percent"
                    )
                    return f"the withdrawal of {s} ends at {node}; for what is triggered there it {wanted}"
    if history.cut and _always_ends(ledger):
        s = ledger.instance.subscriptions[history.cut - 1]
        passed = _beyond_the_hop_before(ledger, history, node, s) if tables.sub_from(s) is None else []
        most = max(ledger.instance.parameters(ledger.policy).thresholds)
        exercised = exercised or bool(passed)
        if passed and all(past.reaches(past.path.index(node) - 1, most) for past in passed):
            return f"the withdrawal of {s} came to {node}; one hop before the similarity is {most} percent"
    return OK if exercised else None


def _beyond(ledger: Ledger, tables: PruningTables, history: History, neighbour: Node, s: Subscription) -> list[Past]:
    """The pasts of s with all advertisements there that it intersects; none where one of them never published to it."""
    past_of = _cut_short(ledger, history, s) or {}
    there = [a.id for a, x in tables.advs if x == neighbour and a.filter.overlaps(s.filter)]
    return [past_of[a] for a in there] if all(a in past_of for a in there) else []


def _beyond_the_hop_before(ledger: Ledger, history: History, node: Node, s: Subscription) -> list[Past]:
    """The same for all that lies beyond the link over which s came, and its withdrawal for the sake of any of them.

    None where something else may have held s back before.
    """
    past_of = _cut_short(ledger, history, s) or {}
    done = history.done
    for t, on in zip(ledger.instance.subscriptions, ledger.active_subscriptions(done), strict=True):
        if on and t.filter.covers(s.filter):
            return []
    live = [a for a, on in zip(ledger.instance.advertisers, ledger.active_advertisements(done), strict=True) if on]
    home = ledger.instance.subscribers[s.rank].at
    there = [
        a.advertisement.id
        for a in live
        if a.advertisement.filter.overlaps(s.filter) and node in ledger.instance.overlay.path(home, a.at)[1:]
    ]
    return [past_of[a] for a in there] if all(a in past_of for a in there) else []


def _threshold(ledger: Ledger, node: Node, tables: PruningTables, neighbour: Node, s: Subscription) -> int | None:
    """PRN-2: the threshold that counts for what s quenches there; None where there is none."""
    parameters = ledger.instance.parameters(ledger.policy)
    if ledger.policy == "selective":
        return parameters.thresholds[0]
    toward_home = ledger.instance.overlay.toward(node, ledger.instance.subscribers[s.rank].at)
    others = {x for a, x in tables.advs if a.filter.overlaps(s.filter)} - {LOCAL, neighbour, toward_home}
    if parameters.base == "lazy" or (others and parameters.triggered == "broker"):
        return min(parameters.thresholds)  # what others were sent instead of s does not show any more
    some, many = parameters.cuts
    triggered = len(uncovered_without(tables, neighbour, s))
    return None if triggered < some else parameters.thresholds[0 if triggered >= many else 1]


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


# -- the scope in which statistics can be exact ------------------------------------------------------------------------


def _cut_short(ledger: Ledger, history: History, s: Subscription) -> dict[str, Past] | None:
    """Where the withdrawal of s was the last change and its statistics were fair: its past, by advertisement."""
    if history.cut != s.rank + 1 or ledger.issue(s.rank, history.done) is not None:
        return None
    home = ledger.instance.subscribers[s.rank].at
    found = (Past(ledger, history, s.rank, advertiser, home) for advertiser in ledger.instance.advertisers)
    past_of = {past.advertiser.advertisement.id: past for past in found if past.matched}
    beside_withdrawn = any(_was_withdrawn(ledger, history, s, past.matched) for past in past_of.values())
    return past_of if _counts_ahead(ledger) and not beside_withdrawn else None


def _counts_ahead(ledger: Ledger) -> bool:
    """Entries that travel the other way are left out (STA-5), equality is included, and the window is never full."""
    parameters = ledger.instance.parameters(ledger.policy)
    slides = parameters.window < len(ledger.instance.publications)
    return parameters.counts == "elsewhere" and parameters.inclusive and not slides


def _was_withdrawn(ledger: Ledger, history: History, s: Subscription, publications: Iterable[Publication]) -> bool:
    """Was another subscription withdrawn before that matches? It may be retained somewhere."""
    return any(t.filter.matches(p.event) for t in ledger.withdrawn(history.done) if t != s for p in publications)


def _thresholds(ledger: Ledger) -> tuple[int, ...]:
    return ledger.instance.parameters(ledger.policy).thresholds


def _always_ends(ledger: Ledger) -> bool:
    """Does a withdrawal end where the similarity reaches the greatest threshold, whatever is triggered? Not where no
    distance counts for small M (PRN-2), where it is full (STA-8), or where what is retained goes by itself (PRN-12).
    """
    parameters = ledger.instance.parameters(ledger.policy)
    always = parameters.fewest <= 1 if ledger.policy == "selective" else parameters.cuts[0] == 0
    return always and not parameters.collects
