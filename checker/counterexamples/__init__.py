"""Counterexamples: replayed here; recorded, shrunk and shown in the modules of this package.

A replay tells whether a trace still happens, and whether it still ends in its violation. `replay_file` rebuilds the
world from a trace's header, plays its actions, compares what happens with what was recorded, and judges every state on
the way. `replay` plays a run in a world that is there already. The header of a counterexample (`read_counterexample`)
holds enough to make its run happen again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from attrs import frozen

from routeproof.checker.counterexamples import record
from routeproof.checker.counterexamples.record import NotEnabled, events, play, replay
from routeproof.checker.evaluation import Monitor, exercised
from routeproof.checker.system.errors import UsageError, unknown
from routeproof.model.filters.interface import quoted
from routeproof.model.instance import Instance
from routeproof.model.instance_file import InstanceError, parse_instance
from routeproof.model.protocols import MUTANTS, policies_for
from routeproof.model.protocols import world as world_of
from routeproof.model.world import State, Step, World
from routeproof.spec.properties import PROPERTIES, Property, properties_for
from routeproof.traces import Event, Header, Trace, TraceError, describe, read_trace
from routeproof.traces.fields import Raw, name, names, table, text
from routeproof.traces.files import named, stored
from routeproof.traces.format import dialect_of, keeps_own, read_event, read_header
from routeproof.traces.reader import WHOLE_BYTES

__all__ = ["NotEnabled", "Replay", "ReplayDifference", "replay", "replay_file", "replay_trace"]

ACTIONS = 10_000
"""The longest run. The fuzzer's have some hundred steps."""

CLAIMED = ("actions", "violation", "witness")
"""Keys of a header that make a trace a counterexample. A recorded run may have `instance` as well."""


@frozen
class Counterexample:
    """A run and the claim about its end."""

    world: World
    run: tuple[str, ...]
    property: Property | None
    """The property that the header claims to fail (or, of a `sometimes`, to be reached) in the last state."""
    why: str = ""


def is_counterexample(header: Header) -> bool:
    """True if the header claims a run of actions or what it shows. Any other trace is a recorded run."""
    return any(key in header.more for key in CLAIMED)


def read_counterexample(header: Header, where: str) -> Counterexample:
    """The world and the run; `where` names the file in messages."""
    if not is_counterexample(header):
        raise UsageError(
            f"{where}: a recorded run, and no counterexample: its header has no actions; expected a trace written by"
            " routeproof check --traces"
        )
    more = header.more
    try:
        instance = parse_instance(table('"instance"', more.get("instance")), f"{where}: instance")
        world = _world(header, instance)
        run = names(more, "actions", ACTIONS)
        named = next((table(f'"{key}"', more[key]) for key in ("violation", "witness") if key in more), None)
        return Counterexample(world, run, *_named(named))
    except TraceError as error:
        raise UsageError(f"{where}: header: {error}") from None
    except InstanceError as error:
        raise UsageError(str(error)) from None


def _world(header: Header, instance: Instance) -> World:
    mutant = None if header.more.get("mutant") is None else name(header.more, "mutant")
    known = policies_for(instance)
    if header.policy not in known:
        raise unknown("policy", header.policy, known)
    mutants = [m.id for m in MUTANTS.values() if m.protocol == instance.protocol]
    if mutant is not None and mutant not in mutants:
        raise unknown("mutant", mutant, mutants)
    return world_of(instance, header.policy, mutant)


def _named(raw: Raw | None) -> tuple[Property | None, str]:
    if raw is None:
        return None, ""
    id = name(raw, "property")
    if id not in PROPERTIES:
        raise unknown("property", id, PROPERTIES)
    return PROPERTIES[id], text(raw, "why")


@frozen
class ReplayDifference:
    """The first place where a replay differs from what was recorded."""

    where: str
    wanted: str
    seen: str

    def __str__(self) -> str:
        return f"{self.where}: recorded {self.wanted}; now {self.seen}"


@frozen
class Replay:
    """A counterexample, played again. `violations` lists those of each state, from the initial one on."""

    counterexample: Counterexample
    steps: tuple[Step, ...]
    violations: tuple[tuple[tuple[Property, str], ...], ...]
    difference: ReplayDifference | None
    where: str = ""
    """The name of its file in messages."""

    @property
    def reproduces(self) -> bool:
        return self.difference is None


def replay_file(path: Path) -> Replay:
    """Plays a counterexample's file again. `UsageError` if the file is none."""
    return replay_trace(*read_named(path))


def read_named(path: Path) -> tuple[Trace, str]:
    """A trace that is read whole, from a file, a pipe or standard input (`-`), and its name in messages."""
    try:
        with stored(path, WHOLE_BYTES) as file:
            return read_trace(file), named(file)
    except TraceError as error:
        raise UsageError(str(error)) from None


def replay_trace(trace: Trace, where: str) -> Replay:
    """Plays a counterexample that was read; `where` names it in messages."""
    counterexample = read_counterexample(trace.header, where)
    world, run, claimed = counterexample.world, counterexample.run, counterexample.property
    usual = properties_for(world.definition.name, world.policy)
    monitor = Monitor(world, usual if claimed is None or claimed in usual else (*usual, claimed))
    wrong = [tuple(monitor.look(world.initial()))]
    steps: list[Step] = []
    stopped = None
    try:
        for step in play(world, run):
            steps.append(step)
            wrong.append(tuple(monitor.look(step.state)))
    except NotEnabled as error:
        stopped = ReplayDifference(f"step {len(steps) + 1}", quoted(run[len(steps)]), str(error))
    difference = (
        _unreadable(trace)
        or _other_header(trace, world)
        or _other_events(trace, world, steps, is_whole=stopped is None)
        or stopped
        or _other_end(counterexample, steps, wrong[-1])
    )
    return Replay(counterexample, tuple(steps), tuple(wrong), difference, where)


# -- what may differ ---------------------------------------------------------------------------------------------------


def _unreadable(trace: Trace) -> ReplayDifference | None:
    if not trace.bad:
        return None
    number = trace.bad[0].number
    return ReplayDifference(f"line {number}" if number else "rows", "what cannot be read", trace.bad[0].reason)


def _other_header(trace: Trace, world: World) -> ReplayDifference | None:
    header = read_header(record.record(world, (), None)[0])
    for key in ("protocol", "overlay", "dialect"):
        if (recorded := getattr(trace.header, key)) != (now := getattr(header, key)):
            return ReplayDifference(f"header: {key}", _short(recorded), _short(now))
    return None


def _other_events(trace: Trace, world: World, steps: Sequence[Step], *, is_whole: bool) -> ReplayDifference | None:
    """The first recorded event that differs from the one that happens now.

    If the replay had to stop (`is_whole` is false), events recorded after that place are not compared.
    """
    dialect, own = dialect_of(trace.header), keeps_own(trace.header.protocol)
    for number, (wanted, row) in enumerate(zip_longest(trace.events, events(world, steps)), start=1):
        if row is None and not is_whole:
            return None
        step = f"step {row['time']}" if row is not None else f"after step {len(steps)}"
        if row is not None and wanted is not None and wanted.time is None:
            row.pop("time")  # the trace was recorded without a clock
        seen = None if row is None else read_event(row, dialect, own=own)
        if wanted != seen:
            return ReplayDifference(f"{step}, event {number}", _shown(wanted), _other(wanted, seen))
    return None


def _other_end(
    counterexample: Counterexample, steps: list[Step], wrong: Iterable[tuple[Property, str]]
) -> ReplayDifference | None:
    """The difference if the last state does not break (or reach) the claimed property. The reason is not compared."""
    p, world = counterexample.property, counterexample.world
    if p is None:
        return None
    last: State = steps[-1].state if steps else world.initial()
    seen = [f"{each.id}: {why}" for each, why in wrong]
    if p.kind == "sometimes":
        reached = bool(exercised(world, last, [p]))
        return None if reached else ReplayDifference(_end(steps), f"{p.id} reached", "it is not")
    if any(each == p for each, _ in wrong):
        return None
    return ReplayDifference(_end(steps), f"{p.id}: {counterexample.why}", "; ".join(seen) or "nothing is wrong")


def _end(steps: list[Step]) -> str:
    return f"after step {len(steps)}"


def _shown(event: Event | None) -> str:
    if event is None:
        return "nothing more"
    about = describe(event.message) if event.message is not None else event.text
    return " ".join(part for part in (str(event.seq), event.broker, event.event, event.peer, about) if part)


def _other(wanted: Event | None, seen: Event | None) -> str:
    """The event that happens now; with the fields that differ where the short form of both is the same."""
    now = _shown(seen)
    if wanted is None or seen is None or now != _shown(wanted):
        return now
    differ = [key for key in ("run", "time", "text", "issued", "done") if getattr(wanted, key) != getattr(seen, key)]
    differ += ["message"] if wanted.message != seen.message else []
    return f"{now}, with another {', another '.join(differ or ['content'])}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
