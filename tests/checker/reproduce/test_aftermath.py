"""What is counted from the first withdrawal on, on an overlay small enough to count by hand."""

import pytest
from attrs import evolve

from routeproof.checker.pruning.experiments import simulation
from routeproof.checker.pruning.experiments.simulation import Aftermath, DelaySummary, Simulation
from routeproof.impl.pruning import Congestion
from routeproof.impl.routing import Broker
from routeproof.impl.simulator import MILLISECOND, SECOND, Costs, Simulator, TimedOperation
from routeproof.impl.workloads.controlled import Controlled
from routeproof.model.filters import STRICT
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Message,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import Overlay

EVERYTHING = Advertisement(1, "a", STRICT.parse([]))
ROOT = Subscription(1, "root", STRICT.parse([["x", ">=", 0]]))
COVERED = [Subscription(n, f"s{n}", STRICT.parse([["x", "=", n]])) for n in (2, 3)]
LATENCY = MILLISECOND
SERVICE = 10 * MILLISECOND


def publication(number: int, **attributes: object) -> Publish:
    return Publish(Publication(number, f"p{number}", "a", STRICT.event(attributes)))


def played(*operations: tuple[int, int, Message]) -> Aftermath:
    """Seconds, brokers of a line of three, messages; everything costs ten milliseconds."""
    overlay, aftermath = Overlay.of([(1, 2), (2, 3)]), Aftermath()
    costs = Costs(SERVICE, SERVICE, SERVICE, SERVICE)
    simulator = Simulator(overlay, lambda b: Broker(b, overlay.neighbours(b), "active"), costs, observers=[aftermath])
    simulator.play(TimedOperation(time * SECOND, broker, message) for time, broker, message in operations)
    return aftermath


BEFORE: list[tuple[int, int, Message]] = [
    (0, 3, Advertise(EVERYTHING)),
    (1, 1, Subscribe(ROOT)),
    *((2, 1, Subscribe(each)) for each in COVERED),
    (3, 3, publication(1, x=2)),
]


def test_nothing_counts_before_the_first_withdrawal() -> None:
    seen = played(*BEFORE)
    assert seen.since is None
    assert not any((seen.delays, seen.queues, seen.uncovered, seen.messages, seen.publications))


def test_what_a_withdrawal_sets_off() -> None:
    seen = played(*BEFORE, (4, 1, Unsubscribe(ROOT)), (6, 3, publication(2, x=2)), (7, 3, publication(3, x=9)))
    assert seen.since == 4 * SECOND
    assert seen.uncovered == {1: 2, 2: 2, 3: 0}
    assert seen.messages == {1: 2, 2: 2, 3: 0}
    assert seen.publications == {1: 1, 2: 1, 3: 0}, "the third is wanted by nobody any more"
    assert list(seen.delays) == [3 * SERVICE + 2 * LATENCY]
    assert list(seen.delivered_at) == [6 * SECOND + seen.delays[0]]
    assert seen.queues[2] == 2, "two subscriptions and the withdrawal: one is handled, two wait"
    assert not seen.probes


def test_a_publication_of_before_that_comes_late_does_not_count() -> None:
    seen = played(*BEFORE[:-1], (4, 3, publication(1, x=2)), (4, 2, Unsubscribe(ROOT)), (5, 3, publication(2, x=2)))
    assert len(seen.delays) == 2, "both copies of the second, none of the first"


def test_probes_are_told_apart() -> None:
    probe = Subscription(9, "probe", STRICT.parse([["class", "=", "probe"]]))
    seen = played(
        *BEFORE,
        (3, 2, Subscribe(probe)),
        (4, 1, Unsubscribe(ROOT)),
        (6, 3, publication(2, x=2, **{"class": "probe"})),
        (7, 3, publication(3, x=3)),
    )
    assert list(seen.probes) == [2 * SERVICE + LATENCY, 3 * SERVICE + 2 * LATENCY], "to whomever it goes"
    assert len(seen.delays) == 3


def test_delays_in_seconds() -> None:
    delays = DelaySummary.of([2 * SECOND, SECOND, 6 * SECOND])
    assert delays == DelaySummary(count=3, mean=3.0, p10=1.0, p50=2.0, p90=6.0, most=6.0)
    assert DelaySummary.of([]) is None


def test_an_outcome_agrees_with_itself() -> None:
    outcome = Simulation("active", Controlled().scaled(0.001), "active", 1).run()
    assert outcome.delays is not None
    assert outcome.delays.p10 <= outcome.delays.p50 <= outcome.delays.p90 <= outcome.delays.most
    assert outcome.queue == max(outcome.brokers[broker].queue for broker in outcome.watched) > 0
    assert max(queue for _, queue in outcome.queue_over_time) <= outcome.queue
    assert outcome.delay_over_time[0][0] > 0
    assert outcome.queue_over_time[0][0] >= 0
    assert outcome.watched_table_over_time[-1][1] == outcome.table
    assert outcome.rows == (), "active covering keeps no statistics"
    e = outcome.brokers[outcome.watched[-1]]
    assert e.uncovered > outcome.brokers[outcome.watched[0]].uncovered
    assert 0 <= e.in_vain < e.publications


def test_delays_before_are_of_some_of_what_was_delivered_before() -> None:
    """Of every sixteenth, and not of what comes when the first withdrawal has been issued."""
    before = [(3 + n, 3, publication(n, x=2)) for n in range(1, 33)]
    seen = played(*BEFORE[:-1], *before, (35, 1, Unsubscribe(ROOT)), (40, 3, publication(48, x=2)))
    assert list(seen.at_rest) == [3 * SERVICE + 2 * LATENCY] * 2, "to two subscriptions, of the sixteenth"


def test_what_withdrawals_add_does_not_hang_on_how_long_it_is_watched() -> None:
    recipe = Controlled().scaled(0.01)
    short, long = (Simulation("x", evolve(recipe, watch_ms=watch), "active", 1).run() for watch in (30_000, 90_000))
    assert short.delays is not None
    assert long.delays is not None
    assert 29 < short.until < 32
    assert 89 < long.until < 92
    assert long.delays.mean < 0.9 * short.delays.mean, "more of rest in it"
    assert short.added is not None
    assert long.added == pytest.approx(short.added, rel=0.1)
    assert short.mean_over(long.until) == pytest.approx(long.delays.mean, rel=0.05)
    assert long.mean_over(short.until) is None, "it is not known what came when"


def test_when_queues_are_short_again() -> None:
    """At the first sample at which they are, and stay so."""
    outcome = Simulation("x", Controlled().scaled(0.001), "active", 1).run()
    times = [float(n) for n in range(6)]
    for queues, settled in [
        ((0, 101, 300, 100, 5, 0), 3.0),
        ((0, 100, 3, 100, 5, 0), 0.0),
        ((0, 0, 0, 0, 0, 101), None),
    ]:
        seen = evolve(outcome, queue_over_time=list(zip(times, map(float, queues), strict=True)))
        assert seen.settled == settled
        assert (seen.added is None) == (settled is None), "it is not over"


def test_a_price_is_what_it_costs() -> None:
    recipe = Controlled().scaled(0.001)
    cheap, dear = (Simulation("x", recipe, "active", 1, subscription=price).run() for price in (0, SECOND // 10))
    assert cheap.delays is not None
    assert dear.delays is not None
    assert dear.delays.mean > 10 * cheap.delays.mean


def test_a_hold_delays_withdrawals(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that they come when others have gone before, and something else is left to be sent in their place."""
    monkeypatch.setattr(simulation, "HOLD", Congestion(high=2, low=1))
    recipe = evolve(Controlled().scaled(0.01), withdrawal_interval_ms=10)
    without, held = (Simulation("x", recipe, "incremental", 1, holds=holds).run() for holds in (False, True))
    assert without != held
    assert without.delays is not None
    assert held.delays is not None
    assert without.delays.count == held.delays.count, "and nothing is lost"
