"""Traces as columns, for Parquet: the same keys, with the keys of a message next to those of its event.

Names, ids and the texts of filters and publications recur many times, so they are dictionary-encoded: a file holds each
once for some hundred thousand events. Filters, attributes, items and tables stay the JSON that they are in a line. The
header is the file's metadata under `routeproof`, as JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from routeproof.traces.extensions import extensions
from routeproof.traces.format import BadLine, Event, keeps_own
from routeproof.traces.messages import ADDED

Batch: TypeAlias = Any
"""A `pyarrow.RecordBatch`. pyarrow has no types, and is imported where it is used: it takes a tenth of a second."""

HEADER = b"routeproof"
"""The key of the metadata."""

NAMES = ("run", "broker", "event", "peer", "kind", "id", "of", "to", "filter", "attributes")
"""Columns of strings that are dictionary-encoded."""

ADDED_NUMBERS = tuple(key.name for key in ADDED if key.is_number)
ADDED_TEXTS = tuple(key.name for key in ADDED if not key.is_number)
"""Columns of the keys that protocols add to messages."""

TEXTS = ("items", *ADDED_TEXTS, "own", "tables", "text", "unreadable")
"""Columns of strings that are not. `unreadable`: the reason, where a line was none; then all others are null."""

NUMBERS = ("seq", "time", "issued", "done", "number", *ADDED_NUMBERS, "line")
"""Columns of integers. `number` is a message's `event`; `line` is where it stood in the file that was converted."""

ORDER = (
    *("run", "broker", "seq", "event", "peer", "time"),
    *("kind", "id", "of", "to", "filter", "number", "attributes", "items"),
    *(*(key.name for key in ADDED), "own"),
    *("tables", "text", "issued", "done", "line", "unreadable"),
)


def schema(protocol: str) -> Any:
    """Schema of a trace in Parquet: every column may be null, which is as good as left out."""
    import pyarrow as pa

    word = pa.dictionary(pa.int32(), pa.string())
    types = {**dict.fromkeys(NAMES, word), **dict.fromkeys(TEXTS, pa.string()), **dict.fromkeys(NUMBERS, pa.int64())}
    left_out = left_out_by(protocol)
    return pa.schema([(name, types[name]) for name in ORDER if name not in left_out])


def left_out_by(protocol: str) -> tuple[str, ...]:
    """Columns that traces of a protocol do not have: those of keys that another protocol adds."""
    if keeps_own(protocol):
        return ()
    if protocol not in extensions():
        return ("own",)
    own = {key.name for key in extensions()[protocol].keys}
    return (*(key.name for key in ADDED if key.name not in own), "own")


def to_batch(events: Sequence[Event], protocol: str) -> Batch:
    """`UnicodeEncodeError` where a name holds half a character: JSON has a way to write that, Parquet has none."""
    messages = [event.message for event in events]
    return _batch(
        {
            "run": [event.run or None for event in events],
            "broker": [event.broker for event in events],
            "seq": [event.seq for event in events],
            "event": [event.event for event in events],
            "peer": [event.peer or None for event in events],
            "time": [event.time for event in events],
            "kind": [None if m is None else m.kind for m in messages],
            "id": [None if m is None else m.id or None for m in messages],
            "of": [None if m is None else m.of or None for m in messages],
            "to": [None if m is None else m.to or None for m in messages],
            "filter": [None if m is None else _text(m.filter_text) for m in messages],
            "number": [None if m is None or m.number is UNSET else m.number for m in messages],
            "attributes": [None if m is None else _text(m.attributes_text) for m in messages],
            "items": [None if m is None or m.packed is UNSET else _json(m.packed) for m in messages],
            **{name: [None if m is None else m.added(name) for m in messages] for name in ADDED_NUMBERS},
            **{name: [None if m is None else _json(m.added(name)) for m in messages] for name in ADDED_TEXTS},
            "own": [None if m is None else _text(m.own) for m in messages],
            "tables": [_text(event.tables_text) for event in events],
            "text": [event.text or None for event in events],
            "issued": [event.issued for event in events],
            "done": [event.done for event in events],
            "line": [event.line or None for event in events],
        },
        len(events),
        protocol,
    )


def to_bad_batch(lines: Sequence[BadLine], protocol: str) -> Batch:
    """Lines that were no events: they stay with the trace, so that it is not taken for better than it was."""
    reasons = [line.reason.encode("utf-8", "backslashreplace").decode("utf-8") for line in lines]
    return _batch({"line": [line.number for line in lines], "unreadable": reasons}, len(lines), protocol)


def _batch(values: dict[str, list[Any]], rows: int, protocol: str) -> Batch:
    import pyarrow as pa

    arrays = []
    columns = schema(protocol)
    for field in columns:
        column = values.get(field.name)
        if column is None:
            arrays.append(pa.nulls(rows, field.type))
        elif field.name in NAMES:
            arrays.append(pa.array(column, pa.string()).dictionary_encode())
        else:
            arrays.append(pa.array(column, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=columns)


def _text(raw: msgspec.Raw | msgspec.UnsetType) -> str | None:
    return None if raw is UNSET else bytes(raw).decode("utf-8")


def _json(value: object) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode("utf-8")
