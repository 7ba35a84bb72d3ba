"""Metrics on a run that is small enough to be counted by hand; their files; and what a chart looks like inside."""

import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest
from attrs import asdict

from routeproof.checker.cli.run_simulated import summary, write_delays, write_samples
from routeproof.checker.experiments.plots import HEIGHT, MOST_POINTS, WIDTH, Chart, PlotLine, figures, number, thinned
from routeproof.impl.observers import COUNTED, DELAYS, FINEST, MOMENTARY, Metrics, histogram, quantile
from routeproof.impl.simulator import Costs, Network, Simulator, TimedOperation
from routeproof.model.messages import (
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Subscribe,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.traces import broker_name
from tests.impl.fakes import Scripted, publication, subscription

PAIR = Overlay.line(2)
NAMES = {b: broker_name(b) for b in PAIR.brokers}
ONE, TWO, THREE = (Subscribe(subscription(n)) for n in (1, 2, 3))


def answer(node: Node) -> Scripted:
    """Broker 1 passes on what its clients say, and has more to say where they unsubscribe. Broker 2 delivers even
    publications, and has no use for odd ones."""

    def at_1(sender: Node, message: Message) -> list[tuple[Node, Message]]:
        if isinstance(message, Unsubscribe):
            return [(2, ONE), (2, PackedSubscribe((TWO.subscription, THREE.subscription))), (2, message)]
        return [(2, message)] if sender == LOCAL else []

    def at_2(_: Node, message: Message) -> list[tuple[Node, Message]]:
        if isinstance(message, Publish) and message.publication.rank % 2 == 0:
            return [(LOCAL, Deliver(message.publication, subscription(n))) for n in (1, 2)]
        return []

    return Scripted(node, at_1 if node == 1 else at_2)


@pytest.fixture
def metrics() -> Metrics:
    """Service 5, latency 10. Two publications at 0, one of which nobody wants; then a withdrawal at 50."""
    metrics = Metrics(PAIR.brokers, every=22)
    simulator = Simulator(PAIR, answer, Costs(5, 5, 5, 5), Network(latency=10), [metrics])
    publications = [TimedOperation(0, 1, Publish(publication(n))) for n in (1, 2)]
    simulator.play([*publications, TimedOperation(50, 1, Unsubscribe(subscription(9)))])
    return metrics


def test_rows_are_what_was_there_at_that_moment(metrics: Metrics) -> None:
    # 1 is busy 0-5 and 5-10; 2 with the odd one 15-20 and with the even one 20-25. The withdrawal takes 50-55; at 65
    # three messages reach 2, which is busy 65-70, 70-80 (two packed subscriptions) and 80-85.
    assert list(metrics.times) == [22, 44, 66, 85]
    assert metrics.series("queue", 2) == [0, 0, 2, 0]
    assert metrics.series("busy", 1) == [10, 10, 15, 15]
    assert metrics.series("busy", 2) == [5, 10, 10, 30]
    assert metrics.series("publish", 2) == [1, 2, 2, 2]
    assert metrics.series("table", 1) == [2, 2, 3, 3], "a scripted broker's table is all that it has received"
    assert metrics.total("publish") == [3, 4, 4, 4]
    assert metrics.most_queued == {1: 1, 2: 2}


def test_triggered_counts_subscriptions_and_not_messages(metrics: Metrics) -> None:
    assert metrics.last("triggered") == {1: 3, 2: 0}
    assert metrics.last("subscribe") == {1: 0, 2: 1}
    assert metrics.last("subscribe_many") == {1: 0, 2: 1}
    assert metrics.last("unsubscribe") == {1: 1, 2: 1}


def test_packed_withdrawals_trigger_too() -> None:
    metrics = Metrics([1])
    simulator = Simulator(Overlay.of([]), answer, Costs.free())
    metrics.handled(simulator, 1, 2, PackedUnsubscribe((ONE.subscription,)), 0, [(2, ONE), (3, ONE), (3, TWO)])
    metrics.handled(simulator, 1, 2, THREE, 0, [(2, ONE)])
    metrics.look(simulator, 0)
    assert metrics.last("triggered") == {1: 3}, "what a subscription causes is not triggered"
    assert metrics.last("uncovered") == {1: 2}, "one of them was sent to two neighbours"


def test_false_positives_come_from_neighbours_and_go_nowhere(metrics: Metrics) -> None:
    assert metrics.last("false_positives") == {1: 0, 2: 1}


def test_delays_run_from_client_to_client(metrics: Metrics) -> None:
    """The second publication is at 0, handled by 1 until 10, by 2 from 20 to 25; two subscriptions match it."""
    assert list(metrics.delays) == [25, 25]
    assert list(metrics.delivered_at) == [25, 25]
    assert metrics.last("delivered") == {1: 0, 2: 2}
    assert metrics.windows["delays"] == [0, 0, 0, 2, *[0] * 4]
    assert metrics.windows["delay_p50"] == [None, None, None, 25, *[None] * 4]


def test_a_row_is_taken_back_where_more_happens_at_its_time() -> None:
    metrics = Metrics(PAIR.brokers, every=10)
    simulator = Simulator(PAIR, answer, Costs.free(), Network(latency=0), [metrics])
    for rank in (2, 4):
        simulator.play([TimedOperation(30, 1, Publish(publication(rank)))])
    assert list(metrics.times) == [10, 20, 30]
    assert metrics.last("delivered") == {1: 0, 2: 4}
    assert metrics.windows["delays"] == [0, 0, 0, 0, 0, 4]


def test_quantiles_are_values_that_occurred() -> None:
    assert [quantile([1, 2, 3, 4], share) for share in (0.0, 0.25, 0.26, 0.5, 0.75, 0.99, 1.0)] == [1, 1, 2, 2, 3, 4, 4]
    assert quantile(range(1, 101), 0.9) == 90
    assert quantile([7], 0.5) == 7


def test_histogram_holds_every_delay_once() -> None:
    delays = [0, 1, FINEST, FINEST + 1, 5_000_000, 5_000_001, 10**12]
    buckets = histogram(delays)
    assert sum(bucket.count for bucket in buckets) == len(delays)
    assert all(a.most == b.above for a, b in pairwise(buckets))
    for bucket in buckets:
        assert bucket.count == sum(bucket.above < delay <= bucket.most for delay in delays)
    assert buckets[0].count == 3
    assert buckets[-1].count == 1
    assert histogram([]) == []


# -- files -------------------------------------------------------------------------------------------------------------


def test_samples_have_a_row_for_each_broker_and_moment(metrics: Metrics, tmp_path: Path) -> None:
    write_samples(metrics, NAMES, tmp_path / "m.parquet")
    read = pq.read_table(tmp_path / "m.parquet")
    assert read.column_names == ["time", "broker", *MOMENTARY, *COUNTED, *DELAYS]
    rows = read.to_pylist()
    assert len(rows) == 8
    assert rows[3] | {"time": 44, "broker": "b2", "publish": 2, "delays": 2, "delay_max": 25} == rows[3]
    assert rows[2]["delay_max"] is None


def test_delays_are_a_histogram(metrics: Metrics, tmp_path: Path) -> None:
    write_delays(metrics, tmp_path / "d.parquet")
    assert pq.read_table(tmp_path / "d.parquet").to_pylist() == [{"above": -1, "most": FINEST, "count": 2}]


def test_summary(metrics: Metrics) -> None:
    told = summary(metrics, NAMES)
    assert told.operations == {"unsubscribe": 1, "publish": 2}
    assert told.messages == {"subscribe": 1, "unsubscribe": 2, "subscribe_many": 1, "publish": 4}
    assert (told.triggered, told.false_positives, told.delivered) == (3, 1, 2)
    assert told.delay is not None
    assert [told.delay[key] for key in ("least", "mean", "p99", "most")] == [25, 25, 25, 25]
    assert told.brokers["b2"].queue_most == 2
    json.dumps(asdict(told), allow_nan=False)


def test_a_run_without_deliveries_has_no_delays(tmp_path: Path) -> None:
    metrics = Metrics(PAIR.brokers)
    Simulator(PAIR, answer, Costs.free(), observers=[metrics]).play([])
    assert summary(metrics, NAMES).delay is None
    write_samples(metrics, NAMES, tmp_path / "m.parquet")
    write_delays(metrics, tmp_path / "d.parquet")
    assert len(pq.read_table(tmp_path / "m.parquet")) == 2
    assert all("nothing to show" in chart.svg() or "<path" in chart.svg() for _, chart in figures(metrics, {}, "none"))


# -- plots -------------------------------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def drawn(chart: Chart) -> ET.Element:
    """The chart as a browser reads it; whatever is placed lies within it."""
    root = ET.fromstring(chart.svg())
    for element in root.iter():
        for axis, most in (("x", WIDTH), ("y", HEIGHT)):
            for name in (axis, f"{axis}1", f"{axis}2"):
                assert 0 <= float(element.get(name, 0)) <= most, ET.tostring(element)
    for path in root.iter(f"{SVG}path"):
        commands = re.findall(r"([MLHV])([^MLHV]*)", path.get("d", ""))
        for command, numbers in commands:
            values = [float(each) for each in NUMBER.findall(numbers)]
            assert len(values) == (1 if command in "HV" else 2)
            bounds = {"H": [WIDTH], "V": [HEIGHT]}.get(command, [WIDTH, HEIGHT])
            assert all(0 <= value <= most for value, most in zip(values, bounds, strict=True))
    return root


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def paths(root: ET.Element) -> list[str]:
    return [path.get("d", "") for path in root.iter(f"{SVG}path")]


def test_a_line_is_where_its_points_are() -> None:
    root = drawn(Chart("Title", "across", "up", [PlotLine("line", [(0, 0), (5, 10), (10, 5)])]))
    assert paths(root) == ["M84 362L407 46L730 204"]
    assert {"Title", "across", "up", "line", "0", "10"} <= set(texts(root))


def test_a_count_is_drawn_in_steps() -> None:
    root = drawn(Chart("t", "x", "y", [PlotLine("line", [(0, 0), (10, 10)], steps=True)]))
    assert paths(root) == ["M84 362H730V46"]


def test_a_logarithmic_axis_is_straight_in_powers_of_ten() -> None:
    root = drawn(Chart("t", "x", "y", [PlotLine("line", [(0, 1), (1, 10), (2, 100)])], log_y=True))
    assert paths(root) == ["M84 362L407 204L730 46"]
    assert {"1", "10", "100"} <= set(texts(root))


@pytest.mark.parametrize(
    "points",
    [[], [(0, 0)], [(3, 3)], [(0, -5), (1, 5)], [(0, 1e12), (1e9, 1e-9)], [(0.0, float("nan")), (1.0, float("inf"))]],
    ids=str,
)
@pytest.mark.parametrize("log", [False, True])
def test_any_points_make_a_chart(points: list[tuple[float, float]], log: bool) -> None:
    drawn(Chart("t", "x", "y", [PlotLine("line", points)], log_x=log, log_y=log))


def test_what_is_written_is_escaped() -> None:
    evil = "<script>&\"'"
    root = drawn(Chart(evil, evil, evil, [PlotLine(evil, [(0, 1), (1, 2)])]))
    assert texts(root).count(evil) == 4
    assert not list(root.iter(f"{SVG}script"))


def test_more_lines_than_colours_differ_by_their_dashes() -> None:
    root = drawn(Chart("t", "x", "y", [PlotLine(str(n), [(0, n), (1, n)]) for n in range(16)]))
    styles = [(path.get("stroke"), path.get("stroke-dasharray")) for path in root.iter(f"{SVG}path")]
    assert len(set(styles)) == 16


def test_thinning_keeps_the_peaks() -> None:
    points = [(float(n), 1_000_000.0 if n == 77_777 else float(n % 10)) for n in range(100_000)]
    kept = thinned(points)
    assert len(kept) <= MOST_POINTS + 4
    assert (77_777, 1_000_000.0) in kept
    assert {kept[0], kept[-1]} == {points[0], points[-1]}
    assert list(kept) == sorted(kept)


def test_numbers_are_short() -> None:
    shown = [number(value) for value in (0, 0.25, 1500, 25_000, 1_500_000, 2e9, 0.0001)]
    assert shown == ["0", "0.25", "1500", "25k", "1.5M", "2G", "0.0001"]


def test_every_metric_has_its_plot(metrics: Metrics) -> None:
    charts = dict(figures(metrics, {1: "A", 2: "B & C"}, "a run"))
    assert list(charts) == ["queue", "table", "triggered", "false-positives", "messages", "delay", "delay-cdf"]
    for chart in charts.values():
        root = drawn(chart)
        assert any("a run" in text for text in texts(root))
        assert paths(root)
    assert {"A", "B & C"} <= set(texts(drawn(charts["queue"])))
