"""Counterexamples as traces: a run of a world, written down in the format that any broker writes.

`record` gives the lines, `write_counterexample` puts them in a file. The header also carries all that a replay needs:
the instance, the policy, the mutant, the actions, and what is wrong at their end.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import cast

from routeproof.checker.runs import replay
from routeproof.checker.verdict import Finding
from routeproof.model.instance_file import to_table
from routeproof.model.messages import (
    Advertise,
    Congest,
    Deliver,
    Message,
    Publish,
    Relieve,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    describe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.world import Step, World
from routeproof.traces import broker_name, encode, event_row, header_row, save, to_text

Row = dict[str, object]

OBSERVES = ("client", "receive", "send", "deliver", "drop", "crash", "restart")


def record(world: World, run: Sequence[str], finding: Finding | None) -> list[Row]:
    """The header and the events of a run. `finding` is what its last state shows, if anything."""
    steps = replay(world, run)
    return [_header(world, run, finding, steps), *_events(world, steps)]


def write_counterexample(world: World, finding: Finding, directory: Path) -> Path:
    """Write the finding's run to a file whose name says what it is about; a different one there stays."""
    assert finding.run is not None, f"{finding.property} comes with no run"
    text = to_text(record(world, finding.run, finding))
    directory.mkdir(parents=True, exist_ok=True)
    stem, number = _name(world, finding), 1
    while True:
        path = directory / f"{stem}{f'-{number}' if number > 1 else ''}.jsonl"
        if save(path, text, replace=False) or path.read_bytes() == text.encode():
            return path
        number += 1


# -- the header --------------------------------------------------------------------------------------------------------


def _header(world: World, run: Sequence[str], finding: Finding | None, steps: list[Step]) -> Row:
    instance = world.instance
    return header_row(
        _name(world, finding),
        instance.protocol,
        world.policy,
        instance.overlay.edges,
        instance.dialect,
        OBSERVES,
        clock="shared",
        mutant=world.mutant,
        instance=to_table(instance),
        **({} if finding is None else _shown(world, finding, steps)),
        actions=list(run),
    )


def _shown(world: World, finding: Finding, steps: list[Step]) -> Row:
    """What the run's end shows. `cycle`: after how many steps its last state was there before."""
    if finding.kind == "sometimes":
        return {"witness": {"property": finding.property}}
    states = [world.initial(), *(step.state for step in steps)]
    first = states.index(states[-1])
    cycle = {"cycle": first} if first < len(steps) else {}
    return {"violation": {"property": finding.property, "why": finding.why, **cycle}}


def _name(world: World, finding: Finding | None) -> str:
    """Also the name of a file, so nothing in it may lead to another directory."""
    about = [] if finding is None else [finding.property]
    mutant = [] if world.mutant is None else [world.mutant]
    parts = [world.instance.protocol, world.instance.name, world.policy, *about, *mutant]
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", "-".join(parts)).lstrip(".")[:200]


# -- events ------------------------------------------------------------------------------------------------------------


def _events(world: World, steps: list[Step]) -> Iterator[Row]:
    """One count for all brokers: it rises within each, which is all that a trace asks for. Time goes by steps."""
    rows = ((time, row) for time, step in enumerate(steps, start=1) for row in _what_happened(world, step))
    for seq, (time, (broker, event, peer, more)) in enumerate(rows, start=1):
        yield event_row(broker_name(broker), seq, event, peer, **more, time=time)


def _what_happened(world: World, step: Step) -> Iterator[tuple[Node, str, str, Row]]:
    """Per event: the broker, the kind, the peer, and the rest."""
    action = step.action
    near, far = world.links[action.link] if action.link >= 0 else (LOCAL, LOCAL)
    match action.kind:
        case "operation":
            yield action.node, "client", client_of(step.message), {"message": _encode(step.message)}
        case "deliver":
            yield action.node, "receive", broker_name(near), {"message": _encode(step.message)}
        case "loss":
            yield far, "drop", broker_name(near), {"message": _encode(step.message)}
        case "crash":
            yield action.node, "crash", "", {}
            yield action.node, "restart", "", {}
        case _:
            yield far, "note", broker_name(near), {"text": link_fault(step)}
    for receiver, message in step.outcome.sends:
        event, peer = ("deliver", client_of(message)) if receiver == LOCAL else ("send", broker_name(receiver))
        yield action.node, event, peer, {"message": _encode(message)}


def link_fault(step: Step) -> str:
    """What happened on a link, in words."""
    what = describe(step.message)
    match step.action.kind:
        case "loss":
            return f"{what} is lost"
        case "duplicate":
            return f"{what} is copied; the copy goes to the end of the queue"
        case _:
            return f"{what} is overtaken by the message behind it"


def client_of(message: Hashable) -> str:
    """The client that says or hears this: each advertisement and each subscription has its own.

    What is said of a broker's own state is said by whoever drives it.
    """
    match message:
        case Advertise(a) | Unadvertise(a):
            return f"client-{a.id}"
        case Subscribe(s) | Unsubscribe(s) | Deliver(_, s):
            return f"client-{s.id}"
        case Publish(p):
            return f"client-{p.of}"
        case Congest() | Relieve():
            return "driver"
    raise TypeError(f"no client says or hears {message!r}")


def _encode(message: Hashable) -> Row:
    # A world's queues may hold whatever its protocol says; here they hold the routing core's messages.
    return encode(cast(Message, message))
