"""`routeproof run`: the reference implementation under a workload, in virtual time or on real sockets."""

from __future__ import annotations

import argparse
import math
import os
import socket
from pathlib import Path

from routeproof.checker.arguments import Parser, one_of, seconds, whole
from routeproof.checker.commands.run_pruning import add_arguments as add_pruning
from routeproof.checker.commands.run_pruning import refuse_what_does_not_prune
from routeproof.checker.commands.run_words import TRACE
from routeproof.checker.errors import UsageError, unknown
from routeproof.impl.brokers import SPOKEN
from routeproof.impl.workloads import MOST_SCALE, SMALL, WORKLOADS, workload
from routeproof.model.suggest import quoted

DESCRIPTION = """\
Run the reference implementation: every broker of a workload's overlay, in virtual time, and nothing
left to chance but what the seed draws. DIR gets the metrics of each broker over time
(metrics.parquet), the delays of publications (delays.parquet), a summary (summary.json) and plots;
with --trace also what every broker was told, said and delivered (trace.jsonl).

With --tcp every broker is a process with sockets on the loopback interface, and time is real: DIR
gets the trace and a summary (docs/tcp.md)."""
EXAMPLES = """\
  routeproof run controlled --out out                     a hundredth of it, in seconds
  routeproof run controlled --policy lazy --scale 0.1 --out lazy
  routeproof run controlled --policy incremental --pruning cuts=2,100 --out pruned
  routeproof run stock --seed 7 --out stock --trace --snapshots 1000
  routeproof run zipf --scale 0.001 --tcp --out tcp       17 processes, and what they said
  routeproof list workloads                               what there is to run"""

TCP_ONLY = ("host", "pace", "seconds", "max_frame")

SMALLEST_FRAME = 4096


def parser() -> Parser:
    p = Parser("run", DESCRIPTION, EXAMPLES)
    add = p.add_argument
    add("workload", metavar="WORKLOAD", help="its name (routeproof list workloads)")
    policies = f"{', '.join(SPOKEN)}; default: active"
    add("--policy", metavar="P", default="active", type=one_of(SPOKEN, "policy"), help=policies)
    add_pruning(p)
    scale = f"its size, 1 being that of the paper; default: {SMALL}"
    add("--scale", metavar="X", default=SMALL, type=_scale, help=scale)
    add("--seed", metavar="N", default=0, type=whole(0), help="another seed is another drawing; default: 0")
    add("--out", metavar="DIR", required=True, type=Path, help="where the results go; made where it is missing")
    add("--trace", action="store_true", help=f"write {TRACE} too; --tcp always does")
    snapshots = "in the trace: a broker's tables after every N of its events"
    add("--snapshots", metavar="N", default=0, type=whole(1), help=snapshots)
    latency = "of every link, in milliseconds of virtual time; default: 1"
    add("--latency", metavar="MS", type=whole(0), help=latency)
    add("--tcp", action="store_true", help="a process for each broker, real sockets, real time")
    pace = "with --tcp: X seconds of the workload in each second; default: as fast as the brokers take it"
    add("--pace", metavar="X", type=_pace, help=pace)
    add("--seconds", metavar="S", type=seconds, help="with --tcp: give up after so long; default: 600")
    add("--host", metavar="H", type=_host, help="with --tcp: the address that brokers listen on; default: 127.0.0.1")
    add("--max-frame", metavar="BYTES", type=whole(SMALLEST_FRAME), help="with --tcp: of a message; default: 1 MiB")
    return p


def _scale(text: str) -> float:
    return _number(text, MOST_SCALE, f"up to {MOST_SCALE:g}, 1 being the paper's size")


def _pace(text: str) -> float:
    return _number(text, 1e9, "up to 1,000,000,000, 1 being real time")


def _host(text: str) -> str:
    try:
        if text:
            socket.getaddrinfo(text, 0, type=socket.SOCK_STREAM)
            return text
    except (OSError, UnicodeError):
        pass
    raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected an address of this machine")


def _number(text: str, most: float, range_: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= most:
        raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected a number above 0 and {range_}")
    return number


def run(arguments: argparse.Namespace) -> int:
    if arguments.workload not in WORKLOADS:
        raise unknown("workload", arguments.workload, WORKLOADS)
    _refuse_what_does_not_go_together(arguments)
    refuse_what_does_not_prune(arguments)
    _refuse_bad_directory(arguments.out)
    drawn = workload(arguments.workload, arguments.scale, arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.tcp:
        from routeproof.checker.commands.run_tcp import run_tcp

        return run_tcp(arguments, drawn)
    from routeproof.checker.commands.run_simulated import run_simulated

    return run_simulated(arguments, drawn)


def _refuse_what_does_not_go_together(arguments: argparse.Namespace) -> None:
    if arguments.tcp:
        if arguments.latency is not None:
            raise UsageError("run: --latency is for virtual time; leave out --tcp")
        return
    if arguments.snapshots and not arguments.trace:
        raise UsageError("run: --snapshots go into a trace; give --trace as well")
    given = next((name for name in TCP_ONLY if getattr(arguments, name) is not None), None)
    if given is not None:
        raise UsageError(f"run: --{given.replace('_', '-')} is for brokers on sockets; give --tcp as well")


def _refuse_bad_directory(out: Path) -> None:
    there = next((p for p in (out, *out.parents) if p.exists()), Path())
    if not there.is_dir():
        raise UsageError(f"{there}: is no directory; expected one for the results")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{there}: may not be written; expected a directory for the results")
