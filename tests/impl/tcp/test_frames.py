"""Frames: whatever is said arrives as it was said, in whatever pieces; whatever is no frame is refused in one line."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routeproof.impl.tcp.codec import Body, FrameReader, Refusal, frame, framed
from routeproof.impl.tcp.node import LONGEST, one_line

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
BODIES: st.SearchStrategy[list[Body]] = st.lists(st.dictionaries(st.text(max_size=8), VALUES, max_size=4), max_size=5)


def read(data: bytes, most: int = 1 << 20) -> list[Body]:
    return list(FrameReader(most).feed(data))


@given(BODIES, st.data())
def test_frames_arrive_in_any_pieces(bodies: list[Body], data: st.DataObject) -> None:
    sent = b"".join(frame(body) for body in bodies)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=6)))
    reader = FrameReader()
    received = []
    for begin, end in zip([0, *cuts], [*cuts, len(sent)], strict=True):
        received += list(reader.feed(sent[begin:end]))
    assert received == bodies
    assert not reader.partial


@given(BODIES, st.integers(1, 20))
def test_what_is_cut_off_is_partial(bodies: list[Body], missing: int) -> None:
    sent = b"".join(map(frame, bodies)) + frame({"last": "one of some length"})
    reader = FrameReader()
    assert list(reader.feed(sent[:-missing])) == bodies
    assert reader.partial


@given(st.binary(max_size=64))
def test_garbage_is_refused_and_nothing_else(data: bytes) -> None:
    """Four bytes that say a length that is right, and then anything at all."""
    bodies: list[Body] = []
    with suppress(Refusal):
        bodies = read(framed(data))
    assert all(type(body) is dict for body in bodies)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xff\xff\xff", "a frame of 4,294,967,295 bytes; expected at most 1,048,576"),
        ((1 << 20).to_bytes(4, "big") + b"[" * (1 << 20), "nested too deeply"),
        (b"GET / HTTP/1.1\r\n\r\n", "a frame of 1,195,725,856 bytes"),
        (framed(b""), "not JSON"),
        (framed(b"{"), "not JSON"),
        (framed(b"\xff{}"), "not JSON: 'utf-8'"),
        (framed(b"\x00\x01\x02"), "not JSON"),
        (framed(b"[]"), "no JSON object"),
        (framed(b"7"), "no JSON object"),
        (framed(b"null"), "no JSON object"),
        (framed(b'{"n": NaN}'), "NaN is no number"),
        (framed(b'{"n": -Infinity}'), "-Infinity is no number"),
        (framed(b'{"n": ' + b"9" * 5000 + b"}"), "not JSON"),
        (framed(b'{"m": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}"), "nested too deeply"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_no_frame(data: bytes, reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        read(data)


def test_the_limit_is_of_each_frame_and_may_be_changed() -> None:
    reader = FrameReader(10)
    frames = reader.feed(frame({"a": 1}) + frame({"long": "x" * 50}) + frame({"longer": "x" * 500}))
    assert next(frames) == {"a": 1}
    reader.most = 100
    assert len(json.dumps(next(frames))) > 50
    with pytest.raises(Refusal, match="expected at most 100"):
        next(frames)


def test_a_long_frame_is_refused_before_it_has_come() -> None:
    with pytest.raises(Refusal):
        read((1 << 21).to_bytes(4, "big"))


@given(st.text())
def test_a_log_line_is_one_line_of_what_can_be_printed(text: str) -> None:
    line = one_line(text)
    assert line.isascii()
    assert line.isprintable()
    assert len(line) <= LONGEST + 3


def test_what_a_terminal_would_act_on_is_escaped() -> None:
    assert one_line("\x1b[2J\r\nb3: all is well \x7f\u202e") == "\\x1b[2J\\r\\nb3: all is well \\x7f\\u202e"
