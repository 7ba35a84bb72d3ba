"""Similarity on Spark: publications with all their copies and rows, then rows with the decisions that they led to.

Two joins, each by bucket as obligations are. What a bucket of publications comes to goes to the buckets of
subscriptions, where it meets what brokers did with their withdrawals; what comes of these is summed up by the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import msgspec
from attrs import astuple, frozen

from routeproof.checker.validate.conclude import foremost
from routeproof.checker.validate.packing import name_of, packed
from routeproof.checker.validate.part import Found
from routeproof.checker.validate.pruning import noted
from routeproof.checker.validate.pruning.reported import Judged, table_of, why_not_judged
from routeproof.checker.validate.pruning.shares import Share, Shares, Tally
from routeproof.checker.validate.pruning.standing import Standing
from routeproof.checker.validate.pruning.ways import Ways, rows_of
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark import columns
from routeproof.checker.validate.spark.columns import REJECTION, RESULTS, Batch, batches
from routeproof.checker.validate.spark.joins import Context
from routeproof.checker.validate.wire import decode_rejection, encode_rejection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NOTED, ROWS, TALLY, SHARES = range(8, 12)
"""Kinds of `RESULTS`, behind those of `columns`. `NOTED`: a block of a notebook, and `end` where it belongs; `ROWS`:
what publications came to, under the `end` of their subscriptions."""

Row = tuple[Any, ...]


@frozen
class Known:
    """Of one run: what obligations rest on too, and when brokers held withdrawals."""

    context: Context
    holds: tuple[bytes, ...]

    def standing(self, run: str, setting: Setting) -> Standing:
        operations = chain.from_iterable(self.context.said())
        return Standing(setting, operations, map(noted.of_signals, self.holds), self.context.traffic())


def similarity(
    setting: Setting,
    results: DataFrame,
    contexts: dict[bytes, Context],
    found: list[Found],
    rejections: list[Rejection],
    tasks: int,
    keep: Callable[[DataFrame], DataFrame],
) -> tuple[list[Rejection], Judged]:
    """What is wrong, and what was judged; the file is written where metrics are asked for."""
    left_out = {run: why_not_judged(setting, name_of(run), found, rejections) for run in contexts}
    holds: dict[bytes, list[bytes]] = {}
    noted_rows = results.where(f"kind = {NOTED}")
    for run, data in noted_rows.where(f"end = '{noted.HOLDS}'").select("run", "data").collect():
        holds.setdefault(bytes(run), []).append(bytes(data))
    known = {run: Known(each, tuple(holds.get(run, ()))) for run, each in contexts.items() if left_out[run] is None}
    told = results.sparkSession.sparkContext.broadcast(known)
    ways = keep(
        _together(noted_rows.where(f"end like '{noted.PUBLICATIONS}%'"), tasks).mapInArrow(
            partial(join_ways, setting, told), RESULTS
        )
    )
    decided = noted_rows.where(f"end like '{noted.SUBSCRIPTIONS}%'")
    shares = _together(ways.where(f"kind = {ROWS}").union(decided), tasks).mapInArrow(
        partial(join_shares, setting, told), RESULTS
    )
    wrong, tally, blocks = list[Rejection](), Tally(), list[tuple[bytes, str, bytes]]()
    for frame in (ways.where(f"kind = {REJECTION}"), shares):
        for kind, run, end, data in frame.select("kind", "run", "end", "data").collect():
            if kind == REJECTION:
                wrong.append(decode_rejection(bytes(data)))
            elif kind == TALLY:
                tally.add(Tally(*msgspec.msgpack.decode(bytes(data))))
            else:
                blocks.append((bytes(run), end, bytes(data)))
    told.unpersist()
    _write(setting, blocks)
    return wrong, Judged.of(tally, {why for why in left_out.values() if why is not None})


def _together(frame: DataFrame, tasks: int) -> DataFrame:
    """Each bucket's."""
    return frame.repartition(tasks, "run", "end").sortWithinPartitions("run", "end")


def _write(setting: Setting, blocks: Iterable[tuple[bytes, str, bytes]]) -> None:
    with ExitStack() as stack:
        table = table_of(setting)
        if table is not None:
            stack.enter_context(table)
            for _, _, data in sorted(blocks):
                table.write(msgspec.msgpack.decode(data, type=list[Share]))


# -- in the workers ----------------------------------------------------------------------------------------------------


def join_ways(setting: Setting, told: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: notebooks' blocks, each bucket of publications together. `told`: broadcast, by run."""
    yield from batches(RESULTS, _of_ways(setting, told.value, columns.rows_of(found)))


def _of_ways(setting: Setting, told: dict[bytes, Known], rows: Iterator[dict[str, Any]]) -> Iterator[Row]:
    for run, buckets in groupby(rows, lambda row: row["run"]):
        if run not in told:
            continue
        ways = Ways(name_of(run), told[run].standing(name_of(run), setting))
        for _, mine in groupby(buckets, lambda row: row["end"]):
            wrong: list[Rejection] = []
            for each in ways.judge(noted.of_publications(row["data"]) for row in mine):
                if isinstance(each, Rejection):
                    wrong.append(each)
                else:
                    yield ROWS, run, b"", b"", f"{noted.SUBSCRIPTIONS}{each[0]:02}", 0, 0, each[1]
            yield from _rejections(run, wrong)


def join_shares(setting: Setting, told: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: `ROWS`, and notebooks' blocks of decisions, each bucket of subscriptions together."""
    yield from batches(RESULTS, _of_shares(setting, told.value, columns.rows_of(found)))


def _of_shares(setting: Setting, told: dict[bytes, Known], rows: Iterator[dict[str, Any]]) -> Iterator[Row]:
    for run, buckets in groupby(rows, lambda row: row["run"]):
        if run not in told:
            continue
        shares = Shares(name_of(run), told[run].standing(name_of(run), setting))
        for end, mine in groupby(buckets, lambda row: row["end"]):
            decided: list[noted.OfSubscriptions] = []
            wrong: list[Rejection] = []
            those: list[Share] = []
            for each in shares.judge(_apart(mine, decided), decided):
                if isinstance(each, Rejection):
                    wrong.append(each)
                elif isinstance(each, Tally):
                    yield TALLY, run, b"", b"", "", 0, 0, packed(astuple(each))
                else:
                    those.append(each)
            yield from _rejections(run, wrong)
            if those:
                yield SHARES, run, b"", b"", end, 0, 0, packed(those)


def _apart(mine: Iterable[dict[str, Any]], decided: list[noted.OfSubscriptions]) -> Iterator[Any]:
    """Rows, one after the other; decisions are put aside until all rows have been seen."""
    for row in mine:
        if row["kind"] == ROWS:
            yield from rows_of(row["data"])
        else:
            decided.append(noted.of_subscriptions(row["data"]))


def _rejections(run: bytes, wrong: list[Rejection]) -> Iterator[Row]:
    for each in foremost(wrong):
        yield REJECTION, run, b"", b"", "", 0, 0, encode_rejection(each)
