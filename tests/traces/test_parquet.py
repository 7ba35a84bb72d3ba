"""Parquet: the same events as from lines, whole brokers in a row group, and what is broken is counted."""

from __future__ import annotations

import gc
import json
import random
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from routeproof.traces import BadLine, Event, TraceError, event_row, open_trace, read_trace, to_parquet
from routeproof.traces import batches as batches_module
from routeproof.traces import columns as writer_module
from routeproof.traces.columns import NAMES, ORDER, left_out_by, parquet_writer
from routeproof.traces.reader import read
from tests.traces.samples import EVERY_KIND, HEADER, PUBLISH, ROW, keep, lines_of, to_bytes, write


def make(path: Path, columns: dict[str, pa.Array], header: object = HEADER, **options: Any) -> Path:
    """A file as somebody else might write it."""
    table = pa.table(columns).replace_schema_metadata({"routeproof": json.dumps(header)})
    pq.write_table(table, path, **options)
    return path


def plain(rows: int = 3) -> dict[str, pa.Array]:
    return {
        "broker": pa.array(["b1"] * rows),
        "seq": pa.array(range(rows), pa.int64()),
        "event": pa.array(["send"] * rows),
        "peer": pa.array(["b2"] * rows),
        "kind": pa.array(["unsubscribe"] * rows),
        "id": pa.array([f"s{n}" for n in range(rows)]),
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.parquet"


# -- the same as lines -------------------------------------------------------------------------------------------------


def test_the_same_events(path: Path) -> None:
    data = to_bytes(HEADER, *EVERY_KIND)
    from_lines = lines_of(keep(path.with_suffix(".jsonl"), "jsonl", data))
    from_columns = lines_of(keep(path, "parquet", data))
    assert sorted(from_columns, key=place) == from_lines
    assert [place(line) for line in sorted(from_columns, key=place)] == list(range(2, len(EVERY_KIND) + 2))
    assert read_trace(path).header == read_trace(path.with_suffix(".jsonl")).header


def place(line: Event | BadLine) -> int:
    return line.line if isinstance(line, Event) else line.number


def test_usual_batches_never_meet_the_reference(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the slow way")

    keep(path, "parquet", to_bytes(HEADER, *EVERY_KIND))
    monkeypatch.setattr(batches_module, "read_event", refuse)
    assert len(lines_of(path)) == len(EVERY_KIND)


def test_bad_lines_are_carried_along(path: Path) -> None:
    lines = [ROW, b"nonsense", {**ROW, "seq": -1}, b"", {"broker": "\ud800", "seq": 1, "event": "crash"}]
    keep(path, "parquet", to_bytes(HEADER, *lines))
    event, *bad = lines_of(path)
    assert isinstance(event, Event)
    assert [place(line) for line in bad] == [3, 4, 6]
    assert [line.reason.split(":")[0] for line in bad if isinstance(line, BadLine)] == [
        "not JSON",
        '"seq"',
        "half a character (a lone surrogate) in a name or a text, which Parquet cannot hold",
    ]


def test_strings_are_stored_once(path: Path) -> None:
    keep(path, "parquet", to_bytes(HEADER, *EVERY_KIND))
    file = pq.ParquetFile(path)
    assert tuple(file.schema_arrow.names) == tuple(name for name in ORDER if name not in left_out_by("routing"))
    for i in range(file.metadata.num_columns):
        column = file.metadata.row_group(0).column(i)
        if column.path_in_schema in NAMES and column.statistics.has_min_max:
            assert column.has_dictionary_page, column.path_in_schema


# -- row groups --------------------------------------------------------------------------------------------------------


def brokers(path: Path) -> list[list[tuple[str, str]]]:
    """Per row group, the (run, broker) in it, in order."""
    file = pq.ParquetFile(path)
    found = []
    for group in range(file.num_row_groups):
        rows = file.read_row_group(group, columns=["run", "broker"]).to_pylist()
        found.append([key for key, _ in groupby((row["run"], row["broker"]) for row in rows)])
    return found


def mixed(seed: int, rows: int) -> list[dict[str, Any]]:
    """Events of some brokers in two runs, mixed; one broker has half of them."""
    rng = random.Random(seed)
    names = [("r1", "b1"), ("r1", "b2"), ("r2", "b1"), ("r2", "b3"), *[("r1", "hot")] * 4]
    found = []
    for n in range(rows):
        run, broker = rng.choice(names)
        row = event_row(broker, n, "snapshot", tables={}) if n % 20 == 19 else event_row(broker, n, "crash")
        found.append({**row, "run": run})
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cut", [False, True])
def test_a_row_group_holds_whole_brokers(path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, cut: bool) -> None:
    monkeypatch.setattr(writer_module, "HELD", 37)
    monkeypatch.setattr(writer_module, "GROUP_ROWS", 50)
    rows = mixed(seed, 600)
    to_parquet(write(path.with_suffix(".jsonl"), HEADER, *rows), path, cut_at_snapshots=cut)
    groups = brokers(path)
    spread = [key for group in groups for key in group]
    assert len(groups) > 2
    if not cut:
        assert len(spread) == len(set(spread)) == 5
    events = [line for line in lines_of(path) if isinstance(line, Event)]
    for run, broker in set(spread):
        mine = [row["seq"] for row in rows if (row["run"], row["broker"]) == (run, broker)]
        assert [e.seq for e in events if (e.run, e.broker) == (run, broker)] == mine
    assert len(events) == len(rows)
    if cut:
        sizes = [pq.ParquetFile(path).metadata.row_group(group).num_rows for group in range(len(groups))]
        firsts = [events[sum(sizes[:group])] for group in range(len(groups))]
        assert len(spread) > 5
        assert max(sizes) < 150
        for group in range(1, len(groups)):
            goes_on = groups[group - 1][-1] == groups[group][0]
            assert not goes_on or firsts[group].event == "snapshot"


def test_a_broker_with_many_texts_is_several_row_groups(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which hold nothing else; brokers with few stay together."""
    monkeypatch.setattr(writer_module, "PIECE_ROWS", 10)
    monkeypatch.setattr(writer_module, "GROUP_TEXTS", 6000)
    rng, rows = random.Random(1), []
    for n in range(600):
        broker = rng.choice(("b1", "b2", "b3", "hot", "hot"))
        said = {**PUBLISH, "id": f"{n:0>100}" if broker == "hot" else "p"}
        rows.append(event_row(broker, n, "receive", "b9", message=said))
    to_parquet(write(path.with_suffix(".jsonl"), HEADER, *rows), path)
    found = [sorted({broker for _, broker in group}) for group in brokers(path)]
    assert found.count(["hot"]) > 3
    assert sum(len(group) for group in found if group != ["hot"]) == 3
    assert min(len(group) for group in found) == 1 < max(len(group) for group in found)
    told = [(e.broker, e.seq) for e in lines_of(path) if isinstance(e, Event)]
    assert sorted(told, key=lambda each: each[1]) == [(row["broker"], row["seq"]) for row in rows]
    assert all(seqs == sorted(seqs) for name in ("hot", "b1") if (seqs := [q for b, q in told if b == name]))
    file = pq.ParquetFile(path)
    for group in range(file.num_row_groups):
        ids = file.read_row_group(group, columns=["id"])["id"].unify_dictionaries().chunk(0).dictionary
        assert ids.nbytes < 6000


def test_what_is_not_said_in_a_batch_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a dictionary with more entries than the batch has rows."""
    read_values: list[str] = []

    def noted(value: str) -> str:
        read_values.append(value)
        return value

    monkeypatch.setattr(batches_module, "_name", noted)
    monkeypatch.setattr("routeproof.traces.parquet_file.ROWS", 10)
    rows = [{**ROW, "seq": n, "message": {**PUBLISH, "id": f"p{n}"}} for n in range(200)]
    keep(path, "parquet", to_bytes(HEADER, *rows))
    assert [e.message.id for e in lines_of(path) if isinstance(e, Event) and e.message] == [f"p{n}" for n in range(200)]
    assert sum(value[1:].isdigit() and value.startswith("p") for value in read_values) == 200


def test_a_run_by_its_name_and_by_default_is_one(path: Path) -> None:
    rows = [event_row("b1", 1, "crash"), event_row("b2", 1, "crash"), event_row("b1", 2, "crash", run="r1")]
    keep(path, "parquet", to_bytes(HEADER, *rows))
    assert [line.seq for line in lines_of(path) if isinstance(line, Event)] == [1, 2, 1]


def test_row_groups_by_themselves(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "GROUP_ROWS", 50)
    keep(path, "parquet", to_bytes(HEADER, *mixed(1, 600)))
    groups = range(pq.ParquetFile(path).num_row_groups)
    with path.open("rb") as file:
        found = [[x for lines in read(file, groups=[group])[1] for x in lines] for group in groups]
    assert [x for group in found for x in group] == lines_of(path)


# -- what others write -------------------------------------------------------------------------------------------------


def test_only_what_is_needed(path: Path) -> None:
    lines = lines_of(make(path, plain()))
    assert [(e.seq, e.line, e.message.ids) for e in lines if isinstance(e, Event) and e.message] == [
        (0, 2, ("s0",)),
        (1, 3, ("s1",)),
        (2, 4, ("s2",)),
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"seq": pa.array([0, 1, 2], pa.int32())},
        {"seq": pa.array([0, 1, 2], pa.uint64())},
        {"broker": pa.array(["b1"] * 3, pa.large_string())},
        {"broker": pa.array(["b1"] * 3).dictionary_encode()},
        {"of": pa.array([None, "x", None])},
        {"time": pa.nulls(3)},
        {"colour": pa.array([1.5, None, 2.5])},
    ],
)
def test_types_that_will_do(path: Path, changed: dict[str, pa.Array]) -> None:
    assert all(isinstance(line, Event) for line in lines_of(make(path, {**plain(), **changed})))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seq": pa.array([0, None, 2])}, '"seq" is missing; expected a whole number'),
        ({"seq": pa.array([0, -1, 2])}, '"seq": found -1; expected a whole number'),
        ({"event": pa.array(["send", "sing", "send"])}, '"event": found "sing"; expected one of receive'),
        ({"peer": pa.array(["b2", None, "b2"])}, '"peer" is missing'),
        ({"broker": pa.array(["b1", "", "b1"])}, '"broker": found an empty string'),
        ({"broker": pa.array(["b1", "x" * 300, "b1"])}, '"broker": found 300 characters'),
        ({"kind": pa.array(["publish", None, "publish"])}, '"kind" is missing'),
        ({"id": pa.array(["p", None, "p"])}, '"id" is missing'),
        ({"kind": pa.array(["publish", "subscribe", "publish"])}, "subscribe of an item without a filter"),
        ({"filter": pa.array([None, "[1", None])}, '"filter": not JSON'),
        ({"filter": pa.array([None, "[1]\n7", None])}, '"filter": not JSON'),
        ({"attributes": pa.array([None, "{" * 100_000, None])}, '"attributes": not JSON'),
        ({"kind": pa.array(["publish", "subscribe-many", "publish"])}, '"items" is missing'),
        ({"text": pa.array([None, "x" * 5000, None])}, '"text": found 5000 characters'),
        ({"time": pa.array([None, -5, None])}, '"time": found -5'),
        ({"unreadable": pa.array([None, "not JSON: as it was", None])}, ""),
    ],
)
def test_a_bad_row_is_a_bad_line(path: Path, changed: dict[str, pa.Array], said: str) -> None:
    first, bad, last = lines_of(make(path, {**plain(), **changed}))
    assert isinstance(first, Event)
    assert isinstance(last, Event)
    assert isinstance(bad, BadLine) or not said
    if isinstance(bad, BadLine):
        assert said in bad.reason
        assert bad.number == 3


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seq": pa.array([0.0, 1.0, 2.0])}, '"seq": found '),
        ({"broker": pa.array([1, 2, 3])}, '"broker": found '),
        ({"broker": pa.array([b"b1"] * 3)}, '"broker": found a value of type bytes'),
        ({"id": pa.nulls(3)}, '"id" is missing'),
    ],
)
def test_a_column_of_another_type(path: Path, changed: dict[str, pa.Array], said: str) -> None:
    bad = lines_of(make(path, {**plain(), **changed}))
    assert len(bad) == 3
    assert all(isinstance(line, BadLine) and said in line.reason for line in bad)


@pytest.mark.parametrize("nested", [pa.array([["send"]] * 3), pa.array([{"a": 1}] * 3)])
def test_a_column_that_is_nested(path: Path, nested: pa.Array) -> None:
    """A list may be as long as it likes in one row, whatever the page takes."""
    with pytest.raises(TraceError, match="column event is nested; expected texts and numbers"):
        lines_of(make(path, {**plain(), "event": nested}))


@pytest.mark.parametrize("name", ["broker", "seq", "event", "kind"])
def test_a_column_that_is_missing(path: Path, name: str) -> None:
    columns = plain()
    del columns[name]
    assert all(isinstance(line, BadLine) for line in lines_of(make(path, columns)))


def test_no_header(path: Path) -> None:
    pq.write_table(pa.table(plain()), path)
    with pytest.raises(TraceError, match=r"without a header; expected one in its metadata, under routeproof"):
        read_trace(path)
    with pytest.raises(TraceError, match='"run" is missing'):
        read_trace(make(path, plain(), {"routeproof": 1}))


def test_no_rows(path: Path) -> None:
    keep(path, "parquet", to_bytes(HEADER))
    assert lines_of(path) == []
    assert lines_of(make(path, plain(0))) == []


def test_many_rows_in_few_bytes(path: Path) -> None:
    """Read whole, they would take a hundred times the space."""
    rows = 2_000_000
    make(path, {name: pa.repeat(column[0], rows) for name, column in plain().items()})
    assert path.stat().st_size < 100_000
    with pytest.raises(TraceError, match="expected at most 64 MiB to read it whole"):
        read_trace(path)
    with open_trace(path) as (_, lines):
        assert isinstance(next(lines), Event)


# -- what is broken ----------------------------------------------------------------------------------------------------

GROUPS = [event_row(f"b{n}", seq, "receive", "b0", message=PUBLISH) for n in range(5) for seq in range(100)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer_module, "GROUP_ROWS", 100)
        return keep(tmp_path_factory.mktemp("whole") / "t.parquet", "parquet", to_bytes(HEADER, *GROUPS)).read_bytes()


def test_a_row_group_that_is_broken(path: Path, whole: bytes) -> None:
    """The others are read; it counts as one bad line where it was."""
    path.write_bytes(whole)
    column = pq.ParquetFile(path).metadata.row_group(2).column(2)
    at = column.data_page_offset + column.total_compressed_size // 2
    path.write_bytes(whole[:at] + bytes((whole[at] ^ 0xFF,)) + whole[at + 1 :])
    lines = lines_of(path)
    (bad,) = (line for line in lines if isinstance(line, BadLine))
    assert bad.number == 0, "nobody knows what lines they were"
    assert bad.reason.startswith("rows 1 to 100 of row group 3 cannot be read: ")
    assert [line.broker for line in lines if isinstance(line, Event)] == [
        f"b{n}" for n in (0, 1, 3, 4) for _ in range(100)
    ]


@pytest.mark.parametrize("length", [4, 8, 100, -1, -9])
def test_without_its_end_nothing_can_be_read(path: Path, whole: bytes, length: int) -> None:
    path.write_bytes(whole[:length])
    with pytest.raises(TraceError, match="Parquet that cannot be read") as caught:
        read_trace(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", range(150))
def test_any_damage(path: Path, whole: bytes, seed: int) -> None:
    """Refused, or what is missing is told; never an exception, and never a wrong event."""
    rng = random.Random(seed)
    data = bytearray(whole)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data)) if rng.random() < 0.7 else len(data) - rng.randint(1, min(len(data), 6000))
        data[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 4))
    path.write_bytes(bytes(data))
    try:
        trace = read_trace(path)
    except TraceError as error:
        trace = None
        assert_one_line(str(error))
    if trace is not None:
        for bad in trace.bad:
            assert_one_line(bad.reason)
        assert len(trace.events) == len(GROUPS) or trace.bad


def assert_one_line(text: str) -> None:
    assert "\n" not in text


def test_a_writer_that_a_signal_ended_before_its_file_says_nothing(tmp_path: Path) -> None:
    """A signal between making a writer and using it closes the file first. An exception in `__del__` fails the test."""
    with (tmp_path / "x.parquet").open("wb") as file:
        writer = parquet_writer(file, pa.schema([("a", pa.int64())]))
    del writer
    gc.collect()
