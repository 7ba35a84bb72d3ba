"""Tables that no handler would make, tables of some size, and what else a trace may bring."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routeproof.checker.fuzz.strategies import Draw, pick
from routeproof.checker.validate.fast import Knowledge, Replica, publish
from routeproof.model.filters import EVENTS, STRICT, Filter
from routeproof.model.instance import POLICIES
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Message,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.routing import Routing
from routeproof.model.tables import Tables
from tests.checker.validate.replica.speech import HUB
from tests.checker.validate.replica.thresholds import thresholds

quiet = settings(derandomize=True, deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
STAR = Overlay.of((HUB, leaf) for leaf in (2, 3, 4))

subs = [Subscription(n % 2, f"s{n % 3}", EVENTS.parse(range(n % 4, 5))) for n in range(6)]
advs = [Advertisement(0, f"a{n % 2}", EVENTS.parse(range(n, n + 2))) for n in range(4)]


@st.composite
def disorder(draw: Draw) -> Tables:
    """Out of order, twice, from nowhere near, and said to nobody who is there."""
    near = (LOCAL, 2, 3, 4, 77)
    entries = range(pick(draw, (2, 6, 10)))
    return Tables(
        advs=tuple((pick(draw, advs), pick(draw, near)) for _ in entries),
        subs=tuple((pick(draw, subs), pick(draw, near)) for _ in entries),
        sent=tuple((pick(draw, near), tuple(pick(draw, subs) for _ in range(3))) for _ in range(4)),
    )


def in_order(tables: Tables) -> Tables:
    """As `Knowledge.of` says: of equal entries the first; then as the model's own methods put them."""
    tidy = Tables()
    for a, sender in tables.advs:
        tidy = tidy if tidy.adv_from(a) is not None else tidy.with_adv(a, sender)
    for s, sender in tables.subs:
        tidy = tidy if tidy.sub_from(s) is not None else tidy.with_sub(s, sender)
    for neighbour, told in tables.sent:
        tidy = tidy if tidy.sent_to(neighbour) else tidy.with_sent(neighbour, dict.fromkeys(told))
    return tidy


@pytest.mark.parametrize("policy", POLICIES)
def test_disordered_tables_are_put_in_order(policy: str) -> None:
    @quiet
    @given(disorder(), st.lists(st.tuples(st.sampled_from((0, 2, 3, 4, 77, 77)), st.integers(0, 4), st.integers(0, 5))))
    def run(tables: Tables, told: list[tuple[Node, int, int]]) -> None:
        replica, routing = Replica(STAR, policy), Routing(STAR, policy)
        known, expected = replica.knowledge(HUB, tables), in_order(tables)
        assert known.tables() == expected
        for sender, kind, number in told:
            messages: tuple[Message, ...] = (
                Subscribe(subs[number]),
                Unsubscribe(subs[number]),
                Advertise(advs[number % 4]),
                Unadvertise(advs[number % 4]),
                Publish(Publication(0, "p", "a0", number)),
            )
            message = messages[kind]
            outcome = routing.handle(HUB, expected, sender, message)
            assert isinstance(outcome.local, Tables)
            expected = outcome.local
            assert replica.handle(known, sender, message) == outcome.sends
            assert known.tables() == expected

    with thresholds("low"):
        run()


def family(number: int) -> Filter:
    """Members of three families, of which some cover others; prices with open and closed ends."""
    random = Random(number)
    kin, low = f"family-{number % 3}", random.randrange(30)
    high = low + random.choice((1, 2, 5, 30))
    return STRICT.parse(
        [
            ["class", "=", kin],
            ["value", random.choice((">", ">=")), low / 10],
            ["value", random.choice(("<", "<=")), high / 10],
        ]
    )


@pytest.mark.parametrize("policy", ["active", "lazy"])
def test_a_table_of_some_size(policy: str) -> None:
    """As large as the model can bear: the thresholds are as they are, and buckets have their columns."""
    random = Random(policy)
    routing, replica = Routing(STAR, policy), Replica(STAR, policy)
    tables, known = Tables(), replica.knowledge(HUB)
    wanted = [Subscription(0, f"s{n:03}", family(n % 70)) for n in range(90)]
    promises = [Advertisement(0, f"a{n}", STRICT.parse([["value", ">=", n], ["class", "present"]])) for n in range(3)]
    messages: list[tuple[Node, Message]] = [(2 + n, Advertise(a)) for n, a in enumerate(promises)]
    home = {s: random.choice((LOCAL, 2, 3, 4)) for s in wanted}
    messages += [(home[s], Subscribe(s)) for s in wanted]
    messages += [(home[s], Unsubscribe(s)) for s in random.sample(wanted, 40)]
    messages += [(2, Unadvertise(promises[0])), (2, Advertise(promises[0]))]
    for sender, message in messages:
        outcome = routing.handle(HUB, tables, sender, message)
        assert isinstance(outcome.local, Tables)
        tables = outcome.local
        assert replica.handle(known, sender, message) == outcome.sends
    assert known.tables() == tables
    assert all(tables.sent_to(neighbour) for neighbour in (2, 3, 4))
    again = replica.knowledge(HUB, tables)
    for n in range(60):
        event = STRICT.event({"class": f"family-{n % 4}", "value": n / 20})
        sends = routing.handle(HUB, tables, 3, Publish(Publication(0, "p", "a0", event))).sends
        assert replica.handle(known, 3, Publish(Publication(0, "p", "a0", event))) == sends
        assert replica.handle(again, 3, Publish(Publication(0, "p", "a0", event))) == sends


def test_a_settle_after_several_changes() -> None:
    """77 is nobody's neighbour, so that only what it advertises settles it: more is gone by then than what waited."""
    replica, routing = Replica(STAR, "active"), Routing(STAR, "active")
    wide, other, inner = (
        Subscription(0, f"s{n}", EVENTS.parse(events)) for n, events in enumerate(((0, 1), (2,), (0,)))
    )
    known, tables = replica.knowledge(HUB), Tables()
    for sender, message in (
        (77, Advertise(Advertisement(0, "a", EVENTS.parse(range(5))))),
        *((2, Subscribe(s)) for s in (wide, other, inner)),
        (77, Advertise(Advertisement(0, "b", EVENTS.parse([0])))),
        *((2, Unsubscribe(s)) for s in (wide, other)),
        (77, Advertise(Advertisement(0, "c", EVENTS.parse([4])))),
    ):
        outcome = routing.handle(HUB, tables, sender, message)
        assert isinstance(outcome.local, Tables)
        tables = outcome.local
        assert replica.handle(known, sender, message) == outcome.sends
    assert tables.sent_to(77) == (inner,)
    assert known.tables() == tables


def test_a_broker_that_is_gone_holds_nothing() -> None:
    with thresholds("low"):
        replica = Replica(STAR, "active")
        for n in range(60):
            known = replica.knowledge(HUB)
            for m in range(5):
                replica.handle(known, LOCAL, Subscribe(Subscription(0, f"s{n}-{m}", EVENTS.parse([m]))))
                replica.handle(known, 2, Advertise(Advertisement(0, f"a{n}-{m}", EVENTS.parse([n, m]))))
        assert len(replica.universe.subscriptions) < 40
        assert len(replica.universe.promises) < 40
        assert known.slots_held().bit_count() == 5


def test_what_is_no_message_is_refused_as_the_model_refuses_it() -> None:
    replica = Replica(STAR, "active")
    with pytest.raises(TypeError, match="no handler for 'nothing'"):
        replica.handle(replica.knowledge(HUB), LOCAL, "nothing")


def test_a_broker_of_nowhere_knows_nothing() -> None:
    """Who is not in the overlay has no number but that of nobody."""
    replica = Replica(STAR, "active")
    known = replica.knowledge(LOCAL)
    assert isinstance(known, Knowledge)
    assert known.tables() == Tables()
    assert publish(known, 2, replica.universe.matching(1)) == ((), [])
