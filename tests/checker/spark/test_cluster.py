"""A standalone cluster of two workers on this machine: they get the package, or are refused."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from routeproof.checker.spark import session as sessions
from routeproof.checker.spark.session import session
from routeproof.checker.system.errors import UsageError
from tests.checker.spark.cluster import Cluster
from tests.checker.spark.conftest import Left, bare_python

Batches = Iterator[pa.RecordBatch]


def can_import(python: Path, module: str) -> bool:
    return (
        subprocess.run(
            [python, "-I", "-c", f"import {module}"], capture_output=True, timeout=60, check=False
        ).returncode
        == 0
    )


def test_workers_import_what_was_sent(
    cluster: Cluster, worker_python: Path, left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    def imported(batches: Batches) -> Batches:
        import routeproof.traces
        from routeproof.model.protocols import DEFINITIONS

        for batch in batches:
            count = batch.num_rows
            yield pa.RecordBatch.from_pydict(
                {
                    "file": [routeproof.traces.__file__] * count,
                    "program": [sys.executable] * count,
                    "knows": ["routing" in DEFINITIONS] * count,
                }
            )

    assert can_import(worker_python, "pyarrow")
    assert not can_import(worker_python, "routeproof")
    monkeypatch.setenv("PYSPARK_PYTHON", str(worker_python))
    with session(cluster.url) as spark:
        rows = spark.createDataFrame([(n,) for n in range(8)], "n long").repartition(4)
        got = rows.mapInArrow(imported, "file string, program string, knows boolean").collect()
        assert spark.conf.get("spark.sql.shuffle.partitions") == "4"
    assert len(got) == 8
    assert all(row["knows"] for row in got)
    assert {row["program"] for row in got} == {str(worker_python)}
    for row in got:
        archive, *inside = Path(row["file"]).parts[-4:]
        assert (archive.startswith("routeproof-"), archive.endswith(".zip")) == (True, True)
        assert inside == ["routeproof", "traces", "__init__.py"]
    assert left() == []


def test_workers_without_the_libraries(
    cluster: Cluster, tmp_path: Path, left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", str(bare_python(tmp_path)))
    with (
        pytest.raises(UsageError, match=r"workers lacks what a job needs \(No module named '") as refusal,
        session(cluster.url),
    ):
        pass
    assert len(str(refusal.value).splitlines()) == 1
    assert left() == []


def test_workers_without_room(cluster: Cluster, tmp_path: Path, left: Left, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a user sets in a configuration of Spark's own counts: here more memory than a worker has."""
    (tmp_path / "spark-defaults.conf").write_text("spark.executor.memory 3g\n", encoding="utf-8")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setattr(sessions, "WORKER_SECONDS", 4.0)
    late = "no worker took a task within 4 s; is there one with a free core and 3g of free memory"
    with pytest.raises(UsageError, match=late), session(cluster.url):
        pass
    assert left() == []
