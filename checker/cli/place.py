"""`routeproof place`: where the publishers of a recorded run should be."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from routeproof.checker.cli.arguments import (
    TRACE,
    Parser,
    add_engine,
    add_json,
    between,
    one_of,
    refuse_master,
    refuse_streams,
    report,
)
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import ended, gathered
from routeproof.checker.system.files import note_unwritten, refuse_no_directory, refuse_unwritable, write_report
from routeproof.checker.system.terminal import Ticker, json_text

if TYPE_CHECKING:
    from routeproof.checker.placement.engines import PlacementAnswer


DESCRIPTION = """\
Compute where each publisher of a recorded run should be: under POP, under GRAPE, and the best of
all brokers by brute force; and what the message rate, the load of brokers and the delay would
become. The trace needs publications of clients and deliveries. With a shared clock and receipts,
delays are measured; otherwise they are counted in hops. docs/reference/placement.md explains the
figures."""
EXAMPLES = """\
  routeproof place run.parquet                            the least message rate
  routeproof place run.jsonl --metric delay --weight 75   mostly the delay, then the message rate
  routeproof place run.parquet --out placed               tables, and a page with pictures
  routeproof place run.parquet --engine spark --json -"""

METRICS = ("load", "delay")


def place_parser() -> Parser:
    p = Parser("place", DESCRIPTION, EXAMPLES)
    p.add_argument("traces", metavar="TRACE", type=Path, nargs="+", help=TRACE)
    metric = "the metric that comes first: load (default), the input messages of all brokers, or delay"
    p.add_argument("--metric", metavar="M", default="load", type=one_of(METRICS, "metric"), help=metric)
    weight = "the weight of the metric, from 0 to 100 (default): GRAPE drops candidates above 100 - P"
    p.add_argument("--weight", metavar="P", default=100.0, type=between(0, 100, "a weight"), help=weight)
    add_engine(p, "the trace by its name")
    out = "write placement.parquet, load.parquet, placement.json and report.html into DIR; several traces: DIR/1, ..."
    p.add_argument("--out", metavar="DIR", type=Path, help=out)
    add_json(p, "the answers")
    return p


def place_command(arguments: argparse.Namespace) -> int:
    from routeproof.checker.placement.report import as_json, text
    from routeproof.traces.files import called, stored

    refuse_master("place", arguments)
    refuse_streams("place", arguments.traces, on_cluster=arguments.master is not None)
    refuse_unwritable(arguments.json)
    refuse_no_directory(arguments.out, "the answers")
    with ExitStack() as stack:
        paths = [stack.enter_context(stored(path)) for path in arguments.traces]
        ticker = stack.enter_context(Ticker())
        found, error = gathered(_placements(paths, arguments, ticker))
    with interrupts.noted():  # answers that are there are reported
        if arguments.out is not None:
            _write(found, arguments.out, several=len(paths) > 1)
        left = [called(path) for path in paths[len(found) :]]
        report(
            arguments.json,
            lambda: "\n\n".join(map(text, found)),
            lambda: {"placements": list(map(as_json, found)), "left": left},
        )
        code = 3 if any(each.bad.count for each in found) else 0
        if error is not None:
            code = ended(error)
    return code


def _placements(paths: list[Path], arguments: argparse.Namespace, ticker: Ticker) -> Iterator[PlacementAnswer]:
    from routeproof.checker.placement.choosing import Wish
    from routeproof.checker.placement.engines import place_each
    from routeproof.traces.files import called

    wish = Wish(arguments.metric, arguments.weight)
    return ticker.each(list(map(called, paths)), place_each(paths, wish, arguments.engine, arguments.master))


def _write(found: list[PlacementAnswer], out: Path, *, several: bool) -> None:
    """Writes the files of each trace. One that cannot be written is noted, and ends the command with exit code 2."""
    from routeproof.checker.placement.picture import page
    from routeproof.checker.placement.report import as_json, write_tables

    for number, each in enumerate(found, 1):
        folder = out / str(number) if several else out
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_tables(each, folder)
        except OSError as error:
            note_unwritten(folder, error)
            continue
        write_report(folder / "placement.json", json_text(as_json(each)))
        write_report(folder / "report.html", page(each))
