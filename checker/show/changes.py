"""What a step changed: in its broker's tables, and in the ghosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from routeproof.model.messages import Advertisement, Subscription, describe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning_state import PruningTables
from routeproof.model.tables import Tables
from routeproof.model.world import State, Step, World, deliveries
from routeproof.traces import broker_name

Row = tuple[str, str]
"""Who, and what."""


def table_changes(world: World, step: Step, before: State) -> Iterator[Row]:
    """`b2 subs`: `+S from b1, -s from b1`; `b2 sent[b3]`: `+S -s`."""
    for node, old, new in zip(world.nodes, before.locals, step.state.locals, strict=True):
        if old == new or not isinstance(old, Tables) or not isinstance(new, Tables):
            continue
        me = broker_name(node)
        for name, entries, changed in (("advs", old.advs, new.advs), ("subs", old.subs, new.subs)):
            if entries != changed:
                yield f"{me} {name}", _difference(map(_entry, entries), map(_entry, changed))
        for neighbour in world.instance.overlay.neighbours(node):
            told, tells = old.sent_to(neighbour), new.sent_to(neighbour)
            if told != tells:
                yield f"{me} sent[{broker_name(neighbour)}]", _difference(map(str, told), map(str, tells))
        if isinstance(old, PruningTables) and isinstance(new, PruningTables):
            yield from _pruning_changes(me, old, new, world.instance.overlay.neighbours(node))


def _pruning_changes(me: str, old: PruningTables, new: PruningTables, neighbours: Iterable[Node]) -> Iterator[Row]:
    for neighbour in neighbours:
        kept, keeps = old.retained_for(neighbour), new.retained_for(neighbour)
        if kept != keeps:
            yield f"{me} retained[{broker_name(neighbour)}]", _difference(map(str, kept), map(str, keeps))
    if old.rows != new.rows:
        yield f"{me} rows", _difference(_rows(old), _rows(new))
    if old.held != new.held:
        yield f"{me} held", _difference(*([describe(m) for _, m in tables.held] for tables in (old, new)))
    if old.congested != new.congested:
        yield me, "is congested" if new.congested else "is relieved"


def _rows(tables: PruningTables) -> list[str]:
    """`S of a: p 2` is one that was 2 hops from what else it matches, with its count where it has one."""
    return [
        f"{s} of {a}: {row.publication} {row.distance}{f' ({row.count})' if row.count else ''}"
        for s, a, rows in tables.rows
        for row in rows
    ]


def ghost_changes(world: World, step: Step, before: State) -> Iterator[Row]:
    """What is owed from now on, and what has been delivered."""
    old, new = before.history, step.state.history
    for name, pairs, changed in (("owed", old.owed, new.owed), ("delivered", old.delivered, new.delivered)):
        if pairs != changed:
            yield name, _difference(_pairs(world, pairs), _pairs(world, changed))
    again = _delivered_again(world, step, old.delivered)
    if again:
        yield "duplicate", f"{', '.join(again)} delivered before"


def _delivered_again(world: World, step: Step, delivered: int) -> list[str]:
    again = []
    for d in deliveries(step.outcome):
        pair = world.ledger.pair(d.publication.rank, d.subscription.rank)
        if delivered & pair:
            again.append(f"({d.publication}, {d.subscription})")
        delivered |= pair
    return again


def _entry(entry: tuple[Advertisement | Subscription, Node]) -> str:
    item, sender = entry
    return f"{item} {'local' if sender == LOCAL else 'from ' + broker_name(sender)}"


def _pairs(world: World, mask: int) -> list[str]:
    instance = world.instance
    return [f"({instance.publications[p]}, {instance.subscriptions[s]})" for p, s in world.ledger.pairs(mask)]


def _difference(before: Iterable[str], after: Iterable[str]) -> str:
    """Both in their order, what came before what went."""
    old, new = list(before), list(after)
    return ", ".join([f"+{each}" for each in new if each not in old] + [f"-{each}" for each in old if each not in new])
