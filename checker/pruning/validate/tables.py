"""Snapshots under pruning: their additional keys, and the model's tables in that form."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve

from routeproof.checker.validate.broker import comparison
from routeproof.model.messages import Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.messages import withdraw
from routeproof.model.pruning.state import PruningTables
from routeproof.model.tables import by_id
from routeproof.traces import Entry, TraceTables

PARTS = ("retained", "rows", "held", "congested")


def differ(tables: PruningTables, told: TraceTables, name_of: Callable[[Node], str]) -> tuple[str, str] | None:
    """Where a snapshot and the model's tables differ: what the model has there, what the snapshot says."""
    found = comparison.differ(tables, told, name_of)
    if found is not None:
        return found
    known = TraceTables.of(tables, name_of)
    for part in PARTS:
        ours, theirs = getattr(known, part), getattr(told, part)
        if theirs is None or ours == theirs:
            continue
        if getattr(known.without_filters(), part) != getattr(told.without_filters(), part):
            return f"in {part}: {_shown(ours, theirs)}", f"in {part}: {_shown(theirs, ours)}"
        if not _leaves_out_filters(told, part):
            return f"in {part}: other filters", f"in {part}: the same ids"
    return None


def _leaves_out_filters(told: TraceTables, part: str) -> bool:
    entries = [each for _, many in told.retained or () for each in many]
    if part == "held":
        entries = [each.entry for each in told.held or ()]
    return any(entry.filter is None for entry in entries)


def _shown(these: object, those: object) -> str:
    """Elements that only the first tuple has, in short."""
    if not isinstance(these, tuple) or not isinstance(those, tuple):
        return str(these).lower()
    only = [_named(each) for each in these if each not in those]
    return ", ".join(only[:5]) + (", ..." if len(only) > 5 else "") or ("nothing more" if these != () else "nothing")


def _named(each: object) -> str:
    match each:
        case (str(neighbour), tuple(entries)):
            return f"{' '.join(entry.id for entry in entries)} for {neighbour}"
        case (str(subscription), str(advertisement), tuple(rows)):
            shown = " ".join(f"{r.publication}:{r.distance},{r.count}" for r in rows[-5:])
            return f"{subscription} of {advertisement}: {shown}"
    entry = getattr(each, "entry", None)
    return f"the withdrawal of {entry.id}" if isinstance(entry, Entry) else str(each)


def tables_of(told: TraceTables, neighbours: Mapping[str, Node], ranks: Mapping[str, int]) -> PruningTables | None:
    """The tables that a snapshot tells; None where it does not tell all of them, or none that a broker can have."""
    if told.sent is None or told.retained is None or told.rows is None or told.held is None or told.congested is None:
        return None
    retained = dict(told.retained)
    if not set(retained) <= set(neighbours):
        return None
    beside = {name: {entry.id for entry in entries} for name, entries in retained.items()}
    if any(not ids <= set(dict(told.sent).get(name, ())) for name, ids in beside.items()):
        return None
    sent = tuple((name, tuple(id for id in ids if id not in beside.get(name, ()))) for name, ids in told.sent)
    core = comparison.tables_of(evolve(told, sent=tuple((n, ids) for n, ids in sent if ids)), neighbours, ranks)
    if core is None:
        return None
    known = {s.id: s for s, _ in core.subs}
    hops = {"": LOCAL, **neighbours}
    kept = [(neighbours[name], _all(entries, known, ranks)) for name, entries in retained.items()]
    held = [(hops.get(w.entry.hop), _subscription(w.entry, known, ranks), w.cuts) for w in told.held]
    rows = [(known.get(s), a, latest) for s, a, latest in told.rows]
    tables = PruningTables(core.advs, core.subs, core.sent, congested=told.congested)
    for neighbour, subscriptions in kept:
        if subscriptions is None:
            return None
        tables = tables.with_sent(neighbour, (*tables.sent_to(neighbour), *subscriptions))
        tables = tables.with_retained(neighbour, subscriptions)
    if any(hop is None or s is None for hop, s, _ in held) or any(s is None for s, _, _ in rows):
        return None
    in_order = sorted(((s, a, latest) for s, a, latest in rows if s), key=lambda row: (by_id(row[0]), row[1]))
    waiting = tuple((hop, withdraw(s, cuts)) for hop, s, cuts in held if hop is not None and s is not None)
    return evolve(tables, rows=tuple(in_order), held=waiting)


def _all(
    entries: tuple[Entry, ...], known: Mapping[str, Subscription], ranks: Mapping[str, int]
) -> tuple[Subscription, ...] | None:
    found = [_subscription(entry, known, ranks) for entry in entries]
    return None if any(s is None for s in found) else tuple(s for s in found if s is not None)


def _subscription(entry: Entry, known: Mapping[str, Subscription], ranks: Mapping[str, int]) -> Subscription | None:
    """The broker's subscription of this id or, if it knows none, the entry's own."""
    if entry.id in known and entry.filter in (None, known[entry.id].filter):
        return known[entry.id]
    return None if entry.filter is None else Subscription(ranks.get(entry.id, 0), entry.id, entry.filter)
