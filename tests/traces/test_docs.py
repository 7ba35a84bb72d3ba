"""What `docs/traces.md` shows works: its example reads, its writer writes, its reader runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from routeproof.traces import EVENTS, read_trace
from routeproof.traces.messages import SHORT

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "traces.md").read_text()
FENCES = re.findall(r"^```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
BLOCKS = dict(zip(("example", "writer", "reader"), FENCES, strict=True))


def test_the_example_reads(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(BLOCKS["example"])
    trace = read_trace(path)
    assert not trace.bad
    assert [(e.broker, e.seq, e.event) for e in trace.events] == [
        ("b2", 17, "receive"),
        ("b2", 18, "send"),
        ("b1", 40, "deliver"),
    ]


def test_the_writer_writes_what_the_reader_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(BLOCKS["writer"], names)
    with Path("trace.jsonl").open("w") as file:
        writer = names["TraceWriter"](file, "mine", "active", [["x", "y"]])
        writer.event("x", "send", "y", {"kind": "subscribe", "id": "s", "filter": [["price", "<", 3]]})
        writer.event("y", "receive", "x", {"kind": "unsubscribe"})
    exec(BLOCKS["reader"], names)
    assert [(e.broker, e.seq, e.event) for e in names["trace"].events] == [("x", 1, "send")]
    assert capsys.readouterr().out.splitlines() == ["x 1 send", 'unreadable: 3 "id" is missing; expected a string']


def test_every_kind_is_described() -> None:
    for word in (*EVENTS, *SHORT):
        assert f"`{word}`" in PAGE, word
