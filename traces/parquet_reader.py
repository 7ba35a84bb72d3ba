"""Traces in Parquet: `read` gives the header and the events, batch by batch, and `read_rows` the batches themselves.

A row group that is broken is left at the fault, which counts as one `BadLine`, and the next is read. Without the end of
the file, where its metadata are, nothing of it can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from routeproof.traces.batches import Columns, read_batch
from routeproof.traces.columns import HEADER, Batch
from routeproof.traces.fields import TraceError, in_one_line
from routeproof.traces.format import BadLine, Event, Header, dialect_of, read_header
from routeproof.traces.lines import checked_lines
from routeproof.traces.meanings import Meanings, meanings_of
from routeproof.traces.parquet_file import FAULTS, ROW_BYTES, ParquetFile, Part
from routeproof.traces.strict_json import parse

MAGIC = b"PAR1"

HEADER_BYTES = 4 << 20
"""The longest header. That of a counterexample holds an instance and a run."""

HELD_BYTES = 64
"""Least size that a row counts for where a trace is to be held in memory, in bytes."""


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
        """The events; one `BadLine` in their place where they cannot be read."""
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
    """Reads rows for a caller that can use them before they are events.

    The caller must release each before it takes the next: it has dictionaries of its own.
    """
    opened = ParquetFile(file)
    if HEADER not in opened.keys:
        raise TraceError(f"Parquet without a header; expected one in its metadata, under {HEADER.decode()}")
    if len(opened.keys[HEADER]) > HEADER_BYTES:
        raise TraceError(f"a header longer than {HEADER_BYTES >> 20} MiB; expected at most so much")
    held = sum(opened.sizes) * HELD_BYTES
    if most is not None and held > most:
        raise TraceError(f"some {held >> 20} MiB; expected at most {most >> 20} MiB to read it whole")
    header = read_header(parse(opened.keys[HEADER]))
    return header, _Reading(opened, meanings_of(dialect_of(header)), most).rows(groups)


class _Reading:
    """One file, from row group to row group."""

    def __init__(self, opened: ParquetFile, meanings: Meanings, most: int | None) -> None:
        self.opened = opened
        self.meanings = meanings
        self.most = most
        self.held = 0

    def rows(self, groups: Iterable[int] | None) -> Iterator[Rows | BadLine]:
        sizes = self.opened.sizes
        firsts = list(accumulate(sizes, initial=2))
        last = len(sizes) - 1
        for group in range(len(sizes)) if groups is None else groups:
            yield from self._group(group, firsts[group], sizes[group])
            if group == last and sum(sizes) != self.opened.metadata.num_rows:
                reason = (
                    f"the file says that it has {self.opened.metadata.num_rows} rows; its row groups have {sum(sizes)}"
                )
                yield BadLine(0, reason)

    def _group(self, group: int, first: int, rows: int) -> Iterator[Rows | BadLine]:
        import pyarrow as pa

        done = 0
        columns = Columns()
        try:
            for part in self.opened.parts(group, self.opened.names):
                self._hold(part)
                done = part.first + part.batch.num_rows
                if part.is_too_long:
                    yield BadLine(first + part.first, f"longer than {ROW_BYTES >> 20} MiB")
                else:
                    yield Rows(part.batch, first + part.first, group, part.first, columns, self.meanings)
                del part  # it need not stay until there is the next
            why = "they are missing"
        except (pa.ArrowException, *FAULTS) as error:
            if isinstance(error, TraceError):
                raise
            why = in_one_line(error)
        pa.default_memory_pool().release_unused()
        if done != rows:
            yield _missing(group, done, rows - done, why)

    def _hold(self, part: Part) -> None:
        self.held += part.texts
        if self.most is not None and self.held > self.most:
            raise TraceError(f"more than {self.most >> 20} MiB; expected at most so much to read it whole")
