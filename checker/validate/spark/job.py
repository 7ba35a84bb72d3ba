"""The whole of the job: read, replay, join, conclude."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve
from msgspec import msgpack

from routeproof.checker.spark.rows import AT_ONCE, table_of
from routeproof.checker.validate import spark as stage_rows
from routeproof.checker.validate.broker.judge import MOST, Announced
from routeproof.checker.validate.broker.publications import MOST as MOST_PUBLICATIONS
from routeproof.checker.validate.clients import OPERATIONS
from routeproof.checker.validate.clock import Doubts
from routeproof.checker.validate.conclusion import (
    FoundEvent,
    Wanted,
    doubts_about,
    first_of_broker,
    judge_clock,
    report,
)
from routeproof.checker.validate.findings import (
    BadLines,
    PartResult,
    Rejection,
    decode_bad,
    decode_found,
    decode_rejection,
)
from routeproof.checker.validate.judging import hindrances
from routeproof.checker.validate.metrics import Measured
from routeproof.checker.validate.readiness import kept_of_link
from routeproof.checker.validate.report import Extent, Report, decode_extent
from routeproof.checker.validate.scope import hindrance, why_times_do_not_tell
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark import TOLD, Foreseen, find_out, groups, joins, lines, parts
from routeproof.checker.validate.spark.joins import run_stages
from routeproof.checker.validate.store import key_of, name_of
from routeproof.checker.validate.traffic import Ends, begun_amid, ends_of, last_time, width_and_latest
from routeproof.traces.reader import is_parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


CONFIGURATION: Mapping[str, int | bool] = {
    "spark.sql.execution.arrow.maxBytesPerBatch": AT_ONCE,
    "spark.sql.adaptive.enabled": False,
}
"""Rows are few and large, and every shuffle says into how many tasks it goes: nothing is gained by a new plan after
each of them."""


def judge(spark: SparkSession, path: Path, setting: Setting, *, ranges: int = lines.RANGE) -> Report:
    """`ranges`: bytes of a plain file that are one task's, at most. The workers read `path` too."""
    for name, value in CONFIGURATION.items():
        spark.conf.set(name, value)
    return _Job(spark, path.absolute(), setting).run(ranges)


class _Job:
    def __init__(self, spark: SparkSession, path: Path, setting: Setting) -> None:
        self._spark = spark
        self._path = path
        self._setting = setting
        # One each for what there are cores: parts are dealt out evenly, and every task has to find out anew what each
        # publication means and who matches it.
        self._tasks = spark.sparkContext.defaultParallelism
        self._bad = BadLines()
        self._kept: list[DataFrame] = []
        self._blocks: DataFrame | None = None
        """Blocks of lines; None for Parquet."""
        self._lines_before: list[int] = []
        self._operations: dict[bytes, dict[bytes, list[tuple[int, int, bytes]]]] = {}
        """By run and broker: blocks that were squeezed, each with its part and place there."""
        self._contexts: dict[bytes, joins.Context] = {}

    def run(self, ranges: int) -> Report:
        try:
            results = self._of_groups() if is_parquet(self._path) else self._of_lines(ranges)
            return self._conclude(self._keep(results))
        finally:
            for frame in self._kept:
                frame.unpersist()

    # -- reading and replaying -----------------------------------------------------------------------------------------

    def _of_groups(self) -> DataFrame:
        numbers = range(groups.count(self._path))
        asked = self._frame([(n % self._tasks, n) for n in numbers], "task int, number int", by="task")
        summaries = self._keep(
            asked.mapInArrow(partial(groups.summarise, str(self._path), self._setting), groups.SUMMARIES)
        )
        known: dict[int, Any] = {}
        announced = _Announced()
        published: list[tuple[int, int]] = []
        small = f"case when kind = {stage_rows.PUBLISHED} then null else data end data"
        for number, kind, events, data in summaries.selectExpr("number", "kind", "events", small).collect():
            if kind == stage_rows.AHEAD:
                announced.add(data)
            elif kind == stage_rows.PUBLISHED:
                published.append((number, events))
            else:
                known[number] = data
        foreseen = self._foreseen(announced, summaries.selectExpr("kind", "number as place", "data"), published)
        stretches = [None if known[n] is None else groups.decode(bytes(known[n])) for n in numbers]
        units = groups.of_groups(stretches)
        sizes = [sum(s.events for g in unit.groups for s in stretches[g] or ()) for unit in units]
        tasks = groups.spread(sizes, min(self._tasks, len(units)))
        rows = [(task, parts.encode_unit(unit)) for task, unit in zip(tasks, units, strict=True)]
        return self._frame(rows, parts.UNITS, by="task").mapInArrow(
            partial(parts.judge_groups, str(self._path), self._setting, foreseen), stage_rows.RESULTS
        )

    def _of_lines(self, size: int) -> DataFrame:
        rows = [(r.number, r.begin, r.end) for r in lines.ranges(self._path, size, self._tasks)]
        read = self._frame(rows, "number int, begin long, end long").mapInArrow(
            partial(lines.read_ranges, str(self._path), self._setting), stage_rows.BLOCKS
        )
        blocks = self._blocks = self._keep(read)
        found, foreseen = self._looked_at(blocks)
        assigned = groups.of_blocks(found, self._tasks)
        schema = "place long, part long, role int, task int"
        where = self._spark.createDataFrame(table_of(schema, [(a.place, a.part, a.role, a.task) for a in assigned]))
        return (
            blocks.select("place", "run", "broker", "lines", "data")
            .join(where.hint("broadcast"), "place")
            .repartitionById(self._tasks, "task")
            .sortWithinPartitions("part", "place")
            .mapInArrow(partial(parts.judge_blocks, self._setting, foreseen), stage_rows.RESULTS)
        )

    def _looked_at(self, blocks: DataFrame) -> tuple[list[groups.Block], Any]:
        """Returns the place of each broker's lines and, broadcast, the foreseen matches. Unreadable lines are
        separated; the number of lines of each range gives lines their numbers.
        """
        small = f"case when kind in ({stage_rows.LINES}, {stage_rows.PUBLISHED}) then null else data end data"
        told = blocks.selectExpr("kind", "run", "broker", "place", "events", "starts", "bare", small)
        found: list[groups.Block] = []
        announced = _Announced()
        published: list[tuple[int, int]] = []
        counts: dict[int, int] = {}
        bad = BadLines()
        for kind, run, broker, place, events, starts, bare, data in told.collect():
            if kind == stage_rows.LINES:
                found.append(groups.Block(bytes(run), bytes(broker), place, events, starts, bare))
            elif kind == stage_rows.AHEAD:
                announced.add(data)
            elif kind == stage_rows.PUBLISHED:
                published.append((place, events))
            else:
                counts[place >> 32] = events
                bad.merge(decode_bad(bytes(data)))
        self._lines_before = list(accumulate((counts[n] for n in sorted(counts)), initial=1))
        self._bad = bad.renumbered(self._line)
        return found, self._foreseen(announced, blocks.select("kind", "place", "data"), published)

    def _foreseen(self, announced: _Announced, said: DataFrame, published: list[tuple[int, int]]) -> Any:
        """The broadcast values. `published`: the place and number of publications in `said`."""
        known = Foreseen(announced.first())
        enough = [place for place, before in _with_before(published) if before < MOST_PUBLICATIONS]
        if enough:
            told = self._spark.sparkContext.broadcast(known.announced)
            found = (
                said.where(f"kind = {stage_rows.PUBLISHED} and place <= {max(enough)}")
                .select("data")
                .repartition(self._tasks)
                .mapInArrow(partial(find_out, self._setting, told), TOLD)
            )
            known = evolve(known, told=[bytes(row["data"]) for row in found.collect()])
            told.unpersist()
        return self._spark.sparkContext.broadcast(known)

    def _line(self, number: int) -> int:
        if not self._lines_before:  # of Parquet: it is what it should be
            return number
        return lines.line_number(number, self._lines_before.__getitem__)

    # -- joining -------------------------------------------------------------------------------------------------------

    def _conclude(self, results: DataFrame) -> Report:
        wanted = f"kind in ({stage_rows.FOUND}, {stage_rows.UNREADABLE}) or end = '{OPERATIONS}'"
        found: dict[tuple[str, str], dict[int, PartResult]] = {}
        told = results.where(wanted).select("kind", "run", "near", "part", "first", "data")
        for kind, run, near, part, first, data in told.collect():
            if kind == stage_rows.UNREADABLE:
                self._bad.merge(decode_bad(bytes(data)))
            elif kind == stage_rows.CLIENT:
                mine = self._operations.setdefault(bytes(run), {}).setdefault(bytes(near), [])
                mine.append((part, first, stage_rows.squeezed(bytes(data))))
            else:
                each = self._placed(decode_found(bytes(data)))
                found.setdefault((each.run, each.broker), {})[part] = each
        self._before = {key: dict(_before(mine)) for key, mine in found.items()}
        brokers = [[mine[part] for part in sorted(mine)] for _, mine in sorted(found.items())]
        rejections = [r for mine in brokers if (r := first_of_broker(mine)) is not None]
        every = [each for mine in brokers for each in mine]
        extent = Extent()
        rejections += self._between_brokers(results, brokers, extent)
        if isinstance(self._setting, Measured):
            joins.measure(self._setting, results, brokers, self._tasks)
        for each in every:
            self._bad.merge(each.bad)
        stages = self._setting.judging.stages
        if stages is None:
            return report(self._setting, every, rejections, self._bad, self._look, extent)
        why = hindrances(stages, self._setting, every, rejections)
        more, found_by_stages = run_stages(stages, self._setting, results, self._contexts, why, self._tasks, self._keep)
        rejections += map(self._counted, more)
        made = report(self._setting, every, rejections, self._bad, self._look, extent)
        return stages.conclude(
            self._setting, made, found_by_stages, {each for each in why.values() if each is not None}
        )

    def _look(self, wanted: Wanted) -> Iterator[FoundEvent]:
        """A second look, by all workers."""
        told = self._spark.sparkContext.broadcast(frozenset(wanted))
        if self._blocks is None:
            asked = self._frame([(n,) for n in range(groups.count(self._path))], "number int")
            found = asked.mapInArrow(partial(parts.in_groups, str(self._path), self._setting, told), parts.MET)
        else:
            blocks = self._blocks.where(f"kind = {stage_rows.LINES}").select("run", "broker", "lines", "data")
            found = blocks.mapInArrow(partial(parts.in_blocks, self._setting, told), parts.MET)
        for row in found.collect():
            each = parts.decode_met(bytes(row["data"]))
            yield each._replace(line=self._line(each.line))
        told.unpersist()

    def _placed(self, found: PartResult) -> PartResult:
        """With the numbers that lines have in the file."""
        return evolve(
            found,
            rejection=self._numbered(found.rejection),
            unfinished=self._numbered(found.unfinished),
            bad=found.bad.renumbered(self._line),
        )

    def _numbered(self, found: Rejection | None) -> Rejection | None:
        return None if found is None else evolve(found, line=self._line(found.line), at=self._line(found.at))

    def _between_brokers(
        self, results: DataFrame, brokers: Sequence[Sequence[PartResult]], extent: Extent
    ) -> list[Rejection]:
        """`brokers`: the parts of each, in order."""
        runs: dict[bytes, list[PartResult]] = {}
        doubts: dict[bytes, dict[str, Doubts]] = {}
        rejections: list[Rejection] = []
        for mine in brokers:
            run, broker = key_of(mine[0].run), mine[0].broker
            runs.setdefault(run, []).extend(mine)
            known = doubts.setdefault(run, {})[broker] = doubts_about(mine)
            if (wrong := judge_clock(mine[0].run, broker, known, extent)) is not None:
                rejections.append(self._counted(wrong))
        clocks = {run: self._clocks(those, doubts[run]) for run, those in runs.items()}
        spans: dict[tuple[bytes, int], list[bytes]] = {}
        are_wrong: set[bytes] = set()
        passages: dict[bytes, list[tuple[str, str, bytes]]] = {}
        of_links = {run: Extent() for run in runs}
        for row in self._links(results, clocks):
            if row["kind"] == stage_rows.REJECTION:
                rejections.append(self._counted(decode_rejection(bytes(row["data"]))))
            elif row["kind"] == stage_rows.EXTENT:
                of_links[bytes(row["run"])].add(decode_extent(bytes(row["data"])))
            elif row["kind"] == stage_rows.WRONG:
                are_wrong.add(bytes(row["run"]))
            elif row["kind"] == stage_rows.PASSAGES:
                link = name_of(bytes(row["near"])), name_of(bytes(row["far"]))
                passages.setdefault(bytes(row["run"]), []).append((*link, bytes(row["data"])))
            else:
                spans.setdefault((bytes(row["run"]), row["kind"]), []).append(bytes(row["data"]))
        ends: dict[bytes, Ends] = {}
        for run, those in runs.items():
            clock = clocks[run]
            ends[run], over = ends_of(self._setting, those, of_links[run], clock.last, are_sure=not clock.doubts)
            rejections += over
            extent.add(of_links[run])
        self._contexts = {
            run: joins.Context(
                operations=tuple(
                    tuple(block for _, _, block in sorted(mine))
                    for _, mine in sorted(self._operations.get(run, {}).items())
                ),
                owes=why_times_do_not_tell(self._setting, those) is None,
                hindrance=hindrance(links_are_wrong=run in are_wrong),
                ends=ends[run],
                clocks=clocks[run],
                control=tuple(spans.get((run, stage_rows.CONTROL), ())),
                publications=tuple(spans.get((run, stage_rows.PUBLICATIONS), ())),
                on_the_way=tuple(spans.get((run, stage_rows.ON_THE_WAY), ())),
                sure_control=tuple(spans.get((run, stage_rows.SURE_CONTROL), ())),
                kept=tuple(each.kept for each in those if each.kept.spans),
                passages=tuple(passages.get(run, ())),
                sure_publications=tuple(spans.get((run, stage_rows.SURE_PUBLICATIONS), ())),
            )
            for run, those in runs.items()
        }
        if not {"client", "deliver"} <= self._setting.observes:
            return rejections
        return rejections + self._clients(results, extent)

    def _clocks(self, found: Sequence[PartResult], doubts: dict[str, Doubts]) -> joins.Clocks:
        """Knowledge of a run's clock."""
        width, latest = width_and_latest(found, doubts.values())
        doubtful = {broker: each for broker, each in doubts.items() if each}
        last = {broker: last_time(self._setting, each) for broker, each in doubts.items()}
        return joins.Clocks(width, latest, doubtful, last, begun_amid(found), kept_of_link(self._setting))

    def _links(self, results: DataFrame, clocks: dict[bytes, joins.Clocks]) -> list[Any]:
        joined = (
            results.where(f"kind = {stage_rows.LINK}")
            .select("run", "near", "far", "end", "part", "first", "data")
            .repartition(self._tasks, "run", "near", "far")
            .sortWithinPartitions("run", "near", "far", "end", "part", "first")
            .mapInArrow(partial(joins.join_links, self._setting, clocks), stage_rows.RESULTS)
        )
        return joined.select("kind", "run", "near", "far", "data").collect()

    def _clients(self, results: DataFrame, extent: Extent) -> list[Rejection]:
        told = self._spark.sparkContext.broadcast(self._contexts)
        joined = (
            results.where(f"kind = {stage_rows.CLIENT} and end <> '{OPERATIONS}'")
            .select("run", "end", "data")
            .repartition(self._tasks, "run", "end")
            .sortWithinPartitions("run", "end")
            .mapInArrow(partial(joins.join_clients, self._setting, told), stage_rows.RESULTS)
        )
        found: list[Rejection] = []
        for kind, data in joined.select("kind", "data").collect():
            if kind == stage_rows.EXTENT:
                extent.add(decode_extent(bytes(data)))
            else:
                found.append(self._counted(decode_rejection(bytes(data))))
        told.unpersist()
        return found

    def _counted(self, rejection: Rejection) -> Rejection:
        """Rejection whose count is that of its broker instead of its part."""
        part, within = rejection.accepted >> parts.PART_BITS, rejection.accepted & ((1 << parts.PART_BITS) - 1)
        return evolve(rejection, accepted=self._before[rejection.run, rejection.broker][part] + within)

    # -- frames --------------------------------------------------------------------------------------------------------

    def _frame(self, rows: list[tuple[Any, ...]], schema: str, by: str | None = None) -> DataFrame:
        """A task for each row, or for those that have the same number in a column."""
        frame = self._spark.createDataFrame(table_of(schema, rows))
        if not rows:
            return frame
        count = len(rows) if by is None else 1 + max(row[0] for row in rows)
        return frame.repartitionById(count, by or _numbered(schema))

    def _keep(self, frame: DataFrame) -> DataFrame:
        """It is used more than once."""
        from pyspark import StorageLevel

        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self._kept.append(kept)
        return kept


class _Announced:
    """Subscriptions that clients make, each once, and no more than there is room for."""

    def __init__(self) -> None:
        self._known: dict[Announced, None] = {}

    def add(self, data: bytes) -> None:
        room = max(0, MOST - len(self._known))
        self._known |= {(id, bytes(text)): None for id, text in islice(msgpack.decode(data), room)}

    def first(self) -> list[Announced]:
        return list(self._known)


def _with_before(counted: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Places in order, and how many were counted before each."""
    before = 0
    for place, count in sorted(counted):
        yield place, before
        before += count


def _numbered(schema: str) -> str:
    """The first column, in which rows are numbered."""
    return schema.split(maxsplit=1)[0]


def _before(parts: dict[int, PartResult]) -> Iterable[tuple[int, int]]:
    """By part, how many events its broker had before it."""
    count = 0
    for number in sorted(parts):
        yield number, count
        count += parts[number].events
