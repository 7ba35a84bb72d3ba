"""The routing core, handler by handler: the golden tests of the catalogue, and the answers that rules prescribe."""

import pytest

from routeproof.model.filters import EventSet
from routeproof.model.instance import Advertiser, Instance, Subscriber
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.protocol import Outcome
from routeproof.model.protocols import world
from routeproof.model.routing import Routing
from routeproof.model.tables import Tables
from routeproof.model.world import State, World

A = Advertisement(0, "a", EventSet.of([0, 1, 2]))
WIDE = Subscription(0, "S", EventSet.of([0, 1]))
NARROW = Subscription(1, "s", EventSet.of([0]))
TWIN = Subscription(2, "t", EventSet.of([0]))
P = Publication(0, "p", "a", 0)


def tables_of(outcome: Outcome) -> Tables:
    assert isinstance(outcome.local, Tables)
    return outcome.local


def say(routing: Routing, node: Node, *said: tuple[Node, object], tables: Tables | None = None) -> Outcome:
    """What a broker answers to the last of these."""
    outcome = Outcome(tables or Tables())
    for sender, message in said:
        outcome = routing.handle(node, outcome.local, sender, message)
    return outcome


def test_gt13_additions_before_removals() -> None:
    """U - B, P at U, S and s at B: when S goes, U hears of s first."""
    b, u = 1, 2
    said = [(u, Advertise(A)), (LOCAL, Subscribe(WIDE)), (LOCAL, Subscribe(NARROW)), (LOCAL, Unsubscribe(WIDE))]
    outcome = say(Routing(Overlay.line(2), "active"), b, *said)
    assert outcome.sends == ((u, Subscribe(NARROW)), (u, Unsubscribe(WIDE)))
    assert "COV-8" in outcome.rules


def test_active_withdraws_what_is_newly_covered_and_lazy_does_not() -> None:
    said = [(2, Advertise(A)), (LOCAL, Subscribe(NARROW)), (LOCAL, Subscribe(WIDE))]
    active = say(Routing(Overlay.line(2), "active"), 1, *said)
    assert active.sends == ((2, Subscribe(WIDE)), (2, Unsubscribe(NARROW)))
    assert "COV-4" in active.rules
    lazy = say(Routing(Overlay.line(2), "lazy"), 1, *said)
    assert lazy.sends == ((2, Subscribe(WIDE)),)
    assert "COV-6" in lazy.rules


def test_packing_puts_a_step_into_one_message_each_way() -> None:
    waiting = [(LOCAL, Subscribe(s)) for s in (NARROW, TWIN, Subscription(3, "u", EventSet.of([2])))]
    packed = say(Routing(Overlay.line(2), "packing"), 1, *waiting, (2, Advertise(A)))
    assert packed.sends == ((2, PackedSubscribe((NARROW, waiting[2][1].subscription))),)
    assert {"COV-7", "COV-10"} <= packed.rules
    both = say(Routing(Overlay.line(2), "packing"), 2, (LOCAL, Advertise(A)), (1, PackedSubscribe((WIDE, NARROW))))
    assert {s for s, _ in tables_of(both).subs} == {WIDE, NARROW}
    gone = say(Routing(Overlay.line(2), "packing"), 2, (1, PackedUnsubscribe((WIDE, NARROW))), tables=tables_of(both))
    assert tables_of(gone).subs == ()


@pytest.mark.parametrize("policy", ["active", "packing", "lazy"])
def test_among_equal_filters_the_one_that_was_sent_stays(policy: str) -> None:
    outcome = say(
        Routing(Overlay.line(2), policy), 1, (2, Advertise(A)), (LOCAL, Subscribe(TWIN)), (LOCAL, Subscribe(NARROW))
    )
    assert outcome.sends == ()
    assert tables_of(outcome).sent_to(2) == (TWIN,)


def test_what_came_from_a_neighbour_quenches_nothing_toward_it() -> None:
    """COV-3: the coverer came from 3, so toward 3 it counts for nothing; toward 1 it quenches."""
    b = Advertisement(1, "b", EventSet.of([0, 1, 2]))
    said = [(3, Advertise(A)), (1, Advertise(b)), (3, Subscribe(WIDE)), (LOCAL, Subscribe(NARROW))]
    outcome = say(Routing(Overlay.line(3), "active"), 2, *said)
    assert outcome.sends == ((3, Subscribe(NARROW)),)
    assert {"COV-2", "COV-3"} <= outcome.rules


def test_publications_go_once_a_hop_and_never_back() -> None:
    hub = Routing(Overlay.of([(1, 2), (1, 3), (1, 4)]), "none")
    said = [
        (2, Subscribe(WIDE)),
        (2, Subscribe(NARROW)),
        (3, Subscribe(TWIN)),
        (4, Subscribe(Subscription(4, "v", WIDE.filter))),
    ]
    assert say(hub, 1, *said, (4, Publish(P))).sends == ((2, Publish(P)), (3, Publish(P)))


@pytest.mark.parametrize(
    "said",
    [
        [(2, Advertise(A)), (2, Advertise(A))],
        [(2, Subscribe(WIDE)), (LOCAL, Unsubscribe(WIDE))],
        [(LOCAL, Unsubscribe(WIDE))],
        [(2, Advertise(A)), (LOCAL, Unadvertise(A))],
        [(2, Unadvertise(A))],
    ],
)
def test_rte8_what_is_known_or_not_theirs_to_withdraw_changes_nothing(said: list[tuple[Node, object]]) -> None:
    routing = Routing(Overlay.line(2), "active")
    before, after = say(routing, 1, *said[:-1]), say(routing, 1, *said)
    assert after.local == before.local
    assert after.sends == ()
    assert after.rules == {"RTE-8"}


def test_a_message_that_is_not_ours_is_no_silent_no_op() -> None:
    with pytest.raises(TypeError, match="no handler"):
        say(Routing(Overlay.line(2), "none"), 1, (LOCAL, "nonsense"))


def gt5() -> World:
    """The chain A-B-C-D-E of 000 Fig. 11, publishers I off B, K off C, M off D; J and L are our choice.

    Sr at A wants all five advertisements; Sn at E wants A1, A3 and A5. Brokers A..E are 1..5, I, J, K, L, M are 6..10.
    """
    overlay = Overlay.of([(1, 2), (2, 3), (3, 4), (4, 5), (2, 6), (2, 7), (3, 8), (4, 9), (4, 10)])
    advertisers = tuple(Advertiser(Advertisement(i, f"A{i + 1}", EventSet.of([i])), 6 + i) for i in range(5))
    root = Subscriber(Subscription(0, "Sr", EventSet.of([0, 1, 2, 3, 4])), 1)
    covered = Subscriber(Subscription(1, "Sn", EventSet.of([0, 2, 4])), 5)
    return world(Instance("gt5", overlay, advertisers, (root, covered), ()), "active")


def quiesce(asked: World, order: list[str]) -> State:
    """Do these operations one after the other, each until nothing is on the way."""
    state = asked.initial()
    for label in order:
        state = asked.step(state, asked.action_named[label]).state
        while any(state.queues):
            state = next(s for s in asked.steps(state) if s.action.kind == "deliver").state
    return state


@pytest.mark.parametrize("subscriptions", [["subscribe(Sr)", "subscribe(Sn)"], ["subscribe(Sn)", "subscribe(Sr)"]])
def test_gt5_footprints_of_a_root_and_of_what_it_covers(subscriptions: list[str]) -> None:
    """Sn's footprint is {E, D, C, B}: to the furthest broker where its way to a publisher meets that of Sr."""
    asked = gt5()
    state = quiesce(asked, [f"advertise(A{i})" for i in range(1, 6)] + subscriptions)
    names = dict(zip(asked.nodes, "ABCDEIJKLM", strict=True))
    held: dict[str, set[str]] = {"Sr": set(), "Sn": set()}
    for node, tables in zip(asked.nodes, state.locals, strict=True):
        assert isinstance(tables, Tables)
        for s, _ in tables.subs:
            held[s.id].add(names[node])
    assert held["Sn"] == set("EDCB")
    assert held["Sr"] == set("ABCDIJKLM")
