"""`routeproof bench`: how fast everything is, and how much memory it takes."""

from __future__ import annotations

import argparse
import json

from routeproof.checker.arguments import Parser, add_json
from routeproof.checker.files import STDOUT, refuse_unwritable, write_text
from routeproof.checker.terminal import say

DESCRIPTION = """\
Measure, each beside its yardstick in one run. explore: states per second of processor time and
bytes per state, beside a plain search; validate: events per second on one core and on Spark, and
memory; broker: operations per second at two sizes of the table; simulate: the controlled workload
at full size. All of it takes some fifteen minutes."""
EXAMPLES = """\
  routeproof bench validate
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
