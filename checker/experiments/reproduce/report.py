"""Reports of an experiment: a folder with a page in Markdown, its rows and series as CSV, and its charts as SVG.

A folder takes its name when all of it is written, so that half a report is never taken for a whole one.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from routeproof.checker.experiments.reproduce.experiment import Experiment, Findings, Job, Row
from routeproof.impl.workloads import Parameter, parameters
from routeproof.impl.workloads.workload import ASSUMPTION

REPORT = "report.md"
COMPARISON = "comparison.csv"
SERIES = "series.csv"

HEAD = ("quantity", "algorithm", "paper", "ours", "unit", "ours / paper", "note")


@frozen
class Setting:
    """Request for an experiment."""

    id: str
    scale: float
    seed: int


def write(
    out: Path, setting: Setting, experiment: Experiment[Any], jobs: Sequence[Job[Any]], findings: Findings
) -> Path:
    """Into a folder of `out`, in the place of one of an earlier run. Gives the folder."""
    folder = out / setting.id
    part = out / f".{setting.id}.{os.getpid()}.part"
    old = out / f".{setting.id}.{os.getpid()}.old"
    titled = f"{setting.id}, scale {setting.scale:g}, seed {setting.seed}"
    try:
        part.mkdir()
        (part / COMPARISON).write_text(_comparison(findings.rows), encoding="utf-8")
        (part / SERIES).write_text(_series(findings), encoding="utf-8")
        for name, chart in findings.charts.items():
            (part / f"{name}.svg").write_text(evolve(chart, title=f"{chart.title}: {titled}").svg(), encoding="utf-8")
        (part / REPORT).write_text("\n".join(_report(setting, experiment, jobs, findings)), encoding="utf-8")
        if folder.exists():
            folder.rename(old)
        part.rename(folder)
    finally:
        for left in (part, old):
            shutil.rmtree(left, ignore_errors=True)
    return folder


def shown(value: float | None) -> str:
    """Four digits are more than any of these figures are good for."""
    if value is None:
        return "-"
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(rows: Iterable[Row]) -> Iterator[str]:
    yield _line(HEAD)
    yield "|---|---|--:|--:|---|--:|---|"
    for row in rows:
        paper = row.paper.text if row.paper else "-"
        yield _line([row.quantity, row.algorithm, paper, shown(row.ours), row.unit, shown(row.ratio), row.note])


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: object) -> str:
    """On one line, and of no cell but its own."""
    return " ".join(str(text).split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _report(
    setting: Setting, experiment: Experiment[Any], jobs: Sequence[Job[Any]], findings: Findings
) -> Iterator[str]:
    yield f"# {setting.id}: {experiment.figure}"
    yield f"\n{experiment.about} Scale {setting.scale:g} (1 is the paper's size), seed {setting.seed}.\n"
    yield from table(findings.rows)
    yield "\n## What is assumed beyond the paper\n"
    yield from (f"- {_prose(each)}" for each in experiment.assumptions)
    yield "\n## Where the paper is open, or disagrees with itself\n"
    yield from (f"- {_prose(each)}" for each in experiment.conflicts)
    yield "\n## Parameters\n"
    yield from _parameters(jobs)
    yield "\n## Charts\n"
    yield from (f"![{name}]({name}.svg)" for name in findings.charts)
    yield ""


def _prose(text: str) -> str:
    return text.replace("<", "&lt;")


def _parameters(jobs: Sequence[Job[Any]]) -> Iterator[str]:
    """Table of the first run's parameters, with the differences of the others."""
    first = {each.name: each for each in parameters(jobs[0].recipe)}
    yield _line(("parameter", "value", "source", ""))
    yield "|---|--:|---|---|"
    for each in first.values():
        yield _line((f"`{each.name}`", _value(each), each.source, each.about))
    others = [(job.name, changed) for job in jobs[1:] if (changed := list(_changed(job, first)))]
    if others:
        yield "\nThe other runs differ in these:\n"
        yield from (f"- {_prose(name)}: {', '.join(changed)}" for name, changed in others)
    yield f'\nWhere the source is "{ASSUMPTION}", the papers are silent; `docs/reference/workloads.md` has the reasons.'


def _changed(job: Job[Any], first: Mapping[str, Parameter]) -> Iterator[str]:
    for each in parameters(job.recipe):
        if each.name not in first or first[each.name].value != each.value:
            yield f"`{each.name}` {_value(each)}"


def _value(parameter: Parameter) -> str:
    value = parameter.value
    return value if isinstance(value, str) else f"{value:,}"


def _comparison(rows: Iterable[Row]) -> str:
    """Numbers as they are, for programs."""
    lines = [HEAD]
    for row in rows:
        paper = "" if row.paper is None else row.paper.value
        numbers = ["" if each is None else repr(each) for each in (row.ours, row.ratio)]
        lines.append((row.quantity, row.algorithm, str(paper), numbers[0], row.unit, numbers[1], row.note))
    return _csv(lines)


def _series(findings: Findings) -> str:
    lines: list[tuple[object, ...]] = [("chart", "series", "x", "y")]
    for name, chart in findings.charts.items():
        lines += [(name, series.name, x, y) for series in chart.series for x, y in series.points]
    return _csv(lines)


def _csv(lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
