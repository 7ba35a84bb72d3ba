"""Inputs of other layouts: files of one run, headers from elsewhere, foreign names, and times in other units."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from routeproof.checker.cli import main
from routeproof.traces import BadLine, TraceError, open_trace, read_trace, to_parquet
from routeproof.traces.column_names import nanoseconds, read_map
from routeproof.traces.inputs import files_of, gathered, needs_gathering
from tests.traces.samples import to_bytes

SAMPLE = Path(__file__).parents[2] / "traces" / "samples" / "star4-active.jsonl"
HEADER, *LINES = SAMPLE.read_bytes().splitlines(keepends=True)

Row = dict[str, Any]


def rows() -> list[Row]:
    return [json.loads(line) for line in LINES]


def verdict(*arguments: object, capsys: pytest.CaptureFixture[str]) -> Row:
    """The first report, without what differs between two readings of the same run."""
    main(["validate", *map(str, arguments), "--json", "-"])
    reports = json.loads(capsys.readouterr().out)["reports"]
    assert len(reports) == 1
    for each in reports[0]["rejections"]:
        each.pop("line", None)  # of several files, lines are counted in the order of the files' names
    return {key: value for key, value in reports[0].items() if key not in ("trace", "seconds")}


@pytest.fixture
def expected(capsys: pytest.CaptureFixture[str]) -> Row:
    return verdict(SAMPLE, capsys=capsys)


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "header.json"
    path.write_bytes(HEADER)
    return path


def a_file_per_broker(folder: Path) -> Path:
    folder.mkdir()
    for row in rows():
        with (folder / f"{row['broker']}.jsonl").open("ab") as file:
            file.write(to_bytes(row))
    return folder


def test_a_header_from_a_file(header: Path, tmp_path: Path, expected: Row, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"".join(LINES))
    assert verdict(tmp_path / "log.jsonl", "--header", header, capsys=capsys) == expected
    assert expected["verdict"] == "accepted"


def test_files_of_one_run(header: Path, tmp_path: Path, expected: Row, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory, a pattern, and names; with a header from a file, or at the head of one of the files."""
    folder = a_file_per_broker(tmp_path / "logs")
    assert verdict(folder, "--header", header, capsys=capsys) == expected
    assert verdict(f"{folder}/b*.jsonl", "--header", header, capsys=capsys) == expected
    assert verdict(*sorted(folder.iterdir()), "--header", header, capsys=capsys) == expected
    last = max(folder.iterdir())
    last.write_bytes(HEADER + last.read_bytes())
    assert verdict(folder, capsys=capsys) == expected


def test_files_of_one_run_that_are_judged_alone_are_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the shell passes a pattern without quotes."""
    folder = a_file_per_broker(tmp_path / "logs")
    for path in folder.iterdir():
        path.write_bytes(HEADER + path.read_bytes())
    files = sorted(map(str, folder.iterdir()))
    main(["validate", *files])
    noted = " ".join(capsys.readouterr().out.split())
    assert f"note: the headers of {len(files)} traces have the same run" in noted
    assert "name their directory, or put the pattern in quotes" in noted
    for whole in ([str(folder)], [str(SAMPLE), str(SAMPLE)], files[:1]):
        main(["validate", *whole])
        assert "note: the headers" not in capsys.readouterr().out


def test_a_corrupted_file_is_rejected_as_the_whole_is(
    header: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = next(row for row in rows() if row["event"] == "send")
    folder = a_file_per_broker(tmp_path / "logs")
    path = folder / f"{lost['broker']}.jsonl"
    path.write_bytes(b"".join(line for line in path.read_bytes().splitlines(keepends=True) if json.loads(line) != lost))
    whole = tmp_path / "whole.jsonl"
    whole.write_bytes(HEADER + b"".join(line for line in LINES if json.loads(line) != lost))
    found = verdict(folder, "--header", header, capsys=capsys)
    assert found["verdict"] == "rejected"
    assert found == verdict(whole, capsys=capsys)


def test_foreign_names(header: Path, tmp_path: Path, expected: Row, capsys: pytest.CaptureFixture[str]) -> None:
    names = tmp_path / "names.toml"
    names.write_text(
        '[keys]\nbroker = "node"\nevent = "op"\npeer = "remote"\n'
        '"message.kind" = "msg.type"\n"message.id" = "msg.key"\n'
        '[values.event]\nRX = "receive"\nTX = "send"\n[values."message.kind"]\nSUB = "subscribe"\n'
    )
    log, table = tmp_path / "log.jsonl", []
    kinds, words = {"receive": "RX", "send": "TX"}, {"subscribe": "SUB"}
    for row in rows():
        message = row.pop("message", None)
        foreign = {
            "node": row.pop("broker"),
            "op": kinds.get(row["event"], row["event"]),
            "remote": row.pop("peer", ""),
        }
        del row["event"], row["seq"]
        if message is not None:
            kind, id = message.pop("kind"), message.pop("id", "")
            row |= {"msg": {"type": words.get(kind, kind), "key": id}, "message": message}
        table.append({**foreign, **row})
    log.write_bytes(to_bytes(*table))
    assert verdict(log, "--header", header, "--map", names, capsys=capsys) == expected


def test_foreign_parquet(header: Path, tmp_path: Path, expected: Row, capsys: pytest.CaptureFixture[str]) -> None:
    """Columns with names of their own, and without metadata; filters are JSON."""
    to_parquet(SAMPLE, tmp_path / "own.parquet")
    table = pq.read_table(tmp_path / "own.parquet").replace_schema_metadata(None)
    other = table.rename_columns([{"broker": "node", "filter": "msg.filter"}.get(n, n) for n in table.schema.names])
    pq.write_table(other, tmp_path / "foreign.parquet")
    (tmp_path / "names.json").write_text('{"keys": {"broker": "node", "message.filter": "msg.filter"}}')
    given = ("--header", header, "--map", tmp_path / "names.json")
    assert verdict(tmp_path / "foreign.parquet", *given, capsys=capsys) == expected


# -- times -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit", "found"),
    [
        (1, 1, 1),
        (1.5, 1_000_000, 1_500_000),
        (1700000000.123456, 10**9, 1_700_000_000_123_456_000),
        ("1700000000.123456789", 10**9, 1_700_000_000_123_456_789),
        ("1970-01-01T00:00:01Z", 1, 10**9),
        ("1970-01-01 01:00:01.000000001+01:00", 1, 10**9 + 1),
        ("1970-01-01T00:00:00.25", 1, 250_000_000),
    ],
)
def test_a_time(value: object, unit: int, found: int) -> None:
    assert nanoseconds(value, "time", unit) == found


@pytest.mark.parametrize(
    "value", [True, None, -1, "soon", "1e999999", float("inf"), float("nan"), [], "1970-13-01T00:00:00Z"]
)
def test_what_is_no_time(value: object) -> None:
    with pytest.raises(TraceError, match=r'^"time": found .*; expected a time from 0 on'):
        nanoseconds(value, "time", 10**9)


def test_a_unit_in_the_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed = [{**row, "time": at / 1000} for at, row in enumerate(rows())]
    (tmp_path / "run.jsonl").write_bytes(to_bytes({**json.loads(HEADER), "clock": "shared", "time_unit": "s"}, *timed))
    in_ns = [{**row, "time": at * 1_000_000} for at, row in enumerate(rows())]
    (tmp_path / "ns.jsonl").write_bytes(to_bytes({**json.loads(HEADER), "clock": "shared"}, *in_ns))
    found = verdict(tmp_path / "run.jsonl", capsys=capsys)
    assert found == verdict(tmp_path / "ns.jsonl", capsys=capsys)
    assert found["judged"]["owed"] > 0


def test_timestamps_of_parquet(tmp_path: Path) -> None:
    timed = [{**row, "time": 1_000_000 * at} for at, row in enumerate(rows())]
    (tmp_path / "run.jsonl").write_bytes(to_bytes(json.loads(HEADER), *timed))
    to_parquet(tmp_path / "run.jsonl", tmp_path / "run.parquet")
    table = pq.read_table(tmp_path / "run.parquet")
    at = table.schema.get_field_index("time")
    stamps = table["time"].cast(pa.timestamp("ns")).cast(pa.timestamp("ms", "UTC"))
    pq.write_table(table.set_column(at, "time", stamps), tmp_path / "stamps.parquet")
    assert needs_gathering(tmp_path / "stamps.parquet")
    with gathered([tmp_path / "stamps.parquet"], "stamps") as path:
        found = read_trace(path)
    assert not found.bad
    assert sorted((e.broker, e.seq, e.time) for e in found.events) == sorted(
        (row["broker"], row["seq"], row["time"]) for row in timed
    )


def test_a_line_whose_time_cannot_be_read_stays(tmp_path: Path) -> None:
    lines = [{**rows()[0], "time": "soon"}, {**rows()[1], "time": str(datetime(2026, 1, 1, tzinfo=UTC))}]
    (tmp_path / "run.jsonl").write_bytes(to_bytes({**json.loads(HEADER), "time_unit": "ms"}, *lines) + b"no JSON\n[]\n")
    with gathered([tmp_path / "run.jsonl"], "run") as path, open_trace(path) as (read, found):
        assert "time_unit" not in read.more
        reasons = [each.reason if isinstance(each, BadLine) else "" for each in found]
    assert len(reasons) == 4
    assert [bool(reason) for reason in reasons] == [True, False, True, True]


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "Expected '='"),
        ("[names]", "names is unknown; expected keys, values or time"),
        ('[keys]\nnode = "n"', "is no key of an event"),
        ("[keys]\nbroker = 1", "keys.broker: found 1; expected the name of a key"),
        ("[values.event]\nRX = 1", "values.event.RX: found 1; expected a string"),
        ('[time]\nunit = "h"', 'time: found "h"; expected unit = one of s, ms, us, ns'),
    ],
)
def test_a_map_that_is_none(text: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "names.toml"
    path.write_text(text)
    assert main(["validate", str(SAMPLE), "--map", str(path)]) == 2
    error = capsys.readouterr().err
    assert reason in error.replace('"names"', "names")
    assert error.count("\n") == 1


def test_what_is_refused(header: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each in one line, with exit code 2."""
    folder = a_file_per_broker(tmp_path / "logs")
    (tmp_path / "empty").mkdir()
    (tmp_path / "no.json").write_text("[]")
    (tmp_path / "unit.json").write_bytes(to_bytes({**json.loads(HEADER), "time_unit": "h"}))
    for given, reason in (
        ([folder], "no file begins with a header; give one with --header FILE"),
        ([tmp_path / "empty"], "is a directory without files"),
        ([tmp_path / "*.zst"], "matches no file"),
        ([folder, "--header", tmp_path / "no.json"], "the header: found a list; expected an object"),
        ([folder, "--header", tmp_path / "gone"], "cannot be read: No such file"),
        ([folder, "--header", tmp_path / "unit.json"], '"time_unit": found "h"'),
        ([folder, "--header", header, "--engine", "spark", "--master", "spark://h:1"], "a cluster cannot read"),
    ):
        assert main(["validate", *map(str, given)]) == 2, given
        error = capsys.readouterr().err
        assert reason in error
        assert error.count("\n") == 1
    other = {**json.loads(HEADER), "run": "another"}
    (folder / "a.jsonl").write_bytes(HEADER)
    (folder / "z.jsonl").write_bytes(to_bytes(other))
    assert main(["validate", str(folder)]) == 2
    assert "expected files of one run" in capsys.readouterr().err


def test_files_of() -> None:
    assert files_of(SAMPLE) is None
    assert files_of(Path("gone")) is None
    assert SAMPLE in (files_of(SAMPLE.parent) or [])
    with pytest.raises(TraceError, match="gone"):
        read_map(Path("gone"))


# -- overlays with cycles ----------------------------------------------------------------------------------------------


def test_a_cycle_at_level_observable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No step is replayed, so that neither a tree nor a policy is needed; what clients get is judged as on a tree."""
    told = json.loads(HEADER)
    brokers = sorted({name for edge in told["overlay"] for name in edge})
    ring = [list(pair) for pair in zip(brokers, [*brokers[1:], brokers[0]], strict=True)]
    del told["policy"]
    (tmp_path / "ring.jsonl").write_bytes(to_bytes({**told, "overlay": ring + told["overlay"][:1]}) + b"".join(LINES))
    found = verdict(tmp_path / "ring.jsonl", "--level", "observable", capsys=capsys)
    assert found["verdict"] == "accepted"
    assert main(["validate", str(tmp_path / "ring.jsonl"), "--level", "exact"]) == 2
    assert "no policy" in capsys.readouterr().err
    twice = next(line for line in LINES if b'"deliver"' in line)
    row = json.loads(twice)
    row["seq"] = 1 + max(each["seq"] for each in rows() if each["broker"] == row["broker"])
    (tmp_path / "tree.jsonl").write_bytes(HEADER + b"".join(LINES))
    for name in ("ring.jsonl", "tree.jsonl"):
        with (tmp_path / name).open("ab") as file:
            file.write(to_bytes(row))
    found = verdict(tmp_path / "ring.jsonl", "--level", "observable", capsys=capsys)
    assert "TRC-8" in [each["rule"] for each in found["rejections"]]
    assert found["rejections"] == verdict(tmp_path / "tree.jsonl", "--level", "observable", capsys=capsys)["rejections"]
