"""The reader refuses a bad header, keeps every bad line with its number and reason, and raises nothing else."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.traces import BadLine, Event, TraceError, event_row, open_trace, read_trace, save, to_text
from routeproof.traces import reader as reader_module
from routeproof.traces.lines import LINE_BYTES
from tests.traces.samples import FORMS, HEADER, ROW, keep, lines_of, to_bytes, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def test_reads_what_was_written(path: Path) -> None:
    save(path, to_text([HEADER, ROW, event_row("b2", 9, "note", text="a word")]), replace=False)
    trace = read_trace(path)
    assert trace.header.overlay == (("b1", "b2"), ("b2", "b3"))
    assert [(e.broker, e.seq, e.event, e.peer, e.text) for e in trace.events] == [
        ("b2", 7, "receive", "b1", ""),
        ("b2", 9, "note", "", "a word"),
    ]
    assert not trace.bad


def test_keeps_what_it_does_not_know(path: Path) -> None:
    trace = read_trace(write(path, {**HEADER, "colour": "red"}, {**ROW, "colour": "blue", "time": 12, "run": "r2"}))
    assert trace.header.more == {"colour": "red"}
    assert (trace.events[0].time, trace.events[0].run) == (12, "r2")


# -- headers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (b"", "line 1: not JSON"),
        (b"\x80\x04\x95", "line 1: not UTF-8"),
        (b"PARX", "line 1: not JSON"),
        (b"PAR1", "Parquet that cannot be read"),
        (b"\x1f\x8b", "line 1: the gzip data"),
        (b"\x28\xb5\x2f\xfd", "line 1: the zstd data"),
        (b" " * (5 << 20), "line 1: longer than 4 MiB; expected a header"),
        ([], "line 1: the header: found a list; expected an object"),
        ({}, 'no key "routeproof"'),
        (ROW, 'no key "routeproof"'),
        ({**HEADER, "routeproof": 2}, '"routeproof": found 2; expected the format\'s version, 1'),
        ({**HEADER, "routeproof": True}, '"routeproof": found true'),
        ({**HEADER, "routeproof": "1"}, '"routeproof": found "1"'),
        ({**HEADER, "run": 5}, '"run": found 5'),
        ({k: v for k, v in HEADER.items() if k != "overlay"}, '"overlay" is missing'),
        ({**HEADER, "overlay": {"b1": "b2"}}, '"overlay": found a table; expected a list'),
        ({**HEADER, "overlay": [["b1"]]}, '"overlay": found a list as a link'),
        ({**HEADER, "overlay": [["b1", 2]]}, '"overlay": found 2; expected a string'),
        ({**HEADER, "overlay": [["b", "c"]] * 100_001}, "found 100001 entries"),
        ({**HEADER, "dialect": "klingon"}, 'dialect "klingon" is unknown; expected one of'),
        ({**HEADER, "observes": "all"}, '"observes": found "all"; expected a list'),
        ({**HEADER, "policy": None}, '"policy": found null'),
    ],
)
def test_bad_headers(path: Path, header: object, said: str) -> None:
    write(path, header, ROW)
    for read in (read_trace, lambda p: open_trace(p).__enter__()):
        with pytest.raises(TraceError) as caught:
            read(path)
        assert said in str(caught.value)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)


def test_an_empty_file(path: Path) -> None:
    path.touch()
    with pytest.raises(TraceError, match="line 1: the file is empty; expected a header"):
        read_trace(path)


def test_a_byte_order_mark_is_no_fault(path: Path) -> None:
    write(path, HEADER, ROW)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_trace(path).events) == 1


# -- lines -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "not JSON: Expecting property name"),
        (b"nonsense", "not JSON: Expecting value at character 1"),
        (b'{"broker": "\xff"}', "not UTF-8: invalid start byte at byte 13"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"broker": "b1", "seq": NaN}', "NaN is no JSON number"),
        (b'{"broker": "b1", "seq": 1, "colour": "\xff", "event": "crash"}', "not UTF-8: invalid start byte at byte 39"),
        (b'{"broker": "b1", "seq": ' + b"9" * 5000 + b"}", "too many digits"),
        (b"7", "an event: found 7; expected an object"),
        ({"broker": "b1"}, '"event" is missing'),
        ({**ROW, "event": "teleport"}, '"event": found "teleport"; expected one of receive, send'),
        ({**ROW, "broker": 2}, '"broker": found 2; expected a string'),
        ({**ROW, "seq": "7"}, '"seq": found "7"; expected a whole number'),
        ({**ROW, "seq": 7.0}, '"seq": found 7.0'),
        ({**ROW, "seq": -1}, '"seq": found -1'),
        ({**ROW, "seq": True}, '"seq": found true'),
        ({**ROW, "seq": 1 << 63}, '"seq": found 9223372036854775808; expected a whole number from 0 to 2^63 - 1'),
        (
            {**ROW, "time": 1.5},
            '"time": found 1.5; expected a whole number from 0 to 2^63 - 1; with "time_unit" in the',
        ),
        ({**ROW, "peer": None}, '"peer": found null'),
        ({k: v for k, v in ROW.items() if k != "peer"}, '"peer" is missing'),
        ({k: v for k, v in ROW.items() if k != "message"}, '"message" is missing; a "receive" event has one'),
        ({"broker": "b1", "seq": 1, "event": "client"}, '"message" is missing'),
        ({"broker": "b1", "seq": 1, "event": "snapshot"}, '"tables" is missing; a "snapshot" event has them'),
        ({"broker": "b1", "seq": 1, "event": "note", "text": 5}, '"text": found 5'),
        ({**ROW, "message": "p"}, 'a message: found "p"; expected an object'),
        ({**ROW, "peer": ""}, '"peer" is missing'),
        ({"unreadable": "not JSON: so it was"}, "not JSON: so it was"),
        ({"unreadable": 5}, '"unreadable": found 5'),
        (b" " * LINE_BYTES + b"{}", "longer than 32 MiB"),
        (b'{"broker": "b1", "seq": "' + b"9" * (5 << 20) + b'"}', "Expected `int`, got `str`"),
        (b'{"broker": "b1", "seq": 1, "event": "a\\nb' + b" " * (5 << 20) + b'"}', "Invalid enum value 'a"),
    ],
)
def test_a_bad_line_is_kept_and_the_rest_is_read(path: Path, line: object, said: str) -> None:
    trace = read_trace(write(path, HEADER, ROW, line, b"", ROW))
    assert len(trace.events) == 2
    (bad,) = trace.bad
    assert bad.number == 3
    assert said in bad.reason
    assert "\n" not in bad.reason


def test_a_last_line_that_was_cut(path: Path) -> None:
    write(path, HEADER, ROW, ROW)
    path.write_bytes(path.read_bytes()[:-5])
    trace = read_trace(path)
    assert (len(trace.events), [bad.number for bad in trace.bad]) == (1, [3])


def test_lines_come_one_by_one(path: Path) -> None:
    """A reader that read ahead would have met the fault that is put into the file behind it."""
    write(path, HEADER, *[ROW] * 20_000)
    with open_trace(path) as (header, lines):
        assert header.run == "r1"
        assert isinstance(next(lines), Event)
        with path.open("r+b") as file:
            file.seek(-2, 2)
            file.write(b"#")
        *events, last = lines
    assert all(isinstance(line, Event) for line in events)
    assert isinstance(last, BadLine)
    assert last.number == 20_001


def test_a_trace_that_is_too_long_to_be_held(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "WHOLE_BYTES", 1 << 20)
    data = to_bytes(HEADER, *[ROW] * 20_000)
    for form in FORMS:
        with pytest.raises(TraceError, match="expected at most 1 MiB to read it whole") as caught:
            read_trace(keep(path, form, data))
        assert "\n" not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", tmp_path / "a\nb", Path("a\0b")):
        with pytest.raises(TraceError) as caught:
            read_trace(path)
        assert "\n" not in str(caught.value)


# -- what filters and publications mean ------------------------------------------------------------------------------

MEANINGLESS: list[tuple[dict[str, Any], str]] = [
    ({"kind": "subscribe", "id": "s", "filter": [["x", "~", 1]]}, "operator '~' is unknown"),
    ({"kind": "subscribe", "id": "s", "filter": [["x", ">", 1], ["x", "<", 0]]}, "matches nothing"),
    ({"kind": "subscribe", "id": "s", "filter": None}, "found null; expected a list of predicates"),
    ({"kind": "unsubscribe", "id": "s", "filter": {}}, "found a table; expected a list of predicates"),
    ({"kind": "subscribe-many", "items": [{"id": "s", "filter": [[]]}]}, "found a list of length 0"),
    ({"kind": "publish", "id": "p", "attributes": {"x": [1]}}, "found a list; expected a string, a boolean"),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("message", "said"), MEANINGLESS)
def test_what_means_nothing(path: Path, form: str, message: dict[str, Any], said: str) -> None:
    """Told when the event is asked; or, where the reader is asked to check, a bad line."""
    keep(path, form, to_bytes(HEADER, ROW, {**ROW, "message": message}, ROW))
    _, event, _ = lines_of(path)
    assert isinstance(event, Event)
    assert event.message is not None
    assert event.message.ids == ("s",) if message["kind"] != "publish" else ("p",)
    with pytest.raises(TraceError) as caught:
        _ = (event.message.items, event.message.event)
    assert said in str(caught.value)
    assert lines_of(path, checked=True)[1] == BadLine(3, str(caught.value))
    trace = read_trace(path)
    assert (len(trace.events), trace.bad) == (2, (BadLine(3, str(caught.value)),))


def test_the_dialect_is_the_header_s(path: Path) -> None:
    row = {**ROW, "message": {"kind": "subscribe", "id": "s", "filter": [["x", ">", 1]]}}
    write(path, {**HEADER, "dialect": "events"}, row, {**ROW, "message": {**row["message"], "filter": [1]}})
    trace = read_trace(path)
    assert [bad.number for bad in trace.bad] == [2]
    (event,) = trace.events
    assert event.message is not None
    assert str(event.message.items[0].filter) == "{1}"


def test_attributes_where_events_are_numbers(path: Path) -> None:
    rows = [{**ROW, "message": {"kind": "publish", "id": "p", "attributes": each}} for each in ({"x": 1}, 3)]
    assert len(read_trace(write(path, {**HEADER, "dialect": "events"}, *rows)).bad) == 2


# -- anything at all ---------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["b1", "publish"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["broker", "seq", "event", "peer", "message", "kind", "id", "filter", "items"]), inner
        )
    ),
    max_leaves=8,
)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(row=st.dictionaries(st.sampled_from(["routeproof", *HEADER]), JSON), rest=st.lists(JSON, max_size=3))
def test_any_json(tmp_path_factory: pytest.TempPathFactory, row: dict[str, Any], rest: list[Any]) -> None:
    path = tmp_path_factory.mktemp("any") / "trace.jsonl"
    write(path, HEADER, *({**ROW, **each} if isinstance(each, dict) else each for each in rest))
    trace = read_trace(path)
    assert len(trace.events) + len(trace.bad) == len(rest)
    write(path, {**HEADER, **row})
    assert _survives(path)


@pytest.mark.parametrize("seed", range(200))
def test_any_bytes(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(to_text([HEADER, *[ROW] * 5]).encode())
    for _ in range(rng.randint(1, 10)):
        at = rng.randrange(len(data))
        data[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 3))
    path.write_bytes(bytes(data))
    assert _survives(path)


def test_a_key_given_twice(path: Path) -> None:
    """Refused where it would be looked at closely anyway; in the keys of an event and a message the last one counts."""
    row = b'{"broker": "b1", "seq": 1, "event": "send", "peer": "b2", "message": %b}'
    publish = b'{"kind": "publish", "id": "p", "id": "q", "attributes": {"x": 1, "x": 2}}'
    write(path, HEADER, row % publish)
    (event,) = lines_of(path)
    assert isinstance(event, Event)
    assert event.message is not None
    assert event.message.ids == ("q",)
    assert "one key twice" in read_trace(path).bad[0].reason
    write(path, b'{"routeproof": 1, "routeproof": 1}')
    with pytest.raises(TraceError, match="one key twice"):
        read_trace(path)


def _survives(path: Path) -> bool:
    """Every line after the header is read or kept; or the header is refused."""
    try:
        trace = read_trace(path)
    except TraceError as error:
        return "\n" not in str(error)
    lines = path.read_bytes().split(b"\n")[1:]
    return len(trace.events) + len(trace.bad) == sum(1 for line in lines if line.strip())


@pytest.mark.parametrize("form", FORMS)
def test_when_a_client_spoke_and_a_step_was_done(tmp_path: Path, form: str) -> None:
    """Each may be left out, and is then not known: so it is in files that are older than they are."""
    rows = [ROW, {**ROW, "seq": 8, "time": 9, "issued": 5}, {**ROW, "seq": 9, "time": 9, "done": 0}]
    found = lines_of(keep(tmp_path / "trace", form, to_bytes(HEADER, *rows)))
    assert [(e.time, e.issued, e.done) for e in found if isinstance(e, Event)] == [
        (None, None, None),
        (9, 5, None),
        (9, None, 0),
    ]
    for key in ("issued", "done"):
        (bad,) = lines_of(keep(tmp_path / "bad", form, to_bytes(HEADER, {**ROW, key: -1})))
        assert isinstance(bad, BadLine)
        assert f'"{key}": found -1' in bad.reason
