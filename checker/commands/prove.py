"""`routeproof prove`: what holds of everything, not only of what was tried."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from routeproof.checker.arguments import Parser, add_json, whole
from routeproof.checker.errors import UsageError, unknown
from routeproof.checker.files import STDOUT, refuse_no_directory, refuse_unwritable, write_text
from routeproof.checker.jobs import FOUND, cores
from routeproof.checker.terminal import say

if TYPE_CHECKING:
    from routeproof.checker.prove.running import Catalogue

DESCRIPTION = """\
Prove theorems with Z3: all of them, or those that are named. Each is proved for all sizes, proved
up to a bound, refuted with a counterexample, vacuous, or unknown. Which it is depends on limits
of resources, not on time, and is the same on every run. docs/proofs.md says how to read one.
A counterexample that is a world is written as a trace, too (docs/proofs-routing.md).
With --refinement: whether the model takes exactly the steps that the relation of the proofs allows,
in every instance that ships or in those that are named (docs/refinement.md)."""
EXAMPLES = """\
  routeproof prove
  routeproof prove NumbersCover ModelCovers
  routeproof prove --json proofs.json
  routeproof prove --refinement
  routeproof prove --refinement tiny --mutant removals-first"""


def parser() -> Parser:
    p = Parser("prove", DESCRIPTION, EXAMPLES)
    p.add_argument("theorems", metavar="THEOREM", nargs="*", help="see: routeproof list theorems")
    p.add_argument("--refinement", metavar="INSTANCE", nargs="*", help="hold the model to the relation of the proofs")
    p.add_argument("--mutant", metavar="ID", help="with --refinement: of the model with this seeded fault")
    p.add_argument(
        "--workers", metavar="N", type=whole(1), help="theorems at a time, each in a process; default: one a core"
    )
    add_json(p)
    traces = f"write counterexamples there as traces, where there is a world to show; default: {FOUND}"
    p.add_argument("--traces", metavar="DIR", type=Path, help=traces)
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.prove.basis import with_their_basis
    from routeproof.checker.prove.report import as_json, exit_code, render
    from routeproof.checker.prove.running import judge_all
    from routeproof.checker.prove.written import write_traces

    catalogue = _catalogue(arguments)
    theorems = catalogue.theorems()
    for id in arguments.theorems:
        if id not in theorems:
            raise unknown("theorem", id, theorems)
    refuse_unwritable(arguments.json)
    refuse_no_directory(arguments.traces or FOUND)
    asked = [theorems[id] for id in theorems if id in (arguments.theorems or theorems)]
    start = time.monotonic()
    try:
        alone = judge_all(catalogue, [each.id for each in asked], arguments.workers or cores(), _progress)
    finally:
        _clear()
    judged = with_their_basis(asked, alone)
    traces = write_traces(judged, arguments.traces or FOUND)
    if arguments.json != STDOUT:
        say(render(judged, time.monotonic() - start, traces))
    if arguments.json is not None:
        write_text(arguments.json, as_json(asked, judged, traces))
    return exit_code(judged)


def _catalogue(arguments: argparse.Namespace) -> Catalogue:
    """All of them; with --refinement those that are about it, of the instances that were asked for."""
    from routeproof.checker.prove.running import Catalogue

    if arguments.refinement is None and arguments.mutant is not None:
        raise UsageError("--mutant is for --refinement; to look for one with a property: routeproof check --mutant")
    return Catalogue(None if arguments.refinement is None else tuple(arguments.refinement), arguments.mutant)


def _progress(what: str, done: int, total: int) -> None:
    """Silent unless somebody is looking."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r{f'{what}: {done} of {total}':<60}", end="", file=sys.stderr, flush=True)


def _clear() -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)
