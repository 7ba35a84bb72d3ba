"""Validation: is a recorded run one that the protocol allows?

Each broker's events are replayed through the model (`steps`), what was received is held against what was sent, link by
link (`links`), and what clients got against what they were owed (`obligations`). `part` is what is judged at one place;
`local` is the engine for one core, `spark` the one for many. The rules of traces, TRC-*, are in
`spec/traces.md`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from attrs import evolve

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate.local import validate_locally
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.report import Report
from routeproof.checker.validate.setting import LEVELS, Level, Setting
from routeproof.traces import TraceError, open_trace
from routeproof.traces.files import called, named

__all__ = ["LEVELS", "Level", "Rejection", "Report", "setting_of", "validate", "validate_each"]


def validate(path: Path, level: Level = "exact", protocol: str | None = None) -> Report:
    """Judge a trace on one core; `UsageError` where its header cannot be used."""
    [report] = validate_each([(path, setting_of(path, level, protocol))])
    return report


def validate_each(
    traces: Sequence[tuple[Path, Setting]], engine: str = "local", master: str | None = None
) -> Iterator[Report]:
    """Judge traces, one after the other, and yield each report as it comes; on Spark in one session."""
    with ExitStack() as stack:
        judge: Callable[[Path, Setting], Report] = validate_locally
        if engine == "spark":
            from routeproof.checker.spark.session import session
            from routeproof.checker.validate.spark.job import judge as on_spark

            judge = partial(on_spark, stack.enter_context(session(master)))
        for path, setting in traces:
            yield _timed(judge, path, setting)


def _timed(judge: Callable[[Path, Setting], Report], path: Path, setting: Setting) -> Report:
    began = time.perf_counter()
    found = judge(path, setting)
    return evolve(found, trace=called(path), seconds=time.perf_counter() - began)


def setting_of(path: Path, level: Level, protocol: str | None = None) -> Setting:
    """Reads the settings that the header of a trace fixes."""
    try:
        with open_trace(path) as (header, _):
            found = header
    except TraceError as error:
        raise UsageError(str(error)) from None
    try:
        return Setting.of(found, level, protocol)
    except UsageError as error:
        raise UsageError(f"{named(path)}: {error}") from None
