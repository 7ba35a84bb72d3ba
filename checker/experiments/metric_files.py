"""A run's metrics as files: Parquet for programs, and a summary.

`write_samples` has one row for each broker and moment, `write_delays` the histogram of all delays, and `summary` what
is worth knowing at a glance. Times are nanoseconds of virtual time.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from routeproof.impl.simulation.metrics import DELAYS, Metrics, histogram, quantile
from routeproof.impl.simulation.simulator import SECOND
from routeproof.model.overlay import Node


def write_samples(metrics: Metrics, names: Mapping[Node, str], path: Path) -> None:
    """`names` are those of the trace, so that the two can be joined."""
    width = len(metrics.brokers)
    columns = {
        "time": pa.array([time for time in metrics.times for _ in range(width)], pa.int64()),
        "broker": pa.array([names[b] for b in metrics.brokers] * len(metrics.times)).dictionary_encode(),
        **{name: pa.array(metrics.columns[name], pa.int64()) for name in (*metrics.momentary, *metrics.counted)},
        **{name: pa.array(metrics.windows[name], pa.int64()) for name in DELAYS},
    }
    with path.open("wb") as file:
        pq.write_table(pa.table(columns), file, compression="zstd")


def write_delays(metrics: Metrics, path: Path) -> None:
    buckets = histogram(metrics.delays)
    columns = {
        "above": pa.array([bucket.above for bucket in buckets], pa.int64()),
        "most": pa.array([bucket.most for bucket in buckets], pa.int64()),
        "count": pa.array([bucket.count for bucket in buckets], pa.int64()),
    }
    with path.open("wb") as file:
        pq.write_table(pa.table(columns), file, compression="zstd")


@frozen
class Delays:
    """Nanoseconds from publishing to delivery, over all deliveries."""

    least: int
    mean: int
    p50: int
    p90: int
    p99: int
    most: int


@frozen
class BrokerSummary:
    queue_most: int
    table_most: int
    """At the moments of the samples."""
    table: int
    """In the end."""
    triggered: int
    uncovered: int
    false_positives: int
    busy_seconds: float


@frozen
class Summary:
    """The whole run in one object; `attrs.asdict` makes it JSON."""

    virtual_seconds: float
    operations: Mapping[str, int]
    messages: Mapping[str, int]
    """Handled, by kind."""
    triggered: int
    false_positives: int
    delivered: int
    delay: Delays | None
    """None where nothing was delivered."""
    brokers: Mapping[str, BrokerSummary]
    own: Mapping[str, int]
    """Figures of the protocol's own."""


def summary(metrics: Metrics, names: Mapping[Node, str]) -> Summary:
    last = {name: metrics.last(name) for name in (*metrics.momentary, *metrics.counted)}
    brokers = {
        names[broker]: BrokerSummary(
            queue_most=metrics.most_queued[broker],
            table_most=max(metrics.series("table", broker)),
            table=last["table"][broker],
            triggered=last["triggered"][broker],
            uncovered=last["uncovered"][broker],
            false_positives=last["false_positives"][broker],
            busy_seconds=round(last["busy"][broker] / SECOND, 3),
        )
        for broker in metrics.brokers
    }
    return Summary(
        virtual_seconds=round(metrics.times[-1] / SECOND, 3),
        operations={kind: metrics.operations[cls] for cls, kind in metrics.kinds.items() if metrics.operations[cls]},
        messages={kind: n for kind in metrics.kinds.values() if (n := sum(last[kind].values()))},
        triggered=sum(last["triggered"].values()),
        false_positives=sum(last["false_positives"].values()),
        delivered=sum(last["delivered"].values()),
        delay=_delays(metrics),
        brokers=brokers,
        own=metrics.own.summary(metrics),
    )


def _delays(metrics: Metrics) -> Delays | None:
    ordered = sorted(metrics.delays)
    if not ordered:
        return None
    p50, p90, p99 = (quantile(ordered, share) for share in (0.5, 0.9, 0.99))
    return Delays(ordered[0], sum(ordered) // len(ordered), p50, p90, p99, ordered[-1])
