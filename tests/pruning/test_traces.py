"""What traces say of pruning: headers of publications, cuts of withdrawals, signals, and larger snapshots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from routeproof.model.filters import EVENTS, STRICT, EventSet
from routeproof.model.messages import Message, Publication, Publish, Subscription, Unsubscribe
from routeproof.model.messages import describe as describe_in_model
from routeproof.model.pruning.vocabulary import Congest, Cut, PruningTables, Relieve, Row, met, publish, withdraw
from routeproof.model.pruning.vocabulary import cuts_of as cuts_in
from routeproof.traces import (
    Event,
    TraceError,
    TraceTables,
    TraceWriter,
    broker_name,
    decode,
    describe,
    encode,
    encode_tables,
    event_row,
    header_row,
    read_trace,
    to_json_lines,
)
from routeproof.traces import batches as batches_module
from routeproof.traces.lines import read_block
from routeproof.traces.pruning import CUTS, EXTENSION, THRESHOLDS, PruningParts, cuts_in_trace, header_in
from tests.traces.samples import HEADER, STRANGE, keep, lines_of, to_bytes
from tests.traces.test_schema import is_event, problems

S, T = (Subscription(n, id, EventSet.of([n])) for n, id in enumerate("ST"))
P = Publication(0, "p", "a", 2)
CUT = (Cut("a1", (1, 7)), Cut("a2", (None, -1)))

PRUNING: dict[str, Any] = header_row(
    "r1", "pruning", "incremental", [(1, 2), (2, 3)], "events", ["receive"], pruning={"cuts": [1, 2]}
)
TABLES: dict[str, Any] = {
    "subs": [{"id": "S", "from": "b1"}],
    "sent": {"b3": ["S", "T"]},
    "retained": {"b3": [{"id": "T", "filter": [1]}]},
    "rows": [["S", "a", [["p", 0, 1], ["q", 2, 1]]], ["S", "", [["r", 0, 0]]]],
    "held": [{"id": "S", "from": "b1", "cuts": [["a", [0]]]}, {"id": "T", "filter": [1]}],
    "congested": True,
}
CUTS_ROW = [["a1", [1, 7]], ["a2", [None, -1]]]
ROWS: list[dict[str, Any]] = [
    event_row("b2", 1, "client", message={"kind": "congest"}),
    event_row("b2", 2, "client", message={"kind": "relieve"}),
    event_row("b2", 3, "receive", "b1", message={"kind": "unsubscribe", "id": "S", "cuts": CUTS_ROW}),
    event_row("b2", 4, "receive", "b1", message={"kind": "unsubscribe", "id": "S", "cuts": []}),
    event_row("b2", 5, "receive", "b1", message={"kind": "unsubscribe", "id": "S"}),
    event_row("b2", 6, "send", "b1", message={"kind": "publish", "id": "p", "event": 1, "distance": 2, "count": 1}),
    event_row("b2", 7, "send", "b1", message={"kind": "publish", "id": "p", "event": 1}),
    event_row("b2", 8, "snapshot", tables=TABLES),
    event_row("b1", 1, "snapshot", tables={}),
]


# -- messages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (Unsubscribe(S), {"kind": "unsubscribe", "id": "S"}),
        (withdraw(S, ()), {"kind": "unsubscribe", "id": "S", "cuts": []}),
        (withdraw(S, CUT), {"kind": "unsubscribe", "id": "S", "cuts": CUTS_ROW}),
        (publish(P, 2, 1), {"kind": "publish", "id": "p", "of": "a", "event": 2, "distance": 2, "count": 1}),
        (publish(P, 0, 1), {"kind": "publish", "id": "p", "of": "a", "event": 2, "count": 1}),
        (Publish(P), {"kind": "publish", "id": "p", "of": "a", "event": 2}),
        (Congest(), {"kind": "congest"}),
        (Relieve(), {"kind": "relieve"}),
    ],
    ids=str,
)
def test_there_and_back(message: Message, row: dict[str, object]) -> None:
    assert encode(message) == row
    read = decode(row, STRICT)
    assert describe(read) == describe_in_model(message)
    if isinstance(message, Unsubscribe):
        assert cuts_in_trace(read) == cuts_in(message)
    if isinstance(message, Publish):
        assert header_in(read) == (met(message).distance, met(message).count)


def test_messages_that_differ_in_what_pruning_says_differ() -> None:
    publish = {"kind": "publish", "id": "p", "event": 1}
    withdrawal: dict[str, object] = {"kind": "unsubscribe", "id": "S"}
    rows: list[dict[str, object]] = [
        publish,
        {**publish, "distance": 1},
        {**publish, "count": 1},
        withdrawal,
        {**withdrawal, "cuts": []},
        {**withdrawal, "cuts": [["a", [1]]]},
        {**withdrawal, "cuts": [["a", [None]]]},
    ]
    read = [decode(row, STRICT) for row in rows]
    assert all((one == other) == (i == j) for i, one in enumerate(read) for j, other in enumerate(read))
    assert decode({**publish, "distance": 0, "count": 0}, STRICT) == read[0], "left out is 0"


OF_PRUNING = {key.name for key in EXTENSION.keys}
"""Columns that a trace of the routing core does not have."""

LIMITS: list[tuple[object, str]] = [
    (None, "found null; expected a list"),
    ({}, "expected a list"),
    ([["a"]], "expected an advertisement and its distances"),
    ([["a", [1], 2]], "expected an advertisement and its distances"),
    (["a"], "expected an advertisement and its distances"),
    ([["", [1]]], "found an empty string; expected a name"),
    ([["a" * 257, [1]]], "found 257 characters; expected at most 256"),
    ([["a", 1]], "expected a list"),
    ([["a", ["1"]]], 'found "1"; expected a whole number of hops, or null'),
    ([["a", [True]]], "found true; expected a whole number of hops, or null"),
    ([["a", [1.5]]], "found 1.5; expected a whole number of hops, or null"),
    ([["a", [1 << 63]]], "expected a whole number of hops, or null"),
    ([["a", [-(1 << 63)]]], "expected a whole number of hops, or null"),
    ([["a", [0] * (THRESHOLDS + 1)]], f"found {THRESHOLDS + 1} entries; expected at most {THRESHOLDS}"),
    ([["a", [0]]] * (CUTS + 1), f"found {CUTS + 1} entries; expected at most {CUTS}"),
]


@pytest.mark.parametrize(("cuts", "reason"), LIMITS, ids=lambda value: str(value)[:30])
def test_a_list_that_is_none_is_refused_in_one_line(cuts: object, reason: str) -> None:
    with pytest.raises(TraceError, match=r'^"cuts": ') as refused:
        decode({"kind": "unsubscribe", "id": "s", "cuts": cuts}, STRICT)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)
    row = event_row("b1", 1, "send", "b2", message={"kind": "unsubscribe", "id": "s", "cuts": cuts})
    assert not is_event(row)
    assert problems(row)


# -- snapshots ---------------------------------------------------------------------------------------------------------

KNOWN = PruningTables(
    subs=((S, 1),),
    sent=((3, (S, T)),),
    retained=((3, (T,)),),
    rows=((S, "a", (Row("p", 0, 1), Row("q", 2, 1))),),
    held=((1, withdraw(S, (Cut("a", (0,)),))), (0, Unsubscribe(T))),
    congested=True,
)


def snapshot(tables: object) -> TraceTables | None:
    (event,) = read_block(to_bytes(event_row("b2", 1, "snapshot", tables=tables)), 2, EVENTS)
    assert isinstance(event, Event)
    return event.tables


@pytest.mark.parametrize("filters", [True, False])
@pytest.mark.parametrize("tables", [KNOWN, PruningTables()], ids=["all of it", "nothing"])
def test_tables_there_and_back(tables: PruningTables, filters: bool) -> None:
    row = encode_tables(tables, broker_name, filters=filters)
    assert {"retained", "rows", "held", "congested"} < set(row)
    meant = TraceTables.of(tables, broker_name)
    assert snapshot(row) == (meant if filters else meant.without_filters())


def test_what_a_snapshot_does_not_tell_is_not_the_same_as_nothing() -> None:
    told = snapshot({})
    assert told is not None
    assert PruningParts.of(told) == PruningParts(None, None, None, None)
    empty = snapshot({"retained": {}, "rows": [], "held": [], "congested": False})
    assert empty is not None
    assert PruningParts.of(empty) == PruningParts((), (), (), False)


@pytest.mark.parametrize("key", ["retained", "rows", "held", "congested"])
def test_strange_snapshots(key: str) -> None:
    """Never anything but a bad line, and of those that are none the schema says so too."""
    for strange in [*STRANGE, [[]], {"": []}, {"b1": [{}]}, [["s", "a"]], [["s", "a", [["p", 0]]]], [{"cuts": []}]]:
        row = event_row("b2", 1, "snapshot", tables={key: strange})
        assert is_event(row) == (not problems(row)), row


def test_an_id_stands_once() -> None:
    for tables in (
        {"retained": {"b1": [{"id": "s"}, {"id": "s"}]}},
        {"rows": [["s", "a", [["p", 0, 0]]], ["s", "a", [["q", 0, 0]]]]},
    ):
        with pytest.raises(TraceError, match="is twice in"):
            snapshot(tables)


# -- whole traces ------------------------------------------------------------------------------------------------------


def test_the_lines_are_lines_of_the_schema() -> None:
    assert [problem for row in [PRUNING, *ROWS] for problem in problems(row)] == []


@pytest.mark.parametrize("form", ["gz", "zst", "parquet"])
def test_every_form_holds_the_same(tmp_path: Path, form: str) -> None:
    data = to_bytes(PRUNING, *ROWS)
    plain, other = keep(tmp_path / "plain", "jsonl", data), keep(tmp_path / "other", form, data)
    to_json_lines(other, tmp_path / "back")
    assert read_trace(other).header == read_trace(plain).header
    events = in_order(plain)
    assert len(events) == len(ROWS)
    assert events == in_order(other) == in_order(tmp_path / "back")


def in_order(path: Path) -> list[Event]:
    events = [line for line in lines_of(path) if isinstance(line, Event)]
    return sorted(events, key=lambda event: (event.broker, event.seq))


def test_parquet_is_read_by_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the slow way")

    path = keep(tmp_path / "trace", "parquet", to_bytes(PRUNING, *ROWS))
    monkeypatch.setattr(batches_module, "read_event", refuse)
    assert len(lines_of(path)) == len(ROWS)


def test_a_trace_of_the_core_has_none_of_it(tmp_path: Path) -> None:
    path = keep(tmp_path / "core", "parquet", to_bytes(HEADER, event_row("b2", 1, "crash")))
    assert not OF_PRUNING & set(pq.read_schema(path).names)
    path = keep(tmp_path / "pruning", "parquet", to_bytes(PRUNING, event_row("b2", 1, "crash")))
    assert set(pq.read_schema(path).names) >= OF_PRUNING


def test_the_writer_writes_what_the_model_says(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with TraceWriter(path, "r1", protocol="pruning", policy="incremental", overlay=[(1, 2), (2, 3)]) as trace:
        trace.event("b2", "client", message=Congest(), time=3)
        trace.event("b2", "send", "b1", withdraw(S, CUT))
        trace.event("b2", "send", "b1", publish(P, 1, 0))
        trace.event("b2", "snapshot", tables=KNOWN)
    _, *rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row.get("message") for row in rows] == [
        {"kind": "congest"},
        encode(withdraw(S, CUT)),
        encode(publish(P, 1)),
        None,
    ]
    assert rows[-1]["tables"] == encode_tables(KNOWN, broker_name)
