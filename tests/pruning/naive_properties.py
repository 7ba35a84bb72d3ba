"""The properties that pruning adds, as far as the text of `spec/pruning.md` defines them.

EquationOne and Similarity are not here: read cumulatively (SIM-6) both are true of any sets of events on any tree,
whatever brokers do. CriticalBroker is not here either: it would be a second search of one withdrawal.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from tests.naive.routing import LOCAL, State

if TYPE_CHECKING:
    from tests.pruning.naive import Pruning


def anchored(world: Pruning, state: State) -> bool:
    """True if what a broker has sent came from elsewhere or is retained, and what came from its clients is active."""
    subs, _ = world.active(state.done)
    now = {world.issue(s, state.done) for s in subs}
    for tables in state.brokers:
        came = dict(tables.subs)
        if any(came.get(s, u) == u and (u, s) not in tables.retained for u, s in tables.sent):
            return False
        if any(origin == LOCAL and s not in now for s, origin in tables.subs):
            return False
    return True


def purged(world: Pruning, state: State) -> bool:
    """True if all rows are of local subscriptions, of what their issue was delivered, and within the window."""
    for tables in state.brokers:
        for (s, a), rows in tables.rows:
            if (s, LOCAL) not in tables.subs or len(rows) > world.window:
                return False
            if s != world.issue(world.rank[s], state.done):
                return False
            for p, *_ in rows:
                if (p, world.rank[s]) not in state.delivered or world.instance.pubs[p][0] != a:
                    return False
    return True


def monotone_distances(world: Pruning, state: State) -> bool:
    """True if the distances of every list rise with the thresholds, and none leads beyond the publisher's broker."""
    lists: list[tuple[int, Any]] = []
    for (_, u), queue in zip(world.links, state.queues, strict=True):
        lists += [(u, m[2]) for m in queue if m[0] == "Unsub" and m[2] is not None]
    for b, tables in zip(world.brokers, state.brokers, strict=True):
        lists += [(b, cuts) for _, _, cuts in tables.held if cuts is not None]
    for b, cuts in lists:
        for a, distances in cuts:
            longest = len(world.path(b, world.instance.advs[a].home)) - 1 + world.beyond
            if list(distances) != sorted(distances) or any(longest < d < inf for d in distances):
                return False
    return True


def passes(world: Pruning, state: State, t: int, a: int, b: int) -> bool:
    """True if the way from the home of t to the publisher of a leads through b (SIM-6)."""
    return b in world.path(world.home(t, state.done), world.instance.advs[a].home)


def others(world: Pruning, state: State, s: int, p: int, b: int) -> bool:
    """True if p is matched by another active subscription whose way to the publisher leads through b."""
    subs, _ = world.active(state.done)
    a = world.instance.pubs[p][0]
    return any(t != s and world.matches_rank(t, p) and passes(world, state, t, a, b) for t in subs)


def undisturbed(world: Pruning, state: State, p: int, but: int | None = None) -> bool:
    """True if nothing that was withdrawn matches p, but for the last withdrawal."""
    return not any(op == "unsub" and s != but and world.matches_rank(s, p) for op, s in state.done)


def statistics_exact(world: Pruning, state: State) -> bool:
    """True if each fair row says mu or less exactly where another subscription comes in at B(mu) or before."""
    if world.counts != "elsewhere":
        return True
    for b, tables in zip(world.brokers, state.brokers, strict=True):
        for (s, a), rows in tables.rows:
            way = world.path(b, world.instance.advs[a].home)
            for row in rows:
                p, distance = row[0], world.step(world, b, tables).updated(row)[0]
                if p in state.more.fair and undisturbed(world, state, p):
                    for mu, at in enumerate(way[:-1]):
                        if (distance <= mu) != others(world, state, world.rank[s], p, at):
                            return False
    return True


def false_positive_bound(world: Pruning, state: State) -> bool:
    """True if others match at least the threshold of what a kept subscription matched; of two thresholds, the lower."""
    s = state.more.cut
    if s is None or world.counts != "elsewhere":
        return True
    seen = [p for p, t in state.delivered if t == s]
    if not all(undisturbed(world, state, p, s) for p in seen):
        return True
    number = world.issue(s, state.done)
    for b, tables in zip(world.brokers, state.brokers, strict=True):
        came = dict(tables.subs).get(number, LOCAL)
        if came == LOCAL:
            continue
        for a, origin in tables.advs:
            way = world.path(world.instance.subs[s].home, world.instance.advs[a].home)
            if origin != came and b in way:
                of = [p for p in seen if world.instance.pubs[p][0] == a]
                if of and len(of) <= world.window:
                    share = Fraction(sum(others(world, state, s, p, b) for p in of), len(of))
                    if share < Fraction(min(world.thresholds), 100):
                        return False
    return True


ALWAYS = {"MonotoneDistances": monotone_distances}
AT_REST = {
    "Anchored": anchored,
    "Purged": purged,
    "StatisticsExact": statistics_exact,
    "FalsePositiveBound": false_positive_bound,
}


def violated(world: Pruning, state: State) -> Iterable[str]:
    if state.more.astray:
        yield "ClientExact"
    yield from (name for name, holds in ALWAYS.items() if not holds(world, state))
    if world.quiet(state):
        yield from (name for name, holds in AT_REST.items() if not holds(world, state))
