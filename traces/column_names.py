"""Column names of a foreign log: a *map* renames its keys or columns and its values, and gives the unit of its times.

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
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from attrs import Factory, frozen

from routeproof.model.filters.interface import quoted, shown
from routeproof.traces.fields import INTEGER, TIMES, TraceError, parse
from routeproof.traces.files import named

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds of each unit of time."""

KEYS = ("run", "broker", "seq", "event", "peer", "text", "tables", *TIMES)
"""Keys of an event that a map may rename, besides those of its message."""

SMALL = 1 << 20
"""The longest map or header file, in bytes."""

DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9:]{8})(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})?")
DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")


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
    text = small_file(path)
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


def small_file(path: Path) -> bytes:
    """The content of a map or header file."""
    try:
        with path.open("rb") as file:
            text = file.read(SMALL + 1)
    except (OSError, ValueError) as error:
        raise TraceError(f"{named(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(text) > SMALL:
        raise TraceError(f"{named(path)}: longer than {SMALL >> 20} MiB; expected a small file")
    return text


# -- one row -----------------------------------------------------------------------------------------------------------


def renamed(row: dict[str, Any], names: ColumnNames) -> dict[str, Any]:
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


def timed(event: dict[str, Any], unit: str) -> dict[str, Any]:
    """The event with its times in nanoseconds."""
    for key in TIMES:
        value = event.get(key)
        if value is not None and (unit or (isinstance(value, str) and DATE.fullmatch(value))):
            event[key] = nanoseconds(value, key, UNITS[unit or "ns"])
    return event


def nanoseconds(value: object, key: str, unit: int) -> int:
    """A time in nanoseconds: a number or digits in this unit, or a date, which is in UTC if it does not say."""
    found: Decimal | None = None
    text = str(value).strip()
    if isinstance(value, str) and (date := DATE.fullmatch(text)) is not None:
        found = _since_1970(*date.groups(default=""))
    elif type(value) in (int, float) or (isinstance(value, str) and DIGITS.fullmatch(text)):
        found = Decimal(text) * unit
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
