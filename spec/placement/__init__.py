"""Specification of placement (`spec/placement.md`): costs by definition, properties and rules.

The functions of costs walk the paths of every publication anew. They are slow on purpose: the local steps, vectors and
caches of POP and GRAPE are checked against them. The properties hold traces and profiles to the deliveries of a run,
and choices to the costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, permutations

from attrs import Factory, frozen

from routeproof.model.history import Ledger
from routeproof.model.instance import POLICIES, Advertiser
from routeproof.model.messages import Advertisement
from routeproof.model.overlay import LOCAL, Link, Node, Overlay
from routeproof.model.placement import vocabulary
from routeproof.spec.placement.claims import PLACEMENT_CLAIMS
from routeproof.spec.specification import LOSSLESS_DELIVERY, OK, Answer, Property, Rule, Seen, Specification, variants

# -- costs of a publisher's place, by definition -----------------------------------------------------------------------

Deliveries = Mapping[Node, Mapping[int, int]]
"""By broker and publication, the number of local subscribers that received it."""


@frozen
class Delays:
    """Processing and queueing at brokers, for a message that goes on to a neighbour, or to a client (`LOCAL`)."""

    of: Mapping[tuple[Node, Node], float]
    pings: Mapping[Node, float] = Factory(dict)
    """Times from the publisher to a broker."""


def hops(overlay: Overlay, weights: Mapping[Node, float], root: Node) -> float:
    """The hops from the root to every subscriber, in sum."""
    return sum(weight * (len(overlay.path(root, broker)) - 1) for broker, weight in weights.items())


def best_by_hops(overlay: Overlay, weights: Mapping[Node, float]) -> frozenset[Node]:
    """The brokers from which the hops in sum are least: the weighted medians of the tree."""
    cost = {broker: hops(overlay, weights, broker) for broker in overlay.brokers}
    return frozenset(broker for broker, each in cost.items() if each == min(cost.values()))


def message_rate(overlay: Overlay, deliveries: Deliveries, root: Node) -> int:
    """The input messages of all brokers for one session, if the publisher were at the root."""
    publications = {p for counts in deliveries.values() for p, many in counts.items() if many}
    return sum(
        len({b for broker, counts in deliveries.items() if counts.get(p) for b in overlay.path(root, broker)})
        for p in publications
    )


def mean_delay(overlay: Overlay, deliveries: Deliveries, delays: Delays, root: Node) -> float:
    """The mean delay of a delivery, if the publisher were at the root. 0 where nothing was delivered."""
    total, many = 0.0, 0
    for broker, counts in deliveries.items():
        path = overlay.path(root, broker)
        steps = [*pairwise(path), (broker, LOCAL)]
        local = sum(counts.values())
        total += local * (delays.pings.get(root, 0.0) + sum(delays.of[step] for step in steps))
        many += local
    return total / many if many else 0.0


# -- properties --------------------------------------------------------------------------------------------------------

States = Mapping[Node, vocabulary.PlacementTables]
Queues = Mapping[Link, Sequence[object]]
Delivered = Mapping[Node, Mapping[int, int]]
"""By broker and rank of a publication of one advertisement, the deliveries."""


def delivered_by(ledger: Ledger, a: Advertisement, mask: int) -> dict[Node, dict[int, int]]:
    """The deliveries of an advertisement's publications, by broker."""
    found: dict[Node, dict[int, int]] = {broker: {} for broker in ledger.instance.overlay.brokers}
    for p, s in ledger.pairs(mask):
        if ledger.instance.publications[p].of == a.id:
            counts = found[ledger.instance.subscribers[s].at]
            counts[p] = counts.get(p, 0) + 1
    return found


def profiles_true(ledger: Ledger, states: States, queues: Queues, seen: Seen) -> Answer:
    """At rest, profiles are the running averages of the deliveries behind each way that traced publications took."""
    if any(queues.values()) or not seen.spread:
        return None
    skips = _chosen(ledger).absent == "skipped"
    for advertiser in ledger.instance.advertisers:
        a = advertiser.advertisement
        delivered = delivered_by(ledger, a, seen.delivered)
        ranks = {p.rank for p in ledger.instance.publications if p.of == a.id}
        for broker, tables in states.items():
            rows = [
                _row(ledger.instance.overlay, broker, onward, p, delivered)
                for at, p, onward in seen.spread
                if at == broker and p in ranks
            ]
            profile = tables.of("profiles", a, vocabulary.Profile())
            found = {n: _value(x) for n, x in profile.averages}
            if profile.traces != len(rows):
                return f"broker {broker} has {profile.traces} traces of {a} in its profile; {len(rows)} came there"
            if not any(found == _averages(order, skips) for order in permutations(rows)):
                shown = ", ".join(f"{n}: {x}" for n, x in found.items())
                return f"the profile of {a} at broker {broker} is {shown}; the traces are {rows}"
    return OK


def _row(overlay: Overlay, broker: Node, onward: Sequence[Node], p: int, delivered: Delivered) -> dict[Node, int]:
    """A traced publication at a broker: the deliveries behind each neighbour that it went to, and here if any."""
    behind = {n: sum(delivered[b].get(p, 0) for b in overlay.side((n, broker))) for n in onward}
    here = delivered[broker].get(p, 0)
    return {**behind, LOCAL: here} if here else behind


def _averages(rows: Sequence[dict[Node, int]], skips: bool) -> dict[Node, Fraction]:
    """The running averages. A neighbour that got no publication counts as 0; under `absent = "skipped"`, not at all."""
    found: dict[Node, Fraction] = {}
    for row in rows:
        for neighbour in row if skips else {**found, **row}:
            found[neighbour] = _newer(found.get(neighbour), row.get(neighbour, 0))
    return found


def _newer(old: Fraction | None, newest: int) -> Fraction:
    return Fraction(newest) if old is None else Fraction(newest, 4) + Fraction(3, 4) * old


def _value(amount: vocabulary.Amount) -> Fraction:
    return Fraction(amount.parts, 4**amount.power)


def traces_end(ledger: Ledger, states: States, queues: Queues) -> Answer:
    """When no message is under way, no broker waits for a result or an answer."""
    if any(queues.values()):
        return None
    for broker, tables in states.items():
        if tables.traces or tables.retrievals or tables.asked:
            return f"broker {broker} waits for a result or an answer that will never come"
    return OK if any(tables.decisions for tables in states.values()) else None


def requests_go_on(ledger: Ledger, queues: Queues) -> Answer:
    """A relocation request comes to no broker twice."""
    exercised = False
    for (_, receiver), queue in queues.items():
        for message in queue:
            if isinstance(message, vocabulary.RelocationRequest):
                exercised = True
                if receiver in message.path:
                    return f"a request that has passed {message.path} comes to {receiver} again"
    return OK if exercised else None


def target_is_median(ledger: Ledger, states: States, seen: Seen) -> Answer:
    """After one trace, the target has the least hops in sum to all subscribers that got the publication."""
    if _chosen(ledger).algorithm != "pop":
        return None
    exercised = False
    for advertiser, decision in _decisions(ledger, states):
        a = advertiser.advertisement
        ranks = {p.rank for p in ledger.instance.publications if p.of == a.id}
        traced = [p for at, p, _ in seen.spread if at == advertiser.at and p in ranks]
        if len(traced) != 1:
            continue
        delivered = delivered_by(ledger, a, seen.delivered)
        weights = {b: float(counts.get(traced[0], 0)) for b, counts in delivered.items()}
        best = best_by_hops(ledger.instance.overlay, weights)
        exercised = True
        if sum(weights.values()) and decision.path[0] not in best:
            return f"the target of {a} is broker {decision.path[0]}; the least hops in sum are at {sorted(best)}"
        if decision.path != ledger.instance.overlay.path(decision.path[0], advertiser.at):
            return f"the path of the move of {a} is {decision.path}"
    return OK if exercised else None


def traces_true(ledger: Ledger, states: States, seen: Seen) -> Answer:
    """Answers of a session say what was delivered where, of every broker that got any of it, within the threshold."""
    exercised, most = False, _chosen(ledger).threshold
    for advertiser, decision in _decisions(ledger, states):
        if not decision.traces:
            continue
        exercised, a = True, advertiser.advertisement
        delivered = delivered_by(ledger, a, seen.delivered)
        first = ledger.instance.overlay.brokers if len(ledger.instance.publications) <= most else ()
        for trace in decision.traces:
            if trace.bits >> most:
                return f"broker {trace.broker} reports a bit beyond the {most} publications of the session of {a}"
            mine = delivered[trace.broker]
            if first and (trace.bits.bit_count(), trace.deliveries) != (len(mine), sum(mine.values())):
                return f"broker {trace.broker} reports {trace.bits:b} and {trace.deliveries}; delivered there: {mine}"
        reported = {trace.broker for trace in decision.traces}
        missing = [b for b in first if delivered[b] and b not in reported]
        if missing or len(reported) < len(decision.traces):
            return f"of the session of {a} {sorted(reported)} were reported; delivered also at {missing}"
    return OK if exercised else None


def choice_is_best(ledger: Ledger, states: States, seen: Seen) -> Answer:
    """With weight 100, GRAPE's target has the least message rate, or delay, of all brokers that answered."""
    chosen, exercised = _chosen(ledger), False
    for advertiser, decision in _decisions(ledger, states):
        if not decision.traces or chosen.weight != 100 or len(ledger.instance.publications) > chosen.threshold:
            continue
        exercised, a, overlay = True, advertiser.advertisement, ledger.instance.overlay
        delivered = delivered_by(ledger, a, seen.delivered)
        of_all = {b: sum(many.values()) for b, many in delivered.items()}
        costs = {
            b: message_rate(overlay, delivered, b)
            if chosen.metric == "load"
            else sum(many * len(overlay.path(b, at)) for at, many in of_all.items())
            for b in sorted(trace.broker for trace in decision.traces)
        }
        if costs[decision.path[0]] > min(costs.values()):
            return f"the target of {a} is broker {decision.path[0]}; the costs are {costs}"
    return OK if exercised else None


def forgotten(ledger: Ledger, states: States, queues: Queues) -> Answer:
    """When no message is under way, only first brokers keep something of a session that has ended."""
    if any(queues.values()):
        return None
    exercised = False
    for broker, tables in states.items():
        for session in tables.sessions:
            home = next(x.at for x in ledger.instance.advertisers if x.advertisement == session.advertisement)
            current = {s.number for s in states[home].sessions if s.advertisement == session.advertisement}
            if session.number not in current:
                return f"broker {broker} keeps the session {session.number} of {session.advertisement}, which has ended"
        exercised = exercised or any(decision.traces for _, decision in tables.decisions)
    return OK if exercised else None


def some_relocation(ledger: Ledger, states: States) -> Answer:
    """A publisher is to move."""
    return OK if any(len(d.path) > 1 for _, d in _decisions(ledger, states)) else None


def some_stay(ledger: Ledger, states: States) -> Answer:
    """A publisher is to stay where it is."""
    return OK if any(len(d.path) == 1 for _, d in _decisions(ledger, states)) else None


def _chosen(ledger: Ledger) -> vocabulary.PlacementParameters:
    return vocabulary.parameters_of(ledger.instance)


def _decisions(ledger: Ledger, states: States) -> Iterator[tuple[Advertiser, vocabulary.Decision]]:
    for advertiser in ledger.instance.advertisers:
        decision: vocabulary.Decision | None = states[advertiser.at].of("decisions", advertiser.advertisement, None)
        if decision is not None:
            yield advertiser, decision


PLACING = variants("placement", POLICIES)
AT_REST = ("locals", "queues")

PROPERTIES_OF_PLACEMENT = (
    Property.of("ProfilesTrue", "always", "world", PLACING, profiles_true, (*AT_REST, "delivered", "spread")),
    Property.of("TracesEnd", "always", "world", PLACING, traces_end, AT_REST),
    Property.of("RequestsGoOn", "always", "world", PLACING, requests_go_on, ("queues",)),
    Property.of("TargetIsMedian", "always", "world", PLACING, target_is_median, ("locals", "delivered", "spread")),
    Property.of("TracesTrue", "always", "world", PLACING, traces_true, ("locals", "delivered")),
    Property.of("ChoiceIsBest", "always", "world", PLACING, choice_is_best, ("locals", "delivered")),
    Property.of("SessionsForgotten", "always", "world", PLACING, forgotten, AT_REST),
    Property.of("SomeRelocation", "sometimes", "world", PLACING, some_relocation, ("locals",)),
    Property.of("SomeStay", "sometimes", "world", PLACING, some_stay, ("locals",)),
)


# -- rules -------------------------------------------------------------------------------------------------------------

RULES = Rule.table(
    "placement",
    ("POP-2", "some publications are traced", "004 III-A"),
    ("POP-3", "trace results go upstream", "004 III-A"),
    ("POP-4", "the two conditions of a result", "004 III-A", False),
    ("POP-5", "the profile", "004 III-A"),
    ("POP-6", "the beginning of a selection", "004 III-B"),
    ("POP-7", "the relocation request", "004 III-B"),
    ("POP-8", "the closest neighbour", "004 III-B", False),
    ("POP-9", "passing the request on", "004 III-B"),
    ("POP-10", "the outcome", "004 III-B"),
    ("GRP-1", "trace sessions", "004 IV-A"),
    ("GRP-2", "message ids", "004 IV-A", False),
    ("GRP-3", "the bit vector", "004 IV-A"),
    ("GRP-4", "requests for traces", "004 IV-A"),
    ("GRP-5", "aggregated answers", "004 IV-A"),
    ("GRP-6", "the candidates", "004 IV-B", False),
    ("GRP-7", "the delay of a candidate", "004 Alg. 1", False),
    ("GRP-8", "the message rate of a candidate", "004 Alg. 2", False),
    ("GRP-9", "vectors behind a link", "004 Alg. 3", False),
    ("GRP-10", "the choice", "004 IV-B"),
    ("GRP-11", "the ends of the weight", "004 IV-B", False),
)

SPECIFICATION = Specification(
    "placement",
    POLICIES,
    properties=PROPERTIES_OF_PLACEMENT,
    rules=RULES,
    claims=PLACEMENT_CLAIMS,
    adopts=(*LOSSLESS_DELIVERY, "Agreement", "NoResidue", "NoStray"),
)
