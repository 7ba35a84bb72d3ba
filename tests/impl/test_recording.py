"""What a recorder writes is what the trace format asks for, line by line."""

import json
from pathlib import Path

import pytest

from routeproof.impl import observers
from routeproof.impl.observers import OBSERVES, Recorder
from routeproof.impl.routing import Broker
from routeproof.impl.simulator import Costs, Network, Simulator, TimedOperation
from routeproof.model.filters import STRICT
from routeproof.model.instance import POLICIES
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    PackedSubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
    client_of,
)
from routeproof.model.overlay import Overlay
from routeproof.traces import Event, Header, TraceTables, TraceWriter, broker_name, decode, encode, open_trace

LINE = Overlay.line(3)
ODD = 'say "ü\\"'
"""An id that JSON has to escape."""

PROMISED = Advertisement(1, "a", STRICT.parse([["class", "=", "STOCK"]]))
WIDE = Subscription(1, "wide", STRICT.parse([["class", "=", "STOCK"]]))
NARROW = Subscription(2, ODD, STRICT.parse([["class", "=", "STOCK"], ["volume", ">", 0.5]]))
QUOTE = Publication(1, "p", "a", STRICT.event({"class": "STOCK", "volume": 1.25}))

OPERATIONS = [
    TimedOperation(0, 3, Advertise(PROMISED)),
    TimedOperation(100, 1, Subscribe(NARROW)),
    TimedOperation(200, 1, Subscribe(WIDE)),
    TimedOperation(300, 3, Publish(QUOTE)),
    TimedOperation(400, 1, Unsubscribe(WIDE)),
]


def recorded(tmp_path: Path, policy: str = "active", snapshots: int = 0) -> tuple[Header, list[Event], list[str]]:
    """The trace as a reader gives it, without a line that it could not read; and its lines."""
    path = tmp_path / "trace.jsonl"
    with TraceWriter(path, "r", policy=policy, overlay=LINE.edges, observes=OBSERVES, seed=7) as trace:
        recorder = Recorder(trace, broker_name, snapshots)
        simulator = Simulator(
            LINE, lambda b: Broker(b, LINE.neighbours(b), policy), Costs(1, 2, 3, 4), Network(10), [recorder]
        )
        simulator.play(OPERATIONS)
    events = []
    with open_trace(path) as (header, lines):
        for line in lines:
            assert isinstance(line, Event), line
            events.append(line)
    return header, events, path.read_text(encoding="utf-8").splitlines()


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
def test_messages_are_those_that_were_handled_and_sent(tmp_path: Path, policy: str) -> None:
    _, events, lines = recorded(tmp_path, policy)
    sent = [json.loads(line)["message"] for line in lines[1:] if '"send"' in line]
    received = [json.loads(line)["message"] for line in lines[1:] if '"receive"' in line]
    assert sorted(sent, key=str) == sorted(received, key=str)
    assert encode(Advertise(PROMISED)) in sent
    assert encode(Publish(QUOTE)) in sent
    assert [e.message for e in events if e.event == "deliver"] == [
        decode(encode(Deliver(QUOTE, subscription)), STRICT) for subscription in (WIDE, NARROW)
    ]


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
    rows = [json.loads(line) for line in lines[1:]]
    first = next(row for row in rows if (row["event"], row["broker"]) == ("snapshot", "b1"))
    assert first["tables"] == {
        "advs": [{"id": "a", "from": "b2", "filter": [["class", "=", "STOCK"]]}],
        "subs": [{"id": ODD, "filter": [["class", "=", "STOCK"], ["volume", ">", 0.5]]}],
        "sent": {"b2": [ODD]},
    }


def test_the_last_snapshot_of_each_broker_is_what_it_knows_in_the_end(tmp_path: Path) -> None:
    _, events, _ = recorded(tmp_path, snapshots=1)
    brokers = {b: Broker(b, LINE.neighbours(b), "active") for b in LINE.brokers}
    Simulator(LINE, lambda b: brokers[b], Costs.free()).play(OPERATIONS)
    last = {e.broker: e.tables for e in events if e.event == "snapshot"}
    assert last == {f"b{b}": TraceTables.of(broker.tables(), broker_name) for b, broker in brokers.items()}


def test_a_step_says_when_it_was_done_where_nothing_came_of_it(tmp_path: Path) -> None:
    _, events, _ = recorded(tmp_path)
    told = [(e.broker, e.event, e.message.kind, e.time, e.done) for e in events if e.done is not None and e.message]
    assert told == [
        ("b1", "receive", "advertise", 22, 23),
        ("b3", "receive", "subscribe", 124, 126),
        ("b2", "receive", "unsubscribe", 214, 217),  # of what a wider one, just handled, had retracted already
        ("b3", "receive", "subscribe", 224, 226),
        ("b3", "receive", "unsubscribe", 226, 229),
        ("b2", "receive", "subscribe", 413, 415),  # of what the wider one still covers
        ("b3", "receive", "subscribe", 428, 430),
        ("b3", "receive", "unsubscribe", 430, 433),
    ]


def test_clients_who_wait_spoke_earlier(tmp_path: Path) -> None:
    """Three speak at once, and one when nobody else does; each is taken when the one before is done, after 2."""
    path = tmp_path / "trace.jsonl"
    subscriptions = [Subscribe(Subscription(n, f"s{n}", WIDE.filter)) for n in range(4)]
    with TraceWriter(path, "r", policy="none", overlay=LINE.edges, observes=OBSERVES) as trace:
        recorder = Recorder(trace, broker_name)
        simulator = Simulator(
            LINE, lambda b: Broker(b, LINE.neighbours(b), "none"), Costs(1, 2, 3, 4), Network(10), [recorder]
        )
        simulator.play(
            [*(TimedOperation(50, 1, each) for each in subscriptions[:3]), TimedOperation(90, 1, subscriptions[3])]
        )
    with open_trace(path) as (_, lines):
        told = [(e.time, e.issued) for e in lines if isinstance(e, Event)]
    assert told == [(50, None), (52, 50), (54, 50), (90, None)]


def test_tables_too_long_for_a_line_are_left_out_and_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observers, "MOST_ENTRIES", 1)
    _, events, _ = recorded(tmp_path, snapshots=1)
    assert {e.text for e in events if e.event == "note"} == {"no snapshot: 2 subscriptions"}
    assert any(e.event == "snapshot" for e in events), "short ones are written"


def test_clients_send_no_packed_messages() -> None:
    with pytest.raises(ValueError, match="one by one"):
        client_of(PackedSubscribe((WIDE,)))
