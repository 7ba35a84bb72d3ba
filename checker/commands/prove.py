"""`routeproof prove`: what holds of every filter, not only of those that were tried."""

from __future__ import annotations

import argparse
import sys
import time

from routeproof.checker.arguments import Parser, add_json
from routeproof.checker.errors import unknown
from routeproof.checker.files import STDOUT, refuse_unwritable, write_text
from routeproof.checker.terminal import say

DESCRIPTION = """\
Prove theorems with Z3: all of them, or those that are named. Each is proved for all sizes, proved
up to a bound, refuted with a counterexample, vacuous, or unknown. Which it is depends on limits
of resources, not on time, and is the same on every run. docs/proofs.md says how to read one."""
EXAMPLES = """\
  routeproof prove
  routeproof prove NumbersCover ModelCovers
  routeproof prove --json proofs.json"""


def parser() -> Parser:
    p = Parser("prove", DESCRIPTION, EXAMPLES)
    p.add_argument("theorems", metavar="THEOREM", nargs="*", help="see: routeproof list theorems")
    add_json(p)
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.prove.judge import judge
    from routeproof.checker.prove.report import as_json, exit_code, render
    from routeproof.checker.prove.theorems import THEOREMS

    for id in arguments.theorems:
        if id not in THEOREMS:
            raise unknown("theorem", id, THEOREMS)
    refuse_unwritable(arguments.json)
    asked = [THEOREMS[id] for id in THEOREMS if id in (arguments.theorems or THEOREMS)]
    start = time.monotonic()
    judged = [judge(theorem, progress=_progress) for theorem in asked]
    _clear()
    if arguments.json != STDOUT:
        say(render(judged, time.monotonic() - start))
    if arguments.json is not None:
        write_text(arguments.json, as_json(asked, judged))
    return exit_code(judged)


def _progress(theorem: str, done: int, total: int) -> None:
    """Silent unless somebody is looking."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r{f'{theorem}: {done} of {total} obligations':<60}", end="", file=sys.stderr, flush=True)


def _clear() -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)
