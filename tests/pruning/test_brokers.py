"""Brokers that prune, beside the right answers: the papers' examples, congestion in the simulator, what is measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.cli.run_simulated import summary
from routeproof.impl import all_policies, make_node
from routeproof.impl.observers import OBSERVES, Metrics, Recorder
from routeproof.impl.pruning import IMPLEMENTATION, Congestion, InVain
from routeproof.impl.pruning.broker import PruningBroker, goes_on
from routeproof.impl.pruning.retention import StatisticsDatabase, critical
from routeproof.impl.routing import Broker
from routeproof.impl.simulator import Costs, Network, Simulator, TimedOperation
from routeproof.model.filters import EventSet
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
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.pruning.vocabulary import (
    PRUNING,
    Congest,
    Cut,
    Met,
    PruningParameters,
    PruningTables,
    Relieve,
    withdraw,
)
from routeproof.model.tables import Tables
from routeproof.traces import TraceWriter, broker_name, read_trace

INCREMENTAL = PruningParameters.of("incremental")
A = Advertisement(0, "a", EventSet.of(range(8)))
S, S1 = Subscription(0, "S", EventSet.of(range(6))), Subscription(1, "s1", EventSet.of([0]))


def publish(number: int, event: int, distance: int = 0, count: int = 0) -> Publish:
    return Publish(Publication(number, f"p{number}", "a", event), Met(distance, count))


# -- what the papers say -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("percent", "distance"), [(60, 1), (80, 5), (85, 7), (90, 7), (100, 7)])
def test_gt_1_critical_distances_of_000(percent: int, distance: int) -> None:
    assert critical(sorted([1, 5, 1, 1, 7]), percent, inclusive=True) == distance


def never(*_: object) -> bool:
    return False


@pytest.mark.parametrize(("inclusive", "distance"), [(True, 7), (False, 8)])
def test_gt_2_critical_distances_of_001(inclusive: bool, distance: int) -> None:
    statistics = StatisticsDatabase(
        evolve(PruningParameters.of("selective"), thresholds=(85,), inclusive=inclusive), never
    )
    for number, (hops, count) in enumerate([(6, 1), (2, 2), (2, 2), (6, 1), (7, 1)]):
        told = publish(number, 0, hops, count)
        statistics.note(S, told, LOCAL, told)
    assert statistics.distances(S, "a") == (distance,)
    assert statistics.greatest_count(S) == 2


def test_a_share_just_below_the_threshold_does_not_reach_it() -> None:
    """41 of 46 are 89.1 percent."""
    assert critical([0] * 41 + [1] * 5, 90, inclusive=True) == 1
    assert critical([0] * 42 + [1] * 4, 90, inclusive=True) == 0


def test_rows_that_are_noted_as_they_arrived_are_updated_when_they_are_read() -> None:
    parameters = evolve(PruningParameters.of("selective"), rows="arrived")
    for several, read in ((True, (0, 3)), (False, (5, 2))):
        statistics = StatisticsDatabase(parameters, lambda *_, answer=several: answer)
        statistics.note(S, publish(0, 0, 4, 2), 2, publish(0, 0, 9, 9))
        assert (statistics.distances(S, "a"), statistics.greatest_count(S)) == ((read[0],), read[1])


def test_thresholds_that_no_distance_satisfies() -> None:
    assert critical([1, 2], 100, inclusive=False) is None
    assert critical([1, 2], 0, inclusive=True) == 0
    assert critical([1, 2], 0, inclusive=False) == 2
    assert critical([-3, -2], 100, inclusive=True) == 0, "a distance is never negative, whatever a header says"


def told(*said: tuple[Node, Message], neighbours: tuple[Node, ...] = (2, 3), **changed: object) -> PruningBroker:
    parameters = evolve(INCREMENTAL, **changed)  # type: ignore[arg-type]  # values of readings
    broker = PruningBroker(1, neighbours, "incremental", parameters)
    for sender, message in said:
        broker.receive(sender, message)
    return broker


def test_gt_3_a_header_on_its_way() -> None:
    """One match more than one sets the distance to 0, and all copies carry the same header (STA-3)."""
    broker = told((2, Advertise(A)), (3, Subscribe(S)))
    assert broker.receive(2, publish(1, 0, 1, 0)) == [(3, publish(1, 0, 2, 0))]
    broker.receive(LOCAL, Subscribe(S1))
    sends = broker.receive(2, publish(2, 0, 1, 0))
    assert sends == [(3, publish(2, 0, 0, 1)), (LOCAL, Deliver(publish(2, 0).publication, S1))]
    assert broker.rows == 1
    assert broker.receive(LOCAL, publish(3, 0, 4, 4))[0] == (3, publish(3, 0)), "the publisher's broker begins (STA-1)"


@pytest.mark.parametrize(
    ("triggered", "counts"), [(0, None), (9, None), (10, 1), (5011, 1), (5012, 0), (6000, 0)], ids=str
)
def test_gt_7_which_distance_counts(triggered: int, counts: int | None) -> None:
    """A distance of 0 for what counts stops the withdrawal, and every other one lets it go on."""
    for stopped in (0, 1):
        distances = (0, 3) if stopped == 0 else (3, 0)
        goes = goes_on(Cut("a", distances), "incremental", INCREMENTAL, lambda: triggered)
        assert goes == (stopped != counts)


# -- the broker object -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", all_policies())
def test_every_policy_has_its_broker(policy: str) -> None:
    broker = make_node(1, (2,), policy)
    assert isinstance(broker, Broker)
    assert (broker.policy, isinstance(broker, PruningBroker)) == (policy, policy in PRUNING)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="policy 'eager' is unknown; expected one of none, active, lazy, packing"):
        make_node(1, (2,), "eager")
    with pytest.raises(ValueError, match="policy 'active' is unknown; expected one of incremental, selective"):
        PruningBroker(1, (2,), "active", INCREMENTAL)
    with pytest.raises(ValueError, match="the policy active has no parameters"):
        make_node(1, (2,), "active", {"window": 3})
    broker = told()
    for sender, message in (
        (2, Congest()),
        (2, Relieve()),
        (2, PackedSubscribe((S,))),
        (2, Deliver(publish(1, 0).publication, S)),
    ):
        with pytest.raises(TypeError, match="cannot receive"):
            broker.receive(sender, message)
    with pytest.raises(TypeError, match="more to know than the tables of the routing core"):
        broker.restore(Tables())
    with pytest.raises(TypeError, match="cannot receive"):
        Broker(1, (2,), "active").receive(LOCAL, Congest())


def test_tables_of_a_broker_that_owes_something_are_those_of_some_readings() -> None:
    """S is wanted there and was not sent: that may be where only what is listed is sent, or boundaries forget."""
    tables = PruningTables(advs=((A, 2),), subs=((S, LOCAL),))
    for readings in ({"sends": "listed"}, {"remembers": False}):
        broker = told(**readings)
        broker.restore(tables)
        assert broker.tables() == tables
    with pytest.raises(ValueError, match="is not what the policy"):
        told().restore(tables)


def test_what_was_withdrawn_leaves_nothing_behind() -> None:
    """Statistics, retained and held ones: all of it goes when what it is about goes."""
    broker = told((2, Advertise(A)), (3, Subscribe(S)), (3, Subscribe(S1)), (LOCAL, Subscribe(S1)), cuts=(0, 1))
    broker.receive(3, withdraw(S, (Cut("a", (0, 0)),)))
    assert broker.tables().retained == ((2, (S,)),)
    assert broker.table_size == 1
    broker.receive(2, publish(1, 0))
    broker.receive(LOCAL, Congest())
    broker.receive(LOCAL, Unsubscribe(S1))
    assert broker.congested
    assert (broker.rows, len(broker.tables().held)) == (0, 1)
    broker.receive(LOCAL, Relieve())
    broker.receive(2, Unadvertise(A))
    assert broker.tables() == told().tables()


def test_the_database_keeps_the_latest() -> None:
    broker = told((2, Advertise(A)), (LOCAL, Subscribe(S)), window=3)
    for number in range(10):
        broker.receive(2, publish(number, 0, number))
    assert broker.rows == 3
    [(_, _, rows)] = broker.tables().rows
    assert [row.publication for row in rows] == ["p7", "p8", "p9"]


def test_triggered_subscriptions_are_counted_when_they_are_sent() -> None:
    broker = told((2, Advertise(A)), (LOCAL, Subscribe(S)), (LOCAL, Subscribe(S1)), (LOCAL, Congest()))
    broker.receive(LOCAL, Unsubscribe(S))
    assert broker.counters.triggered == 0
    assert [message for _, message in broker.receive(LOCAL, Relieve())] == [
        Subscribe(S1),
        withdraw(S, (Cut("a", (None, None)),)),
    ]
    assert broker.counters.triggered == 1
    assert broker.counters.received["relieve"] == 1


# -- in the simulator --------------------------------------------------------------------------------------------------

LINE = Overlay.line(3)


def simulated(congestion: Congestion | None, tmp_path: Path) -> tuple[Metrics, Path]:
    """Broker 2 has much to do when S is withdrawn. Service 10 each, but for withdrawals; latency 1."""
    metrics = IMPLEMENTATION.metrics(LINE.brokers, every=1000)
    path = tmp_path / "trace.jsonl"
    with TraceWriter(
        path, "r", protocol="pruning", policy="incremental", overlay=LINE.edges, observes=OBSERVES
    ) as trace:
        simulator = Simulator(
            LINE,
            lambda node: make_node(node, LINE.neighbours(node), "incremental", {"cuts": [1, 2]}),
            Costs(10, 10, 0, 10),
            Network(latency=1),
            [metrics, Recorder(trace, broker_name, snapshots=7)],
            None if congestion is None else congestion.signals(),
        )
        withdrawal = TimedOperation(2081, 1, Unsubscribe(S))
        subscribing = [TimedOperation(100, 1, Subscribe(S)), TimedOperation(200, 1, Subscribe(S1))]
        publishing = [TimedOperation(1000 + n, 3, publish(n, n % 3)) for n in range(12)]
        busy = [TimedOperation(2000 + 5 * n, 2, publish(20 + n, 7)) for n in range(30)]
        simulator.play(
            [TimedOperation(0, 3, Advertise(A)), *subscribing, *publishing, *busy[:17], withdrawal, *busy[17:]]
        )
    return metrics, path


def test_a_long_queue_is_congestion(tmp_path: Path) -> None:
    metrics, path = simulated(Congestion(high=5, low=3), tmp_path)
    assert metrics.last("congest") == metrics.last("relieve")
    assert metrics.last("congest")[2] >= 1
    told = [e for e in read_trace(path).events if e.broker == "b2" and e.message]
    kinds = [e.message.kind for e in told if e.message]
    withdrawal = kinds.index("unsubscribe")
    congested, relieved = kinds.index("congest"), kinds.index("relieve", withdrawal)
    assert congested < withdrawal < relieved
    assert [e.event for e in told if e.message and e.message.kind == "unsubscribe"] == ["receive", "send"]
    assert kinds.index("unsubscribe", withdrawal + 1) > relieved, "it goes on when the broker is relieved"
    times = [e.time for e in told]
    assert times == sorted(times, key=lambda time: time or 0), "signals stand between two steps"


def test_without_marks_nobody_is_congested(tmp_path: Path) -> None:
    metrics, path = simulated(None, tmp_path)
    assert set(metrics.last("congest").values()) == {0}
    assert '"congest"' not in path.read_text()
    assert summary(metrics, {b: broker_name(b) for b in LINE.brokers}).own["congested"] == 0


@pytest.mark.parametrize(("high", "low"), [(3, 4), (3, 0), (0, 0)])
def test_marks_that_cannot_be(high: int, low: int) -> None:
    with pytest.raises(ValueError, match=r"low|ends below"):
        Congestion(high, low)


def test_the_database_is_measured(tmp_path: Path) -> None:
    metrics, _ = simulated(None, tmp_path)
    assert max(metrics.series("rows", 1)) == 12 + 4
    assert metrics.last("rows") == {1: 4, 2: 0, 3: 0}, "those of S went with it"


def test_what_comes_in_vain_is_counted_wherever_it_passes() -> None:
    """p goes 1-2-3 and 2-4, and only 4 serves somebody: of those that it came to, 3 alone is in vain."""
    way = InVain()
    p = publish(1, 0)
    deliver = (LOCAL, Deliver(p.publication, S))
    assert way.handled(1, LOCAL, "p1", [(2, p)]) == []
    assert way.handled(2, 1, "p1", [(3, p), (4, p)]) == []
    assert way.handled(4, 2, "p1", [deliver]) == []
    assert way.handled(3, 2, "p1", []) == [3]
    assert way.handled(1, LOCAL, "p2", [(2, p)]) == []
    assert way.handled(2, 1, "p2", [(3, p)]) == []
    assert way.handled(3, 2, "p2", []) == [2, 3]
    assert way.handled(1, LOCAL, "p3", [deliver]) == []
    assert not way._ways


def test_columns_of_pruning_are_there_where_they_are_asked_for() -> None:
    assert {"rows", "in_vain", "congest", "relieve"} & set(Metrics([1]).columns) == set()
    assert {"rows", "in_vain", "congest", "relieve"} < set(IMPLEMENTATION.metrics([1], 1).columns)
