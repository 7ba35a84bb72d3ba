"""GRAPE's estimates and choices against the definitions, at every candidate and weight; the examples of the paper."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.impl.placement.decisions import BrokerTrace, Estimate, Metric, bits_of
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.placement.handler import choose
from routeproof.model.placement.vocabulary import BrokerTrace as BrokerAnswer
from routeproof.spec.placement import Delays, Deliveries, mean_delay, message_rate
from tests.placement.test_pop import trees

METRICS: tuple[Metric, ...] = ("load", "delay")


def estimate(overlay: Overlay, deliveries: Deliveries, delays: Delays) -> Estimate:
    traces = {
        b: BrokerTrace(
            b,
            overlay.neighbours(b),
            bits_of(0, (p for p, many in deliveries[b].items() if many)),
            sum(deliveries[b].values()),
            {n: delays.of[b, n] for n in (LOCAL, *overlay.neighbours(b))},
        )
        for b in overlay.brokers
    }
    return Estimate(traces, delays.pings)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Overlay, Deliveries, Delays]:
    overlay = draw(trees(7))
    deliveries = {b: draw(st.dictionaries(st.integers(0, 5), st.integers(1, 3), max_size=4)) for b in overlay.brokers}
    cost = st.integers(0, 9).map(float)
    of = {(b, n): draw(cost) for b in overlay.brokers for n in (LOCAL, *overlay.neighbours(b))}
    return overlay, deliveries, Delays(of, {b: draw(cost) for b in overlay.brokers})


@settings(derandomize=True, deadline=None, max_examples=150)
@given(sessions())
def test_estimates_are_those_of_the_definition_wherever_the_publisher_is(
    session: tuple[Overlay, Deliveries, Delays],
) -> None:
    overlay, deliveries, delays = session
    made = estimate(*session)  # one cache for all candidates: re-rooted again and again
    for root in (*overlay.brokers, *reversed(overlay.brokers)):
        assert made.rate(root) == message_rate(overlay, deliveries, root)
        assert made.delay(root) == pytest.approx(mean_delay(overlay, deliveries, delays, root))


@settings(derandomize=True, deadline=None, max_examples=150)
@given(sessions(), st.sampled_from(METRICS))
def test_the_ends_are_the_least_and_the_weights_between_are_monotone(
    session: tuple[Overlay, Deliveries, Delays], metric: Metric
) -> None:
    overlay, deliveries, delays = session
    made = estimate(*session)
    rate = {b: float(message_rate(overlay, deliveries, b)) for b in overlay.brokers}
    delay = {b: mean_delay(overlay, deliveries, delays, b) for b in overlay.brokers}
    first, second = (rate, delay) if metric == "load" else (delay, rate)
    chosen = [made.choose(overlay.brokers, metric, weight) for weight in range(0, 101, 5)]
    assert first[chosen[-1]] == pytest.approx(min(first.values()))
    assert second[chosen[0]] == pytest.approx(min(second.values()))
    for less, more in pairwise(chosen):
        assert first[more] <= first[less] + 1e-9
        assert second[more] >= second[less] - 1e-9


@settings(derandomize=True, deadline=None, max_examples=80)
@given(sessions(), st.sampled_from(METRICS))
def test_the_model_chooses_by_the_definition(session: tuple[Overlay, Deliveries, Delays], metric: Metric) -> None:
    """In the model every hop takes as long as every other one."""
    overlay, deliveries, _ = session
    many = {b: sum(deliveries[b].values()) for b in overlay.brokers}
    traces = tuple(
        BrokerAnswer(b, overlay.neighbours(b), bits_of(0, deliveries[b]), many[b]) for b in reversed(overlay.brokers)
    )
    rate = {b: message_rate(overlay, deliveries, b) for b in overlay.brokers}
    delay = {b: sum(many[n] * len(overlay.path(b, n)) for n in overlay.brokers) for b in overlay.brokers}
    first, second = (rate, delay) if metric == "load" else (delay, rate)
    least, width = min(first.values()), max(first.values()) - min(first.values())
    for weight in (0, 1, 20, 25, 34, 50, 66, 75, 99, 100):
        left = [
            b for b in overlay.brokers if not width or Fraction(first[b] - least, width) <= 1 - Fraction(weight, 100)
        ]
        assert choose(traces, metric, weight) == min(left, key=lambda b: (second[b], first[b], b))


def test_figure_3() -> None:
    bits = bits_of(212, (213, 215, 216, 217, 220, 222, 225, 226))
    assert [d for d in range(17) if bits >> d & 1] == [1, 3, 4, 5, 8, 10, 13, 14]
    assert bits.bit_count() == 8


def test_few_that_want_everything_against_many_that_want_little() -> None:
    """A chain L - M - H: 11 subscribers at L want a tenth of 100 publications, one at H wants all."""
    overlay = Overlay.line(3)
    deliveries: dict[Node, dict[int, int]] = {1: dict.fromkeys(range(10), 11), 2: {}, 3: dict.fromkeys(range(100), 1)}
    delays = Delays({(b, n): 1.0 for b in overlay.brokers for n in (LOCAL, *overlay.neighbours(b))})
    made = estimate(overlay, deliveries, delays)
    assert [made.rate(root) for root in overlay.brokers] == [300, 210, 120]
    assert made.choose(overlay.brokers, "load", 100) == made.choose(overlay.brokers, "delay", 0) == 3
    assert made.choose(overlay.brokers, "delay", 100) == made.choose(overlay.brokers, "load", 0) == 1


def test_a_share_as_large_as_the_weight_leaves_is_one_of_the_candidates() -> None:
    """The same chain: rates of 300, 210 and 120; the publisher at M is the less delayed the nearer it is to L."""
    overlay = Overlay.line(3)
    deliveries: dict[Node, dict[int, int]] = {1: dict.fromkeys(range(10), 11), 2: {}, 3: dict.fromkeys(range(100), 1)}
    delays = Delays({(b, n): 1.0 for b in overlay.brokers for n in (LOCAL, *overlay.neighbours(b))})
    made = estimate(overlay, deliveries, delays)
    answers = tuple(
        BrokerAnswer(b, overlay.neighbours(b), bits_of(0, deliveries[b]), sum(deliveries[b].values()))
        for b in overlay.brokers
    )
    for weight, chosen in ((0, 1), (1, 2), (50, 2), (51, 3), (100, 3)):
        assert choose(answers, "load", weight) == made.choose(overlay.brokers, "load", weight) == chosen


def test_a_broker_that_did_not_answer_is_left_out() -> None:
    traces = {1: BrokerTrace(1, (2,), 0b11, 2, {LOCAL: 1.0, 2: 1.0})}
    assert Estimate(traces).rate(1) == 2
    assert Estimate(traces).delay(1) == 1.0
    assert Estimate({1: BrokerTrace(1, (), 0, 0, {})}).delay(1) == 0.0


def test_a_weight_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a number from 0 to 100"):
        Estimate({1: BrokerTrace(1, (), 0, 0, {LOCAL: 0.0})}).choose([1], "load", 101)
