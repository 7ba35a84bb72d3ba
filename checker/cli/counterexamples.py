"""Traces made readable: `routeproof show` prints one for people, `routeproof shrink` makes one minimal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path

from routeproof.checker.cli.arguments import TRACE, Parser, seconds
from routeproof.checker.system.errors import UsageError, ended, unknown
from routeproof.checker.system.files import STDOUT, refuse_unwritable, write_text
from routeproof.checker.system.terminal import Ticker, say

SHOW_DESCRIPTION = """\
Print a trace as text or as a sequence diagram. A counterexample is replayed first: each step is
printed with its broker, the rules that applied, and the changes of the tables. If the replay
differs from the trace, the first line names the first step that differs, and the exit code is 1.
A recorded run of a broker is printed event by event."""
SHOW_EXAMPLES = """\
  routeproof show traces/found/routing-two4-lazy-Agreement.jsonl
  routeproof show TRACE.jsonl --format mermaid -o trace.mmd"""


def show_parser() -> Parser:
    p = Parser("show", SHOW_DESCRIPTION, SHOW_EXAMPLES)
    p.add_argument("trace", metavar="TRACE", type=Path, help=TRACE)
    p.add_argument("--format", metavar="F", default="text", help="text (default) or mermaid (a sequence diagram)")
    p.add_argument("-o", "--output", metavar="FILE", default=STDOUT, help="write to FILE instead of printing")
    return p


def show_command(arguments: argparse.Namespace) -> int:
    from routeproof.checker.counterexamples.show import FORMATS, read, refuse_unknown

    refuse_unwritable(arguments.output)
    refuse_unknown(arguments.format)
    shown = read(arguments.trace)
    write_text(arguments.output, FORMATS[arguments.format](shown))
    return 1 if shown.is_false else 0


SHRINK_DESCRIPTION = """\
Make a trace as short as possible while it still shows the same failure. From a counterexample (a
trace that check wrote), shrink leaves out every event, client, broker and predicate without which
the same property still fails. If the replay of the counterexample differs from the trace, shrink
prints the first step that differs, writes nothing, and ends with exit code 1.

From a recorded run that validate rejects, shrink leaves out every event, client and broker without
which the first rejection is still the same: the same rule, at the same event of the same broker.
Events keep their seq and their times. What shrink writes has been validated. A signal, or the end
of --seconds, ends the search; the shortest trace so far is written."""
SHRINK_EXAMPLES = """\
  routeproof shrink traces/found/routing-two4-lazy-Agreement.jsonl -o small.jsonl
  routeproof shrink run.parquet -o small.jsonl --seconds 60"""


def shrink_parser() -> Parser:
    p = Parser("shrink", SHRINK_DESCRIPTION, SHRINK_EXAMPLES)
    trace = "a trace that routeproof check wrote, or a recorded run; - is standard input"
    p.add_argument("trace", metavar="TRACE", type=Path, help=trace)
    output = "the file for the shorter trace, in JSON Lines; - is standard output"
    p.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help=output)
    p.add_argument("--seconds", metavar="S", type=seconds, help="end the search after S seconds; default: no limit")
    level = "for a recorded run: the level at which it is judged, as in validate (default: equivalent)"
    p.add_argument("--level", metavar="L", help=level)
    p.add_argument("--protocol", metavar="P", help="for a recorded run: judge by protocol P")
    p.add_argument("--policy", metavar="P", help="for a recorded run: judge by policy P")
    return p


def shrink_command(arguments: argparse.Namespace) -> int:
    from routeproof.checker.counterexamples import is_counterexample
    from routeproof.checker.counterexamples.recorded import NotRejected
    from routeproof.checker.counterexamples.shrink import NotReproduced, shrink_file
    from routeproof.traces import TraceError, open_trace
    from routeproof.traces.files import stored

    refuse_unwritable(arguments.output)
    limit = inf if arguments.seconds is None else arguments.seconds
    interrupted: list[BaseException] = []
    try:
        with stored(arguments.trace) as source, Ticker() as ticker:
            with open_trace(source) as (header, _):
                is_claimed = is_counterexample(header)
            if not is_claimed:
                said = _recorded(source, arguments, limit, ticker, interrupted.append)
            else:
                for option in ("level", "protocol", "policy"):
                    if getattr(arguments, option) is not None:
                        why = "is for recorded runs; this trace is a counterexample; leave it out"
                        raise UsageError(f"shrink: --{option} {why}")
                ticker.doing = "shrink"
                said = shrink_file(source, arguments.output, limit, interrupted.append)
    except TraceError as error:
        raise UsageError(str(error)) from None
    except (NotReproduced, NotRejected) as error:
        say(f"{error}; nothing was written")
        return 1
    say(said, file=sys.stderr if str(arguments.output) == STDOUT else None)
    return ended(interrupted[0]) if interrupted else 0


def _recorded(
    source: Path,
    arguments: argparse.Namespace,
    limit: float,
    ticker: Ticker,
    stopped: Callable[[BaseException], object],
) -> str:
    from routeproof.checker.counterexamples.recorded import shrink_recorded
    from routeproof.checker.validate import LEVELS

    level = arguments.level or "equivalent"
    if level not in LEVELS:
        raise unknown("level", level, LEVELS)

    def tell(what: str) -> None:
        ticker.doing = f"shrink: {what}"

    tell("the whole trace is judged")
    return shrink_recorded(
        source,
        arguments.output,
        level,
        protocol=arguments.protocol,
        policy=arguments.policy,
        seconds=limit,
        tell=tell,
        stopped=stopped,
    )
