"""Damaged traces on Spark: the report of one core, at each level and in both forms."""

import random
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from routeproof.checker.validate import Level, setting_of, validate
from routeproof.checker.validate.spark.job import judge
from routeproof.traces import to_parquet
from tests.campaigns import daily
from tests.checker.validate.damage import DAMAGES, MISHAPS, Row, with_loss
from tests.checker.validate.test_damage import accepted_run
from tests.checker.validate.walks import write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All damages, each with a lost delivery elsewhere, and all mishaps: a run each, in one trace."""
    rows, rng = accepted_run(tmp_path_factory.mktemp("run"), "0.0015"), random.Random(0)
    runs: dict[str, list[Row]] = {name: with_loss(each.damaged(rows, rng), rng)[0] for name, each in DAMAGES.items()}
    runs |= {name: mishap(rows) for name, mishap in MISHAPS.items()}
    assert len(runs) == len(DAMAGES) + len(MISHAPS)
    told = [rows[0], *({**row, "run": name} for name, run in runs.items() for row in run[1:])]
    path = write(told, tmp_path_factory.mktemp("together") / "trace.jsonl")
    to_parquet(path, path.with_suffix(".parquet"))
    return path


CASES: list[tuple[Literal["jsonl", "parquet"], Level]] = [
    ("jsonl", "exact"),
    ("jsonl", "observable"),
    ("parquet", "exact"),
    ("parquet", "observable"),
]


@pytest.mark.parametrize(("form", "level"), daily(CASES, lambda case: case == ("jsonl", "exact")))
def test_the_report_is_that_of_one_core(form: str, level: Level, together: Path, spark: "SparkSession") -> None:
    path = together.with_suffix(f".{form}")
    expected = validate(path, level)
    assert {r.run for r in expected.rejections if r.rule == "TRC-7"} == {*DAMAGES, "dropped"}
    assert judge(spark, path, setting_of(path, level), ranges=1 << 20) == expected
