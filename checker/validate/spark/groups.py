"""Reading Parquet in the workers: which brokers a row group holds, and its events.

A row group is read where it is judged; before that, a few of its columns say whose events it has. Files that we write
keep each broker together (`routeproof.traces.parquet_writer`); others may have it anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import msgspec
from msgspec import Struct

from routeproof.checker.validate.part import Judge
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark.columns import Batch, batches, rows_of
from routeproof.checker.validate.spark.shared import opened
from routeproof.traces import BadLine, Event
from routeproof.traces.parquet_reader import FAULTS, read

SUMMARIES = "number long, data binary"
COLUMNS = ("run", "broker", "event", "to")
"""Those that say whose an event is, and whether a part may begin with it."""


class Stretch(Struct, frozen=True, array_like=True):
    """A broker's events in one row group. `starts`: the first of all in the group, and a part may begin with it."""

    run: str
    broker: str
    events: int
    starts: bool
    bare: bool


def count(path: Path) -> int:
    """Row groups."""
    import pyarrow.parquet as pq

    return int(pq.ParquetFile(path).metadata.num_row_groups)


def events(path: Path, group: int) -> Iterator[Event | BadLine]:
    with opened(path) as file:
        _, found = read(file, groups=[group])
        for lines in found:
            yield from lines


def summarise(path: str, setting: Setting, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: rows of a group's `number` in, `SUMMARIES` out; null where the group cannot be read."""
    judge = Judge(setting)
    for row in rows_of(found):
        number = row["number"]
        stretches = _stretches(judge, Path(path), number)
        data = None if stretches is None else msgspec.msgpack.encode(stretches)
        yield from batches(SUMMARIES, [(number, data)])


def decode(data: bytes) -> list[Stretch]:
    return msgspec.msgpack.decode(data, type=list[Stretch])


def _stretches(judge: Judge, path: Path, group: int) -> list[Stretch] | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stretches: dict[tuple[str, str], tuple[int, bool]] = {}
    first: tuple[str, str] | None = None
    first_event = ""
    try:
        opened = pq.ParquetFile(path, page_checksum_verification=True)
        names = set(opened.schema_arrow.names)
        for batch in opened.iter_batches(row_groups=[group], columns=[n for n in COLUMNS if n in names]):
            columns = [
                batch.column(n).to_pylist() if n in batch.schema.names else [None] * batch.num_rows for n in COLUMNS
            ]
            for (run, broker, event, bare), rows in groupby(zip(*columns, strict=True), _whose):
                if broker is None:
                    continue
                key = run or judge.setting.run, broker
                first, first_event = (first, first_event) if first else (key, event or "")
                known, was_bare = stretches.get(key, (0, False))
                stretches[key] = known + sum(1 for _ in rows), was_bare or bare
    except (pa.ArrowException, UnicodeDecodeError, *FAULTS):
        return None
    starts = first_event == "snapshot" and _is_start(judge, path, group)
    return [Stretch(*key, events, starts and key == first, bare) for key, (events, bare) in stretches.items()]


def _whose(row: tuple[str | None, ...]) -> tuple[str | None, str | None, str | None, bool]:
    run, broker, event, to = row
    return run, broker, event if event == "snapshot" else "", event == "deliver" and not to


def _is_start(judge: Judge, path: Path, group: int) -> bool:
    first = next(events(path, group), None)
    return isinstance(first, Event) and judge.start_at(first) is not None
