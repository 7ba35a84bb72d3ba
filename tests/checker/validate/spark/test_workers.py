"""What all workers of a job have in common."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from routeproof.checker.spark.rows import Batch, table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_all_workers_hash_text_alike(spark: "SparkSession") -> None:
    """Else a worker would not find again what another has hashed, and every trace in parts would be rejected."""

    def hashed(found: Iterator[Batch]) -> Iterator[Batch]:
        import os

        import pyarrow as pa

        for _ in found:
            yield pa.RecordBatch.from_pydict({"said": [f"{os.getpid()} {hash(('p', 'a', b'{}'))}"]})

    frame = spark.createDataFrame(table_of("n int", [(0,), (1,)])).repartitionById(2, "n")
    said = {row["said"] for row in frame.mapInArrow(hashed, "said string").collect()}
    assert len(said) == 2, "from two processes"
    assert len({each.split()[1] for each in said}) == 1
