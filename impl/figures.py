"""The plots of a run: which of its metrics are drawn, and how. `figures` gives each as a name and a chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate

from routeproof.impl.costs import SECOND
from routeproof.impl.metrics import KINDS, Metrics, histogram
from routeproof.impl.plots import Chart, Point, Series
from routeproof.model.overlay import Node

TIME = "virtual time (s)"
WINDOWS = 200
"""Stretches of the run in which delays over time are gathered."""


def figures(metrics: Metrics, watched: Mapping[Node, str], of: str) -> Iterator[tuple[str, Chart]]:
    """`watched` are the brokers to show, by name; `of` says whose run it is, in every title.

    What is there for the sake of publications is shown from the first of them on: subscribing may take far longer.
    """
    first = (metrics.first_published or 0) / SECOND

    def over_time(title: str, y: str, column: str, since: float = 0) -> Chart:
        lines = [
            Series(name, [p for p in _points(metrics, metrics.series(column, b)) if p[0] >= since], steps=True)
            for b, name in watched.items()
        ]
        return Chart(f"{title}: {of}", TIME, y, lines)

    total = "publications, since the start"
    yield "queue", over_time("Input queue", "messages waiting", "queue", first)
    yield "table", over_time("Routing table", "subscriptions", "table")
    yield (
        "triggered",
        over_time("Sent because of unsubscriptions", "subscriptions, since the start", "triggered", first),
    )
    yield "false-positives", over_time("False positives", total, "false_positives", first)
    yield "messages", _messages(metrics, of)
    yield "delay", _delay(metrics, of)
    yield "delay-cdf", _distribution(metrics, of)


def _messages(metrics: Metrics, of: str) -> Chart:
    totals = {kind: metrics.total(kind) for kind in KINDS.values()}
    lines = [Series(k, _points(metrics, values), steps=True) for k, values in totals.items() if values[-1]]
    return Chart(f"Messages handled by all brokers: {of}", TIME, "messages, since the start", lines, log_y=True)


def _delay(metrics: Metrics, of: str) -> Chart:
    """Over the time of delivery: the mean and the longest of each stretch."""
    gathered: dict[int, list[int]] = {}
    begin = metrics.first_published or 0
    length = metrics.times[-1] + 1 - begin
    for time, delay in zip(metrics.delivered_at, metrics.delays, strict=True):
        gathered.setdefault((time - begin) * WINDOWS // length, []).append(delay)

    def line(name: str, pick: Callable[[list[int]], float]) -> Series:
        middle = [(begin + (window + 0.5) * length / WINDOWS, many) for window, many in sorted(gathered.items())]
        return Series(name, [(time / SECOND, pick(many) / SECOND) for time, many in middle])

    lines = [line("longest", max), line("mean", lambda many: sum(many) / len(many))]
    return Chart(f"Delay of publications: {of}", TIME, "delay (s)", lines, log_y=True)


def _distribution(metrics: Metrics, of: str) -> Chart:
    buckets = histogram(metrics.delays)
    counts = accumulate(bucket.count for bucket in buckets)
    points = [(b.most / SECOND, n / len(metrics.delays)) for b, n in zip(buckets, counts, strict=True)]
    series = [Series("all deliveries", [*((bucket.above / SECOND, 0.0) for bucket in buckets[:1]), *points])]
    title = f"Delay of publications, cumulative: {of}"
    return Chart(title, "delay (s)", "share of deliveries", series, log_x=True, most_y=1.0)


def _points(metrics: Metrics, values: list[int]) -> list[Point]:
    return [(time / SECOND, value) for time, value in zip(metrics.times, values, strict=True)]
