"""Traces of moves of the mesh on Spark: the report of one core, for good runs and for corrupted ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from routeproof.checker.validate import setting_of, validate
from routeproof.checker.validate.spark.job import judge
from routeproof.traces import to_parquet
from tests.checker.validate.corrupt import as_run
from tests.kit.runs import run_of, write
from tests.mesh.test_validated import CORRUPTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_moves(spark: SparkSession, tmp_path: Path) -> None:
    rows = run_of("mover3", "none", 0)[:1]
    for seed in range(4):
        rows += as_run(run_of("mover3", "none", seed), f"good {seed}")
    for name, (instance, spoil, _) in CORRUPTIONS.items():
        seeds = (run_of(instance, "none", seed) for seed in range(20)) if instance == "mover3" else ()
        mine = next((each for each in seeds if spoil(each)), None)
        if mine is not None:
            rows += as_run(mine, name)
    path = write(rows, tmp_path / "moves.jsonl")
    expected = validate(path, "exact")
    assert expected.verdict == "rejected"
    assert not [each for each in expected.rejections if each.run.startswith("good")]
    assert len({each.run for each in expected.rejections}) >= 6
    assert judge(spark, path, setting_of(path, "exact"), ranges=50_000) == expected
    to_parquet(path, parquet := tmp_path / "moves.parquet")
    assert judge(spark, parquet, setting_of(parquet, "exact"), ranges=50_000).rejections == expected.rejections
