"""A protocol's stages on Spark: each is a join by run and key, whose reductions run in the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from attrs import frozen

from routeproof.checker.validate.broker.findings import decode_rejection, encode_rejection
from routeproof.checker.validate.names import name_of
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark import columns
from routeproof.checker.validate.spark.columns import EMITTED, PASSED, REJECTION, RESULTS, SUMMARY, Batch, batches
from routeproof.checker.validate.spark.joins import Context
from routeproof.checker.validate.stages import SHARED, Block, Passed, Reduce, RunContext, Stages, reduced

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row = tuple[Any, ...]


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
    yield from batches(RESULTS, _of_keys(setting, number, told.value, columns.rows_of(found)))


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
                elif isinstance(each, Passed):
                    yield PASSED, run, b"", b"", each.key, 0, 0, each.block
                else:
                    yield SUMMARY, run, b"", b"", key, 0, 0, each.block
