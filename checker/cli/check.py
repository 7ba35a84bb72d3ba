"""`routeproof check`: instances under policies, held to the properties."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from attrs import evolve

from routeproof.checker.check import FOUND, Job, cores, run_all
from routeproof.checker.check.conclusion import Failure, JobOutcome, Run, Status, conclude
from routeproof.checker.check.machine import github, json_report, junit
from routeproof.checker.check.request import is_everything, jobs_of, not_asked_of, options_of
from routeproof.checker.check.table import render
from routeproof.checker.cli.arguments import Parser, add_json, add_workers, one_of, seconds, whole
from routeproof.checker.evaluation import Finding
from routeproof.checker.system import files, interrupts, memory
from routeproof.checker.system.files import (
    STDOUT,
    refuse_no_directory,
    refuse_one_for_two,
    refuse_unwritable,
    write_report,
)
from routeproof.checker.system.terminal import ProgressLine, complain, say
from routeproof.model.protocols import DEFINITIONS, all_policies, world

DESCRIPTION = """\
Check the properties of instances in every reachable state, or in runs drawn at random. Without
names, check every instance that ships, under each policy that its file lists, and replay the
counterexamples to the papers' claims. Each property that fails leaves a trace; `routeproof show`
prints it. An instance file may declare outcomes (must_fail, must_reach): check compares them with
the result. Limits apply to each search (an instance under one policy). A search that reaches a
limit has the verdict unknown, never "holds"."""
EXAMPLES = """\
  routeproof check                                       everything that ships
  routeproof check line3 star4 --policy active           two instances under one policy
  routeproof check mine.toml --json -                    a file of your own, as JSON
  routeproof check --property NoLostDelivery Agreement   only these two
  routeproof check two4 --policy lazy --seconds 60 --checkpoint two4.checkpoint
                                                         one minute; run it again to continue
  routeproof check --mutant removals-first               which property catches this fault?
  routeproof check --engine fuzz --examples 500          larger instances, drawn at random"""


def check_parser() -> Parser:
    p = Parser("check", DESCRIPTION, EXAMPLES)
    _add_what(p.add_argument_group("what to check"))
    _add_how(p.add_argument_group("how"))
    _add_reports(p.add_argument_group("reports"))
    return p


def _add_what(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("names", nargs="*", metavar="NAME", help="an instance that ships (routeproof list instances), or a file")
    add("--instance", action="append", default=[], type=Path, metavar="FILE", help="an instance file; repeatable")
    protocol = f"check only instances of P: {', '.join(DEFINITIONS)}, or module:NAME for a protocol of your own"
    add("--protocol", metavar="P", type=one_of(tuple(DEFINITIONS), "protocol"), help=protocol)
    policies = f"{', '.join(all_policies())}; default: those of the instance file"
    add("--policy", metavar="P", type=one_of(all_policies(), "policy"), help=policies)
    properties = "check only these properties (routeproof list properties)"
    add("--property", nargs="+", action="extend", metavar="ID", help=properties)
    add("--mutant", metavar="ID", help="put in a seeded fault (routeproof list mutants)")


def _add_how(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--engine", default="explore", metavar="E", type=_engine, help="explore (default: every state) or fuzz")
    add_workers(group, "number of worker processes; default: one per core")
    add("--max-states", metavar="N", type=whole(1), help="explore: end each search after N states")
    about = "explore: end searches before all together exceed SIZE (500M, 2G); default: most of the free memory"
    add("--max-memory", metavar="SIZE", type=memory.size, help=about)
    add("--seconds", metavar="S", type=seconds, help="end each search after S seconds")
    reduction = one_of(("symmetry", "por"), "reduction")
    symmetry = "explore: reduce the search by symmetry or por (partial order); repeatable"
    add("--reduction", action="append", default=[], metavar="R", type=reduction, help=symmetry)
    checkpoint = "explore, one search: continue from FILE if it exists; write FILE if a limit ends the search"
    add("--checkpoint", metavar="FILE", type=Path, help=checkpoint)
    add("--seed", metavar="N", type=whole(0), help="fuzz: the seed of the random draws; the explorer draws nothing")
    profile = one_of(("fast", "long"), "profile")
    add("--profile", metavar="P", type=profile, help="fuzz: fast (default), or long for campaigns")
    add("--examples", metavar="N", type=whole(1), help="fuzz: number of runs, instead of the profile's number")


def _engine(name: str) -> str:
    """An engine's name. `prove` is none, and is refused where the whole question is known, with what to do instead."""
    return name if name == "prove" else one_of(("explore", "fuzz"), "engine")(name)


def _add_reports(group: argparse._ArgumentGroup) -> None:
    add_json(group)
    group.add_argument("--junit", metavar="FILE", type=Path, help="write the report as JUnit XML")
    group.add_argument("--github", action="store_true", help="print annotations for GitHub Actions")
    traces = f"write traces to DIR, also of declared failures; default: {FOUND}, without declared failures"
    group.add_argument("--traces", metavar="DIR", type=Path, help=traces)


def check_command(arguments: argparse.Namespace) -> int:
    options = options_of(arguments)
    jobs = jobs_of(arguments, options)
    not_asked = not_asked_of(arguments, options)
    refuse_unwritable(arguments.json)
    refuse_unwritable(arguments.junit)
    refuse_unwritable(arguments.checkpoint)
    named = {"--json": arguments.json, "--junit": arguments.junit, "--checkpoint": arguments.checkpoint}
    refuse_one_for_two(named)
    refuse_no_directory(arguments.traces or FOUND)
    began = time.monotonic()
    workers = min(arguments.workers or cores(), len(jobs))
    if most := arguments.max_memory or memory.most():
        jobs = [evolve(job, options=evolve(job.options, max_memory=most // workers)) for job in jobs]
    results = run_all(jobs, workers, ProgressLine(len(jobs)))
    claims = _claims(is_everything(arguments) and options.properties is None and not results.interrupted)
    with interrupts.noted():  # a verdict that is there is reported
        outcomes = [JobOutcome(job, result) for job, result in zip(jobs, results.by_job, strict=True)]
        for result in results.by_job:
            if result is not None and result.unsaved:
                files.note_unwritten(arguments.checkpoint, f"{result.unsaved}; the search was not saved")
        concluded = conclude(options, outcomes, is_everything(arguments), time.monotonic() - began)
        concluded = evolve(
            concluded,
            failures=(*concluded.failures, *(claims or ())),
            undetermined=(*concluded.undetermined, *([results.trouble] if results.trouble else [])),
            not_asked=not_asked,
            ended=interrupts.exit_code() if results.interrupted or claims is None else None,
        )
        concluded = evolve(concluded, traces=_written(concluded, arguments.traces))
        _report(concluded, arguments)
        if concluded.interrupted:
            complain(interrupts.what_came(), concluded.exit_code)
        elif results.trouble:
            complain(results.trouble, concluded.exit_code)
    return concluded.exit_code


def _claims(asked: bool) -> list[Failure] | None:
    """The claims of papers that their counterexamples do not show any more; None if a signal came first."""
    if not asked:
        return []
    from routeproof.checker.check.conclusion import unshown

    try:
        return unshown()
    except KeyboardInterrupt:
        return None


def _written(run: Run, directory: Path | None) -> dict[tuple[str, str, str], Path]:
    """Writes a trace for each failure; for a declared failure only if the user gave a directory."""
    wanted: tuple[Status, ...] = ("fails",) if directory is None else ("fails", "declared")
    written: dict[tuple[str, str, str], Path] = {}
    for outcome in run.outcomes:
        for finding in outcome.with_status(*wanted):
            if finding.unwritten:
                files.note_unwritten(directory or FOUND, finding.unwritten)
            path = finding.trace or _write(outcome.job, finding, directory or FOUND)
            if path is not None:
                written[outcome.job.name, outcome.job.policy, finding.property] = path
    return written


def _write(job: Job, finding: Finding, directory: Path) -> Path | None:
    if finding.run is None or job.instance is None:
        return None
    from routeproof.checker.counterexamples.record import write_counterexample

    try:
        return write_counterexample(world(job.instance, job.policy, job.options.mutant), finding, directory)
    except OSError as error:
        files.note_unwritten(error.filename or directory, error)
        return None


def _report(run: Run, arguments: argparse.Namespace) -> None:
    """With `--json -` standard output holds the object and nothing else."""
    alone = arguments.json == STDOUT
    if not alone:
        say(render(run))
    if arguments.junit is not None:
        write_report(arguments.junit, junit(run))
    if arguments.json is not None:
        write_report(arguments.json, json_report(run))
    if arguments.github and (annotations := github(run)):
        say(annotations, file=sys.stderr if alone else None)
