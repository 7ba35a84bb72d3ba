"""Spark writes the same metrics as one core does, to the last byte, however a trace is kept and wherever it is cut."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from routeproof.checker.cli import main
from routeproof.checker.validate import Report, setting_of, validate_each
from routeproof.checker.validate.metrics import measured
from routeproof.checker.validate.spark import groups
from routeproof.checker.validate.spark.job import judge
from routeproof.traces import to_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = ("metrics.parquet", "delays.parquet")


def test_the_same_files(tmp_path: Path, spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the traces has a broker that is rejected in one of its first parts."""
    monkeypatch.setattr(groups, "PART_EVENTS", 60)
    words = ("--scale", "0.0005", "--trace", "--snapshots", "50", "--out", str(tmp_path))
    assert main(["run", "controlled", *words]) == 0
    good, spoiled, columns = (tmp_path / name for name in ("trace.jsonl", "spoiled.jsonl", "trace.parquet"))
    to_parquet(good, columns, cut_at_snapshots=True)
    spoiled.write_text(without_a_send(good.read_text()))
    for trace, verdict in ((good, "accepted"), (spoiled, "rejected"), (columns, "accepted")):
        there = judge(spark, trace, measured(trace, setting_of(trace, "exact"), tmp_path / "there"), ranges=1 << 20)
        assert there.verdict == verdict
        assert here(trace, tmp_path / "here").verdict == verdict
        for name in FILES:
            assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def here(trace: Path, target: Path) -> Report:
    [report] = validate_each([(trace, measured(trace, setting_of(trace, "exact"), target))])
    return report


def without_a_send(text: str) -> str:
    lines = text.splitlines(keepends=True)
    mine = [at for at, line in enumerate(lines) if at and json.loads(line)["broker"] == "b5"]
    sends = [at for at in mine if '"event":"send"' in lines[at]]
    del lines[sends[len(sends) // 4]]
    return "".join(lines)
