"""Messages on the way out and back in."""

from __future__ import annotations

import pickle

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

# A message, and the kind, the items, the event and the receiver that a trace tells of it.
CASES: list[tuple[Message, tuple[object, ...]]] = [
    (Advertise(A), ("advertise", (Item("a", EVENTS),), None, "")),
    (Unadvertise(A), ("unadvertise", (Item("a"),), None, "")),
    (Subscribe(T), ("subscribe", (Item("T", STOCK),), None, "")),
    (Unsubscribe(S), ("unsubscribe", (Item("S"),), None, "")),
    (PackedSubscribe((S, T)), ("subscribe-many", (Item("S", EVENTS), Item("T", STOCK)), None, "")),
    (PackedUnsubscribe((S, T)), ("unsubscribe-many", (Item("S"), Item("T")), None, "")),
    (Publish(P), ("publish", (Item("p", of="a"),), 2, "")),
    (Publish(Q), ("publish", (Item("q", of="a"),), Q.event, "")),
    (Deliver(P, S), ("publish", (Item("p", of="a"),), 2, "S")),
]


def told(message: TraceMessage) -> tuple[object, ...]:
    return message.kind, message.items, message.event, message.to


@pytest.mark.parametrize(("message", "said"), CASES, ids=lambda value: type(value).__name__)
def test_there_and_back(message: Message, said: tuple[object, ...]) -> None:
    decoded = decode(encode(message), STRICT)
    assert told(decoded) == said
    assert decoded.ids == tuple(item.id for item in decoded.items)
    assert describe(decoded) == describe_in_model(message)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"kind": "unsubscribe", "id": "x", "of": "s1"}, ("unsubscribe", (Item("x", of="s1"),), None, "")),
        ({"kind": "unsubscribe", "id": "S", "filter": [0, 2]}, ("unsubscribe", (Item("S", EVENTS),), None, "")),
        ({"kind": "publish", "id": "p", "to": "s"}, ("publish", (Item("p"),), None, "s")),
        ({"kind": "migrate", "id": "c1", "phase": 2}, ("migrate", (Item("c1"),), None, "")),
        ({"kind": "migrate", "items": 7}, ("migrate", (Item(""),), None, "")),
        ({"kind": "hello"}, ("hello", (Item(""),), None, "")),
    ],
)
def test_what_others_may_write(raw: object, said: tuple[object, ...]) -> None:
    assert told(decode(raw, STRICT)) == said


def test_equal_messages_mean_the_same() -> None:
    one = decode({"kind": "subscribe", "id": "s", "filter": [["x", ">", 1], ["y", "=", "a"]]}, STRICT)
    two = decode({"kind": "subscribe", "id": "s", "filter": [["y", "=", "a"], ["x", ">", 1.0]]}, STRICT)
    other = decode({"kind": "subscribe", "id": "s", "filter": [["x", ">=", 1], ["y", "=", "a"]]}, STRICT)
    assert one == two
    assert not one != two  # noqa: SIM202 - a Struct's own answer to this is another
    assert hash(one) == hash(two)
    assert one != other
    assert one != "subscribe"


def test_messages_go_to_other_processes() -> None:
    one = decode({"kind": "subscribe", "id": "s", "filter": [["x", ">", 1]]}, STRICT)
    two = pickle.loads(pickle.dumps(one))
    assert one == two
    assert two.meanings is one.meanings


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
        ({"kind": "publish", "id": "p", "attributes": {"x": float("inf")}}, "Infinity is no JSON number"),
        ({"kind": "publish", "id": "p", "to": ["s"]}, '"to": found a list; expected a string'),
    ],
)
def test_what_cannot_be_read(raw: object, said: str) -> None:
    with pytest.raises(TraceError) as caught:
        decode(raw, STRICT)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_word_of_a_message_is_the_name_of_its_class_unless_another_is_given() -> None:
    class CastOff(Message, control=False, by="harbour"):
        pass

    class Whistle(Message, kind="toot", word="t", withdraws=True):
        pass

    assert (CastOff.kind, CastOff.word, CastOff.control, CastOff.by) == ("cast-off", "", False, "harbour")
    assert (Whistle.kind, Whistle.word, Whistle.control, Whistle.withdraws) == ("toot", "t", True, True)
