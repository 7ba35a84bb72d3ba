"""A standalone cluster of two workers on this machine: they get the package, or are refused, and one dies in mid-run.

Validation has workers with nothing of ours but what was sent. The tests share the cluster, and go in this order.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from routeproof.checker.cli import main
from routeproof.checker.spark import session as sessions
from routeproof.checker.spark.failure import SPARK_ERRORS, explained
from routeproof.checker.spark.session import session
from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate import setting_of, validate
from routeproof.checker.validate.spark import lines
from routeproof.checker.validate.spark.job import judge
from tests.checker.spark.cluster import Cluster
from tests.checker.spark.conftest import Left, bare_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Batches = Iterator[pa.RecordBatch]


def can_import(python: Path, module: str) -> bool:
    return (
        subprocess.run(
            [python, "-I", "-c", f"import {module}"], capture_output=True, timeout=60, check=False
        ).returncode
        == 0
    )


@pytest.mark.campaign
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


RANGE = 80_000
"""Bytes: some dozen tasks."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the simulator, with snapshots, and with one delivery missing near its end."""
    out = tmp_path_factory.mktemp("run")
    assert main(["run", "controlled", "--scale", "0.0003", "--trace", "--snapshots", "300", "--out", str(out)]) == 0
    lines = (out / "trace.jsonl").read_bytes().splitlines(keepends=True)
    near = len(lines) * 95 // 100  # a delivery that is missing at the very end may be one that was not recorded
    lost = max(i for i, line in enumerate(lines[:near]) if b'"event":"deliver"' in line)
    path = out / "spoilt.jsonl"
    path.write_bytes(b"".join(lines[:lost] + lines[lost + 1 :]))
    return path


def test_workers_that_have_only_what_was_sent(
    trace: Path, cluster: Cluster, worker_python: Path, left: Left, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one session: what they import, a trace that they cannot read, and a verdict while one of them dies."""
    assert can_import(worker_python, "pyarrow")
    assert not can_import(worker_python, "routeproof")
    monkeypatch.setenv("PYSPARK_PYTHON", str(worker_python))
    with session(cluster.url) as spark:
        assert spark.conf.get("spark.sql.shuffle.partitions") == "4"
        _assert_imported(spark, worker_python)
        _assert_unreadable(spark, trace, tmp_path / "gone.jsonl", monkeypatch)
        _assert_same_when_a_worker_dies(spark, trace, cluster)
    assert cluster.alive() == 1
    assert left() == []


def _assert_imported(spark: "SparkSession", worker_python: Path) -> None:
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

    rows = spark.createDataFrame([(n,) for n in range(8)], "n long").repartition(4)
    got = rows.mapInArrow(imported, "file string, program string, knows boolean").collect()
    assert len(got) == 8
    assert all(row["knows"] for row in got)
    assert {row["program"] for row in got} == {str(worker_python)}
    for row in got:
        archive, *inside = Path(row["file"]).parts[-4:]
        assert (archive.startswith("routeproof-"), archive.endswith(".zip")) == (True, True)
        assert inside == ["routeproof", "traces", "__init__.py"]


def _assert_unreadable(spark: "SparkSession", trace: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear line: here, the file goes once it has been looked at."""
    path.write_bytes(trace.read_bytes())
    setting, read = setting_of(path, "exact"), lines.ranges(path, RANGE, 2)
    path.unlink()
    with monkeypatch.context() as patched:
        patched.setattr(lines, "ranges", lambda *_: read)
        with pytest.raises(SPARK_ERRORS) as raised:
            judge(spark, path, setting, ranges=RANGE)
    refusal = explained(raised.value)
    assert isinstance(refusal, UsageError)
    assert "gone.jsonl" in str(refusal)


def _assert_same_when_a_worker_dies(spark: "SparkSession", trace: Path, cluster: Cluster) -> None:
    expected = validate(trace, "exact")
    assert expected.verdict == "rejected"
    killed: list[float] = []
    tracker = spark.sparkContext.statusTracker()

    def kill() -> None:
        """As soon as some tasks of a stage are done and others are not."""
        limit = time.monotonic() + 90
        while time.monotonic() < limit and not killed:
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None and 0 < info.numCompletedTasks < info.numTasks:
                    cluster.kill_worker(0)
                    killed.append(time.monotonic())
                    return
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    report = judge(spark, trace, setting_of(trace, "exact"), ranges=RANGE)
    ended = time.monotonic()
    killer.join()
    assert report == expected
    assert killed, "the job was over before anything could be killed"
    assert killed[0] < ended


def test_by_the_command_line(
    trace: Path,
    cluster: Cluster,
    worker_python: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On the worker that is left."""
    monkeypatch.setenv("PYSPARK_PYTHON", str(worker_python))
    assert main(["validate", str(trace)]) == 1
    here = capsys.readouterr().out
    assert main(["validate", str(trace), "--engine", "spark", "--master", cluster.url]) == 1
    there = capsys.readouterr().out
    assert _without_seconds(there) == _without_seconds(here)


def _without_seconds(out: str) -> list[str]:
    return [line.rpartition(",")[0] if line.endswith(" s") else line for line in out.splitlines()]
