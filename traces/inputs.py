"""Inputs of other layouts: `gathered` makes one trace of a run's files, with a header, names and times from elsewhere.

A directory or a pattern stands for the files of one run, in the order of their names. Each may begin with the run's
header or have none; `--header` gives one from a file of its own. A *map* renames the keys or columns and the values of
a foreign log:

    [keys]                        # ours = theirs; a dot goes into an object
    broker = "node"
    event = "op"
    "message.kind" = "msg.type"

    [values.event]                # theirs = ours
    RX = "receive"

    [time]
    unit = "ms"                   # s, ms, us or ns

With a unit, in a map or as `time_unit` in the header, times may be fractions, strings of digits, or dates (RFC 3339).
Timestamps of Parquet have a unit of their own. With a map, events without a `seq` are counted, broker by broker, as
they stand.

The trace is written into a temporary file of JSON Lines. A line that cannot be read stays in it, with the reason.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation, Overflow
from glob import glob, has_magic
from pathlib import Path
from typing import Any, BinaryIO

from attrs import Factory, define, evolve, frozen

from routeproof.model.filters.interface import quoted, shown
from routeproof.traces.batches import JSON_TEXTS, MESSAGE
from routeproof.traces.columns import HEADER
from routeproof.traces.containers import blocks
from routeproof.traces.fields import INTEGER, TraceError, parse
from routeproof.traces.files import named, temporary
from routeproof.traces.format import read_header
from routeproof.traces.lines import whole_lines
from routeproof.traces.parquet_file import FAULTS, ParquetFile
from routeproof.traces.reader import BYTE_ORDER_MARK, HEADER_BYTES, MAGIC_BYTES, is_parquet

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds of each unit of time."""

TIMES = ("time", "issued", "done")

KEYS = ("run", "broker", "seq", "event", "peer", "text", "tables", *TIMES)
"""Keys of an event that a map may rename, besides those of its message."""

SMALL = 1 << 20
"""The longest map or header file, in bytes."""

DATE = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?")


@frozen
class ColumnNames:
    """`keys`: where each of our keys stands in a foreign row. `values`: ours, by key and theirs. `unit`: of times."""

    keys: Mapping[str, tuple[str, ...]] = Factory(dict)
    values: Mapping[str, Mapping[str, str]] = Factory(dict)
    unit: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.keys or self.values or self.unit)


def read_map(path: Path) -> ColumnNames:
    """Reads a map in TOML, or in JSON where its name says so; `TraceError` names the key that is wrong."""
    text = _small(path)
    try:
        raw = parse(text) if path.suffix == ".json" else tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TraceError) as error:
        raise TraceError(f"{named(path)}: {str(error).splitlines()[0]}") from None
    try:
        return _map_of(raw)
    except TraceError as error:
        raise TraceError(f"{named(path)}: {error}") from None


def _map_of(raw: object) -> ColumnNames:
    tables = _table("a map", raw)
    if odd := next((key for key in tables if key not in ("keys", "values", "time")), None):
        raise TraceError(f"{quoted(odd)} is unknown; expected keys, values or time")
    keys = {}
    for ours, theirs in _table("keys", tables.get("keys", {})).items():
        if not isinstance(theirs, str) or not theirs:
            raise TraceError(f"keys.{ours}: found {shown(theirs)}; expected the name of a key or a column")
        keys[_known(ours)] = tuple(theirs.split("."))
    values: dict[str, dict[str, str]] = {}
    for ours, table in _table("values", tables.get("values", {})).items():
        values[_known(ours)] = {}
        for theirs, value in _table(f"values.{ours}", table).items():
            if not isinstance(value, str):
                raise TraceError(f"values.{ours}.{theirs}: found {shown(value)}; expected a string")
            values[ours][theirs] = value
    time = _table("time", tables.get("time", {}))
    unit = time.get("unit", "")
    if set(time) - {"unit"} or (unit and unit not in UNITS):
        raise TraceError(
            f"time: found {shown(unit) if unit else 'another key'}; expected unit = one of {', '.join(UNITS)}"
        )
    return ColumnNames(keys, values, unit)


def _table(what: str, raw: object) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise TraceError(f"{what}: found {shown(raw)}; expected a table")
    return raw


def _known(key: str) -> str:
    if key in KEYS or (key.startswith("message.") and key != "message."):
        return key
    raise TraceError(f"{quoted(key)} is no key of an event; expected one of {', '.join(KEYS)}, or message. and a key")


def _small(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(SMALL + 1)
    except (OSError, ValueError) as error:
        raise TraceError(f"{named(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(text) > SMALL:
        raise TraceError(f"{named(path)}: longer than {SMALL >> 20} MiB; expected a small file")
    return text


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
    given = None if header is None else _header(_small(header).strip(), header)
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
            event = self._numbered(_timed(_renamed(found, self.names), self.names.unit))
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


# -- one row -----------------------------------------------------------------------------------------------------------


def _renamed(row: dict[str, Any], names: ColumnNames) -> dict[str, Any]:
    """A row with our keys and values. Keys that the map does not take from elsewhere stay."""
    taken = {each for place in names.keys.values() for each in (place[0], ".".join(place))}
    event = {key: value for key, value in row.items() if key not in taken and key != "message"}
    message = dict(row["message"]) if isinstance(row.get("message"), dict) and "message" not in taken else {}
    for key, place in names.keys.items():
        value = _at(row, place)
        if value is not None:
            holder = message if key.startswith("message.") else event
            holder[key.removeprefix("message.")] = value
    for key, table in names.values.items():
        holder = message if key.startswith("message.") else event
        short = key.removeprefix("message.")
        if short in holder and str(holder[short]) in table:
            holder[short] = table[str(holder[short])]
    for key in ("filter", "attributes", "items"):
        if isinstance(message.get(key), str):  # a column holds JSON as text
            message[key] = parse(message[key].encode("utf-8", "surrogatepass"))
    return {**event, "message": message} if message else event


def _at(row: Mapping[str, Any], place: Sequence[str]) -> Any:
    """The value at a place within objects, or under the same name with its dots; None where there is none."""
    value: Any = row
    for name in place:
        value = value.get(name) if isinstance(value, dict) else None
    return row.get(".".join(place)) if value is None else value


def _timed(event: dict[str, Any], unit: str) -> dict[str, Any]:
    for key in TIMES:
        value = event.get(key)
        if value is not None and (unit or (isinstance(value, str) and DATE.fullmatch(value))):
            event[key] = nanoseconds(value, key, UNITS[unit or "ns"])
    return event


def nanoseconds(value: object, key: str, unit: int) -> int:
    """A time in nanoseconds: a number or digits in this unit, or a date, which is in UTC if it does not say."""
    found: Decimal | None = None
    if isinstance(value, str) and (date := DATE.fullmatch(value.strip())) is not None:
        found = _since_1970(*date.groups(default=""))
    elif isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            found = Decimal(str(value)) * unit
        except (InvalidOperation, Overflow):
            found = None
    if found is None or not found.is_finite() or not 0 <= found <= INTEGER:
        raise TraceError(
            f"{quoted(key)}: found {shown(value)}; expected a time from 0 on: a number or a date (RFC 3339)"
        )
    return int(found)


def _since_1970(day: str, clock: str, fraction: str, zone: str) -> Decimal | None:
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{zone.upper().replace('Z', '+00:00')}")
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return Decimal(int(moment.timestamp())) * 10**9 + Decimal(int(fraction.ljust(9, "0")[:9] or "0"))


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
