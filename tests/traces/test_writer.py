"""`TraceWriter`: what it writes reads back, in every form, also where its process dies."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from routeproof.model.filters import STRICT
from routeproof.model.messages import Deliver, Message, Publication, Publish, Subscribe, Subscription
from routeproof.traces import BadLine, Event, TraceError, TraceWriter, event_row, open_trace, read_trace
from routeproof.traces import writer as writer_module
from tests.traces.samples import EVERY_KIND, HEADER, lines_of, write_every_kind

S = Subscription(0, "s", STRICT.parse([["x", ">", 1]]))
P = Publication(0, "p", "a", STRICT.event({"x": 2.5}))
NAMES = ("t.jsonl", "t.jsonl.gz", "t.jsonl.zst", "t.parquet", "t")


@pytest.mark.parametrize("name", NAMES)
def test_every_form_and_every_kind(tmp_path: Path, name: str) -> None:
    with TraceWriter(str(tmp_path / name), "r1", policy="lazy", overlay=[("b1", "b2")], observes=["send"]) as writer:
        write_every_kind(writer)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    trace = read_trace(tmp_path / name)
    assert (trace.header.run, trace.header.policy, trace.header.overlay) == ("r1", "lazy", (("b1", "b2"),))
    assert not trace.bad
    order = [(e.broker, e.seq) for e in sorted(trace.events, key=lambda e: e.line)]
    assert order == [(row["broker"], row["seq"]) for row in EVERY_KIND]


def test_lines_are_what_anybody_would_write(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, "r1", overlay=[(1, 2), (2, 3)], policy="active", observes=["receive"]) as writer:
        write_every_kind(writer)
    header, *rows = (json.loads(line) for line in path.read_text().splitlines())
    assert header == HEADER
    assert rows == EVERY_KIND


def test_messages_of_the_model(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    messages: list[Message] = [Subscribe(S), Publish(P), Deliver(P, S)]
    with TraceWriter(path, "r") as writer:
        for message in messages * 2:
            writer.event("b1", "send", "b2", message)
    events = read_trace(path).events
    assert [event.message.items[0].id for event in events if event.message] == ["s", "p", "p"] * 2
    assert events[1].message is not None
    assert events[1].message.event == P.event
    assert events[2].message is not None
    assert events[2].message.to == "s"


def test_seq_rises_by_itself_within_each_broker_of_each_run(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, "r") as writer:
        writer.event("x", "crash")
        writer.event("y", "crash")
        writer.event("x", "restart", seq=10)
        writer.event("x", "crash", run="other")
        writer.event("x", "crash")
    found = [(e.run, e.broker, e.seq) for e in read_trace(path).events]
    assert found == [("", "x", 1), ("", "y", 1), ("", "x", 10), ("other", "x", 1), ("", "x", 11)]


def test_strange_names(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, 'r"\n', overlay=[('"', "\\")]) as writer:
        writer.event('"', "send", "\\\n\x00é\ud800", {"kind": "publish", "id": "☃"}, text="a\u2028b")
    (event,) = read_trace(path).events
    assert (event.broker, event.peer, event.text) == ('"', "\\\n\x00é\ud800", "a\u2028b")
    assert len(path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_no_number_that_json_has_not(tmp_path: Path, number: float) -> None:
    with TraceWriter(tmp_path / "t.jsonl", "r") as writer:
        with pytest.raises(ValueError, match="not JSON compliant"):
            writer.event("b1", "send", "b2", {"kind": "publish", "id": "p", "attributes": {"x": number}})
        writer.event("b1", "crash")
    assert len(read_trace(tmp_path / "t.jsonl").events) == 1


def test_what_a_reader_would_refuse_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match='dialect "klingon" is unknown'):
        TraceWriter(tmp_path / "t.jsonl", "r", dialect="klingon")
    with TraceWriter(tmp_path / "t.jsonl", "r") as writer, pytest.raises(TraceError, match="no event 'teleport'"):
        writer.event("b1", "teleport")


def test_an_open_file_stays_open() -> None:
    file = io.BytesIO()
    with TraceWriter(file, "r", colour="red") as writer:
        writer.event("b1", "crash")
    writer.close()
    assert [json.loads(line) for line in file.getvalue().splitlines()][1] == event_row("b1", 1, "crash")


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.jsonl.zst"])
def test_a_process_that_dies(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was flushed is there; and wherever the file ends, the lines before are."""
    monkeypatch.setattr(writer_module, "BURST", 50)
    path = tmp_path / name
    with TraceWriter(path, "r") as writer:
        for _ in range(120):
            writer.event("b1", "send", "b2", {"kind": "publish", "id": "p"})
        assert len([line for line in lines_of(path) if isinstance(line, Event)]) == 100
        writer.flush()
        left = path.read_bytes()
    for cut in range(len(left) - 40, len(left) + 1):
        path.write_bytes(left[:cut])
        lines = lines_of(path)
        events = [line for line in lines if isinstance(line, Event)]
        assert len(events) >= 100
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        # A line that was cut, and, of what is compressed, that the end is missing.
        assert all(isinstance(line, BadLine) for line in lines[len(events) :])
        assert len(lines) - len(events) <= (1 if name == "t.jsonl" else 2)
    assert len(events) == 120


def test_parquet_is_there_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    writer = TraceWriter(path, "r")
    writer.event("b1", "crash")
    writer.flush()
    (waiting,) = tmp_path.iterdir()
    assert waiting != path
    with open_trace(waiting) as (_, lines):  # what is left of it where the process dies
        assert isinstance(next(lines), Event)
    writer.close()
    assert list(tmp_path.iterdir()) == [path]
    assert len(read_trace(path).events) == 1


def test_a_trace_is_kept_where_its_run_fails(tmp_path: Path) -> None:
    def run() -> None:
        with TraceWriter(tmp_path / "t.parquet", "r") as writer:
            writer.event("b1", "crash")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        run()
    assert len(read_trace(tmp_path / "t.parquet").events) == 1


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "REMEMBERED", 3)
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, "r") as writer:
        for n in range(10):
            writer.event("b1", "deliver", f"c{n}", Publish(Publication(n, f"p{n}", "a", 1)))
    assert [e.message.ids[0] for e in read_trace(path).events if e.message] == [f"p{n}" for n in range(10)]


def test_gzip_is_gzip(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.jsonl.gz", "r") as writer:
        writer.event("b1", "crash")
    assert len(gzip.decompress((tmp_path / "t.jsonl.gz").read_bytes()).splitlines()) == 2
