"""A trace as text for a terminal of a hundred columns.

A counterexample: the instance, then each step with the rules that fired, what was sent and delivered, what changed in
the broker's tables and in the ghosts, and in the end what is wrong. Any other trace: its events, line by line.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from routeproof.checker.counterexample import Counterexample
from routeproof.checker.record import client_of, link_fault
from routeproof.checker.replay import Replay
from routeproof.checker.show.changes import ghost_changes, table_changes
from routeproof.checker.show.draw import draw
from routeproof.checker.show.shown import Shown, clean
from routeproof.model.instance import Instance
from routeproof.model.messages import describe
from routeproof.model.mutants import MUTANTS
from routeproof.model.overlay import LOCAL
from routeproof.model.world import State, Step, World
from routeproof.traces import BadLine, Event, Header, TraceMessage, broker_name
from routeproof.traces import describe as describe_in_trace

WIDTH = 100

Row = tuple[str, str]
"""Who, and what."""


def text(shown: Shown) -> str:
    lines = _counterexample(shown.replay) if shown.replay is not None else _events(shown)
    if shown.trace.bad:
        lines = [*lines, "", *_unreadable(shown.trace.bad)]
    return "\n".join(clean(line).rstrip() for line in lines) + "\n"


def table(rows: Iterable[Row], indent: int = 2) -> Iterator[str]:
    """Two columns; what is too long for the second goes on under itself."""
    rows = [(clean(who), clean(what)) for who, what in rows]
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


def _counterexample(replay: Replay) -> list[str]:
    """Title, instance, steps, end."""
    case = replay.counterexample
    return [
        _title(case),
        "",
        *table(_instance(case.world)),
        "",
        *_steps(replay),
        "",
        *_end(replay),
    ]


def _title(case: Counterexample) -> str:
    count = f"{len(case.run)} step{'' if len(case.run) == 1 else 's'}"
    what = f"a run of {count}"
    if case.property is not None:
        fate = "fails" if case.property.kind == "always" else "is reached"
        what = f"{case.property.id} {fate} after {count}"
    return f"{case.world.instance.name}: {what}"


def _instance(world: World) -> Iterator[Row]:
    instance = world.instance
    if instance.about:
        yield "about", instance.about
    yield from _labelled("overlay", draw([(broker_name(u), broker_name(v)) for u, v in instance.overlay.edges]))
    for broker in instance.overlay.brokers:
        yield from _labelled(broker_name(broker), list(_clients(instance, broker)))
    if instance.faults.any:
        kinds = ("loss", "duplicate", "reorder", "crash")
        yield "faults", ", ".join(f"{n} {kind}" for kind in kinds if (n := getattr(instance.faults, kind)))
    if instance.congestion:
        yield "congestion", ", ".join(map(broker_name, instance.congestion))
    yield "policy", world.policy
    if instance.readings:
        yield "readings", ", ".join(f"{key} = {reading(value)}" for key, value in instance.readings)
    if world.mutant is not None:
        mutant = MUTANTS[world.mutant]
        yield "mutant", f"{mutant.id}, which breaks {mutant.rule}: {mutant.about}"


def reading(value: object) -> str:
    """As an instance file has it."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def _labelled(label: str, lines: Sequence[str]) -> Iterator[Row]:
    for i, line in enumerate(lines):
        yield "" if i else label, line


def _clients(instance: Instance, broker: int) -> Iterator[str]:
    for a in instance.advertisers:
        if a.at == broker:
            may = ", may unadvertise" if a.unadvertises else ""
            yield f"{a.advertisement.id} advertises {a.advertisement.filter}{may}"
            mine = [p for p in instance.publications if p.of == a.advertisement.id]
            yield from (f"{p.id} publishes {p.event} under {p.of}" for p in mine)
    for s in instance.subscribers:
        if s.at == broker:
            may = ", may unsubscribe" if s.unsubscribes else ""
            may += f", then subscribe again at {broker_name(s.again)}" if s.again is not None else ""
            yield f"{s.subscription.id} subscribes to {s.subscription.filter}{may}"


# -- its steps ---------------------------------------------------------------------------------------------------------


def _steps(replay: Replay) -> Iterator[str]:
    world = replay.counterexample.world
    before, told = world.initial(), set[str]()
    known = (replay.counterexample.property, len(replay.steps))  # what `_end` says
    blocks: list[tuple[str, list[Row], str]] = []
    for number, step in enumerate(replay.steps, start=1):
        rows = [*_happens(world, step), *table_changes(world, step, before), *ghost_changes(world, step, before)]
        for p, why in replay.violations[number]:
            if p.id not in told and (p, number) != known:  # told where it begins, since it mostly lasts
                rows.append((f"! {p.id}", why))
                told.add(p.id)
        blocks.append((f"{number:>3}  {step.action.label}", rows, " ".join(sorted(step.outcome.rules, key=_by_number))))
        before = step.state
    yield from _aligned(blocks)


def _happens(world: World, step: Step) -> Iterator[Row]:
    """What is taken, then what is sent and delivered."""
    action, me = step.action, broker_name(step.action.node)
    near, far = world.links[action.link] if action.link >= 0 else (LOCAL, LOCAL)
    if action.kind == "operation":
        yield f"{me} <- {client_of(step.message)}", describe(step.message)
    elif action.kind == "deliver":
        yield f"{me} <- {broker_name(near)}", describe(step.message)
    elif action.kind == "crash":
        yield me, "crashes, and begins again with empty tables"
    else:
        yield f"{broker_name(near)} -- {broker_name(far)}", link_fault(step)
    for receiver, message in step.outcome.sends:
        if receiver == LOCAL:
            yield f"{me} => {client_of(message)}", describe(message)
        else:
            yield f"{me} -> {broker_name(receiver)}", describe(message)


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
    """What is wrong, and what is still on its way."""
    case = replay.counterexample
    last = replay.steps[-1].state if replay.steps else case.world.initial()
    rows: list[Row] = []
    if case.property is not None:
        ends = [why for p, why in replay.violations[-1] if p == case.property]
        fate = "fails" if case.property.kind == "always" else "is reached"
        rows.append((f"{case.property.id} {fate}", "; ".join(ends) or case.why or case.property.about))
    rows += [("in queues", line) for line in _queues(case.world, last)]
    if replay.difference is not None:
        rows.append(("not reproduced", str(replay.difference)))
    return table(rows)


def _queues(world: World, state: State) -> Iterator[str]:
    for (near, far), queue in zip(world.links, state.queues, strict=True):
        if queue:
            yield f"{broker_name(near)} -> {broker_name(far)}: {', '.join(describe(m) for m in queue)}"


# -- any other trace ---------------------------------------------------------------------------------------------------


def _events(shown: Shown) -> list[str]:
    header, events = shown.trace.header, shown.trace.events
    return [f"run {header.run}: {len(events)} events", "", *table(_header(header)), "", *_columns(events)]


def _header(header: Header) -> Iterator[Row]:
    yield "protocol", " ".join(part for part in (header.protocol, header.policy) if part)
    yield from _labelled("overlay", draw(header.overlay))
    yield "dialect", header.dialect
    if header.observes:
        yield "observes", ", ".join(header.observes)


def _columns(events: Sequence[Event]) -> Iterator[str]:
    rows = [(clean(e.broker), str(e.seq), e.event, clean(e.peer), clean(_about(e))) for e in events]
    widths = [min(24, max((len(row[i]) for row in rows), default=0)) for i in range(4)]
    left = 2 + sum(widths) + 2 * len(widths)
    for broker, seq, event, peer, about in rows:
        first, *more = _wrapped(about, WIDTH - left)
        columns = (f"{broker:<{widths[0]}}", f"{seq:>{widths[1]}}", f"{event:<{widths[2]}}", f"{peer:<{widths[3]}}")
        yield f"  {'  '.join(columns)}  {first}"
        yield from (" " * left + line for line in more)


def _about(event: Event) -> str:
    return event.text if event.message is None else " ".join(_message(event.message))


def _message(message: TraceMessage) -> Iterator[str]:
    yield describe_in_trace(message)
    yield from (str(item.filter) for item in message.items if item.filter is not None)
    if message.event is not None:
        yield f"event {message.event}"


def _unreadable(bad: Sequence[BadLine]) -> Iterator[str]:
    yield f"{len(bad)} line{'' if len(bad) == 1 else 's'} could not be read:"
    yield from table((f"line {line.number}", line.reason) for line in bad)
