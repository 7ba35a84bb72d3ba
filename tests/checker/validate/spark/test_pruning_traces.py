"""Traces of pruning on Spark: the report of one core, event for event, wherever a trace is cut."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from routeproof.checker.cli import main
from routeproof.checker.pruning.validate import PruningReport
from routeproof.checker.validate import Report, setting_of, validate, validate_each
from routeproof.checker.validate.broker.judge import Judge
from routeproof.checker.validate.metrics import measured
from routeproof.checker.validate.spark import groups
from routeproof.checker.validate.spark.job import judge
from routeproof.traces import Event, columns, open_trace, to_parquet
from tests.checker.validate.corrupt import Place, Row, as_run
from tests.checker.validate.walks import write
from tests.pruning.runs import LINE, PRUNED, RUNS, run_of
from tests.pruning.test_similarity import lost_on_the_way, without_sends
from tests.pruning.test_validated import CORRUPTIONS, at, change, farther, sooner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ON_SPARK = (
    "a cut altered where it is written",
    "a cut altered on its way",
    "a cut altered by a link",
    "a distance altered",
    "a count altered",
    "a withdrawal that should have stopped",
    "a withdrawal that should have gone on",
    "what goes in its place lost",
    "additions after the removal",
    "one that nothing draws not withdrawn",
    "a retained one missing in a snapshot",
    "a row altered",
    "a held withdrawal missing",
    "a hold that nobody asked for",
)
"""Of the corruptions, some of each kind: the two engines judge parts by the same code."""


def bare(rows: list[Row]) -> list[Row]:
    """With snapshots that say what those of the core say: no part can begin with one."""
    for row in rows[1:]:
        if row["event"] == "snapshot":
            row["tables"] = {part: row["tables"][part] for part in ("advs", "subs", "sent")}
    return rows


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Place], Report]:
    """Corruptions, each in a run of its own, in one file, beside good ones; where each must show; and what one core
    says."""
    rows, places = run_of("incremental", LINE, PRUNED)[:1], dict[str, Place]()
    for name in ON_SPARK:
        mine = copy.deepcopy(run_of("incremental", *RUNS[CORRUPTIONS[name].run]))
        places[name] = CORRUPTIONS[name].spoil(mine)
        rows += as_run(mine, name)
    for name in ("held", "returned"):
        rows += as_run(run_of("incremental", *RUNS[name]), f"good: {name}")
    mine = bare(run_of("incremental", LINE, PRUNED))
    places["bare"] = change("b2", "send", "unsubscribe", sooner)(mine)
    rows += as_run(mine, "bare")
    path = write(rows, tmp_path_factory.mktemp("spoilt") / "all.jsonl")
    return path, places, validate(path, "exact")


def test_corruptions(
    spoilt: tuple[Path, dict[str, Place], Report], spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut at snapshots, wherever there are some events between two."""
    monkeypatch.setattr(groups, "PART_EVENTS", 20)
    path, places, expected = spoilt
    report = judge(spark, path, setting_of(path, "exact"), ranges=100_000)
    assert report == expected
    for run, place in places.items():
        mine = [r for r in report.rejections if (r.run, r.broker) == (run, place.broker)]
        found = {r.rule for r in mine if 0 <= r.seq - place.seq <= 2}
        assert found & (CORRUPTIONS[run].rules if run in CORRUPTIONS else {"PRN-4"}), run
    assert not [r for r in report.rejections if r.run.startswith("good")]


def test_snapshots_that_a_part_can_begin_with(tmp_path: Path) -> None:
    """Those of a broker that retains something are among them; those that do not tell it are not."""
    for rows, some in ((run_of("incremental", LINE, PRUNED), True), (bare(run_of("incremental", LINE, PRUNED)), False)):
        path = write(rows, tmp_path / "trace.jsonl")
        asked = Judge(setting_of(path, "exact"))
        with open_trace(path) as (_, lines):
            snapshots = [e for e in lines if isinstance(e, Event) and e.event == "snapshot" and e.broker == "b3"]
        assert snapshots
        assert {asked.start_at(snapshot) is not None for snapshot in snapshots} == {some}


def test_similarity_where_nothing_else_is_wrong(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Headers that nobody saw being sent, altered; and a copy that nobody saw on its way."""
    monkeypatch.setattr(groups, "PART_EVENTS", 5)
    good = without_sends(run_of("incremental", LINE, PRUNED))
    distance, count, lost = (copy.deepcopy(good) for _ in range(3))
    change("b1", "receive", "publish", farther, nth=3)(distance)
    change("b1", "receive", "publish", lambda m: m.update(count=0), nth=3)(count)
    lost_on_the_way(lost)
    runs = {"good": good, "distance": distance, "count": count, "lost": lost}
    rows = [good[0], *(row for name, mine in runs.items() for row in as_run(mine, name))]
    path = write(rows, tmp_path / "trace.jsonl")
    report = judge(spark, path, setting_of(path, "exact"), ranges=30_000)
    assert report == validate(path, "exact")
    first, third = (good[at(good, "b1", "receive", "publish", nth=n)]["seq"] for n in (0, 3))
    assert [(r.run, r.broker, r.seq, r.rule) for r in report.rejections] == [
        ("count", "b1", third, "CRD-1"),
        ("distance", "b1", third, "CRD-1"),
        ("lost", "b1", first, "SIM-6"),
    ]


def test_a_run_of_the_simulator(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions, rows and the file, the same to the last byte; from row groups that begin with snapshots."""
    monkeypatch.setattr(columns, "GROUP_ROWS", 500)
    words = ["--policy", "incremental", "--scale", "0.0005", "--pruning", "window=5", "--pruning", "cuts=1,4"]
    assert main(["run", "controlled", *words, "--trace", "--snapshots", "100", "--out", str(tmp_path / "run")]) == 0
    path = tmp_path / "trace.parquet"
    to_parquet(tmp_path / "run" / "trace.jsonl", path, cut_at_snapshots=True)
    setting = measured(path, setting_of(path, "exact"), tmp_path / "here")
    [here] = validate_each([(path, setting)])
    there = judge(spark, path, evolve(setting, target=tmp_path / "there"))
    assert isinstance(here, PruningReport)
    assert here.verdict == "accepted"
    assert here.similarity.decisions > 2
    assert here.similarity.exact > 50
    assert there == here
    for name in ("metrics.parquet", "delays.parquet", "similarity.parquet"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
