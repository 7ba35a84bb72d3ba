"""Units of a trace, read as columns and cut into blocks by the publication's id.

A *unit* is what one task reads: a row group of Parquet, or a range of lines. Its rows go into buckets by their ids, so
that all events of a publication are in one bucket, whichever task read them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from attrs import frozen

from routeproof.checker.placement.events import COLUMNS, UNKNOWN, ReadReport, of_batch, of_lines, schema
from routeproof.checker.placement.overlay import Column, Frame
from routeproof.checker.validate.findings import BadLines
from routeproof.checker.validate.spark import lines, opened
from routeproof.traces import BadLine
from routeproof.traces.containers import Broken
from routeproof.traces.fields import in_one_line
from routeproof.traces.parquet_file import FAULTS, ParquetFile
from routeproof.traces.reader import is_parquet

FLUSH = 1 << 18
"""Rows that are collected before they are cut into blocks."""

PER_BUCKET = 250_000
"""Events of a trace for each bucket, about."""

MOST_BUCKETS = 4096
LINE_BYTES = 150
"""Length of a line, about."""


@frozen
class Source:
    """A trace as units, and the number of buckets for it."""

    path: str
    units: tuple[lines.Range, ...]
    buckets: int
    is_parquet: bool

    @classmethod
    def of(cls, path: Path, tasks: int) -> Source:
        """Units do not depend on the number of tasks for Parquet; no answer depends on either."""
        if is_parquet(path):
            with opened(path) as file:
                sizes = ParquetFile(file).sizes
            return cls(str(path), tuple(lines.Range(n, 0, 0) for n in range(len(sizes))), _buckets(sum(sizes)), True)
        units = tuple(lines.ranges(path, lines.RANGE, tasks))
        growth = 1 if units[0].begin >= 0 else 20
        return cls(str(path), units, _buckets(path.stat().st_size * growth // LINE_BYTES), False)


def _buckets(rows: int) -> int:
    return max(1, min(MOST_BUCKETS, rows // PER_BUCKET))


def read_unit(source: Source, frame: Frame, unit: lines.Range) -> Iterator[tuple[int, bytes]]:
    """Yields blocks with their buckets, and last, under `UNKNOWN`, a `ReadReport`."""
    reading = _Reading(source, frame, unit)
    yield from reading.groups() if source.is_parquet else reading.lines()
    yield UNKNOWN, msgspec.msgpack.encode(reading.read)
    if source.is_parquet:
        gc.collect()  # pyarrow's metadata and schema hold each other: megabytes of a file with many row groups


class _Reading:
    def __init__(self, source: Source, frame: Frame, unit: lines.Range) -> None:
        self._source = source
        self._frame = frame
        self._unit = unit
        self._bad = BadLines()
        self._waiting: list[Any] = []
        self._rows = 0
        self.read = ReadReport(unit.number)

    def groups(self) -> Iterator[tuple[int, bytes]]:
        """Reads a row group. A fault ends it: one bad line stands for what is left."""
        import pyarrow as pa

        done = 0
        try:
            with opened(Path(self._source.path)) as file:
                found = ParquetFile(file)
                names = [name for name in COLUMNS if name in found.names]
                for part in found.parts(self._unit.number, names):
                    if part.is_too_long:
                        self._bad.add(BadLine(done + 1, "a row that is too long"))
                    else:
                        yield from self._take(of_batch(part.batch, self._frame, self._bad, done, self.read))
                    done += part.batch.num_rows
        except (pa.ArrowException, UnicodeDecodeError, *FAULTS) as error:
            why = f"rows of row group {self._unit.number + 1} cannot be read: {in_one_line(error)}"
            self._bad.add(BadLine(done + 1, why))
        self._close(done)
        yield from self._flush()

    def lines(self) -> Iterator[tuple[int, bytes]]:
        done = 0
        reader = lines.RangeLines(Path(self._source.path), self._unit)
        try:
            for some in reader.lines():
                yield from self._take(of_lines(some, self._frame, self._bad, done, self.read))
                done += len(some)
        except Broken as error:
            self._bad.add(BadLine(done + (not reader.unfinished), str(error)))
        self._close(done)
        yield from self._flush()

    def _close(self, rows: int) -> None:
        self.read.rows = rows
        self.read.bad = [(line.number, line.reason) for line in self._bad.first]
        self.read.bad_count = self._bad.count

    def _take(self, batch: Any) -> Iterator[tuple[int, bytes]]:
        if batch is not None:
            self._waiting.append(batch)
            self._rows += batch.num_rows
            if self._rows >= FLUSH:
                yield from self._flush()

    def _flush(self) -> Iterator[tuple[int, bytes]]:
        import pyarrow as pa

        if not self._waiting:
            return
        table = pa.Table.from_batches(self._waiting, schema()).combine_chunks()
        self._waiting, self._rows = [], 0
        bucket = hashed(table.column("id"), self._source.buckets)
        by_bucket = np.argsort(bucket, kind="stable")
        table = table.take(pa.array(by_bucket)).combine_chunks()
        ends = np.cumsum(np.bincount(bucket, minlength=self._source.buckets)).tolist()
        begin = 0
        for number, end in enumerate(ends):
            if end > begin:
                yield number, encode(table.slice(begin, end - begin))
            begin = end


def encode(table: Any) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def decode(data: bytes) -> Any:
    import pyarrow as pa

    return pa.ipc.open_stream(data).read_all()


def hashed(ids: Any, most: int) -> Column:
    """A bucket for each id, from its first and its last eight bytes and its length."""
    array = ids.combine_chunks() if hasattr(ids, "combine_chunks") else ids
    count = len(array)
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + count + 1]
    data = b"" if array.buffers()[2] is None else array.buffers()[2]
    padded = np.concatenate([np.zeros(8, np.uint8), np.frombuffer(data, np.uint8), np.zeros(8, np.uint8)])
    words = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    begins, ends = offsets[:-1] + 8, offsets[1:] + 8
    length = ends - begins
    missing = (8 * (8 - np.minimum(length, 8))).astype(np.uint64)
    kept = length > 0
    first = np.where(kept, words[begins] << np.where(kept, missing, 0), 0)
    last = np.where(kept, words[ends - 8] >> np.where(kept, missing, 0), 0)
    with np.errstate(over="ignore"):
        mixed = (
            (first * np.uint64(0x9E3779B97F4A7C15)) ^ (last * np.uint64(0xC2B2AE3D27D4EB4F)) ^ length.astype(np.uint64)
        )
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return ((mixed >> np.uint64(32)) % np.uint64(most)).astype(np.int64)
