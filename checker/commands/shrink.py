"""`routeproof shrink`: a counterexample made minimal."""

from __future__ import annotations

import argparse
from pathlib import Path

from routeproof.checker.arguments import Parser
from routeproof.checker.files import refuse_unwritable
from routeproof.checker.terminal import say

DESCRIPTION = """\
Make a counterexample minimal: no event can be dropped, and no smaller overlay or filter does. The
result is a trace of the same violation, in FILE."""
EXAMPLES = """\
  routeproof shrink traces/found/routing-two4-lazy-Agreement.jsonl -o small.jsonl"""


def parser() -> Parser:
    p = Parser("shrink", DESCRIPTION, EXAMPLES)
    p.add_argument("trace", metavar="TRACE", type=Path, help="a trace that routeproof check wrote")
    p.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="where the smaller one goes")
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.shrink import shrink_file

    refuse_unwritable(arguments.output)
    say(shrink_file(arguments.trace, arguments.output))
    return 0
