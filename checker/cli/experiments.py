"""Experiments: `routeproof reproduce` repeats those of the papers, `routeproof bench` measures speed and memory."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from routeproof.checker.check import cores
from routeproof.checker.cli.arguments import Parser, add_json, add_workers, report, scale_up_to, whole
from routeproof.checker.experiments import REPORT, ExperimentRequest, Findings, experiments, run_all, shown, write
from routeproof.checker.experiments import table as markdown
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import UsageError, ended, gathered, unknown
from routeproof.checker.system.files import note_unwritten, refuse_no_directory, refuse_unwritable, write_text
from routeproof.checker.system.terminal import Ticker, table
from routeproof.impl.workloads import MOST_SCALE

REPRODUCE_DESCRIPTION = """\
Repeat the named experiments of the papers, or all of them, with the simulated reference
implementation. In each experiment every algorithm runs on the same workload, with the processing
costs that the paper reports. DIR gets a folder for each experiment, with a report (report.md), its
rows (comparison.csv), its charts (*.svg) and their points (series.csv). DIR/README.md has all
tables.
Each report lists the assumptions that the papers do not state; docs/explanation/experiments.md
discusses them."""
REPRODUCE_EXAMPLES = """\
  routeproof reproduce                              all experiments, in minutes
  routeproof reproduce 000-fig6 --full --out full   one experiment at the paper's size
  routeproof reproduce 001-fig8 001-fig9 --scale 0.2
  routeproof list experiments                       their names"""


OUT = Path("reproduced")
INDEX = "README.md"


def reproduce_parser() -> Parser:
    p = Parser("reproduce", REPRODUCE_DESCRIPTION, REPRODUCE_EXAMPLES)
    add = p.add_argument
    named = "an experiment (routeproof list experiments); default: all"
    add("experiments", metavar="EXPERIMENT", nargs="*", help=named)
    scale = "size relative to the paper's, which is 1; default: set by each experiment"
    add("--scale", metavar="X", type=scale_up_to(MOST_SCALE), help=scale)
    add("--full", action="store_true", help="run at the paper's size, as --scale 1: an hour or more")
    add("--seed", metavar="N", default=0, type=whole(0), help="seed of the random draws; default: 0")
    add_workers(p, "runs at a time, each in its own process; default: one per core")
    add("--out", metavar="DIR", default=OUT, type=Path, help=f"the directory for the results; default: {OUT}")
    return p


def reproduce_command(arguments: argparse.Namespace) -> int:
    for name in arguments.experiments:
        if name not in experiments():
            raise unknown("experiment", name, experiments())
    if arguments.full and arguments.scale is not None:
        raise UsageError("reproduce: --full is --scale 1; give one of them")
    out: Path = arguments.out
    refuse_no_directory(out, "the results")
    names = list(dict.fromkeys(arguments.experiments)) or list(experiments())
    scale = 1.0 if arguments.full else arguments.scale
    scales = [experiments()[name].scale if scale is None else scale for name in names]
    settings = [ExperimentRequest(*each, arguments.seed) for each in zip(names, scales, strict=True)]
    plans = [experiments()[each.id].plan(each.scale, each.seed) for each in settings]
    out.mkdir(parents=True, exist_ok=True)
    _clear_away_halves(out)
    done: list[tuple[ExperimentRequest, Findings]] = []
    with Ticker() as ticker:

        def news(number: int, of: int) -> None:
            ticker.doing = f"{names[min(len(done), len(names) - 1)]}: {number} of {of} runs"

        results = run_all(plans, arguments.workers or cores(), news)
        for setting, plan, measured in zip(settings, plans, results, strict=True):
            experiment = experiments()[setting.id]
            findings = experiment.conclude(measured)
            with interrupts.noted() as came:  # an experiment that is finished is written and reported
                done.append((setting, findings))
                try:
                    write(out, setting, experiment, plan, findings)
                    write_text(out / INDEX, _index(done))
                except OSError as error:  # the figures are printed all the same
                    note_unwritten(out / setting.id, error)
                ticker.say("\n".join(_summary(setting, findings, out / setting.id)))
            if came():
                raise interrupts.Interrupted
    return 0


def _clear_away_halves(out: Path) -> None:
    """Removes what a run that was killed left half-written."""
    for name in experiments():
        for left in out.glob(f".{name}.*.*"):
            if left.suffix in (".part", ".old") and left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)


def _index(done: list[tuple[ExperimentRequest, Findings]]) -> str:
    lines = ["# Figures of the papers, and ours\n"]
    for setting, findings in done:
        figure = experiments()[setting.id].figure
        lines.append(f"## [{setting.id}]({setting.id}/{REPORT}): {figure}\n")
        lines.append(f"{experiments()[setting.id].about} Scale {setting.scale:g}, seed {setting.seed}.\n")
        lines += [*markdown(findings.rows), ""]
    return "\n".join(lines)


def _summary(setting: ExperimentRequest, findings: Findings, folder: Path) -> list[str]:
    """Rows for which the paper has a figure."""
    rows = [
        [row.quantity, row.algorithm, row.paper.text, f"{shown(row.ours)} {row.unit}".strip(), shown(row.ratio)]
        for row in findings.rows
        if row.paper is not None
    ]
    head = ["", "algorithm", "paper", "ours", "ours / paper"]
    figure = experiments()[setting.id].figure
    return [
        f"{setting.id} ({figure}), scale {setting.scale:g}, seed {setting.seed}: {folder / REPORT}",
        "",
        *table(head, rows, "wlrrr"),
        "",
    ]


BENCH_DESCRIPTION = """\
Measure speed and memory, each next to a yardstick that is measured in the same run:

  explore    states per CPU second and bytes per state, next to a plain search
  protocols  states per CPU second of other protocols than the core, next to the core's
  validate   events per second on one core and on Spark, and memory
  broker     operations per CPU second with 5,000 and with 50,000 subscriptions
  simulate   the controlled workload at full size

All five take about sixteen minutes."""
BENCHES = ("explore", "protocols", "validate", "broker", "simulate")
BENCH_EXAMPLES = """\
  routeproof bench validate
  routeproof bench explore --json bench.json"""


def bench_parser() -> Parser:
    p = Parser("bench", BENCH_DESCRIPTION, BENCH_EXAMPLES)
    p.add_argument("names", metavar="NAME", nargs="*", help=f"{', '.join(BENCHES)}; default: all of them")
    add_json(p)
    return p


def bench_command(arguments: argparse.Namespace) -> int:
    from routeproof.checker.experiments.bench import bench, by_suite, render

    refuse_unwritable(arguments.json)
    with Ticker() as ticker:

        def doing(what: str) -> None:
            ticker.doing = f"bench {what}"

        rows, error = gathered(bench(arguments.names, doing))
    measured = by_suite(rows)
    with interrupts.noted():  # what was measured is reported
        report(arguments.json, lambda: render(measured), lambda: measured)
        return 0 if error is None else ended(error)
