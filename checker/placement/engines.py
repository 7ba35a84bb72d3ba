"""The computation on one core, and on Spark: the same steps, whose blocks go through a file or through a shuffle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from attrs import frozen

from routeproof.checker.placement.choosing import Chosen, Loads, MeanDelays, PlacedPublisher, Wish, all_chosen, decide
from routeproof.checker.placement.events import UNKNOWN, ReadReport
from routeproof.checker.placement.joining import DelaySums, Found, Remarks, Totals, decoded, encoded, join
from routeproof.checker.placement.overlay import Frame
from routeproof.checker.placement.reading import Source, read_unit
from routeproof.checker.spark.rows import Batch, batches, rows_of, table_of
from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate.findings import BadLines
from routeproof.checker.validate.store import Store
from routeproof.traces import BadLine, TraceError, open_trace
from routeproof.traces.files import called, named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@frozen
class PlacementAnswer:
    trace: str
    frame: Frame
    wish: Wish
    publishers: list[PlacedPublisher]
    loads: Mapping[bytes, Loads]
    """By run."""
    units: Mapping[bytes, str]
    """The unit of delays, by run."""
    remarks: Remarks
    events: int
    outside: int
    bad: BadLines
    seconds: float


def place(path: Path, wish: Wish, spark: SparkSession | None = None) -> PlacementAnswer:
    """Places the publishers of one trace. `UsageError` where there is nothing to place, or no trace."""
    began = time.perf_counter()
    try:
        with open_trace(path) as (header, _):
            frame = Frame.of(header)
        source = Source.of(path.absolute(), 2 if spark is None else spark.sparkContext.defaultParallelism)
        steps = _Locally(frame, source) if spark is None else _OnSpark(frame, source, spark)
        with steps as running:
            found = _concluded(path, frame, wish, running, began)
    except (TraceError, UsageError) as error:
        text = str(error)
        raise UsageError(text if text.startswith(named(path)) else f"{named(path)}: {text}") from None
    return found


def _concluded(path: Path, frame: Frame, wish: Wish, running: _Locally | _OnSpark, began: float) -> PlacementAnswer:
    reads = sorted(running.read(), key=lambda read: read.unit)
    remarks, delays = Remarks(), dict[bytes, list[DelaySums]]()
    for found in running.joined():
        if isinstance(found, Remarks):
            remarks.add(found)
        elif isinstance(found, DelaySums):
            delays.setdefault(found.run, []).append(found)
    bad = _bad_lines(reads, lines_before=1 if running.is_lines else 0)
    if not remarks.published:
        why = f"; {bad.count:,} lines could not be read, the first: {bad.first[0].reason}" if bad.count else ""
        raise UsageError(f"no client publishes anything in this trace{why}; there is no publisher to place")
    means = {run: MeanDelays.of(len(frame), delays.get(run, ())) for run in running.runs}
    publishers, loads = all_chosen(running.chosen(means, wish))
    units = {run: means[run].unit for run in loads}
    events, outside = (sum(getattr(read, name) for read in reads) for name in ("events", "outside"))
    seconds = time.perf_counter() - began
    return PlacementAnswer(called(path), frame, wish, publishers, loads, units, remarks, events, outside, bad, seconds)


def _bad_lines(reads: Sequence[ReadReport], lines_before: int) -> BadLines:
    bad = BadLines()
    starts = accumulate((read.rows for read in reads), initial=lines_before)
    for read, before in zip(reads, starts, strict=False):
        mine = BadLines(read.bad_count)
        for number, reason in read.bad:
            mine._keep(BadLine(number + before, reason))
        bad.merge(mine)
    return bad


_reads = msgspec.msgpack.Decoder(ReadReport).decode


# -- one core ----------------------------------------------------------------------------------------------------------


class _Steps:
    """The part of an engine that does not depend on where it computes."""

    def __init__(self, frame: Frame, source: Source) -> None:
        self._frame = frame
        self._source = source
        self.is_lines = not source.is_parquet
        self.runs: set[bytes] = set()
        """Once all is joined: the runs that have publishers."""


class _Locally(_Steps):
    """The steps on one core, with blocks in a temporary file: memory does not grow with the trace."""

    def __enter__(self) -> _Locally:
        self._store = Store()
        return self

    def __exit__(self, *_: object) -> None:
        self._store.__exit__(None, None, None)

    def read(self) -> Iterator[ReadReport]:
        import pyarrow as pa

        for unit in self._source.units:
            for bucket, data in read_unit(self._source, self._frame, unit):
                if bucket == UNKNOWN:
                    yield _reads(data)
                else:
                    self._store.put(("read", f"{bucket:06}"), data)
            pa.default_memory_pool().release_unused()  # or it keeps more with each unit

    def joined(self) -> Iterator[Found]:
        for key in self._of("read"):
            for bucket, found in join(self._frame, list(self._store.blocks(key)), self._source.buckets):
                if isinstance(found, Totals):
                    self.runs.update(run for run, _, _ in found.keys)
                    self._store.put(("joined", f"{bucket:06}"), encoded(found))
                else:
                    yield found

    def chosen(self, delays: Mapping[bytes, MeanDelays], wish: Wish) -> Iterator[Chosen]:
        for key in self._of("joined"):
            yield decide(self._frame, delays, wish, _totals(self._store.blocks(key)))

    def _of(self, step: str) -> list[tuple[str, ...]]:
        return [key for key in self._store.stored() if key[0] == step]


def _totals(blocks: Iterable[bytes]) -> list[Totals]:
    return [found for found in map(decoded, blocks) if isinstance(found, Totals)]


# -- Spark -------------------------------------------------------------------------------------------------------------

ROWS = "bucket long, data binary"
"""A block, with its bucket. Rows without a bucket are for the driver."""


class _OnSpark(_Steps):
    """The steps on Spark: each is a task for every unit, then for every bucket of ids, then of publishers."""

    def __init__(self, frame: Frame, source: Source, spark: SparkSession) -> None:
        super().__init__(frame, source)
        self._spark = spark
        self._tasks = spark.sparkContext.defaultParallelism
        self._kept: list[Any] = []

    def __enter__(self) -> _OnSpark:
        return self

    def __exit__(self, *_: object) -> None:
        for frame in self._kept:
            frame.unpersist()

    def read(self) -> Iterator[ReadReport]:
        rows = [(at % self._tasks, at) for at in range(len(self._source.units))]
        asked = self._spark.createDataFrame(table_of("task int, bucket long", rows)).repartitionById(
            self._tasks, "task"
        )
        self._blocks = self._keep(asked.mapInArrow(partial(_read_units, self._source, self._frame), ROWS))
        for row in self._blocks.where(f"bucket = {UNKNOWN}").collect():
            yield _reads(bytes(row["data"]))

    def joined(self) -> Iterator[Found]:
        self._totals = self._keep(
            self._shuffled(self._blocks).mapInArrow(partial(_join, self._frame, self._source.buckets), ROWS)
        )
        for row in self._totals.where("bucket < 0").collect():
            if row["bucket"] == RUNS:
                self.runs.update(msgspec.msgpack.decode(bytes(row["data"]), type=list[bytes]))
            else:
                yield decoded(bytes(row["data"]))

    def chosen(self, delays: Mapping[bytes, MeanDelays], wish: Wish) -> Iterator[Chosen]:
        done = self._shuffled(self._totals).mapInArrow(partial(_decide, self._frame, delays, wish), ROWS)
        for row in done.collect():
            yield msgspec.msgpack.decode(bytes(row["data"]), type=Chosen)

    def _shuffled(self, frame: Any) -> Any:
        return frame.where("bucket >= 0").repartition(self._tasks, "bucket").sortWithinPartitions("bucket")

    def _keep(self, frame: Any) -> Any:
        from pyspark import StorageLevel

        self._kept.append(frame.persist(StorageLevel.DISK_ONLY))
        return self._kept[-1]


RUNS = -2
"""Bucket of the names of runs."""


def _read_units(source: Source, frame: Frame, asked: Iterator[Batch]) -> Iterator[Batch]:
    units = (source.units[each["bucket"]] for each in rows_of(asked))
    yield from batches(ROWS, (row for unit in units for row in read_unit(source, frame, unit)))


def _by_bucket(found: Iterator[Batch]) -> Iterator[list[bytes]]:
    for _, rows in groupby(rows_of(found), lambda row: row["bucket"]):
        yield [bytes(row["data"]) for row in rows]


def _join(frame: Frame, buckets: int, found: Iterator[Batch]) -> Iterator[Batch]:
    yield from batches(ROWS, (row for blocks in _by_bucket(found) for row in _joined(frame, buckets, blocks)))


def _joined(frame: Frame, buckets: int, blocks: list[bytes]) -> Iterator[tuple[int, bytes]]:
    runs: set[bytes] = set()
    for bucket, found in join(frame, blocks, buckets):
        if isinstance(found, Totals):
            runs.update(run for run, _, _ in found.keys)
        yield bucket, encoded(found)
    yield RUNS, msgspec.msgpack.encode(sorted(runs))


def _decide(frame: Frame, delays: Mapping[bytes, MeanDelays], wish: Wish, found: Iterator[Batch]) -> Iterator[Batch]:
    decided = (decide(frame, delays, wish, _totals(blocks)) for blocks in _by_bucket(found))
    yield from batches(ROWS, ((0, msgspec.msgpack.encode(each)) for each in decided))


def place_each(
    paths: Sequence[Path], wish: Wish, engine: str = "local", master: str | None = None
) -> Iterator[PlacementAnswer]:
    """Places the publishers of each trace, on Spark in one session."""
    with ExitStack() as stack:
        how: Callable[..., PlacementAnswer] = place
        if engine == "spark":
            from routeproof.checker.spark.session import session

            how = partial(place, spark=stack.enter_context(session(master)))
        for path in paths:
            yield how(path, wish)
