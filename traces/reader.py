"""Reading traces: `open_trace` event by event in constant memory, `read_trace` whole, `open_lines` and
`open_rows` lines of JSON and rows of Parquet before they are events.

The content of a file shows its container: JSON Lines, plain or in gzip or zstd, or Parquet. A line that cannot be read
becomes a `BadLine` in its place, with its number and the reason, and the reading goes on; so does what is left of a
file that is broken in the middle. A broken row group of Parquet is one `BadLine` from the fault on, and the next one is
read; a Parquet file without its end, which holds the metadata, cannot be read at all. A file whose header cannot be
read is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import accumulate, chain
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from routeproof.traces.batches import RowGroupColumns, read_batch
from routeproof.traces.columns import HEADER, Batch
from routeproof.traces.containers import blocks, limited
from routeproof.traces.fields import TraceError, in_one_line, parse
from routeproof.traces.files import named
from routeproof.traces.format import BadLine, Event, Header, dialect_of, keeps_own, read_header
from routeproof.traces.lines import LineBlock, checked_lines, line_blocks, read_lines, whole_lines
from routeproof.traces.messages import Meanings, meanings_of
from routeproof.traces.parquet_file import FAULTS, ROW_BYTES, ParquetFile, RowSlice

WHOLE_BYTES = 64 << 20
"""The longest trace that is read whole, for replaying and showing; of a compressed one, what it becomes."""

WHOLE_LINES = 1 << 18
"""The most lines of a trace that is read whole: some 300 bytes each in memory, however short they are."""

MAGIC_BYTES = 4
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@frozen
class Trace:
    """A trace in memory: what was read, and what could not be."""

    header: Header
    events: tuple[Event, ...]
    bad: tuple[BadLine, ...]


def read_trace(path: Path) -> Trace:
    """All of it, with what its filters and publications mean; refused where it is too long to be held."""
    events: list[Event] = []
    bad: list[BadLine] = []
    with _opened(path) as file:
        header, lines = _read(path, file, checked=True, most=WHOLE_BYTES)
        try:
            for line in lines:
                if isinstance(line, Event):
                    events.append(line)
                else:
                    bad.append(line)
                if len(events) + len(bad) > WHOLE_LINES:
                    raise TraceError(f"more than {WHOLE_LINES:,} lines; expected at most so many to read it whole")
        except TraceError as error:
            raise TraceError(f"{named(path)}: {error}") from None
    return Trace(header, tuple(events), tuple(bad))


@contextmanager
def open_trace(path: Path, *, checked: bool = False) -> Iterator[tuple[Header, Iterator[Event | BadLine]]]:
    """Returns the header and a lazy iterator of the lines after it. A filter or a publication is read on demand, and
    raises a `TraceError` if it cannot be read. With `checked`, each is read before the event is handed out, and where
    it cannot be, that is a `BadLine`.
    """
    with _opened(path) as file:
        yield _read(path, file, checked=checked)


@contextmanager
def open_rows(path: Path, groups: Iterable[int] | None = None) -> Iterator[tuple[Header, Iterator[RowBatch | BadLine]]]:
    """Opens a trace in Parquet for a caller that can use rows before they are events."""
    with _opened(path) as file:
        try:
            found = read_rows(file, groups=groups)
        except TraceError as error:
            raise TraceError(f"{named(path)}: {error}") from None
        yield found


def _opened(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise TraceError(f"{named(path)}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a null character in the name
        raise TraceError(f"no file has this name: {error}") from None


@contextmanager
def open_lines(path: Path) -> Iterator[tuple[Header, Iterator[LineBlock | BadLine]]]:
    """Opens a trace in JSON Lines for a caller that can use lines before they are events."""
    with _opened(path) as file:
        header, lines = _lines(path, blocks(file, file.peek(MAGIC_BYTES)[:MAGIC_BYTES]))
        yield header, line_blocks(lines, 2, dialect_of(header), own=keeps_own(header.protocol))


def _read(
    path: Path, file: BufferedReader, *, checked: bool, most: int | None = None
) -> tuple[Header, Iterator[Event | BadLine]]:
    beginning = file.peek(MAGIC_BYTES)[:MAGIC_BYTES]
    if beginning == MAGIC:
        try:
            header, events = read(file, checked=checked, most=most)
        except TraceError as error:
            raise TraceError(f"{named(path)}: {error}") from None
        return header, chain.from_iterable(events)
    found = blocks(file, beginning)
    header, lines = _lines(path, found if most is None else limited(found, most))
    return header, chain.from_iterable(
        read_lines(lines, 2, dialect_of(header), checked=checked, own=keeps_own(header.protocol))
    )


def _lines(path: Path, found: Iterator[bytes]) -> tuple[Header, Iterator[bytes]]:
    """The header, and blocks of all other lines."""
    lines = whole_lines(found)
    try:
        if not (first := next(lines, b"")):
            raise TraceError("the file is empty; expected a header")
        line, _, rest = first.partition(b"\n")
        return _header(line), chain((rest,), lines)
    except TraceError as error:
        raise TraceError(f"{named(path)}: line 1: {error}") from None


def _header(line: bytes) -> Header:
    if len(line) > HEADER_BYTES:
        raise TraceError(f"longer than {HEADER_BYTES >> 20} MiB; expected a header")
    return read_header(parse(line.removeprefix(BYTE_ORDER_MARK)))


# -- Parquet -----------------------------------------------------------------------------------------------------------

MAGIC = b"PAR1"

HEADER_BYTES = 4 << 20
"""The longest header. That of a counterexample holds an instance and a run."""

GIVEN_BACK = 64 << 20
"""Bytes of texts after which pyarrow gives back memory that it no longer needs. To take new memory for each row group
would take a third of the time of reading."""

HELD_BYTES = 64
"""Least size that a row counts for where a trace is to be held in memory, in bytes."""


def is_parquet(path: Path) -> bool:
    """By how the file begins; false where it cannot be opened."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class RowBatch:
    """Some rows of a row group. `first`: the number of the first one, where they have no `line`; and its place in the
    group."""

    def __init__(
        self, batch: Batch, first: int, group: int, place: int, columns: RowGroupColumns, meanings: Meanings
    ) -> None:
        self.batch = batch
        self.first = first
        self.meanings = meanings
        self._where = group, place
        self._columns = columns

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def part(self, begin: int, end: int) -> RowBatch:
        group, place = self._where
        batch = self.batch.slice(begin, end - begin)
        return RowBatch(batch, self.first + begin, group, place + begin, self._columns, self.meanings)

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


def _events(found: Iterator[RowBatch | BadLine], checked: bool) -> Iterator[list[Event | BadLine]]:
    for rows in found:
        lines: list[Event | BadLine] = rows.events() if isinstance(rows, RowBatch) else [rows]
        yield checked_lines(lines) if checked else lines


def read_rows(
    file: BinaryIO, *, most: int | None = None, groups: Iterable[int] | None = None
) -> tuple[Header, Iterator[RowBatch | BadLine]]:
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
        self._since = 0
        """Bytes of texts that were read since memory was given back."""

    def rows(self, groups: Iterable[int] | None) -> Iterator[RowBatch | BadLine]:
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

    def _group(self, group: int, first: int, rows: int) -> Iterator[RowBatch | BadLine]:
        import pyarrow as pa

        done = 0
        columns = RowGroupColumns()
        try:
            for part in self.opened.parts(group, self.opened.names):
                self._hold(part)
                done = part.first + part.batch.num_rows
                if part.is_too_long:
                    yield BadLine(first + part.first, f"longer than {ROW_BYTES >> 20} MiB")
                else:
                    yield RowBatch(part.batch, first + part.first, group, part.first, columns, self.meanings)
                del part  # it need not stay until there is the next
            why = "they are missing"
        except (pa.ArrowException, *FAULTS) as error:
            if isinstance(error, TraceError):
                raise
            why = in_one_line(error)
        if self._since > GIVEN_BACK:
            self._since = 0
            pa.default_memory_pool().release_unused()
        if done != rows:
            yield _missing(group, done, rows - done, why)

    def _hold(self, part: RowSlice) -> None:
        self.held += part.texts
        self._since += part.texts
        if self.most is not None and self.held > self.most:
            raise TraceError(f"more than {self.most >> 20} MiB; expected at most so much to read it whole")
