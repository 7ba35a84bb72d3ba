"""The broker object: what drivers rely on beside the right answers."""

from __future__ import annotations

import gc
from random import Random

import pytest

from routeproof.impl.index import profile as profile_module
from routeproof.impl.routing import Broker
from routeproof.model.filters import STRICT, EventSet
from routeproof.model.instance import POLICIES
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    Message,
    PackedSubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables

A = Advertisement(0, "a", EventSet.of([0, 1, 2]))
WIDE = Subscription(0, "S", EventSet.of([0, 1]))
NARROW = Subscription(1, "s", EventSet.of([0]))
TWIN = Subscription(2, "t", EventSet.of([0]))
P = Publication(0, "p", "a", 0)


def told(policy: str, *said: tuple[Node, Message]) -> Broker:
    broker = Broker(1, (3, 2), policy)
    for sender, message in said:
        broker.receive(sender, message)
    return broker


def test_deliveries_come_in_the_order_of_ids() -> None:
    broker = told("none", *((LOCAL, Subscribe(s)) for s in (TWIN, NARROW, WIDE)))
    assert broker.receive(2, Publish(P)) == [(LOCAL, Deliver(P, s)) for s in (WIDE, NARROW, TWIN)]


def test_neighbours_are_settled_in_ascending_order() -> None:
    broker = told("none", (3, Advertise(A)), (2, Advertise(Advertisement(1, "b", A.filter))))
    assert broker.receive(LOCAL, Subscribe(WIDE)) == [(2, Subscribe(WIDE)), (3, Subscribe(WIDE))]


def test_counters() -> None:
    broker = told("active", (2, Advertise(A)), *((LOCAL, Subscribe(s)) for s in (WIDE, NARROW, TWIN)))
    assert broker.table_size == 3
    broker.receive(LOCAL, Unsubscribe(WIDE))  # NARROW follows, and WIDE is withdrawn
    broker.receive(2, Publish(P))
    assert broker.table_size == 2
    assert {kind: n for kind, n in broker.counters.received.items() if n} == {
        "advertise": 1,
        "subscribe": 3,
        "unsubscribe": 1,
        "publish": 1,
    }
    assert {kind: n for kind, n in broker.counters.sent.items() if n} == {
        "advertise": 1,
        "subscribe": 2,
        "unsubscribe": 1,
        "deliver": 2,
    }
    assert broker.counters.triggered == 1


def test_triggered_subscriptions_are_counted_one_by_one_when_packed() -> None:
    other = Subscription(3, "o", EventSet.of([1]))
    broker = told("packing", (2, Advertise(A)), *((LOCAL, Subscribe(s)) for s in (WIDE, NARROW, other)))
    assert (2, PackedSubscribe((NARROW, other))) in broker.receive(LOCAL, Unsubscribe(WIDE))
    assert broker.counters.triggered == 2


def test_a_restored_broker_knows_what_the_tables_say_and_nothing_else() -> None:
    broker = told("active", (2, Advertise(A)), (LOCAL, Subscribe(WIDE)), (3, Subscribe(NARROW)))
    other = told("active", (3, Advertise(A)), (LOCAL, Subscribe(TWIN)))
    other.restore(broker.tables())
    assert other.tables() == broker.tables()
    assert other.receive(LOCAL, Unsubscribe(WIDE)) == broker.receive(LOCAL, Unsubscribe(WIDE))


NESTED = ((2, (WIDE, NARROW)),)


@pytest.mark.parametrize(
    ("policy", "sent"),
    [
        ("none", ((2, (WIDE,)),)),
        ("none", ((2, (WIDE, NARROW, TWIN)),)),
        ("none", ((3, (WIDE,)),)),
        ("active", NESTED),
        ("packing", NESTED),
        ("active", ((2, (NARROW,)),)),
        ("active", ()),
        ("lazy", ((2, (NARROW,)),)),
        ("lazy", ()),
    ],
)
def test_tables_of_no_broker_under_this_policy_are_refused(
    policy: str, sent: tuple[tuple[Node, tuple[Subscription, ...]], ...]
) -> None:
    broker = told(policy, (2, Advertise(A)))
    with pytest.raises(ValueError, match="is not what the policy"):
        broker.restore(Tables(((A, 2),), ((WIDE, LOCAL), (NARROW, LOCAL)), sent))
    assert broker.tables() == Tables()


def test_under_lazy_nested_subscriptions_may_have_been_sent() -> None:
    tables = Tables(((A, 2),), ((WIDE, LOCAL), (NARROW, LOCAL)), NESTED)
    broker = Broker(1, (2, 3), "lazy")
    broker.restore(tables)
    assert broker.tables() == tables


def test_filters_of_two_algebras_do_not_meet() -> None:
    """A hostile neighbour mixes them. The vocabulary refuses to compare them; a broker goes on."""
    everything = Subscription(5, "e", STRICT.parse([]))
    broker = told("active", (2, Advertise(A)), (LOCAL, Subscribe(WIDE)), (LOCAL, Subscribe(everything)))
    assert broker.tables().sent_to(2) == (WIDE,)
    assert broker.receive(2, Publish(P)) == [(LOCAL, Deliver(P, WIDE))]
    in_words = Publication(1, "q", "a", STRICT.event({"x": 1}))
    assert broker.receive(2, Publish(in_words)) == [(LOCAL, Deliver(in_words, everything))]


def test_one_id_with_two_filters_is_two_subscriptions() -> None:
    """Nobody should say that; who does is believed."""
    other = Subscription(WIDE.rank, WIDE.id, EventSet.of([2]))
    broker = told("active", (2, Advertise(A)), (LOCAL, Subscribe(WIDE)), (LOCAL, Subscribe(other)))
    assert broker.tables().sent_to(2) == (WIDE, other)
    assert broker.receive(LOCAL, Unsubscribe(WIDE)) == [(2, Unsubscribe(WIDE))]


def test_withdrawn_advertisements_take_what_only_they_drew() -> None:
    more = Advertisement(1, "b", EventSet.of([1]))
    broker = told("none", (2, Advertise(A)), (2, Advertise(more)), *((LOCAL, Subscribe(s)) for s in (WIDE, NARROW)))
    assert broker.receive(2, Unadvertise(A)) == [(3, Unadvertise(A)), (2, Unsubscribe(NARROW))]
    assert broker.receive(2, Unadvertise(more)) == [(3, Unadvertise(more)), (2, Unsubscribe(WIDE))]


@pytest.mark.parametrize("policy", POLICIES)
def test_what_was_withdrawn_leaves_nothing_behind(policy: str) -> None:
    """Whatever goes goes while others are there that it drew, was drawn by, covered, or was covered by."""
    before, broker, random = known_profiles(), Broker(1, (2, 3), policy), Random(1)
    for n in random.sample(range(300), 300):
        raw: list[object] = [["x", ">", n // 3], ["y", "=" if n % 3 else ">", n % 7]]
        item = Subscription(n, f"s{n}", STRICT.parse(raw))
        if n % 10 == 0:
            broker.receive(2 + n % 3 % 2, Advertise(Advertisement(n, f"a{n}", item.filter)))
        broker.receive(n % 4 if n % 4 != 1 else LOCAL, Subscribe(item))
    del item
    advs, subs = broker.tables().advs, broker.tables().subs
    withdraw(broker, random, *subs[::2])
    withdraw(broker, random, *advs[::2])
    withdraw(broker, random, *subs[1::2])
    assert known_profiles() == before + len({adv.filter for adv, _ in advs[1::2]})
    withdraw(broker, random, *advs[1::2])
    assert known_profiles() == before
    assert broker.tables() == Tables()


def withdraw(broker: Broker, random: Random, *entries: tuple[Advertisement | Subscription, Node]) -> None:
    for item, source in random.sample(entries, len(entries)):
        broker.receive(source, Unsubscribe(item) if isinstance(item, Subscription) else Unadvertise(item))


def known_profiles() -> int:
    gc.collect()
    return len(profile_module._PROFILES)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="policy 'eager' is unknown; expected one of none, active, lazy, packing"):
        Broker(1, (2,), "eager")
    for neighbours, named in (((1,), "b1"), ((LOCAL,), "a client"), ((2, 2), "b2, b2")):
        with pytest.raises(ValueError, match=f"cannot have the neighbours {named}$"):
            Broker(1, neighbours, "none")
    with pytest.raises(ValueError, match=r"b1 has no neighbour b7; expected one of b2, b3"):
        told("none", (7, Publish(P)))
    with pytest.raises(TypeError, match="cannot receive"):
        told("none", (2, Deliver(P, WIDE)))
