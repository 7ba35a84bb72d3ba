"""A trace with its replay, and the changes of each step in tables and ghosts, as every format shows them; the diagram.

Strings that come from a file are made printable here.

A diagram is Mermaid's; its first line is a comment that says what the trace is. A message is drawn where it is received
(or where it is sent, in a trace that observes no receiving). Names and labels come from files that anybody may have
written: each becomes plain text, since every character that Mermaid or a browser could take for its own is written as
an entity.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator

from attrs import frozen

from routeproof.checker.counterexamples import Counterexample, Replay
from routeproof.checker.system.terminal import count, printable
from routeproof.checker.wings import Changes, Row, wing_of
from routeproof.model.fields import types_of, values_of
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables
from routeproof.model.world import State, Step, World, deliveries
from routeproof.traces import Event, Trace, describe


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


def by_parts(parts: Callable[[World, Hashable], Iterable[tuple[str, list[str]]]]) -> Changes:
    """Returns how `show` says what a step changed in a local state whose `parts` are words by name."""

    def changes(world: World, me: str, old: Hashable, new: Hashable) -> Iterator[Row]:
        before, after = dict(parts(world, old)), dict(parts(world, new))
        for name in dict.fromkeys((*before, *after)):
            if before.get(name, []) != after.get(name, []):
                yield f"{me} {name}", difference(before.get(name, []), after.get(name, []))

    return changes


def ghost_changes(world: World, step: Step, before: State) -> Iterator[Row]:
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


SHOWN = 500
"""Events that are drawn; a diagram of more cannot be read, and Mermaid refuses to draw it."""

LABEL = 120
"""Characters in a label."""

PLAIN = re.compile(r"[^A-Za-z0-9 ().,_+=-]")


def mermaid(shown: Shown) -> str:
    trace = shown.trace
    events = [e for e in trace.events if e.event not in ("snapshot", "restart")][:SHOWN]
    who = _Participants(trace, events)
    observed = trace.header.observes or [e.event for e in events]
    received = "receive" in observed
    lines = ["sequenceDiagram", *who.lines]
    if shown.is_false:
        lines.append(f"Note over {who.everyone}: {label(shown.title)}")
    for event in events:
        lines += _line(event, who, received)
    if len(events) == SHOWN:
        lines.append(f"Note over {who.everyone}: only the first {SHOWN} events are drawn")
    if trace.bad:
        lines.append(f"Note over {who.everyone}: {count(len(trace.bad), 'line')} could not be read")
    if shown.replay is not None and not shown.is_false and shown.replay.counterexample.property is not None:
        end = f"{fate(shown.replay.counterexample)}: {ending(shown.replay)}"
        lines.append(f"Note over {who.everyone}: {label(end)}")
    return f"%% {plain(shown.title)}\n" + "\n    ".join(lines) + "\n"


def plain(text: str) -> str:
    """The text with every character as an entity that Mermaid or a browser may act on."""
    return PLAIN.sub(lambda found: f"#{ord(found[0])};", printable(text))


def label(text: str) -> str:
    """The beginning of a text, as plain text."""
    return plain(shortened(printable(text), LABEL)) or "-"


class _Participants:
    """Short safe names for brokers and clients, in the order of the overlay, each broker followed by its clients."""

    def __init__(self, trace: Trace, events: list[Event]) -> None:
        homes = {e.peer: e.broker for e in reversed(events) if _with_client(e) and e.peer}
        self.brokers: dict[str, str] = {}
        self.clients: dict[str, str] = {}
        self.lines: list[str] = []
        for i, broker in enumerate(_brokers(trace, events), start=1):
            # What is called b1 in the trace is called b1 in the diagram; any other name is only shown.
            id = self.brokers[broker] = broker if re.fullmatch(r"b[0-9]{1,9}", broker) else f"n{i}"
            self.lines.append(f"participant {id}" if id == broker else f"participant {id} as {label(broker)}")
            for client in sorted(c for c, home in homes.items() if home == broker):
                self.clients[client] = f"c{len(self.clients) + 1}"
                self.lines.append(f"actor {self.clients[client]} as {label(client)}")

    @property
    def everyone(self) -> str:
        """From the first to the last."""
        ends = (self.lines[0].split()[1], self.lines[-1].split()[1])
        return ",".join(dict.fromkeys(ends))


def _brokers(trace: Trace, events: list[Event]) -> list[str]:
    seen = {name for e in events for name in (e.broker, "" if _with_client(e) else e.peer) if name}
    linked = [name for link in trace.header.overlay for name in link]
    if len(linked) > SHOWN:
        linked = [name for name in linked if name in seen]
    return list(dict.fromkeys([*linked, *sorted(seen)])) or ["b1"]


def _with_client(event: Event) -> bool:
    return event.event in ("client", "deliver")


def _line(event: Event, who: _Participants, received: bool) -> Iterator[str]:
    me = who.brokers[event.broker]
    about = label(describe(event.message)) if event.message is not None else ""
    match event.event:
        case "client":
            over = f"{who.clients[event.peer]},{me}" if event.peer else me
            message = event.message
            what = "" if message is None else f"{message.kind}({', '.join(item.id for item in message.items)})"
            yield f"Note over {over}: {label(what)}"
        case "deliver":
            yield f"{me}-->>{who.clients[event.peer]}: {about}"
        case "receive":
            yield f"{who.brokers[event.peer]}->>{me}: {about}"
        case "send" if not received:
            yield f"{me}->>{who.brokers[event.peer]}: {about}"
        case "drop":
            yield f"{who.brokers[event.peer]}-x{me}: {about} is lost"
        case "crash":
            yield f"Note over {me}: crashes, and begins again with empty tables"
        case "note":
            over = f"{who.brokers[event.peer]},{me}" if event.peer in who.brokers else me
            yield f"Note over {over}: {label(event.text)}"
