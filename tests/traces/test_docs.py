"""What `docs/reference/trace-format.md` shows works: its lines read, its writer writes, its reader runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from routeproof.traces import EVENTS, read_trace
from routeproof.traces.columns import ORDER
from routeproof.traces.messages import SHORT
from tests.traces.test_schema import problems

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "trace-format.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
BLOCKS = dict(zip(("example", "snapshot", "pruning", "writer", "reader"), FENCES, strict=True))


def test_the_lines_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(BLOCKS["example"] + BLOCKS["snapshot"] + BLOCKS["pruning"], encoding="utf-8")
    trace = read_trace(path)
    assert not trace.bad
    assert [(e.broker, e.seq, e.event) for e in trace.events] == [
        ("b2", 17, "receive"),
        ("b2", 18, "send"),
        ("b1", 40, "deliver"),
        ("b2", 90, "snapshot"),
        ("b2", 95, "send"),
        ("b2", 96, "send"),
        ("b2", 97, "client"),
        ("b2", 98, "snapshot"),
    ]
    assert [problem for line in path.read_text().splitlines() for problem in problems(json.loads(line))] == []


def test_the_writer_writes_what_the_reader_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(BLOCKS["writer"], names)
    with names["TraceWriter"]("bad.jsonl", "r2") as trace:
        trace.event("x", "send", "y", {"kind": "subscribe", "id": "s", "filter": [["price", "~", 3]]})
        trace.event("x", "send", "y", {"kind": "unsubscribe"})
    exec(BLOCKS["reader"], names)
    assert [(e.broker, e.seq, e.event) for e in names["trace"].events] == [
        ("x", 1, "send"),
        ("y", 1, "receive"),
        ("y", 2, "snapshot"),
    ]
    exec(BLOCKS["reader"].replace("run.jsonl.zst", "bad.jsonl"), names)
    *read, meaningless, bad = capsys.readouterr().out.splitlines()
    assert read == ["x 1 send ['price < 3']", "y 1 receive ['price < 3']"]
    assert meaningless.startswith("unreadable: 2 predicate 1: operator '~' is unknown")
    assert bad == 'unreadable: 3 "id" is missing; expected a string'


def test_everything_is_described() -> None:
    for word in (*EVENTS, *SHORT, *ORDER):
        assert f"`{word}`" in PAGE, word
