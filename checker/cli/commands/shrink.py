"""`routeproof shrink`: makes a counterexample minimal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from routeproof.checker.cli.arguments import Parser
from routeproof.checker.system.files import STDOUT, refuse_unwritable
from routeproof.checker.system.terminal import say

DESCRIPTION = """\
Make a counterexample minimal: leave out every event, client, broker and predicate without which
the same property still fails. FILE gets a trace of the same violation. If the replay of the
counterexample differs from the trace, shrink prints the first step that differs, writes nothing,
and ends with exit code 1."""
EXAMPLES = """\
  routeproof shrink traces/found/routing-two4-lazy-Agreement.jsonl -o small.jsonl"""


def parser() -> Parser:
    p = Parser("shrink", DESCRIPTION, EXAMPLES)
    p.add_argument("trace", metavar="TRACE", type=Path, help="a trace that routeproof check wrote; - is standard input")
    p.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="the file for the minimal trace; - is standard output",
    )
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.counterexamples.shrink import NotReproduced, shrink_file

    refuse_unwritable(arguments.output)
    try:
        said = shrink_file(arguments.trace, arguments.output)
        say(said, file=sys.stderr if str(arguments.output) == STDOUT else None)
    except NotReproduced as error:
        say(f"{error}; nothing was written")
        return 1
    return 0
