"""`routeproof show`: a trace, for people."""

from __future__ import annotations

import argparse
from pathlib import Path

from routeproof.checker.arguments import Parser
from routeproof.checker.files import STDOUT, refuse_unwritable, write_text

DESCRIPTION = """\
Print a trace. A counterexample is played again on the way: every step with its broker, the rules
that applied, and what changed. Formats: text (the default), mermaid (a sequence diagram)."""
EXAMPLES = """\
  routeproof show traces/found/routing-two4-lazy-Agreement.jsonl
  routeproof show TRACE.jsonl --format mermaid -o trace.mmd"""


def parser() -> Parser:
    p = Parser("show", DESCRIPTION, EXAMPLES)
    p.add_argument("trace", metavar="TRACE", type=Path, help="a trace in the format of docs/traces.md")
    p.add_argument("--format", metavar="F", default="text", help="text or mermaid")
    p.add_argument("-o", "--output", metavar="FILE", default=STDOUT, help="write it there instead of printing it")
    return p


def run(arguments: argparse.Namespace) -> int:
    from routeproof.checker.show import show

    refuse_unwritable(arguments.output)
    write_text(arguments.output, show(arguments.trace, arguments.format))
    return 0
