"""Publications judged by columns, against the same trace judged event by event: the same report, whatever is wrong."""

import copy
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from routeproof.checker.validate import LEVELS, Report, validate
from routeproof.checker.validate.broker import columns
from routeproof.checker.validate.broker.part import Part
from routeproof.checker.validate.broker.publications import key_of
from routeproof.traces import columns as trace_columns
from routeproof.traces import parquet_file, to_parquet
from tests.campaigns import drawn
from tests.checker.validate.at_once import (
    CHANGES,
    Change,
    name_of,
    of_numbers,
    one_by_one,
    recorded,
    set_aside,
    with_changes,
)
from tests.checker.validate.walks import Row, write

Judged = Counter[bool]
"""How often a stretch was taken at once, and how often it was left to be looked at."""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return recorded(tmp_path_factory.mktemp("run"))


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Short stretches count too; and each batch has a few rows only."""
    found, pass_on = Judged(), Part.pass_on

    def counted(part: Part, stretch: columns.Stretch) -> bool:
        every = np.arange(len(stretch) + 1)
        assert stretch.keys(every) == [key_of(*each) for each in stretch.written(every)]
        is_well = pass_on(part, stretch)
        found[is_well] += 1
        return is_well

    monkeypatch.setattr(Part, "pass_on", counted)
    monkeypatch.setattr(columns, "WORTH", 8)
    monkeypatch.setattr(parquet_file, "ROWS", 300)
    return found


def both(rows: list[Row], folder: Path) -> tuple[Report, Report]:
    """By columns, and by lines one by one."""
    lines = write(rows, folder / "trace.jsonl")
    to_parquet(lines, folder / "trace.parquet")
    return validate(folder / "trace.parquet", "exact"), one_by_one(lines)


def test_a_good_trace_is_nearly_all_taken_at_once(rows: list[Row], tmp_path: Path, taken: Judged) -> None:
    by_columns, by_lines = both(rows, tmp_path)
    assert by_columns == by_lines
    assert by_columns.verdict == "accepted"
    assert taken[True] > 40
    assert not taken[False]


def test_no_level_takes_more_at_once_than_observable(rows: list[Row], tmp_path: Path, taken: Judged) -> None:
    """It replays no step, so that it is the fastest level."""
    to_parquet(write(rows, tmp_path / "trace.jsonl"), tmp_path / "trace.parquet")
    counts = {}
    for level in LEVELS:
        taken.clear()
        assert validate(tmp_path / "trace.parquet", level).verdict == "accepted"
        counts[level] = taken[True], taken[False]
    assert counts["observable"] == max(counts.values())
    assert counts["observable"][1] == 0


def test_what_is_set_aside_is_the_same(rows: list[Row], tmp_path: Path, taken: Judged) -> None:
    """Row by row: links in their order, and what clients did and got."""
    to_parquet(write(rows, tmp_path / "trace.jsonl"), tmp_path / "trace.parquet")
    at_once = set_aside(tmp_path / "trace.parquet")
    assert taken[True] > 40
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(columns, "WORTH", 1 << 30)
        assert at_once == set_aside(tmp_path / "trace.parquet")
    assert sum(len(those) for those in at_once.values()) > 5000


@pytest.mark.parametrize("pieces", [50, 1000])
def test_brokers_in_several_row_groups(
    pieces: int, rows: list[Row], tmp_path: Path, taken: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_columns, "PIECE_ROWS", pieces)
    monkeypatch.setattr(trace_columns, "GROUP_TEXTS", 20_000)
    monkeypatch.setattr(columns, "PAIRS", 20)
    by_columns, by_lines = both(rows, tmp_path)
    assert by_columns == by_lines
    assert pq.ParquetFile(tmp_path / "trace.parquet").num_row_groups > 20
    assert taken[True]


@drawn(1 / 3)
@pytest.mark.parametrize("change", CHANGES, ids=name_of)
def test_whatever_is_wrong_the_report_is_the_same(
    change: Change, share: float, rows: list[Row], tmp_path: Path, taken: Judged
) -> None:
    rng, verdicts = random.Random(name_of(change)), Counter[str]()
    for _ in range(round(3 * share)):
        spoilt = with_changes(rows, change, rng)
        by_columns, by_lines = both(spoilt, tmp_path)
        assert by_columns == by_lines
        verdicts[by_columns.verdict] += 1
        # What clients can see is judged by the same columns, and by lines the same.
        seen = validate(tmp_path / "trace.parquet", "observable")
        assert (
            seen
            == one_by_one(tmp_path / "trace.jsonl", "observable")
            == validate(tmp_path / "trace.jsonl", "observable")
        )
    assert taken[True]
    assert verdicts["accepted"] < verdicts.total() or name_of(change) in ("retimed", "bare")


# -- what others write -------------------------------------------------------------------------------------------------


def rewritten(path: Path, change: Callable[[pa.Table], pa.Table]) -> Path:
    target = path.with_name("rewritten.parquet")
    table = pq.read_table(path)
    changed = change(table)
    pq.write_table(changed.replace_schema_metadata(table.schema.metadata), target, row_group_size=700)
    return target


def plain(table: pa.Table) -> pa.Table:
    """Strings as they are, numbers as narrow as can be, and no column that says nothing."""
    columns = {}
    for name in table.schema.names:
        column = table[name]
        if column.null_count == len(column):
            continue
        if pa.types.is_dictionary(column.type):
            column = column.cast(pa.large_string() if name == "peer" else pa.string())
        columns[name] = column
    return pa.table({**columns, "seq": columns["seq"].cast(pa.int32())})


def with_seq(numbers: Callable[[Any], Any], kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        seq = pa.array(numbers(table["seq"].to_numpy()), kind)
        return table.set_column(table.schema.get_field_index("seq"), "seq", seq)

    return change


def with_texts(table: pa.Table) -> pa.Table:
    """A note on every tenth event, which means nothing there."""
    text = pa.array(["so it was" if n % 10 == 0 else None for n in range(len(table))])
    return table.set_column(table.schema.get_field_index("text"), "text", text)


@pytest.mark.parametrize(
    ("change", "at_once"),
    [
        (plain, True),
        (with_texts, True),
        (with_seq(lambda seq: seq, pa.uint16()), True),
        (with_seq(lambda seq: seq.astype(str), pa.string()), False),
        (with_seq(lambda seq: seq.astype(float), pa.float64()), False),
        (with_seq(lambda seq: -seq, pa.int64()), False),
        (with_seq(lambda seq: seq.astype(np.uint64) + (1 << 63), pa.uint64()), False),
    ],
)
def test_columns_of_others(
    change: Callable[[pa.Table], pa.Table], at_once: bool, rows: list[Row], tmp_path: Path, taken: Judged
) -> None:
    """As it is judged where nothing is taken at once."""
    to_parquet(write(rows, tmp_path / "trace.jsonl"), tmp_path / "trace.parquet")
    path = rewritten(tmp_path / "trace.parquet", change)
    found = validate(path, "exact")
    assert bool(taken[True]) == at_once
    assert found == one_by_one(path)
    assert (found.verdict == "accepted") == at_once


@pytest.fixture
def between() -> list[Row]:
    return of_numbers()


def steps_of(report: Report) -> list[str]:
    """What is wrong with the broker's steps: nobody saw what the other one sent."""
    return [r.rule for r in report.rejections if r.rule != "TRC-3"]


def test_event_numbers(between: list[Row], tmp_path: Path, taken: Judged) -> None:
    """They are taken at once, and none goes back to where it came from."""
    by_columns, by_lines = both(between, tmp_path)
    assert by_columns == by_lines
    assert not {"RTE-5", "TRC-1"} & set(steps_of(by_columns))
    assert taken == {True: 1}
    wrong = copy.deepcopy(between)
    published = next(row for row in wrong[40:] if row["event"] == "deliver")
    published["message"]["event"] = 1 - published["message"]["event"]
    by_columns, by_lines = both(wrong, tmp_path)
    assert by_columns == by_lines
    assert steps_of(by_columns)[0] == "RTE-5"


def test_a_stretch_that_begins_before_what_was(between: list[Row], tmp_path: Path, taken: Judged) -> None:
    at = next(n for n, row in enumerate(between) if n and row["message"]["kind"] == "publish")
    note = {"broker": "b1", "seq": 10**6, "event": "note", "text": "late"}
    by_columns, by_lines = both([*between[:at], note, *between[at:]], tmp_path)
    assert by_columns == by_lines
    assert steps_of(by_columns)[0] == "TRC-1"
    assert taken == {False: 1}


def test_a_delivery_to_a_client_is_looked_at(between: list[Row], tmp_path: Path, taken: Judged) -> None:
    """It does not say for which subscription it is; the rest before it and after it is taken at once."""
    rows = copy.deepcopy(between)
    at = [row for row in rows[1:] if row["event"] == "deliver"][40]
    del at["message"]["to"]
    by_columns, by_lines = both(rows, tmp_path)
    assert by_columns == by_lines
    assert not {"RTE-5", "TRC-5"} & set(steps_of(by_columns))
    assert taken == {True: 2}
