"""Traces as columns, for Parquet: which columns there are, and writing them.

The columns are the keys of a line, with the keys of a message next to those of its event. Names, ids and the texts of
filters and publications recur many times, so they are dictionary-encoded: a file holds each once for some hundred
thousand events. Filters, attributes, items and tables stay the JSON that they are in a line. The header is the file's
metadata under `routeproof`, as JSON.

`write_parquet` takes events in any order and puts each broker's together. A validator goes through one broker of one
run after another, and hands out row groups to its workers. So a row group holds whole brokers: all events of a (run,
broker) are in one, in the order in which they came. What comes mixed is kept in a temporary file until it is all there,
compressed and in pieces of one broker each; what is held in memory is some hundred thousand events and, in the end, the
columns of one row group.

A reader holds the different texts of a row group several times over, and a broker has the more of them the longer the
trace is. So a broker with very many is several row groups, one after the other, that hold nothing else.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec
from attrs import frozen
from msgspec import UNSET

from routeproof.traces.extensions import extensions
from routeproof.traces.files import beside
from routeproof.traces.format import BadLine, Event, keeps_own
from routeproof.traces.lines import Row, item_row
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
            "of": [None if m is None else m.of or _json(m.several or None) for m in messages],
            "to": [None if m is None else m.to or None for m in messages],
            "filter": [None if m is None else _text(m.filter_text) for m in messages],
            "number": [None if m is None or m.number is UNSET else m.number for m in messages],
            "attributes": [None if m is None else _text(m.attributes_text) for m in messages],
            "items": [
                None if m is None or m.packed is UNSET else _json([item_row(i) for i in m.packed]) for m in messages
            ],
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


HELD = 1 << 15
"""Events that wait in memory for their neighbours."""

GROUP_ROWS = 1 << 17
"""Rows in a row group, at least: it is filled up with whole brokers until it has so many."""

PIECE_ROWS = 1 << 12
"""Events of one broker that wait, at most."""

GROUP_TEXTS = 3 << 18
"""Bytes of different texts in a row group, about; at least those of one piece."""

DICTIONARY_BYTES = 16 << 20
"""A column whose different values fit in here is dictionary-encoded."""

Key: TypeAlias = tuple[str, str] | None
"""The run and the broker; None for lines that could not be read."""


@cache
def _kind_of_writer() -> Any:
    import pyarrow.parquet as pq

    class Writer(pq.ParquetWriter):  # type: ignore[misc]  # pyarrow has no types
        def __del__(self) -> None:
            """Leaves the file alone. pyarrow's own writes its end, also where a signal has closed it before that."""

    return Writer


def parquet_writer(file: IO[bytes], schema: Any, **options: object) -> Any:
    """Returns a `pyarrow.parquet.ParquetWriter`, to be closed or used as a context."""
    return _kind_of_writer()(file, schema, compression="zstd", **options)


def write_parquet(
    target: Path, header: Row, lines: Iterable[Event | BadLine], *, cut_at_snapshots: bool = False
) -> None:
    """The file appears when it is complete.

    With `cut_at_snapshots`, a row group may also begin with a snapshot in the middle of a broker: then the rows of one
    that has nearly all events are still several groups, each of which can be checked by itself.
    """
    metadata = {HEADER: json.dumps(header, allow_nan=False)}
    protocol = str(header["protocol"])
    temporary = beside(target)
    try:
        with (
            tempfile.TemporaryFile(dir=target.parent) as file,
            temporary.open("wb") as written,
            parquet_writer(
                written,
                schema(protocol).with_metadata(metadata),
                use_dictionary=list(NAMES),
                dictionary_pagesize_limit=DICTIONARY_BYTES,
                write_page_checksum=True,
            ) as writer,
        ):
            spool = _Spool(file, str(header["run"]), protocol, cut_at_snapshots)
            for line in lines:
                spool.add(line)
            for group in spool.groups():
                writer.write_table(group, row_group_size=group.num_rows)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@frozen
class _Piece:
    """Some rows of one broker in the temporary file."""

    begin: int
    end: int
    rows: int
    texts: int
    """Bytes of its different texts."""
    may_begin_group: bool


class _Spool:
    """Lines come in, whole brokers go out."""

    def __init__(self, file: IO[bytes], run: str, protocol: str, cut_at_snapshots: bool) -> None:
        self.file = file
        self.run = run
        self.protocol = protocol
        self.cut_at_snapshots = cut_at_snapshots
        self.waiting: dict[Key, list[Event | BadLine]] = {}
        self.pieces: dict[Key, list[_Piece]] = {}
        self.held = 0

    def add(self, line: Event | BadLine) -> None:
        key = (line.run or self.run, line.broker) if isinstance(line, Event) else None
        if self.cut_at_snapshots and isinstance(line, Event) and line.event == "snapshot":
            self._put_away(key)
        self.pieces.setdefault(key, [])  # brokers are written in the order in which they come
        waiting = self.waiting.setdefault(key, [])
        waiting.append(line)
        self.held += 1
        if len(waiting) >= PIECE_ROWS:
            self._put_away(key)
        elif self.held >= HELD:
            self._put_away_largest()

    def groups(self) -> Iterator[Any]:
        """Tables, one a row group."""
        import pyarrow as pa

        for key in list(self.waiting):
            self._put_away(key)
        tables: list[Any] = []
        for piece, begins in self._cut():
            if begins and tables:
                yield pa.concat_tables(tables).unify_dictionaries()
                tables = []
            tables.append(self._read(piece))
        if tables:
            yield pa.concat_tables(tables).unify_dictionaries()

    def _cut(self) -> Iterator[tuple[_Piece, bool]]:
        """Every piece, and whether a row group begins with it."""
        rows = texts = 0
        for pieces in self.pieces.values():
            whole = sum(piece.texts for piece in pieces)
            for number, piece in enumerate(pieces):
                too_much = texts + (piece.texts if number else whole) > GROUP_TEXTS
                enough = piece.may_begin_group and (rows >= GROUP_ROWS or too_much)
                yield piece, enough or too_much
                rows = piece.rows + (0 if enough else rows)
                texts = piece.texts + (0 if enough or too_much else texts)
            texts = max(texts, whole)  # what more than fills a row group shares none

    def _put_away_largest(self) -> None:
        for key in sorted(self.waiting, key=lambda key: -len(self.waiting[key])):
            self._put_away(key)
            if self.held <= HELD // 2:
                return

    def _put_away(self, key: Key) -> None:
        lines = self.waiting.pop(key, [])
        self.held -= len(lines)
        events = [line for line in lines if isinstance(line, Event)]
        bad = [line for line in lines if isinstance(line, BadLine)]
        try:
            batch = to_batch(events, self.protocol)
        except UnicodeEncodeError:
            bad += [_not_storable(event) for event in events if not _is_storable(event)]
            batch = to_batch([event for event in events if _is_storable(event)], self.protocol)
        starts = self.cut_at_snapshots and bool(events) and events[0].event == "snapshot"
        self._write(key, batch, starts)
        self._write(None, to_bad_batch(bad, self.protocol), False)

    def _write(self, key: Key, batch: Batch, starts: bool) -> None:
        import pyarrow as pa

        if batch.num_rows == 0:
            return
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
            stream.write_batch(batch)
        begin = self.file.seek(0, 2)
        self.file.write(sink.getvalue())
        pieces = self.pieces.setdefault(key, [])
        texts = sum(batch.column(name).dictionary.nbytes for name in NAMES)
        pieces.append(_Piece(begin, self.file.tell(), batch.num_rows, texts, starts or not pieces))

    def _read(self, piece: _Piece) -> Any:
        import pyarrow as pa

        self.file.seek(piece.begin)
        return pa.ipc.open_stream(self.file.read(piece.end - piece.begin)).read_all()


def _is_storable(event: Event) -> bool:
    try:
        to_batch([event], "")
    except UnicodeEncodeError:
        return False
    return True


def _not_storable(event: Event) -> BadLine:
    return BadLine(event.line, "half a character (a lone surrogate) in a name or a text, which Parquet cannot hold")
