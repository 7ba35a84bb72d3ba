"""Validation: is a recorded run one that the protocol allows?

Each broker's events are replayed through the model (`broker`), the messages received are compared with the messages
sent, link by link (`links`), and the deliveries to clients with what they were owed (`clients`). `local` is the engine
for one machine, `spark` the one for many. The rules of traces, TRC-*, are in `spec/traces.md`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from attrs import evolve

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate.findings import (
    OF_RECORDERS,
    ON_CLOCKS,
    ON_LINKS,
    ON_PROMISES,
    SEEN_BY_CLIENTS,
    Rejection,
)
from routeproof.checker.validate.local import replays_well, validate_locally
from routeproof.checker.validate.report import Report
from routeproof.checker.validate.setting import LEVELS, Level, Setting
from routeproof.model.protocols import DEFINITIONS
from routeproof.traces import TraceError, open_trace
from routeproof.traces.files import called, named

__all__ = ["LEVELS", "Level", "Rejection", "Report", "setting_of", "validate", "validate_each"]


TRIED = 200_000
"""Number of events up to which a rejected run is tried under other policies."""

OF_ANY_POLICY = frozenset((*OF_RECORDERS, *SEEN_BY_CLIENTS, ON_LINKS, ON_CLOCKS, ON_PROMISES))
"""Rules that are judged by the trace alone. A run that breaks one is rejected under every policy: for this rule, or for
another one that is broken before."""


def validate(path: Path, level: Level = "equivalent", protocol: str | None = None, workers: int = 1) -> Report:
    """Judges a trace in so many processes; `UsageError` where its header cannot be used."""
    [report] = validate_each([(path, setting_of(path, level, protocol))], workers=workers)
    return report


def validate_each(
    traces: Sequence[tuple[Path, Setting]], engine: str = "local", master: str | None = None, workers: int = 1
) -> Iterator[Report]:
    """Judge traces, one after the other, and yield each report as it comes; on Spark in one session."""
    with ExitStack() as stack:
        judge: Callable[[Path, Setting], Report] = partial(validate_locally, workers=workers)
        if engine == "spark":
            from routeproof.checker.spark.session import session
            from routeproof.checker.validate.spark.job import judge as on_spark

            judge = partial(on_spark, stack.enter_context(session(master)))
        for path, setting in traces:
            report = _timed(judge, path, setting)
            yield evolve(report, other_policies=_allowing(path, setting, report))


def _allowing(path: Path, setting: Setting, report: Report) -> tuple[str, ...]:
    """Returns the other policies that allow a run in which a broker breaks a rule of the protocol."""
    wrong = {r.broker for r in report.rejections if not r.rule.startswith("TRC")}
    is_plain = type(setting) is Setting and setting.judging.is_core and setting.replays
    if not wrong or not is_plain or report.events > TRIED or _breaks_under_any_policy(setting, report):
        return ()
    others = (evolve(setting, policy=p) for p in DEFINITIONS[setting.protocol_name].policies if p != setting.policy)
    allow = (each for each in others if replays_well(path, each, wrong))
    return tuple(each.policy for each in allow if validate_locally(path, each).verdict == "accepted")


def _breaks_under_any_policy(setting: Setting, report: Report) -> bool:
    """True if no other policy can accept the trace, whatever its brokers send.

    The sends on links are those of the model where brokers do not write them: then links depend on the policy.
    """
    return report.bad_lines > 0 or (setting.sees("send") and any(r.rule in OF_ANY_POLICY for r in report.rejections))


def _timed(judge: Callable[[Path, Setting], Report], path: Path, setting: Setting) -> Report:
    began = time.perf_counter()
    found = judge(path, setting)
    return evolve(found, trace=called(path), seconds=time.perf_counter() - began)


def setting_of(path: Path, level: Level, protocol: str | None = None, policy: str | None = None) -> Setting:
    """Reads the settings that the header of a trace fixes, unless `protocol` and `policy` say otherwise."""
    try:
        with open_trace(path) as (header, _):
            found = header
    except TraceError as error:
        raise UsageError(str(error)) from None
    try:
        return Setting.of(found if policy is None else evolve(found, policy=policy), level, protocol)
    except UsageError as error:
        raise UsageError(f"{named(path)}: {error}") from None
