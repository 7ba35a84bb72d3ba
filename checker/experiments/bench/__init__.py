"""Benchmarks: the source of the figures on speed and size in the documents.

`bench` runs the named suites, each measuring its subject and its yardstick in one run on one machine, so that the
ratios can be trusted where the figures cannot. Each measurement has a fresh process (`afresh`), so that one does not
pay for another's memory.

The explorer's yardstick is `plain_search`: breadth first over frozen `State` objects in a set, one `World.step` a
transition, and nothing of what makes the explorer fast. It is also a cross-check of the explorer: the same numbers.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from operator import call
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from attrs import frozen

from routeproof.checker.explore.search import Search
from routeproof.checker.instances import find, shipped
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.processes import in_processes
from routeproof.checker.system.terminal import count
from routeproof.checker.wings import imported
from routeproof.model.protocols import world
from routeproof.model.world import State, World
from routeproof.spec.properties import properties_for

Row = dict[str, Any]

P = ParamSpec("P")
T = TypeVar("T")

KILO = 1024 if sys.platform != "darwin" else 1
"""Unit of a process's peak memory, in bytes."""


def bench(names: Sequence[str], doing: Callable[[str], None] = lambda _: None) -> Iterator[tuple[str, Row]]:
    """Yields each row with its suite, as it is measured. `doing` gets what is measured next."""
    for name in names:
        if name not in SUITES:
            raise UsageError(f"no benchmark is called '{name}'; there is: {', '.join(SUITES)}")
    for name in names or SUITES:
        doing(name)
        for number, row in enumerate(SUITES[name](), 1):
            yield name, row
            doing(f"{name}, {count(number, 'row')}")


def by_suite(rows: Iterable[tuple[str, Row]]) -> dict[str, list[Row]]:
    suites: dict[str, list[Row]] = {}
    for name, row in rows:
        suites.setdefault(name, []).append(row)
    return suites


def render(results: dict[str, list[Row]]) -> str:
    """Returns the rows as tables, with their summary."""
    lines: list[str] = []
    for name, rows in results.items():
        lines += [f"bench {name}", ""]
        columns = list(rows[0])
        values = ([row[c] for c in columns] for row in rows)
        cells = [columns, *([f"{v:,}" if isinstance(v, int | float) else str(v) for v in each] for each in values)]
        widths = [max(len(r[i]) for r in cells) for i in range(len(columns))]
        lines += [
            "  ".join(
                c.rjust(w) if i > 1 else c.ljust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True))
            ).rstrip()
            for r in cells
        ]
        lines.append("")
    return "\n".join(lines)


def afresh(measure: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
    """Returns what `measure` gives in a process of its own."""
    [answer] = in_processes(call, [partial(measure, *arguments, **more)], 1)
    return answer


def keep_to(cores: int) -> None:
    """This process, and all that it starts from now on, have so many; where the system cannot keep them to that, they
    have what there is."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def peak_megabytes() -> int:
    """The most memory that this process has had. Where the system says it of the program and not of the process: that
    begins with what the one who started it had."""
    with suppress(OSError):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILO >> 20


def aim(reached: bool, what: str) -> str:
    return f"{what}: {'reached' if reached else 'NOT reached'}"


class ProcessTimer:
    """Seconds of processor time and of the wall since it was made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def cpu(self) -> float:
        return time.process_time() - self._cpu

    @property
    def wall(self) -> float:
        return time.perf_counter() - self._wall


# -- the explorer and a plain search -----------------------------------------------------------------------------------


PLAIN_STATES = 40_000
"""How far the plain search goes: enough for a rate, and its rate only falls as it goes on."""

LARGE = ("pair3", "star5", "two4", "leave5")
"""The shipped instances with the most states; a test holds that each has over 500,000."""


@frozen
class PlainSearchResult:
    """Result of a plain search; `complete` says whether it reached everything."""

    states: int
    transitions: int
    depth: int
    complete: bool


def plain_search(world: World, max_states: int | None = None) -> PlainSearchResult:
    """Every reachable state, or as many as allowed."""
    start = world.initial()
    depth: dict[State, int] = {start: 0}
    queue = deque([start])
    transitions = 0
    while queue:
        if max_states is not None and len(depth) >= max_states:
            return PlainSearchResult(len(depth), transitions, max(depth.values()), False)
        state = queue.popleft()
        for step in world.steps(state):
            transitions += 1
            if step.state not in depth:
                depth[step.state] = depth[state] + 1
                queue.append(step.state)
    return PlainSearchResult(len(depth), transitions, max(depth.values()), True)


def explorer() -> Iterator[Row]:
    """Measures the explorer with all properties on, and a plain search over frozen objects of the same model."""
    for instance in shipped():
        if instance.name in LARGE:
            for policy in instance.policies:
                yield afresh(_measure, instance.name, policy)


def _searched(name: str, policy: str) -> tuple[Search, float]:
    """A search with all properties on, and its CPU seconds."""
    instance, clock = find(name), ProcessTimer()
    search = Search(world(instance, policy), properties_for(instance.protocol, policy))
    search.run()
    cycle = search.graph.find_cycle()
    seconds = clock.cpu
    assert cycle is None, f"{name} has a cycle under {policy}"
    return search, seconds


def _measure(name: str, policy: str) -> Row:
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    search, seconds = _searched(name, policy)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident
    began = time.process_time()
    plain = plain_search(search.world, PLAIN_STATES)
    plain_rate = plain.states / (time.process_time() - began)
    rate = search.states / seconds
    return {
        "instance": name,
        "policy": policy,
        "states": search.states,
        "transitions": search.transitions,
        "cpu seconds": round(seconds, 2),
        "states/s": round(rate),
        "stored bytes/state": round(search.nbytes / search.states, 1),
        "resident bytes/state": round(1024 * grown / search.states, 1),
        "plain states/s": round(plain_rate),
        "ratio": round(rate / plain_rate, 1),
    }


# -- the explorer on other protocols than the core ---------------------------------------------------------------------


CORE = ("leave5", "active")
"""An instance of the core that is the yardstick of those of other protocols."""

OTHERS: dict[str, float | None] = {
    "across4": 0.5,
    "returns3": 0.5,
    "crowd3": 0.5,
    "busy4": None,
    "leaves4": None,
    "turns3": None,
}
"""The largest shipped instances of other protocols, with the aim for the rate as a share of the core's, if there is
one; a test holds that each has over 500,000 states."""


def protocols() -> Iterator[Row]:
    """Measures the explorer on the largest instances of other protocols, each between two searches of the core."""
    for name, wanted in OTHERS.items():
        yield afresh(_beside_core, name, CORE, wanted)


def _beside_core(name: str, core: tuple[str, str], wanted: float | None) -> Row:
    instance = find(name)
    policy = instance.policies[0]
    before, (search, seconds), after = _rate(*core), _searched(name, policy), _rate(*core)
    rate, of_core = search.states / seconds, (before + after) / 2
    return {
        "instance": name,
        "policy": policy,
        "protocol": instance.protocol,
        "states": search.states,
        "cpu seconds": round(seconds, 2),
        "states/s": round(rate),
        "core states/s": round(of_core),
        "ratio": round(rate / of_core, 2),
        "aims": "" if wanted is None else aim(rate >= wanted * of_core, f"{wanted} of the core's rate"),
    }


def _rate(name: str, policy: str) -> float:
    search, seconds = _searched(name, policy)
    return search.states / seconds


# -- suites ------------------------------------------------------------------------------------------------------------


def _later(module: str, name: str) -> Callable[[], Iterator[Row]]:
    """A suite whose module is imported when it is run."""
    suite = imported(f"experiments.bench.{module}", name)
    return lambda: cast(Iterator[Row], suite()())


SUITES: dict[str, Callable[[], Iterator[Row]]] = {
    "explore": explorer,
    "protocols": protocols,
    "validate": _later("validation", "validation"),
    "broker": _later("broker", "broker"),
    "simulate": _later("broker", "simulation"),
}
