"""`routeproof prove`: what holds of everything, not only of what was tried."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from routeproof.checker.arguments import Parser, add_json
from routeproof.checker.errors import UsageError, unknown
from routeproof.checker.files import STDOUT, refuse_unwritable, write_text
from routeproof.checker.terminal import say

if TYPE_CHECKING:
    from routeproof.checker.prove.judge import AnyTheorem

DESCRIPTION = """\
Prove theorems with Z3: all of them, or those that are named. Each is proved for all sizes, proved
up to a bound, refuted with a counterexample, vacuous, or unknown. Which it is depends on limits
of resources, not on time, and is the same on every run. docs/proofs.md says how to read one.
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
    add_json(p)
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.prove.judge import judge
    from routeproof.checker.prove.report import as_json, exit_code, render

    theorems = _theorems(arguments)
    for id in arguments.theorems:
        if id not in theorems:
            raise unknown("theorem", id, theorems)
    refuse_unwritable(arguments.json)
    asked = [theorems[id] for id in theorems if id in (arguments.theorems or theorems)]
    start = time.monotonic()
    judged = [judge(theorem, progress=_progress) for theorem in asked]
    _clear()
    if arguments.json != STDOUT:
        say(render(judged, time.monotonic() - start))
    if arguments.json is not None:
        write_text(arguments.json, as_json(asked, judged))
    return exit_code(judged)


def _theorems(arguments: argparse.Namespace) -> Mapping[str, AnyTheorem]:
    """All of them; with --refinement those that are about it, of the instances that were asked for."""
    from routeproof.checker.instances import find
    from routeproof.checker.prove.refine.rows import theorems
    from routeproof.checker.prove.refine.sample import Sample
    from routeproof.checker.prove.theorems import THEOREMS
    from routeproof.model.routing_mutants import MUTANTS

    names, mutant = arguments.refinement, arguments.mutant
    if names is None:
        if mutant is not None:
            raise UsageError("--mutant is for --refinement; to look for one with a property: routeproof check --mutant")
        return THEOREMS
    if mutant is not None and mutant not in MUTANTS:
        raise unknown("mutant", mutant, MUTANTS)
    for name in names:
        if find(name).protocol != "routing":
            raise UsageError(f"--refinement is of the protocol routing; {name} is an instance of {find(name).protocol}")
    sample = Sample.of(tuple(dict.fromkeys(names)), mutant) if names else Sample.everything(mutant)
    return {theorem.id: theorem for theorem in theorems(sample)}


def _progress(theorem: str, done: int, total: int) -> None:
    """Silent unless somebody is looking."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r{f'{theorem}: {done} of {total} obligations':<60}", end="", file=sys.stderr, flush=True)


def _clear() -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)
