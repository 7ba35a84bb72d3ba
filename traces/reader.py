"""Reading traces: `open_trace` line by line in constant memory, `read_trace` whole.

A line that cannot be read becomes a `BadLine` in its place, with its number and the reason, and the reading goes on; a
file whose header cannot be read is refused. Lines have a limit, so that no file makes the reader hold more than one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NoReturn

from attrs import frozen

from routeproof.model.filters.wording import quoted
from routeproof.traces.fields import TraceError
from routeproof.traces.format import BadLine, Event, Header, dialect_of, read_event, read_header

LINE_BYTES = 4 << 20
"""The longest line. A header holds an instance and a run; an event holds one message."""

WHOLE_BYTES = 64 << 20
"""The longest trace that is read whole, for replaying and showing."""


@frozen
class Trace:
    """A trace in memory: what was read, and what could not be."""

    header: Header
    events: tuple[Event, ...]
    bad: tuple[BadLine, ...]


def read_trace(path: Path) -> Trace:
    """All of it; refused where it is too long to be held."""
    events: list[Event] = []
    bad: list[BadLine] = []
    with _opened(path) as file:
        _refuse_too_long(path, file)
        header, lines = _read(path, file)
        for line in lines:
            if isinstance(line, Event):
                events.append(line)
            else:
                bad.append(line)
    return Trace(header, tuple(events), tuple(bad))


@contextmanager
def open_trace(path: Path) -> Iterator[tuple[Header, Iterator[Event | BadLine]]]:
    """The header, and the lines after it as they are asked for."""
    with _opened(path) as file:
        yield _read(path, file)


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise TraceError(f"{named(path)}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a null character in the name
        raise TraceError(f"no file has this name: {error}") from None


def _refuse_too_long(path: Path, file: IO[bytes]) -> None:
    if file.seekable():
        size = file.seek(0, 2)
        file.seek(0)
        if size > WHOLE_BYTES:
            raise TraceError(
                f"{named(path)}: {size >> 20} MiB; expected at most {WHOLE_BYTES >> 20} MiB to read it whole"
            )


def _read(path: Path, file: IO[bytes]) -> tuple[Header, Iterator[Event | BadLine]]:
    line = file.readline(LINE_BYTES + 1)
    try:
        if not line:
            raise TraceError("the file is empty; expected a header")
        if len(line) > LINE_BYTES:
            raise TraceError(f"longer than {LINE_BYTES >> 20} MiB; expected a header")
        header = read_header(parse(line.removeprefix(b"\xef\xbb\xbf")))
    except TraceError as error:
        raise TraceError(f"{named(path)}: line 1: {error}") from None
    return header, _lines(file, header)


def _lines(file: IO[bytes], header: Header) -> Iterator[Event | BadLine]:
    dialect = dialect_of(header)
    number = 1
    while line := file.readline(LINE_BYTES + 1):
        number += 1
        if not line.strip():
            continue
        try:
            if len(line) > LINE_BYTES:
                _skip_rest_of_line(file, line)
                raise TraceError(f"longer than {LINE_BYTES >> 20} MiB")
            yield read_event(parse(line), dialect)
        except TraceError as error:
            yield BadLine(number, str(error))


def _skip_rest_of_line(file: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(LINE_BYTES)


def named(path: Path) -> str:
    """A file's name in a message of one line."""
    return str(path) if str(path).isprintable() else quoted(str(path))


def parse(line: bytes) -> object:
    """The JSON value of a line. Strict where parsers differ: no key twice, no NaN, UTF-8 only."""
    try:
        return json.loads(line.decode("utf-8"), object_pairs_hook=_table, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise TraceError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except UnicodeDecodeError as error:
        raise TraceError(f"not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except RecursionError:
        raise TraceError("not JSON that anybody wrote: nested too deeply") from None
    except TraceError:
        raise
    except ValueError:  # Python refuses to read an integer of some thousand digits
        raise TraceError("a number with too many digits") from None


def _table(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise TraceError("an object has one key twice; which of the two was meant?")
    return table


def _no_number(constant: str) -> NoReturn:
    raise TraceError(f"{constant} is no JSON number")
