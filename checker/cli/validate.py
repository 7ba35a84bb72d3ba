"""`routeproof validate`: judges whether a recorded run is one that the protocol allows."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routeproof.checker.cli.arguments import (
    TRACE,
    Parser,
    add_engine,
    add_json,
    add_workers,
    refuse_master,
    refuse_streams,
)
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import UsageError, ended, gathered, unknown
from routeproof.checker.system.files import STDOUT, refuse_no_directory, refuse_unwritable, write_report
from routeproof.checker.system.terminal import WIDTH, Ticker, count, json_text, paint, printable, say, wrapped
from routeproof.spec.catalogues import RULES

if TYPE_CHECKING:
    from routeproof.checker.validate import Rejection, Report
    from routeproof.checker.validate.setting import Setting
    from routeproof.traces.column_names import ColumnNames


DESCRIPTION = """\
Judge whether recorded runs are runs that the protocol allows. A run may come from any broker in
any language. validate replays every step of every broker through the model, compares the messages
received on each link with the messages sent on it, and compares the deliveries to clients with
the deliveries they were owed. Memory stays flat however long a trace is. --engine spark judges
the parts of a trace in parallel. docs/explanation/validation.md explains the checks and the
report."""
EXAMPLES = """\
  routeproof validate run.jsonl                      the same messages per step, additions first
  routeproof validate run.jsonl --level exact        the same messages, in the same order too
  routeproof validate run.jsonl --level safe         perhaps more, but nothing lost
  routeproof validate run.jsonl --level observable   only what clients can see
  routeproof validate *.jsonl --json report.json
  routeproof validate logs/ --header header.json     a directory: one run, a file per broker
  routeproof validate broker.parquet --header header.json --map names.toml
  routeproof validate run.parquet --engine spark --master spark://HOST:7077"""

PRINTED = 20
"""Number of broken rules that are printed. The first one usually shows the cause."""

NAMED = 8
"""Number of further brokers that are named for each."""

SEEN_BY_CLIENTS = ("TRC-7", "TRC-8", "TRC-9")
"""Rules about what clients see: consequences where another rule is broken too."""


def validate_parser() -> Parser:
    p = Parser("validate", DESCRIPTION, EXAMPLES)
    files = f"{TRACE}; a directory or a quoted pattern stands for the files of one run"
    p.add_argument("traces", metavar="TRACE", type=Path, nargs="+", help=files)
    header = "the run's header, where the files have none; all TRACEs are then files of one run"
    p.add_argument("--header", metavar="FILE", type=Path, help=header)
    names = "rename the keys or columns and the values of a foreign log (docs/howto/emit-traces.md)"
    p.add_argument("--map", metavar="FILE", type=Path, help=names)
    p.add_argument("--level", metavar="L", default="equivalent", help="exact, equivalent (default), safe or observable")
    p.add_argument("--protocol", metavar="P", help="judge by protocol P instead of the protocol that the header names")
    p.add_argument("--policy", metavar="P", help="judge by policy P instead of the policy that the header names")
    add_engine(p, "the trace by its name")
    add_workers(p, "with --engine local: judge in N processes, each a share of the brokers (default: 1)", default=1)
    add_json(p, "the reports")
    metrics = "recompute the run's metrics and delays into DIR; several traces: into DIR/1, DIR/2, ..."
    p.add_argument("--metrics", metavar="DIR", type=Path, help=metrics)
    return p


def validate_command(arguments: argparse.Namespace) -> int:
    from routeproof.checker.validate import LEVELS

    if arguments.level not in LEVELS:
        raise unknown("level", arguments.level, LEVELS)
    refuse_master("validate", arguments)
    if arguments.workers > 1 and (arguments.engine != "local" or arguments.metrics is not None):
        other = "--metrics" if arguments.engine == "local" else "--engine spark"
        raise UsageError(f"validate: --workers cannot be combined with {other}; leave out one of them")
    refuse_unwritable(arguments.json)
    refuse_no_directory(arguments.metrics, "the metrics")
    paths = [path for path in arguments.traces if arguments.master is None or not path.is_dir()]
    refuse_streams("validate", paths, on_cluster=arguments.master is not None)
    with ExitStack() as stack:
        settings = _settings([stack.enter_context(path) for path in _inputs(arguments)], arguments)
        ticker = stack.enter_context(Ticker())
        reports, error = gathered(_reports(settings, arguments, ticker))
    with interrupts.noted():  # a verdict that is there is reported
        _report(reports, settings, arguments)
        verdicts = {report.verdict for report in reports}
        code = 3 if "unknown" in verdicts else 0
        if error is not None:
            code = ended(error)
    return 1 if "rejected" in verdicts else code


def _inputs(arguments: argparse.Namespace) -> list[AbstractContextManager[Path]]:
    """Returns the traces to judge: as they are, or gathered from the files, the header and the map that are given."""
    from routeproof.traces.column_names import read_map
    from routeproof.traces.inputs import files_of

    names = None if arguments.map is None else read_map(arguments.map)
    groups = [(str(path), files_of(path)) for path in arguments.traces]
    if arguments.header is not None and len(groups) > 1:
        files = [file for path, some in groups for file in some or [Path(path)]]
        groups = [(f"{len(files)} files of one run", files)]
    return [_input(name, files, arguments, names) for name, files in groups]


@contextmanager
def _input(
    name: str, files: list[Path] | None, arguments: argparse.Namespace, names: ColumnNames | None
) -> Iterator[Path]:
    """Yields one trace. `files`: those of one run; None where the name is that of a single file."""
    from routeproof.traces.files import called, stored
    from routeproof.traces.inputs import gathered, needs_gathering

    with ExitStack() as stack:
        paths = [stack.enter_context(stored(path)) for path in files or [Path(name)]]
        if files is None and arguments.header is None and names is None and not needs_gathering(paths[0]):
            yield paths[0]
            return
        if arguments.master is not None:
            raise UsageError("validate: a cluster cannot read what this machine gathers; write it to one file first")
        yield stack.enter_context(gathered(paths, called(paths[0]) if files is None else name, arguments.header, names))


def _settings(paths: list[Path], arguments: argparse.Namespace) -> list[tuple[Path, Setting]]:
    from routeproof.checker.validate import setting_of

    settings = [(path, setting_of(path, arguments.level, arguments.protocol, arguments.policy)) for path in paths]
    return settings if arguments.metrics is None else _measured(settings, arguments.metrics)


def _reports(settings: list[tuple[Path, Setting]], arguments: argparse.Namespace, ticker: Ticker) -> Iterator[Report]:
    from routeproof.checker.validate import validate_each
    from routeproof.traces.files import called

    results = validate_each(settings, arguments.engine, arguments.master, arguments.workers)
    return ticker.each([called(path) for path, _ in settings], results)


def _report(reports: list[Report], settings: list[tuple[Path, Setting]], arguments: argparse.Namespace) -> None:
    """Prints and writes the reports. Traces without one were not judged, since something ended it early."""
    from routeproof.traces.files import called

    left = [called(path) for path, _ in settings[len(reports) :]]
    if arguments.json != STDOUT:
        say("\n\n".join(render(report) for report in reports))
        if left:
            say(f"\nnot judged: {printable(', '.join(left))}")
        if arguments.metrics is not None:
            say(f"\nmetrics: {printable(str(arguments.metrics))}")
        if parts := _parts([setting for _, setting in settings], reports):
            say(parts)
    if arguments.json is not None:
        content = {"reports": [as_json(r) for r in reports], "left": left}
        write_report(arguments.json, json_text(content))


def _parts(settings: list[Setting], reports: list[Report]) -> str:
    """Returns a note on traces that look like files of one run: the same brokers, of which each trace has only some."""
    parts = [setting for setting, report in zip(settings, reports, strict=False) if report.brokers < len(setting.node)]
    if len(parts) < 2 or any((each.run, each.node) != (parts[0].run, parts[0].node) for each in parts):
        return ""
    return (
        f"\nnote: the headers of {len(parts)} traces have the same run and the same brokers, and each trace has events"
        "\n      of only some of them. Each was judged alone. If they are files of one run, name their directory, or"
        "\n      put the pattern in quotes, so that they are judged together."
    )


def _measured(settings: list[tuple[Path, Setting]], target: Path) -> list[tuple[Path, Setting]]:
    from routeproof.checker.validate.metrics import measured

    if len(settings) == 1:
        return [(path, measured(path, setting, target)) for path, setting in settings]
    return [(path, measured(path, setting, target / str(number))) for number, (path, setting) in enumerate(settings, 1)]


def render(report: Report) -> str:
    """Returns the report as text. Everything that comes from the trace is made printable."""
    colour = {"accepted": "good", "rejected": "bad", "unknown": "doubt"}[report.verdict]
    caveats = [] if report.verdict == "rejected" else report.extent.caveats
    but = "".join(f"; {printable(each)}" for each in caveats)
    head = f"{printable(report.trace)}: {paint(report.verdict, colour)} at level {report.level}{but}"
    lines = [head, *(f"  fault in the trace: {printable(each)}" for each in report.extent.faults())]
    lines += _rejections(report)
    if report.other_policies:
        policies = " and ".join(report.other_policies)
        lines += [f"  allowed under {policies}: if the brokers have that policy, name it in the header (--policy)", ""]
    lines.append(f"  {count(report.events, 'event')} of {count(report.brokers, 'broker')}, {report.seconds:.1f} s")
    lines.append(f"  {report.extent.judged}")
    if report.doubtful:
        lines += ["", f"  doubtful, because a line that could not be read may explain it: {_place(report.doubtful[0])}"]
    lines += [f"  not judged: {printable(each)}" for each in report.unjudged]
    lines += [f"  {printable(remark)}" for remark in report.remarks]
    if report.bad_lines:
        lines.append(
            f"  {count(report.bad_lines, 'line')} could not be read; the verdict cannot be better than unknown:"
        )
        places = ((f"line {bad.number}: " if bad.number else "", bad.reason) for bad in report.bad)
        lines += [f"    {place}{printable(reason)[:WIDTH]}" for place, reason in places]
    return "\n".join(lines)


def _rejections(report: Report) -> list[str]:
    """Returns the causes, each rule with one example and its other brokers, then the consequences for clients."""
    groups: dict[tuple[str, str], list[Rejection]] = {}
    for rejection in report.rejections:
        groups.setdefault((rejection.run, rejection.rule), []).append(rejection)
    lines: list[str] = []
    has_causes = any(r.rule not in SEEN_BY_CLIENTS for r in report.rejections)
    for (first, *others), _ in zip(groups.values(), range(PRINTED), strict=False):
        word = "first rejection" if first is report.rejections[0] else "also"
        if first.is_consequence or (first.rule in SEEN_BY_CLIENTS and has_causes):
            word = "consequence"
        rows = [
            ("cause", first.cause),
            ("handling", first.handling),
            ("wanted", first.wanted),
            ("because", first.reason),
            ("seen", first.seen),
            ("lost", first.losses),
        ]
        lines += [
            f"  {word}: {_place(first)}: {_rule(first)}",
            *wrapped([(f"    {name}", printable(text)) for name, text in rows if text]),
            f"    after {count(first.accepted, 'accepted event')} of this broker",
        ]
        if others:
            places = ", ".join(f"{printable(each.broker)} (seq {each.seq})" for each in others[:NAMED])
            more = ", ..." if len(others) > NAMED else ""
            lines.append(f"    the same rule at {count(len(others), 'more broker')}: {places}{more}")
        lines.append("")
    if len(groups) > PRINTED:
        lines += [f"  and {count(len(groups) - PRINTED, 'more rule')}; --json has all", ""]
    return lines


def _rule(rejection: Rejection) -> str:
    rule = RULES.get(rejection.rule)
    return rejection.rule if rule is None else f"{rule.id}, {rule.title}"


def _place(rejection: Rejection) -> str:
    line = f" (line {rejection.at:,})" if rejection.at > 0 else ""
    return f"run {printable(rejection.run)}, broker {printable(rejection.broker)}, seq {rejection.seq}{line}"


def as_json(report: Report) -> dict[str, Any]:
    return {
        "trace": report.trace,
        "verdict": report.verdict,
        "level": report.level,
        "events": report.events,
        "brokers": report.brokers,
        "other_policies": list(report.other_policies),
        "rejections": [_row(r) for r in report.rejections],
        "doubtful": [_row(r) for r in report.doubtful],
        "unjudged": list(report.unjudged),
        "caveats": report.extent.caveats,
        "faults": report.extent.faults(),
        "remarks": report.remarks,
        "judged": report.extent.as_json(),
        "bad_lines": report.bad_lines,
        "bad": [{"line": b.number, "reason": b.reason} for b in report.bad],
        "seconds": round(report.seconds, 3),
    }


def _row(r: Rejection) -> dict[str, Any]:
    of_event = {key: getattr(r, key) for key in ("run", "broker", "seq", "rule", "wanted", "seen", "accepted")}
    why = {key: getattr(r, key) for key in ("cause", "handling", "reason", "losses")}
    return {**of_event, "line": r.at, **why, "consequence": r.is_consequence}
