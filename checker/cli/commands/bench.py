"""`routeproof bench`: measures speed and memory."""

from __future__ import annotations

import argparse

from routeproof.checker.cli.arguments import Parser, add_json
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import ended, gathered
from routeproof.checker.system.files import STDOUT, refuse_unwritable, write_report
from routeproof.checker.system.terminal import Ticker, json_text, say

DESCRIPTION = """\
Measure speed and memory, each next to a yardstick that is measured in the same run:

  explore    states per CPU second and bytes per state, next to a plain search
  validate   events per second on one core and on Spark, and memory
  broker     operations per CPU second with 5,000 and with 50,000 subscriptions
  simulate   the controlled workload at full size

All four take about fifteen minutes."""
EXAMPLES = """\
  routeproof bench validate
  routeproof bench explore --json bench.json"""


def parser() -> Parser:
    p = Parser("bench", DESCRIPTION, EXAMPLES)
    p.add_argument("names", metavar="NAME", nargs="*", help="explore, validate, broker or simulate; default: all four")
    add_json(p)
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.experiments.bench import bench, by_suite, render

    refuse_unwritable(arguments.json)
    with Ticker() as ticker:

        def doing(what: str) -> None:
            ticker.doing = f"bench {what}"

        rows, error = gathered(bench(arguments.names, doing))
    report = by_suite(rows)
    with interrupts.noted():  # what was measured is reported
        if arguments.json != STDOUT:
            say(render(report))
        if arguments.json is not None:
            write_report(arguments.json, json_text(report))
        return 0 if error is None else ended(error)
