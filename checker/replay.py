"""Replaying counterexamples: does a trace still happen, and does it still end in the violation that it tells of?

`replay_file` rebuilds the world from a trace's header, plays its actions, compares what happens with what was recorded,
and judges every state on the way. `replay` plays a run in a world that is there already.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

from attrs import frozen

from routeproof.checker.counterexample import Counterexample, read_counterexample
from routeproof.checker.errors import UsageError
from routeproof.checker.monitor import Monitor, exercised
from routeproof.checker.record import record
from routeproof.checker.runs import NotEnabled, play, replay
from routeproof.model.world import State, Step, World
from routeproof.spec.properties import Property, properties_for
from routeproof.traces import Event, Trace, TraceError, describe, read_trace
from routeproof.traces.format import dialect_of, read_event, read_header

__all__ = ["Difference", "NotEnabled", "Replay", "replay", "replay_file", "replay_trace"]


@frozen
class Difference:
    """The first place where a replay leaves what was recorded."""

    where: str
    wanted: str
    seen: str

    def __str__(self) -> str:
        return f"{self.where}: recorded {self.wanted}; now {self.seen}"


@frozen
class Replay:
    """A counterexample, played again. `violations`: per state, the initial one first, what is wrong in it."""

    counterexample: Counterexample
    steps: tuple[Step, ...]
    violations: tuple[tuple[tuple[Property, str], ...], ...]
    difference: Difference | None

    @property
    def reproduces(self) -> bool:
        return self.difference is None


def replay_file(path: Path) -> Replay:
    """Play a counterexample's file again. `UsageError` where the file is none."""
    try:
        trace = read_trace(path)
    except TraceError as error:
        raise UsageError(str(error)) from None
    if trace.bad:
        raise UsageError(f"{path}: line {trace.bad[0].number}: {trace.bad[0].reason}")
    return replay_trace(trace, str(path))


def replay_trace(trace: Trace, where: str) -> Replay:
    """The same for one that was read; `where` names it in messages."""
    counterexample = read_counterexample(trace.header, where)
    world, run = counterexample.world, counterexample.run
    monitor = Monitor(world, _judged(counterexample))
    wrong = [tuple(monitor.look(world.initial()))]
    steps: list[Step] = []
    stopped = None
    try:
        for step in play(world, run):
            steps.append(step)
            wrong.append(tuple(monitor.look(step.state)))
    except NotEnabled as error:
        stopped = Difference(f"step {len(steps) + 1}", run[len(steps)], str(error))
    difference = stopped or _other_events(trace, world, run) or _other_end(counterexample, steps, wrong[-1])
    return Replay(counterexample, tuple(steps), tuple(wrong), difference)


def _judged(counterexample: Counterexample) -> tuple[Property, ...]:
    """All that is meant to hold under the policy, and what the trace speaks of even where it is not."""
    usual = properties_for(counterexample.world.policy)
    named = counterexample.property
    return usual if named is None or named in usual else (*usual, named)


# -- what may differ ---------------------------------------------------------------------------------------------------


def _other_events(trace: Trace, world: World, run: Iterable[str]) -> Difference | None:
    """The first recorded event that is not the one that happens now."""
    first, *rest = record(world, tuple(run), None)
    header, dialect = read_header(first), dialect_of(trace.header)
    for key in ("protocol", "overlay", "dialect"):
        if (recorded := getattr(trace.header, key)) != (now := getattr(header, key)):
            return Difference(f"header: {key}", _short(recorded), _short(now))
    for number, (wanted, row) in enumerate(zip_longest(trace.events, rest), start=1):
        if row is not None and wanted is not None and wanted.time is None:
            row.pop("time", None)  # whoever recorded it had no clock
        seen = None if row is None else read_event(row, dialect)
        if wanted != seen:
            return Difference(f"event {number}", _shown(wanted), _shown(seen))
    return None


def _other_end(
    counterexample: Counterexample, steps: list[Step], wrong: Iterable[tuple[Property, str]]
) -> Difference | None:
    """Does the last state break (or reach) what it is said to? How the reason is worded is not compared."""
    p, world = counterexample.property, counterexample.world
    if p is None:
        return None
    last: State = steps[-1].state if steps else world.initial()
    seen = [f"{each.id}: {why}" for each, why in wrong]
    if p.kind == "sometimes":
        reached = bool(exercised(world, last, [p]))
        return None if reached else Difference(_end(steps), f"{p.id} reached", "it is not")
    if any(each == p for each, _ in wrong):
        return None
    return Difference(_end(steps), f"{p.id}: {counterexample.why}", "; ".join(seen) or "nothing is wrong")


def _end(steps: list[Step]) -> str:
    return f"after step {len(steps)}"


def _shown(event: Event | None) -> str:
    if event is None:
        return "nothing more"
    about = describe(event.message) if event.message is not None else event.text
    return " ".join(part for part in (str(event.seq), event.broker, event.event, event.peer, about) if part)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
