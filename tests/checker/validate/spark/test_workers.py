"""What all workers of a job have in common."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from routeproof.checker.cli import main
from routeproof.checker.validate import setting_of
from routeproof.checker.validate.spark import Batch, table_of
from routeproof.checker.validate.spark.job import judge
from routeproof.traces import to_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_all_workers_hash_text_alike_and_find_what_they_are_told(tmp_path: Path, spark: "SparkSession") -> None:
    """Else nothing would be found again, and nobody would notice."""

    def hashed(found: Iterator[Batch]) -> Iterator[Batch]:
        import os

        import pyarrow as pa

        for _ in found:
            yield pa.RecordBatch.from_pydict({"said": [f"{os.getpid()} {hash(('p', 'a', b'{}'))}"]})

    assert main(["run", "stock", "--scale", "0.01", "--trace", "--out", str(tmp_path)]) == 0
    to_parquet(tmp_path / "trace.jsonl", tmp_path / "trace.parquet")
    frame = spark.createDataFrame(table_of("n int", [(0,), (1,)])).repartitionById(2, "n")
    said = {row["said"] for row in frame.mapInArrow(hashed, "said string").collect()}
    assert len(said) == 2, "from two processes"
    assert len({each.split()[1] for each in said}) == 1
    for form in ("trace.jsonl", "trace.parquet"):
        assert judge(spark, tmp_path / form, setting_of(tmp_path / form, "exact")).verdict == "accepted"
