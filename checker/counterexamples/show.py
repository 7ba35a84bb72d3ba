"""Showing a trace to people: `read(path)`, then one of `FORMATS` makes text of it.

A counterexample is replayed first: the steps shown are those that happen. If it does not reproduce, the first line says
so in every format. As text, for a terminal of a hundred columns: the instance, then each step with the rules that
fired, what was sent and delivered, what changed in the broker's tables and in the ghosts, and in the end what is wrong.
Any other trace is a recorded run, shown event by event. To add a format, write a function from `Shown` to text that
begins with `Shown.title`, and list it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from routeproof.checker.counterexamples import Replay, is_counterexample, read_named, replay_trace
from routeproof.checker.counterexamples.record import link_fault
from routeproof.checker.counterexamples.shown import Shown, ending, fate, ghost_changes, mermaid, table_changes
from routeproof.checker.system.errors import unknown
from routeproof.checker.system.terminal import count, printable
from routeproof.checker.wings import Row, wing_of
from routeproof.model.messages import client_of, describe
from routeproof.model.overlay import LOCAL
from routeproof.model.protocols import MUTANTS
from routeproof.model.world import Step, World
from routeproof.traces import BadLine, Event, Header
from routeproof.traces import describe as describe_in_trace

DRAWN = 64
"""Brokers; more of them are counted and not drawn."""

Neighbours = dict[str, list[str]]

WIDTH = 100


def draw(links: Sequence[tuple[str, str]]) -> list[str]:
    """Lines of text. What is no tree, which a foreign trace may say, is listed link by link."""
    near: Neighbours = {}
    for u, v in links:
        near.setdefault(u, []).append(v)
        near.setdefault(v, []).append(u)
    if not near:
        return ["a single broker"]
    if len(near) > DRAWN:
        return [f"{count(len(near), 'broker')}, {count(len(links), 'link')}"]
    from networkx import Graph, is_connected

    # A broker where the most links meet is the root; of a line, an end.
    degree = max(len(ends) for ends in near.values())
    root = next(b for b in near if len(near[b]) == (degree if degree > 2 else 1 if 1 in map(len, near.values()) else 2))
    if len(links) != len(near) - 1 or not is_connected(Graph(links)):
        return [", ".join(f"{u} -- {v}" for u, v in links)]
    return list(_tree(near, "", root, "", ""))


def _tree(near: Neighbours, parent: str, broker: str, first: str, rest: str) -> Iterator[str]:
    """A chain of brokers on one line, then a branch each for what forks at its end."""
    chain = [broker]
    children = [b for b in near[broker] if b != parent]
    while len(children) == 1:
        parent, broker = broker, children[0]
        chain.append(broker)
        children = [b for b in near[broker] if b != parent]
    yield first + " -- ".join(chain)
    indent = rest + " " * (sum(len(b) + 4 for b in chain[:-1]))
    for child in children:
        branch, below = ("`-- ", "    ") if child == children[-1] else ("+-- ", "|   ")
        yield from _tree(near, broker, child, indent + branch, indent + below)


def text(shown: Shown) -> str:
    if shown.replay is not None:
        about, body = _instance(shown.replay.counterexample.world), [*_steps(shown.replay), "", *_end(shown.replay)]
    else:
        about, body = _header(shown.trace.header), list(_columns(shown.trace.events))
    lines = [shown.title, "", *table(about), "", *body]
    if shown.trace.bad:
        lines = [*lines, "", *_unreadable(shown.trace.bad)]
    return "\n".join(printable(line).rstrip() for line in lines) + "\n"


def table(rows: Iterable[Row], indent: int = 2) -> Iterator[str]:
    """Two columns; what is too long for the second goes on under itself."""
    rows = [(printable(who), printable(what)) for who, what in rows]
    column = indent + 2 + max((len(who) for who, _ in rows), default=0)
    for who, what in rows:
        first, *more = _wrapped(what, WIDTH - column) or [""]
        yield f"{' ' * indent}{who:<{column - indent}}{first}"
        yield from (" " * column + line for line in more)


def _wrapped(what: str, width: int) -> list[str]:
    if len(what) <= width:
        return [what]  # as it is: a drawing has spaces that mean something
    return textwrap.wrap(what, max(width, 20), break_on_hyphens=False)


# -- a counterexample --------------------------------------------------------------------------------------------------


def _instance(world: World) -> Iterator[Row]:
    instance = world.instance
    if instance.about:
        yield "about", instance.about
    yield from _labelled("overlay", draw([(world.name(u), world.name(v)) for u, v in instance.overlay.edges]))
    for broker in instance.overlay.brokers:
        yield from _labelled(world.name(broker), list(_clients(world, broker)))
    if instance.faults.any:
        kinds = ("loss", "duplicate", "reorder", "crash")
        yield "faults", ", ".join(f"{n} {kind}" for kind in kinds if (n := getattr(instance.faults, kind)))
    yield "policy", world.policy
    yield from wing_of(world).about(world)
    if world.mutant is not None:
        mutant = MUTANTS[world.mutant]
        yield "mutant", f"{mutant.id}, which breaks {mutant.rule}: {mutant.about}"


def _labelled(label: str, lines: Sequence[str]) -> Iterator[Row]:
    for i, line in enumerate(lines):
        yield "" if i else label, line


def _clients(world: World, broker: int) -> Iterator[str]:
    instance = world.instance
    for a in instance.advertisers:
        if a.at == broker:
            may = ", may unadvertise" if a.unadvertises else ""
            yield f"{a.advertisement.id} advertises {a.advertisement.filter}{may}"
            mine = [p for p in instance.publications if p.of == a.advertisement.id]
            yield from (f"{p.id} publishes {p.event} under {p.of}" for p in mine)
    for s in instance.subscribers:
        if s.at == broker:
            may = ", may unsubscribe" if s.unsubscribes else ""
            yield f"{s.subscription.id} subscribes to {s.subscription.filter}{may}{wing_of(world).client(world, s)}"


# -- its steps ---------------------------------------------------------------------------------------------------------


def _steps(replay: Replay) -> Iterator[str]:
    world = replay.counterexample.world
    before, told = world.initial(), set[str]()
    # `_end` tells this one, unless the counterexample is false.
    known = None if replay.difference is not None else (replay.counterexample.property, len(replay.steps))
    blocks: list[tuple[str, list[Row], str]] = []
    for number, step in enumerate(replay.steps, start=1):
        rows = [*_happens(world, step), *table_changes(world, step, before), *ghost_changes(world, step, before)]
        for p, why in replay.violations[number]:
            if p.id not in told and (p, number) != known:  # shown where it begins, since it mostly lasts
                rows.append((f"! {p.id}", why))
                told.add(p.id)
        blocks.append((f"{number:>3}  {step.action.label}", rows, " ".join(sorted(step.outcome.rules, key=_by_number))))
        before = step.state
    yield from _aligned(blocks)


def _happens(world: World, step: Step) -> Iterator[Row]:
    """Rows of a step: the message that is taken, then those that are sent and delivered."""
    action, me = step.action, world.name(step.action.node)
    near, far = world.links[action.link] if action.link >= 0 else (LOCAL, LOCAL)
    if action.kind == "operation":
        yield f"{me} <- {client_of(step.message)}", describe(step.message)
    elif action.kind == "deliver":
        yield f"{me} <- {world.name(near)}", describe(step.message)
    elif action.kind == "crash":
        yield me, "crashes, and begins again with empty tables"
    else:
        yield f"{world.name(near)} -- {world.name(far)}", link_fault(step)
    for receiver, message in step.outcome.sends:
        if receiver == LOCAL:
            yield f"{me} => {client_of(message)}", describe(message)
        else:
            yield f"{me} -> {world.name(receiver)}", describe(message)


def _aligned(blocks: list[tuple[str, list[Row], str]]) -> Iterator[str]:
    """Three columns: the step's number and action, who, what; the rules at the right end of a step's first line."""
    left = max((len(action) for action, _, _ in blocks), default=0) + 3
    middle = max((len(who) for _, rows, _ in blocks for who, _ in rows if not who.startswith("!")), default=0) + 2
    for action, rows, rules in blocks:
        for i, (who, what) in enumerate(rows):
            room = WIDTH - left - max(middle, len(who) + 2)
            first, *more = _wrapped(what, room)
            line = f"{action if i == 0 else '':<{left}}{who:<{middle - 2}}  {first}"
            if i == 0 and rules:
                line = f"{line}  {rules:>{max(0, WIDTH - 2 - len(line))}}"
            yield line
            yield from (" " * (WIDTH - room) + each for each in more)


def _by_number(rule: str) -> tuple[str, int]:
    name, _, number = rule.partition("-")
    return name, int(number) if number.isdigit() else 0


def _end(replay: Replay) -> Iterator[str]:
    """Lines about the last state: the violation, what is in queues, and a recorded claim that does not reproduce."""
    case = replay.counterexample
    last = replay.steps[-1].state if replay.steps else case.world.initial()
    rows: list[Row] = []
    if replay.difference is not None:
        rows += [("claimed", f"{fate(case)}: {case.why}" if case.why else fate(case))] if case.property else []
        rows.append(("not reproduced", str(replay.difference)))
    elif case.property is not None:
        rows.append((fate(case), ending(replay)))
    world = case.world
    for (near, far), queue in zip(world.links, last.queues, strict=True):
        if queue:
            messages = ", ".join(map(describe, queue))
            rows.append(("in queues", f"{world.name(near)} -> {world.name(far)}: {messages}"))
    return table(rows)


# -- any other trace ---------------------------------------------------------------------------------------------------


def _header(header: Header) -> Iterator[Row]:
    yield "protocol", " ".join(part for part in (header.protocol, header.policy) if part)
    yield from _labelled("overlay", draw(header.overlay))
    yield "dialect", header.dialect
    if header.observes:
        by_broker = "; ".join(f"{broker}: {', '.join(kinds) or 'nothing'}" for broker, kinds in header.observed.items())
        yield "observes", by_broker or ", ".join(header.observes)


def _columns(events: Sequence[Event]) -> Iterator[str]:
    rows = [
        (printable(e.broker), str(e.seq), e.event, printable(e.peer), printable(" ".join(_message(e)))) for e in events
    ]
    widths = [min(24, max((len(row[i]) for row in rows), default=0)) for i in range(4)]
    left = 2 + sum(widths) + 2 * len(widths)
    for broker, seq, event, peer, about in rows:
        first, *more = _wrapped(about, WIDTH - left)
        columns = (f"{broker:<{widths[0]}}", f"{seq:>{widths[1]}}", f"{event:<{widths[2]}}", f"{peer:<{widths[3]}}")
        yield f"  {'  '.join(columns)}  {first}"
        yield from (" " * left + line for line in more)


def _message(event: Event) -> Iterator[str]:
    message = event.message
    if message is None:
        yield event.text
        return
    yield describe_in_trace(message)
    yield from (str(item.filter) for item in message.items if item.filter is not None)
    if message.event is not None:
        yield f"event {message.event}"


def _unreadable(bad: Sequence[BadLine]) -> Iterator[str]:
    yield f"{count(len(bad), 'line')} could not be read:"
    yield from table((f"line {line.number}" if line.number else "rows", line.reason) for line in bad)


FORMATS: dict[str, Callable[[Shown], str]] = {"text": text, "mermaid": mermaid}


def show(path: Path, format: str) -> str:  # noqa: A002 - the word of the command line
    """The trace in this file, ending in a line break."""
    refuse_unknown(format)
    return FORMATS[format](read(path))


def refuse_unknown(format: str) -> None:  # noqa: A002
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)


def read(path: Path) -> Shown:
    """The trace in a file, with its replay if it is a counterexample."""
    trace, where = read_named(path)
    return Shown(trace, replay_trace(trace, where) if is_counterexample(trace.header) else None)
