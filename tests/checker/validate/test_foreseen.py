"""What is found out before parts are judged: the same in every form, and what each part would find out by itself."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from routeproof.checker.cli import main
from routeproof.checker.experiments.bench.validation import STANDING, churn
from routeproof.checker.spark.rows import Batch, batches, rows_of, table_of
from routeproof.checker.validate import setting_of, spark, validate
from routeproof.checker.validate.broker.judge import publications, subscriptions
from routeproof.checker.validate.broker.publications import MOST, SharedEntries, Written
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark import TOLD, Foreseen, find_out, groups, in_rows, judge_that_knows, lines
from routeproof.traces import to_parquet


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    assert main(["run", "stock", "--scale", "0.01", "--trace", "--out", str(out)]) == 0
    to_parquet(out / "trace.jsonl", out / "trace.parquet")
    return out


class Broadcast:
    """What Spark makes of a value."""

    def __init__(self, value: object) -> None:
        self.value = value


def published(found: Iterator[Batch]) -> list[Written]:
    rows = [row for row in rows_of(found) if row["kind"] == spark.PUBLISHED]
    every = [msgspec.msgpack.decode(row["data"], type=list[Written]) for row in rows]
    assert [row["events"] for row in rows] == [len(some) for some in every]
    return [written for some in every for written in some]


def of_lines(run: Path, setting: Setting) -> list[Written]:
    path = run / "trace.jsonl"
    where = [(each.number, each.begin, each.end) for each in lines.ranges(path, lines.RANGE, 1)]
    return published(
        lines.read_ranges(str(path), setting, table_of("number int, begin long, end long", where).to_batches())
    )


def of_groups(run: Path, setting: Setting) -> list[Written]:
    path = run / "trace.parquet"
    numbers = [(number,) for number in range(groups.count(path))]
    return published(groups.summarise(str(path), setting, table_of("number int", numbers).to_batches()))


def test_publications_are_the_same_in_both_forms(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "AT_A_TIME", 50)
    setting = setting_of(run / "trace.jsonl", "exact")
    every = of_lines(run, setting)
    assert len(every) == len(set(every)) > 100
    assert sorted(of_groups(run, setting)) == sorted(every) == sorted(publications(run / "trace.parquet"))


def test_none_where_nobody_will_ask(run: Path) -> None:
    setting = setting_of(run / "trace.jsonl", "observable")
    assert of_lines(run, setting) == of_groups(run, setting) == []


def test_what_others_found_out_is_what_a_judge_would(run: Path) -> None:
    """Among what is to be found out is something that nobody can read."""
    setting = setting_of(run / "trace.jsonl", "exact")
    announced = list(subscriptions(run / "trace.parquet"))
    every = of_lines(run, setting)
    unreadable: Written = ("odd", "", b"[1]")
    rows = batches(TOLD, ((data,) for _, data in in_rows([unreadable, *every])))
    [told] = [row["data"] for row in rows_of(find_out(setting, Broadcast(announced), rows))]
    knows = judge_that_knows(setting, Foreseen(announced, [told])).dictionary
    itself = judge_that_knows(setting, Foreseen(announced))
    assert knows.publications.find(unreadable) is None
    for written in every:
        assert itself.dictionary.publications.find(written) is None
        assert [knows.publications.find(written)] == itself.dictionary.entries([written], itself.meanings)
    assert any(len(entry) > 8 for entry in msgspec.msgpack.decode(told, type=SharedEntries).entries.values())


def test_what_was_found_out_of_others_is_not_believed(run: Path) -> None:
    setting = setting_of(run / "trace.jsonl", "exact")
    announced = list(subscriptions(run / "trace.parquet"))
    every = of_lines(run, setting)
    rows = batches(TOLD, ((data,) for _, data in in_rows(every)))
    [told] = [row["data"] for row in rows_of(find_out(setting, Broadcast(announced), rows))]
    fewer = judge_that_knows(setting, Foreseen(announced[1:], [told]))
    assert all(fewer.dictionary.publications.find(written) is None for written in every)


def test_no_more_is_believed_than_there_is_room_for(run: Path) -> None:
    setting = setting_of(run / "trace.jsonl", "exact")
    moment = judge_that_knows(setting, Foreseen()).dictionary.publications.told().moment
    told = [
        msgspec.msgpack.encode(SharedEntries(moment, {MOST * n + i: b"x" * 8 for i in range(MOST - 1)}))
        for n in range(3)
    ]
    known = judge_that_knows(setting, Foreseen((), told)).dictionary.publications
    assert len(known.told().entries) == MOST


def test_what_is_withdrawn_is_not_looked_for(tmp_path: Path) -> None:
    """Of a run in which subscriptions come and go, those that stand in the end are known ahead."""
    churn(tmp_path / "trace.jsonl", 5000)
    to_parquet(tmp_path / "trace.jsonl", tmp_path / "trace.parquet")
    announced = list(subscriptions(tmp_path / "trace.parquet"))
    assert len(announced) == STANDING
    assert validate(tmp_path / "trace.parquet") == validate(tmp_path / "trace.jsonl")
