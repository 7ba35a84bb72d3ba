"""`routeproof trees` on Spark: the files of the local engine to the last byte, also where a worker or machine dies."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from routeproof.checker.spark.session import session
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.terminal import json_text
from routeproof.checker.trees import engines
from routeproof.checker.trees.engines import OnOneCore, OnSpark
from routeproof.checker.trees.planning import PlanningSteps, TreesWish, answer
from routeproof.checker.trees.report import as_json, page, write_tables
from routeproof.checker.trees.tables import TableSource, link_of
from routeproof.impl.trees.corpus import CorpusRecipe
from tests.checker.spark.cluster import standalone
from tests.checker.spark.shared import SharedSession
from tests.trees.computation_cases import with_a_hot_keyword

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROLES = ("network", "documents", "subscriptions")
WISH = TreesWish(sample=0.4)
STUDY = TreesWish(sample=0.4, study=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With one keyword that is in most documents and subscriptions."""
    folder = tmp_path_factory.mktemp("data")
    recipe = CorpusRecipe(brokers=40, documents=200, keywords=30, dataset="localized2")
    with_a_hot_keyword(recipe.drawn()).write(folder)
    return folder


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedSession]:
    with closing(SharedSession("local[2,4]")) as found:  # a task may fail three times
        yield found


@pytest.fixture
def spark(shared: SharedSession) -> "SparkSession":
    return shared.get()


def files(names: list[str], folder: Path, steps: PlanningSteps, wish: TreesWish = WISH) -> dict[str, bytes]:
    """The files of an answer; the names of its inputs are left out."""
    spark = not isinstance(steps, OnOneCore)
    sources = [TableSource.of(role, name, spark=spark) for role, name in zip(ROLES, names, strict=True)]
    found = answer(sources, wish, steps)
    folder.mkdir()
    write_tables(found, folder)
    made = {path.name: path.read_bytes() for path in folder.iterdir()}
    told = as_json(found) | {"inputs": {}}
    return made | {"json": json_text(told).encode(), "html": page(found).encode()}


@pytest.fixture(scope="module")
def expected(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    names = [str(data / f"{role}.parquet") for role in ROLES]
    return files(names, tmp_path_factory.mktemp("local") / "out", OnOneCore())


def killed_once(spark: "SparkSession", ended: threading.Event) -> list[int]:
    """Kills one Python worker of this process's Spark while tasks run. Returns the stages with failed tasks."""
    tracker = spark.sparkContext.statusTracker()
    killed: list[int] = []
    failed: list[int] = []
    while not ended.is_set():
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None and info.numFailedTasks:
                failed.append(stage)
            if info is not None and info.numActiveTasks and not failed and (workers := python_workers()):
                os.kill(workers[0], signal.SIGKILL)
                killed.append(workers[0])
                time.sleep(0.3)
        time.sleep(0.02)
    assert killed
    return failed


def python_workers() -> list[int]:
    """The processes that daemons of PySpark below this process have forked."""
    parents: dict[int, int] = {}
    daemons = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if b"pyspark.daemon" in (entry / "cmdline").read_bytes():
                    daemons.add(int(entry.name))
            except OSError:
                continue

    def is_ours(pid: int) -> bool:
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return sorted(pid for pid in daemons if parents[pid] in daemons and is_ours(pid))


def test_the_files_are_the_local_ones(data: Path, spark: "SparkSession", tmp_path: Path) -> None:
    """Documents in five files, in another order and format, with subscriptions from a table of Spark's catalogue, and
    links in ORC with costs as a database has them.
    """
    links = spark.read.parquet(str(data / "network.parquet"))
    links.selectExpr("`from`", "`to`", "CAST(cost AS DECIMAL(9, 0)) AS cost").write.orc(str(tmp_path / "links.orc"))
    spark.read.parquet(str(data / "documents.parquet")).repartition(5).write.json(str(tmp_path / "parts"))
    names = [
        str(tmp_path / "links.orc"),
        f"jsonl:{tmp_path / 'parts'}",
        f"table:parquet.`{data / 'subscriptions.parquet'}`",
    ]
    there = [str(data / f"{role}.parquet") for role in ROLES]
    with OnSpark(spark) as steps:
        assert files(names, tmp_path / "out", steps, STUDY) == files(there, tmp_path / "local", OnOneCore(), STUDY)


def test_a_killed_worker_changes_nothing(
    data: Path, spark: "SparkSession", expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With documents so many that they are evaluated where they are."""
    monkeypatch.setattr(engines, "BLOCK_DOCUMENTS", 0)
    ended, failed = threading.Event(), list[int]()
    killer = threading.Thread(target=lambda: failed.extend(killed_once(spark, ended)))
    killer.start()
    try:
        with OnSpark(spark) as steps:
            found = files([str(data / f"{role}.parquet") for role in ROLES], tmp_path / "out", steps)
    finally:
        ended.set()
        killer.join()
    assert failed, "no task failed"
    assert found == expected


@pytest.mark.campaign
def test_a_lost_machine_changes_nothing(
    data: Path, shared: SharedSession, expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two dies with its executor, its Python and the blocks that it kept; the other one goes on."""
    shared.close()  # it sets the environment back
    monkeypatch.setattr(engines, "BLOCK_DOCUMENTS", 0)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    ended, lost = threading.Event(), list[int]()
    with standalone(tmp_path) as cluster, session(cluster.url) as spark, OnSpark(spark) as steps:
        tracker = spark.sparkContext.statusTracker()

        def lose() -> None:
            while not (ended.wait(0.01) or lost):
                for stage in tracker.getActiveStageIds() if steps.documents else ():
                    info = tracker.getStageInfo(stage)
                    if info is not None and info.numActiveTasks and info.numCompletedTasks < info.numTasks:
                        cluster.kill_worker(0)
                        lost.append(stage)
                        return

        loser = threading.Thread(target=lose)
        loser.start()
        try:
            found = files([str(data / f"{role}.parquet") for role in ROLES], tmp_path / "out", steps)
        finally:
            ended.set()
            loser.join()
        assert lost, "it was over before anything could be killed"
        assert cluster.alive() == 1
    assert found == expected


def test_columns_that_differ_in_case_only_are_two_columns(data: Path, spark: "SparkSession", tmp_path: Path) -> None:
    """Of CSV and of Parquet, here and on Spark."""
    rows = pq.read_table(data / "network.parquet").to_pylist()
    lines = ["FROM,from,to,cost", *(f"x,{r['from']},{r['to']},{r['cost']}" for r in rows)]
    (tmp_path / "n.csv").write_text("\n".join(lines), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist([{"FROM": "x", **r} for r in rows]), tmp_path / "n.parquet")
    with OnSpark(spark) as steps:
        for name in ("n.csv", "n.parquet"):
            source = TableSource.of("network", str(tmp_path / name), spark=True)
            here, there = (sorted(link_of(row) for row in each.rows(source)) for each in (OnOneCore(), steps))
            assert here == there
            assert len(here) == len(rows)


def test_rows_that_are_wrong_are_named_as_without_spark(data: Path, spark: "SparkSession", tmp_path: Path) -> None:
    rows = pq.read_table(data / "documents.parquet").to_pylist()
    lines = ["id,publisher,keywords", *(f'{r["id"]},{r["publisher"]},"{" ".join(r["keywords"])}"' for r in rows)]
    lines += ["d900,nobody,k1", "d901,,k1", f"{rows[7]['id']},{rows[7]['publisher']},k2"]
    (tmp_path / "d.csv").write_text("\n".join(lines), encoding="utf-8")
    names = [str(data / "network.parquet"), str(tmp_path / "d.csv"), str(data / "subscriptions.parquet")]
    said = []
    with OnSpark(spark) as steps:
        for each in (OnOneCore(), steps):
            with pytest.raises(UsageError) as caught:
                files(names, tmp_path / "out", each)
            said.append(str(caught.value))
        for wrong in ("orc:nowhere", "nothing:here", "table:none.such"):
            with pytest.raises(UsageError, match="Spark cannot read it"):
                files([wrong, *names[1:]], tmp_path / "out", steps)
    assert said[0] == said[1]
    assert said[0].endswith('d007": the id is given twice (2 more rows are wrong)')
