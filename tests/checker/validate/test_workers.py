"""Several workers on one machine: whatever is wrong with a trace, the report is that of one."""

import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from routeproof.checker.cli import main
from routeproof.checker.validate import Level, local, setting_of, validate
from routeproof.checker.validate.spark import groups as row_groups
from routeproof.traces import columns, to_parquet
from tests.campaigns import drawn
from tests.checker.validate.at_once import CHANGES, Change, name_of, recorded, with_changes
from tests.checker.validate.walks import Row, write

LEVELS: tuple[Level, ...] = ("exact", "observable")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return recorded(tmp_path_factory.mktemp("run"))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers' shares are judged one after the other in this process; row groups are small."""

    @contextmanager
    def one_by_one(workers: int) -> Iterator[Callable[[Sequence[Callable[[], Any]]], list[Any]]]:
        def made(calls: Sequence[Callable[[], Any]]) -> list[Any]:
            assert len(calls) == workers + 1 > 1, "a share for each worker, and one for the process that asks"
            return [pickle.loads(pickle.dumps(call))() for call in calls]

        yield made

    monkeypatch.setattr(local, "crew", one_by_one)
    monkeypatch.setattr(columns, "GROUP_ROWS", 500)


def test_every_broker_is_in_one_share(rows: list[Row], tmp_path: Path, here: None) -> None:
    lines = write(rows, tmp_path / "trace.jsonl")
    to_parquet(lines, tmp_path / "trace.parquet")
    setting = setting_of(lines, "exact")
    by_lines = local.shares_of(lines, setting, 3)
    assert [share.counts_bad for share in by_lines] == [True, False, False]
    assert all(sum(share.has(broker) for share in by_lines) == 1 for broker in setting.names)
    groups = [share.groups for share in local.shares_of(tmp_path / "trace.parquet", setting, 3)]
    assert all(groups)
    assert sorted(group for some in groups for group in some or ()) == list(
        range(sum(len(some or ()) for some in groups))
    )
    assert local.shares_of(lines, setting, 1) == [local.WorkShare()]


@drawn(1 / 3)
@pytest.mark.parametrize("change", CHANGES, ids=name_of)
def test_whatever_is_wrong_the_report_is_the_same(
    change: Change, share: float, rows: list[Row], tmp_path: Path, here: None
) -> None:
    rng, verdicts = random.Random(name_of(change)), Counter[str]()
    for _ in range(round(3 * share)):
        lines = write(with_changes(rows, change, rng), tmp_path / "trace.jsonl")
        with lines.open("ab") as file:
            file.write(b"no JSON\n")
        to_parquet(lines, tmp_path / "trace.parquet")
        level = rng.choice(LEVELS)
        path = rng.choice((lines, tmp_path / "trace.parquet"))
        alone = validate(path, level)
        assert validate(path, level, workers=3) == alone
        assert alone.bad_lines
        verdicts[alone.verdict] += 1
    assert verdicts["unknown"] or verdicts["rejected"]


def test_in_processes_of_their_own(rows: list[Row], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = write(rows, tmp_path / "trace.jsonl")
    assert validate(lines, workers=2) == validate(lines)
    assert main(["validate", str(lines), "--workers", "2"]) == 0
    assert "accepted" in capsys.readouterr().out


def test_a_file_that_says_wrong_brokers(
    rows: list[Row], tmp_path: Path, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row group is said to be of a broker of its own, and some brokers have several."""
    path = tmp_path / "trace.parquet"
    to_parquet(write(rows, tmp_path / "trace.jsonl"), path)
    pq.write_table(pq.read_table(path), path, row_group_size=50)
    in_workers, found = local._in_workers, list[object]()

    def alone(_: object, number: int) -> row_groups.GroupStretch:
        return row_groups.GroupStretch("", f"b{number}", 500, False, False)

    def tried(*asked: Any) -> Any:
        found.append(in_workers(*asked))
        return found[-1]

    monkeypatch.setattr(row_groups, "_said_of_group", alone)
    monkeypatch.setattr(local, "_in_workers", tried)
    assert validate(path, "exact", workers=2) == validate(path, "exact")
    assert found == [None]


@pytest.mark.parametrize("more", [["--engine", "spark"], ["--metrics", "out"]])
def test_what_it_cannot_be_combined_with(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "run.jsonl", "--workers", "2", *more]) == 2
    assert f"cannot be combined with {more[0]}" in capsys.readouterr().err
