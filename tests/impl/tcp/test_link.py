"""Links: whatever becomes of the connections, what is sent arrives once and in order, and windows are kept."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.impl.tcp.codec import FrameReader, Refusal
from routeproof.impl.tcp.connection import Link


def sent(link: Link[int], *numbers: int) -> None:
    for number in numbers:
        link.send(json.dumps(number).encode())


def hears(link: Link[int], data: bytes, reader: FrameReader | None = None) -> None:
    for body in (reader or FrameReader()).feed(data):
        match body:
            case {"ack": int(number)}:
                link.acknowledge(number)
            case {"n": int(number), "m": int(message)}:
                if link.expects(number):
                    link.take(message)


def handle(link: Link[int]) -> list[int]:
    taken = list(link.queue)
    link.queue.clear()
    link.handled += len(taken)
    return taken


class Wire:
    """Two ends and what is on its way between them, in both directions; it is cut at any byte."""

    def __init__(self, window: int) -> None:
        self.ends: tuple[Link[int], Link[int]] = (Link(window), Link(window))
        self.arrived: tuple[list[int], list[int]] = ([], [])
        self.sent = [0, 0]
        self.cut()

    def cut(self) -> None:
        self.on_its_way = [b"", b""]
        self.readers = [FrameReader(), FrameReader()]
        for end in self.ends:
            end.resumed()

    def write(self, end: int, room: int) -> None:
        self.on_its_way[end] += self.ends[end].due(room)

    def carry(self, end: int, size: int) -> None:
        """Some bytes from this end to the other."""
        data, self.on_its_way[end] = self.on_its_way[end][:size], self.on_its_way[end][size:]
        hears(self.ends[1 - end], data, self.readers[end])

    def handle_one(self, end: int) -> None:
        link = self.ends[end]
        if link.queue:
            self.arrived[end].append(link.queue.popleft())
            link.handled += 1

    def send(self, end: int) -> None:
        self.sent[end] += 1
        sent(self.ends[end], self.sent[end])


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("write"), st.integers(0, 1), st.integers(1, 100)),
        st.tuples(st.just("carry"), st.integers(0, 1), st.integers(1, 100)),
        st.tuples(st.just("handle"), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("cut"), st.just(0), st.just(0)),
    ),
    max_size=80,
)


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 6), STEPS)
def test_once_and_in_order_whatever_happens(window: int, steps: list[tuple[str, int, int]]) -> None:
    wire = Wire(window)
    for what, end, size in steps:
        match what:
            case "send":
                wire.send(end)
            case "write":
                wire.write(end, size)
            case "carry":
                wire.carry(end, size)
            case "handle":
                wire.handle_one(end)
            case "cut":
                wire.cut()
        for side in (0, 1):
            assert wire.arrived[side] == list(range(1, len(wire.arrived[side]) + 1))
            assert len(wire.ends[side].queue) <= window
    for _ in range(2 * sum(wire.sent) + 4):  # in peace, everything arrives
        for end in (0, 1):
            wire.write(end, 1 << 16)
            wire.carry(end, 1 << 16)
            wire.handle_one(end)
    for end in (0, 1):
        assert wire.arrived[1 - end] == list(range(1, wire.sent[end] + 1))
        wire.write(1 - end, 1 << 16)
        wire.carry(1 - end, 1 << 16)
        assert wire.ends[end].waiting == 0, "and is forgotten"


def test_no_more_than_the_window_is_on_its_way() -> None:
    link: Link[int] = Link(3)
    sent(link, *range(10))
    assert [body.get("n") for body in FrameReader().feed(link.due(1 << 16))] == [None, 1, 2, 3]
    assert link.due(1 << 16) == b""
    link.acknowledge(2)
    assert [body["n"] for body in FrameReader().feed(link.due(1 << 16))] == [4, 5]
    assert (link.waiting, link.waiting_most) == (8, 10)


def test_room_is_of_bytes_and_one_frame_always_goes() -> None:
    link: Link[int] = Link(10)
    sent(link, 1, 2, 3)
    link.due(0)
    assert len(list(FrameReader().feed(link.due(1)))) == 1
    assert len(list(FrameReader().feed(link.due(1000)))) == 2


def test_after_a_cut_what_is_unacknowledged_goes_again_and_is_dropped() -> None:
    near: Link[int] = Link(10)
    far: Link[int] = Link(10)
    sent(near, 1, 2, 3)
    hears(far, near.due(1000))
    assert handle(far) == [1, 2, 3]
    near.resumed()
    far.resumed()
    hears(far, near.due(1000))
    assert (handle(far), far.repeated, near.resent) == ([], 3, 3)
    hears(near, far.due(1000))
    assert near.waiting == 0


def test_acknowledgements_are_of_what_is_handled_and_come_in_batches() -> None:
    link: Link[int] = Link(8)
    link.resumed()
    assert link.due(1) != b"", "the first tells the other end where we are"
    for number in range(1, 7):
        assert link.expects(number)
        link.take(number)
    assert link.due(1) == b"", "nothing is handled"
    link.queue.popleft()
    link.handled += 1
    assert link.due(1) == b"", "one of eight can wait"
    link.queue.popleft()
    link.handled += 1
    assert list(FrameReader().feed(link.due(1))) == [{"ack": 2}]
    handle(link)
    assert list(FrameReader().feed(link.due(1))) == [{"ack": 6}], "there is no other to wait for"
    assert link.due(1) == b""


def test_what_breaks_the_rules_is_refused() -> None:
    link: Link[int] = Link(2)
    sent(link, 1, 2, 3)
    with pytest.raises(Refusal, match="message 1 is acknowledged; 0 were sent"):
        link.acknowledge(1)
    link.due(1000)
    with pytest.raises(Refusal, match="message 3 is acknowledged; 2 were sent"):
        link.acknowledge(3)
    with pytest.raises(Refusal, match="message -1 is acknowledged"):
        link.acknowledge(-1)
    for number in (0, -1, 2, 10**30):
        with pytest.raises(Refusal, match="where 1 comes next"):
            link.expects(number)
    for number in (1, 2):
        assert link.expects(number)
        link.take(number)
    with pytest.raises(Refusal, match="message 3 while 2 are unacknowledged"):
        link.expects(3)


def test_an_old_acknowledgement_changes_nothing() -> None:
    link: Link[int] = Link(5)
    sent(link, 1, 2, 3)
    link.due(1000)
    link.acknowledge(2)
    link.acknowledge(1)
    assert (link.acknowledged, link.waiting) == (2, 1)
