"""Traces in Parquet: `read` gives the header and the events, batch by batch, and `read_rows` the batches themselves.

A row group that is broken is left at the fault, which counts as one `BadLine`, and the next is read. Without the end of
the file, where its metadata are, nothing of it can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from routeproof.traces.batches import Columns, read_batch
from routeproof.traces.columns import HEADER, ORDER, Batch
from routeproof.traces.fields import TraceError, in_one_line
from routeproof.traces.format import BadLine, Event, Header, dialect_of, read_header
from routeproof.traces.lines import checked_lines
from routeproof.traces.meanings import Meanings, meanings_of
from routeproof.traces.strict_json import parse

MAGIC = b"PAR1"

ROWS = 1 << 14
"""Rows that are read at once. Each batch brings its dictionaries along again, so fewer would be slower."""

ROW_BYTES = 64
"""What a row counts for at least where a trace is to be held in memory."""

FAULTS = (OSError, ValueError, MemoryError, OverflowError, KeyError, IndexError, TypeError)
"""What pyarrow raises for files that are broken, beside its own exceptions."""


def is_parquet(path: Path) -> bool:
    """By how the file begins; false where it cannot be opened."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class Rows:
    """Some rows of a row group. `first`: the number of the first one, where they have no `line`; and its place in the
    group."""

    def __init__(self, batch: Batch, first: int, group: int, place: int, columns: Columns, meanings: Meanings) -> None:
        self.batch = batch
        self.first = first
        self.meanings = meanings
        self._where = group, place
        self._columns = columns

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def part(self, begin: int, end: int) -> Rows:
        group, place = self._where
        batch = self.batch.slice(begin, end - begin)
        return Rows(batch, self.first + begin, group, place + begin, self._columns, self.meanings)

    def events(self) -> list[Event | BadLine]:
        """They count as one `BadLine` where they cannot be read."""
        import pyarrow as pa

        try:
            return read_batch(self.batch, self.first, self._columns, self.meanings)
        except (pa.ArrowException, *FAULTS) as error:
            return [_missing(*self._where, len(self), in_one_line(error))]


def _missing(group: int, place: int, rows: int, why: str) -> BadLine:
    return BadLine(0, f"rows {place + 1} to {place + rows} of row group {group + 1} cannot be read: {why}")


def read(
    file: BinaryIO, *, checked: bool = False, most: int | None = None, groups: Iterable[int] | None = None
) -> tuple[Header, Iterator[list[Event | BadLine]]]:
    """`most`: bytes that may be held. `groups`: the row groups to read; all of them where it is left out."""
    header, found = read_rows(file, most=most, groups=groups)
    return header, _events(found, checked)


def _events(found: Iterator[Rows | BadLine], checked: bool) -> Iterator[list[Event | BadLine]]:
    for rows in found:
        lines: list[Event | BadLine] = rows.events() if isinstance(rows, Rows) else [rows]
        yield checked_lines(lines) if checked else lines


def read_rows(
    file: BinaryIO, *, most: int | None = None, groups: Iterable[int] | None = None
) -> tuple[Header, Iterator[Rows | BadLine]]:
    """The same for one who can use rows before they are events. Each is to be let go of before the next is asked for:
    it has dictionaries of its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        opened = pq.ParquetFile(file, page_checksum_verification=True, pre_buffer=False)
        metadata = opened.schema_arrow.metadata or {}
        held = max(opened.metadata.num_rows * ROW_BYTES, _held(opened))
        known = [name for name in opened.schema_arrow.names if name in ORDER]
    except (pa.ArrowException, *FAULTS) as error:
        raise TraceError(f"Parquet that cannot be read: {in_one_line(error)}") from None
    if HEADER not in metadata:
        raise TraceError(f"Parquet without a header; expected one in its metadata, under {HEADER.decode()}")
    if most is not None and held > most:
        raise TraceError(f"some {held >> 20} MiB; expected at most {most >> 20} MiB to read it whole")
    header = read_header(parse(metadata[HEADER]))
    return header, _Reading(opened, known, meanings_of(dialect_of(header))).rows(groups)


def _held(opened: Any) -> int:
    metadata = opened.metadata
    return sum(int(metadata.row_group(group).total_byte_size) for group in range(metadata.num_row_groups))


class _Reading:
    """One file, from row group to row group."""

    def __init__(self, opened: Any, columns: list[str], meanings: Meanings) -> None:
        self.opened = opened
        self.columns = columns
        self.meanings = meanings

    def rows(self, groups: Iterable[int] | None) -> Iterator[Rows | BadLine]:
        metadata = self.opened.metadata
        sizes = [int(metadata.row_group(group).num_rows) for group in range(metadata.num_row_groups)]
        firsts = list(accumulate(sizes, initial=2))
        last = len(sizes) - 1
        for group in range(len(sizes)) if groups is None else groups:
            yield from self._group(group, firsts[group], sizes[group])
            if group == last and sum(sizes) != metadata.num_rows:
                reason = f"the file says that it has {metadata.num_rows} rows; its row groups have {sum(sizes)}"
                yield BadLine(0, reason)

    def _group(self, group: int, first: int, rows: int) -> Iterator[Rows | BadLine]:
        import pyarrow as pa

        done = 0
        columns = Columns()
        try:
            batches = self.opened.iter_batches(ROWS, row_groups=[group], columns=self.columns, use_threads=False)
            while (batch := next(batches, None)) is not None:
                batch.validate(full=True)
                size = batch.num_rows
                yield Rows(batch, first + done, group, done, columns, self.meanings)
                done += size
                del batch  # it need not stay until there is the next
            why = "they are missing"
        except (pa.ArrowException, *FAULTS) as error:
            why = in_one_line(error)
        pa.default_memory_pool().release_unused()
        if done != rows:
            yield _missing(group, done, rows - done, why)
