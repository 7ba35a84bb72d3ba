"""The papers' experiments, made again.

    plan = experiments()["000-fig6"].plan(scale, seed)
    findings = experiments()["000-fig6"].conclude({job.name: job.run() for job in plan})

An `Experiment` is runs to be made, and how their outcomes become rows next to the paper's figures, and charts. The
experiments themselves belong to protocols (`Wing.experiments`); `run_all` makes their runs in several processes.

`write` makes the report: a folder with a page in Markdown, its rows and series as CSV, and its charts as SVG. A folder
takes its name when all of it is written, so that half a report is never taken for a whole one.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from operator import methodcaller
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from attrs import evolve, frozen

from routeproof.checker.experiments.plots import Chart
from routeproof.checker.system.processes import in_processes
from routeproof.checker.wings import wings
from routeproof.impl.workloads import Parameter, Recipe, parameters
from routeproof.impl.workloads.workload import ASSUMPTION
from routeproof.spec.catalogues import CLAIMS
from routeproof.spec.figures import judged

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

Results: TypeAlias = dict[str, Any]

REPORT = "report.md"
COMPARISON = "comparison.csv"
SERIES = "series.csv"

HEAD = ("quantity", "algorithm", "paper", "ours", "unit", "ours / paper", "note")


class ExperimentJob(Protocol[Result_co]):
    """One run. It can be handed to another process, and so can what it gives."""

    @property
    def name(self) -> str:
        """Unlike that of any other run of the experiment."""

    @property
    def recipe(self) -> Recipe: ...

    def run(self) -> Result_co: ...


@frozen
class Said:
    """A figure of a paper, as a number and as it stands there."""

    value: float
    text: str


def paragraphs(text: str) -> tuple[str, ...]:
    """The paragraphs of a text, each on one line."""
    return tuple(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def said(value: float, how: str = "") -> Said:
    return Said(value, f"{how} {value:,}".strip())


@frozen
class ResultRow:
    """`ours` is nothing where a run gave none: no publication was delivered, say."""

    quantity: str
    algorithm: str
    paper: Said | None
    ours: float | None
    unit: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours to the paper's."""
        if self.paper is None or not self.paper.value or self.ours is None:
            return None
        return self.ours / self.paper.value


@frozen
class Findings:
    rows: Sequence[ResultRow]
    charts: Mapping[str, Chart]
    """By the name of the file."""


@frozen
class Experiment(Generic[Result]):
    figure: str
    """The paper's."""
    about: str
    """One line."""
    scale: float
    """Scale at which a run takes a minute or two."""
    plan: Callable[[float, int], Sequence[ExperimentJob[Result]]]
    """Scale and seed to runs."""
    conclude: Callable[[Mapping[str, Result]], Findings]
    """From what each run gave, by its name."""
    assumptions: Sequence[str]
    """Beyond those of the workload."""
    conflicts: Sequence[str] = ()
    """Points that the paper leaves open, or states in two different ways, about these figures."""


@cache
def experiments() -> Mapping[str, Experiment[Any]]:
    return {name: each for wing in wings().values() for name, each in wing.experiments().items()}


def run_all(
    plans: Sequence[Sequence[ExperimentJob[Any]]], workers: int, news: Callable[[int, int], None] = lambda *_: None
) -> Iterator[Results]:
    """For each plan, in order, what its runs gave by their names. Nothing of it depends on the number of workers.

    `news` gets how many runs are done, and of how many.
    """
    jobs = [job for plan in plans for job in plan]
    run = methodcaller("run")
    done = map(run, jobs) if workers == 1 else in_processes(run, jobs, workers, ", or a smaller --scale")
    numbers = count(1)
    news(0, len(jobs))
    for plan in plans:
        results: Results = {}
        for job in plan:
            results[job.name] = next(done)
            news(next(numbers), len(jobs))
        yield results


@frozen
class ExperimentRequest:
    id: str
    scale: float
    seed: int


def write(
    out: Path,
    setting: ExperimentRequest,
    experiment: Experiment[Any],
    jobs: Sequence[ExperimentJob[Any]],
    findings: Findings,
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


def table(rows: Iterable[ResultRow]) -> Iterator[str]:
    yield _line(HEAD)
    yield "|---|---|--:|--:|---|--:|---|"
    for row in rows:
        paper = row.paper.text if row.paper else "-"
        yield _line([row.quantity, row.algorithm, paper, shown(row.ours), row.unit, shown(row.ratio), row.note])


def _line(cells: Iterable[object]) -> str:
    """Each cell on one line, with everything escaped that would end it."""
    escaped = str.maketrans({"\\": "\\\\", "|": "\\|", "<": "&lt;"})
    return f"| {' | '.join(' '.join(str(cell).split()).translate(escaped) for cell in cells)} |"


def _report(
    setting: ExperimentRequest, experiment: Experiment[Any], jobs: Sequence[ExperimentJob[Any]], findings: Findings
) -> Iterator[str]:
    yield f"# {setting.id}: {experiment.figure}"
    yield f"\n{experiment.about} Scale {setting.scale:g} (1 is the paper's size), seed {setting.seed}.\n"
    yield from table(findings.rows)
    yield from _claims(setting.id, findings.rows)
    yield "\n## What is assumed beyond the paper\n"
    yield from (f"- {_prose(each)}" for each in experiment.assumptions)
    yield "\n## Where the paper is open, or disagrees with itself\n"
    yield from (f"- {_prose(each)}" for each in experiment.conflicts)
    yield "\n## Parameters\n"
    yield from _parameters(jobs)
    yield "\n## Charts\n"
    yield from (f"![{name}]({name}.svg)" for name in findings.charts)
    yield ""


def _claims(name: str, rows: Iterable[ResultRow]) -> Iterator[str]:
    """The claims about this figure, judged by the rows of this run."""
    ours = {(row.quantity, row.algorithm): row.ours for row in rows if row.ours is not None}
    claims = [claim for claim in CLAIMS.values() if claim.property == name]
    if claims:
        yield "\n## What the paper claims, judged by these rows\n"
    for claim in claims:
        yield f"**{claim.id}: {judged(claim.criterion, ours)}.** {_prose(claim.says)} ({claim.paper})\n"
        for part in claim.criterion:
            holds = part.holds(ours)
            yield f"- {'no row for' if holds is None else 'yes' if holds else 'no'}: {_prose(str(part))}"
        yield ""


def _prose(text: str) -> str:
    return text.replace("<", "&lt;")


def _parameters(jobs: Sequence[ExperimentJob[Any]]) -> Iterator[str]:
    """Table of the first run's parameters, with the differences of the others."""
    first = {each.name: each for each in parameters(jobs[0].recipe)}
    yield _line(("parameter", "value", "source", ""))
    yield "|---|--:|---|---|"
    for each in first.values():
        yield _line((f"`{each.name}`", _value(each), each.source, each.about))
    before = {name: each.value for name, each in first.items()}
    lines = []
    for job in jobs[1:]:
        changed = [each for each in parameters(job.recipe) if (each.name, each.value) not in before.items()]
        if changed:
            lines.append(f"- {_prose(job.name)}: {', '.join(f'`{each.name}` {_value(each)}' for each in changed)}")
    if lines:
        yield from ("\nThe other runs differ in these:\n", *lines)
    yield f'\nWhere the source is "{ASSUMPTION}", the papers are silent; `docs/reference/workloads.md` has the reasons.'


def _value(parameter: Parameter) -> str:
    value = parameter.value
    return value if isinstance(value, str) else f"{value:,}"


def _comparison(rows: Iterable[ResultRow]) -> str:
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
