"""`routeproof prove`: proves theorems that hold for all sizes, with Z3."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from routeproof.checker.check import FOUND, cores
from routeproof.checker.cli.arguments import Parser, add_json, add_workers
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import UsageError, unknown
from routeproof.checker.system.files import STDOUT, refuse_no_directory, refuse_unwritable, write_report
from routeproof.checker.system.terminal import StatusLine, say

if TYPE_CHECKING:
    from routeproof.checker.prove.theorems import Catalogue


DESCRIPTION = """\
Prove the named theorems, or all theorems, with Z3. Each theorem is proved for all sizes, proved
up to a bound, refuted with a counterexample, vacuous, or unknown. The limits are on Z3's
resources and not on time, so that the verdict is the same on every run. A counterexample that is
a state of a network is also written as a trace. See docs/explanation/proofs.md and
docs/explanation/proofs-routing.md.

With --refinement: check that the model takes exactly the steps that the relation of the proofs
allows, in the named instances or in all that ship. See docs/explanation/refinement.md."""
EXAMPLES = """\
  routeproof prove
  routeproof prove NumbersCover ModelCovers
  routeproof prove NoLostDelivery --with-premises
  routeproof prove --json proofs.json
  routeproof prove --refinement
  routeproof prove --refinement tiny --mutant removals-first"""


def prove_parser() -> Parser:
    p = Parser("prove", DESCRIPTION, EXAMPLES)
    p.add_argument("theorems", metavar="THEOREM", nargs="*", help="see: routeproof list theorems")
    p.add_argument("--with-premises", action="store_true", help="prove also all that the named theorems rest on")
    refinement = "compare the model with the relation of the proofs"
    p.add_argument("--refinement", metavar="INSTANCE", nargs="*", help=refinement)
    p.add_argument("--mutant", metavar="ID", help="with --refinement: put this seeded fault into the model")
    add_workers(p, "theorems at a time, each in its own process; default: one per core")
    add_json(p)
    traces = f"write counterexamples to DIR as traces; default: {FOUND}"
    p.add_argument("--traces", metavar="DIR", type=Path, help=traces)
    return p


def prove_command(arguments: argparse.Namespace) -> int:
    from routeproof.checker.prove.report import as_json, exit_code, render
    from routeproof.checker.prove.theorems import judge_all, with_premises, with_their_basis
    from routeproof.checker.prove.trace import write_traces

    catalogue = _catalogue(arguments)
    theorems = catalogue.theorems()
    for id in arguments.theorems:
        if id not in theorems:
            raise unknown("theorem", id, theorems)
    refuse_unwritable(arguments.json)
    refuse_no_directory(arguments.traces or FOUND)
    named = arguments.theorems or theorems
    chosen = with_premises(named, theorems) if arguments.with_premises else named
    asked = [theorems[id] for id in theorems if id in chosen]
    start = time.monotonic()
    line = StatusLine()
    try:
        alone = judge_all(
            catalogue,
            [each.id for each in asked],
            arguments.workers or cores(),
            lambda what, done, total: line.show(f"{what}: {done} of {total}"),
        )
    finally:
        line.clear()
    with interrupts.noted():  # a verdict that is there is reported
        judged = with_their_basis([*theorems.values()], alone)
        traces = write_traces(judged, arguments.traces or FOUND)
        if arguments.json != STDOUT:
            say(render(judged, time.monotonic() - start, traces))
        if arguments.json is not None:
            write_report(arguments.json, as_json(asked, judged, traces))
    return exit_code(judged)


def _catalogue(arguments: argparse.Namespace) -> Catalogue:
    """Returns the catalogue of theorems; with --refinement only those about refinement, for the named instances."""
    from routeproof.checker.prove.theorems import Catalogue

    if arguments.refinement is None and arguments.mutant is not None:
        raise UsageError(
            "--mutant needs --refinement; to see which property catches a mutant: routeproof check --mutant ID"
        )
    return Catalogue(None if arguments.refinement is None else tuple(arguments.refinement), arguments.mutant)
