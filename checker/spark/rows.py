"""Rows on their way between the tasks of a job on Spark, and Arrow batches of them. They are few and large."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias

Batch: TypeAlias = Any
"""A `pyarrow.RecordBatch`."""

Table: TypeAlias = Any
"""A `pyarrow.Table`."""

AT_ONCE = 1 << 20
"""Bytes in a batch, about. Some rows hold hundreds of kilobytes, others hardly any."""

BARE = 100
"""Bytes of a row without its data."""


def table_of(names: str, rows: Sequence[tuple[Any, ...]]) -> Table:
    """A few rows, as Spark takes them without asking Python again."""
    import pyarrow as pa

    schema = _schema(pa, names)
    return pa.Table.from_batches([_batch(pa, rows, schema)] if rows else [], schema)


def batches(names: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[Batch]:
    """Rows as batches of this schema, the last column of which holds the most."""
    import pyarrow as pa

    spare_modules()
    schema = _schema(pa, names)
    waiting: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += BARE + len(row[-1] or b"")
        if size >= AT_ONCE:
            yield _batch(pa, waiting, schema)
            waiting, size = [], 0
    if waiting:
        yield _batch(pa, waiting, schema)


@cache
def spare_modules() -> None:
    """Keeps the collector of cycles away from what a worker has imported, once a process: PySpark calls it after each
    task, which takes 30 ms otherwise."""
    gc.collect()
    gc.freeze()


def _schema(pa: Any, names: str) -> Any:
    types = {
        "binary": pa.binary(),
        "long": pa.int64(),
        "int": pa.int32(),
        "boolean": pa.bool_(),
        "string": pa.string(),
    }
    return pa.schema([(name, types[kind]) for name, kind in (column.split() for column in names.split(", "))])


def _batch(pa: Any, rows: Sequence[tuple[Any, ...]], schema: Any) -> Batch:
    return pa.RecordBatch.from_arrays(
        [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), schema.types, strict=True)],
        schema=schema,
    )


def rows_of(found: Iterable[Batch]) -> Iterator[dict[str, Any]]:
    """Every row of some batches."""
    for batch in found:
        names = batch.schema.names
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield dict(zip(names, row, strict=True))
