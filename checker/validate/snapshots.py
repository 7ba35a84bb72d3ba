"""Snapshots: what a trace says of a broker's tables, beside what the model knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables, by_id
from routeproof.traces import Entry, TraceTables


def differ(tables: Tables, told: TraceTables, name_of: Callable[[Node], str]) -> tuple[str, str] | None:
    """Where a snapshot and the model's tables differ: what the model has there, what the snapshot says."""
    known = TraceTables.of(tables, name_of)
    for part in ("advs", "subs", "sent"):
        ours, theirs = getattr(known, part), getattr(told, part)
        if theirs is None:
            continue
        if any(getattr(entry, "filter", 0) is None for entry in theirs):
            ours = getattr(known.without_filters(), part)
        if ours != theirs:
            return f"in {part}: {_shown(ours, theirs)}", f"in {part}: {_shown(theirs, ours)}"
    return None


def tables_of(told: TraceTables, neighbours: Mapping[str, Node], ranks: Mapping[str, int]) -> Tables | None:
    """The tables that a snapshot tells; None where it does not tell all of them, or none that a broker can have."""
    if told.advs is None or told.subs is None or told.sent is None:
        return None
    hops = {"": LOCAL, **neighbours}
    if any(entry.filter is None or entry.hop not in hops for entry in (*told.advs, *told.subs)):
        return None
    advs = [(_adv(entry, ranks), hops[entry.hop]) for entry in told.advs]
    subs = {entry.id: (_sub(entry, ranks), hops[entry.hop]) for entry in told.subs}
    sent: list[tuple[Node, tuple[Subscription, ...]]] = []
    for name, ids in told.sent:
        if name not in neighbours or any(id not in subs for id in ids):
            return None
        sent.append((neighbours[name], tuple(sorted((subs[id][0] for id in ids), key=by_id))))
    return Tables(
        tuple(sorted(advs, key=lambda e: by_id(e[0]))),
        tuple(sorted(subs.values(), key=lambda e: by_id(e[0]))),
        tuple(sorted(sent, key=lambda e: e[0])),
    )


def _adv(entry: Entry, ranks: Mapping[str, int]) -> Advertisement:
    assert entry.filter is not None, "asked before"
    return Advertisement(ranks.get(entry.id, 0), entry.id, entry.filter)


def _sub(entry: Entry, ranks: Mapping[str, int]) -> Subscription:
    assert entry.filter is not None, "asked before"
    return Subscription(ranks.get(entry.id, 0), entry.id, entry.filter)


def _shown(these: tuple[object, ...], those: tuple[object, ...]) -> str:
    """What only these have, shortly."""
    there = set(those)
    only = [each for each in these if each not in there]
    words = [f"{getattr(e, 'id', '') or e}" for e in only[:5]]
    return ", ".join(words) + (", ..." if len(only) > 5 else "") or "nothing more"
