"""Metrics on Spark: delays are joined in the workers and summed up broker by broker; the files are made by the driver.

What parts counted came with what they found. It is as much as a broker has samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from routeproof.checker.validate.clients import OPERATIONS, block_of
from routeproof.checker.validate.metrics.asked import Measured, plain
from routeproof.checker.validate.metrics.delays import Moments, decode, delays_of, encode, windows_of
from routeproof.checker.validate.metrics.files import Told, tells_delays, write
from routeproof.checker.validate.metrics.series import Series, gathered
from routeproof.checker.validate.packing import name_of
from routeproof.checker.validate.part import Found
from routeproof.checker.validate.spark.columns import CLIENT, Batch, batches, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DELAYS = "run string, broker string, data binary"
"""Of a broker; names are as the files have them."""


def measure(setting: Measured, results: DataFrame, brokers: Sequence[Sequence[Found]], tasks: int) -> None:
    """`results`: the `RESULTS` of all parts. `brokers`: what each one's came to, in their order."""
    runs = gathered(setting, brokers)
    write(setting, runs, _windows(runs, results, tasks) if tells_delays(setting) else {})


def _windows(runs: Mapping[str, Series], results: DataFrame, tasks: int) -> Told:
    moments = {run: series.moments for run, series in runs.items()}
    joined = (
        results.where(f"kind = {CLIENT} and end <> '{OPERATIONS}'")
        .repartition(tasks, "run", "end")
        .sortWithinPartitions("run", "end")
        .mapInArrow(join_delays, DELAYS)
        .repartition(tasks, "run", "broker")
        .sortWithinPartitions("run", "broker")
        .mapInArrow(partial(sum_up, moments), DELAYS)
    )
    return {(row["run"], row["broker"]): decode(bytes(row["data"])) for row in joined.collect()}


def join_delays(found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: the `CLIENT` rows of `RESULTS`, each bucket's together, in; `DELAYS` out."""
    yield from batches(DELAYS, _joined(rows_of(found)))


def _joined(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for (run, _), mine in groupby(rows, lambda row: (row["run"], row["end"])):
        for broker, pairs in delays_of(block_of(row["data"]) for row in mine):
            yield plain(name_of(run)), plain(broker), pairs


def sum_up(moments: dict[str, Moments], found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: `DELAYS` with pairs, each broker's together, in; `DELAYS` with what they come to out."""
    yield from batches(DELAYS, _summed(moments, rows_of(found)))


def _summed(moments: dict[str, Moments], rows: Iterator[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for (run, broker), mine in groupby(rows, lambda row: (row["run"], row["broker"])):
        if run in moments:
            yield run, broker, encode(windows_of((row["data"] for row in mine), moments[run]))
