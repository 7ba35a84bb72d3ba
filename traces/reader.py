"""Reading traces: `open_trace` event by event in constant memory, `read_trace` whole.

The content of a file shows its container: JSON Lines, plain or in gzip or zstd, or Parquet. A line that cannot be read
becomes a `BadLine` in its place, with its number and the reason, and the reading goes on; so does what is left of a
file that is broken in the middle. A file whose header cannot be read is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import chain
from pathlib import Path

from attrs import frozen

from routeproof.traces import parquet_reader
from routeproof.traces.containers import blocks, limited
from routeproof.traces.fields import TraceError
from routeproof.traces.format import BadLine, Event, Header, dialect_of, keeps_own, read_header
from routeproof.traces.lines import read_lines, whole_lines
from routeproof.traces.parquet_reader import HEADER_BYTES
from routeproof.traces.source import named
from routeproof.traces.strict_json import parse

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
def open_rows(path: Path) -> Iterator[tuple[Header, Iterator[parquet_reader.Rows | BadLine]]]:
    """Opens a trace in Parquet for a caller that can use rows before they are events."""
    with _opened(path) as file:
        try:
            found = parquet_reader.read_rows(file)
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


def _read(
    path: Path, file: BufferedReader, *, checked: bool, most: int | None = None
) -> tuple[Header, Iterator[Event | BadLine]]:
    beginning = file.peek(MAGIC_BYTES)[:MAGIC_BYTES]
    if beginning == parquet_reader.MAGIC:
        try:
            header, events = parquet_reader.read(file, checked=checked, most=most)
        except TraceError as error:
            raise TraceError(f"{named(path)}: {error}") from None
        return header, chain.from_iterable(events)
    found = blocks(file, beginning)
    lines = whole_lines(found if most is None else limited(found, most))
    try:
        if not (first := next(lines, b"")):
            raise TraceError("the file is empty; expected a header")
        line, _, rest = first.partition(b"\n")
        header = _header(line)
    except TraceError as error:
        raise TraceError(f"{named(path)}: line 1: {error}") from None
    return header, chain.from_iterable(
        read_lines(chain((rest,), lines), 2, dialect_of(header), checked=checked, own=keeps_own(header.protocol))
    )


def _header(line: bytes) -> Header:
    if len(line) > HEADER_BYTES:
        raise TraceError(f"longer than {HEADER_BYTES >> 20} MiB; expected a header")
    return read_header(parse(line.removeprefix(BYTE_ORDER_MARK)))
