"""Lines on their way out."""

from __future__ import annotations

import json

import pytest
from msgspec import Raw

from routeproof.model.filters import STRICT
from routeproof.traces import BadLine, Event, event_row, header_row, to_text
from routeproof.traces.format import read_header
from routeproof.traces.lines import header_of, read_block, row_of, to_json
from tests.traces.samples import EVERY_KIND, HEADER, to_bytes


def test_one_object_a_line_in_ascii() -> None:
    text = to_text([{"id": "é\n\ud800"}, event_row("b1", 1, "crash")])
    assert text.isascii()
    assert [json.loads(line) for line in text.splitlines()] == [
        {"id": "é\n\ud800"},
        {"broker": "b1", "seq": 1, "event": "crash"},
    ]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_no_number_that_json_has_not(number: float) -> None:
    for write in (lambda row: to_text([row]), to_json):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write({"x": [number]})


def test_brokers_by_number_or_by_name() -> None:
    header = header_row("r", "routing", "", [(1, "north")], "strict", [])
    assert header["overlay"] == [["b1", "north"]]


@pytest.mark.parametrize(
    "value", [{"a": None}, {"a": "\ud800"}, {"a": Raw(b"[1]")}, {"a": Raw(b"[null]"), "b": "\ud800"}]
)
def test_one_value(value: object) -> None:
    text = to_json(value)
    assert "\n" not in text
    plain = json.loads(json.dumps(value, default=lambda raw: json.loads(bytes(raw))))
    assert json.loads(text) == plain


def test_what_was_read_is_written_the_same() -> None:
    assert header_of(read_header({**HEADER, "colour": [1]})) == {**HEADER, "colour": [1]}
    for line, row in zip(read_block(to_bytes(*EVERY_KIND), 2, STRICT), EVERY_KIND, strict=True):
        assert isinstance(line, Event)
        assert json.loads(to_json(row_of(line))) == row


def test_what_could_not_be_read_stays_so() -> None:
    line = to_json(row_of(BadLine(3, "not JSON: \ud800"))).encode()
    assert read_block(line, 9, STRICT) == [BadLine(9, "not JSON: \ud800")]


def test_what_is_no_json_at_all() -> None:
    with pytest.raises(TypeError, match="a set is not JSON"):
        to_text([{"x": {1}}])
