"""`routeproof validate`: is a recorded run one that the protocol allows?"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routeproof.checker.arguments import Parser, one_of
from routeproof.checker.errors import UsageError, unknown
from routeproof.checker.files import STDOUT, refuse_unwritable, write_text
from routeproof.checker.report.columns import WIDTH, wrapped
from routeproof.checker.show.shown import clean
from routeproof.checker.terminal import paint, say

if TYPE_CHECKING:
    from routeproof.checker.validate import Rejection, Report
    from routeproof.checker.validate.setting import Setting
    from routeproof.traces import BadLine

DESCRIPTION = """\
Judge recorded runs, of any broker in any language: each broker's steps are replayed through the
model, what was received on a link is held against what was sent, and what clients got against
what they were owed. Memory is bounded however long a trace is, and with --engine spark its parts
are judged side by side. docs/validation.md says what is judged, and how a rejection is to be read."""
EXAMPLES = """\
  routeproof validate run.jsonl                      the same messages in the same order
  routeproof validate run.jsonl --level equivalent   the same set per step, additions first
  routeproof validate run.jsonl --level observable   only what clients can see
  routeproof validate *.jsonl --json report.json
  routeproof validate run.parquet --engine spark --master spark://HOST:7077"""

ENGINES = ("local", "spark")

PRINTED = 20
"""Rejections, for people. The first says most."""


def parser() -> Parser:
    p = Parser("validate", DESCRIPTION, EXAMPLES)
    p.add_argument("traces", metavar="TRACE", type=Path, nargs="+", help="a trace in the format of docs/traces.md")
    p.add_argument("--level", metavar="L", default="exact", help="exact (default), equivalent or observable")
    p.add_argument("--protocol", metavar="P", help="judge by this protocol instead of the one that the header names")
    engine = "local (default): one core; spark: all cores of this machine, or a cluster"
    p.add_argument("--engine", metavar="E", default="local", type=one_of(ENGINES, "engine"), help=engine)
    p.add_argument(
        "--master", metavar="URL", help="with --engine spark: the cluster's, which reads the trace by its name"
    )
    p.add_argument("--json", metavar="FILE|-", help="write the reports as JSON; - is standard output")
    metrics = "recompute a run's metrics and delays; of several traces, each into DIR/1, DIR/2, ..."
    p.add_argument("--metrics", metavar="DIR", type=Path, help=metrics)
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.validate import LEVELS

    if arguments.level not in LEVELS:
        raise unknown("level", arguments.level, LEVELS)
    if arguments.master is not None and arguments.engine != "spark":
        raise UsageError("validate: --master is that of a Spark cluster; give --engine spark as well")
    if arguments.json is not None:
        refuse_unwritable(arguments.json)
    if arguments.metrics is not None:
        _refuse_bad_directory(arguments.metrics)
    reports = _reports(arguments)
    if arguments.json != STDOUT:
        say("\n\n".join(render(report) for report in reports))
        if arguments.metrics is not None:
            say(f"\nmetrics: {clean(str(arguments.metrics))}")
    if arguments.json is not None:
        write_text(arguments.json, json.dumps({"reports": [as_json(r) for r in reports]}, indent=2) + "\n")
    verdicts = {report.verdict for report in reports}
    return 1 if "rejected" in verdicts else 3 if "unknown" in verdicts else 0


def _reports(arguments: argparse.Namespace) -> list[Report]:
    from routeproof.checker.validate import setting_of, validate_all

    settings = [(path, setting_of(path, arguments.level, arguments.protocol)) for path in arguments.traces]
    if arguments.metrics is not None:
        settings = _measured(settings, arguments.metrics)
    return validate_all(settings, arguments.engine, arguments.master)


def _refuse_bad_directory(target: Path) -> None:
    there = next((p for p in (target, *target.parents) if p.exists()), Path())
    if not there.is_dir():
        raise UsageError(f"{there}: is no directory; expected one for the metrics")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{there}: may not be written; expected a directory for the metrics")


def _measured(settings: list[tuple[Path, Setting]], target: Path) -> list[tuple[Path, Setting]]:
    from routeproof.checker.validate.metrics.asked import measured

    if len(settings) == 1:
        return [(path, measured(path, setting, target)) for path, setting in settings]
    return [(path, measured(path, setting, target / str(number))) for number, (path, setting) in enumerate(settings, 1)]


def render(report: Report) -> str:
    """A verdict, and what it rests on; what is said of a trace's content is made printable."""
    colour = {"accepted": "good", "rejected": "bad", "unknown": "doubt"}[report.verdict]
    head = f"{clean(report.trace)}: {paint(report.verdict, colour)} at level {report.level}"
    lines = [head, f"  {report.events:,} events of {report.brokers:,} brokers, {report.seconds:.1f} s"]
    for number, rejection in enumerate(report.rejections[:PRINTED]):
        lines += [
            "",
            f"  {'also' if number else 'first rejection'}: {_place(rejection)}: {rejection.rule}",
            *wrapped([("    wanted", clean(rejection.wanted)), ("    seen", clean(rejection.seen))]),
            f"    after {rejection.accepted:,} accepted events of this broker",
        ]
    if len(report.rejections) > PRINTED:
        lines += ["", f"  and {len(report.rejections) - PRINTED:,} more; --json has all"]
    if report.doubtful:
        lines += ["", f"  doubtful, since a line that could not be read may explain it: {_place(report.doubtful[0])}"]
    lines += [f"  not judged: {clean(what)}" for what in report.unjudged]
    lines += [f"  {clean(remark)}" for remark in report.remarks]
    if report.bad_lines:
        lines.append(
            f"  {report.bad_lines:,} lines could not be read, so that nothing better than unknown can be said:"
        )
        lines += [f"    {_line(bad)}{clean(bad.reason)[:WIDTH]}" for bad in report.bad]
    return "\n".join(lines)


def _line(bad: BadLine) -> str:
    return f"line {bad.number}: " if bad.number else ""


def _place(rejection: Rejection) -> str:
    return f"run {clean(rejection.run)}, broker {clean(rejection.broker)}, seq {rejection.seq}"


def as_json(report: Report) -> dict[str, Any]:
    return {
        "trace": report.trace,
        "verdict": report.verdict,
        "level": report.level,
        "events": report.events,
        "brokers": report.brokers,
        "rejections": [_row(r) for r in report.rejections],
        "doubtful": [_row(r) for r in report.doubtful],
        "unjudged": list(report.unjudged),
        "remarks": report.remarks,
        "bad_lines": report.bad_lines,
        "bad": [{"line": b.number, "reason": b.reason} for b in report.bad],
        "seconds": round(report.seconds, 3),
    }


def _row(r: Rejection) -> dict[str, Any]:
    return {
        "run": r.run,
        "broker": r.broker,
        "seq": r.seq,
        "rule": r.rule,
        "wanted": r.wanted,
        "seen": r.seen,
        "accepted": r.accepted,
    }
