"""Rows between the stages of the job, and Arrow batches of them.

They are few and large: a block of lines, a block of a link's rows. Names are bytes, since JSON can write names that a
column of text cannot hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

Batch: TypeAlias = Any
"""A `pyarrow.RecordBatch`."""

AT_ONCE = 8
"""Rows in a batch: each holds up to some hundred kilobytes."""

BLOCKS = (
    "run binary, broker binary, place long, kind int, events long, "
    "starts boolean, bare boolean, lines binary, data binary"
)
"""Lines of one broker, from one place of the file. `lines` are their numbers; `starts`: a part may begin with the first
of them; `bare`: they have a delivery that does not say for which subscription it is. `AHEAD`: no lines, but the
subscriptions that clients make in them."""
LINES, BAD, AHEAD = range(3)

RESULTS = "kind int, run binary, near binary, far binary, end string, part long, first long, data binary"
"""What comes of a part. `near` is the broker of `FOUND`."""
FOUND, UNREADABLE, LINK, CLIENT, REJECTION, CONTROL, PUBLICATIONS, ON_THE_WAY = range(8)


def batches(names: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[Batch]:
    """Rows as batches of this schema."""
    import pyarrow as pa

    types = {
        "binary": pa.binary(),
        "long": pa.int64(),
        "int": pa.int32(),
        "boolean": pa.bool_(),
        "string": pa.string(),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in (column.split() for column in names.split(", "))])
    waiting: list[tuple[Any, ...]] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) >= AT_ONCE:
            yield _batch(pa, waiting, schema)
            waiting = []
    if waiting:
        yield _batch(pa, waiting, schema)


def _batch(pa: Any, rows: list[tuple[Any, ...]], schema: Any) -> Batch:
    return pa.RecordBatch.from_arrays(
        [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), schema.types, strict=True)],
        schema=schema,
    )


def rows_of(found: Iterable[Batch]) -> Iterator[dict[str, Any]]:
    """Every row of some batches."""
    for batch in found:
        yield from batch.to_pylist()
