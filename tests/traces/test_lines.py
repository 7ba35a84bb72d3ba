"""The fast reader and the reference come to the same events, however a stream is cut into blocks."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from routeproof.model.filters import STRICT
from routeproof.traces import BadLine, Event, TraceError
from routeproof.traces import lines as lines_module
from routeproof.traces.containers import Broken
from routeproof.traces.fields import parse
from routeproof.traces.format import is_usual, read_event
from routeproof.traces.lines import read_block, read_lines, whole_lines
from tests.traces.samples import EVERY_KIND, ROW, changes, to_bytes


def by_reference(line: bytes, number: int) -> Event | BadLine:
    try:
        return read_event(parse(line), STRICT, number)
    except TraceError as error:
        return BadLine(number, str(error))


def test_usual_lines_never_meet_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the slow way")

    monkeypatch.setattr(lines_module, "read_event", refuse)
    found = read_block(to_bytes(*EVERY_KIND), 2, STRICT)
    assert all(isinstance(event, Event) for event in found)
    assert sum(is_usual(event) for event in found if isinstance(event, Event)) >= 8


def test_the_same_events() -> None:
    block = to_bytes(*EVERY_KIND)
    found = read_block(block, 2, STRICT)
    assert found == [by_reference(line, at) for at, line in enumerate(block.splitlines(), 2)]
    assert not any(one != two for one, two in zip(found, read_block(block, 99, STRICT), strict=True))
    assert [event.line for event in found if isinstance(event, Event)] == list(range(2, 2 + len(EVERY_KIND)))


@pytest.mark.parametrize("row", EVERY_KIND, ids=lambda row: row["event"])
def test_the_same_events_and_the_same_reasons(row: dict[str, Any]) -> None:
    """Every row with every value replaced by something strange, or left out."""
    for changed in changes(row):
        line = json.dumps(changed).encode()
        assert read_block(line, 5, STRICT) == [by_reference(line, 5)], changed


def test_a_stream_may_be_cut_anywhere() -> None:
    data = to_bytes(*EVERY_KIND, b"", b"nonsense", {**ROW, "id": "é☃"})
    whole = list(read_lines(whole_lines(iter([data])), 2, STRICT))
    rng = random.Random(3)
    for _ in range(200):
        cuts = sorted(rng.sample(range(len(data)), rng.randint(1, 30)))
        blocks = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        found = read_lines(whole_lines(iter(blocks)), 2, STRICT)
        assert [x for lines in found for x in lines] == [x for lines in whole for x in lines]


def test_a_long_line_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "LINE_BYTES", 1000)
    blocks = [to_bytes(ROW), *[b"x" * 400] * 1000, b"\n" + to_bytes(ROW)]
    found = list(whole_lines(iter(blocks)))
    assert max(map(len, found)) < 2000
    assert [type(x) for lines in read_lines(iter(found), 2, STRICT) for x in lines] == [Event, BadLine, Event]


def test_what_breaks_in_the_middle() -> None:
    def blocks() -> Iterator[bytes]:
        yield to_bytes(ROW, ROW)[:-5]
        raise Broken("the disk is gone")

    _, cut, broken = [x for lines in read_lines(whole_lines(blocks()), 2, STRICT) for x in lines]
    assert isinstance(cut, BadLine)
    assert cut.reason.startswith("not JSON")
    assert broken == BadLine(3, "the disk is gone")


def test_parse_is_strict() -> None:
    assert parse(b'{"a": [1, 2.5, "x", null, true]}\n') == {"a": [1, 2.5, "x", None, True]}
    with pytest.raises(TraceError, match="one key twice"):
        parse(b'{"a": {"b": 1, "b": 1}}')


def test_half_a_character_is_a_character() -> None:
    """Only the reference can read it, and it does."""
    (event,) = read_block(b'{"broker": "\\ud800", "seq": 1, "event": "crash"}', 2, STRICT)
    assert isinstance(event, Event)
    assert event.broker == "\ud800"
