"""`routeproof show`: prints a trace for people."""

from __future__ import annotations

import argparse
from pathlib import Path

from routeproof.checker.cli.arguments import Parser
from routeproof.checker.system.files import STDOUT, refuse_unwritable, write_text

DESCRIPTION = """\
Print a trace as text or as a sequence diagram. A counterexample is replayed first: each step is
printed with its broker, the rules that applied, and the changes of the tables. If the replay
differs from the trace, the first line names the first step that differs, and the exit code is 1.
A recorded run of a broker is printed event by event."""
EXAMPLES = """\
  routeproof show traces/found/routing-two4-lazy-Agreement.jsonl
  routeproof show TRACE.jsonl --format mermaid -o trace.mmd"""


def parser() -> Parser:
    p = Parser("show", DESCRIPTION, EXAMPLES)
    p.add_argument(
        "trace",
        metavar="TRACE",
        type=Path,
        help="a trace in the format of docs/reference/trace-format.md; - is standard input",
    )
    p.add_argument("--format", metavar="F", default="text", help="text (default) or mermaid (a sequence diagram)")
    p.add_argument("-o", "--output", metavar="FILE", default=STDOUT, help="write to FILE instead of printing")
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.counterexamples.show import read, refuse_unknown, shown_as

    refuse_unwritable(arguments.output)
    refuse_unknown(arguments.format)
    shown = read(arguments.trace)
    write_text(arguments.output, shown_as(shown, arguments.format))
    return 1 if shown.is_false else 0
