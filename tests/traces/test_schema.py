"""`spec/trace.schema.json` is current, and agrees with the reader about every line that both can judge."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate.setting import KEYS, MORE_KEYS, WRITTEN_KEYS, Setting
from routeproof.model.filters import STRICT
from routeproof.traces import BadLine, Event, TraceError, TraceWriter
from routeproof.traces.column_names import timed
from routeproof.traces.fields import TIMES
from routeproof.traces.format import KNOWN, read_header
from routeproof.traces.lines import read_block
from routeproof.traces.schema import schema
from tests.traces.samples import EVERY_KIND, HEADER, QUOTE, ROW, STOCK, STRANGE, changes, write_every_kind

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "spec" / "trace.schema.json"
VALIDATOR = Draft202012Validator(schema())


def problems(row: object) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(row)]


def test_it_is_current() -> None:
    """If not: python -m routeproof.traces.schema > spec/trace.schema.json"""
    assert json.loads(FILE.read_text()) == schema()


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("path", sorted((ROOT / "traces" / "corpus").glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_corpus(path: Path) -> None:
    for line in path.read_text().splitlines():
        assert not problems(json.loads(line))


def test_what_the_writer_writes(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, "r1", overlay=[("b1", "b2")], observes=["send"], instance={"name": "x"}) as writer:
        write_every_kind(writer)
    lines = path.read_text().splitlines()
    assert len(lines) == len(EVERY_KIND) + 1
    for line in lines:
        assert not problems(json.loads(line))


def test_every_kind_of_line() -> None:
    for row in [HEADER, *EVERY_KIND]:
        assert not problems(row)


def is_event(row: object) -> bool:
    (line,) = read_block(json.dumps(row).encode(), 2, STRICT, checked=True)
    return isinstance(line, Event)


@pytest.mark.parametrize("row", EVERY_KIND, ids=lambda row: row["event"])
def test_events_of_the_reader_are_those_of_the_schema(row: dict[str, Any]) -> None:
    for changed in changes(row):
        if any(type(value) is float for value in (*changed.values(), *_values(changed.get("message")))):
            continue  # to a schema, 7.0 is a whole number
        if isinstance(message := changed.get("message"), dict) and message.get("kind") in ("x", "note", "x" * 300):
            continue  # a kind of a protocol's own
        assert is_event(changed) == (not problems(changed)), (changed, problems(changed))


WRITTEN_TIMES: list[Any] = [
    *(
        0,
        7,
        1.5,
        -1,
        -0.5,
        2**63 - 1,
        2**63,
        True,
        None,
        [],
        {},
        "",
        " ",
        "x",
        "12",
        " 12 ",
        "12.25",
        "1e3",
        "1_0",
        "-1",
    ),
    *("nan", "Infinity", "٣", "2026-11-19", "2026-11-19T22:18:00.25Z", "2026-11-19 22:18:00+02:00", "2026-11-19T22:18"),
]


@pytest.mark.parametrize("value", WRITTEN_TIMES, ids=json.dumps)
@pytest.mark.parametrize("key", TIMES)
def test_times_of_the_reader_are_those_of_the_schema(key: str, value: object) -> None:
    """Under a header with `time_unit`."""
    row = {**ROW, key: value}
    try:
        read = is_event(timed(dict(row), "ns"))
    except TraceError:
        read = False
    assert read == (not problems(row)), problems(row)


def _values(raw: object) -> list[object]:
    return list(raw.values()) if isinstance(raw, dict) else []


@pytest.mark.parametrize(
    "filter_",
    [
        *STRANGE,
        STOCK,
        [["x"]],
        [["x", "present"]],
        [["x", 1, 1]],
        [["", "=", 1]],
        [["x", "=", None]],
        [["x", "=", [1]]],
        [["x", "=", 1, 1]],
        [["x" * 257, "=", 1]],
        [["x", "=", "x" * 1025]],
        [["x", "present"]] * 65,
        [4096],
        [1, "x"],
    ],
    ids=lambda value: json.dumps(value)[:30],
)
def test_filters(filter_: object) -> None:
    row = {**ROW, "message": {"kind": "subscribe", "id": "s", "filter": filter_}}
    assert is_event(row) == (not problems(row)), problems(row)


@pytest.mark.parametrize(
    "attributes",
    [*STRANGE, QUOTE, {"": 1}, {"x": None}, {"x": {}}, {"x" * 257: 1}, {f"x{n}": n for n in range(1025)}],
    ids=lambda value: json.dumps(value)[:30],
)
def test_attributes(attributes: object) -> None:
    row = {**ROW, "message": {"kind": "publish", "id": "p", "attributes": attributes}}
    assert is_event(row) == (not problems(row)), problems(row)


@pytest.mark.parametrize(
    "tables",
    [
        *STRANGE,
        {"subs": [{"id": "s", "from": "b1", "filter": STOCK}], "advs": [], "sent": {"b1": ["s"]}},
        {"subs": {}},
        {"subs": [{"from": "b1"}]},
        {"subs": [{"id": "s", "from": 1}]},
        {"subs": [{"id": "s", "filter": "all"}]},
        {"sent": {"b1": "s"}},
        {"sent": {"": ["s"]}},
        {"sent": {"b1": [""]}},
    ],
    ids=lambda value: json.dumps(value)[:30],
)
def test_tables(tables: object) -> None:
    row = {"broker": "b1", "seq": 1, "event": "snapshot", "tables": tables}
    assert is_event(row) == (not problems(row)), problems(row)


@pytest.mark.parametrize("key", [*HEADER, "colour"])
@pytest.mark.parametrize(
    "value",
    [
        *(each for each in STRANGE if each not in ("", "x", "note")),
        [["b1", "b2"]],
        [["b1"]],
        [["b1", 2]],
        ["b1"],
        "missing",
    ],
    ids=lambda value: json.dumps(value)[:30],
)
def test_headers(key: str, value: object) -> None:
    header = copy.deepcopy(HEADER)
    header[key] = value
    if value == "missing":
        del header[key]
    if key == "routeproof" and type(value) is float:
        return
    assert is_header(header) == (not problems(header)), problems(header)


def is_header(row: dict[str, Any]) -> bool:
    try:
        read_header(row)
    except TraceError:
        return False
    return True


def test_a_line_that_was_not_readable_is_no_instance() -> None:
    assert problems({"unreadable": "not JSON"})
    assert read_block(b'{"unreadable": "not JSON"}', 3, STRICT) == [BadLine(3, "not JSON")]


# -- headers -----------------------------------------------------------------------------------------------------------

OFTEN = [17, -1, 1.5, 2**61, "shared", "mine", "us", None, [], {}, {"shared": True}, {"shared": False}, {"skew": 1}]
OF_TIME = ("clock", "settles")


def test_every_key_that_is_read_is_there() -> None:
    """Of the reader, of validation, of inputs, of metrics and of replays."""
    known = schema()["$defs"]["Header"]["properties"].keys()
    assert {*KNOWN, *KEYS, *MORE_KEYS, *WRITTEN_KEYS} - {"workload", "scale", "seed"} == known


@pytest.mark.parametrize("value", [*OFTEN, {"shared": True, "skew": 5}, {"shared": True, "skew": -5}], ids=json.dumps)
@pytest.mark.parametrize("key", OF_TIME)
def test_times_are_what_validation_takes(key: str, value: object) -> None:
    row = {**HEADER, "policy": "active", key: value}
    try:
        Setting.of(read_header(row), "equivalent")
    except UsageError:
        assert problems(row)
    else:
        assert not problems(row)


def test_a_dialect_from_outside_is_no_problem() -> None:
    """Only the reader knows which dialects there are."""
    assert not problems({**HEADER, "dialect": "mine"})
