"""The catalogue of properties: what must hold, each a pure function of a small part of a state.

`PROPERTIES` lists them, those of `spec/routing.md` and those of `spec/pruning.md` (`properties_of_pruning`). To add
one, write the function, add the row, and give it a mutant that it catches (CONTRIBUTING.md).
"""

from __future__ import annotations

from typing import Any

from routeproof.model.history import History, Ledger
from routeproof.model.instance import POLICIES
from routeproof.model.messages import Subscription
from routeproof.model.overlay import LOCAL, Link, Node
from routeproof.model.pruning_parameters import PRUNING
from routeproof.model.tables import Tables, by_id
from routeproof.spec.properties_of_claims import CLAIMED, equation_one, strictly_covers
from routeproof.spec.properties_of_pruning import (
    anchored,
    client_exact,
    critical_broker,
    false_positive_bound,
    monotone_distances,
    purged,
    similarity,
    some_below_cuts,
    some_between_cuts,
    some_beyond_cuts,
    some_pruning,
    some_retained_quenching,
    some_share,
    statistics_exact,
)
from routeproof.spec.property import OK, Answer, Property, Scope

__all__ = ["OK", "PROPERTIES", "Answer", "Property", "Scope", "properties_for"]

ALL = (*POLICIES, *PRUNING)
COVERING = ("active", "lazy", "packing")
CLEANED = ("active", "packing")
"""Policies under which a newly covered subscription is withdrawn where it went (COV-4)."""


# -- in every state ----------------------------------------------------------------------------------------------------


def no_lost_delivery(ledger: Ledger, history: History, tags: int) -> Answer:
    """Every p of which no copy is left in a queue has reached everyone to whom it is owed."""
    settled = [(p, s) for p, s in ledger.pairs(history.owed) if not tags >> (p + 1) & 1]
    lost = [(p, s) for p, s in settled if not history.delivered & ledger.pair(p, s)]
    if lost:
        return f"{_pair(ledger, lost[0])} is owed, not delivered, and no copy of it is left"
    return OK if settled else None


def no_duplicate(ledger: Ledger, history: History) -> Answer:
    """No client receives the same publication for the same subscription twice."""
    if history.duplicate:
        return "a publication was delivered twice for one subscription"
    return OK if history.delivered else None


def precise(ledger: Ledger, history: History) -> Answer:
    """Every delivery matches."""
    for p, s in ledger.pairs(history.delivered):
        if not ledger.instance.subscriptions[s].filter.matches(ledger.instance.publications[p].event):
            return f"{_pair(ledger, (p, s))} was delivered though it does not match"
    return OK if history.delivered else None


# -- where no control message is queued --------------------------------------------------------------------------------


def agreement(ledger: Ledger, link: Link, near: Tables, far: Tables) -> Answer:
    """What `near` has sent to `far` is exactly what `far` has from `near`."""
    sent = set(near.sent_to(link[1]))
    held = {s for s, x in far.subs if x == link[0]}
    for s in sorted(sent ^ held, key=by_id):
        if s in sent:
            return f"{link[0]} has sent {s} to {link[1]}, which does not have it from there"
        return f"{link[1]} has {s} from {link[0]}, which has not sent it"
    return OK if sent else None


def no_residue(ledger: Ledger, node: Node, tables: Tables, done: int) -> Answer:
    """No table holds what is no longer active."""
    subs, advs = ledger.active_subscriptions(done), ledger.active_advertisements(done)
    for s, _ in tables.subs:
        if not subs[s.rank]:
            return f"{node} still has subscription {s}, which is not active"
    for a, _ in tables.advs:
        if not advs[a.rank]:
            return f"{node} still has advertisement {a}, which is not active"
    return OK if tables.subs or tables.advs else None


def no_stray(ledger: Ledger, node: Node, tables: Tables, done: int) -> Answer:
    """Nothing stays forwarded to where no advertisement that it intersects lies."""
    for neighbour, told in tables.sent:
        there = [a.filter for a, x in tables.advs if x == neighbour]
        for s in told:
            if not any(f.overlaps(s.filter) for f in there):
                return f"{node} has sent {s} to {neighbour}, from where no advertisement came that it intersects"
    return OK if tables.sent else None


def compact(ledger: Ledger, node: Node, tables: Tables, done: int) -> Answer:
    """No two subscriptions from one neighbour of which one strictly covers the other."""
    if _is_lazy_below(ledger):
        return None
    remote = [(s, x) for s, x in tables.subs if x != LOCAL]
    pairs = [(t, s, x) for t, x in remote for s, y in remote if x == y and t != s]
    for t, s, x in pairs:
        if strictly_covers(t, s):
            return f"{node} has {t} and {s} from {x} though {t} covers {s}"
    return OK if pairs else None


def propagation_tree(ledger: Ledger, node: Node, tables: Tables, done: int) -> Answer:
    """PROP-1: a subscription is on exactly the paths from its home to the homes of the advertisements it intersects."""
    overlay, exercised = ledger.instance.overlay, False
    for s, home in _active(ledger, done):
        ends = _homes_of_intersecting(ledger, s, done)
        on_tree = node == home or any(node in overlay.path(home, end) for end in ends)
        expected = overlay.toward(node, home) if on_tree else None
        exercised = exercised or (on_tree and node != home)
        if tables.sub_from(s) != expected:
            return f"{node} has {s} from {tables.sub_from(s)}; its tree from {home} to {ends} wants {expected}"
    return OK if exercised else None


def propagation_path(ledger: Ledger, node: Node, tables: Tables, done: int) -> Answer:
    """PROP-2: a strictly covered subscription spans a path: each broker passes it on to one neighbour at most."""
    if _is_lazy_below(ledger):
        return None
    exercised = False
    active = _active(ledger, done)
    for s, home in active:
        if not any(strictly_covers(t, s) for t, _ in active):
            continue
        came_from = tables.sub_from(s)
        if came_from is None:
            continue
        if came_from != ledger.instance.overlay.toward(node, home):
            return f"{node} has {s} from {came_from}, which is not the way to its home {home}"
        onward = [n for n, told in tables.sent if s in told]
        exercised = exercised or bool(onward)
        if len(onward) > 1:
            return f"{node} passes the covered subscription {s} on to {onward}: its propagation forks"
    return OK if exercised else None


# -- sometimes ---------------------------------------------------------------------------------------------------------


def some_delivery(ledger: Ledger, history: History) -> Answer:
    """Something is delivered."""
    return OK if history.delivered else None


def some_obligation(ledger: Ledger, history: History) -> Answer:
    """Some publication is owed to somebody: otherwise no delivery can be lost."""
    return OK if history.owed else None


def some_quenching(ledger: Ledger, node: Node, tables: Tables, done: int) -> Answer:
    """A broker holds back a subscription that it would send without covering."""
    for neighbour in ledger.instance.overlay.neighbours(node):
        there = [a.filter for a, x in tables.advs if x == neighbour]
        told = tables.sent_to(neighbour)
        for s, x in tables.subs:
            if x != neighbour and s not in told and any(f.overlaps(s.filter) for f in there):
                return OK
    return None


def drains(*_: Any) -> Answer:
    """The transition graph has no cycle, and every maximal run ends with empty queues."""
    raise AssertionError("Drains is a property of the whole graph: an engine decides it")


def _is_lazy_below(ledger: Ledger) -> bool:
    """COV-6: nothing that was sent is withdrawn because something wider follows."""
    return ledger.policy in PRUNING and ledger.parameters.base == "lazy"


def _active(ledger: Ledger, done: int) -> list[tuple[Subscription, Node]]:
    """The subscriptions of now, each with its home of now: a client may have moved (PRN-15)."""
    ranks = range(len(ledger.instance.subscriptions))
    return [(s, ledger.home(rank, done)) for rank in ranks if (s := ledger.issue(rank, done)) is not None]


def _homes_of_intersecting(ledger: Ledger, s: Subscription, done: int) -> list[Node]:
    live = ledger.active_advertisements(done)
    advertisers = [a for a in ledger.instance.advertisers if live[a.advertisement.rank]]
    return sorted({a.at for a in advertisers if a.advertisement.filter.overlaps(s.filter)})


def _pair(ledger: Ledger, pair: tuple[int, int]) -> str:
    return f"({ledger.instance.publications[pair[0]]}, {ledger.instance.subscriptions[pair[1]]})"


PROPERTIES: dict[str, Property] = {
    p.id: p
    for p in (
        Property.of("NoLostDelivery", "always", "flight", ALL, no_lost_delivery),
        Property.of("NoDuplicate", "always", "history", ALL, no_duplicate),
        Property.of("Precise", "always", "history", ALL, precise),
        Property.of("ClientExact", "always", "history", PRUNING, client_exact),
        Property.of("Agreement", "always", "link", ALL, agreement),
        Property.of("NoResidue", "always", "node", POLICIES, no_residue),
        Property.of("Anchored", "always", "node", PRUNING, anchored),
        Property.of("Purged", "always", "record", PRUNING, purged),
        Property.of("NoStray", "always", "node", ALL, no_stray),
        Property.of("Drains", "always", "graph", ALL, drains),
        Property.of("Compact", "always", "node", (*CLEANED, *PRUNING), compact),
        Property.of("PropagationTree", "always", "node", ("none",), propagation_tree),
        Property.of("PropagationPath", "always", "node", (*CLEANED, *PRUNING), propagation_path),
        Property.of("MonotoneDistances", "always", "queue", PRUNING, monotone_distances),
        Property.of("EquationOne", "always", "history", PRUNING, equation_one),
        Property.of("Similarity", "always", "history", PRUNING, similarity),
        Property.of("StatisticsExact", "always", "record", PRUNING, statistics_exact),
        Property.of("FalsePositiveBound", "always", "record", PRUNING, false_positive_bound),
        Property.of("CriticalBroker", "always", "record", PRUNING, critical_broker),
        *CLAIMED,
        Property.of("SomeDelivery", "sometimes", "history", ALL, some_delivery),
        Property.of("SomeObligation", "sometimes", "history", ALL, some_obligation),
        Property.of("SomeQuenching", "sometimes", "node", (*COVERING, *PRUNING), some_quenching),
        Property.of("SomePruning", "sometimes", "node", PRUNING, some_pruning),
        Property.of("SomeRetainedQuenching", "sometimes", "node", PRUNING, some_retained_quenching),
        Property.of("SomeShare", "sometimes", "record", PRUNING, some_share),
        Property.of("SomeBelowCuts", "sometimes", "record", ("incremental",), some_below_cuts),
        Property.of("SomeBetweenCuts", "sometimes", "record", ("incremental",), some_between_cuts),
        Property.of("SomeBeyondCuts", "sometimes", "record", ("incremental",), some_beyond_cuts),
    )
}


def properties_for(policy: str) -> tuple[Property, ...]:
    """Those that are meant to hold under a policy."""
    return tuple(p for p in PROPERTIES.values() if policy in p.policies)
