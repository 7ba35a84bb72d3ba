"""Joins in the workers of the rows that parts set aside: both ends of a link, publications and their deliveries, and
the keys of a protocol's stages.

With metrics, delays are joined as well and summed up broker by broker; the driver makes the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from routeproof.checker.spark.rows import Batch, batches, rows_of
from routeproof.checker.validate.clients import OPERATIONS, ClientOperation, believed, block_of, operations_of
from routeproof.checker.validate.clients.judge import CLIENTS, judge_clients
from routeproof.checker.validate.clock import CERTAIN, Doubts
from routeproof.checker.validate.findings import KeptRecord, PartResult, Rejection, decode_rejection, encode_rejection
from routeproof.checker.validate.judging import SHARED, Block, PassedBlock, Reduce, RunContext, Stages, reduced
from routeproof.checker.validate.links import Comparison, compare
from routeproof.checker.validate.metrics import Measured, plain
from routeproof.checker.validate.metrics.files import WindowsOf, tells_delays, write
from routeproof.checker.validate.metrics.series import (
    Moments,
    Series,
    decode_windows,
    delays_of,
    encode_windows,
    gathered,
    windows_of,
)
from routeproof.checker.validate.readiness import Passages, Ways
from routeproof.checker.validate.report import Extent, Why, encode_extent
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark import (
    CLIENT,
    CONTROL,
    EMITTED,
    EXTENT,
    ON_THE_WAY,
    PASSAGES,
    PASSED,
    PUBLICATIONS,
    REJECTION,
    RESULTS,
    SUMMARY,
    SURE_CONTROL,
    SURE_PUBLICATIONS,
    WRONG,
    unsqueezed,
)
from routeproof.checker.validate.store import Store, key_of, name_of
from routeproof.checker.validate.traffic import Ends, OnTheWay, Traffic, count_link, traffic_of, union

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


Row = tuple[Any, ...]


@frozen
class Clocks:
    """Clock of a run: the width of a slot of time, and which times are not believed, by broker."""

    width: int
    latest: int
    doubts: dict[str, Doubts]
    last: Mapping[str, int]
    """The last time of each broker."""
    begun: frozenset[str] = frozenset()
    """The brokers whose recordings begin amid the run."""
    kept: int = 0
    """Number of messages of a link of which it is kept when they passed."""


def join_links(setting: Setting, clocks: dict[bytes, Clocks], found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: the `LINK` rows of `RESULTS`, each link's together, what was sent before what was taken.

    `clocks`: by run. What was sent waits in a file until what was taken comes.
    """
    yield from batches(RESULTS, _of_links(setting, clocks, rows_of(found)))


def _of_links(setting: Setting, clocks: dict[bytes, Clocks], rows: Iterator[dict[str, Any]]) -> Iterator[Row]:
    for (run, near, far), mine in groupby(rows, lambda row: (row["run"], row["near"], row["far"])):
        clock, link = clocks[run], (name_of(near), name_of(far))
        if not setting.compares(*link):
            continue
        ways = OnTheWay(clock.width)
        sure = OnTheWay(clock.width) if clock.doubts else None
        with Store() as store:
            for row in mine:
                store.put((row["end"],), row["data"])
            sent, taken = store.blocks(("sent",)), store.blocks(("taken",))
            pair = clock.doubts.get(link[0], CERTAIN), clock.doubts.get(link[1], CERTAIN)
            until = clock.last.get(link[0], -1)
            amid, kept = (link[0] in clock.begun, link[1] in clock.begun), clock.kept
            for each in compare(setting, name_of(run), link, sent, taken, pair, until=until, kept=kept, amid=amid):
                if isinstance(each, Comparison):
                    yield from _compared(run, link, each)
                    continue
                ways.add(each)
                if sure is not None:
                    sure.add_sure(each)
        yield from _spans_of(run, ways, CONTROL, PUBLICATIONS)
        if sure is not None:
            yield from _spans_of(run, sure, SURE_CONTROL, SURE_PUBLICATIONS)


def _spans_of(run: bytes, ways: OnTheWay, control: int, publications: int) -> Iterator[Row]:
    for kind, busy in ((control, ways.control), (publications, ways.publications)):
        begins, until = busy.spans()
        yield kind, run, b"", b"", "", 0, 0, np.concatenate([begins, until]).tobytes()


def _compared(run: bytes, link: tuple[str, str], comparison: Comparison) -> Iterator[Row]:
    for each in comparison.rejections:
        yield REJECTION, run, b"", b"", "", 0, 0, encode_rejection(each)
    if comparison.is_wrong:
        yield WRONG, run, b"", b"", "", 0, 0, b""
    extent = Extent()
    count_link(extent, name_of(run), link, comparison)
    yield EXTENT, run, b"", b"", "", 0, 0, encode_extent(extent)
    if comparison.passages.every.is_kept:
        yield PASSAGES, run, key_of(link[0]), key_of(link[1]), "", 0, 0, comparison.passages.encode()
    if comparison.on_the_way:
        digests = np.array(sorted(comparison.on_the_way), np.int64).tobytes()
        yield ON_THE_WAY, run, b"", b"", "", 0, 0, digests


@frozen
class Context:
    """Premises of one run's obligations: what each broker's clients announced, as compressed blocks, and what was on
    the way when, as bytes.

    `owes`: do times tell what is owed? `hindrance`: why it is counted only; None where it is judged. Spans and
    digests are as `join_links` gave them.
    """

    operations: tuple[tuple[bytes, ...], ...]
    owes: bool
    hindrance: Why | None
    ends: Ends
    clocks: Clocks
    control: tuple[bytes, ...] = ()
    publications: tuple[bytes, ...] = ()
    on_the_way: tuple[bytes, ...] = ()
    sure_control: tuple[bytes, ...] = ()
    sure_publications: tuple[bytes, ...] = ()
    kept: tuple[KeptRecord, ...] = ()
    passages: tuple[tuple[str, str, bytes], ...] = ()
    """When messages passed the links of the run; empty where a link is wrong."""

    def said(self) -> list[Iterator[ClientOperation]]:
        """Returns each broker's, in its order, at times that can be relied on."""
        sure = partial(believed, doubts=self.clocks.doubts)
        return [map(sure, operations_of(map(unsqueezed, blocks))) for blocks in self.operations]

    def traffic(self, setting: Setting) -> Traffic | None:
        """Returns when links were busy; None where what is owed cannot be judged."""
        if not self.owes:
            return None
        width = self.clocks.width
        ways = OnTheWay(width)
        ways.control, ways.publications = (union(width, map(_spans, e)) for e in (self.control, self.publications))
        ways.add_kept(self.kept)
        ways.left = {int(d) for block in self.on_the_way for d in np.frombuffer(block, np.int64)}
        sure = None
        if self.clocks.doubts:
            sure = OnTheWay(width)
            both = self.sure_control, self.sure_publications
            sure.control, sure.publications = (union(width, map(_spans, each)) for each in both)
        return traffic_of(setting, self.clocks.latest, ways, sure, self.hindrance)

    def ways(self, setting: Setting) -> Ways | None:
        """Returns the ways of publications; None where readiness is not judged link by link."""
        if not self.clocks.kept or self.hindrance is not None:
            return None
        left = {int(d) for block in self.on_the_way for d in np.frombuffer(block, np.int64)}
        return Ways(setting, {(near, far): Passages.decode(data) for near, far, data in self.passages}, left)


def _spans(block: bytes) -> tuple[Any, Any]:
    both = np.frombuffer(block, np.int64)
    return both[: len(both) // 2], both[len(both) // 2 :]


def join_clients(setting: Setting, contexts: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: the `CLIENT` rows of `RESULTS`, each bucket's together. `contexts`: broadcast, by run."""
    yield from batches(RESULTS, _of_clients(setting, contexts.value, rows_of(found)))


def _of_clients(setting: Setting, contexts: dict[bytes, Context], rows: Iterator[dict[str, Any]]) -> Iterator[Row]:
    for run, buckets in groupby(rows, lambda row: row["run"]):
        name, context = name_of(run), contexts[run]
        with Store() as store:
            for row in buckets:
                store.put((name, CLIENTS, row["end"]), row["data"])
            extent = Extent()
            traffic, doubts = context.traffic(setting), context.clocks.doubts
            ways, ends = context.ways(setting), context.ends
            for rejection in judge_clients(setting, name, context.said, traffic, store, doubts, extent, ends, ways):
                yield REJECTION, run, b"", b"", "", 0, 0, encode_rejection(rejection)
            yield EXTENT, run, b"", b"", "", 0, 0, encode_extent(extent)


# -- delays ------------------------------------------------------------------------------------------------------------

DELAYS = "run string, broker string, data binary"
"""Schema of a broker's delays; names are as the files have them."""


def measure(setting: Measured, results: DataFrame, brokers: Sequence[Sequence[PartResult]], tasks: int) -> None:
    """`results`: the `RESULTS` of all parts. `brokers`: what each one's came to, in their order."""
    runs = gathered(setting, brokers)
    write(setting, runs, _windows(runs, results, tasks) if tells_delays(setting) else {})


def _windows(runs: Mapping[str, Series], results: DataFrame, tasks: int) -> WindowsOf:
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
    return {(row["run"], row["broker"]): decode_windows(bytes(row["data"])) for row in joined.collect()}


def join_delays(found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: the `CLIENT` rows of `RESULTS`, each bucket's together, in; `DELAYS` out."""
    yield from batches(DELAYS, _joined(rows_of(found)))


def _joined(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for (run, _), mine in groupby(rows, lambda row: (row["run"], row["end"])):
        for broker, pairs in delays_of(block_of(row["data"]) for row in mine):
            yield plain(name_of(run)), plain(broker), pairs


def sum_up(moments: dict[str, Moments], found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: `DELAYS` with pairs, each broker's together, in; `DELAYS` with their sums out."""
    yield from batches(DELAYS, _summed(moments, rows_of(found)))


def _summed(moments: dict[str, Moments], rows: Iterator[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for (run, broker), mine in groupby(rows, lambda row: (row["run"], row["broker"])):
        if run in moments:
            yield run, broker, encode_windows(windows_of((row["data"] for row in mine), moments[run]))


# -- stages of a protocol ----------------------------------------------------------------------------------------------


@frozen
class Known:
    """Premises of one run's stages: those of obligations, and the blocks that all are shown."""

    context: Context
    shared: tuple[bytes, ...]

    def of_run(self, setting: Setting, run: str) -> RunContext:
        return RunContext(setting, run, self.context.said, self.context.traffic(setting), self.shared)


def run_stages(
    stages: Stages,
    setting: Setting,
    results: DataFrame,
    contexts: Mapping[bytes, Context],
    hindrances: Mapping[str, str | None],
    tasks: int,
    keep: Callable[[DataFrame], DataFrame],
) -> tuple[list[Rejection], list[tuple[str, str, bytes]]]:
    """Rejections, and the summaries by run and key. Runs that have a hindrance are left out."""
    emitted = results.where(f"kind = {EMITTED}")
    shared: dict[bytes, list[bytes]] = {}
    for run, data in emitted.where(f"end = '{SHARED}'").select("run", "data").collect():
        shared.setdefault(bytes(run), []).append(bytes(data))
    known = {
        run: Known(each, tuple(shared.get(run, ())))
        for run, each in contexts.items()
        if hindrances.get(name_of(run)) is None
    }
    told = results.sparkSession.sparkContext.broadcast(known)
    wrong, found, passed = list[Rejection](), list[tuple[str, str, bytes]](), None
    for number, stage in enumerate(stages.stages):
        mine = emitted.where(f"end like '{stage.name}/%'")
        if passed is not None:
            mine = mine.union(passed.where(f"kind = {PASSED} and end like '{stage.name}/%'"))
        frame = (
            mine.repartition(tasks, "run", "end")
            .sortWithinPartitions("run", "end", "kind")
            .mapInArrow(partial(reduce_keys, setting, number, told), RESULTS)
        )
        passed = keep(frame) if number + 1 < len(stages.stages) else frame
        ended = passed.where(f"kind <> {PASSED}").select("kind", "run", "end", "data").collect()
        for kind, run, end, data in ended:
            if kind == REJECTION:
                wrong.append(decode_rejection(bytes(data)))
            else:
                found.append((name_of(bytes(run)), end, bytes(data)))
    told.unpersist()
    return wrong, sorted(found)


def reduce_keys(setting: Setting, number: int, told: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: blocks, each key's together, in; `RESULTS` out. `told`: broadcast, by run."""
    yield from batches(RESULTS, _of_keys(setting, number, told.value, rows_of(found)))


def _of_keys(
    setting: Setting, number: int, told: Mapping[bytes, Known], rows: Iterable[dict[str, Any]]
) -> Iterator[Row]:
    stages = setting.judging.stages
    assert stages is not None, "asked before"
    stage = stages.stages[number]
    for run, keys in groupby(rows, lambda row: row["run"]):
        if run not in told:
            continue
        reduce: Reduce = stage.reducing(told[run].of_run(setting, name_of(run)))
        for key, mine in groupby(keys, lambda row: row["end"]):
            blocks: Iterator[Block] = ((row["kind"] == PASSED, row["data"]) for row in mine)
            for each in reduced(stage, reduce, blocks):
                if isinstance(each, Rejection):
                    yield REJECTION, run, b"", b"", "", 0, 0, encode_rejection(each)
                elif isinstance(each, PassedBlock):
                    yield PASSED, run, b"", b"", each.key, 0, 0, each.block
                else:
                    yield SUMMARY, run, b"", b"", key, 0, 0, each.block
