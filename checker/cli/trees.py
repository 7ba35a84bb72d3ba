"""`routeproof trees`: many trees for a network, its documents and its subscriptions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from routeproof.checker.cli.arguments import (
    Parser,
    above_zero,
    add_engine,
    add_json,
    one_of,
    refuse_master,
    report,
    whole,
)
from routeproof.checker.system import interrupts
from routeproof.checker.system.files import note_unwritten, refuse_no_directory, refuse_unwritable, write_report
from routeproof.checker.system.terminal import Ticker, json_text

if TYPE_CHECKING:
    from routeproof.checker.trees.planning import TreesAnswer

DESCRIPTION = """\
Compute a routing strategy of many trees for a network of brokers: clusters of subscriptions, and a
spanning tree for each, so that documents cross few links. It is computed from a sample of the
documents, and evaluated for all of them, next to one tree for all (single), shortest paths (spt),
flooding, a tree for each document (opt) and channels (semcast). docs/reference/trees.md explains
tables, figures and files."""
EXAMPLES = """\
  routeproof trees links.csv documents.csv subscriptions.csv --sample 1
  routeproof trees links.parquet documents.parquet subscriptions.parquet --out planned
  routeproof trees links.csv documents.jsonl wanted.csv --algorithm hybrid --clusters 32 --study
  routeproof trees links.csv orc:documents table:catalog.wanted --engine spark --out planned"""

ALGORITHMS = ("mult", "mult2", "hybrid")
STARTS = ("documents", "interests", "subscriptions")


def trees_parser() -> Parser:
    p = Parser("trees", DESCRIPTION, EXAMPLES)
    table = "a Parquet, CSV or JSON Lines file, or a directory of them; on Spark also FORMAT:PATH or table:NAME"
    add = p.add_argument
    add("network", metavar="NETWORK", help=f"the links, with the columns from, to and cost: {table}")
    add("documents", metavar="DOCUMENTS", help="the documents: id, publisher, keywords and size")
    add("subscriptions", metavar="SUBSCRIPTIONS", help="the subscriptions: id, broker, keywords and match (any, all)")
    algorithm = "mult (default) merges by shared documents, mult2 by cost, hybrid the one and then the other"
    add("--algorithm", metavar="A", default="mult", type=one_of(ALGORITHMS, "algorithm"), help=algorithm)
    share, sample = (
        above_zero(1, "a share above 0, and 1 at most"),
        "share of the documents to compute from; default: 0.03",
    )
    add("--sample", metavar="X", default=0.03, type=share, help=sample)
    add("--seed", metavar="N", default=0, type=whole(0, (1 << 63) - 1), help="seed of the sample; default: 0")
    add("--split", action="store_true", help="cluster the alternatives of subscriptions one by one")
    start = "what begins as one cluster: subscriptions with the same sampled documents (default), interests, or each"
    add("--start", metavar="S", default="documents", type=one_of(STARTS, "start"), help=start)
    levels = "numbers of trees for which all constructions are compared, the best by hub trees; 0: all; default: 16"
    add("--levels", metavar="N", default=16, type=whole(0), help=levels)
    clusters = "with --algorithm hybrid: begin to merge by cost with N clusters; default: 64"
    add("--clusters", metavar="N", default=64, type=whole(1), help=clusters)
    add("--only", action="store_true", help="evaluate the strategy alone, and none to compare it with")
    add("--study", action="store_true", help="the sampling study: mult with samples from 0.1 %% to 50 %%")
    add_engine(p, "the tables by their names")
    add("--out", metavar="DIR", type=Path, help="write tables, trees.json and report.html into DIR")
    add_json(p, "the answer")
    return p


def trees_command(arguments: argparse.Namespace) -> int:
    from routeproof.checker.trees.engines import trees_of
    from routeproof.checker.trees.planning import TreesWish
    from routeproof.checker.trees.report import as_json, text

    refuse_master("trees", arguments)
    refuse_unwritable(arguments.json)
    refuse_no_directory(arguments.out, "the answer")
    wish = TreesWish(
        algorithm=arguments.algorithm,
        sample=arguments.sample,
        seed=arguments.seed,
        split=arguments.split,
        start=arguments.start,
        levels=arguments.levels or None,
        clusters=arguments.clusters,
        compare=not arguments.only,
        study=arguments.study,
    )
    sources = (arguments.network, arguments.documents, arguments.subscriptions)
    with Ticker() as ticker:
        ticker.doing = "trees"
        found = trees_of(sources, wish, arguments.engine, arguments.master)
    with interrupts.noted():  # an answer that is there is reported
        if arguments.out is not None:
            _write(found, arguments.out)
        report(arguments.json, lambda: text(found), lambda: as_json(found))
    return 0


def _write(found: TreesAnswer, out: Path) -> None:
    """Writes the files. One that cannot be written is noted, and ends the command with exit code 2."""
    from routeproof.checker.trees.report import as_json, page, write_tables

    try:
        out.mkdir(parents=True, exist_ok=True)
        write_tables(found, out)
    except OSError as error:
        note_unwritten(out, error)
        return
    write_report(out / "trees.json", json_text(as_json(found)))
    write_report(out / "report.html", page(found))
