"""The simulator against arithmetic that can be done by hand, and against what must hold whatever happens."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator

import pytest
from attrs import define, field
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.impl.simulator import (
    MILLISECOND,
    TABLE_II,
    Costs,
    Network,
    Observer,
    Sends,
    Simulator,
    TimedOperation,
)
from routeproof.model.instance import POLICIES
from routeproof.model.messages import (
    Advertise,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Subscribe,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from tests.impl.fakes import Scripted, advertisement, flooding, publication, silent, subscription

LINE = Overlay.line(3)
PAIR = Overlay.line(2)


@define
class Log(Observer):
    """Everything that was handled: broker, sender, message, begin and end of its service, what came of it."""

    every: int = 0
    steps: list[tuple[Node, Node, Message, int, int, Sends]] = field(factory=list)
    looks: list[tuple[int, list[int], list[int]]] = field(factory=list)

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
    ) -> None:
        self.steps.append((broker, sender, message, began, simulator.now, sends))

    def look(self, simulator: Simulator, time: int) -> None:
        brokers = simulator.overlay.brokers
        self.looks.append((time, [simulator.queue(b) for b in brokers], [simulator.held(b) for b in brokers]))

    def times(self, broker: Node) -> list[tuple[int, int]]:
        return [(began, ended) for b, _, _, began, ended, _ in self.steps if b == broker]

    def order(self, broker: Node) -> list[int]:
        """The publications a broker handled, by number."""
        return [m.publication.rank for b, _, m, *_ in self.steps if b == broker and isinstance(m, Publish)]


def publish(time: int, broker: Node, number: int) -> TimedOperation:
    return TimedOperation(time, broker, Publish(publication(number)))


def play(
    operations: list[TimedOperation],
    make: Callable[[Node], Scripted],
    *,
    overlay: Overlay = PAIR,
    publish: int = 5,
    network: Network | None = None,
    every: int = 0,
) -> Log:
    log = Log(every)
    costs = Costs(advertise=1, subscribe=2, unsubscribe=3, publish=publish)
    Simulator(overlay, make, costs, network or Network(latency=10), [log]).play(operations)
    return log


# -- arithmetic --------------------------------------------------------------------------------------------------------


def test_latency_and_service_add_up_along_a_line() -> None:
    log = play([publish(0, 1, 1)], flooding(LINE), overlay=LINE)
    assert [log.times(b) for b in LINE.brokers] == [[(0, 5)], [(15, 20)], [(30, 35)]]


def test_a_server_takes_one_after_another() -> None:
    """Arrivals every 2, service of 5: the n-th waits 3 times n."""
    log = play([publish(2 * n, 1, n) for n in range(5)], silent, overlay=Overlay.of([]))
    assert log.times(1) == [(5 * n, 5 * n + 5) for n in range(5)]
    assert [began - 2 * n for n, (began, _) in enumerate(log.times(1))] == [0, 3, 6, 9, 12]


def test_an_idle_server_waits_for_work() -> None:
    log = play([publish(0, 1, 1), publish(100, 1, 2)], silent)
    assert log.times(1) == [(0, 5), (100, 105)]


def test_each_link_may_have_its_own_latency() -> None:
    network = Network(latency=10, latencies={(2, 3): 100})
    log = play([publish(0, 1, 1), publish(0, 3, 2)], flooding(LINE), overlay=LINE, publish=0, network=network)
    assert log.times(3) == [(0, 0), (110, 110)]
    assert log.times(1) == [(0, 0), (20, 20)], "the other direction is another link"


def test_each_kind_has_its_price_and_packed_messages_one_for_each_item() -> None:
    two = (subscription(1), subscription(2))
    messages: list[Message] = [
        Advertise(advertisement(1)),
        Subscribe(two[0]),
        Unsubscribe(two[0]),
        Publish(publication(1)),
        PackedSubscribe(two),
        PackedUnsubscribe(two),
    ]
    log = play([TimedOperation(0, 1, message) for message in messages], silent)
    assert [ended - began for began, ended in log.times(1)] == [1, 2, 3, 5, 4, 6]


@pytest.mark.parametrize("policy", POLICIES)
def test_prices_are_those_of_the_paper(policy: str) -> None:
    costs = Costs.measured(policy)
    matching, covering, _, pub = TABLE_II[policy]
    assert costs.publish == pub * 1_000
    assert costs.subscribe == (matching + covering) * 1_000
    assert costs.unsubscribe == 1.4 * MILLISECOND


def test_prices_of_table_ii_in_milliseconds() -> None:
    subscribe = {policy: Costs.measured(policy).subscribe / MILLISECOND for policy in POLICIES}
    publish = {policy: Costs.measured(policy).publish / MILLISECOND for policy in POLICIES}
    assert subscribe == {"none": 1.6, "active": 12.81, "lazy": 28.6, "packing": 12.81}
    assert publish == {"none": 7.9, "active": 3.0, "lazy": 6.2, "packing": 3.0}


def test_free_brokers_leave_the_latency() -> None:
    log = Log()
    Simulator(LINE, flooding(LINE), Costs.free(), Network(latency=7), [log]).play([publish(1, 1, 1)])
    assert log.times(3) == [(15, 15)]


def test_what_happens_at_one_moment_happens_in_the_order_in_which_it_was_known() -> None:
    """Two publications reach 2 at 15 and 20, just when its clients speak. An operation is known once the one before it
    has happened: the one at 15 before the first publication was sent, the one at 20 after the second was."""
    operations = [publish(0, 1, 1), publish(0, 1, 2), publish(15, 2, 3), publish(20, 2, 4)]
    assert play(operations, flooding(PAIR)).order(2) == [3, 1, 2, 4]


def test_operations_are_taken_one_by_one() -> None:
    """A workload may be longer than memory."""
    taken = []

    def operations() -> Iterator[TimedOperation]:
        for n in range(10):
            taken.append(n)
            yield publish(100 * n, 1, n)

    class Ahead(Observer):
        def issued(self, operation: TimedOperation) -> None:
            assert taken[-1] == operation.time // 100

    Simulator(PAIR, silent, Costs.free(), observers=[Ahead()]).play(operations())
    assert len(taken) == 10


def test_time_goes_on_when_played_again() -> None:
    log = Log()
    simulator = Simulator(PAIR, silent, Costs(1, 1, 1, 5), observers=[log])
    simulator.play([publish(40, 1, 1)])
    simulator.play([publish(10, 1, 2), publish(60, 1, 3)])
    assert log.times(1) == [(40, 45), (45, 50), (60, 65)]
    assert simulator.handled == 3


# -- looking -----------------------------------------------------------------------------------------------------------


def test_looks_come_at_regular_moments_and_once_at_the_end() -> None:
    log = play([publish(2 * n, 1, n) for n in range(5)], silent, overlay=Overlay.of([]), every=4)
    # Queue after what happened until 4, 8, ...: arrivals at 0, 2, 4, 6, 8; taken at 0, 5, 10, 15, 20.
    assert [(time, queue[0]) for time, queue, _ in log.looks] == [
        *[(4, 2), (8, 3), (12, 2), (16, 1), (20, 0), (24, 0)],
        (25, 0),
    ]


def test_who_does_not_look_is_not_called() -> None:
    assert play([publish(0, 1, 1)], silent).looks == []


# -- full queues -------------------------------------------------------------------------------------------------------


def test_a_full_queue_holds_messages_back_and_loses_none() -> None:
    """Service 5, one place: of four that come at once, one is served, one waits, two are held."""
    network = Network(latency=10, capacity=1)
    log = play([publish(0, 1, n) for n in range(4)], silent, network=network, every=3)
    assert log.times(1) == [(0, 5), (5, 10), (10, 15), (15, 20)]
    waiting = [(time, queue[0], held[0]) for time, queue, held in log.looks]
    assert waiting == [(3, 1, 2), (6, 1, 1), (9, 1, 1), (12, 1, 0), (15, 0, 0), (18, 0, 0), (20, 0, 0)]


def test_a_full_queue_that_overflows_loses_what_comes() -> None:
    """Of four that come at once, one is served, one waits, two are lost."""
    simulator = Simulator(PAIR, silent, Costs(5, 5, 5, 5), Network(capacity=1, overflows=True))
    simulator.play([publish(0, 1, n) for n in range(4)])
    assert (simulator.handled, simulator.lost) == (2, 2)


def test_held_links_are_let_in_by_turns() -> None:
    """Four come at once over one link, and then one over another, which need not wait for all of them."""
    star = Overlay.of([(1, 2), (1, 3)])
    burst = {2: range(4), 3: [9]}

    def make(node: Node) -> Scripted:
        sends = [(1, Publish(publication(n))) for n in burst.get(node, [])]
        return Scripted(node, lambda sender, _: sends if sender == LOCAL else [])

    log = play([publish(0, 2, 0), publish(1, 3, 0)], make, overlay=star, network=Network(latency=10, capacity=1))
    assert log.order(1) == [0, 1, 2, 9, 3]


def test_clients_are_held_back_as_links_are() -> None:
    log = play([publish(0, 1, n) for n in range(3)], silent, network=Network(capacity=1), every=1)
    assert log.order(1) == [0, 1, 2]
    assert log.looks[0] == (1, [1, 0], [1, 0])


def test_two_full_brokers_do_not_wait_for_each_other() -> None:
    """Each floods the other while its own queue is full."""
    operations = [publish(0, 1 + n % 2, n) for n in range(50)]
    log = play(operations, flooding(PAIR), network=Network(latency=1, capacity=1))
    assert Counter(log.order(1)) == Counter(log.order(2)) == Counter(range(50))


def test_a_queue_of_no_places_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity"):
        Network(capacity=0)


# -- whatever happens --------------------------------------------------------------------------------------------------


@st.composite
def runs(draw: st.DrawFn) -> tuple[Overlay, Network, list[TimedOperation], Costs]:
    size = draw(st.integers(1, 6))
    overlay = Overlay.of([(draw(st.integers(1, b - 1)), b) for b in range(2, size + 1)])
    network = Network(
        latency=draw(st.integers(0, 20)),
        jitter=draw(st.sampled_from([0, 30])),
        capacity=draw(st.sampled_from([None, 1, 3])),
        seed=draw(st.integers(0, 5)),
    )
    times = sorted(draw(st.lists(st.integers(0, 40), max_size=15)))
    operations = [publish(time, draw(st.integers(1, size)), n) for n, time in enumerate(times)]
    return overlay, network, operations, Costs(1, 1, 1, draw(st.integers(0, 9)))


def simulated(run: tuple[Overlay, Network, list[TimedOperation], Costs]) -> Log:
    overlay, network, operations, costs = run
    log = Log()
    Simulator(overlay, flooding(overlay), costs, network, [log]).play(operations)
    return log


@settings(max_examples=150, deadline=None)
@given(runs())
def test_links_are_first_in_first_out_and_lose_nothing(
    run: tuple[Overlay, Network, list[TimedOperation], Costs],
) -> None:
    under_way: dict[tuple[Node, Node], deque[tuple[int, Message]]] = defaultdict(deque)
    for broker, sender, message, began, ended, sends in simulated(run).steps:
        if sender != LOCAL:
            sent, expected = under_way[sender, broker].popleft()
            assert message == expected
            assert began >= sent + run[1].latency
        for to, out in sends:
            if to != LOCAL:
                under_way[broker, to].append((ended, out))
    assert not any(under_way.values())


@settings(max_examples=60, deadline=None)
@given(runs())
def test_a_broker_serves_one_at_a_time_for_what_it_costs(
    run: tuple[Overlay, Network, list[TimedOperation], Costs],
) -> None:
    log = simulated(run)
    for broker in run[0].brokers:
        free = 0
        for began, ended in log.times(broker):
            assert began >= free
            assert ended == began + run[3].publish
            free = ended


@settings(max_examples=30, deadline=None)
@given(runs())
def test_the_same_run_is_the_same(run: tuple[Overlay, Network, list[TimedOperation], Costs]) -> None:
    assert simulated(run).steps == simulated(run).steps


def test_jitter_is_drawn_from_the_seed() -> None:
    operations = [publish(n, 1, n) for n in range(20)]
    logs = [play(operations, flooding(PAIR), network=Network(10, jitter=50, seed=seed)) for seed in (1, 1, 2)]
    assert logs[0].steps == logs[1].steps
    assert logs[0].times(2) != logs[2].times(2)
    assert [log.order(2) for log in logs] == [list(range(20))] * 3


def test_nothing_to_do() -> None:
    log = Log()
    simulator = Simulator(PAIR, silent, Costs.free(), observers=[log])
    simulator.play(())
    assert (simulator.now, simulator.handled, log.steps) == (0, 0, [])
