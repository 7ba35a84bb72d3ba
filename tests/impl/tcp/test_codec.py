"""Messages on the wire: what is sent is what is read, but for ranks; what no broker or client may say is refused."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routeproof.impl.pruning import wire
from routeproof.impl.tcp.codec import (
    MOST,
    VERSION,
    Body,
    Codec,
    Delivery,
    Greeting,
    Refusal,
    delivery,
    encode,
    hello,
    read_hello,
    read_welcome,
    welcome,
)
from routeproof.model.filters import EVENTS, STRICT, Event, EventSet, Filter
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
from routeproof.model.pruning.vocabulary import Cut, publish, withdraw

CODEC = Codec(STRICT)
PRUNING = Codec(STRICT, wire("incremental", {}))

IDS = st.text(min_size=1, max_size=20)
FILTERS: st.SearchStrategy[Filter] = st.lists(
    st.tuples(st.sampled_from("xyz"), st.just("="), st.integers() | st.text(max_size=9)),
    max_size=3,
    unique_by=lambda p: p[0],
).map(STRICT.parse)
EVENT = st.dictionaries(st.sampled_from("xyz"), st.integers() | st.booleans() | st.text(max_size=9), max_size=3).map(
    STRICT.event
)
ADVERTISEMENTS = st.builds(Advertisement, st.just(0), IDS, FILTERS)
SUBSCRIPTIONS = st.builds(Subscription, st.just(0), IDS, FILTERS)
PUBLICATIONS = st.builds(Publication, st.just(0), IDS, IDS, EVENT)
MANY = st.lists(SUBSCRIPTIONS, min_size=1, max_size=3).map(tuple)
BY_CLIENTS: st.SearchStrategy[Message] = st.one_of(
    st.builds(Advertise, ADVERTISEMENTS),
    st.builds(Unadvertise, ADVERTISEMENTS),
    st.builds(Subscribe, SUBSCRIPTIONS),
    st.builds(Unsubscribe, SUBSCRIPTIONS),
    st.builds(Publish, PUBLICATIONS),
)
PACKED: st.SearchStrategy[Message] = st.builds(PackedSubscribe, MANY) | st.builds(PackedUnsubscribe, MANY)


@given(BY_CLIENTS)
def test_what_clients_and_brokers_say(message: Message) -> None:
    raw = json.loads(encode(message))
    assert CODEC.from_client(raw) == message
    assert CODEC.from_neighbour(raw) == message


@given(PACKED)
def test_what_only_brokers_say(message: Message) -> None:
    raw = json.loads(encode(message))
    assert CODEC.from_neighbour(raw) == message
    with pytest.raises(Refusal, match="expected one of advertise"):
        CODEC.from_client(raw)


@given(PUBLICATIONS, SUBSCRIPTIONS)
def test_what_clients_are_told(publication: Publication, subscription: Subscription) -> None:
    raw = json.loads(encode(Deliver(publication, subscription)))
    assert delivery(raw) == Delivery(publication.id, subscription.id)


def test_event_numbers() -> None:
    codec = Codec(EVENTS)
    event: Event = 3
    for message in (Subscribe(Subscription(0, "s", EventSet.of([1, 3]))), Publish(Publication(0, "p", "a", event))):
        assert codec.from_client(json.loads(encode(message))) == message


def test_ranks_stay_at_home() -> None:
    read = CODEC.from_client(json.loads(encode(Subscribe(Subscription(17, "s", STRICT.parse([]))))))
    assert read == Subscribe(Subscription(0, "s", STRICT.parse([])))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["kind", "id", "filter", "items", "of", "attributes", "to"]), inner)
        ),
        max_leaves=10,
    ),
    st.sampled_from(["advertise", "subscribe", "unsubscribe", "publish", "subscribe-many", "deliver", ""]),
)
def test_anything_else_is_refused_and_nothing_worse(raw: object, kind: str) -> None:
    for row in (raw, {"id": "x", "of": "y", **raw, "kind": kind} if isinstance(raw, dict) else raw):
        for read in (CODEC.from_neighbour, CODEC.from_client, delivery):
            with suppress(Refusal):
                read(row)


BAD = [
    ([], "expected an object"),
    ({}, "the kind null"),
    ({"kind": "subscribe-all", "id": "s", "filter": []}, 'the kind "subscribe-all"'),
    ({"kind": ["subscribe"], "id": "s", "filter": []}, "the kind a list"),
    ({"kind": "deliver", "id": "p"}, 'the kind "deliver"'),
    ({"kind": "subscribe", "filter": []}, '"id": found null'),
    ({"kind": "subscribe", "id": "", "filter": []}, '"id": found ""'),
    ({"kind": "subscribe", "id": "s" * 201, "filter": []}, "expected a string of 1 to 200 characters"),
    ({"kind": "subscribe", "id": "s"}, "a filter: found null"),
    ({"kind": "subscribe", "id": "s", "filter": [["x", "~", 1]]}, "predicate 1"),
    ({"kind": "subscribe", "id": "s", "filter": [["x", ">", 2], ["x", "<", 1]]}, "the filter matches nothing"),
    ({"kind": "unsubscribe", "id": "s"}, "a filter: found null"),
    ({"kind": "publish", "id": "p", "of": "a"}, "an event: found null"),
    ({"kind": "publish", "id": "p", "of": "a", "attributes": {"x": 1e999}}, "expected a finite number"),
    ({"kind": "publish", "id": "p", "of": "a", "event": 7}, "an event: found 7"),
    ({"kind": "publish", "id": "p", "attributes": {}}, '"of": found null'),
    ({"kind": "subscribe-many", "items": []}, '"items": found a list'),
    ({"kind": "subscribe-many", "items": [7]}, "found 7; expected an object"),
]


@pytest.mark.parametrize(("raw", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_bad_messages(raw: object, reason: str) -> None:
    with pytest.raises(Refusal, match=reason.replace("[", r"\[")):
        CODEC.from_neighbour(raw)


# -- greetings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("greeting", [Greeting(to=1, node=2), Greeting(to=3, client="me")])
def test_a_greeting_says_who_it_is(greeting: Greeting) -> None:
    assert read_hello(hello("token", greeting), "token") == greeting


HELLO = hello("token", Greeting(to=1, node=2))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"hello": 2}, "version 2 of the protocol; expected 1"),
        ({"hello": True}, "version true"),
        ({"hello": None}, "version null"),
        ({"run": "tokem"}, "the token of another run"),
        ({"run": ""}, "the token of another run"),
        ({"run": ["token"]}, "the token of another run"),
        ({"run": "\ud800"}, "the token of another run"),
        ({"node": 0}, '"node": found 0'),
        ({"node": -1}, '"node": found -1'),
        ({"node": "2"}, '"node": found "2"'),
        ({"node": True}, '"node": found true'),
        ({"to": None}, '"to": found null'),
    ],
)
def test_bad_greetings(change: dict[str, object], reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        read_hello({**HELLO, **change}, "token")


def test_no_greeting() -> None:
    for body in ({}, {"n": 1, "m": {}}):
        with pytest.raises(Refusal, match="no hello"):
            read_hello(body, "token")
    with pytest.raises(Refusal, match='"client": found null'):
        read_hello({key: HELLO[key] for key in ("hello", "run", "to")}, "token")


def test_a_welcome_is_of_the_broker_that_was_looked_for() -> None:
    read_welcome(welcome(3), 3)
    others: list[Body] = [welcome(4), {"welcome": VERSION + 1, "node": 3}, {}, {"n": 1}]
    for body in others:
        with pytest.raises(Refusal, match="no welcome of b3"):
            read_welcome(body, 3)


# -- pruning -----------------------------------------------------------------------------------------------------------

HOPS = st.integers(0, MOST)
DISTANCES = st.none() | st.integers(-MOST, MOST)
CUTS = st.lists(st.builds(Cut, IDS, st.tuples(DISTANCES, DISTANCES)), max_size=3).map(tuple)
BETWEEN_PRUNING: st.SearchStrategy[Message] = st.one_of(
    st.builds(withdraw, SUBSCRIPTIONS, st.none() | CUTS), st.builds(publish, PUBLICATIONS, HOPS, HOPS)
)


@given(BETWEEN_PRUNING)
def test_what_brokers_that_prune_say(message: Message) -> None:
    assert PRUNING.from_neighbour(json.loads(encode(message))) == message


@given(BETWEEN_PRUNING)
def test_a_client_writes_no_cuts_and_no_header(message: Message) -> None:
    told = PRUNING.from_client(json.loads(encode(message)))
    if isinstance(message, Unsubscribe):
        assert told == Unsubscribe(message.subscription)
    if isinstance(message, Publish):
        assert told == Publish(message.publication)


@given(PACKED)
def test_brokers_that_prune_do_not_pack(message: Message) -> None:
    with pytest.raises(Refusal, match="a message of the kind"):
        PRUNING.from_neighbour(json.loads(encode(message)))


S = {"kind": "unsubscribe", "id": "s", "filter": []}
Q = {"kind": "publish", "id": "q", "of": "a", "attributes": {}}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({**S, "cuts": None}, '"cuts": found null; expected a list of advertisements, each with 2 distances'),
        ({**S, "cuts": {}}, "expected a list"),
        ({**S, "cuts": ["a"]}, '"cuts": found a list; expected a list of advertisements, each with 2 distances'),
        ({**S, "cuts": [["a", [1]]]}, "expected a list of advertisements, each with 2 distances"),
        ({**S, "cuts": [["a", [1, 2, 3]]]}, "expected a list of advertisements, each with 2 distances"),
        ({**S, "cuts": [["a", [1, True]]]}, "expected a list of advertisements, each with 2 distances"),
        ({**S, "cuts": [["a", [1, 1.0]]]}, "expected a list of advertisements, each with 2 distances"),
        ({**S, "cuts": [["a", [1, MOST + 1]]]}, "expected a list of advertisements, each with 2 distances"),
        ({**S, "cuts": [["a", [1, -MOST - 1]]]}, "expected a list of advertisements, each with 2 distances"),
        ({**S, "cuts": [["", [1, 2]]]}, "each with 2 distances"),
        ({**S, "cuts": [[1, [1, 2]]]}, "expected a list of advertisements, each with 2 distances"),
        ({**Q, "distance": -1}, '"distance": found -1; expected a whole number from 0 to'),
        ({**Q, "count": "1"}, '"count": found "1"; expected a whole number from 0 to'),
        ({**Q, "count": True}, '"count": found true'),
        ({**Q, "count": None}, '"count": found null'),
        ({**Q, "distance": MOST + 1}, "expected a whole number from 0 to"),
        ({"kind": "congest"}, "a message of the kind"),
        ({"kind": "relieve"}, "a message of the kind"),
    ],
    ids=lambda value: json.dumps(value)[-40:],
)
def test_what_a_neighbour_that_prunes_may_not_say(raw: Body, reason: str) -> None:
    with pytest.raises(Refusal) as refused:
        PRUNING.from_neighbour(raw)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_out_of_bounds_is_not_passed_on() -> None:
    """A neighbour may send the largest number there is; the next one would refuse what comes after it."""
    subscription = Subscription(0, "s", STRICT.parse([]))
    withdrawal = withdraw(subscription, (Cut("a", (-MOST - 1, 3)),))
    assert PRUNING.from_neighbour(json.loads(encode(withdrawal))) == withdraw(subscription, (Cut("a", (-MOST, 3)),))
    publication = Publication(0, "q", "a", STRICT.event({}))
    told = PRUNING.from_neighbour(json.loads(encode(publish(publication, MOST + 1, MOST + 1))))
    assert told == publish(publication, MOST, MOST)
