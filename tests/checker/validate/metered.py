"""What the tests of recomputed metrics share: traces of the simulator, and the files that `validate` writes of them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from routeproof.checker.cli import main

WORKLOADS = {"controlled": 0.001, "controlled-001": 0.002, "stock": 0.002, "stock-enterprise": 0.002, "zipf": 0.001}
"""And scales at which they take less than a second."""

Columns = dict[str, list[Any]]
Row = dict[str, Any]


def simulated(folder: Path, name: str, policy: str = "active", snapshots: int = 0, scale: float | None = None) -> Path:
    """The trace; the simulator's metrics are beside it."""
    more = ("--snapshots", str(snapshots)) if snapshots else ()
    scaled = str(WORKLOADS[name] if scale is None else scale)
    assert main(["run", name, "--policy", policy, "--scale", scaled, "--out", str(folder), "--trace", *more]) == 0
    return folder / "trace.jsonl"


def recomputed(trace: Path, *words: str, code: int = 0) -> tuple[Columns, Columns]:
    target = trace.parent / "again"
    assert main(["validate", str(trace), "--metrics", str(target), *words]) == code
    return columns(target)


def columns(folder: Path) -> tuple[Columns, Columns]:
    """Of the samples and of the delays."""
    return pq.read_table(folder / "metrics.parquet").to_pydict(), pq.read_table(folder / "delays.parquet").to_pydict()


def rewritten(trace: Path, *, without: Iterable[str] = (), **header: object) -> Path:
    """The same without some keys, and with others in the header; None takes one away."""
    first, *lines = trace.read_text().splitlines()
    head = {key: value for key, value in {**json.loads(first), **header}.items() if value is not None}
    rows = [{key: value for key, value in json.loads(line).items() if key not in without} for line in lines]
    return written(trace.with_name("rewritten.jsonl"), [head, *rows])


def written(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
