"""What a recorder writes is what the trace format asks for, line by line."""

import json
from pathlib import Path

import pytest

from routeproof import traces
from routeproof.impl import recording
from routeproof.impl.broker import Broker
from routeproof.impl.costs import Costs
from routeproof.impl.recording import Recorder, client
from routeproof.impl.simulator import Network, Operation, Simulator
from routeproof.model.filters import STRICT
from routeproof.model.instance import POLICIES
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    PackedSubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import Overlay
from routeproof.traces import Event, Header, event_row, open_trace

LINE = Overlay.line(3)
ODD = 'say "ü\\"'
"""An id that JSON has to escape."""

PROMISED = Advertisement(1, "a", STRICT.parse([["class", "=", "STOCK"]]))
WIDE = Subscription(1, "wide", STRICT.parse([["class", "=", "STOCK"]]))
NARROW = Subscription(2, ODD, STRICT.parse([["class", "=", "STOCK"], ["volume", ">", 0.5]]))
QUOTE = Publication(1, "p", "a", STRICT.event({"class": "STOCK", "volume": 1.25}))

OPERATIONS = [
    Operation(0, 3, Advertise(PROMISED)),
    Operation(100, 1, Subscribe(NARROW)),
    Operation(200, 1, Subscribe(WIDE)),
    Operation(300, 3, Publish(QUOTE)),
    Operation(400, 1, Unsubscribe(WIDE)),
]


def recorded(tmp_path: Path, policy: str = "active", snapshots: int = 0) -> tuple[Header, list[Event], list[str]]:
    """The trace as a reader gives it, without a line that it could not read; and its lines."""
    path = tmp_path / "trace.jsonl"
    with path.open("w", encoding="utf-8") as file:
        recorder = Recorder(file, traces, LINE, policy, run="r", snapshots=snapshots, more={"seed": 7})
        simulator = Simulator(
            LINE, lambda b: Broker(b, LINE.neighbours(b), policy), Costs(1, 2, 3, 4), Network(10), [recorder]
        )
        simulator.play(OPERATIONS)
    events = []
    with open_trace(path) as (header, lines):
        for line in lines:
            assert isinstance(line, Event), line
            events.append(line)
    assert recorder.events == len(events)
    return header, events, path.read_text(encoding="utf-8").splitlines()


def test_header(tmp_path: Path) -> None:
    header, _, _ = recorded(tmp_path)
    assert header == Header(
        "r",
        "routing",
        (("b1", "b2"), ("b2", "b3")),
        policy="active",
        observes=("client", "receive", "send", "deliver"),
        more={"seed": 7},
    )
    assert "snapshot" in recorded(tmp_path, snapshots=1)[0].observes


def test_a_step_is_what_came_in_and_then_what_went_out(tmp_path: Path) -> None:
    _, events, _ = recorded(tmp_path)
    told = [
        (e.event, e.peer, e.message.kind, e.message.items[0].id, e.time)
        for e in events
        if e.broker == "b1" and e.message
    ]
    # Latency 10; an advertisement takes 1, a subscription 2, an unsubscription 3, a publication 4.
    assert told == [
        ("receive", "b2", "advertise", "a", 22),
        ("client", f"client-{ODD}", "subscribe", ODD, 100),
        ("send", "b2", "subscribe", ODD, 102),
        ("client", "client-wide", "subscribe", "wide", 200),
        ("send", "b2", "subscribe", "wide", 202),
        ("send", "b2", "unsubscribe", ODD, 202),
        ("receive", "b2", "publish", "p", 328),
        ("deliver", "client-wide", "publish", "p", 332),
        ("deliver", f"client-{ODD}", "publish", "p", 332),
        ("client", "client-wide", "unsubscribe", "wide", 400),
        ("send", "b2", "subscribe", ODD, 403),
        ("send", "b2", "unsubscribe", "wide", 403),
    ]
    assert [e.message.to for e in events if e.event == "deliver" and e.message] == ["wide", ODD]


@pytest.mark.parametrize("policy", POLICIES)
def test_lines_are_those_of_the_format(tmp_path: Path, policy: str) -> None:
    """They are put together here for speed; `event_row` and `encode` say what they have to be."""
    _, events, lines = recorded(tmp_path, policy)
    for event, line in zip(events, lines[1:], strict=True):
        row = json.loads(line)
        assert row == event_row(
            event.broker, event.seq, event.event, event.peer, message=row["message"], time=event.time
        )
        assert event.message == traces.decode(row["message"], STRICT)
    assert '"message": ' + json.dumps(traces.encode(Subscribe(NARROW))) in "\n".join(lines)


@pytest.mark.parametrize("policy", POLICIES)
def test_numbers_and_times_rise_within_a_broker(tmp_path: Path, policy: str) -> None:
    _, events, _ = recorded(tmp_path, policy, snapshots=2)
    for broker in ("b1", "b2", "b3"):
        mine = [e for e in events if e.broker == broker]
        assert [e.seq for e in mine] == list(range(1, len(mine) + 1))
        times = [e.time for e in mine]
        assert times == sorted(times, key=lambda time: time or 0)


def test_snapshots_come_between_steps_and_say_what_the_tables_are(tmp_path: Path) -> None:
    _, events, lines = recorded(tmp_path, snapshots=3)
    mine = [e for e in events if e.broker == "b1"]
    assert [e.seq for e in mine if e.event == "snapshot"] == [4, 8, 12, 16]
    first = next(json.loads(line) for line in lines if '"snapshot", "tables"' in line and '"b1"' in line)
    assert first["tables"] == {
        "advs": [{"id": "a", "from": "b2", "filter": [["class", "=", "STOCK"]]}],
        "subs": [{"id": ODD, "filter": [["class", "=", "STOCK"], ["volume", ">", 0.5]]}],
        "sent": {"b2": [ODD]},
    }


def test_tables_too_long_for_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First they lose their filters; what is too long then is left out, and said to be."""
    whole = sum('"snapshot", "tables"' in line for line in recorded(tmp_path, snapshots=1)[2])
    monkeypatch.setattr(recording, "LONGEST_LINE", recording.ROOM + 110)
    _, events, lines = recorded(tmp_path, snapshots=1)
    written = [line for line in lines if '"snapshot", "tables"' in line]
    assert any("filter" in line for line in written)
    assert any('"subs": [{' in line and "filter" not in line for line in written)
    notes = [e.text for e in events if e.event == "note"]
    assert notes
    assert all(text.startswith("no snapshot: the tables take ") for text in notes)
    assert len(written) + len(notes) == whole


def test_the_memory_of_messages_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = recorded(tmp_path)[2]
    monkeypatch.setattr(recording, "REMEMBERED", 1)
    assert recorded(tmp_path)[2] == lines


def test_clients_send_no_packed_messages() -> None:
    with pytest.raises(ValueError, match="one by one"):
        client(PackedSubscribe((WIDE,)))
