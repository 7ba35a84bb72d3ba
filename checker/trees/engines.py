"""The steps of the computation of trees on one core, and on Spark.

On Spark, documents are read, matched and kept as blocks in one job. Candidate trees, evaluation and the Steiner trees
of OPT are a job each; merges are none. The sampling study and OPT run in parallel with the rest: no core waits for the
driver. A task's result depends on its input alone, so a task that is run again, since a worker died, gives the same.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, islice
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from routeproof.checker.spark.rows import Batch, batches, rows_of, spare_modules
from routeproof.checker.system.errors import UsageError
from routeproof.checker.trees.blocks import DocumentBlock, DocumentReport, TreesFrame, encode, joined
from routeproof.checker.trees.planning import (
    BLOCK_DOCUMENTS,
    Evaluated,
    Everything,
    TreesAnswer,
    TreesWish,
    answer,
    costs_of,
)
from routeproof.checker.trees.tables import (
    AT_ONCE,
    DocumentRow,
    RowError,
    TableRow,
    TableSource,
    document_of,
    json_row,
    local_rows,
)
from routeproof.impl.trees.baselines import TerminalSet, opt, terminal_sets
from routeproof.impl.trees.network import BrokerGraph
from routeproof.impl.trees.steiner import SteinerTrees
from routeproof.impl.trees.strategy import RoutingCosts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Result = TypeVar("Result")


def trees_of(sources: Sequence[str], wish: TreesWish, engine: str = "local", master: str | None = None) -> TreesAnswer:
    """Computes strategies from the tables of links, documents and subscriptions, which are given by name."""
    on_spark = engine == "spark"
    tables = [
        TableSource.of(role, name, spark=on_spark)
        for role, name in zip(("network", "documents", "subscriptions"), sources, strict=True)
    ]
    if not on_spark:
        return answer(tables, wish, OnOneCore())
    from routeproof.checker.spark.session import session

    is_catalog = any(table.format == "table" for table in tables)
    with session(master) as spark, OnSpark(spark, by_case=not is_catalog) as steps:
        return answer(tables, wish, steps)


# -- one core ----------------------------------------------------------------------------------------------------------


class OnOneCore:
    """The steps on one core, for inputs that fit into memory."""

    def __init__(self) -> None:
        self.blocks: list[DocumentBlock] = []

    def rows(self, source: TableSource) -> Iterator[TableRow]:
        return local_rows(source)

    def later(self, work: Callable[[], Result]) -> Callable[[], Result]:
        return work

    def read(self, source: TableSource, frame: TreesFrame, wish: TreesWish) -> Iterator[DocumentReport]:
        for block, report in _encoded(self.rows(source), frame, wish):
            if block is not None:
                self.blocks.append(block)
            yield report

    def each(self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any]) -> list[Any]:
        return [function(shared, task) for task in tasks]

    def evaluated(self, everything: Everything) -> list[RoutingCosts]:
        return costs_of(everything, self.blocks)

    def opt(self, frame: TreesFrame, wish: TreesWish) -> RoutingCosts:
        trees = SteinerTrees(frame.network, wish.steiner)
        totals = RoutingCosts.none(len(frame.network.low), 1)
        for block in self.blocks:
            totals.add(opt(frame.network, trees, _terminal_sets(frame, block)))
        return totals


def _encoded(
    rows: Iterable[TableRow], frame: TreesFrame, wish: TreesWish
) -> Iterator[tuple[DocumentBlock | None, DocumentReport]]:
    """Blocks of the documents of rows, with a report on each, and a last report on the rows that make no sense."""
    faulty = DocumentReport()
    documents = _documents(rows, faulty)
    seen: set[str] = set()
    while some := list(islice(documents, 10 * AT_ONCE)):
        yield encode(frame, wish.seed, wish.most_sampled, some, seen)
    yield None, faulty


def _documents(rows: Iterable[TableRow], report: DocumentReport) -> Iterator[DocumentRow]:
    """The documents of rows that make sense; the others are noted."""
    for row in rows:
        try:
            yield document_of(row)
        except RowError as error:
            report.faults.add(row, str(error))


def _terminal_sets(frame: TreesFrame, block: DocumentBlock) -> Iterator[TerminalSet]:
    return terminal_sets(frame.subscriptions, block.documents, block.matched, len(frame.network))


# -- Spark -------------------------------------------------------------------------------------------------------------

LINES = "id binary, value string"
"""Lines of JSON with the ids of their documents."""

BLOCKS = "kind int, data binary"
BLOCK, REPORT = range(2)

SETS = "size long, documents long, hosts long, terminals binary"
COSTS = "data binary"

TASKS_OF_A_CORE = 3
"""Tasks that documents are dealt out to, by core."""

SETS_OF_A_CORE = 8
"""Tasks of OPT, by core; they fill the time in which there is nothing else to do, and so are short."""


class OnSpark:
    """The steps as jobs, in a session that ends with them. `by_case`: are `id` and `ID` two columns, as without Spark?
    A catalog's names mean the same in any case."""

    def __init__(self, spark: SparkSession, *, by_case: bool = True) -> None:
        self._spark = spark
        self._cores = spark.sparkContext.defaultParallelism
        self._threads = ThreadPoolExecutor()
        self._begun = count()
        self._lock = Lock()
        self._shared: dict[int, tuple[Any, Any]] = {}
        self.documents = 0
        # With tracebacks as they are, one kind of worker serves tables and all else, and is started once.
        spark.conf.set("spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled", False)
        spark.conf.set("spark.sql.caseSensitive", by_case)
        cores = range(self._cores)
        self.later(lambda: spark.sparkContext.parallelize(cores, len(cores)).foreach(_start))

    def __enter__(self) -> OnSpark:
        return self

    def __exit__(self, *_: object) -> None:
        """Waits for nothing: threads that still run after an error end with the session."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def later(self, work: Callable[[], Result]) -> Callable[[], Result]:
        def begin(number: int) -> Result:
            # Pools of a fair scheduler: that of this thread is called `default`, and comes first by its name.
            self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", f"later {number}")
            return work()

        return self._threads.submit(begin, next(self._begun)).result

    def rows(self, source: TableSource) -> Iterator[TableRow]:
        frame = self._table(source)
        if source.format == "jsonl":
            lines = frame.toArrow().column("value").to_pylist()
            return (json_row(line) for line in lines if line.strip())
        found: list[TableRow] = frame.toArrow().to_pylist()
        return iter(found)

    def _table(self, source: TableSource) -> Any:
        """The table with the columns that are read, or the lines of JSON."""
        from routeproof.checker.spark.failure import SPARK_ERRORS, in_one_line

        read = self._spark.read
        try:
            if source.format == "jsonl":
                return read.text(source.name)
            if source.format == "table":
                frame = read.table(source.name)
            elif source.format == "csv":
                frame = read.csv(source.name, header=True, quote='"', escape='"')
            else:
                frame = read.format(source.format).load(source.name)
            names = frame.columns
        except SPARK_ERRORS as error:
            raise UsageError(f"{source.shown}: Spark cannot read it: {in_one_line(str(error))}") from None
        source.refuse_columns(names)
        return frame.select([f"`{name}`" for name in source.columns if name in names])

    def read(self, source: TableSource, frame: TreesFrame, wish: TreesWish) -> Iterator[DocumentReport]:
        from pyspark import StorageLevel
        from pyspark.sql.functions import expr

        rows = self._table(source)
        if source.format == "jsonl":
            rows = rows.mapInArrow(_with_ids, LINES)
        tasks = max(TASKS_OF_A_CORE * self._cores, rows.rdd.getNumPartitions())
        self._blocks = (
            rows.repartition(tasks, expr("CAST(id AS string)"))
            .mapInArrow(partial(_encode_rows, self._broadcast((frame, wish)), source.format == "jsonl"), BLOCKS)
            .persist(StorageLevel.DISK_ONLY)
        )
        for row in self._blocks.where(f"kind = {REPORT}").select("data").collect():
            report: DocumentReport = pickle.loads(row["data"])
            self.documents += report.documents
            yield report
        if self.documents <= BLOCK_DOCUMENTS:
            self._whole = self.later(partial(self._one_block, frame))

    def _one_block(self, frame: TreesFrame) -> tuple[TreesFrame, DocumentBlock]:
        rows = self._blocks.where(f"kind = {BLOCK}").select("data").collect()
        (block,) = joined((pickle.loads(row["data"]) for row in rows), BLOCK_DOCUMENTS + 1)
        self._sent(found := (frame, block))
        return found

    def each(self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any]) -> list[Any]:
        if not tasks:
            return []
        context = self._spark.sparkContext
        called = partial(_call, function, self._sent(shared))
        found: list[Any] = context.parallelize(tasks, len(tasks)).map(called).collect()
        return found

    def _sent(self, shared: Any) -> Any:
        """The broadcast of something that several jobs share, made once."""
        with self._lock:
            if id(shared) not in self._shared:
                self._shared[id(shared)] = shared, self._broadcast(shared)
            return self._shared[id(shared)][1]

    def evaluated(self, everything: Everything) -> list[RoutingCosts]:
        """A task for each strategy if documents are few: preparing a strategy's trees takes longer than evaluation."""
        frame, items = everything
        if self.documents <= BLOCK_DOCUMENTS:
            largest_first = sorted(range(len(items)), key=lambda at: (-len(items[at].strategy), at))
            found = self.each(_evaluate_one, self._whole(), [items[at] for at in largest_first])
            return [costs for _, costs in sorted(zip(largest_first, found, strict=True), key=lambda each: each[0])]
        totals = [RoutingCosts.none(len(frame.network.low), len(each.strategy)) for each in items]
        shared = self._broadcast(everything)
        for row in self._of_blocks(_evaluate, shared, COSTS, self._cores).collect():
            for total, part in zip(totals, pickle.loads(row["data"]), strict=True):
                total.add(part)
        return totals

    def opt(self, frame: TreesFrame, wish: TreesWish) -> RoutingCosts:
        from pyspark.sql.functions import expr

        sets = (
            self._of_blocks(_sets, self._broadcast(frame), SETS)
            .repartition(SETS_OF_A_CORE * self._cores, "terminals")
            .groupBy("terminals")
            .agg(*(expr(f"sum({name}) AS {name}") for name in ("size", "documents", "hosts")))
        )
        costs = sets.mapInArrow(partial(_opt, self._broadcast(frame.network), wish.steiner), COSTS)
        totals = RoutingCosts.none(len(frame.network.low), 1)
        for row in costs.collect():
            totals.add(pickle.loads(row["data"]))
        return totals

    def _of_blocks(
        self, function: Callable[..., Iterator[Batch]], shared: Any, schema: str, tasks: int | None = None
    ) -> Any:
        blocks = self._blocks.where(f"kind = {BLOCK}").select("data")
        return (blocks if tasks is None else blocks.coalesce(tasks)).mapInArrow(partial(function, shared), schema)

    def _broadcast(self, value: Any) -> Any:
        return self._spark.sparkContext.broadcast(value)


def _start(_: int) -> None:
    """In a worker: imports what tasks need, while Spark looks for the tables."""


def _call(function: Callable[[Any, Any], Any], shared: Any, task: Any) -> Any:
    spare_modules()
    return function(shared.value, task)


def _with_ids(found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: lines of JSON in, the same with their ids out."""
    lines = (row["value"] for row in rows_of(found))
    ids = ((str(json_row(line).get("id")), line) for line in lines if line.strip())
    yield from batches(LINES, ((id.encode("utf-8", "surrogatepass"), line) for id, line in ids))


def _encode_rows(shared: Any, are_lines: bool, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: rows of a table in, blocks and reports out. All rows of one id are in one partition."""
    rows = (json_row(row["value"]) if are_lines else row for row in rows_of(found))
    for block, report in _encoded(rows, *shared.value):
        if block is not None:
            yield from batches(BLOCKS, [(BLOCK, pickle.dumps(block))])
        yield from batches(BLOCKS, [(REPORT, pickle.dumps(report))])


def _blocks(found: Iterator[Batch]) -> Iterator[DocumentBlock]:
    for row in rows_of(found):
        yield pickle.loads(row["data"])


def _evaluate(shared: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: blocks in, the costs of each strategy out."""
    yield from batches(COSTS, [(pickle.dumps(costs_of(shared.value, _blocks(found))),)])


def _evaluate_one(shared: tuple[TreesFrame, DocumentBlock], item: Evaluated) -> RoutingCosts:
    frame, block = shared
    return item.costs(frame, block)


def _sets(shared: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: blocks in, sets of terminals out."""
    frame: TreesFrame = shared.value
    yield from batches(SETS, (_row(each) for block in _blocks(found) for each in _terminal_sets(frame, block)))


def _row(each: TerminalSet) -> tuple[int, int, int, bytes]:
    return each.size, each.documents, each.hosts, each.terminals


def _opt(shared: Any, steiner: str, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: distinct sets of terminals in, the costs of their Steiner trees out."""
    network: BrokerGraph = shared.value
    sets = (TerminalSet(r["terminals"], r["size"], r["documents"], r["hosts"]) for r in rows_of(found))
    yield from batches(COSTS, [(pickle.dumps(opt(network, SteinerTrees(network, steiner, most=0), sets)),)])
