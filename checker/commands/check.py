"""`routeproof check`: instances under policies, held to the properties."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from attrs import evolve

from routeproof.checker.arguments import Parser, add_json, one_of, seconds, whole
from routeproof.checker.files import STDOUT, refuse_no_directory, refuse_unwritable, write_text
from routeproof.checker.jobs import FOUND, Job, cores, run_all
from routeproof.checker.outcome import Outcome, Run, Status, conclude
from routeproof.checker.question import is_everything, jobs_of, options_of
from routeproof.checker.report.github import github
from routeproof.checker.report.machine import json_report, junit
from routeproof.checker.report.table import render
from routeproof.checker.terminal import ProgressLine, say
from routeproof.checker.verdict import Finding
from routeproof.model.protocols import ALL_POLICIES, world

DESCRIPTION = """\
Check instances: every reachable state of each, under each of its policies, against every property.

Without names, everything that ships is checked, and the counterexamples to papers' claims are
played again. A property that fails leaves a trace that `routeproof show` prints. What an instance
declares about its own outcome (must_fail, must_reach) is held to as well. Limits are per search (an
instance under one policy); one that is reached makes a verdict unknown, never "holds"."""
EXAMPLES = """\
  routeproof check                                       everything that ships
  routeproof check line3 star4 --policy active           two instances under one policy
  routeproof check --instance mine.toml --json -         a file of your own, as JSON
  routeproof check --property NoLostDelivery Agreement   only these two
  routeproof check two4 --policy lazy --seconds 60 --checkpoint two4.npz
                                                         a minute of it; again, and it goes on
  routeproof check --mutant removals-first               which property catches this fault?
  routeproof check --engine fuzz --examples 500          larger instances, drawn at random"""


def parser() -> Parser:
    p = Parser("check", DESCRIPTION, EXAMPLES)
    _add_what(p.add_argument_group("what to check"))
    _add_how(p.add_argument_group("how"))
    _add_reports(p.add_argument_group("reports"))
    return p


def _add_what(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("names", nargs="*", metavar="NAME", help="an instance that ships (routeproof list instances)")
    add("--instance", action="append", default=[], type=Path, metavar="FILE", help="an instance file; repeatable")
    policies = ", ".join(ALL_POLICIES)
    add("--policy", metavar="P", type=one_of(ALL_POLICIES, "policy"), help=f"{policies}; default: the instance's own")
    properties = "only these properties (routeproof list properties)"
    add("--property", nargs="+", action="extend", metavar="ID", help=properties)
    add("--mutant", metavar="ID", help="put in a seeded fault (routeproof list mutants)")


def _add_how(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    engine = one_of(("explore", "fuzz", "prove"), "engine")
    add("--engine", default="explore", metavar="E", type=engine, help="explore (default: every state) or fuzz")
    add("--workers", metavar="N", type=whole(1), help="processes; default: one a core")
    add("--max-states", metavar="N", type=whole(1), help="explore: end each search after N states")
    add("--seconds", metavar="S", type=seconds, help="end each search after S seconds")
    reduction = one_of(("symmetry", "por"), "reduction")
    symmetry = "explore: symmetry, or por (partial order); repeatable"
    add("--reduction", action="append", default=[], metavar="R", type=reduction, help=symmetry)
    checkpoint = "explore, one search: go on from FILE where it exists, write it when cut short"
    add("--checkpoint", metavar="FILE", type=Path, help=checkpoint)
    add("--seed", metavar="N", type=whole(0), help="fuzz: where to begin; the explorer draws nothing")
    profile = one_of(("fast", "long"), "profile")
    add("--profile", metavar="P", type=profile, help="fuzz: fast (default), or long for campaigns")
    add("--examples", metavar="N", type=whole(1), help="fuzz: how many runs, instead of the profile's number")


def _add_reports(group: argparse._ArgumentGroup) -> None:
    add_json(group)
    group.add_argument("--junit", metavar="FILE", type=Path, help="write the report as JUnit XML")
    group.add_argument("--github", action="store_true", help="print annotations for GitHub Actions")
    traces = f"write traces there, also of failures that are declared; default: {FOUND}, of others only"
    group.add_argument("--traces", metavar="DIR", type=Path, help=traces)


def run(arguments: argparse.Namespace) -> int:
    options = options_of(arguments)
    jobs = jobs_of(arguments, options)
    refuse_unwritable(arguments.json)
    refuse_unwritable(arguments.junit)
    refuse_unwritable(arguments.checkpoint)
    refuse_no_directory(arguments.traces or FOUND)
    began = time.monotonic()
    results = run_all(jobs, arguments.workers or cores(), ProgressLine(len(jobs)))
    outcomes = [Outcome(job, result) for job, result in zip(jobs, results, strict=True)]
    concluded = conclude(options, outcomes, is_everything(arguments), time.monotonic() - began)
    if is_everything(arguments) and options.properties is None:
        from routeproof.checker.claimed import unshown

        concluded = evolve(concluded, failures=(*concluded.failures, *unshown()))
    concluded = evolve(concluded, traces=_written(concluded, arguments.traces))
    _report(concluded, arguments)
    return concluded.exit_code


def _written(run: Run, directory: Path | None) -> dict[tuple[str, str, str], Path]:
    """A trace for each failure. Those that are declared are news to nobody, unless a directory is given for them."""
    wanted: tuple[Status, ...] = ("fails",) if directory is None else ("fails", "declared")
    written: dict[tuple[str, str, str], Path] = {}
    for outcome in run.outcomes:
        for finding in outcome.with_status(*wanted):
            path = finding.trace or _write(outcome.job, finding, directory or FOUND)
            if path is not None:
                written[outcome.job.name, outcome.job.policy, finding.property] = path
    return written


def _write(job: Job, finding: Finding, directory: Path) -> Path | None:
    if finding.run is None or job.instance is None:
        return None
    from routeproof.checker.record import write_counterexample

    return write_counterexample(world(job.instance, job.policy, job.options.mutant), finding, directory)


def _report(run: Run, arguments: argparse.Namespace) -> None:
    """With `--json -` standard output holds the object and nothing else."""
    if arguments.junit is not None:
        write_text(arguments.junit, junit(run))
    if arguments.json is not None:
        write_text(arguments.json, json_report(run))
    alone = arguments.json == STDOUT
    if not alone:
        say(render(run))
    if arguments.github and (annotations := github(run)):
        say(annotations, file=sys.stderr if alone else None)
