"""Traces in Parquet: `read` gives the header and the events, batch by batch.

A row group that is broken is left at the fault, which counts as one `BadLine`, and the next is read. Without the end of
the file, where its metadata are, nothing of it can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from routeproof.traces.batches import Columns, read_batch
from routeproof.traces.columns import HEADER, ORDER
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


def read(
    file: BinaryIO, *, checked: bool = False, most: int | None = None, groups: Iterable[int] | None = None
) -> tuple[Header, Iterator[list[Event | BadLine]]]:
    """`most`: bytes that may be held. `groups`: the row groups to read; all of them where it is left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        opened = pq.ParquetFile(file, page_checksum_verification=True)
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
    return header, _Reading(opened, known, meanings_of(dialect_of(header)), checked).events(groups)


def _held(opened: Any) -> int:
    metadata = opened.metadata
    return sum(int(metadata.row_group(group).total_byte_size) for group in range(metadata.num_row_groups))


class _Reading:
    """One file, from row group to row group."""

    def __init__(self, opened: Any, columns: list[str], meanings: Meanings, checked: bool) -> None:
        self.opened = opened
        self.columns = columns
        self.meanings = meanings
        self.checked = checked

    def events(self, groups: Iterable[int] | None) -> Iterator[list[Event | BadLine]]:
        metadata = self.opened.metadata
        sizes = [int(metadata.row_group(group).num_rows) for group in range(metadata.num_row_groups)]
        firsts = list(accumulate(sizes, initial=2))
        last = len(sizes) - 1
        for group in range(len(sizes)) if groups is None else groups:
            yield from self._group(group, firsts[group], sizes[group])
            if group == last and sum(sizes) != metadata.num_rows:
                reason = f"the file says that it has {metadata.num_rows} rows; its row groups have {sum(sizes)}"
                yield [BadLine(firsts[-1], reason)]

    def _group(self, group: int, first: int, rows: int) -> Iterator[list[Event | BadLine]]:
        import pyarrow as pa

        done = 0
        columns = Columns()
        try:
            batches = self.opened.iter_batches(ROWS, row_groups=[group], columns=self.columns, use_threads=False)
            for batch in batches:
                batch.validate(full=True)
                found = read_batch(batch, first + done, columns, self.meanings)
                yield checked_lines(found) if self.checked else found
                done += batch.num_rows
            why = "they are missing"
        except (pa.ArrowException, *FAULTS) as error:
            why = in_one_line(error)
        pa.default_memory_pool().release_unused()
        if done != rows:
            where = f"rows {done + 1} to {rows} of row group {group + 1}"
            yield [BadLine(first + done, f"{where} cannot be read: {why}")]
