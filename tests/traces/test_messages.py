"""Messages on the way out and back in."""

from __future__ import annotations

import pytest

from routeproof.model.filters import STRICT, EventSet
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.messages import describe as describe_in_model
from routeproof.traces import Item, TraceError, TraceMessage, decode, describe, encode

EVENTS = EventSet.of([0, 2])
STOCK = STRICT.parse([["class", "=", "STOCK"], ["volume", ">", 10.5], ["name", "present"]])
A = Advertisement(0, "a", EVENTS)
S, T = Subscription(0, "S", EVENTS), Subscription(1, "T", STOCK)
P = Publication(0, "p", "a", 2)
Q = Publication(1, "q", "a", STRICT.event({"class": "STOCK", "volume": 11, "gold": True, "price": 0.1}))

CASES: list[tuple[Message, TraceMessage]] = [
    (Advertise(A), TraceMessage("advertise", (Item("a", EVENTS),))),
    (Unadvertise(A), TraceMessage("unadvertise", (Item("a"),))),
    (Subscribe(T), TraceMessage("subscribe", (Item("T", STOCK),))),
    (Unsubscribe(S), TraceMessage("unsubscribe", (Item("S"),))),
    (PackedSubscribe((S, T)), TraceMessage("subscribe-many", (Item("S", EVENTS), Item("T", STOCK)))),
    (PackedUnsubscribe((S, T)), TraceMessage("unsubscribe-many", (Item("S"), Item("T")))),
    (Publish(P), TraceMessage("publish", (Item("p", of="a"),), event=2)),
    (Publish(Q), TraceMessage("publish", (Item("q", of="a"),), event=Q.event)),
    (Deliver(P, S), TraceMessage("publish", (Item("p", of="a"),), event=2, to="S")),
]


@pytest.mark.parametrize(("message", "decoded"), CASES, ids=lambda value: getattr(value, "kind", ""))
def test_there_and_back(message: Message, decoded: TraceMessage) -> None:
    assert decode(encode(message), STRICT) == decoded
    assert describe(decoded) == describe_in_model(message)


@pytest.mark.parametrize(
    ("raw", "decoded"),
    [
        ({"kind": "unsubscribe", "id": "x", "of": "s1"}, TraceMessage("unsubscribe", (Item("x", of="s1"),))),
        ({"kind": "unsubscribe", "id": "S", "filter": [0, 2]}, TraceMessage("unsubscribe", (Item("S", EVENTS),))),
        ({"kind": "publish", "id": "p", "to": "s"}, TraceMessage("publish", (Item("p"),), to="s")),
        ({"kind": "migrate", "id": "c1", "phase": 2}, TraceMessage("migrate", (Item("c1"),))),
        ({"kind": "hello"}, TraceMessage("hello", (Item(""),))),
    ],
)
def test_what_others_may_write(raw: object, decoded: TraceMessage) -> None:
    assert decode(raw, STRICT) == decoded


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (None, "a message: found null; expected an object"),
        ([], "a message: found a list"),
        ({}, '"kind" is missing'),
        ({"kind": 7}, '"kind": found 7; expected a string'),
        ({"kind": ""}, '"kind": found an empty string'),
        ({"kind": "subscribe"}, '"id" is missing'),
        ({"kind": "subscribe", "id": None}, '"id": found null; expected a string'),
        ({"kind": "subscribe", "id": "x" * 257}, '"id": found 257 characters; expected at most 256'),
        ({"kind": "subscribe", "id": "s"}, "subscribe of an item without a filter"),
        ({"kind": "subscribe", "id": "s", "filter": "all"}, 'found "all"; expected a list of predicates'),
        ({"kind": "subscribe", "id": "s", "filter": [1, -1]}, "found -1"),
        ({"kind": "subscribe", "id": "s", "filter": [1, True]}, "found 1; expected [attribute, operator, constant]"),
        ({"kind": "subscribe", "id": "s", "filter": [["x", "~", 1]]}, "operator"),
        ({"kind": "subscribe", "id": "s", "filter": [["x", ">", 1], ["x", "<", 0]]}, "matches nothing"),
        ({"kind": "subscribe-many"}, '"items" is missing'),
        ({"kind": "subscribe-many", "items": []}, "found an empty list"),
        ({"kind": "subscribe-many", "items": ["s"]}, 'an item: found "s"; expected an object'),
        ({"kind": "subscribe-many", "items": [{"id": "s"}]}, "without a filter"),
        ({"kind": "unsubscribe-many", "items": [{}] * 10_001}, "found 10001 entries; expected at most 10000"),
        ({"kind": "publish", "id": "p", "event": -1}, '"event": found -1'),
        ({"kind": "publish", "id": "p", "event": True}, '"event": found true'),
        ({"kind": "publish", "id": "p", "event": {"x": 1}}, '"event": found a table; expected a whole number'),
        ({"kind": "publish", "id": "p", "attributes": 7}, "found 7; expected a table of attributes"),
        ({"kind": "publish", "id": "p", "attributes": {"x": None}}, "found null"),
        ({"kind": "publish", "id": "p", "to": ["s"]}, '"to": found a list; expected a string'),
    ],
)
def test_what_cannot_be_read(raw: object, said: str) -> None:
    with pytest.raises(TraceError) as caught:
        decode(raw, STRICT)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
