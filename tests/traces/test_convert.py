"""From any form to any other: the same header, the same events, the same bad lines."""

from __future__ import annotations

import tracemalloc
from itertools import product
from pathlib import Path

import pytest

from routeproof.traces import BadLine, Event, event_row, open_trace, read_trace, to_json_lines, to_parquet
from tests.traces.samples import EVERY_KIND, FORMS, HEADER, PUBLISH, ROW, keep, lines_of, to_bytes, write

NAMES = {"jsonl": "t.jsonl", "gz": "t.jsonl.gz", "zst": "t.jsonl.zst", "parquet": "t.parquet"}


def convert(source: Path, target: Path) -> Path:
    (to_parquet if target.suffix == ".parquet" else to_json_lines)(source, target)
    return target


def in_order(path: Path) -> list[Event | BadLine]:
    """By run and broker: Parquet keeps the events of one together, and only their order is one."""
    return sorted(lines_of(path), key=lambda line: (line.run, line.broker) if isinstance(line, Event) else ("~", ""))


@pytest.mark.parametrize(("one", "two"), list(product(FORMS, FORMS)))
def test_every_form_to_every_form(tmp_path: Path, one: str, two: str) -> None:
    header = {**HEADER, "mutant": None, "instance": {"name": "é"}}
    source = keep(tmp_path / "source", one, to_bytes(header, *EVERY_KIND))
    target = convert(source, tmp_path / NAMES[two])
    with open_trace(source) as (before, _), open_trace(target) as (after, _):
        assert before == after
        assert after.more == {"mutant": None, "instance": {"name": "é"}}
    assert in_order(target) == in_order(source)


@pytest.mark.parametrize(("one", "two"), list(product(FORMS, FORMS)))
def test_bad_lines_stay_bad_for_the_same_reason(tmp_path: Path, one: str, two: str) -> None:
    source = keep(tmp_path / "source", one, to_bytes(HEADER, ROW, b"nonsense", {**ROW, "seq": -1}, ROW))
    target = convert(source, tmp_path / NAMES[two])
    before, after = ([x.reason for x in lines_of(path) if isinstance(x, BadLine)] for path in (source, target))
    assert len(after) == 2
    assert before == after


def test_a_filter_that_means_nothing_does_so_afterwards(tmp_path: Path) -> None:
    """Converting asks no filter what it means, and takes none away."""
    row = {**ROW, "message": {"kind": "subscribe", "id": "s", "filter": [["x", "~", 1]]}}
    source = write(tmp_path / "s.jsonl", HEADER, row)
    for name in NAMES.values():
        assert "operator '~'" in read_trace(convert(source, tmp_path / name)).bad[0].reason


def test_half_a_character(tmp_path: Path) -> None:
    """Lines can hold it, columns cannot; then it is told."""
    source = write(tmp_path / "s.jsonl", HEADER, {**ROW, "broker": "\ud800"}, ROW)
    assert len(read_trace(convert(source, tmp_path / "t.jsonl.gz")).events) == 2
    trace = read_trace(convert(source, tmp_path / "t.parquet"))
    assert (len(trace.events), [bad.number for bad in trace.bad]) == (1, [2])


@pytest.mark.parametrize("name", list(NAMES.values()))
def test_nothing_is_left_where_it_fails(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    source = write(tmp_path / "source", HEADER, ROW)
    with pytest.raises(OSError, match=name):
        convert(source, tmp_path / name)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(["source", name])


def test_a_target_may_be_its_source(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", HEADER, ROW)
    to_json_lines(path, path)
    assert len(read_trace(path).events) == 1


@pytest.mark.parametrize("form", FORMS)
def test_reading_takes_no_memory(tmp_path: Path, form: str) -> None:
    """Thirty thousand events or three hundred thousand: what is held is some blocks."""
    rows = [event_row(f"b{n % 7}", n, "receive", "b1", message={**PUBLISH, "id": f"p{n % 100}"}) for n in range(30_000)]
    path = keep(tmp_path / "t", form, to_bytes(HEADER, *rows))
    tracemalloc.start()
    try:
        with open_trace(path) as (_, lines):
            assert sum(1 for _ in lines) == 30_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (24 << 20 if form == "parquet" else 4 << 20)
