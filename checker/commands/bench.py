"""`routeproof bench`: how fast the explorer is, and how much it stores."""

from __future__ import annotations

import argparse
import json

from routeproof.checker.arguments import Parser, add_json
from routeproof.checker.files import STDOUT, refuse_unwritable, write_text
from routeproof.checker.terminal import say

DESCRIPTION = """\
Measure. For the explorer: distinct states per second of processor time, bytes per state, and the
ratio to a plain search over frozen objects of the same model."""
EXAMPLES = """\
  routeproof bench
  routeproof bench explore --json bench.json"""


def parser() -> Parser:
    p = Parser("bench", DESCRIPTION, EXAMPLES)
    p.add_argument("names", metavar="NAME", nargs="*", help="what to measure; without names, everything")
    add_json(p)
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.bench import bench, render

    refuse_unwritable(arguments.json)
    report = bench(arguments.names)
    if arguments.json is not None:
        write_text(arguments.json, json.dumps(report, indent=2) + "\n")
    if arguments.json != STDOUT:
        say(render(report))
    return 0
