"""routeproof: a formally specified model of content-based routing, and the checker that holds brokers to it.

The names of `__all__` are the public interface; everything else may change. `docs/reference/python.md` shows each.

    >>> import routeproof
    >>> tiny = routeproof.instance("tiny")
    >>> result = routeproof.explore(tiny, policy="active")
    >>> result.states, result.findings["NoLostDelivery"].verdict
    (149, 'holds')
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from routeproof.checker.counterexamples import Replay as Replay
    from routeproof.checker.evaluation import Finding as Finding
    from routeproof.checker.evaluation import Result as Result
    from routeproof.checker.prove.solve import Judged as Judged
    from routeproof.checker.system.errors import UsageError as UsageError
    from routeproof.checker.validate.report import Report as Report
    from routeproof.model.instance import Instance as Instance
    from routeproof.spec.specification import Property as Property
    from routeproof.traces import Trace as Trace

__all__ = [
    "Finding",
    "Instance",
    "Judged",
    "Replay",
    "Report",
    "Result",
    "UsageError",
    "explore",
    "fuzz",
    "instance",
    "load_instance",
    "prove",
    "read_trace",
    "record",
    "replay",
    "validate",
]

_TYPES = {
    "Finding": "checker.evaluation",
    "Instance": "model.instance",
    "Judged": "checker.prove.solve",
    "Replay": "checker.counterexamples",
    "Report": "checker.validate.report",
    "Result": "checker.evaluation",
    "UsageError": "checker.system.errors",
}
"""Where the types of answers are, imported on first use: `import routeproof` costs nothing."""


def instance(name: str) -> Instance:
    """Returns the instance of this name that ships with routeproof (`routeproof list instances`)."""
    from routeproof.checker.instances import find

    return find(name)


def load_instance(path: str | Path) -> Instance:
    """Reads an instance file. Raises `ValueError` with one line if it is malformed."""
    from routeproof.checker.instances import load

    return load(Path(path))


def explore(
    instance: Instance,
    *,
    policy: str | None = None,
    mutant: str | None = None,
    properties: Sequence[str] | None = None,
    max_states: int | None = None,
    seconds: float | None = None,
) -> Result:
    """Explores every reachable state of an instance and judges every property.

    `policy` defaults to the instance's first one, `properties` (ids) to all that are meant for the policy. If a limit
    comes first, what was not decided is `unknown`, never `holds`.
    """
    from routeproof.checker.explore import explore as explore_world
    from routeproof.model.protocols import world

    asked = world(instance, policy, mutant)
    return explore_world(asked, properties=_properties(properties), max_states=max_states, seconds=seconds)


def fuzz(
    instance: Instance,
    *,
    policy: str | None = None,
    mutant: str | None = None,
    properties: Sequence[str] | None = None,
    seed: int | None = None,
    examples: int | None = None,
) -> Result:
    """Draws runs of an instance at random and judges every property on them. Finds failures; proves nothing."""
    from routeproof.checker.fuzz import fuzz as fuzz_instance

    asked = _properties(properties)
    return fuzz_instance(instance, policy=policy, mutant=mutant, properties=asked, seed=seed, examples=examples)


def record(
    instance: Instance, finding: Finding, directory: str | Path, *, policy: str | None = None, mutant: str | None = None
) -> Path:
    """Writes the run of a finding as a trace and returns its path. `policy` and `mutant` are those of the search."""
    from routeproof.checker.counterexamples.record import write_counterexample
    from routeproof.model.protocols import world

    if finding.run is None:
        raise ValueError(f"{finding.property} {finding.verdict} without a run to record; record one that fails")
    return write_counterexample(world(instance, policy, mutant), finding, Path(directory))


def replay(path: str | Path) -> Replay:
    """Plays a recorded counterexample again, step by step; `reproduces` says whether it still shows the same."""
    from routeproof.checker.counterexamples import replay_file

    return replay_file(Path(path))


def validate(
    path: str | Path,
    *,
    level: Literal["exact", "equivalent", "safe", "observable"] | None = None,
    protocol: str | None = None,
    workers: int = 1,
) -> Report:
    """Judges a recorded run of any broker. `level` defaults to that of the command line; `workers` is the number of
    processes.
    """
    from routeproof.checker.validate import validate as validate_trace

    chosen: dict[str, Any] = {} if level is None else {"level": level}
    return validate_trace(Path(path), protocol=protocol, workers=workers, **chosen)


def prove(*theorems: str, workers: int = 1) -> list[Judged]:
    """Judges theorems with Z3: those that are named, or all. Needs the extra `prove`."""
    from routeproof.checker.prove.theorems import Catalogue, judge_all
    from routeproof.checker.system.errors import unknown

    catalogue = Catalogue()
    known = catalogue.theorems()
    for id in theorems:
        if id not in known:
            raise unknown("theorem", id, known)
    return judge_all(catalogue, list(theorems or known), workers, lambda *_: None)


def read_trace(path: str | Path) -> Trace:
    """Reads a whole trace into memory: its header, its events, and the lines that could not be read."""
    from routeproof.traces import read_trace as read

    return read(Path(path))


def _properties(ids: Sequence[str] | None) -> list[Property] | None:
    from routeproof.checker.system.errors import unknown
    from routeproof.spec.properties import PROPERTIES

    for id in ids or ():
        if id not in PROPERTIES:
            raise unknown("property", id, PROPERTIES)
    return None if ids is None else [PROPERTIES[id] for id in ids]


def __getattr__(name: str) -> object:
    if name not in _TYPES:
        raise AttributeError(f"routeproof has no public name {name}; there are: {', '.join(__all__)}")
    return getattr(import_module(f"routeproof.{_TYPES[name]}"), name)
