"""Inputs of other layouts: `gathered` makes one trace of a run's files, with a header, names and times from elsewhere.

A directory or a pattern stands for the files of one run, in the order of their names. Each may begin with the run's
header or have none; `--header` gives one from a file of its own. `traces/column_names.py` has the map that renames
keys, columns and values of a foreign log, and the units of its times.

The trace is written into a temporary file of JSON Lines. A line that cannot be read stays in it, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from glob import glob, has_magic
from pathlib import Path
from typing import Any, BinaryIO

from attrs import Factory, define, evolve

from routeproof.model.filters.interface import shown
from routeproof.traces.batches import JSON_TEXTS, MESSAGE
from routeproof.traces.column_names import UNITS, ColumnNames, renamed, small_file, timed
from routeproof.traces.columns import HEADER
from routeproof.traces.containers import blocks
from routeproof.traces.fields import TraceError, parse
from routeproof.traces.files import named, temporary
from routeproof.traces.format import read_header
from routeproof.traces.lines import whole_lines
from routeproof.traces.parquet_file import FAULTS, ParquetFile
from routeproof.traces.reader import BYTE_ORDER_MARK, HEADER_BYTES, MAGIC_BYTES, is_parquet

# -- files of one run --------------------------------------------------------------------------------------------------


def files_of(path: Path) -> list[Path] | None:
    """The files that a directory or a pattern stands for; None for any other path. `TraceError` where there is none."""
    if path.is_dir():
        found = [each for each in sorted(path.iterdir()) if each.is_file() and not each.name.startswith(".")]
        what = "is a directory without files"
    elif has_magic(str(path)) and not path.exists():
        found = [Path(each) for each in sorted(glob(str(path))) if Path(each).is_file()]  # noqa: PTH207 - may be absolute
        what = "matches no file"
    else:
        return None
    if not found:
        raise TraceError(f"{named(path)}: {what}; expected the files of one run")
    return found


def needs_gathering(path: Path) -> bool:
    """True if a file is a trace whose header gives a unit of time, or Parquet with timestamps."""
    try:
        if is_parquet(path):
            with path.open("rb") as file:
                opened = ParquetFile(file)
                return "time_unit" in _metadata(opened) or bool(_timestamps(opened))
        with path.open("rb") as file:
            first = next(whole_lines(blocks(file, file.peek(MAGIC_BYTES)[:MAGIC_BYTES])), b"").partition(b"\n")[0]
        header = parse(first.removeprefix(BYTE_ORDER_MARK)) if b"time_unit" in first[:HEADER_BYTES] else None
        return isinstance(header, dict) and "time_unit" in header
    except (TraceError, OSError, ValueError):
        return False  # the reader says what is wrong


@contextmanager
def gathered(
    paths: Sequence[Path], name: str, header: Path | None = None, names: ColumnNames | None = None
) -> Iterator[Path]:
    """Yields a temporary trace of one run, which messages call `name`; `TraceError` where it has no header."""
    given = None if header is None else _header(small_file(header).strip(), header)
    with temporary(name) as where:
        try:
            with where.open("wb") as out:
                _Gathering(out, name, given, names or ColumnNames()).take(paths)
        except OSError as error:
            raise TraceError(f"{name}: cannot be gathered in {where.parent}: {error.strerror or error}") from None
        yield where


def _header(line: bytes, path: Path) -> dict[str, Any]:
    try:
        row = parse(line.removeprefix(BYTE_ORDER_MARK))
        read_header(row)
    except TraceError as error:
        raise TraceError(f"{named(path)}: {error}") from None
    assert isinstance(row, dict), "a header is"
    return row


@define
class _Gathering:
    """The lines of one trace on their way into a file; the header is the first."""

    out: BinaryIO
    name: str
    header: dict[str, Any] | None
    names: ColumnNames
    _seqs: dict[tuple[str, str], int] = Factory(dict)

    def take(self, paths: Sequence[Path]) -> None:
        headers = [_own_header(path) for path in paths]
        header = next((each for each in (self.header, *headers) if each is not None), None)
        if header is None:
            raise TraceError(f"{self.name}: no file begins with a header; give one with --header FILE")
        for path, own in zip(paths, headers, strict=True):
            if self.header is None and own is not None and own["run"] != header["run"]:
                raise TraceError(
                    f"{named(path)}: its run is {shown(own['run'])}, another file's is {shown(header['run'])};"
                    " expected files of one run"
                )
        self._begin(header)
        for path, own in zip(paths, headers, strict=True):
            for row in _rows(path, is_headed=own is not None):
                self._put(row)

    def _begin(self, header: dict[str, Any]) -> None:
        unit = header.get("time_unit", "")
        if unit and unit not in UNITS:
            raise TraceError(f'{self.name}: "time_unit": found {shown(unit)}; expected one of {", ".join(UNITS)}')
        if unit and not self.names.unit:
            self.names = evolve(self.names, unit=unit)
        self._write({key: value for key, value in header.items() if key != "time_unit"})

    def _put(self, row: bytes | dict[str, Any]) -> None:
        if isinstance(row, bytes) and self.names.is_empty:
            self.out.write(row + b"\n")
            return
        try:
            found = parse(row) if isinstance(row, bytes) else row
            if not isinstance(found, dict):
                raise TraceError(f"found {shown(found)}; expected an object")
            event = self._numbered(timed(renamed(found, self.names), self.names.unit))
        except TraceError as error:
            self._write({"unreadable": str(error)})
        else:
            self._write(event)

    def _numbered(self, event: dict[str, Any]) -> dict[str, Any]:
        key = str(event.get("run", "")), str(event.get("broker", ""))
        if "seq" not in event:
            event["seq"] = self._seqs[key] = self._seqs.get(key, 0) + 1
        return event

    def _write(self, row: dict[str, Any]) -> None:
        self.out.write(json.dumps(row, allow_nan=False).encode("ascii") + b"\n")


# -- one file ----------------------------------------------------------------------------------------------------------


def _own_header(path: Path) -> dict[str, Any] | None:
    """The header that a file begins with, if it has one."""
    if is_parquet(path):
        with _open(path) as file:
            return _metadata(ParquetFile(file)) or None
    first = next(_lines(path), b"")
    if b'"routeproof"' not in first or len(first) > HEADER_BYTES:
        return None
    row = parse(first.removeprefix(BYTE_ORDER_MARK))
    return _header(first, path) if isinstance(row, dict) and "routeproof" in row else None


def _rows(path: Path, *, is_headed: bool) -> Iterator[bytes | dict[str, Any]]:
    if is_parquet(path):
        yield from _rows_of_parquet(path)
        return
    lines = _lines(path)
    if is_headed:
        next(lines)
    yield from (line for line in lines if line.strip())


def _lines(path: Path) -> Iterator[bytes]:
    with _open(path) as file:
        for block in whole_lines(blocks(file, file.peek(MAGIC_BYTES)[:MAGIC_BYTES])):
            yield from block.removesuffix(b"\n").split(b"\n")


def _open(path: Path) -> Any:
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise TraceError(f"{named(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _metadata(opened: ParquetFile) -> dict[str, Any]:
    found = parse(opened.keys[HEADER]) if HEADER in opened.keys else {}
    return found if isinstance(found, dict) else {}


def _timestamps(opened: ParquetFile) -> list[str]:
    import pyarrow as pa

    return [field.name for field in opened.opened.schema_arrow if pa.types.is_timestamp(field.type)]


def _rows_of_parquet(path: Path) -> Iterator[dict[str, Any]]:
    """Rows with a `message` of their own where columns are those of our files; nulls are left out."""
    import pyarrow as pa

    with _open(path) as file:
        opened = ParquetFile(file, every=True)
        dated = _timestamps(opened)
        try:
            for group in range(len(opened.sizes)):
                for part in opened.parts(group, opened.names):
                    batch = part.batch
                    for name in dated:
                        at = batch.schema.get_field_index(name)
                        exact = batch.column(at).cast(pa.timestamp("ns", batch.column(at).type.tz)).cast(pa.int64())
                        batch = batch.set_column(at, name, exact)
                    yield from (_nested(row, dated) for row in batch.to_pylist())
        except (pa.ArrowException, *FAULTS) as error:
            if isinstance(error, TraceError):
                raise
            yield {"unreadable": f"{named(path)}: {str(error).splitlines()[0][:200]}"}


def _nested(row: dict[str, Any], dated: Sequence[str]) -> dict[str, Any]:
    values = {key: value for key, value in row.items() if value is not None and key != "line"}
    for name in dated:
        if name in values:
            values[name] = _since(values[name])
    for key in JSON_TEXTS:
        if isinstance(values.get(key), str):
            values[key] = parse(values[key].encode("utf-8", "surrogatepass"))
    if "kind" not in values:
        return values
    message = {key: values.pop(column) for column, key in MESSAGE.items() if column in values}
    own = message.pop("own", None)
    return {**values, "message": message | (own if isinstance(own, dict) else {})}


def _since(nanoseconds: int) -> str:
    """A timestamp as a date, which means the same in every unit."""
    whole, fraction = divmod(nanoseconds, 10**9)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}.{fraction:09}Z"
