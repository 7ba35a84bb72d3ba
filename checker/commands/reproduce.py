"""`routeproof reproduce`: the experiments of the papers, their figures beside ours."""

from __future__ import annotations

import argparse
import math
import os
import shutil
from pathlib import Path

from routeproof.checker.arguments import Parser, whole
from routeproof.checker.errors import UsageError, unknown
from routeproof.checker.files import write_text
from routeproof.checker.jobs import cores
from routeproof.checker.report.columns import table
from routeproof.checker.reproduce import EXPERIMENTS
from routeproof.checker.reproduce.experiment import Findings
from routeproof.checker.reproduce.report import REPORT, Setting, shown, write
from routeproof.checker.reproduce.report import table as markdown
from routeproof.checker.reproduce.running import run_all
from routeproof.checker.terminal import say
from routeproof.impl.workloads import MOST_SCALE
from routeproof.model.suggest import quoted

DESCRIPTION = """\
Make the experiments of papers 000 and 001 again, all of them or those that are named, with the
simulated reference implementation: every algorithm on the same workload, at the prices that the
papers report. DIR gets a folder for each, with a report (report.md), its rows (comparison.csv), its
charts (*.svg) and their points (series.csv); README.md has all tables. What is assumed beyond the
papers is in each report, and discussed in docs/reproduce.md."""
EXAMPLES = """\
  routeproof reproduce                              all of them, in minutes
  routeproof reproduce 000-fig6 --full --out full   one of them at the size of the paper
  routeproof reproduce 001-fig8 001-fig9 --scale 0.2
  routeproof list experiments                       what there is"""

OUT = Path("reproduced")
INDEX = "README.md"


def parser() -> Parser:
    p = Parser("reproduce", DESCRIPTION, EXAMPLES)
    add = p.add_argument
    add("experiments", metavar="EXPERIMENT", nargs="*", help="by name (routeproof list experiments); default: all")
    add("--scale", metavar="X", type=_scale, help="size, 1 being that of the paper; default: each has its own")
    add("--full", action="store_true", help="the size of the paper: an hour or more")
    add("--seed", metavar="N", default=0, type=whole(0), help="another seed is another drawing; default: 0")
    add("--workers", metavar="N", type=whole(1), help="runs at a time, each in a process; default: one a core")
    add("--out", metavar="DIR", default=OUT, type=Path, help=f"where the results go; default: {OUT}")
    return p


def _scale(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= MOST_SCALE:
        range_ = f"up to {MOST_SCALE:g}, 1 being the paper's size"
        raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected a number above 0 and {range_}")
    return number


def run(arguments: argparse.Namespace) -> int:
    for name in arguments.experiments:
        if name not in EXPERIMENTS:
            raise unknown("experiment", name, EXPERIMENTS)
    if arguments.full and arguments.scale is not None:
        raise UsageError("reproduce: --full is --scale 1; give one of them")
    out: Path = arguments.out
    _refuse_bad_directory(out)
    names = list(dict.fromkeys(arguments.experiments)) or list(EXPERIMENTS)
    settings = [Setting(name, _scale_of(name, arguments), arguments.seed) for name in names]
    plans = [EXPERIMENTS[each.id].plan(each.scale, each.seed) for each in settings]
    out.mkdir(parents=True, exist_ok=True)
    _clear_away_halves(out)
    done: list[tuple[Setting, Findings]] = []
    for setting, plan, results in zip(settings, plans, run_all(plans, arguments.workers or cores()), strict=True):
        experiment = EXPERIMENTS[setting.id]
        findings = experiment.conclude(results)
        folder = write(out, setting, experiment, plan, findings)
        done.append((setting, findings))
        write_text(out / INDEX, _index(done))
        say("\n".join(_summary(setting, findings, folder)))
    return 0


def _clear_away_halves(out: Path) -> None:
    """What a run left that was killed while it wrote."""
    for name in EXPERIMENTS:
        for left in out.glob(f".{name}.*.*"):
            if left.suffix in (".part", ".old") and left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)


def _scale_of(name: str, arguments: argparse.Namespace) -> float:
    if arguments.full:
        return 1.0
    return EXPERIMENTS[name].scale if arguments.scale is None else float(arguments.scale)


def _refuse_bad_directory(out: Path) -> None:
    there = next((p for p in (out, *out.parents) if p.exists()), Path())
    if not there.is_dir():
        raise UsageError(f"{there}: is no directory; expected one for the results")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{there}: may not be written; expected a directory for the results")


def _index(done: list[tuple[Setting, Findings]]) -> str:
    lines = ["# Figures of the papers, and ours\n"]
    for setting, findings in done:
        figure = EXPERIMENTS[setting.id].figure
        lines.append(f"## [{setting.id}]({setting.id}/{REPORT}): {figure}\n")
        lines.append(f"{EXPERIMENTS[setting.id].about} Scale {setting.scale:g}, seed {setting.seed}.\n")
        lines += [*markdown(findings.rows), ""]
    return "\n".join(lines)


def _summary(setting: Setting, findings: Findings, folder: Path) -> list[str]:
    """What the paper has a figure for."""
    rows = [
        [row.quantity, row.algorithm, row.paper.text, f"{shown(row.ours)} {row.unit}".strip(), shown(row.ratio)]
        for row in findings.rows
        if row.paper is not None
    ]
    head = ["", "algorithm", "paper", "ours", "ours / paper"]
    figure = EXPERIMENTS[setting.id].figure
    return [
        f"{setting.id} ({figure}), scale {setting.scale:g}, seed {setting.seed}: {folder / REPORT}",
        "",
        *table(head, rows, "wlrrr"),
        "",
    ]
