"""A session on this machine: what a job can do in it, and what becomes of what a worker raises."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from routeproof.checker.spark.failure import SPARK_ERRORS, SparkDefect, explained
from routeproof.checker.spark.session import BATCH, session
from routeproof.checker.system.errors import Undetermined, UsageError
from tests.campaigns import daily
from tests.checker.spark.shared import LOCAL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator[pa.RecordBatch]


@pytest.fixture
def spark() -> "SparkSession":
    return LOCAL.get()


# -- what a job can do -------------------------------------------------------------------------------------------------


@pytest.mark.campaign  # daily: `test_cluster.py`, on workers that have nothing else
def test_workers_have_the_package(spark: "SparkSession") -> None:
    def imports(batches: Batches) -> Batches:
        import routeproof.traces
        from routeproof.model.protocols import DEFINITIONS

        for batch in batches:
            count = batch.num_rows
            safe = str(Path.cwd()) not in sys.path and "" not in sys.path
            yield pa.RecordBatch.from_pydict(
                {
                    "program": [sys.executable] * count,
                    "knows": [",".join(DEFINITIONS)] * count,
                    "room": [routeproof.traces.__name__] * count,
                    "safe": [safe] * count,
                }
            )

    rows = spark.createDataFrame([(n,) for n in range(6)], "n long").repartition(3)
    got = rows.mapInArrow(imports, "program string, knows string, room string, safe boolean").collect()
    assert len(got) == 6
    assert {row["program"] for row in got} == {sys.executable}
    assert {row["room"] for row in got} == {"routeproof.traces"}
    assert all("routing" in row["knows"].split(",") for row in got)
    assert all(row["safe"] for row in got), "a worker imports from the working directory"


def test_batches_have_a_bound(spark: "SparkSession") -> None:
    def sizes(batches: Batches) -> Batches:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"size": [batch.num_rows]})

    rows = spark.range(0, 2 * BATCH + 5, numPartitions=1).mapInArrow(sizes, "size long")
    assert [row["size"] for row in rows.collect()] == [BATCH, BATCH, 5]


def test_a_shuffle_brings_what_belongs_together_in_order(spark: "SparkSession") -> None:
    def runs(batches: Batches) -> Batches:
        """Key, count and whether `at` rises: one row for each stretch of one key in this partition."""
        pairs = [pair for batch in batches for pair in zip(*batch.to_pydict().values(), strict=True)]
        keys = sorted({key for key, _ in pairs})
        assert [key for key, _ in pairs] == sorted(key for key, _ in pairs)
        ats = [[at for k, at in pairs if k == key] for key in keys]
        yield pa.RecordBatch.from_pydict(
            {"key": keys, "count": [len(a) for a in ats], "rises": [a == sorted(a) for a in ats]},
            schema=pa.schema([("key", pa.int64()), ("count", pa.int64()), ("rises", pa.bool_())]),
        )

    rows = spark.createDataFrame([(n % 7, 1000 - n) for n in range(700)], "key long, at long").repartition(5)
    got = (
        rows.repartition(4, "key")
        .sortWithinPartitions("key", "at")
        .mapInArrow(runs, "key long, count long, rises boolean")
    )
    assert sorted(tuple(row) for row in got.toLocalIterator()) == [(key, 100, True) for key in range(7)]


def test_what_it_is_set_to(spark: "SparkSession") -> None:
    cores = spark.sparkContext.defaultParallelism
    assert spark.sparkContext.master == f"local[{cores}]"
    assert spark.conf.get("spark.sql.shuffle.partitions") == str(2 * cores)
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    assert spark.sparkContext.uiWebUrl is None
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"


def test_one_at_a_time(spark: "SparkSession") -> None:
    with pytest.raises(UsageError, match="open in this process already"), session():
        pass
    assert spark.range(3).count() == 3


# -- what a worker raises ----------------------------------------------------------------------------------------------


def failing(spark: "SparkSession", how: str) -> "DataFrame":
    def fails(batches: Batches) -> Batches:
        from routeproof.model.reading import InstanceError
        from routeproof.traces import TraceError

        for batch in batches:
            if how == "refused":
                raise UsageError("run.jsonl: no such thing; do this instead")
            if how == "unreadable":
                try:
                    raise KeyError(how)
                except KeyError as error:
                    raise TraceError("run.jsonl: bad: Traceback (most recent call last):") from error
            if how == "instance":
                raise InstanceError("mine.toml: no name")
            if how == "open":
                raise Undetermined("too much of it")
            if how == "module":
                import no_such_module  # type: ignore[import-not-found]  # noqa: F401
            if how == "own module":
                import routeproof.no_such_module  # type: ignore[import-not-found]  # noqa: F401
            if how == "memory":
                raise MemoryError
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "defect":
                raise AssertionError("two\nlines")
            yield batch

    return spark.range(2).mapInArrow(fails, "id long")


RAISED: tuple[tuple[str, type[Exception], str], ...] = (
    ("refused", UsageError, "run.jsonl: no such thing; do this instead"),
    ("unreadable", UsageError, "run.jsonl: bad: Traceback (most recent call last):"),
    ("instance", UsageError, "mine.toml: no name"),
    ("open", Undetermined, "too much of it"),
    ("module", UsageError, "lacks what a job needs (No module named 'no_such_module'); install"),
    ("memory", Undetermined, "out of memory in a Spark worker"),
    ("killed", Undetermined, "a Spark worker's Python was killed"),
    ("own module", SparkDefect, "No module named 'routeproof.no_such_module'"),
    ("defect", SparkDefect, "AssertionError: two\nlines"),
)


@pytest.mark.parametrize(
    ("lazily", "how", "kind", "says"),
    daily(
        [(lazily, *each) for lazily in (False, True) for each in RAISED],
        lambda case: not case[0] or case[1] in ("refused", "killed", "defect"),
    ),
)
def test_what_a_worker_raises(spark: "SparkSession", lazily: bool, how: str, kind: type[Exception], says: str) -> None:
    """Collected, and row by row: daily one error of each kind."""
    rows = failing(spark, how)
    with pytest.raises(SPARK_ERRORS) as raised:
        list(rows.toLocalIterator()) if lazily else rows.collect()
    error = explained(raised.value)
    assert type(error) is kind
    assert says in str(error)
    assert isinstance(error, SparkDefect) or len(str(error).splitlines()) == 1
