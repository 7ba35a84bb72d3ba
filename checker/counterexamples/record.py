"""Counterexamples as traces: a run of a world, written down in the format that any broker writes.

`record` gives the lines, `write_counterexample` puts them in a file. The header also carries all that a replay needs:
the instance, the policy, the mutant, the actions, and what is wrong at their end.

Runs: the labels of actions, played in a world.

A run is a replay token: labels are equal on every machine, and a world is deterministic once each of its actions is
named. `replay` plays a run as it stands; `follow` plays what is left of one that was made for a larger world.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path

from routeproof.checker.evaluation import Finding
from routeproof.checker.system.errors import UsageError
from routeproof.model.filters.interface import quoted
from routeproof.model.instance_file import to_table
from routeproof.model.messages import Message, client_of, describe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.world import Action, State, Step, World
from routeproof.traces import encode, event_row, header_row, save, to_text


class NotEnabled(UsageError):
    """A run that cannot be played; the message names the first of its actions that cannot happen."""


def replay(world: World, run: Sequence[str]) -> list[Step]:
    return list(play(world, run))


def play(world: World, run: Sequence[str]) -> Iterator[Step]:
    state = world.initial()
    for number, label in enumerate(run, start=1):
        action = world.action_named.get(label)
        if action is None:
            raise NotEnabled(f"step {number}: {quoted(label)} is no action of this instance")
        if not world.enabled(state, action):
            raise NotEnabled(f"step {number}: {quoted(label)} cannot happen here: {_obstacle(world, state, action)}")
        step = world.step(state, action)
        yield step
        state = step.state


def follow(world: World, run: Sequence[str]) -> Iterator[Step]:
    """Play what can be played of a run, and skip the rest."""
    state = world.initial()
    for label in run:
        action = world.action_named.get(label)
        if action is not None and world.enabled(state, action):
            step = world.step(state, action)
            yield step
            state = step.state


def _obstacle(world: World, state: State, action: Action) -> str:
    if action.operation is not None:
        if state.history.done & action.operation.bit:
            return "it has been done before"
        return "what must come before it has not been done, or what rules it out has"
    if action.kind == "crash":
        return "the broker knows nothing yet, or no crash is left"
    if action.kind != "deliver" and not getattr(state.history.faults, action.kind):
        return f"no fault of the kind {action.kind} is left"
    if action.kind == "reorder":
        return "the link holds no two different messages at its head"
    return "the link is empty"


Row = dict[str, object]

OBSERVES = ("client", "receive", "send", "deliver", "drop", "crash", "restart")


def record(world: World, run: Sequence[str], finding: Finding | None) -> list[Row]:
    """The header and the events of a run. `finding` is what its last state shows, if anything."""
    steps = replay(world, run)
    return [_header(world, run, finding, steps), *events(world, steps)]


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
    others = {world.name(node): role for node, role in world.topology.roles if role != "broker"}
    return header_row(
        _name(world, finding),
        instance.protocol,
        world.policy,
        [(world.name(u), world.name(v)) for u, v in instance.overlay.edges],
        instance.dialect,
        OBSERVES,
        clock="shared",
        mutant=world.mutant,
        instance=to_table(instance),
        **({"roles": others} if others else {}),
        **({} if finding is None else _shown(world, finding, steps)),
        actions=list(run),
    )


def _shown(world: World, finding: Finding, steps: list[Step]) -> Row:
    """Entries about the run's end. `cycle`: after how many steps its last state was there before."""
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


def events(world: World, steps: Sequence[Step]) -> Iterator[Row]:
    """Yields the events of some steps, with one count for all brokers. An event's time is the number of its step."""
    rows = ((time, row) for time, step in enumerate(steps, start=1) for row in _what_happened(world, step))
    for seq, (time, (broker, event, peer, more)) in enumerate(rows, start=1):
        yield event_row(world.name(broker), seq, event, peer, **more, time=time)


def _what_happened(world: World, step: Step) -> Iterator[tuple[Node, str, str, Row]]:
    """Per event: the broker, the kind, the peer, and the rest."""
    action = step.action
    near, far = world.links[action.link] if action.link >= 0 else (LOCAL, LOCAL)
    match action.kind:
        case "operation":
            yield action.node, "client", client_of(step.message), {"message": _encode(step.message)}
        case "deliver":
            yield action.node, "receive", world.name(near), {"message": _encode(step.message)}
        case "loss":
            yield far, "drop", world.name(near), {"message": _encode(step.message)}
        case "crash":
            yield action.node, "crash", "", {}
            yield action.node, "restart", "", {}
        case _:
            yield far, "note", world.name(near), {"text": link_fault(step)}
    for receiver, message in step.outcome.sends:
        event, peer = ("deliver", client_of(message)) if receiver == LOCAL else ("send", world.name(receiver))
        yield action.node, event, peer, {"message": _encode(message)}


def link_fault(step: Step) -> str:
    what = describe(step.message)
    match step.action.kind:
        case "loss":
            return f"{what} is lost"
        case "duplicate":
            return f"{what} is copied; the copy goes to the end of the queue"
        case _:
            return f"{what} is overtaken by the message behind it"


def _encode(message: Hashable) -> Row:
    assert isinstance(message, Message), f"{message!r} is no message"
    return encode(message)
