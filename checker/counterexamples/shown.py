"""The content that every format shows: a trace with its replay, and the changes of a step in tables and ghosts.

Strings that come from a file are made printable here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from attrs import frozen

from routeproof.checker.counterexamples.replay import Counterexample, Replay
from routeproof.checker.system.terminal import count
from routeproof.checker.wings import wing_of
from routeproof.model.fields import types_of, values_of
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables
from routeproof.model.world import State, Step, World, deliveries
from routeproof.traces import Trace

Row = tuple[str, str]
"""Who, and what."""


@frozen
class Shown:
    """A trace and, if it is a counterexample, its replay."""

    trace: Trace
    replay: Replay | None = None

    @property
    def is_false(self) -> bool:
        """True if the trace is a counterexample that does not reproduce."""
        return self.replay is not None and not self.replay.reproduces

    @property
    def title(self) -> str:
        """The first line in every format: a claim is repeated only if the replay shows it."""
        if self.replay is None:
            return f"{self.trace.header.run}: a recorded run of {count(len(self.trace.events), 'event')}"
        case = self.replay.counterexample
        name = case.world.instance.name
        if self.replay.difference is not None:
            return f"{name}: does not reproduce: {self.replay.difference}"
        steps = count(len(case.run), "step")
        return f"{name}: {f'{fate(case)} after {steps}' if case.property else f'a run of {steps}'}"


def fate(case: Counterexample) -> str:
    """The claim about the last state, without the reason: `Agreement fails`."""
    p = case.property
    return "" if p is None else f"{p.id} {'fails' if p.kind == 'always' else 'is reached'}"


def ending(replay: Replay) -> str:
    """The reason that the replay, and not the file, gives for what its last state shows."""
    p = replay.counterexample.property
    ends = [why for violated, why in replay.violations[-1] if violated == p]
    return "; ".join(ends) or ("" if p is None else p.about)


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."


def difference(before: Iterable[str], after: Iterable[str]) -> str:
    """Both in their order, what came before what went."""
    old, new = list(before), list(after)
    return ", ".join([f"+{each}" for each in new if each not in old] + [f"-{each}" for each in old if each not in new])


def table_changes(world: World, step: Step, before: State) -> Iterator[Row]:
    """`b2 subs`: `+S from b1, -s from b1`; `b2 sent[b3]`: `+S -s`."""
    for node, old, new in zip(world.nodes, before.locals, step.state.locals, strict=True):
        if old == new:
            continue
        me = world.name(node)
        if isinstance(old, Tables) and isinstance(new, Tables):
            yield from _core_changes(world, node, old, new)
        yield from (wing_of(world).changes or by_fields)(world, me, old, new)


def _core_changes(world: World, node: Node, old: Tables, new: Tables) -> Iterator[Row]:
    me = world.name(node)
    for name, entries, changed in (("advs", old.advs, new.advs), ("subs", old.subs, new.subs)):
        if entries != changed:
            yield f"{me} {name}", difference(*([_entry(world, each) for each in table] for table in (entries, changed)))
    for neighbour in world.instance.overlay.neighbours(node):
        told, tells = old.sent_to(neighbour), new.sent_to(neighbour)
        if told != tells:
            yield f"{me} sent[{world.name(neighbour)}]", difference(map(str, told), map(str, tells))


def by_fields(world: World, me: str, old: Hashable, new: Hashable) -> Iterator[Row]:
    """`P buffer`: `+p`; what changed in the fields that are a protocol's own."""
    core = set(types_of(Tables)) if isinstance(old, Tables) else set()
    for name, value in values_of(new).items():
        before = getattr(old, name, None)
        if name not in core and value != before:
            if isinstance(value, tuple) and isinstance(before, tuple):
                yield f"{me} {name}", difference(map(str, before), map(str, value))
            else:
                yield f"{me} {name}", f"{before} -> {value}"


def ghost_changes(world: World, step: Step, before: State) -> Iterator[Row]:
    """Changes of what is owed and of what has been delivered."""
    old, new = before.history, step.state.history
    for name, pairs, changed in (("owed", old.owed, new.owed), ("delivered", old.delivered, new.delivered)):
        if pairs != changed:
            yield name, difference(_pairs(world, pairs), _pairs(world, changed))
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


def _entry(world: World, entry: tuple[Advertisement | Subscription, Node]) -> str:
    item, sender = entry
    return f"{item} {'local' if sender == LOCAL else 'from ' + world.name(sender)}"


def _pairs(world: World, mask: int) -> list[str]:
    instance = world.instance
    return [f"({instance.publications[p]}, {instance.subscriptions[s]})" for p, s in world.ledger.pairs(mask)]
